package store

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/obs"
)

func textLog(w io.Writer) *slog.Logger { return obs.NewLogger(w, slog.LevelDebug) }

// archive makes a zip file with one file in it.
func archive(t *testing.T, path, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBackupWhileWriting(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, testOptions(dir))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := addBatch(t.Context(), db.Write, n, strings.Repeat("x", 3000)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	last := 0
	for i := range 8 {
		to := filepath.Join(t.TempDir(), FileName)
		if err := db.Backup(t.Context(), to); err != nil {
			t.Fatal(i, err)
		}
		if err := db.Backup(t.Context(), to); !errors.Is(err, os.ErrExist) {
			t.Fatalf("over a file that is there: %v", err)
		}
		if got := names(t, filepath.Dir(to)); got != FileName {
			t.Fatalf("beside the copy: %s", got)
		}
		if err := judge(t.Context(), to, 2); err != nil {
			t.Fatal(err)
		}
		c := mustOpen(t, testOptions(filepath.Dir(to)))
		n := batches(t, c)
		if n < last {
			t.Fatalf("an older moment than the copy before: %d, %d", n, last)
		}
		last = n
		mustClose(t, c)
	}
	close(stop)
	wg.Wait()
}

func TestBackupEndsWithItsContext(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := t.TempDir()
	if err := db.Backup(ctx, filepath.Join(to, "copy.db")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := names(t, to); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

func TestRestore(t *testing.T) {
	for _, kind := range []string{"copy", "backup"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			used(t, dir)
			o := testOptions(dir)
			if kind == "copy" {
				if err := copyBefore(t.Context(), withDefaults(t, o), 2, 3); err != nil {
					t.Fatal(err)
				}
			} else {
				archive(t, filepath.Join(dir, "backups", "snapshots", "sentient-snapshot-20270102-030405.zip"), FileName, tree(t, dir)[string(filepath.Separator)+FileName])
				archive(t, filepath.Join(dir, "backups", "other.zip"), "readme.txt", []byte("x"))
				write(t, filepath.Join(dir, "backups", "broken.zip"), "x")
			}
			edit(t, filepath.Join(dir, FileName), func(b []byte) []byte { clear(b[:5000]); return b })
			write(t, filepath.Join(dir, FileName+"-wal"), "rest of a WAL")
			broken := tree(t, dir)
			_, err := Open(t.Context(), o)
			u := wantUnusable(t, err, Damaged)
			if len(u.Snapshots) != 1 || u.Snapshots[0].Kind != kind {
				t.Fatalf("offered: %+v", u.Snapshots)
			}
			if err := Restore(t.Context(), o, u.Snapshots[0]); err != nil {
				t.Fatal(err)
			}
			db := mustOpen(t, o)
			if n := batches(t, db); n != 5 {
				t.Errorf("%d batches", n)
			}
			mustClose(t, db)
			aside, err := filepath.Glob(filepath.Join(dir, FileName+".damaged-*"))
			if err != nil || len(aside) != 2 {
				t.Fatalf("kept aside: %v %v", aside, err)
			}
			for i, name := range []string{FileName, FileName + "-wal"} {
				b, err := os.ReadFile(aside[i])
				if err != nil || string(b) != string(broken[string(filepath.Separator)+name]) {
					t.Errorf("%s was not kept as it was: %v", name, err)
				}
			}
		})
	}
}

func withDefaults(t *testing.T, o Options) Options {
	t.Helper()
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRestoreRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		code string
		make func(t *testing.T, path string)
	}{
		{"nothing there", "snapshot_unusable", func(*testing.T, string) {}},
		{"another file", "snapshot_damaged", func(t *testing.T, path string) { write(t, path, "hello") }},
		{"foreign", "snapshot_damaged", func(t *testing.T, path string) {
			foreign(t, filepath.Dir(path))
			if err := os.Rename(filepath.Join(filepath.Dir(path), FileName), path); err != nil {
				t.Fatal(err)
			}
		}},
		{"damaged", "snapshot_damaged", func(t *testing.T, path string) {
			from := t.TempDir()
			used(t, from)
			edit(t, filepath.Join(from, FileName), func(b []byte) []byte { clear(b[len(b)-9000:]); return b })
			if err := copyFile(filepath.Join(from, FileName), path); err != nil {
				t.Fatal(err)
			}
		}},
		{"newer", "snapshot_newer", func(t *testing.T, path string) {
			from := t.TempDir()
			mustClose(t, mustOpen(t, manySteps(from, 3)))
			if err := copyFile(filepath.Join(from, FileName), path); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			used(t, dir)
			path := filepath.Join(t.TempDir(), "snapshot.db")
			c.make(t, path)
			before := tree(t, dir)
			err := Restore(t.Context(), testOptions(dir), Snapshot{Path: path})
			if errs.Code(err) != c.code {
				t.Fatalf("got %v", err)
			}
			wantSentence(t, err)
			sameTree(t, before, tree(t, dir))
		})
	}
}

// A crash in the middle of a restore leaves a folder that says so and can be restored again.
func TestRestoreEndsHalfWay(t *testing.T) {
	dir := t.TempDir()
	used(t, dir)
	o := testOptions(dir)
	if err := copyBefore(t.Context(), withDefaults(t, o), 2, 3); err != nil {
		t.Fatal(err)
	}
	o.at = func(string) { panic("crash") }
	func() {
		defer func() { _ = recover() }()
		_ = Restore(t.Context(), o, Snapshots(dir)[0])
	}()
	o.at = nil
	_, err := Open(t.Context(), o)
	u := wantUnusable(t, err, Missing)
	if err := Restore(t.Context(), o, u.Snapshots[0]); err != nil {
		t.Fatal(err)
	}
	if n := batches(t, mustOpen(t, o)); n != 5 {
		t.Errorf("%d batches", n)
	}
}

func TestStartEmptyKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	used(t, dir)
	edit(t, filepath.Join(dir, FileName), func(b []byte) []byte { clear(b[:200]); return b })
	broken := tree(t, dir)[string(filepath.Separator)+FileName]
	o := testOptions(dir)
	if err := StartEmpty(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if n := batches(t, mustOpen(t, o)); n != 0 {
		t.Errorf("%d batches", n)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, FileName+".damaged-*"))
	if len(aside) != 1 {
		t.Fatalf("kept: %v", aside)
	}
	if b, err := os.ReadFile(aside[0]); err != nil || string(b) != string(broken) {
		t.Error("not kept as it was")
	}
}
