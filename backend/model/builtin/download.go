package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/svc"
	"sentient/backend/sysinfo"
	"sentient/backend/wholefile"
)

// Fetcher downloads files: netx.Client, whose sentences and codes come out as they are.
type Fetcher interface {
	Download(ctx context.Context, r netx.Request) error
}

// Progress is one line of a download, in the shape of a model pull (§3): what is being done, and bytes of the whole.
type Progress struct {
	Status    string `json:"status"`
	Completed int64  `json:"completed,omitempty"`
	Total     int64  `json:"total,omitempty"`
}

var (
	errBusy    = errs.New(errs.Conflict, "builtin_downloading", "The built-in model is already being downloaded.")
	errNoOffer = errs.New(errs.Unavailable, "builtin_not_offered",
		"There is no built-in model for this computer. Pick a model in Settings > Models instead.")
	errUnknown = errs.New(errs.NotFound, "builtin_unknown", "There is no built-in model of that name.")
	errDamaged = errs.New(errs.Unavailable, "builtin_damaged",
		"The downloaded model is not what was expected, so it was removed. Try again later.")
	errUnpack = errs.New(errs.Unavailable, "builtin_unpack",
		"The downloaded program could not be unpacked. Check that there is room on the disk and try again.")
	errSave = errs.New(errs.Unavailable, "builtin_save", "The built-in model could not be saved. Check that there is room on the disk and try again.")
)

// lines is about how many lines of progress a whole download has.
const lines = 400

// slack is what must stay free on the disk beside a download.
const slack = 500 << 20

// Download brings a model and the program that runs it into the data folder, on the person's word. name is one of the
// catalogue, "" for the one that suits this computer. each is called for one line after the other, not on the caller's
// goroutine; its error, or the end of ctx, stops the download, and the next one goes on from there. The last line has the
// status "success".
func (s *Service) Download(ctx context.Context, name string, each func(Progress) error) error {
	a, ok := s.archive()
	if !ok || s.o.Fetcher == nil {
		return errNoOffer
	}
	m, err := s.pick(name)
	if err != nil {
		return err
	}
	if !s.beginDownload() {
		return errBusy
	}
	defer s.endDownload()
	if err := os.MkdirAll(s.folder(), 0o700); err != nil {
		return errSave.Because(err)
	}
	if err := s.room(m, a); err != nil {
		return err
	}
	total := a.size + m.SizeBytes
	if err := s.program(ctx, a, total, each); err != nil {
		return err
	}
	if err := s.modelFile(ctx, m, a.size, total, each); err != nil {
		return err
	}
	if err := s.writeIndex(m, a); err != nil {
		return errSave.Because(err)
	}
	s.tidy(m, a)
	s.forgetFailures()
	return each(Progress{Status: "success", Completed: total, Total: total})
}

func (s *Service) pick(name string) (*offered, error) {
	list := s.catalogue()
	if name == "" {
		if m := suits(s.o.MemoryBytes(), list); m != nil {
			return m, nil
		}
		return nil, errNoOffer
	}
	i := slices.IndexFunc(list, func(m offered) bool { return m.Name == name })
	if i < 0 {
		return nil, errUnknown
	}
	return &list[i], nil
}

func (s *Service) beginDownload() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.downloading {
		return false
	}
	s.downloading = true
	s.touchLocked()
	return true
}

func (s *Service) endDownload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.downloading = false
	s.touchLocked()
}

// forgetFailures: what failed was the model before this one.
func (s *Service) forgetFailures() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure, s.crashes = "", 0
	s.touchLocked()
}

// room refuses a download that would fill the disk. What an earlier try left counts as free, since it is used again.
func (s *Service) room(m *offered, a archive) error {
	free, known := sysinfo.DiskFree(s.folder())
	need := m.SizeBytes + 4*a.size + slack // the program unpacked is about three times its archive
	for _, name := range []string{m.File, m.File + ".part"} {
		if info, err := os.Stat(filepath.Join(s.folder(), name)); err == nil {
			need -= info.Size()
		}
	}
	if !known || int64(free) >= need {
		return nil
	}
	return errs.Newf(errs.Unavailable, "disk_full", "There is not enough room on the disk: the built-in model needs %s and %s are free.",
		sysinfo.Bytes(need), free)
}

// program brings the archive and unpacks it, unless its folder is there: it only ever appears whole.
func (s *Service) program(ctx context.Context, a archive, total int64, each func(Progress) error) error {
	dir := filepath.Join(s.folder(), a.folder())
	if _, err := serverIn(dir); err == nil {
		return nil
	}
	packed := filepath.Join(s.folder(), a.file)
	err := s.fetch(ctx, netx.Request{URL: a.url(), To: packed, Size: a.size, SHA256: a.sha},
		Progress{Status: "downloading the program", Total: total}, 0, each)
	if err != nil {
		return err
	}
	if err := each(Progress{Status: "unpacking the program", Completed: a.size, Total: total}); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(s.folder(), ".unpack-*")
	if err != nil {
		return errUnpack.Because(err)
	}
	defer os.RemoveAll(tmp)
	if err := unpack(ctx, packed, tmp); err != nil {
		return errUnpack.Because(err)
	}
	if _, err := serverIn(tmp); err != nil {
		return errUnpack.Because(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return errUnpack.Because(err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return errUnpack.Because(err)
	}
	return os.Remove(packed)
}

func (s *Service) modelFile(ctx context.Context, m *offered, before, total int64, each func(Progress) error) error {
	path := filepath.Join(s.folder(), m.File)
	if info, err := os.Stat(path); err == nil && info.Size() == m.SizeBytes {
		return nil
	}
	err := s.fetch(ctx, netx.Request{URL: m.url, To: path, Size: m.SizeBytes, SHA256: m.SHA256},
		Progress{Status: "downloading the model", Total: total}, before, each)
	if err != nil {
		return err
	}
	if err := checkGGUF(path, m.SizeBytes); err != nil {
		_ = os.Remove(path)
		return errDamaged.Because(err)
	}
	return nil
}

// fetch downloads one file and turns its progress into that of the whole. Whoever reads the lines may be slow; the
// download does not wait, and what came in the meantime is one line.
func (s *Service) fetch(ctx context.Context, r netx.Request, line Progress, before int64, each func(Progress) error) error {
	var done atomic.Int64
	more := make(chan struct{}, 1)
	r.Resume = true
	r.Progress = func(n, _ int64) {
		done.Store(n)
		select {
		case more <- struct{}{}:
		default:
		}
	}
	told := int64(-1)
	tell := func() error {
		n := done.Load()
		if step := line.Total / lines; n == told || n < r.Size && told >= 0 && n-told < step {
			return nil
		}
		told = n
		line.Completed = before + n
		return each(line)
	}
	here := make(chan struct{})
	err := svc.Run(ctx,
		func(ctx context.Context) error {
			defer close(here)
			return s.o.Fetcher.Download(ctx, r)
		},
		func(ctx context.Context) error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-here:
					return nil
				case <-more:
					if err := tell(); err != nil {
						return err
					}
				}
			}
		})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return tell()
}

// checkGGUF looks at what every model file begins with and at its size: a page that says "sign in first" has neither.
func checkGGUF(path string, size int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, 4)
	if _, err := file.Read(head); err != nil {
		return fmt.Errorf("read the model's head: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !bytes.Equal(head, []byte("GGUF")) || info.Size() != size {
		return errors.New("check the model: not a whole GGUF file")
	}
	return nil
}

func (s *Service) writeIndex(m *offered, a archive) error {
	dir := filepath.Join(s.folder(), a.folder())
	program, err := serverIn(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(s.folder(), program)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(index{Program: []string{filepath.ToSlash(rel)}, Models: []indexModel{m.indexModel}}, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(s.folder(), indexName), append(data, '\n'))
}

// tidy removes models of the catalogue and programs of other releases that the new index does not name. What a person put
// there stays. A file that is still in use on Windows stays until the next time.
func (s *Service) tidy(keep *offered, a archive) {
	for _, m := range s.catalogue() {
		if m.File != keep.File {
			_ = os.Remove(filepath.Join(s.folder(), m.File))
		}
	}
	old, _ := filepath.Glob(filepath.Join(s.folder(), "llama-b[0-9]*"))
	for _, dir := range old {
		if filepath.Base(dir) != a.folder() {
			_ = os.RemoveAll(dir)
		}
	}
}
