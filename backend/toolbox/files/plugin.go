// Package files is the plugin of the files folder: what the person attached, what tools saved and downloaded, and what a
// model writes.
//
// It owns three tools: file_list, file_read and file_write. It promises that none of them reaches outside the files folder
// or follows a link, that a file is written whole or not at all, and always below outputs/, so that nothing the person put
// there is ever changed; and that a part that file_read gives fits what the model reads of a result, so that it is never
// cut. Names are those of the API: an upload's has no folder, all others have (session owns that rule; the tools also take
// uploads/ and files/ in front).
package files

import (
	"os"
	"path/filepath"
	"sync"

	"sentient/backend/tool"
)

// Deps are what the plugin needs from outside.
type Deps struct {
	Dir string // the data folder; the files are in files/ below it
	// ResultLimit is how many characters of a result a model reads where a call does not say (chat.tool_result_max_chars);
	// nil: 16,000.
	ResultLimit func() int
}

// New makes the plugin.
func New(d Deps) *tool.Plugin {
	if d.ResultLimit == nil {
		d.ResultLimit = func() int { return 16_000 }
	}
	f := &folder{path: filepath.Join(d.Dir, "files"), limit: d.ResultLimit}
	return &tool.Plugin{
		ID: "files", Name: "Files", Description: "Reads and writes files in Sentient's own files folder.", Category: "core", Icon: "folder", Auth: "builtin",
		Hint:    "file document pdf attachment attached upload read open save write folder text note csv datei archivo fichier",
		Trusted: true, Core: true,
		Tools: []*tool.Tool{f.list(), f.read(), f.write()},
	}
}

// folder is the files folder.
type folder struct {
	path  string
	limit func() int
	mu    sync.Mutex // one write at a time: appending reads first
}

// open opens the folder; whoever opens it closes it. It is made when it is not there.
func (f *folder) open() (*os.Root, error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return nil, fileError("open files folder", err)
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, fileError("open files folder", err)
	}
	return root, nil
}

// limitOf gives how many characters a result of a call may have.
func (f *folder) limitOf(c *tool.Context) int {
	if c != nil && c.ResultLimit > 0 {
		return c.ResultLimit
	}
	return f.limit()
}
