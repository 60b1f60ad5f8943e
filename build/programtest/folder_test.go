//go:build program

package programtest

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// contents are the files of a folder, by name.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path) // it is below dir
		all[name] = string(raw)
		return err
	}))
	return all
}

func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// database keeps of a folder's files those of the database.
func database(files map[string]string) map[string]string {
	db := map[string]string{}
	for name, text := range files {
		if strings.HasPrefix(filepath.Base(name), "sentient.db") {
			db[name] = text
		}
	}
	return db
}

const (
	themeOfBase = "light"
	folded      = 12 // chats that are in the database file, not only in its WAL
)

// baseFolder makes a folder that was used: chats and notes, some of them only in the WAL when it was killed.
func baseFolder(t *testing.T, s *stub, killed bool) (files map[string]string, chats, notes int) {
	t.Helper()
	p := newPerson(t)
	p.configure(s, "ui:\n  theme: "+themeOfBase+"\nassistant:\n  user_name: Maya\n")
	e := p.serve()
	use := func(n int) {
		for range n {
			a := e.call("POST", "/api/chat", map[string]any{"text": fmt.Sprintf("message %d %s", chats, strings.Repeat("words ", 150))})
			if a.status != 200 {
				t.Fatalf("chat: %s", a)
			}
			want[map[string]any](e, "POST", "/api/notifications", map[string]any{"message": strings.Repeat("note ", 300)})
			chats, notes = chats+1, notes+1
		}
	}
	use(folded)
	e.stop()
	if killed {
		e = p.serve()
		use(5)
		e.kill()
	}
	files = contents(t, p.home)
	delete(files, "sentient.db-shm")
	delete(files, "engine-discovery.json")
	delete(files, "sentient.reserve") // made again; it only costs time to copy
	return files, chats, notes
}

// state is what a start on a spoiled folder shows.
type state struct {
	boot         bootstrap
	chats, notes int
	refused      string // a sentence that reading was refused with
	theme        string
}

func (e *engine) state() (s state) {
	e.t.Helper()
	s.boot = get[bootstrap](e, "/api/bootstrap")
	read := func(path string, into func(a answer)) {
		a := e.call("GET", path, nil)
		switch {
		case a.err != nil:
			e.t.Errorf("%s: %v", path, a.err)
		case a.status == 200:
			into(a)
		case (a.status == 503 || a.status == 500) && isSentence(a.sentence()):
			s.refused = fmt.Sprintf("%d %s", a.status, a.problem().Code) // 500: a row of a type that nobody ever wrote
		default:
			e.t.Errorf("%s: %s", path, a)
		}
	}
	read("/api/sessions?limit=1000", func(a answer) {
		list := decoded[[]chat](e.t, a)
		for _, c := range list {
			read("/api/sessions/"+c.ID+"/messages", func(a answer) {
				if len(decoded[[]message](e.t, a)) > 0 {
					s.chats++
				}
			})
		}
	})
	read("/api/notifications?limit=500", func(a answer) {
		s.notes = len(decoded[struct{ Notifications []notification }](e.t, a).Notifications)
	})
	read("/api/config", func(a answer) {
		s.theme = decoded[struct{ UI struct{ Theme string } }](e.t, a).UI.Theme
	})
	return s
}

// Random bytes of the database, its WAL and the settings are changed: the program always starts, and never shows less
// than there was without saying so; what it cannot use is left byte for byte as it was (R9).
func TestFlippedBytes(t *testing.T) {
	const seeds, atLeast, atMost = 2000, 60, 55 * time.Second
	s := newStub(t)
	killed, killedChats, killedNotes := baseFolder(t, s, true)
	clean, cleanChats, cleanNotes := baseFolder(t, s, false)
	seen, tried := map[string]int{}, 0
	for end := time.Now().Add(atMost); tried < seeds && (tried < atLeast || time.Now().Before(end)) && !t.Failed(); tried++ {
		base, chats, notes := killed, killedChats, killedNotes
		if tried%4 == 3 {
			base, chats, notes = clean, cleanChats, cleanNotes
		}
		r := rand.New(rand.NewPCG(seedOfKills, uint64(tried)))
		files := maps.Clone(base)
		target := []string{"sentient.db", "sentient.db-wal", "config.yaml"}[tried%3]
		if files[target] == "" {
			target = "sentient.db"
		}
		files[target] = spoiled(r, files[target])
		func() {
			dir, err := os.MkdirTemp("", "flip")
			must(t, err)
			defer os.RemoveAll(dir)
			p := personAt(t, dir, filepath.Join(dir, "data"))
			lay(t, p.home, files)
			e := p.serve()
			p.last = nil // its log is shown by judged, where it matters
			what := judged(t, e, spoil{fmt.Sprintf("seed %d (%s)", tried, target), files, chats, notes, len(files["sentient.db-wal"]) < len(base["sentient.db-wal"]), tried%4 == 3})
			seen[target+": "+what]++
			e.kill()
		}()
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%4d × %s", seen[what], what)
	}
	t.Logf("%d of %d seeds", tried, seeds)
}

func spoiled(r *rand.Rand, text string) string {
	b := []byte(text)
	switch r.IntN(8) {
	case 0:
		return string(b[:r.IntN(len(b))])
	case 1:
		b[r.IntN(min(len(b), 4096))] ^= byte(1 + r.IntN(255))
		return string(b)
	}
	for range 1 + r.IntN(48) {
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
	}
	return string(b)
}

// spoil is what was done to a folder, and what it held before.
type spoil struct {
	which        string
	files        map[string]string
	chats, notes int
	cut          bool // the WAL is shorter than it was
	clean        bool // the last stop was in order, so the next check may be a week away
}

// judged names what a start on a spoiled folder came to.
func judged(t *testing.T, e *engine, s spoil) string {
	t.Helper()
	which, files, chats, notes := s.which, s.files, s.chats, s.notes
	st := e.state()
	if st.boot.SafeMode != nil {
		if !isSentence(st.boot.SafeMode.Sentence) || st.refused == "" {
			t.Errorf("%s: safe mode %+v, reading is refused with %q", which, st.boot.SafeMode, st.refused)
		}
		was, is := database(files), database(contents(t, e.home))
		if !strings.Contains(e.log.String(), `msg="database unusable"`) {
			// It could be opened, and failed at what a start does with it. That may have gone into its WAL.
			if len(is["sentient.db"]) == 0 {
				t.Errorf("%s: safe mode, and the database is gone", which)
			}
			return "safe mode, after it had been opened"
		}
		if !maps.Equal(was, is) {
			t.Errorf("%s: safe mode (%s), and the database's files were changed: %v, were %v", which, st.boot.SafeMode.Reason, slices.Sorted(maps.Keys(is)), slices.Sorted(maps.Keys(was)))
		}
		return "safe mode"
	}
	shows := func() string {
		switch {
		case st.refused != "":
			return "reading is refused with a sentence: " + st.refused
		case len(st.boot.Notes) > 0:
			for _, n := range st.boot.Notes {
				if !isSentence(n) {
					t.Errorf("%s: note %q", which, n)
				}
			}
			return "a note"
		case st.chats == chats && st.notes == notes && st.theme == themeOfBase:
			return "all is there"
		}
		return ""
	}
	if what := shows(); what != "" {
		return what
	}
	if s.cut && st.chats >= folded && st.notes >= folded && strings.Contains(e.log.String(), "not clean") {
		return "a WAL that just ends: what a loss of power leaves; the log says that the stop was not clean"
	}
	// The check of a database that was not stopped in order runs beside; it may take a moment to find what is missing.
	if within(2*time.Second, func() bool { st = e.state(); return shows() != "" }) {
		return shows() + ", after a check"
	}
	// A changed byte inside a text or an id is a sound database to SQLite, which has no checksums: single rows are then
	// other than they were. An empty or a much shorter one is not that.
	if st.theme == themeOfBase && st.chats*4 >= chats*3 && st.notes*4 >= notes*3 {
		t.Logf("%s: %d of %d chats, %d of %d notes", which, st.chats, chats, st.notes, notes)
		return "single rows were changed"
	}
	if s.clean && st.chats+st.notes > 0 {
		t.Logf("%s: %d of %d chats, %d of %d notes", which, st.chats, chats, st.notes, notes)
		return "part is missing after a clean stop, which the weekly check has to find"
	}
	t.Errorf("%s: %d of %d chats, %d of %d notes, theme %q, and nothing is said\n%s", which, st.chats, chats, st.notes, notes, st.theme, e.log)
	return "silent"
}

// change runs statements on a folder's database.
func change(t *testing.T, home string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "sentient.db"))
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// Folders that this version cannot use: it starts in safe mode, says a sentence, refuses everything else with it, and
// leaves the database byte for byte as it is (R19).
func TestFoldersThatCannotBeUsed(t *testing.T) {
	s := newStub(t)
	base, _, _ := baseFolder(t, s, false)
	overwrite := func(from int, with string) func(t *testing.T, home string) {
		return func(t *testing.T, home string) {
			path := filepath.Join(home, "sentient.db")
			raw, err := os.ReadFile(path)
			must(t, err)
			copy(raw[from:], with)
			must(t, os.WriteFile(path, raw, 0o600))
		}
	}
	for _, c := range []struct {
		name, reason string
		spoil        func(t *testing.T, home string)
	}{
		{"newer", "newer", func(t *testing.T, home string) {
			db := version(t, home)
			change(t, home, fmt.Sprintf("PRAGMA user_version = %d", db+1), "CREATE TABLE future (a)")
		}},
		{"much newer", "newer", func(t *testing.T, home string) { change(t, home, "PRAGMA user_version = 2000000000") }},
		{"negative version", "damaged", func(t *testing.T, home string) { change(t, home, "PRAGMA user_version = -3") }},
		{"another program's", "foreign", func(t *testing.T, home string) {
			for _, name := range []string{"sentient.db", "store.json"} {
				must(t, os.Remove(filepath.Join(home, name)))
			}
			change(t, home, "PRAGMA application_id = 252006674", "PRAGMA user_version = 3", "CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES ('precious')")
		}},
		{"another program's, no id", "foreign", func(t *testing.T, home string) {
			for _, name := range []string{"sentient.db", "store.json"} {
				must(t, os.Remove(filepath.Join(home, name)))
			}
			change(t, home, "CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES ('precious')")
		}},
		{"header overwritten", "damaged", overwrite(0, "This is no database at all, whoever says so.")},
		{"list of tables overwritten", "damaged", overwrite(100, strings.Repeat("\xff", 3000))},
		{"text file", "damaged", func(t *testing.T, home string) {
			must(t, os.WriteFile(filepath.Join(home, "sentient.db"), []byte("hello\n"), 0o600))
		}},
		{"empty", "damaged", func(t *testing.T, home string) {
			must(t, os.WriteFile(filepath.Join(home, "sentient.db"), nil, 0o600))
		}},
		{"zeros", "damaged", func(t *testing.T, home string) {
			must(t, os.WriteFile(filepath.Join(home, "sentient.db"), make([]byte, 100_000), 0o600))
		}},
		{"gone", "missing", func(t *testing.T, home string) { must(t, os.Remove(filepath.Join(home, "sentient.db"))) }},
		{"a folder in its place", "", func(t *testing.T, home string) {
			must(t, os.Remove(filepath.Join(home, "sentient.db")))
			must(t, os.Mkdir(filepath.Join(home, "sentient.db"), 0o700))
		}},
		{"table dropped", "damaged", func(t *testing.T, home string) { change(t, home, "DROP TABLE migrations") }},
		// A step that was begun by hand, or by a program that died without a transaction: its tables are there, its number is not.
		{"half a migration", "", func(t *testing.T, home string) {
			change(t, home, fmt.Sprintf("PRAGMA user_version = %d", version(t, home)-1), fmt.Sprintf("DELETE FROM migrations WHERE number = %d", version(t, home)))
		}},
		{"number without its step", "", func(t *testing.T, home string) { change(t, home, "DELETE FROM migrations WHERE number = 2") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPerson(t)
			lay(t, p.home, base)
			c.spoil(t, p.home)
			was := database(contents(t, p.home))
			e := p.serve()
			b := get[bootstrap](e, "/api/bootstrap")
			if b.SafeMode == nil || c.reason != "" && b.SafeMode.Reason != c.reason || !isSentence(b.SafeMode.Sentence) {
				t.Fatalf("safe mode: %+v; want %q", b.SafeMode, c.reason)
			}
			t.Logf("%s: %s", b.SafeMode.Reason, b.SafeMode.Sentence)
			refusedInSafeMode(t, e, b.SafeMode.Sentence)
			if r := p.run("status"); r.status != 0 || !strings.Contains(r.out, b.SafeMode.Sentence) {
				t.Errorf("status: %+v", r)
			}
			e.stop()
			if is := database(contents(t, p.home)); !maps.Equal(was, is) {
				t.Errorf("the database's files were changed: %v, were %v", slices.Sorted(maps.Keys(is)), slices.Sorted(maps.Keys(was)))
			}
			again := p.serve() // and a second start says the same
			if b := get[bootstrap](again, "/api/bootstrap"); b.SafeMode == nil {
				t.Error("the second start says nothing")
			}
			again.stop()
		})
	}
}

func version(t *testing.T, home string) (v int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "sentient.db")+"?mode=ro")
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow("PRAGMA user_version").Scan(&v))
	return v
}

// refusedInSafeMode: everything but health, bootstrap, link and restore is 503 with the sentence.
func refusedInSafeMode(t *testing.T, e *engine, sentence string) {
	t.Helper()
	if a := e.call("GET", "/api/health", nil); a.status != 200 {
		t.Errorf("health: %s", a)
	}
	if a := e.call("POST", "/api/gateway/link", nil); a.status != 200 {
		t.Errorf("link: %s", a)
	}
	if a := e.call("POST", "/api/store/restore", map[string]any{"snapshot": "nonsense"}); a.status != 404 {
		t.Errorf("restore of nothing: %s", a)
	}
	for _, r := range []string{"GET /api/sessions", "POST /api/sessions", "GET /api/sessions/x/messages", "POST /api/chat", "GET /api/notifications", "DELETE /api/notifications",
		"GET /api/config", "PATCH /api/config", "GET /api/files", "GET /api/models/providers", "GET /api/secrets", "PUT /api/secrets/openai", "POST /api/onboarding", "GET /ws"} {
		method, path, _ := strings.Cut(r, " ")
		a := e.call(method, path, map[string]any{"text": "x", "value": "x", "user_name": "x"})
		refusal(t, r, a, 503)
		if a.sentence() != sentence {
			t.Errorf("%s: %q", r, a.sentence())
		}
	}
}

// A database of the first version is brought up to date, and a copy of it is kept.
func TestOldFolder(t *testing.T) {
	p := newPerson(t)
	e := p.serve()
	e.stop()
	latest := version(t, p.home)
	// What only the last step made is taken away again: the folder is then as the version before it left it.
	change(t, p.home, "ALTER TABLE messages DROP COLUMN outside", "DROP TABLE approval_grants", "DROP TABLE rule_proposals", "DROP TABLE file_sources", "DROP TABLE file_snapshots", fmt.Sprintf("DELETE FROM migrations WHERE number = %d", latest), fmt.Sprintf("PRAGMA user_version = %d", latest-1))
	e = p.serve()
	b := get[bootstrap](e, "/api/bootstrap")
	if b.SafeMode != nil {
		t.Fatalf("safe mode: %+v", b.SafeMode)
	}
	want[map[string]any](e, "POST", "/api/notifications", map[string]any{"message": "works"})
	e.stop()
	copies, _ := filepath.Glob(filepath.Join(p.home, "backups", "before-*.db")) // the pattern is right
	t.Logf("from schema %d to %d, copies: %d", latest-1, version(t, p.home), len(copies))
	if version(t, p.home) != latest || len(copies) != 1 {
		t.Errorf("schema %d, want %d; copies %q", version(t, p.home), latest, copies)
	}
	looked(t, p.home, true)
}

// Settings of a newer version are used as far as they are known and never written; unknown keys stay.
func TestSettingsOfOtherVersions(t *testing.T) {
	t.Parallel()
	t.Run("newer", func(t *testing.T) {
		p := newPerson(t)
		text := "# mine\nversion: 99\nui:\n  theme: light\n  hologram: true\nfuture:\n  - 1\n"
		lay(t, p.home, map[string]string{"config.yaml": text})
		e := p.serve()
		b := get[bootstrap](e, "/api/bootstrap")
		if b.SafeMode != nil || len(b.Notes) == 0 || !isSentence(b.Notes[0]) || e.state().theme != "light" {
			t.Errorf("%+v, theme %q", b, e.state().theme)
		}
		a := e.call("PATCH", "/api/config", map[string]any{"ui": map[string]any{"theme": "dark"}})
		t.Logf("%q; a change: %d %s", b.Notes, a.status, a.sentence())
		refusal(t, "a change", a, 409)
		e.stop()
		if is := string(p.file("config.yaml")); is != text {
			t.Errorf("the file was changed:\n%s", is)
		}
	})
	t.Run("unknown keys", func(t *testing.T) {
		p := newPerson(t)
		text := "# mine\nui:\n  theme: light # not dark\n  hologram: true\nfuture:\n  - 1\n"
		lay(t, p.home, map[string]string{"config.yaml": text})
		e := p.serve()
		if st := e.state(); st.boot.SafeMode != nil || st.theme != "light" {
			t.Errorf("%+v", st)
		}
		want[map[string]any](e, "PATCH", "/api/config", map[string]any{"ui": map[string]any{"theme": "system"}})
		e.stop()
		if is, want := p.file("config.yaml"), strings.Replace(text, "light", "system", 1); !bytes.HasPrefix(is, []byte(want)) {
			t.Errorf("after a change of one value:\n%s", is)
		}
		e = p.serve()
		if st := e.state(); st.theme != "system" || st.boot.SafeMode != nil {
			t.Errorf("%+v", st)
		}
		e.stop()
	})
}
