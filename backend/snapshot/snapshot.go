// Package snapshot keeps copies of files before a call changes them, and puts them back (§10 "File snapshots").
//
// It owns the table file_snapshots and the folder snapshots/ of the data folder: one folder a call, with the copies and,
// while the call runs, a list of the files as they were. It promises: what to copy is decided from the files' sizes and
// names alone; a call's files are copied all or not at all; copies and list are on the disk before the call runs, so that
// a crash at any moment leaves something that Repair makes right; a file is put back whole or not at all, and what it
// replaces is copied first; no link is followed, nothing is read or written outside the folders that were named; nothing of
// an incognito chat is ever copied.
//
// It does not bring back folders' permissions, owners or links, and does not take away what a call made. Changes that
// somebody else makes while a call runs count as the call's. Windows that show snapshots read the table themselves.
//
// Layer 2; the engine makes it, the gate guards calls with it, the timeline restores with it.
package snapshot

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/store"
)

// Options are what a Service needs from outside.
type Options struct {
	DB       *store.DB
	Dir      string // the data folder
	Clock    clock.Clock
	Log      *slog.Logger
	Settings func() config.Snapshots
	// Hidden are folders that are never looked at: the working folders of runs. Absolute, or below the data folder. Of the
	// data folder itself only files/ is looked at.
	Hidden []string
}

// Service is the copies of one data folder.
type Service struct {
	o         Options
	restoring sync.Mutex // held by one restore or prune at a time
	// step is called before each thing that changes the disk; a test ends the program there. nil: nothing.
	step func(what string) error
}

// New makes the service. It touches nothing; call Repair before the first Guard.
func New(o Options) *Service { return &Service{o: o} }

// What changed a file.
const (
	changed = "changed"
	deleted = "deleted"
)

// The states of a row.
const (
	stateOpen = "open" // its call has not ended
	stateKept = "kept" // there are copies
	stateNone = "none" // there are none: none were kept, or they are gone
)

// File is one file that a call changed, as the column files keeps it (§10).
type File struct {
	Path   string `json:"path"`   // absolute, or below files/ with / between the parts
	Change string `json:"change"` // changed, deleted
	Bytes  int64  `json:"bytes"`  // before the call
	Copy   string `json:"copy"`   // its name in the snapshot's folder; "" when there is no copy
	Note   string `json:"note"`   // why there is none, for people

	Root  string `json:"root,omitempty"`  // the folder that must not be left when it is put back; "" for files/
	Raw   []byte `json:"raw,omitempty"`   // Path's bytes where they are no valid text
	Mode  uint32 `json:"mode,omitempty"`  // permissions
	Sum   string `json:"sum,omitempty"`   // SHA-256 of the copy
	After string `json:"after,omitempty"` // how the call left it; see trace
}

// What people read where there is no copy. The first is the contract's own sentence.
const (
	noteTooMany    = "Too many files to keep a copy"
	noteTooLarge   = "Too large to keep a copy"
	noteNotText    = "Not text, so no copy was kept"
	noteUnreadable = "It couldn't be read, so no copy was kept"
	noteFolder     = "A folder couldn't be read, so no copies of its files were kept"
	noteMore       = "More files changed than are listed here"
	noteGone       = "The copies are gone"
)

// most is how many files without a copy, and how many made files, a row lists.
const most = 1000

func (s *Service) home() string            { return filepath.Join(s.o.Dir, "snapshots") }
func (s *Service) folder(id string) string { return filepath.Join(s.home(), id) }
func (s *Service) filesDir() string        { return filepath.Join(s.o.Dir, "files") }
func (s *Service) before(what string) error {
	if s.step == nil {
		return nil
	}
	return s.step(what)
}

// write writes rows so that they survive a loss of power: files are changed in the belief that they are there.
func (s *Service) write(ctx context.Context, what string, fn func(tx *store.Tx) error) error {
	if err := s.before(what); err != nil {
		return err
	}
	if err := s.o.DB.WriteDurable(ctx, fn); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func errUnknown() error {
	return errs.New(errs.NotFound, "snapshot_unknown", "There is nothing to put back here any more.")
}

func errOpen() error {
	return errs.New(errs.Conflict, "snapshot_open", "This is still running. Put its files back when it has ended.")
}

func errRestored() error {
	return errs.New(errs.Conflict, "snapshot_restored", "These files were put back already.")
}

func errGone() *errs.Error {
	return errs.New(errs.Conflict, "snapshot_gone", "The copies of these files are gone, so they can't be put back.")
}

func errNone(note string) error {
	return errs.New(errs.Conflict, "snapshot_none", note)
}
