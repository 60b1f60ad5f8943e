package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// rig is a data folder and a person's folder beside it, with real files and a real database.
type rig struct {
	*Service
	t          testing.TB
	home, work string
	db         *store.DB
	settings   config.Snapshots
	mu         sync.Mutex // guards now where something runs beside the test
	now        time.Time
}

// calendar is the computer's clock on another day.
type calendar struct {
	clock.Real
	*rig
}

func (c calendar) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func newRig(t testing.TB) *rig {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, home: filepath.Join(base, "home"), work: filepath.Join(base, "work"), now: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC),
		settings: config.Snapshots{Enabled: true, MaxFileMB: 1, MaxTotalMB: 2, MaxFiles: 20, KeepDays: 7, MaxKeptMB: 10}}
	for _, dir := range []string{filepath.Join(r.home, "files"), r.work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if r.db, err = store.Open(t.Context(), store.Options{Dir: r.home}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
	})
	r.restart()
	return r
}

// restart is the program begun anew on the same folder.
func (r *rig) restart() {
	r.Service = New(Options{DB: r.db, Dir: r.home, Clock: calendar{rig: r}, Log: obs.Discard(), Settings: func() config.Snapshots { return r.settings }, Hidden: []string{"sandbox", filepath.Join(r.work, "hidden")}})
}

// empty makes the rig as it was at first.
func (r *rig) empty() {
	r.t.Helper()
	r.must(errors.Join(os.RemoveAll(r.work), os.RemoveAll(r.in("f:")), os.RemoveAll(r.in("h:snapshots")), os.MkdirAll(r.in("f:"), 0o700), os.MkdirAll(r.work, 0o700)))
	r.must(r.db.Write(r.t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(`DELETE FROM file_snapshots`); return err }))
	r.restart()
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// in gives where a name of a test lies: "f:" below files/, "h:" below the data folder, else below the person's folder.
func (r *rig) in(name string) string {
	if rest, ok := strings.CutPrefix(name, "f:"); ok {
		return filepath.Join(r.home, "files", filepath.FromSlash(rest))
	}
	if rest, ok := strings.CutPrefix(name, "h:"); ok {
		return filepath.Join(r.home, filepath.FromSlash(rest))
	}
	return filepath.Join(r.work, filepath.FromSlash(name))
}

func (r *rig) put(name, content string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.in(name)), 0o700))
	r.must(os.WriteFile(r.in(name), []byte(content), 0o600))
}

func (r *rig) get(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.in(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	r.must(err)
	return string(b)
}

func (r *rig) guard(paths ...string) *Open {
	r.t.Helper()
	o, err := r.Guard(r.t.Context(), call("terminal", paths...))
	r.must(err)
	return o
}

func call(source string, paths ...string) Of {
	return Of{Touched: tool.Touched{Source: source, What: "make clean", Paths: paths}, SessionID: "s1", TurnID: "t1", CallID: "c1"}
}

// during guards a call on the person's folder, runs it, and gives the snapshot's id.
func (r *rig) during(act func()) string {
	r.t.Helper()
	o := r.guard(r.work)
	act()
	r.must(o.End(r.t.Context()))
	return o.ID()
}

// told gives a snapshot as it is kept, in a few words; "" when there is none.
func (r *rig) told(id string) string {
	r.t.Helper()
	x, err := r.row(r.t.Context(), id)
	if errs.Is(err, errs.NotFound) {
		return ""
	}
	r.must(err)
	words := []string{x.state}
	for _, f := range x.files {
		word := f.Change + " " + r.short(f.Path)
		if f.Copy != "" {
			word += " copied"
		}
		if f.Note != "" {
			word += " (" + f.Note + ")"
		}
		words = append(words, word)
	}
	var made string
	r.must(r.db.Reader().QueryRow(`SELECT created FROM file_snapshots WHERE id = ?`, id).Scan(&made))
	var created []string
	r.must(json.Unmarshal([]byte(made), &created))
	for _, p := range created {
		words = append(words, "made "+r.short(p))
	}
	for _, n := range x.notes {
		words = append(words, "["+n+"]")
	}
	return strings.Join(words, "; ")
}

func (r *rig) short(p string) string {
	if !filepath.IsAbs(p) {
		return "f:" + p
	}
	rel, err := filepath.Rel(r.work, p)
	r.must(err)
	return filepath.ToSlash(rel)
}

// copies gives the names in all snapshots' folders.
func (r *rig) copiesLeft() (names []string) {
	r.t.Helper()
	err := filepath.WalkDir(filepath.Join(r.home, "snapshots"), func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !d.IsDir() {
			names = append(names, d.Name())
		}
		return err
	})
	r.must(err)
	return names
}

func (r *rig) rows() (n int) {
	r.t.Helper()
	r.must(r.db.Reader().QueryRow(`SELECT count(*) FROM file_snapshots`).Scan(&n))
	return n
}

// newest gives the snapshot that a restore has just made.
func (r *rig) newest(source string) (id string) {
	r.t.Helper()
	r.must(r.db.Reader().QueryRow(`SELECT id FROM file_snapshots WHERE source = ? ORDER BY id DESC LIMIT 1`, source).Scan(&id))
	return id
}

// tree gives all files below the person's folder and files/ with what is in them.
func (r *rig) tree() string {
	r.t.Helper()
	var lines []string
	for _, top := range []string{r.work, filepath.Join(r.home, "files")} {
		err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			info, err := d.Info()
			lines = append(lines, fmt.Sprintf("%s %v %q", strings.TrimPrefix(p, filepath.Dir(r.home)), info.Mode(), raw))
			return err
		})
		r.must(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
