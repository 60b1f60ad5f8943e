//go:build program

package programtest

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"
)

// look is what a database holds, read while no engine runs.
type look struct {
	walBytes int64
	chats    int
	messages int
	turns    int
}

// looked opens a folder's database read-only and wants it whole: SQLite finds nothing wrong, no row points at nothing,
// every turn has exactly one end, no reply is open. An engine that was killed is started and stopped before this.
func looked(t testing.TB, home string, whole bool) (l look) {
	t.Helper()
	path := filepath.Join(home, "sentient.db")
	if info, err := os.Stat(path + "-wal"); err == nil {
		l.walBytes = info.Size()
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close()
	one := func(query string) (n int) {
		t.Helper()
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		return n
	}
	l.chats, l.messages, l.turns = one("SELECT count(*) FROM sessions"), one("SELECT count(*) FROM messages"), one("SELECT count(*) FROM turns")
	if !whole {
		return l
	}
	for _, check := range []string{"PRAGMA quick_check", "PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
		rows, err := db.Query(check)
		must(t, err)
		for rows.Next() {
			var first any
			cols, _ := rows.Columns() // a row has columns
			into := []any{&first}
			for range cols[1:] {
				into = append(into, new(any))
			}
			must(t, rows.Scan(into...))
			if fmt.Sprint(first) != "ok" {
				t.Errorf("%s: %v", check, first)
			}
		}
		must(t, rows.Err())
		rows.Close()
	}
	for _, none := range []string{
		`SELECT count(*) FROM turns t WHERE (SELECT count(*) FROM chat_events e WHERE e.turn_id = t.id AND e.kind = 'done') <> 1`,
		`SELECT count(*) FROM turns WHERE state IN ('queued', 'running')`,
		`SELECT count(*) FROM open_replies`,
		`SELECT count(*) FROM (SELECT client_id FROM turns WHERE client_id IS NOT NULL GROUP BY client_id HAVING count(*) > 1)`,
		`SELECT count(*) FROM (SELECT turn_id FROM messages WHERE role IN ('user', 'assistant') GROUP BY turn_id
			HAVING sum(role = 'user' AND NOT interjection) > 1 OR sum(role = 'assistant') > sum(role = 'user'))`,
		`SELECT count(*) FROM (SELECT client_id FROM steers WHERE client_id IS NOT NULL GROUP BY client_id HAVING count(*) > 1)`,
		`SELECT count(*) FROM steers WHERE state = 'waiting'`,
	} {
		if n := one(none); n != 0 {
			t.Errorf("%d rows: %s", n, none)
		}
	}
	return l
}

// smallDisk mounts a disk of its own of so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	if os.Getuid() != 0 {
		cannot(t, "mounting a small disk needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		cannot(t, "a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
