// Package wholefile writes files so that a crash, a full disk or a reader in between finds the old content or the new
// one, never a part of either.
package wholefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Write puts content at path, readable by its owner alone. It is on the disk when Write gives nil; the old content is
// unharmed when it gives an error.
func Write(path string, content []byte) error { return WriteMode(path, content, 0o600) }

// WriteMode is Write with the permissions the file shall have.
func WriteMode(path string, content []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("create temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that is on its way says more
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("put file in place: %w", err)
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a folder last. Windows has no such call and needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
