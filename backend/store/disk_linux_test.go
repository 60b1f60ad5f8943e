package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sentient/backend/errs"
)

// smallDisk mounts a disk of its own of so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
	switch {
	case err == nil:
	case os.Getuid() == 0 && os.Getenv("CI") == "true":
		t.Fatalf("mount a small disk: %v", err)
	default:
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func free(t *testing.T, dir string) int {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int(s.Bavail) * int(s.Bsize)
}

// fillDisk leaves so many bytes free and gives a function that frees the rest again.
func fillDisk(t *testing.T, disk string, leave int) (empty func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	if n := free(t, disk) - leave; n > 0 {
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := removeAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

const diskSize = 6 << 20

// The disk fills up at each point of a script of writes: small and large ones, durable ones, and the folding of the WAL.
func TestDiskFullAtEveryWrite(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, diskSize)
	for leave := 0; leave <= 120<<10; leave += 4 << 10 {
		dir := filepath.Join(disk, "home")
		db := mustOpen(t, testOptions(dir))
		last := 3
		for i := range last {
			if err := addBatch(t.Context(), db.Write, i+1, "before"); err != nil {
				t.Fatal(err)
			}
		}
		empty := fillDisk(t, disk, leave)
		last = writeUntilFull(t, db, last)
		if h := db.Health(); !h.DiskFull || h.OK || h.Damaged {
			t.Fatalf("health: %+v", h)
		}
		err := db.WriteUrgent(t.Context(), func(tx *Tx) error { return db.SetMeta(t.Context(), tx, "stop.state", "stopped") })
		if err != nil {
			t.Fatalf("with %d bytes left: urgent write: %v", leave, err)
		}
		if n := batches(t, db); n != last {
			t.Fatalf("with %d bytes left: %d batches, %d were acknowledged", leave, n, last)
		}
		closedFull := leave%8192 == 0
		if closedFull {
			db.Close() // may fail; what counts is what the next start finds
			db = nil
		}
		empty()
		if closedFull {
			db = mustOpen(t, testOptions(dir))
		}
		if err := addBatch(t.Context(), db.Write, last+1, "after"); err != nil {
			t.Fatalf("with space again: %v", err)
		}
		if h := db.Health(); h.DiskFull {
			t.Fatalf("health with space again: %+v", h)
		}
		if v, _, err := db.Meta(t.Context(), "stop.state"); v != "stopped" || err != nil {
			t.Fatalf("urgent write lost: %q %v", v, err)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustClose(t, db)
		db = mustOpen(t, testOptions(dir))
		if n := batches(t, db); n != last+1 || db.Health().Unclean {
			t.Fatalf("after a restart: %d batches of %d, %+v", n, last+1, db.Health())
		}
		mustClose(t, db)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// writeUntilFull writes until the disk is full, twice, and gives the last batch that was acknowledged.
func writeUntilFull(t *testing.T, db *DB, last int) int {
	t.Helper()
	for failed := 0; failed < 2; {
		w, text := db.Write, strings.Repeat("x", 100)
		if last%2 == 0 {
			w, text = db.WriteDurable, strings.Repeat("y", 9000)
		}
		err := addBatch(t.Context(), w, last+1, text)
		if err == nil {
			last++
			continue
		}
		failed++
		if errs.Code(err) != CodeFull || !errs.Is(err, errs.Unavailable) {
			t.Fatalf("got %v", err)
		}
		wantSentence(t, err)
	}
	return last
}

func TestDiskFullWhileOpening(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, diskSize)
	dir := filepath.Join(disk, "home")
	for _, c := range []struct {
		name string
		make func(t *testing.T)
	}{
		{"new", func(*testing.T) {}},
		{"used", func(t *testing.T) { used(t, dir) }},
		{"used, reserve gone", func(t *testing.T) { used(t, dir); dropReserve(dir) }},
		{"after a crash", func(t *testing.T) {
			running(t, dir, "INSERT INTO rows (batch, text) VALUES (6, 'x'), (6, 'x'), (6, 'x')")
		}},
		{"to be migrated", func(t *testing.T) {
			o := testOptions(dir)
			o.steps = o.steps[:1]
			mustClose(t, mustOpen(t, o))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for leave := 0; leave <= 200<<10; leave += 12 << 10 {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				c.make(t)
				empty := fillDisk(t, disk, leave)
				db, err := Open(t.Context(), testOptions(dir))
				if err != nil {
					wantUnusable(t, err, Full)
				} else {
					batches(t, db)
					db.Close()
				}
				empty()
				db = mustOpen(t, testOptions(dir))
				batches(t, db)
				if err := db.Check(t.Context()); err != nil {
					t.Fatal(err)
				}
				mustClose(t, db)
				if got := strings.ReplaceAll(names(t, dir), "backups", ""); strings.Contains(got, ".new") || strings.Contains(got, ".part") || strings.Contains(got, "probe") {
					t.Fatalf("left behind: %s", got)
				}
			}
		})
	}
}

func TestDiskFullWhileCopying(t *testing.T) {
	disk := smallDisk(t, diskSize)
	db := mustOpen(t, testOptions(t.TempDir()))
	for i := range 30 {
		if err := addBatch(t.Context(), db.Write, i+1, strings.Repeat("x", 5000)); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(disk, "copy.db")
	for leave := 0; leave < 400<<10; leave += 50 << 10 {
		empty := fillDisk(t, disk, leave)
		err := db.Backup(t.Context(), to)
		if errs.Code(err) != CodeFull {
			t.Fatalf("with %d bytes left: %v", leave, err)
		}
		wantSentence(t, err)
		empty()
		if got := names(t, disk); got != "" {
			t.Fatalf("left behind: %s", got)
		}
	}
	if err := db.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
}

// A folder that cannot be written, by a disk that may only be read.
func TestReadOnlyDisk(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
	}{
		{"new", func(*testing.T, string) {}},
		{"used", used},
		{"after a crash", func(t *testing.T, dir string) {
			running(t, dir, "INSERT INTO rows (batch, text) VALUES (6, 'x')")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := smallDisk(t, diskSize)
			c.make(t, disk)
			before := tree(t, disk)
			if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			_, err := Lock(disk)
			if errs.Code(err) != "folder_unusable" {
				t.Errorf("Lock: %v", err)
			}
			wantSentence(t, err)
			_, err = Open(t.Context(), testOptions(disk))
			wantUnusable(t, err, ReadOnly)
			sameTree(t, before, tree(t, disk))
		})
	}
}

// The same by the folder's rights, which bind anybody but root.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	used(t, dir)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	if os.Getuid() == 0 {
		err := asUnusable(fileTrouble(&os.PathError{Op: "open", Path: "x", Err: syscall.EACCES}))
		wantUnusable(t, err, ReadOnly)
		t.Skip("rights do not bind root; only the translation was looked at")
	}
	_, err := Open(t.Context(), testOptions(dir))
	wantUnusable(t, err, ReadOnly)
}

// A file that is cut short under an open database is an error, not an end of the program and not an empty table.
func TestCutShortUnderAnOpenDatabase(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, testOptions(dir))
	if err := os.Truncate(filepath.Join(dir, FileName), 4096); err != nil {
		t.Fatal(err)
	}
	db.reader.SetMaxIdleConns(0)
	var n int
	err := db.Reader().QueryRow("SELECT count(*) FROM migrations").Scan(&n)
	if errs.Code(err) != CodeDamaged || !db.Health().Damaged {
		t.Fatalf("got %d rows, %v, health %+v", n, err, db.Health())
	}
	wantSentence(t, err)
}
