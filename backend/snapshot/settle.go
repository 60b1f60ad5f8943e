package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/store"
)

// End keeps the copies of what the call changed and drops the rest; when it changed and made nothing, nothing is left. It
// is called however the call ended, works on after ctx has ended, and does nothing the second time it is called. After an
// error it may be called again; what is then still left to do, Repair does at the next start.
func (o *Open) End(ctx context.Context) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil
	}
	if err := o.s.settle(context.WithoutCancel(ctx), o.id); err != nil {
		return fmt.Errorf("settle snapshot: %w", err)
	}
	o.done = true
	return nil
}

// outcome is what a call did to its files.
type outcome struct {
	files   []File
	created []string
	notes   []string
	bytes   int64 // of the copies that stay
}

func (s *Service) settle(ctx context.Context, id string) error {
	x, err := s.row(ctx, id)
	switch {
	case errs.Is(err, errs.NotFound): // forgotten, and only its folder is left
		return s.remove(id)
	case err != nil:
		return err
	case x.state != stateOpen: // kept, and only not tidied: its list no longer says what there is
		return s.tidy(id, x.state, x.files)
	}
	b, err := s.readList(id)
	if err != nil {
		return err
	}
	did, err := s.compare(ctx, id, b)
	if err != nil {
		return err
	}
	if len(did.files) == 0 && len(did.created) == 0 {
		return s.forget(ctx, id)
	}
	state := stateNone
	if did.bytes > 0 || did.copies() > 0 {
		state = stateKept
	}
	if err := s.keep(ctx, id, state, did); err != nil {
		return err
	}
	return s.tidy(id, state, did.files)
}

// forget removes a snapshot of which there is nothing to tell.
func (s *Service) forget(ctx context.Context, id string) error {
	err := s.write(ctx, "delete snapshot", func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM file_snapshots WHERE id = ?`, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.remove(id)
}

func (did outcome) copies() (n int) {
	for _, f := range did.files {
		if f.Copy != "" {
			n++
		}
	}
	return n
}

func (s *Service) keep(ctx context.Context, id, state string, did outcome) error {
	files, err := list(did.files)
	created, err2 := list(did.created)
	notes, err3 := list(did.notes)
	if err := errors.Join(err, err2, err3); err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	return s.write(ctx, "keep snapshot", func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE file_snapshots SET state = ?, files = ?, created = ?, notes = ?, bytes = ? WHERE id = ?`, state, files, created, notes, did.bytes, id)
		return err
	})
}

// list encodes a list; an empty one is [].
func list[T any](of []T) (string, error) {
	if of == nil {
		of = []T{}
	}
	raw, err := json.Marshal(of)
	return string(raw), err
}

// tidy removes from a snapshot's folder all but the copies of files.
func (s *Service) tidy(id, state string, files []File) error {
	if state != stateKept {
		return s.remove(id)
	}
	keep := map[string]bool{}
	for _, f := range files {
		keep[f.Copy] = true
	}
	names, err := os.ReadDir(s.folder(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read snapshot folder: %w", err)
	}
	for _, name := range names {
		if keep[name.Name()] {
			continue
		}
		if err := s.removeFile(filepath.Join(s.folder(id), name.Name())); err != nil {
			return err
		}
	}
	return nil
}

// compare finds what is no longer as the list says. Copied files are compared by their content, others by size and time.
func (s *Service) compare(ctx context.Context, id string, b *beforeCall) (did outcome, err error) {
	r := s.roots()
	defer r.close()
	plain, more := 0, false // files without a copy; there are more than are listed
	for _, e := range b.Entries {
		if err := ctx.Err(); err != nil {
			return did, err
		}
		now, err := s.look(r, id, e)
		if err != nil {
			return did, err
		}
		if now.same {
			continue
		}
		if e.Copy == "" {
			if plain++; plain > most {
				more = true
				continue
			}
		}
		f := File{Path: strings.ToValidUTF8(e.shown(), "\uFFFD"), Raw: rawPath(e.shown()), Change: now.change, Bytes: e.Size, Copy: e.Copy, Note: e.Note, Root: e.Root, Mode: e.Mode, Sum: e.Sum, After: now.trace}
		did.files = append(did.files, f)
		if e.Copy != "" {
			did.bytes += e.Size
		}
	}
	more, err = s.madeBy(ctx, r, b, &did, more)
	if err != nil {
		return did, err
	}
	if len(did.files) > 0 && b.TooMany {
		did.notes = append(did.notes, noteTooMany)
	}
	if len(did.files)+len(did.created) > 0 && b.Unreadable {
		did.notes = append(did.notes, noteFolder)
	}
	if more {
		did.notes = append(did.notes, noteMore)
	}
	return did, nil
}

// madeBy adds the files that were not there before. Where not all were listed before, that can't be told.
func (s *Service) madeBy(ctx context.Context, r *roots, b *beforeCall, did *outcome, more bool) (bool, error) {
	if b.Cut {
		return more, nil
	}
	there := map[string]bool{}
	for _, e := range b.Entries {
		there[e.key()] = true
	}
	now, err := s.scan(ctx, r, b.Targets, len(b.Entries)+maxListed)
	if err != nil {
		return more, err
	}
	for _, e := range now.entries {
		if there[e.key()] {
			continue
		}
		if len(did.created) == most {
			return true, nil
		}
		did.created = append(did.created, strings.ToValidUTF8(e.shown(), "\uFFFD"))
	}
	return more || now.cut, nil
}

// looked is how a file is now.
type looked struct {
	same   bool
	change string
	trace  string
}

// trace is a file's size and the time of its last change; "" when it is not there.
func trace(info fs.FileInfo) string {
	if info == nil {
		return ""
	}
	return strconv.FormatInt(info.Size(), 10) + ":" + strconv.FormatInt(info.ModTime().UnixNano(), 10)
}

func (s *Service) look(r *roots, id string, e entry) (looked, error) {
	info, err := r.stat(e.target)
	switch {
	case missing(err):
		return looked{change: deleted}, nil
	case err != nil: // it was readable before: somebody took that away
		return looked{change: changed}, nil
	}
	now := looked{change: changed, trace: trace(info)}
	if !info.Mode().IsRegular() {
		return now, nil
	}
	if e.Copy == "" {
		now.same = info.Size() == e.Size && info.ModTime().UnixNano() == e.Time
		return now, nil
	}
	if info.Size() != e.Size {
		return now, nil
	}
	now.same, err = s.sameAsCopy(r, e.target, filepath.Join(s.folder(id), e.Copy))
	return now, err
}

// sameAsCopy compares a file with its copy. One that can't be read is another; a copy that can't be is an error.
func (s *Service) sameAsCopy(r *roots, t target, path string) (bool, error) {
	f, _, err := r.read(t)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	kept, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read copy: %w", err)
	}
	defer kept.Close()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(f, a)
		m, errB := io.ReadFull(kept, b)
		if errB != nil && !errors.Is(errB, io.EOF) && !errors.Is(errB, io.ErrUnexpectedEOF) {
			return false, fmt.Errorf("read copy: %w", errB)
		}
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if errA != nil || errB != nil {
			ended := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF)
			return ended && errB != nil, nil
		}
	}
}
