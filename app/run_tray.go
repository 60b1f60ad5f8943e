//go:build tray

package app

import (
	"io/fs"

	"sentient/app/tray"
)

// Main runs the tray icon and gives the exit status.
func Main(fs.FS) int { return tray.Main() }
