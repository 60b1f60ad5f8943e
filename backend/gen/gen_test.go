package gen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"sentient/backend/gen"
)

// The committed files are exactly what the table gives: no route, bound method, client or document of its own.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	files, err := gen.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 6 {
		t.Fatalf("only %d files are generated", len(files))
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run ./task gen", path)
		}
	}
}
