package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A call that puts a link in the place of files/ does not make a restore write where that leads.
func TestTheFilesFolderThatBecameALink(t *testing.T) {
	r := newRig(t)
	r.put("f:outputs/notes.txt", "one")
	o := r.guard("outputs/notes.txt")
	r.put("f:outputs/notes.txt", "two")
	r.put("other/outputs/notes.txt", "theirs")
	files, moved := filepath.Join(r.home, "files"), filepath.Join(r.home, "moved")
	r.must(os.Rename(files, moved))
	r.must(os.Symlink(r.in("other"), files))
	r.must(o.End(t.Context()))
	if out := r.restore(o.ID()); out.OK || out.Files != 0 || r.get("other/outputs/notes.txt") != "theirs" {
		t.Errorf("%+v, %q", out, r.get("other/outputs/notes.txt"))
	}
	r.must(os.Remove(files))
	r.must(os.Rename(moved, files))
	if out := r.restore(o.ID()); !out.OK || r.get("f:outputs/notes.txt") != "one" {
		t.Errorf("when it is back: %+v", out)
	}
}

// A folder that went with the one above it lay on a drive that was taken out: it is not made anew on another.
func TestAFolderWhoseDriveIsGone(t *testing.T) {
	r := newRig(t)
	r.put("drive/proj/a.txt", "one")
	o := r.guard(r.in("drive/proj"))
	r.put("drive/proj/a.txt", "two")
	r.must(o.End(t.Context()))
	r.must(os.Rename(r.in("drive"), r.in("out")))
	if out := r.restore(o.ID()); out.OK || r.get("drive/proj/a.txt") != "(none)" {
		t.Errorf("%+v", out)
	}
	r.must(os.Rename(r.in("out"), r.in("drive")))
	if out := r.restore(o.ID()); !out.OK || r.get("drive/proj/a.txt") != "one" {
		t.Errorf("when it is back: %+v", out)
	}
}

// Whatever End could not do the first time, it does the second.
func TestEndAfterAnEndThatFailed(t *testing.T) {
	for _, c := range []struct {
		name, content, want string
	}{{"something changed", "two", "kept; changed 0.txt copied"}, {"nothing changed", "one", ""}} {
		for n := 1; ; n++ {
			r := newRig(t)
			for i := range 3 {
				r.put(fmt.Sprintf("%d.txt", i), "one")
			}
			o := r.guard(r.work)
			r.put("0.txt", c.content)
			steps := 0
			r.step = func(string) error {
				if steps++; steps == n {
					return errKilled
				}
				return nil
			}
			first := o.End(t.Context())
			r.must(o.End(t.Context()))
			copies := 0
			if c.want != "" {
				copies = 1
			}
			if r.told(o.ID()) != c.want || len(r.copiesLeft()) != copies {
				t.Errorf("%s, failed at %d: %q, left %v", c.name, n, r.told(o.ID()), r.copiesLeft())
			}
			if first == nil {
				break
			}
		}
	}
}
