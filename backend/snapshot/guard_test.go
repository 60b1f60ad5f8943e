package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/store"
	"sentient/backend/tool"
)

func TestWhatIsKeptOfACall(t *testing.T) {
	mb := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name string
		set  func(r *rig) // what is there before, besides a.txt ("one")
		act  func(r *rig)
		want string
	}{
		{"nothing changed", nil, func(r *rig) {}, ""},
		{"written with what it held", nil, func(r *rig) { r.put("a.txt", "one") }, ""},
		{"only looked at", nil, func(r *rig) { r.get("a.txt") }, ""},
		{"changed", nil, func(r *rig) { r.put("a.txt", "two") }, "kept; changed a.txt copied"},
		{"changed, with size and time as before", nil, func(r *rig) {
			info, err := os.Stat(r.in("a.txt"))
			r.must(err)
			r.put("a.txt", "two")
			r.must(os.Chtimes(r.in("a.txt"), info.ModTime(), info.ModTime()))
		}, "kept; changed a.txt copied"},
		{"deleted", nil, func(r *rig) { r.must(os.Remove(r.in("a.txt"))) }, "kept; deleted a.txt copied"},
		{"moved", nil, func(r *rig) { r.must(os.Rename(r.in("a.txt"), r.in("b.txt"))) }, "kept; deleted a.txt copied; made b.txt"},
		{"made alone", nil, func(r *rig) { r.put("sub/new.txt", "x") }, "none; made sub/new.txt"},
		{"an empty file changed", func(r *rig) { r.put("e.txt", "") }, func(r *rig) { r.put("e.txt", "x") }, "kept; changed e.txt copied"},
		{"deep", func(r *rig) { r.put("b/c/d.txt", "x") }, func(r *rig) { r.must(os.RemoveAll(r.in("b"))) }, "kept; deleted b/c/d.txt copied"},
		{"a folder took its place", nil, func(r *rig) { r.must(os.Remove(r.in("a.txt"))); r.put("a.txt/b.txt", "x") }, "kept; changed a.txt copied; made a.txt/b.txt"},
		{"a link took its place", nil, func(r *rig) {
			r.must(os.Remove(r.in("a.txt")))
			r.must(os.Symlink("/etc/hostname", r.in("a.txt")))
		}, "kept; changed a.txt copied"},
		{"the whole folder went", nil, func(r *rig) { r.must(os.RemoveAll(r.work)) }, "kept; deleted a.txt copied"},
		{"at the size limit", func(r *rig) { r.put("big.txt", mb) }, func(r *rig) { r.put("big.txt", "x") }, "kept; changed big.txt copied"},
		{"over the size limit", func(r *rig) { r.put("big.txt", mb+"x") }, func(r *rig) { r.put("big.txt", "x"); r.put("a.txt", "two") },
			"kept; changed a.txt copied; changed big.txt (Too large to keep a copy)"},
		{"over the size limit alone", func(r *rig) { r.put("big.txt", mb+"x") }, func(r *rig) { r.put("big.txt", "x") }, "none; changed big.txt (Too large to keep a copy)"},
		{"over the size limit and unchanged", func(r *rig) { r.put("big.txt", mb+"x") }, func(r *rig) {}, ""},
		{"a name that says it is no text", func(r *rig) { r.put("p.PNG", "text") }, func(r *rig) { r.put("p.PNG", "other") }, "none; changed p.PNG (Not text, so no copy was kept)"},
		{"a name that only looks like it", func(r *rig) { r.put("png", "text") }, func(r *rig) { r.put("png", "other") }, "kept; changed png copied"},
		{"a zero byte at the end of 8 KB", func(r *rig) { r.put("z", strings.Repeat("x", 8<<10-1)+"\x00") }, func(r *rig) { r.put("z", "other") }, "none; changed z (Not text, so no copy was kept)"},
		{"a zero byte after 8 KB", func(r *rig) { r.put("z", strings.Repeat("x", 8<<10)+"\x00") }, func(r *rig) { r.put("z", "other") }, "kept; changed z copied"},
		{"as many files as may be", func(r *rig) { r.many(19) }, func(r *rig) { r.put("a.txt", "two") }, "kept; changed a.txt copied"},
		{"one file too many", func(r *rig) { r.many(20) }, func(r *rig) { r.put("a.txt", "two") }, "none; changed a.txt; [Too many files to keep a copy]"},
		{"too many, none changed", func(r *rig) { r.many(20) }, func(r *rig) {}, ""},
		{"too many, one made", func(r *rig) { r.many(20) }, func(r *rig) { r.put("new", "x") }, "none; made new"},
		{"what gets no copy does not count", func(r *rig) { r.many(19); r.put("p.png", "x"); r.put("big", mb+"x") }, func(r *rig) { r.put("a.txt", "two") }, "kept; changed a.txt copied"},
		{"as much as may be", func(r *rig) { r.put("b", mb); r.put("c", mb[:1<<20-3]) }, func(r *rig) { r.put("a.txt", "two") }, "kept; changed a.txt copied"},
		{"a byte too much", func(r *rig) { r.put("b", mb); r.put("c", mb[:1<<20-2]) }, func(r *rig) { r.put("a.txt", "two") }, "none; changed a.txt; [Too many files to keep a copy]"},
		{"folders that are never looked at", func(r *rig) {
			for _, dir := range []string{".git", "node_modules", "sub/__pycache__", ".venv", "Node_Modules/x", "hidden"} {
				r.put(dir+"/x.txt", "x")
			}
		}, func(r *rig) {
			for _, dir := range []string{".git", "node_modules", "sub/__pycache__", ".venv", "Node_Modules/x", "hidden"} {
				r.put(dir+"/x.txt", "y")
				r.put(dir+"/y.txt", "y")
			}
		}, ""},
		{"folders with names like theirs", func(r *rig) { r.put("git/x", "x"); r.put("hidden2/x", "x") }, func(r *rig) { r.put("git/x", "y"); r.put("hidden2/x", "y") }, "kept; changed git/x copied; changed hidden2/x copied"},
		{"a file of such a name", func(r *rig) { r.put("venv", "x") }, func(r *rig) { r.put("venv", "y") }, "kept; changed venv copied"},
		{"links", func(r *rig) {
			r.put("h:secret", "s")
			r.put("h:dir/x", "s")
			r.must(os.Symlink(r.in("h:secret"), r.in("link")))
			r.must(os.Symlink(r.in("h:dir"), r.in("linked")))
		}, func(r *rig) { r.put("h:secret", "t"); r.put("h:dir/x", "t"); r.must(os.Remove(r.in("link"))) }, ""},
		{"files that are still coming in", func(r *rig) { r.put(".part-1", "x") }, func(r *rig) { r.put(".part-1", "y"); r.put(".part-2", "y") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put("a.txt", "one")
			if c.set != nil {
				c.set(r)
			}
			id := r.during(func() { c.act(r) })
			if got := r.told(id); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if n, want := len(r.copiesLeft()), strings.Count(c.want, "copied"); n != want {
				t.Errorf("%d copies are left, want %d: %v", n, want, r.copiesLeft())
			}
		})
	}
}

func (r *rig) many(n int) {
	for i := range n {
		r.put(fmt.Sprintf("many/%d.txt", i), "x")
	}
}

func TestFoldersOfTooManyFiles(t *testing.T) {
	r := newRig(t)
	r.put("00000", "")
	r.put("00001", "")
	for i := 2; i < maxListed; i++ { // what gets no copy counts here
		r.must(os.WriteFile(filepath.Join(r.work, fmt.Sprintf("%05d.png", i)), nil, 0o600))
	}
	if got, want := r.told(r.during(func() { r.put("00000", "x") })), "kept; changed 00000 copied"; got != want {
		t.Errorf("at the limit: %s", got)
	}
	r.put("zzz", "x")
	if got, want := r.told(r.during(func() { r.put("00001", "x"); r.put("new", "x") })), "none; changed 00001; [Too many files to keep a copy]"; got != want {
		t.Errorf("over the limit: %s", got)
	}
	id := r.during(func() { r.must(os.RemoveAll(r.work)) })
	x, err := r.row(t.Context(), id)
	r.must(err)
	if len(x.files) != most || !strings.HasSuffix(r.told(id), "[Too many files to keep a copy]; [More files changed than are listed here]") {
		t.Errorf("%d files listed", len(x.files))
	}
}

func TestWhereItLooks(t *testing.T) {
	for _, c := range []struct {
		name  string
		paths []string // "w:" the person's folder, "d:" the data folder, "b:" what holds both; else as it is
		all   string   // of w.txt, sub/s.txt, f:outputs/o.txt, f:outputs/incognito-s/i.txt, h:config.yaml, h:sandbox/x, h:snapshots/x: those seen
	}{
		{"a folder", []string{"w:"}, "sub/s.txt w.txt"},
		{"the command's own folder first", []string{"w:sub", "w:"}, "sub/s.txt w.txt"},
		{"named twice", []string{"w:", "w:", "w:sub"}, "sub/s.txt w.txt"},
		{"a file", []string{"w:w.txt"}, "w.txt"},
		{"a file that is not there", []string{"w:no/such/file"}, ""},
		{"a file of the files folder", []string{"outputs/o.txt"}, "f:outputs/o.txt"},
		{"the same, absolute", []string{"d:files/outputs/o.txt"}, "f:outputs/o.txt"},
		{"the files folder", []string{"."}, "f:outputs/o.txt"},
		{"the files folder, absolute", []string{"d:files"}, "f:outputs/o.txt"},
		{"an incognito chat's file", []string{"outputs/incognito-s/i.txt"}, ""},
		{"an incognito chat's folder", []string{"outputs/incognito-s"}, ""},
		{"Sentient's own folders", []string{"d:sandbox", "d:snapshots", "d:config.yaml"}, ""},
		{"the data folder", []string{"d:"}, "f:outputs/o.txt"},
		{"what holds the data folder", []string{"b:"}, "f:outputs/o.txt sub/s.txt w.txt"},
		{"a folder reached by a link", []string{"b:link"}, "sub/s.txt w.txt"},
		{"a file that is a link", []string{"w:filelink"}, ""},
		{"nothing", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			all := []string{"w.txt", "sub/s.txt", "f:outputs/o.txt", "f:outputs/incognito-s/i.txt", "h:config.yaml", "h:sandbox/x", "h:snapshots/x"}
			for _, name := range all {
				r.put(name, "x")
			}
			r.must(os.Symlink(r.work, filepath.Join(filepath.Dir(r.work), "link")))
			r.must(os.Symlink(r.in("w.txt"), r.in("filelink")))
			var paths []string
			for _, p := range c.paths {
				kind, rest, cut := strings.Cut(p, ":")
				base := map[string]string{"w": r.work, "d": r.home, "b": filepath.Dir(r.work)}[kind]
				if cut {
					p = filepath.Join(base, rest)
				}
				paths = append(paths, p)
			}
			o := r.guard(paths...)
			for _, name := range all {
				r.put(name, "changed")
			}
			r.must(o.End(t.Context()))
			var seen []string
			for _, word := range strings.Split(r.told(o.ID()), "; ") {
				if rest, ok := strings.CutPrefix(word, "changed "); ok {
					seen = append(seen, strings.TrimSuffix(rest, " copied"))
				}
			}
			want := strings.Fields(c.all)
			if len(seen) != len(want) {
				t.Errorf("saw %v, want %v", seen, want)
			}
			for _, w := range want {
				if !strings.Contains(" "+strings.Join(seen, " ")+" ", " "+w+" ") {
					t.Errorf("saw %v, want %v", seen, want)
				}
			}
		})
	}
}

func TestPathsThatAreNone(t *testing.T) {
	r := newRig(t)
	for _, p := range []string{"", "..", "../config.yaml", "outputs/../../config.yaml", "a//b", "./a", "a/"} {
		if o, err := r.Guard(t.Context(), call("files", p)); err == nil || o != nil {
			t.Errorf("%q was taken", p)
		}
	}
	if r.rows() != 0 || len(r.copiesLeft()) != 0 {
		t.Error("something was left")
	}
}

func TestWhenNothingIsCopied(t *testing.T) {
	for name, set := range map[string]func(r *rig, of *Of){
		"incognito":    func(_ *rig, of *Of) { of.Incognito = true },
		"switched off": func(r *rig, _ *Of) { r.settings.Enabled = false },
		"no files":     func(_ *rig, of *Of) { of.Touched = tool.Touched{} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put("a.txt", "one")
			of := call("code", r.work)
			set(r, &of)
			o, err := r.Guard(t.Context(), of)
			if o != nil || err != nil || o.ID() != "" {
				t.Errorf("%v, %v", o, err)
			}
			r.put("a.txt", "two")
			r.must(o.End(t.Context()))
			if _, err := os.Stat(r.home + "/snapshots"); r.rows() != 0 || !os.IsNotExist(err) {
				t.Error("something was kept")
			}
		})
	}
}

func TestACopyIsThereBeforeTheCallRuns(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	of := call("code", r.work)
	of.TaskID = "task1"
	o, err := r.Guard(t.Context(), of)
	r.must(err)
	var source, what, session, turn, callID, task, state, at string
	r.must(r.db.Reader().QueryRow(`SELECT source, what, session_id, turn_id, call_id, task_id, state, created_at FROM file_snapshots WHERE id = ?`, o.ID()).
		Scan(&source, &what, &session, &turn, &callID, &task, &state, &at))
	if got := strings.Join([]string{source, what, session, turn, callID, task, state, at}, "|"); got != "code|make clean|s1|t1|c1|task1|open|2027-03-01T12:00:00.000000Z" {
		t.Error(got)
	}
	if n := len(r.copiesLeft()); n != 2 {
		t.Errorf("%d files are kept, want the copy and the list", n)
	}
	r.must(o.End(t.Context()))
	r.must(o.End(t.Context()))
	if r.rows() != 0 {
		t.Error("a call that changed nothing left a row")
	}
}

// Two calls at once each keep what they found, and neither takes the other's copies.
func TestTwoCallsAtOnce(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	first := r.guard(r.work)
	r.put("a.txt", "two")
	second := r.guard(r.work)
	r.put("a.txt", "three")
	r.must(second.End(t.Context()))
	r.must(first.End(t.Context()))
	for _, c := range []struct{ id, want string }{{second.ID(), "two"}, {first.ID(), "one"}} {
		if _, err := r.Restore(t.Context(), c.id); err != nil || r.get("a.txt") != c.want {
			t.Errorf("%q, %v", r.get("a.txt"), err)
		}
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	ids := make([]string, 12)
	for i := range ids {
		name := fmt.Sprintf("%d/a.txt", i)
		r.put(name, "one")
		wg.Go(func() {
			o, err := r.Guard(t.Context(), call("terminal", filepath.Dir(r.in(name))))
			if err == nil {
				if i%2 == 0 {
					err = os.WriteFile(r.in(name), []byte("two"), 0o600)
				}
				if e := o.End(t.Context()); err == nil {
					err = e
				}
			}
			if err != nil {
				t.Error(err)
			}
			ids[i] = o.ID()
		})
	}
	wg.Wait()
	for i, id := range ids {
		want := ""
		if i%2 == 0 {
			want = fmt.Sprintf("kept; changed %d/a.txt copied", i)
		}
		if got := r.told(id); got != want {
			t.Errorf("%d: %s", i, got)
		}
	}
}

func TestNothingIsLeftWhenCopiesCannotBeKept(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	r.must(r.db.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON file_snapshots BEGIN SELECT RAISE(ABORT, 'no'); END`)
		return err
	}))
	if o, err := r.Guard(t.Context(), call("terminal", r.work)); err == nil || o != nil {
		t.Errorf("%v, %v", o, err)
	}
	if r.rows() != 0 || len(r.copiesLeft()) != 0 {
		t.Errorf("left: %v", r.copiesLeft())
	}
}

func TestAStoppedCallKeepsItsCopies(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	ctx, cancel := context.WithCancel(t.Context())
	o, err := r.Guard(ctx, call("terminal", r.work))
	r.must(err)
	r.put("a.txt", "two")
	cancel()
	r.must(o.End(ctx))
	if got := r.told(o.ID()); got != "kept; changed a.txt copied" {
		t.Error(got)
	}
	if o, err := r.Guard(ctx, call("terminal", r.work)); err == nil || o != nil || r.rows() != 1 {
		t.Errorf("a call that was stopped before it began: %v, %v", o, err)
	}
}

func BenchmarkGuard(b *testing.B) {
	r := newRig(b)
	r.settings.MaxFiles, r.settings.MaxTotalMB = 500, 25
	for i := range 500 {
		r.put(fmt.Sprintf("%d/%d.txt", i%20, i), strings.Repeat("line of text\n", 100))
	}
	for b.Loop() {
		o := r.guard(r.work)
		r.must(o.End(b.Context()))
	}
	b.ReportMetric(float64(b.Elapsed()/time.Millisecond)/float64(b.N), "ms/call")
}
