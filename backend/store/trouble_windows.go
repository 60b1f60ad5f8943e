package store

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isFull reports whether an error of the file system means that no space is left, on the disk or for this user.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// isReadOnly reports whether an error of the file system means that the disk may only be read.
func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
