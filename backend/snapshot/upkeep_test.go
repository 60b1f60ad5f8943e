package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/obs"
	"sentient/backend/store"
	"sentient/backend/svc"
)

func TestPrune(t *testing.T) {
	for _, c := range []struct {
		name  string
		later time.Duration
		kept  int // MB
		want  []bool
	}{
		{"young and few", 7 * 24 * time.Hour, 10, []bool{true, true, true}},
		{"the first is a moment too old", 7*24*time.Hour + time.Second, 10, []bool{false, true, true}},
		{"all are too old", 30 * 24 * time.Hour, 10, []bool{false, false, false}},
		{"as much as may be", time.Hour, 3, []bool{true, true, true}},
		{"the oldest are too much", time.Hour, 2, []bool{false, true, true}},
		{"only one has room", time.Hour, 1, []bool{false, false, true}},
		{"none has room", time.Hour, 0, []bool{false, false, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put("a.txt", strings.Repeat("x", 1<<20))
			var ids []string
			began := r.now
			for i := range 3 {
				ids = append(ids, r.during(func() { r.put("a.txt", strings.Repeat(string(rune('a'+i)), 1<<20)) }))
				r.now = r.now.Add(time.Hour)
			}
			running := r.guard(r.work)
			r.now = began.Add(c.later)
			r.settings.MaxKeptMB = c.kept
			r.must(r.Prune(t.Context()))
			for i, id := range ids {
				want := "kept; changed a.txt copied"
				if !c.want[i] {
					want = "none; changed a.txt; [The copies are gone]"
				}
				_, err := os.Stat(r.folder(id))
				if got := r.told(id); got != want || (err == nil) != c.want[i] {
					t.Errorf("%d: %s, folder %v", i, got, err)
				}
				if !c.want[i] {
					r.refused(id, "snapshot_gone", 409, "")
				}
			}
			r.must(r.Prune(t.Context()))
			if got := r.told(running.ID()); got != "open" {
				t.Errorf("a call that runs: %s", got)
			}
			r.put("a.txt", "changed")
			r.must(running.End(t.Context()))
			if out := r.restore(running.ID()); !out.OK {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestUpkeepPrunesEverySixHours(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	id := r.during(func() { r.put("a.txt", "two") })
	r.must(r.db.Close())
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r.db, err = store.Open(t.Context(), store.Options{Dir: r.home}); err != nil {
			t.Fatal(err)
		}
		r.restart()
		tree := svc.NewTree("test", obs.Discard())
		tree.Add(r.Upkeep())
		synctest.Wait()
		if got := r.told(id); got != "kept; changed a.txt copied" {
			t.Error(got)
		}
		r.mu.Lock()
		r.now = r.now.AddDate(0, 0, 8)
		r.mu.Unlock()
		time.Sleep(6*time.Hour - time.Second)
		synctest.Wait()
		if got := r.told(id); got != "kept; changed a.txt copied" {
			t.Errorf("too early: %s", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := r.told(id); got != "none; changed a.txt; [The copies are gone]" {
			t.Errorf("after six hours: %s", got)
		}
		tree.Close()
		r.must(r.db.Close())
	})
	var err error
	r.db, err = store.Open(context.Background(), store.Options{Dir: r.home}) // for the rig's end
	r.must(err)
}

func TestRepair(t *testing.T) {
	r := newRig(t)
	r.put("a.txt", "one")
	r.must(r.Repair(t.Context())) // of nothing
	kept := r.during(func() { r.put("a.txt", "two") })
	for what, list := range map[string]string{"damaged": "{", "of another shape": `{"entries":7}`, "not there": ""} {
		o := r.guard(r.work)
		if list == "" {
			r.must(os.RemoveAll(r.folder(o.ID())))
		} else {
			r.must(os.WriteFile(filepath.Join(r.folder(o.ID()), listName), []byte(list), 0o600))
		}
		r.put("a.txt", "lost "+what)
		r.restart()
		r.must(r.Repair(t.Context()))
		if got := r.told(o.ID()); got != "" {
			t.Errorf("a list that is %s: %s", what, got)
		}
	}
	orphan := filepath.Join(r.home, "snapshots", "01900000-0000-7000-8000-000000000000")
	r.must(os.MkdirAll(orphan, 0o700))
	r.must(os.WriteFile(filepath.Join(r.folder(kept), "left over"), nil, 0o600))
	r.put("h:snapshots/mine.txt", "x")
	r.put("h:snapshots/mine/too.txt", "x")
	r.must(r.Repair(t.Context()))
	if _, err := os.Stat(orphan); !os.IsNotExist(err) || strings.Join(r.copiesLeft(), " ") != "0 mine.txt too.txt" && len(r.copiesLeft()) != 3 {
		t.Errorf("%v, left %v", err, r.copiesLeft())
	}
	if out := r.restore(kept); !out.OK || r.get("a.txt") != "one" {
		t.Errorf("%+v", out)
	}
	r.must(r.Repair(t.Context()))
	r.refused(kept, "snapshot_restored", 409, "")
}
