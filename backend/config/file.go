package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sentient/backend/errs"
	"sentient/backend/wholefile"
)

const (
	fileName     = "config.yaml"
	lastGoodName = fileName + ".last-good"
	previousName = fileName + ".previous"
	tempPattern  = "." + fileName + "-*" // what wholefile leaves behind when it is killed
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
func writeWhole(path string, data []byte) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	mode := fs.FileMode(0o600)
	if fi, err := os.Stat(path); err == nil {
		mode = fi.Mode().Perm()
	}
	return wholefile.WriteMode(path, data, mode)
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
		_ = wholefile.SyncDir(filepath.Dir(path)) // the name is there; it only may not outlive a power cut
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
