package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"sentient/backend/clock"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/wholefile"
)

// Of says which call is guarded.
type Of struct {
	Touched   tool.Touched
	SessionID string
	TurnID    string
	CallID    string
	TaskID    string // "" outside a task
	Incognito bool
}

// Open is a guarded call that runs. A nil one guards nothing.
type Open struct {
	s    *Service
	id   string
	mu   sync.Mutex
	done bool
}

// listName is the file with the list of a running call's files as they were.
const listName = "before.json"

// before is what is in it.
type beforeCall struct {
	Targets    []target `json:"targets"`
	Entries    []entry  `json:"entries"`
	Cut        bool     `json:"cut,omitempty"` // there are more files than are listed
	Unreadable bool     `json:"unreadable,omitempty"`
	TooMany    bool     `json:"too_many,omitempty"`
}

// limits are how much is copied for one call.
type limits struct {
	fileBytes, totalBytes int64
	files                 int
	everything            bool // also what is large or not text, and as much as there is: what a person's Restore replaces
}

// Guard copies the files that a call may change (§10), before it runs. Call End when the call has ended, however it did.
// It gives nil, which can be ended too, when nothing is to be copied: it is switched off, the chat is incognito, or the
// call names no files. An error is that the copies could not be kept, such as on a full disk; nothing is left of them then,
// and the caller says whether the call runs without.
func (s *Service) Guard(ctx context.Context, of Of) (*Open, error) {
	set := s.o.Settings()
	if of.Incognito || !set.Enabled || len(of.Touched.Paths) == 0 {
		return nil, nil
	}
	targets, err := s.targets(of.Touched.Paths)
	if err != nil || len(targets) == 0 {
		return nil, err
	}
	id, err := s.capture(ctx, of, targets, limits{fileBytes: int64(set.MaxFileMB) << 20, totalBytes: int64(set.MaxTotalMB) << 20, files: set.MaxFiles})
	if err != nil {
		return nil, fmt.Errorf("keep copies of files: %w", err)
	}
	return &Open{s: s, id: id}, nil
}

// ID is the snapshot's id, "" for a nil one. Its row stays only when the call changes or makes a file.
func (o *Open) ID() string {
	if o == nil {
		return ""
	}
	return o.id
}

// capture lists and copies the targets, and writes the row of a call that is about to run.
func (s *Service) capture(ctx context.Context, of Of, targets []target, lim limits) (id string, err error) {
	r := s.roots()
	defer r.close()
	found, err := s.scan(ctx, r, targets, maxListed)
	if err != nil {
		return "", err
	}
	b := &beforeCall{Targets: targets, Entries: found.entries, Cut: found.cut, Unreadable: found.unreadable}
	chosen := b.choose(lim)
	id = uuid.Must(uuid.NewV7()).String()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.remove(id))
		}
	}()
	if err := s.before("make snapshot folder"); err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.folder(id), 0o700); err != nil {
		return "", fmt.Errorf("make snapshot folder: %w", err)
	}
	bytes, err := s.copyAll(ctx, r, id, chosen, lim)
	if err != nil {
		return "", err
	}
	if bytes > lim.totalBytes && !lim.everything { // they grew in between
		if err := s.dropCopies(id, b); err != nil {
			return "", err
		}
		bytes = 0
	}
	if err := s.keepList(id, b); err != nil {
		return "", err
	}
	return id, s.write(ctx, "write snapshot", func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO file_snapshots (id, source, what, session_id, turn_id, call_id, task_id, state, bytes, created_at)
			VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''), 'open', ?, ?)`,
			id, of.Touched.Source, of.Touched.What, of.SessionID, of.TurnID, of.CallID, of.TaskID, bytes, clock.Stamp(s.o.Clock.Now()))
		return err
	})
}

// choose marks what gets no copy, and gives the rest: all of it or, when it is too much, nothing.
func (b *beforeCall) choose(lim limits) (chosen []*entry) {
	var bytes int64
	for i := range b.Entries {
		e := &b.Entries[i]
		switch {
		case lim.everything:
		case e.Size > lim.fileBytes:
			e.Note = noteTooLarge
			continue
		case saysNotText(e.Path):
			e.Note = noteNotText
			continue
		}
		chosen = append(chosen, e)
		bytes += e.Size
	}
	if !lim.everything && (b.Cut || len(chosen) > lim.files || bytes > lim.totalBytes) {
		b.TooMany = true
		return nil
	}
	return chosen
}

func (s *Service) dropCopies(id string, b *beforeCall) error {
	b.TooMany = true
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Copy == "" {
			continue
		}
		if err := s.removeFile(filepath.Join(s.folder(id), e.Copy)); err != nil {
			return err
		}
		e.Copy, e.Sum = "", ""
	}
	return nil
}

// copiers is how many files are copied at the same time: each waits for the disk, which takes many at once.
const copiers = 8

// copyAll copies the chosen files and gives how many bytes that were. One that can't be read, or is not text, gets a note.
func (s *Service) copyAll(ctx context.Context, r *roots, id string, chosen []*entry, lim limits) (bytes int64, err error) {
	for _, e := range chosen { // opened before they are shared
		if _, err := r.at(e.Root); err != nil {
			e.Note = noteUnreadable
		}
	}
	var next, total atomic.Int64
	loop := func(ctx context.Context) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(chosen) || ctx.Err() != nil {
				return ctx.Err()
			}
			if chosen[i].Note != "" {
				continue
			}
			n, err := s.copyFile(r, id, strconv.Itoa(i), chosen[i], lim)
			if err != nil {
				return err
			}
			total.Add(n)
		}
	}
	loops := make([]func(context.Context) error, min(copiers, len(chosen)))
	for i := range loops {
		loops[i] = loop
	}
	if err := svc.Run(ctx, loops...); err != nil {
		return 0, err
	}
	return total.Load(), nil
}

// sniffed is how much of a file is looked at for a zero byte (§10).
const sniffed = 8 << 10

// copyFile copies one file. An error is one of writing; one of reading is a note.
func (s *Service) copyFile(r *roots, id, name string, e *entry, lim limits) (int64, error) {
	from, info, err := r.read(e.target)
	if err != nil {
		e.Note = noteUnreadable
		return 0, nil
	}
	defer from.Close()
	e.Size, e.Time, e.Mode = info.Size(), info.ModTime().UnixNano(), uint32(info.Mode().Perm()) // as it is copied
	head := make([]byte, sniffed)
	n, err := io.ReadFull(from, head)
	head = head[:n]
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		e.Note = noteUnreadable
		return 0, nil
	}
	if !lim.everything && hasZero(head) {
		e.Note = noteNotText
		return 0, nil
	}
	most := lim.fileBytes
	if lim.everything {
		most = 1<<63 - 2
	}
	path := filepath.Join(s.folder(id), name)
	size, sum, reading, err := s.writeCopy(path, head, io.LimitReader(from, most+1-int64(n)))
	if err != nil {
		return 0, err
	}
	if reading != nil || size > most {
		e.Note = noteUnreadable
		if size > most {
			e.Note = noteTooLarge
		}
		return 0, s.removeFile(path)
	}
	e.Size, e.Copy, e.Sum = size, name, sum
	return size, nil
}

func hasZero(b []byte) bool {
	for _, c := range b {
		if c == 0 {
			return true
		}
	}
	return false
}

// source notes how reading ended, so that it can be told from writing.
type source struct {
	io.Reader
	err error
}

func (r *source) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
		err = io.EOF
	}
	return n, err
}

// writeCopy writes head and the rest to a new file that is then on the disk.
func (s *Service) writeCopy(path string, head []byte, rest io.Reader) (size int64, sum string, reading, err error) {
	if err := s.before("write copy"); err != nil {
		return 0, "", nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, "", nil, fmt.Errorf("write copy: %w", err)
	}
	from, hash := &source{Reader: rest}, sha256.New()
	both := io.MultiWriter(f, hash)
	_, err = both.Write(head)
	if err == nil {
		size, err = io.Copy(both, from)
	}
	if err == nil {
		err = s.before("sync copy")
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, "", nil, fmt.Errorf("write copy: %w", err)
	}
	return size + int64(len(head)), hex.EncodeToString(hash.Sum(nil)), from.err, nil
}

// keepList writes the list, and makes the folder and all names in it last.
func (s *Service) keepList(id string, b *beforeCall) error {
	for i := range b.Targets {
		b.Targets[i].Raw = rawPath(b.Targets[i].Path)
	}
	for i := range b.Entries {
		b.Entries[i].Raw = rawPath(b.Entries[i].Path)
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode list of files: %w", err)
	}
	if err := s.before("write list"); err != nil {
		return err
	}
	if err := wholefile.Write(filepath.Join(s.folder(id), listName), raw); err != nil {
		return fmt.Errorf("write list of files: %w", err)
	}
	return errors.Join(wholefile.SyncDir(s.home()), wholefile.SyncDir(s.o.Dir))
}

func (s *Service) readList(id string) (*beforeCall, error) {
	raw, err := os.ReadFile(filepath.Join(s.folder(id), listName))
	if err != nil {
		return nil, fmt.Errorf("read list of files: %w", err)
	}
	var b beforeCall
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("read list of files: %w", err)
	}
	for i := range b.Targets {
		b.Targets[i].unpack()
	}
	for i := range b.Entries {
		b.Entries[i].unpack()
	}
	return &b, nil
}

func (t *target) unpack() {
	if t.Raw != nil {
		t.Path, t.Raw = string(t.Raw), nil
	}
}

// remove removes a snapshot's folder.
func (s *Service) remove(id string) error {
	if err := s.before("remove snapshot folder"); err != nil {
		return err
	}
	if err := os.RemoveAll(s.folder(id)); err != nil {
		return fmt.Errorf("remove snapshot folder: %w", err)
	}
	return nil
}

func (s *Service) removeFile(path string) error {
	if err := s.before("remove file"); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove file: %w", err)
	}
	return nil
}
