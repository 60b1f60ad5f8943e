package snapshot

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// Restored is what Restore did.
type Restored struct {
	OK    bool     // every file that had a copy is as it was
	Files int      // how many are
	Notes []string // sentences: what was changed again since, what could not be put back and why
}

// row is a snapshot as it is kept.
type row struct {
	id, source, what, session, turn, call, task, state string
	files                                              []File
	notes                                              []string
	restoring, restored                                bool
}

func (s *Service) row(ctx context.Context, id string) (row, error) {
	var x row
	var files, notes string
	err := s.o.DB.Reader().QueryRowContext(ctx, `SELECT id, source, what, session_id, turn_id, call_id, coalesce(task_id, ''), state, files, notes,
			restoring_at IS NOT NULL, restored_at IS NOT NULL FROM file_snapshots WHERE id = ?`, id).
		Scan(&x.id, &x.source, &x.what, &x.session, &x.turn, &x.call, &x.task, &x.state, &files, &notes, &x.restoring, &x.restored)
	if errors.Is(err, sql.ErrNoRows) {
		return x, errUnknown()
	}
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(files), &x.files), json.Unmarshal([]byte(notes), &x.notes))
	}
	if err != nil {
		return x, fmt.Errorf("read snapshot: %w", err)
	}
	return x, nil
}

// restorable says why a snapshot can't be put back, as the timeline does (§21).
func (x row) restorable() error {
	switch {
	case x.state == stateOpen:
		return errOpen()
	case x.restored:
		return errRestored()
	case outcome{files: x.files}.copies() > 0:
		return nil
	}
	for _, note := range x.notes {
		if note == noteGone {
			return errGone()
		}
		if note == noteTooMany {
			return errNone(note)
		}
	}
	for _, f := range x.files {
		if f.Note != "" {
			return errNone(f.Note + ".")
		}
	}
	return errNone("There is nothing to put back: no file was there before.")
}

// Restore puts the copies of a snapshot back where they were (§10, §21). What they replace is copied first, as a snapshot
// of its own (source restore), so that it can be undone; files that the call made are left alone. It works on after ctx has
// ended. A crash at any moment leaves each file as it was or put back, and a snapshot that can be put back again.
//
// When some files can't be put back, the others are, OK is false, and it can be done again. 404 for an unknown snapshot,
// 409 when its call runs, it was put back already, there are no copies, or putting it back failed.
func (s *Service) Restore(ctx context.Context, id string) (Restored, error) {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	ctx = context.WithoutCancel(ctx)
	x, err := s.row(ctx, id)
	if err == nil {
		err = x.restorable()
	}
	if err != nil {
		return Restored{}, err
	}
	if _, err := os.Stat(s.folder(id)); err != nil {
		return Restored{}, errGone().Because(err)
	}
	if err := s.mark(ctx, id, "restoring_at"); err != nil {
		return Restored{}, err
	}
	out, err := s.putBack(ctx, x)
	if err == nil && out.OK {
		err = s.mark(ctx, id, "restored_at")
	}
	if err != nil || !out.OK {
		err = errors.Join(err, s.unmark(ctx, id))
	}
	if err != nil {
		return Restored{}, errs.New(errs.Conflict, "restore_failed", "The files couldn't be put back. Check the space on the disk and try again.").Because(err)
	}
	return out, nil
}

func (s *Service) mark(ctx context.Context, id, column string) error {
	at := clock.Stamp(s.o.Clock.Now())
	return s.write(ctx, "write "+column, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE file_snapshots SET `+column+` = ? WHERE id = ?`, at, id)
		return err
	})
}

func (s *Service) unmark(ctx context.Context, id string) error {
	return s.write(ctx, "clear restoring_at", func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE file_snapshots SET restoring_at = NULL WHERE id = ?`, id)
		return err
	})
}

// putBack copies what is there now, puts the files back, and settles the copies of what was there.
func (s *Service) putBack(ctx context.Context, x row) (out Restored, err error) {
	var targets []target
	for _, f := range x.files {
		if f.Copy != "" {
			targets = append(targets, f.target())
		}
	}
	undo, err := s.capture(ctx, Of{Touched: tool.Touched{Source: "restore", What: x.what}, SessionID: x.session, TurnID: x.turn, CallID: x.call, TaskID: x.task},
		targets, limits{everything: true})
	if err != nil {
		return out, err
	}
	out, err = s.putAll(ctx, x, undo)
	return out, errors.Join(err, s.settle(ctx, undo))
}

// target is where a file is put back.
func (f File) target() target {
	p := f.Path
	if f.Raw != nil {
		p = string(f.Raw)
	}
	if f.Root == "" {
		return target{Path: p}
	}
	rel, err := filepath.Rel(f.Root, p)
	if err != nil {
		rel = p // refused when it is opened: it leaves its root
	}
	return target{Root: f.Root, Path: filepath.ToSlash(rel)}
}

func (s *Service) putAll(ctx context.Context, x row, undo string) (Restored, error) {
	kept, err := s.copied(undo)
	if err != nil {
		return Restored{}, err
	}
	r := s.roots()
	defer r.close()
	out := Restored{OK: true, Notes: []string{}}
	for i, f := range x.files {
		if f.Copy == "" {
			if f.Note != "" {
				out.Notes = append(out.Notes, name(f)+" was not put back: "+lower(f.Note)+".")
			}
			continue
		}
		back := put{Service: s, roots: r, row: x, file: f, temp: tempName(x.id, i), undoable: kept[f.target().key()]}
		note, done, err := back.do()
		if err != nil {
			return out, err
		}
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
		if done {
			out.Files++
		} else {
			out.OK = false
		}
	}
	return out, nil
}

// copied gives which files the list of a snapshot has a copy of.
func (s *Service) copied(id string) (map[string]bool, error) {
	b, err := s.readList(id)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, e := range b.Entries {
		kept[e.key()] = e.Copy != ""
	}
	return kept, nil
}

// name is a file's name as a sentence can show it: characters that can't be seen could make it look like another.
func name(f File) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, path.Base(filepath.ToSlash(f.Path)))
}

func lower(note string) string { return string(note[0]|0x20) + note[1:] }

// tempName is where a file is written before it gets its name. A restore that was cut short is cleaned up by it.
func tempName(id string, i int) string { return arriving + "restore-" + id + "-" + strconv.Itoa(i) }

// put is one file that is put back.
type put struct {
	*Service
	roots    *roots
	row      row
	file     File
	temp     string
	undoable bool // what is there now was copied
}

// do puts the file back. note is a sentence, also where it was put back; an error is one that ends the restore.
func (p put) do() (note string, done bool, err error) {
	t := p.file.target()
	if t.Path == "." || !filepath.IsLocal(filepath.FromSlash(t.Path)) {
		return name(p.file) + " was not put back: its place is not known.", false, nil
	}
	info, err := p.roots.stat(t)
	switch {
	case err == nil && info.IsDir():
		return name(p.file) + " was not put back: there is a folder of this name now.", false, nil
	case errors.Is(err, errLinked):
		return name(p.file) + " was not put back: a link leads to its folder now.", false, nil
	case err != nil && !missing(err):
		return name(p.file) + " was not put back: its folder can't be used.", false, nil
	case err != nil:
		info = nil
	case info.Mode().IsRegular() && !p.undoable:
		return name(p.file) + " was not put back: what is there now can't be read, so it couldn't be kept.", false, nil
	}
	if trace(info) != p.file.After {
		note = name(p.file) + " had been changed again since."
	}
	if err := p.checkCopy(); err != nil {
		p.o.Log.Error("copy of a file is damaged", "snapshot", p.row.id, "copy", p.file.Copy, "error", err)
		return name(p.file) + " was not put back: its copy is damaged.", false, nil
	}
	if info != nil && info.Mode().IsRegular() && info.Size() == p.file.Bytes && uint32(info.Mode().Perm()) == p.file.Mode {
		if same, err := p.sameAsCopy(p.roots, t, p.copyPath()); err == nil && same {
			return note, true, nil
		}
	}
	switch err := p.place(t); {
	case errors.Is(err, errLinked), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrExist), missing(err):
		p.o.Log.Warn("file not put back", "snapshot", p.row.id, "error", err)
		return name(p.file) + " was not put back: its folder can't be used.", false, nil
	case err != nil:
		return "", false, fmt.Errorf("put file back: %w", err)
	}
	return note, true, nil
}

func (p put) copyPath() string { return filepath.Join(p.folder(p.row.id), p.file.Copy) }

// checkCopy reads a copy once before anything of it is used.
func (p put) checkCopy() error {
	if p.file.Copy != filepath.Base(p.file.Copy) {
		return errors.New("not a name of a copy")
	}
	f, err := os.Open(p.copyPath())
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return err
	}
	if hex.EncodeToString(hash.Sum(nil)) != p.file.Sum {
		return errors.New("another checksum")
	}
	return nil
}

// place writes the file beside where it goes and renames it, so that it is there whole or as it was.
func (p put) place(t target) (err error) {
	root, err := p.roots.made(t.Root)
	if err != nil {
		return err
	}
	dir := path.Dir(t.Path)
	if err := noLinks(root, dir); err != nil {
		return err
	}
	if err := p.makeFolders(root, t, dir); err != nil {
		return err
	}
	temp := filepath.FromSlash(path.Join(dir, p.temp))
	if err := p.before("write file"); err != nil {
		return err
	}
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := p.fill(to); err != nil {
		return errors.Join(err, p.discard(root, temp))
	}
	if err := p.before("rename file"); err != nil {
		return errors.Join(err, p.discard(root, temp))
	}
	if err := root.Rename(temp, filepath.FromSlash(t.Path)); err != nil {
		return errors.Join(err, p.discard(root, temp))
	}
	return syncDir(root, dir)
}

func (p put) makeFolders(root *os.Root, t target, dir string) error {
	if _, err := root.Lstat(filepath.FromSlash(dir)); err == nil {
		return nil
	}
	if err := p.before("make folders"); err != nil {
		return err
	}
	mode := fs.FileMode(0o755)
	if t.Root == "" {
		mode = 0o700 // as everything in the data folder
	}
	return root.MkdirAll(filepath.FromSlash(dir), mode)
}

// fill writes the copy with the permissions that the file had.
func (p put) fill(to *os.File) (err error) {
	defer func() { err = errors.Join(err, to.Close()) }()
	from, err := os.Open(p.copyPath())
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	if err := to.Chmod(fs.FileMode(p.file.Mode).Perm()); err != nil {
		return err
	}
	if err := p.before("sync file"); err != nil {
		return err
	}
	return to.Sync()
}

func (p put) discard(root *os.Root, temp string) error {
	if err := p.before("remove unfinished file"); err != nil {
		return err
	}
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
