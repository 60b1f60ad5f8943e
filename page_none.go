//go:build tray

package main

import "io/fs"

// The tray shows no page.
func page() fs.FS { return nil }
