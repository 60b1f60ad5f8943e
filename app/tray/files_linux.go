package tray

import (
	"math"

	"golang.org/x/sys/unix"
)

// KeepFilesOut keeps the open files of this process out of the programs it starts. The window's library makes pipes
// that a child would inherit; the child would then hold a page's answer open for as long as it lives. Old kernels do
// not know the call, and only that is lost.
func KeepFilesOut() { _ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }
