package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"sentient/backend/errs"
)

// LockName is the lock's name in the data folder. The file stays when the lock is given back; what counts is the
// operating system's lock on it, which ends with the process that has it.
const LockName = "engine.lock"

// FolderLock is the right to be the engine of a data folder.
type FolderLock struct{ file *flock.Flock }

// Owner is who has, or last had, a folder's lock.
type Owner struct {
	PID     int
	Program string
}

// Lock takes the lock of a data folder, without waiting. When another process has it: Conflict, code folder_locked, with
// a sentence that names that process. Where the folder cannot be used: Unavailable, code folder_unusable.
func Lock(dir string) (*FolderLock, error) {
	path := filepath.Join(dir, LockName)
	// Windows keeps others from the locked byte, which is the first: it is there before the lock and says nothing.
	if err := firstByte(path); err != nil {
		return nil, lockTrouble(err)
	}
	l := flock.New(path, flock.SetFlag(os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, lockTrouble(errors.Join(err, l.Close()))
	}
	if !ok {
		return nil, errors.Join(lockedBy(dir), l.Close())
	}
	if err := writeOwner(path); err != nil {
		return nil, lockTrouble(errors.Join(err, l.Close()))
	}
	return &FolderLock{l}, nil
}

// Release gives the lock back.
func (l *FolderLock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release folder lock: %w", err)
	}
	return nil
}

func firstByte(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	i, err := f.Stat()
	if err == nil && i.Size() == 0 {
		_, err = f.Write([]byte("\n"))
	}
	return errors.Join(err, f.Close())
}

func writeOwner(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	program := "sentient"
	if exe, err := os.Executable(); err == nil {
		program = strings.TrimSuffix(filepath.Base(exe), ".exe")
	}
	// One write and then the cut, so that a reader in between never finds nothing.
	text := fmt.Sprintf("%d %s\n", os.Getpid(), program)
	_, err = f.WriteAt([]byte(text), 1)
	return errors.Join(err, f.Truncate(int64(1+len(text))), f.Close())
}

// LockOwner reads who has, or last had, the lock of a data folder.
func LockOwner(dir string) (Owner, bool) {
	f, err := os.Open(filepath.Join(dir, LockName))
	if err != nil {
		return Owner{}, false
	}
	defer f.Close()
	b := make([]byte, 512)
	n, _ := f.ReadAt(b, 1)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	digits, program, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(digits)
	if err != nil || pid <= 0 {
		return Owner{}, false
	}
	return Owner{pid, program}, true
}

func lockedBy(dir string) error {
	o, ok := LockOwner(dir)
	if !ok {
		return errs.New(errs.Conflict, "folder_locked", "Another Sentient is using this data folder. Close it first, or choose another data folder.")
	}
	return errs.Newf(errs.Conflict, "folder_locked", "Another Sentient is using this data folder (process %d, %s). Close it first, or choose another data folder.", o.PID, o.Program)
}

func lockTrouble(err error) error {
	sentence := sentences[Unreadable]
	switch reasonOf(fileTrouble(err)) {
	case Full:
		sentence = sentences[Full]
	case ReadOnly:
		sentence = sentences[ReadOnly]
	}
	return errs.New(errs.Unavailable, "folder_unusable", sentence).Because(err)
}
