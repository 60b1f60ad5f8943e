package store

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/wholefile"
)

// Snapshot is a copy of the database that Restore can put in its place.
type Snapshot struct {
	Name string // file name, for people
	Path string
	Kind string // "copy": taken before a migration; "backup": an archive that holds one
	At   time.Time
	Size int64
}

const (
	backupsDir  = "backups"
	copiesKept  = 3
	stampFormat = "20060102-150405.000000"
)

func stamp(c clock.Clock) string { return c.Now().UTC().Format(stampFormat) }

// copies lists the copies taken before migrations, oldest first.
func copies(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(dir), backupsDir, "before-*.db"))
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(copyStamp(a), copyStamp(b)) })
	return names
}

// copyStamp gives the stamp in a name like before-3-5-20270102-030405.000000.db, which sorts by time.
func copyStamp(path string) string {
	parts := strings.SplitN(filepath.Base(path), "-", 4)
	return parts[len(parts)-1]
}

// copyBefore takes the copy before a migration and lets go of the oldest.
func copyBefore(ctx context.Context, o Options, from, to int) error {
	dir := filepath.Join(o.Dir, backupsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fileTrouble(err)
	}
	name := fmt.Sprintf("before-%d-%d-%s.db", from, to, stamp(o.Clock))
	if err := copyDatabase(ctx, filepath.Join(o.Dir, FileName), filepath.Join(dir, name)); err != nil {
		return fmt.Errorf("copy before migration: %w", err)
	}
	have := copies(o.Dir)
	if len(have) > copiesKept {
		return fileTrouble(removeAll(have[:len(have)-copiesKept]...))
	}
	return nil
}

// Snapshots lists what can be put in place of a data folder's database, newest first: copies taken before a migration,
// and backups and snapshots that lie in the folder. It changes nothing and leaves out what holds no database of ours.
func Snapshots(dir string) []Snapshot {
	var all []Snapshot
	for _, p := range copies(dir) {
		if b, err := readHead(p); err == nil {
			if h, ok := parseHeader(b); ok && h.application == applicationID {
				all = addSnapshot(all, p, "copy")
			}
		}
	}
	for _, pattern := range []string{"*.zip", "snapshots/*.zip"} {
		names, _ := filepath.Glob(filepath.Join(escapeGlob(dir), backupsDir, filepath.FromSlash(pattern)))
		for _, p := range names {
			if holdsDatabase(p) {
				all = addSnapshot(all, p, "backup")
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Snapshot) int { return b.At.Compare(a.At) })
	return all
}

func addSnapshot(all []Snapshot, path, kind string) []Snapshot {
	i, err := os.Stat(path)
	if err != nil {
		return all
	}
	s := Snapshot{Name: filepath.Base(path), Path: path, Kind: kind, At: i.ModTime(), Size: i.Size()}
	if kind == "copy" {
		if at, err := time.Parse(stampFormat, strings.TrimSuffix(copyStamp(path), ".db")); err == nil {
			s.At = at
		}
	}
	return append(all, s)
}

func holdsDatabase(path string) bool {
	z, err := zip.OpenReader(path)
	if err != nil {
		return false
	}
	defer z.Close()
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == FileName })
}

// Restore puts a snapshot in the place of a data folder's database, which no program has open, and keeps what was there
// as sentient.db.damaged-<time>. The snapshot is read to its end first; one that is not sound, or newer than this
// program, is refused and nothing is changed. From an archive only the database is taken.
func Restore(ctx context.Context, o Options, s Snapshot) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	part := filepath.Join(o.Dir, FileName+".restoring")
	if err := removeAll(part); err != nil {
		return fileTrouble(err)
	}
	if err := fetchSnapshot(s, part); err != nil {
		return errors.Join(notRestored(err), removeAll(part))
	}
	if err := judge(ctx, part, o.latest()); err != nil {
		return errors.Join(notRestored(err), removeAll(part))
	}
	if err := setAside(o); err != nil {
		return errors.Join(notRestored(err), removeAll(part))
	}
	o.at("after aside")
	if err := os.Rename(part, filepath.Join(o.Dir, FileName)); err != nil {
		return notRestored(err)
	}
	if err := wholefile.SyncDir(o.Dir); err != nil {
		return notRestored(err)
	}
	if err := leaveMarker(o); err != nil {
		o.Log.Warn("marker not written", "error", err)
	}
	return nil
}

// StartEmpty is the explicit choice to begin anew in a folder whose database is missing or unusable: what is left of it
// is kept as sentient.db.damaged-<time>, and the next Open makes a new one.
func StartEmpty(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	if err := setAside(o); err != nil {
		return fileTrouble(err)
	}
	if err := create(ctx, o); err != nil {
		return asUnusable(err)
	}
	return nil
}

func notRestored(err error) error {
	if e := errs.Code(err); e != "" {
		return err
	}
	if reasonOf(err) == Full {
		return errFull.Because(err)
	}
	return errs.New(errs.Invalid, "snapshot_unusable", "This snapshot could not be put in place, so nothing was changed. Choose another one.").Because(err)
}

func fetchSnapshot(s Snapshot, to string) error {
	if s.Kind != "backup" {
		return copyFile(s.Path, to)
	}
	z, err := zip.OpenReader(s.Path)
	if err != nil {
		return err
	}
	defer z.Close()
	src, err := z.Open(FileName)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Sync(), dst.Close())
}

// judge reads a copy to its end.
func judge(ctx context.Context, path string, latest int) error {
	b, err := readHead(path)
	if err != nil {
		return err
	}
	h, ok := parseHeader(b)
	switch {
	case !ok, h.application != applicationID, h.version <= 0:
		return errs.New(errs.Invalid, "snapshot_damaged", "This snapshot is damaged, so nothing was changed. Choose another one.")
	case h.version > latest:
		return errs.New(errs.Invalid, "snapshot_newer", "This snapshot was made by a newer version of Sentient, so nothing was changed. Install that version first, or choose an older snapshot.")
	}
	r := pool(lookDSN, path, 1, nil)
	faults, err := quickCheck(ctx, r)
	err = errors.Join(err, r.Close())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(faults) > 0 {
		return errs.New(errs.Invalid, "snapshot_damaged", "This snapshot is damaged, so nothing was changed. Choose another one.").Because(errors.Join(err, fmt.Errorf("%d faults", len(faults))))
	}
	return nil
}

// setAside renames the database and what belongs to it. The -shm is scratch space and goes.
func setAside(o Options) error {
	path := filepath.Join(o.Dir, FileName)
	aside := path + ".damaged-" + stamp(o.Clock)
	for _, end := range []string{"", "-wal", "-journal"} {
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := removeAll(path + "-shm"); err != nil {
		return err
	}
	return wholefile.SyncDir(o.Dir)
}

// keepWAL keeps a copy of a WAL with commits that cannot be read, before SQLite passes over them and clears it.
func keepWAL(o Options) error {
	from := filepath.Join(o.Dir, FileName+"-wal")
	i, err := os.Stat(from)
	if err != nil || i.Size() > keepWALUpTo {
		return err
	}
	return copyFile(from, filepath.Join(o.Dir, FileName+".damaged-"+stamp(o.Clock)+"-wal"))
}

const keepWALUpTo = 64 << 20
