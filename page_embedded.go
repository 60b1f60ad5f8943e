//go:build !tray

package main

import (
	"embed"
	"io/fs"
)

// The built page, or only a .keep where it was not built; the engine then serves a page that says how to build it.
//
//go:embed all:frontend/dist
var dist embed.FS

func page() fs.FS {
	sub, err := fs.Sub(dist, "frontend/dist")
	if err != nil { // only an invalid path gives one, and this one is a constant
		panic(err)
	}
	return sub
}
