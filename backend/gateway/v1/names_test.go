package v1

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"sentient/backend/obs"
	"sentient/backend/store"
)

// chatTable is the chats' own table, in the real database.
type chatTable struct{ fail error }

func (c *chatTable) AddChat(tx *store.Tx, id, channel, title string) error {
	if _, err := tx.Exec("INSERT INTO sessions (id, channel, title, created_at, updated_at) VALUES (?, ?, ?, '', '')", id, channel, title); err != nil {
		return err
	}
	return c.fail
}

func (c *chatTable) Exists(tx *store.Tx, id string) (there bool, err error) {
	err = tx.QueryRow("SELECT 1 FROM sessions WHERE id = ?", id).Scan(&there)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return there, err
}

type namesRig struct {
	*ChatNames
	t     testing.TB
	table chatTable
	log   lockedBuffer
}

func newNames(t testing.TB) *namesRig {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &namesRig{t: t}
	r.ChatNames = &ChatNames{DB: db, Chats: &r.table, Log: obs.NewLogger(&r.log, -8)}
	return r
}

func (r *namesRig) named(name string) string {
	r.t.Helper()
	id, err := r.Named(r.t.Context(), name)
	if err != nil || id == "" {
		r.t.Fatalf("%q: %q %v", name, id, err)
	}
	return id
}

func (r *namesRig) exec(query string, args ...any) {
	r.t.Helper()
	if err := r.DB.Write(r.t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(query, args...); return err }); err != nil {
		r.t.Fatal(err)
	}
}

// entry is the mapping as it is stored.
func (r *namesRig) entry() map[string]string {
	r.t.Helper()
	raw, _, err := r.DB.Meta(r.t.Context(), "openai_api.sessions")
	ids := map[string]string{}
	if err == nil && raw != "" {
		err = json.Unmarshal([]byte(raw), &ids)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return ids
}

func (r *namesRig) titles() map[string]string {
	r.t.Helper()
	rows, err := r.DB.Reader().QueryContext(r.t.Context(), "SELECT id, title FROM sessions WHERE channel = 'api'")
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var id, title string
		if err := rows.Scan(&id, &title); err != nil {
			r.t.Fatal(err)
		}
		all[id] = title
	}
	return all
}

func TestNamedChats(t *testing.T) {
	r := newNames(t)
	r.table.fail = errors.New("disk full")
	if id, err := r.Named(t.Context(), "API"); err == nil {
		t.Errorf("%q though the chat could not be made", id)
	}
	if len(r.entry()) != 0 || len(r.titles()) != 0 {
		t.Errorf("a failed request left %v %v", r.entry(), r.titles())
	}
	r.table.fail = nil
	names := []string{"API", "api", "API ", "Editor ✏", `"quoted"`, "a.b[0]", "$.x", "__proto__", strings.Repeat("ä", maxUser)}
	ids := map[string]string{}
	for range 2 {
		for _, n := range names {
			if id := r.named(n); ids[n] == "" {
				ids[n] = id
			} else if ids[n] != id {
				t.Errorf("%q moved from %s to %s", n, ids[n], id)
			}
		}
	}
	if !maps.Equal(r.entry(), ids) {
		t.Errorf("stored %v; want %v", r.entry(), ids)
	}
	for n, id := range ids {
		if got := r.titles()[id]; got != n {
			t.Errorf("title %q; want %q", got, n)
		}
	}
	if len(r.titles()) != len(names) {
		t.Errorf("%d chats for %d names", len(r.titles()), len(names))
	}
	// A chat that was deleted is made anew; the others stay.
	r.exec("DELETE FROM sessions WHERE id = ?", ids["API"])
	anew := r.named("API")
	if anew == ids["API"] || r.named("API") != anew {
		t.Error("a deleted chat is not made anew, once")
	}
	ids["API"] = anew
	if !maps.Equal(r.entry(), ids) {
		t.Errorf("stored %v; want %v", r.entry(), ids)
	}
}

// An entry that can't be read costs the names, not the requests, and no chat.
func TestDamagedNames(t *testing.T) {
	for _, damaged := range []string{"", "{", "null", `["a"]`, `{"API":5}`, "\x00"} {
		r := newNames(t)
		old := r.named("API")
		r.exec("UPDATE meta SET value = ? WHERE key = ?", damaged, namesEntry)
		anew := r.named("API")
		if anew == old || r.named("API") != anew || len(r.titles()) != 2 || !strings.Contains(r.log.String(), "level=WARN") {
			t.Errorf("%q: %s after %s, %v, %s", damaged, anew, old, r.titles(), r.log.String())
		}
	}
}

// First requests at once share one chat a name, and no name loses its own.
func TestFirstRequestsAtOnce(t *testing.T) {
	const rounds, together, names = 20, 50, 7
	r := newNames(t)
	all := map[string]string{}
	for round := range rounds {
		got := make([]string, together)
		failed := make([]error, together)
		var start, end sync.WaitGroup
		start.Add(1)
		for i := range together {
			end.Go(func() {
				start.Wait()
				got[i], failed[i] = r.Named(t.Context(), fmt.Sprintf("round %d, name %d", round, i%names))
			})
		}
		start.Done()
		end.Wait()
		for i, id := range got {
			if failed[i] != nil || id == "" || id != got[i%names] {
				t.Fatalf("round %d: request %d got %q, the first one %q (%v)", round, i, id, got[i%names], failed[i])
			}
			all[fmt.Sprintf("round %d, name %d", round, i%names)] = id
		}
	}
	if !maps.Equal(r.entry(), all) || len(r.titles()) != rounds*names {
		t.Errorf("%d names and %d chats are stored; want %d of each", len(r.entry()), len(r.titles()), rounds*names)
	}
	for name, id := range all {
		if r.titles()[id] != name {
			t.Fatalf("the chat of %q is titled %q", name, r.titles()[id])
		}
	}
}
