//go:build unix

package files

import (
	"path/filepath"
	"syscall"
	"testing"

	"sentient/backend/errs"
)

// A pipe would keep whoever opens it waiting.
func TestPipesAreNotOpened(t *testing.T) {
	r := newRig(t)
	r.place("uploads/a.txt", "x", 1)
	if err := syscall.Mkfifo(filepath.Join(r.dir, "files", "uploads", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.call("file_read", map[string]any{"name": "pipe"}, nil); errs.Code(err) != "file_unknown" {
		t.Error(err)
	}
}
