package wholefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, content := range []string{"first", "", "a longer second one"} {
		if err := Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	if err := WriteMode(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Fatal(info.Mode(), err)
	}
}

// What cannot be written leaves the old content and nothing else.
func TestWriteThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "nowhere", "a"), nil); err == nil {
		t.Fatal("written into a folder that is not there")
	}
	folder := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(folder, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(folder, []byte("x")); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
}
