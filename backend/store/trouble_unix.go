//go:build !windows

package store

import (
	"errors"
	"syscall"
)

// isFull reports whether an error of the file system means that no space is left, on the disk or for this user.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isReadOnly reports whether an error of the file system means that the disk may only be read.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
