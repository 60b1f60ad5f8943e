package files

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sentient/backend/clock"
	"sentient/backend/tool"
)

type listIn struct {
	Folder string `json:"folder,omitempty" doc:"Only this one; screens and selections are listed only when named." enum:"uploads,outputs,downloads,charts,screens,selections"`
	Query  string `json:"query,omitempty" doc:"Only names that have all of these words."`
}

// listOut is what file_list gives, newest first.
type listOut struct {
	Files []listed `json:"files"`
	Total int      `json:"total"`
	More  bool     `json:"more"`
	Note  string   `json:"note,omitempty"`
}

type listed struct {
	Name       string `json:"name"`
	Size       int64  `json:"size"`
	ModifiedAt string `json:"modified_at"`
	at         time.Time
}

// maxListed is how many files are looked at.
const maxListed = 20_000

func (f *folder) list() *tool.Tool {
	return tool.New(tool.Def[listIn]{
		Name:        "file_list",
		Description: "List the files the user attached or that tools saved, newest first: name, size in bytes, when changed. Use it to find a file's name before file_read.",
		Risk:        tool.Read,
		Run:         f.runList,
	})
}

func (f *folder) runList(ctx context.Context, c *tool.Context, in listIn) (any, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var found []listed
	for _, dir := range folders {
		if in.Folder != "" && dir != in.Folder || in.Folder == "" && (dir == screens || dir == selections) {
			continue
		}
		more, err := walk(ctx, root.FS(), dir, c, in.Query)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, func(a, b listed) int {
		if n := b.at.Compare(a.at); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return fitting(found, f.limitOf(c)), nil
}

// walk lists the regular files of a folder that have all words of a query in their names.
func walk(ctx context.Context, files fs.FS, dir string, c *tool.Context, query string) ([]listed, error) {
	words := strings.Fields(strings.ToLower(query))
	var found []listed
	seen := 0
	err := fs.WalkDir(files, dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && foreign(c, strings.TrimPrefix(p, outputs+"/")):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), partPrefix):
			return nil
		}
		if seen++; seen > maxListed {
			return fs.SkipAll
		}
		name := apiName(p)
		low := strings.ToLower(name)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(low, w) }) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			found = append(found, listed{Name: name, Size: info.Size(), ModifiedAt: clock.Stamp(info.ModTime()), at: info.ModTime()})
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return found, fileError("list files", err)
}

// fitting gives as many files as a result may hold.
func fitting(found []listed, limit int) listOut {
	out := listOut{Files: []listed{}, Total: len(found)}
	left := limit - 200 // what is around the list
	for _, file := range found {
		raw, err := json.Marshal(file)
		if left -= len(raw) + 1; err != nil || left < 0 {
			out.More, out.Note = true, "Older files are left out. Name a folder or words of the name to see them."
			break
		}
		out.Files = append(out.Files, file)
	}
	if len(found) == 0 {
		out.Note = "There are no such files."
	}
	return out
}
