//go:build unix

package config

import (
	"syscall"
	"testing"
)

// limitFiles makes every write behind the given size fail.
func limitFiles(t *testing.T, size uint64) {
	t.Helper()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		t.Fatal(err)
	}
}
