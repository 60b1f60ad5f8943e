package netx

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that fills up in the middle of a download of unknown size.
func TestDownloadFillsTheDisk(t *testing.T) {
	disk := t.TempDir()
	switch err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=3m"); {
	case err == nil:
	case os.Getuid() == 0 && os.Getenv("CI") == "true":
		t.Fatalf("mount a small disk: %v", err)
	default:
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	file := content(2 << 20)
	f := &fileServer{file: file, tag: `"a"`}
	r := Request{URL: serve(t, f.ServeHTTP).URL, To: filepath.Join(disk, "file"), Resume: true, SHA256: sumOf(file)}
	looks := 0
	c := newClient(t, Options{Clock: brisk{}, DiskFree: func(path string) (uint64, bool) {
		if looks++; looks == 1 {
			return 0, false // the look before it begins is tested elsewhere
		}
		free, known := diskFree(path)
		if free > pieceSize {
			free += spare
		}
		return free, known
	}})
	_, err := fetchFile(t, c, t.Context(), r)
	wantCode(t, err, "disk_full")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if b, err := fetchFile(t, c, t.Context(), r); err != nil || !bytes.Equal(b, file) {
		t.Fatal(len(b), err)
	}
}
