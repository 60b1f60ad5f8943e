package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rawDB opens a file with no setting of ours.
func rawDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", fileURI(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func runSQL(t *testing.T, db *sql.DB, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// used makes a data folder that was used and closed.
func used(t *testing.T, dir string) {
	t.Helper()
	db := mustOpen(t, testOptions(dir))
	for i := range 5 {
		if err := addBatch(t.Context(), db.Write, i+1, "text"); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, db)
}

// running makes a data folder as a crash leaves it: the last changes are only in the WAL.
func running(t *testing.T, dir string, change ...string) {
	t.Helper()
	from := t.TempDir()
	used(t, from)
	db := rawDB(t, filepath.Join(from, FileName))
	db.SetMaxOpenConns(1)
	runSQL(t, db, "PRAGMA wal_autocheckpoint=0")
	runSQL(t, db, change...)
	copyTree(t, from, dir)
	if err := os.Remove(filepath.Join(dir, FileName+"-shm")); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func foreign(t *testing.T, dir string, after ...string) {
	db := rawDB(t, filepath.Join(dir, FileName))
	db.SetMaxOpenConns(1)
	runSQL(t, db, append([]string{"PRAGMA journal_mode=wal", "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')"}, after...)...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Everything that may lie in a data folder and is not to be opened: nothing of it is changed, and nothing is left beside it.
func TestUnusableIsLeftAsItIs(t *testing.T) {
	file := func(dir string) string { return filepath.Join(dir, FileName) }
	for _, c := range []struct {
		name   string
		reason Reason
		make   func(t *testing.T, dir string)
	}{
		{"foreign without an application id", Foreign, func(t *testing.T, dir string) { foreign(t, dir) }},
		{"foreign with one", Foreign, func(t *testing.T, dir string) { foreign(t, dir, "PRAGMA application_id=77") }},
		{"foreign, a version that would be newer", Foreign, func(t *testing.T, dir string) { foreign(t, dir, "PRAGMA user_version=900") }},
		{"foreign with all of it in the WAL", Foreign, func(t *testing.T, dir string) {
			from := t.TempDir()
			db := rawDB(t, file(from))
			db.SetMaxOpenConns(1)
			runSQL(t, db, "PRAGMA journal_mode=wal", "PRAGMA wal_autocheckpoint=0", "CREATE TABLE notes (text)")
			copyTree(t, from, dir)
			os.Remove(file(dir) + "-shm")
		}},
		{"newer", Newer, func(t *testing.T, dir string) {
			used(t, dir)
			db := rawDB(t, file(dir))
			runSQL(t, db, "PRAGMA user_version=3")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"newer, which only the WAL says", Newer, func(t *testing.T, dir string) { running(t, dir, "PRAGMA user_version=3") }},
		{"newer by far", Newer, func(t *testing.T, dir string) {
			used(t, dir)
			edit(t, file(dir), func(b []byte) []byte { b[60] = 0x7f; return b })
		}},
		{"schema number below zero", Damaged, func(t *testing.T, dir string) {
			used(t, dir)
			edit(t, file(dir), func(b []byte) []byte { b[60] = 0xff; return b })
		}},
		{"application id damaged", Damaged, func(t *testing.T, dir string) {
			used(t, dir)
			edit(t, file(dir), func(b []byte) []byte { b[70] ^= 1; return b })
		}},
		{"text in its place", Damaged, func(t *testing.T, dir string) { write(t, file(dir), strings.Repeat("hello ", 1000)) }},
		{"a few bytes in its place", Damaged, func(t *testing.T, dir string) { write(t, file(dir), "x") }},
		{"all zeros", Damaged, func(t *testing.T, dir string) {
			used(t, dir)
			edit(t, file(dir), func(b []byte) []byte { clear(b); return b })
		}},
		{"empty after use", Damaged, func(t *testing.T, dir string) { used(t, dir); write(t, file(dir), "") }},
		{"cut to its first page", Damaged, func(t *testing.T, dir string) {
			used(t, dir)
			edit(t, file(dir), func(b []byte) []byte { return b[:4096] })
		}},
		{"list of tables damaged", Damaged, func(t *testing.T, dir string) {
			used(t, dir)
			edit(t, file(dir), func(b []byte) []byte { clear(b[100:4096]); return b })
		}},
		{"no meta table", Damaged, func(t *testing.T, dir string) { running(t, dir, "DROP TABLE meta") }},
		{"schema number behind the steps done", Damaged, func(t *testing.T, dir string) { running(t, dir, "PRAGMA user_version=1") }},
		{"step not done", Damaged, func(t *testing.T, dir string) { running(t, dir, "DELETE FROM migrations WHERE number=2") }},
		{"gone after use", Missing, func(t *testing.T, dir string) { used(t, dir); os.Remove(file(dir)) }},
		{"only its WAL there", Missing, func(t *testing.T, dir string) {
			running(t, dir, "INSERT INTO rows (batch, text) VALUES (6, 'x')")
			os.Remove(file(dir))
			os.Remove(filepath.Join(dir, markerName))
		}},
		{"gone, a copy there", Missing, func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "backups", "before-1-2-20270102-030405.000000.db"), "x")
		}},
		{"gone, a damaged one there", Missing, func(t *testing.T, dir string) { write(t, file(dir)+".damaged-x", "x") }},
		{"a folder in its place", Unreadable, func(t *testing.T, dir string) { write(t, filepath.Join(file(dir), "x"), "x") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			before := tree(t, dir)
			for range 2 {
				_, err := Open(t.Context(), testOptions(dir))
				wantUnusable(t, err, c.reason)
				sameTree(t, before, tree(t, dir))
			}
		})
	}
}

// What looks odd and is nothing to worry about.
func TestUsableAllTheSame(t *testing.T) {
	file := func(dir string) string { return filepath.Join(dir, FileName) }
	for _, c := range []struct {
		name    string
		batches int
		make    func(t *testing.T, dir string)
	}{
		{"empty file in a new folder", 0, func(t *testing.T, dir string) { write(t, file(dir), "") }},
		{"database without a table in a new folder", 0, func(t *testing.T, dir string) {
			db := rawDB(t, file(dir))
			runSQL(t, db, "PRAGMA journal_mode=wal", "CREATE TABLE x (y)", "DROP TABLE x", "VACUUM")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"half made", 0, func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, newName), "half")
			write(t, filepath.Join(dir, newName+"-wal"), "x")
		}},
		{"changes only in the WAL", 6, func(t *testing.T, dir string) {
			running(t, dir, "INSERT INTO rows (batch, text) VALUES (6, 'x'), (6, 'x'), (6, 'x')")
		}},
		{"empty WAL", 5, func(t *testing.T, dir string) { used(t, dir); write(t, file(dir)+"-wal", "") }},
		{"marker gone", 5, func(t *testing.T, dir string) { used(t, dir); os.Remove(filepath.Join(dir, markerName)) }},
		{"marker damaged", 5, func(t *testing.T, dir string) { used(t, dir); write(t, filepath.Join(dir, markerName), "{") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			db := mustOpen(t, testOptions(dir))
			if n := batches(t, db); n != c.batches {
				t.Errorf("%d batches, want %d", n, c.batches)
			}
			if err := addBatch(t.Context(), db.Write, c.batches+1, "x"); err != nil {
				t.Error(err)
			}
			mustClose(t, db)
			mustClose(t, mustOpen(t, testOptions(dir)))
			if got := names(t, dir); got != "sentient.db sentient.reserve store.json" {
				t.Errorf("left in the folder: %s", got)
			}
		})
	}
}
