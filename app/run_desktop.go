//go:build desktop

package app

import (
	"io/fs"

	"sentient/app/desktop"
)

// Main runs the window and gives the exit status.
func Main(page fs.FS) int { return desktop.Main(page) }
