//go:build !desktop && !tray

package app

import (
	"io/fs"

	"sentient/app/cli"
)

// Main runs the engine and command line and gives the exit status.
func Main(page fs.FS) int { return cli.Main(page) }
