package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sentient/backend/errs"
)

func (r *rig) restore(id string) Restored {
	r.t.Helper()
	out, err := r.Restore(r.t.Context(), id)
	r.must(err)
	return out
}

func (r *rig) refused(id, code string, status int, sentence string) {
	r.t.Helper()
	before := r.tree()
	_, err := r.Restore(r.t.Context(), id)
	if errs.Code(err) != code || errs.StatusOf(err) != status || sentence != "" && errs.From(err).Message != sentence {
		r.t.Errorf("want %d %s, got %d %v", status, code, errs.StatusOf(err), err)
	}
	if r.tree() != before {
		r.t.Error("a refused restore changed files")
	}
}

func TestRestoreBringsBackAndCanBeUndone(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	r.put("run.sh", "echo one")
	r.must(os.Chmod(r.in("run.sh"), 0o754))
	r.put("deep/er/b.txt", "bee")
	r.put("same.txt", "same")
	before := r.tree()
	id := r.during(func() {
		r.put("a.txt", "two")
		r.put("run.sh", "rm -rf")
		r.must(os.Chmod(r.in("run.sh"), 0o600))
		r.must(os.RemoveAll(r.in("deep")))
		r.put("made.txt", "made")
	})
	out := r.restore(id)
	if !out.OK || out.Files != 3 || len(out.Notes) != 0 || r.get("made.txt") != "made" {
		t.Errorf("%+v", out)
	}
	r.must(os.Remove(r.in("made.txt")))
	if got := r.tree(); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	r.refused(id, "snapshot_restored", 409, "These files were put back already.")

	undo := r.newest("restore")
	if got := r.told(undo); got != "kept; changed a.txt copied; changed run.sh copied; made deep/er/b.txt" {
		t.Error(got)
	}
	if out := r.restore(undo); !out.OK || out.Files != 2 || r.get("a.txt") != "two" || r.get("run.sh") != "rm -rf" || r.get("deep/er/b.txt") != "bee" {
		t.Errorf("%+v", out)
	}
	r.restore(r.newest("restore"))
	if r.get("a.txt") != "one" {
		t.Error("an undone restore could not be done again")
	}
}

func TestRestoreOfTheFilesFolderWhereverItLies(t *testing.T) {
	r := newRig(t)
	r.put("f:outputs/notes.txt", "one")
	o := r.guard("outputs/notes.txt")
	r.put("f:outputs/notes.txt", "two")
	r.must(o.End(t.Context()))
	r.must(os.RemoveAll(filepath.Join(r.home, "files")))
	if out := r.restore(o.ID()); !out.OK || r.get("f:outputs/notes.txt") != "one" || strings.Join(out.Notes, " ") != "notes.txt had been changed again since." {
		t.Errorf("%+v", out)
	}
}

func TestWhatARestoreFinds(t *testing.T) {
	for _, c := range []struct {
		name    string
		since   func(r *rig, id string) // after the call, which made a.txt "two" and sub/b.txt "two"
		a, b    string                  // after the restore
		ok      bool
		notes   string
		againOK bool // once more after back
		back    func(r *rig)
	}{
		{"nothing more", nil, "one", "one", true, "", false, nil},
		{"changed again", func(r *rig, _ string) { r.put("a.txt", "three!") }, "one", "one", true, "a.txt had been changed again since.", false, nil},
		{"deleted since", func(r *rig, _ string) { r.must(os.RemoveAll(r.work)) }, "one", "one", true, "a.txt had been changed again since. b.txt had been changed again since.", false, nil},
		{"as it was already", func(r *rig, _ string) { r.put("a.txt", "one") }, "one", "one", true, "a.txt had been changed again since.", false, nil},
		{"a folder in its place", func(r *rig, _ string) { r.must(os.Remove(r.in("a.txt"))); r.put("a.txt/x", "x") }, "(dir)", "one", false,
			"a.txt was not put back: there is a folder of this name now.", true, func(r *rig) { r.must(os.RemoveAll(r.in("a.txt"))) }},
		{"a link in its place", func(r *rig, _ string) {
			r.put("h:secret", "secret")
			r.must(os.Remove(r.in("a.txt")))
			r.must(os.Symlink(r.in("h:secret"), r.in("a.txt")))
		}, "one", "one", true, "a.txt had been changed again since.", false, nil},
		{"a link in its folder's place", func(r *rig, _ string) {
			r.must(os.Rename(r.in("sub"), r.in("moved")))
			r.must(os.Symlink(r.in("moved"), r.in("sub")))
		}, "one", "two", false, "b.txt was not put back: a link leads to its folder now.", true, func(r *rig) { r.must(os.Remove(r.in("sub"))) }},
		{"a link out in its folder's place", func(r *rig, _ string) {
			r.must(os.RemoveAll(r.in("sub")))
			r.must(os.Symlink(r.home, r.in("sub")))
		}, "one", "(none)", false, "b.txt was not put back: a link leads to its folder now.", true, func(r *rig) { r.must(os.Remove(r.in("sub"))) }},
		{"a file in its folder's place", func(r *rig, _ string) { r.must(os.RemoveAll(r.in("sub"))); r.put("sub", "x") }, "one", "(dir)", false,
			"b.txt had been changed again since. b.txt was not put back: its folder can't be used.", true, func(r *rig) { r.must(os.Remove(r.in("sub"))) }},
		{"a damaged copy", func(r *rig, id string) {
			x, err := r.row(r.t.Context(), id)
			r.must(err)
			r.must(os.WriteFile(filepath.Join(r.folder(id), x.files[0].Copy), []byte("eno"), 0o600))
		}, "two", "one", false, "a.txt was not put back: its copy is damaged.", false, nil},
		{"a large file in its place", func(r *rig, _ string) { r.put("a.txt", strings.Repeat("\x00", 3<<20)) }, "one", "one", true, "a.txt had been changed again since.", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put("a.txt", "one")
			r.put("sub/b.txt", "one")
			id := r.during(func() { r.put("a.txt", "two"); r.put("sub/b.txt", "two") })
			if c.since != nil {
				c.since(r, id)
			}
			out := r.restore(id)
			notes := strings.Join(out.Notes, " ")
			if c.name == "a file in its folder's place" {
				notes = "b.txt had been changed again since. " + notes // said in one sentence only
			}
			if out.OK != c.ok || notes != c.notes {
				t.Errorf("%+v", out)
			}
			for name, want := range map[string]string{"a.txt": c.a, "sub/b.txt": c.b} {
				if want != "(dir)" && r.get(name) != want {
					t.Errorf("%s is %.20q, want %q", name, r.get(name), want)
				}
			}
			if r.get("h:b.txt") != "(none)" || r.get("h:secret") == "one" {
				t.Error("it wrote outside")
			}
			if c.ok {
				r.refused(id, "snapshot_restored", 409, "")
			}
			if c.back != nil {
				c.back(r)
				if out := r.restore(id); out.OK != c.againOK || r.get("a.txt") != "one" || r.get("sub/b.txt") != "one" {
					t.Errorf("again: %+v", out)
				}
			}
		})
	}
}

// The folder itself was moved away and a link put in its place: putting back must not write where the link leads.
func TestARootThatBecameALink(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	id := r.during(func() { r.put("a.txt", "two") })
	away := filepath.Join(filepath.Dir(r.work), "away")
	r.must(os.Rename(r.work, away))
	r.must(os.Symlink(away, r.work))
	if out := r.restore(id); out.OK || out.Files != 0 || len(out.Notes) != 1 || r.get("a.txt") != "two" {
		t.Errorf("%+v, %s", out, r.get("a.txt"))
	}
	r.must(os.Remove(r.work))
	r.must(os.Symlink(filepath.Dir(away), filepath.Join(filepath.Dir(r.work), "up")))
	r.must(os.Rename(away, r.work))
	if out := r.restore(id); !out.OK || r.get("a.txt") != "one" {
		t.Errorf("%+v", out)
	}
}

func TestWhatCannotBePutBack(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	r.refused("nothing", "snapshot_unknown", 404, "There is nothing to put back here any more.")
	o := r.guard(r.work)
	r.refused(o.ID(), "snapshot_open", 409, "This is still running. Put its files back when it has ended.")
	r.put("new.txt", "x")
	r.must(o.End(t.Context()))
	r.refused(o.ID(), "snapshot_none", 409, "There is nothing to put back: no file was there before.")

	r.put("p.png", "x")
	r.refused(r.during(func() { r.put("p.png", "other") }), "snapshot_none", 409, "Not text, so no copy was kept.")
	id := r.during(func() { r.put("a.txt", "two") })
	r.must(os.RemoveAll(r.folder(id)))
	r.refused(id, "snapshot_gone", 409, "The copies of these files are gone, so they can't be put back.")
	r.settings.MaxFiles = 1
	r.refused(r.during(func() { r.put("a.txt", "three") }), "snapshot_none", 409, "Too many files to keep a copy")
}

func TestRestoreTwiceAtOnce(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	id := r.during(func() { r.put("a.txt", "two") })
	var wg sync.WaitGroup
	var mu sync.Mutex
	worked := 0
	for range 8 {
		wg.Go(func() {
			_, err := r.Restore(context.Background(), id)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				worked++
			} else if errs.Code(err) != "snapshot_restored" {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if worked != 1 || r.get("a.txt") != "one" || r.rows() != 2 {
		t.Errorf("%d worked, %d rows", worked, r.rows())
	}
}

func TestRestoreOutlivesItsCaller(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	id := r.during(func() { r.put("a.txt", "two") })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.step = func(what string) error {
		if what == "write file" {
			cancel()
		}
		return nil
	}
	if out, err := r.Restore(ctx, id); err != nil || !out.OK || r.get("a.txt") != "one" || ctx.Err() == nil {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestNamesInNotesCannotDeceive(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	r := newRig(t)
	hostile := "a\u202etxt.exe\n\x1b[0m\xff.txt"
	r.put(hostile, "one")
	id := r.during(func() { r.put(hostile, "two") })
	r.put(hostile, "three!")
	out, err := r.Restore(t.Context(), id)
	if err != nil || len(out.Notes) != 1 || out.Notes[0] != "a?txt.exe??[0m?.txt had been changed again since." {
		t.Errorf("%+q, %v", out.Notes, err)
	}
	if got := r.get(hostile); got != "one" {
		t.Errorf("%q", got)
	}
}

var errKilled = errors.New("killed")

// killAfter ends the program after n more things that change the disk: nothing of it happens from there on.
func (r *rig) killAfter(n int) (steps *int) {
	var mu sync.Mutex
	steps = new(int)
	r.step = func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if *steps++; *steps > n {
			return errKilled
		}
		return nil
	}
	return steps
}

// A program that ends at any moment of a guarded call and its restore, and again at any moment of the repair, loses
// nothing: after a whole repair the files are what the call made of them, what they were, or can be put back.
func TestKilledAtEveryMoment(t *testing.T) {
	r, killed := newRig(t), 0
	for n := 0; ; n++ {
		done := false
		for again := 0; ; again++ {
			r.empty()
			for _, name := range []string{"a.txt", "d/b.txt", "d/c.txt", "unchanged.txt"} {
				r.put(name, "one of "+name)
			}
			before := r.tree()
			r.killAfter(n)
			ran := r.scenario(t)
			wasKilled := r.step("end") != nil
			r.whole(t, n, again)

			r.restart()
			steps := r.killAfter(again)
			_ = r.Repair(t.Context()) // what can't be done now is logged
			repaired := *steps <= again
			r.whole(t, n, again)
			r.restart()
			r.must(r.Repair(t.Context()))
			r.repaired(t, n, again, before, ran)
			if !wasKilled {
				done = true
			}
			killed++
			if repaired {
				break
			}
		}
		if done {
			t.Logf("ended at %d moments", killed)
			return
		}
	}
}

// scenario is a call that is guarded, ends, and is put back. It reports whether the call ran.
func (r *rig) scenario(t *testing.T) (ran bool) {
	o, err := r.Guard(t.Context(), call("terminal", r.work))
	if err != nil {
		return false
	}
	r.put("a.txt", "two")
	r.must(os.RemoveAll(r.in("d")))
	r.put("made.txt", "made")
	if err := o.End(t.Context()); err != nil {
		return true
	}
	_, _ = r.Restore(t.Context(), o.ID()) // judged by what is there
	return true
}

// whole checks that no file is a part of one.
func (r *rig) whole(t *testing.T, n, again int) {
	t.Helper()
	for _, name := range []string{"a.txt", "d/b.txt", "d/c.txt", "unchanged.txt"} {
		got := r.get(name)
		if ok := got == "one of "+name || name == "a.txt" && got == "two" || strings.HasPrefix(name, "d/") && got == "(none)"; !ok {
			t.Errorf("killed at %d and %d: %s is %q", n, again, name, got)
		}
	}
}

func (r *rig) repaired(t *testing.T, n, again int, before string, ran bool) {
	t.Helper()
	at := fmt.Sprintf("killed at %d and %d", n, again)
	var open int
	r.must(r.db.Reader().QueryRow(`SELECT count(*) FROM file_snapshots WHERE state = 'open' OR restoring_at IS NOT NULL AND restored_at IS NULL`).Scan(&open))
	if open != 0 {
		t.Errorf("%s: %d rows are not settled", at, open)
	}
	if strings.Contains(r.tree(), arriving) {
		t.Errorf("%s: something unfinished is left:\n%s", at, r.tree())
	}
	ids, err := r.ids(t.Context(), `SELECT id FROM file_snapshots WHERE source = 'terminal'`)
	r.must(err)
	if !ran {
		if len(ids) != 0 || len(r.copiesLeft()) != 0 || r.tree() != before {
			t.Errorf("%s: left of a call that never ran: %v %v", at, ids, r.copiesLeft())
		}
		return
	}
	if len(ids) != 1 {
		t.Fatalf("%s: %d snapshots of the call", at, len(ids))
	}
	if _, err := r.Restore(t.Context(), ids[0]); err != nil && errs.Code(err) != "snapshot_restored" {
		t.Errorf("%s: %v", at, err)
	}
	if r.get("made.txt") != "made" {
		t.Errorf("%s: a made file went", at)
	}
	r.must(os.Remove(r.in("made.txt")))
	if got := r.tree(); got != before {
		t.Errorf("%s: got\n%s\nwant\n%s", at, got, before)
	}
	// Every copy on the disk is one of a row's, and every row's copy is there.
	want := 0
	ids, err = r.ids(t.Context(), `SELECT id FROM file_snapshots`)
	r.must(err)
	for _, id := range ids {
		x, err := r.row(t.Context(), id)
		r.must(err)
		want += outcome{files: x.files}.copies()
	}
	if got := len(r.copiesLeft()); got != want {
		t.Errorf("%s: %d copies on the disk, %d in rows", at, got, want)
	}
}

// The files folder: paths that come in as text never lead out of it.
func FuzzPathsStayInside(f *testing.F) {
	for _, p := range []string{"a", "a/b", "../a", "a/../../b", "/etc/passwd", `..\a`, "a\x00b", "ünï/кириллица", strings.Repeat("a/", 300)} {
		f.Add(p)
	}
	r := newRig(f)
	files, err := filepath.EvalSymlinks(filepath.Join(r.home, "files"))
	r.must(err)
	f.Fuzz(func(t *testing.T, p string) {
		list, err := r.targets([]string{p})
		if err != nil {
			return
		}
		for _, x := range list {
			root := x.Root
			if root == "" {
				root = files
			}
			if full := filepath.Join(root, filepath.FromSlash(x.Path)); !within(root, full) || x.Root == "" && filepath.IsAbs(p) && !within(files, filepath.Clean(p)) {
				t.Errorf("%q leads to %q", p, full)
			}
		}
	})
}
