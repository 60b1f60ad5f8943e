package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"sentient/backend/errs"
)

const (
	fileName     = "config.yaml"
	lastGoodName = fileName + ".last-good"
	previousName = fileName + ".previous"
	tempPattern  = "." + fileName + ".*.tmp"
)

// stamp tells whether a file has changed since it was read.
type stamp struct {
	size  int64
	mtime time.Time
	found bool
}

func stampOf(path string) stamp {
	fi, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{fi.Size(), fi.ModTime(), true}
}

// readFile reads at most what a settings file may hold.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return raw, nil
}

// writeWhole puts data in the place of a file such that at any moment, whatever ends the program, the file is the old
// or the new one, whole. A link is followed; permissions are kept, a new file is the owner's alone.
func writeWhole(path string, data []byte) (err error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	mode := fs.FileMode(0o600)
	if fi, err := os.Stat(path); err == nil {
		mode = fi.Mode().Perm()
	}
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return fmt.Errorf("make a file: %w", err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err = tmp.Chmod(mode); err != nil && runtime.GOOS != "windows" {
		return fmt.Errorf("set permissions: %w", err)
	}
	if err = tmp.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if err = tmp.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("rename: %w", err)
	}
	syncFolder(dir)
	return nil
}

// syncFolder makes a rename outlive a power cut. Where folders cannot be synced (Windows) the file system does it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// sweep removes what a write that was cut off left behind.
func sweep(dir string) {
	left, err := filepath.Glob(filepath.Join(dir, tempPattern))
	if err != nil {
		return
	}
	for _, p := range left {
		os.Remove(p)
	}
}

// moveAside renames a damaged file to a name of its own, which is never one that exists, and gives that name.
func moveAside(path string, now time.Time) (string, error) {
	base := path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	for i := 1; i < 1000; i++ {
		to := base
		if i > 1 {
			to = fmt.Sprintf("%s-%d", base, i)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(path, to); err != nil {
			return "", fmt.Errorf("move the damaged file: %w", err)
		}
		syncFolder(filepath.Dir(path))
		return filepath.Base(to), nil
	}
	return "", errors.New("move the damaged file: too many of them")
}

// unsaved says why a save failed.
func unsaved(err error) *errs.Error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return errs.New(errs.Unavailable, "config_disk_full",
			"The disk is full, so the settings were not saved. Free some space and try again.").Because(err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return errs.New(errs.Unavailable, "config_not_writable",
			"Sentient may not write its settings file, so nothing was saved. Check the permissions of its folder and try again.").Because(err)
	}
	return errs.New(errs.Unavailable, "config_not_saved",
		"The settings file could not be written, so nothing was saved. Try again.").Because(err)
}
