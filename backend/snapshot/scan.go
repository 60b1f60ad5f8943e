package snapshot

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxListed is how many files the folders of a call may hold (§10). Of folders that hold more, so many are listed.
const maxListed = 10_000

// entry is a file as it was before its call.
type entry struct {
	target
	Size int64  `json:"size"`
	Time int64  `json:"time"` // of its last change, Unix nanoseconds
	Mode uint32 `json:"mode"`
	Copy string `json:"copy,omitempty"`
	Sum  string `json:"sum,omitempty"`
	Note string `json:"note,omitempty"`
}

// listing is what the targets of a call hold.
type listing struct {
	entries    []entry
	cut        bool // they hold more files than were looked for
	unreadable bool // a folder could not be read
}

// scan lists the plain files of the targets, the first target's first, by their names and sizes alone. It opens no file,
// follows no link and looks at no more than limit files.
type scan struct {
	hidden
	roots *roots
	limit int
	left  int // names still looked at, of folders and links too
	seen  map[string]bool
	found listing
}

func (s *Service) scan(ctx context.Context, r *roots, targets []target, limit int) (listing, error) {
	c := &scan{hidden: s.hidden(), roots: r, limit: limit, left: 10 * limit, seen: map[string]bool{}}
	for _, t := range targets {
		if err := c.add(ctx, t); err != nil {
			return listing{}, err
		}
	}
	return c.found, nil
}

func (c *scan) path(t target) string {
	root := t.Root
	if root == "" {
		root = c.files
	}
	return filepath.Join(root, filepath.FromSlash(t.Path))
}

// once reports whether a path is to be looked at, and has not been.
func (c *scan) once(p string) bool {
	if c.seen[p] || c.never(p) {
		return false
	}
	c.seen[p] = true
	return true
}

func (c *scan) add(ctx context.Context, t target) error {
	info, err := c.roots.stat(t)
	switch {
	case missing(err):
		return nil
	case err != nil:
		c.found.unreadable = true
		return nil
	case info.Mode().IsRegular():
		c.file(t, info)
		return nil
	case !info.IsDir():
		return nil
	}
	whole := t.Path
	if t.Root != "" {
		whole = c.path(t)
	}
	if inSkipped(whole) || !c.once(c.path(t)) {
		return nil
	}
	// A folder's own files come before those of the folders in it: where the list is cut, it has what lies nearest.
	for folders := []target{t}; len(folders) > 0 && !c.found.cut; folders = folders[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		inside, err := c.folder(folders[0])
		if err != nil && !missing(err) {
			c.found.unreadable = true
		}
		folders = append(folders, inside...)
	}
	return nil
}

// folder lists one folder, and gives those in it.
func (c *scan) folder(t target) (inside []target, err error) {
	names, err := c.names(t)
	for _, name := range names {
		child := target{Root: t.Root, Path: path.Join(t.Path, name)}
		info, err := c.roots.open[t.Root].Lstat(filepath.FromSlash(child.Path))
		switch {
		case err != nil: // gone again
		case info.IsDir():
			if !skippedFolder(name) && c.once(c.path(child)) {
				inside = append(inside, child)
			}
		case info.Mode().IsRegular():
			c.file(child, info)
		}
	}
	return inside, err
}

// names reads a folder in parts, so that one of millions of files is not held.
func (c *scan) names(t target) (names []string, err error) {
	dir, err := c.roots.open[t.Root].Open(filepath.FromSlash(t.Path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for {
		part, err := dir.Readdirnames(512)
		names = append(names, part...)
		c.left -= len(part)
		if c.left < 0 {
			c.found.cut = true
		}
		if err != nil || c.found.cut {
			slices.Sort(names)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return names, err
		}
	}
}

func (c *scan) file(t target, info fs.FileInfo) {
	if strings.HasPrefix(path.Base(t.Path), arriving) || !c.once(c.path(t)) {
		return
	}
	if len(c.found.entries) >= c.limit {
		c.found.cut = true
		return
	}
	if rel, err := filepath.Rel(c.files, c.path(t)); err == nil && filepath.IsLocal(rel) {
		t = target{Path: filepath.ToSlash(rel)} // reached from above; the name it has there, as inFiles gives it
	}
	c.found.entries = append(c.found.entries, entry{target: t, Size: info.Size(), Time: info.ModTime().UnixNano(), Mode: uint32(info.Mode().Perm())})
}
