package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"sentient/backend/wholefile"
)

// target is a file or a folder that a call may change: a path, with / between its parts, below a folder that must not be
// left. Root is absolute and has no link in it; "" is files/.
type target struct {
	Root string `json:"root,omitempty"`
	Path string `json:"path"`
	Raw  []byte `json:"raw,omitempty"` // the path in JSON where it is no valid text, which JSON can't hold; see rawPath
}

// rawPath gives the bytes of a path that JSON would change; nil for others.
func rawPath(p string) []byte {
	if utf8.ValidString(p) {
		return nil
	}
	return []byte(p)
}

func (t target) key() string { return t.Root + "\x00" + t.Path }

// shown is the path as File keeps it.
func (t target) shown() string {
	if t.Root == "" {
		return t.Path
	}
	return filepath.Join(t.Root, filepath.FromSlash(t.Path))
}

// targets finds where the paths of a call lead. Those below a folder whose name is no valid text are left out.
func (s *Service) targets(paths []string) ([]target, error) {
	var list []target
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.ToSlash(p)
			if !fs.ValidPath(p) || !filepath.IsLocal(filepath.FromSlash(p)) {
				return nil, fmt.Errorf("keep copies: %q is no path below files/", p)
			}
			list = append(list, target{Path: p})
			continue
		}
		t, ok, err := s.resolve(p)
		if err != nil {
			return nil, fmt.Errorf("keep copies: %w", err)
		}
		if ok {
			list = append(list, t)
		}
	}
	return list, nil
}

// resolve finds where an absolute path leads. A folder may be reached by a link (a person may well have named one); the
// links are followed once, here, and what is kept has none.
func (s *Service) resolve(p string) (t target, ok bool, err error) {
	p = filepath.Clean(p)
	if real, err := filepath.EvalSymlinks(p); err == nil {
		if info, err := os.Lstat(real); err == nil && info.IsDir() {
			t = target{Root: real, Path: "."}
			return s.inFiles(t), utf8.ValidString(real), nil
		}
	}
	// A file, or nothing yet: its name is below the nearest folder that is there.
	dir, rest := filepath.Dir(p), filepath.Base(p)
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return s.inFiles(target{Root: real, Path: filepath.ToSlash(rest)}), utf8.ValidString(real), nil
		}
		up := filepath.Dir(dir)
		if !missing(err) || up == dir {
			return t, false, err
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// inFiles gives what lies below files/ the name that it has there, so that it is found again when the data folder moves.
func (s *Service) inFiles(t target) target {
	files, err := filepath.EvalSymlinks(s.filesDir())
	if err != nil {
		return t
	}
	rel, err := filepath.Rel(files, filepath.Join(t.Root, filepath.FromSlash(t.Path)))
	if err != nil || !filepath.IsLocal(rel) {
		return t
	}
	return target{Path: filepath.ToSlash(rel)}
}

// missing reports that there is no file: none of this name, or one where a folder of it would be.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errLinked)
}

var errLinked = errors.New("a link is in the way")

// roots opens each root once.
type roots struct {
	s    *Service
	open map[string]*os.Root
}

func (s *Service) roots() *roots { return &roots{s, map[string]*os.Root{}} }

// at opens a root. One that has become reachable by a link only is another folder than the one that was meant: errLinked.
func (r *roots) at(name string) (*os.Root, error) {
	if root := r.open[name]; root != nil {
		return root, nil
	}
	dir := name
	if name == "" {
		// A call can put a link in the place of files/ itself: what is put back must not go where that leads.
		dir = r.s.filesDir()
		if info, err := os.Lstat(dir); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, errLinked
		}
	} else if real, err := filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	} else if real != dir {
		return nil, errLinked
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	r.open[name] = root
	return root, nil
}

// made is at that makes the root again when it was deleted.
func (r *roots) made(name string) (*os.Root, error) {
	root, err := r.at(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	dir, mode := name, fs.FileMode(0o755)
	if name == "" {
		dir, mode = r.s.filesDir(), 0o700
	}
	for up := filepath.Dir(dir); name != ""; up = filepath.Dir(up) { // what is there of the way to it has no link
		real, err := filepath.EvalSymlinks(up)
		if err == nil && real != up {
			return nil, errLinked
		}
		if err == nil || up == filepath.Dir(up) {
			break
		}
	}
	if err := r.s.before("make folder"); err != nil {
		return nil, err
	}
	// Not the folder above as well: where that is gone too, it is a drive that was taken out, and its place is not the place
	// of the files.
	if err := os.Mkdir(dir, mode); err != nil {
		return nil, err
	}
	return r.at(name)
}

func (r *roots) close() {
	for _, root := range r.open {
		_ = root.Close() // only read through, or synced before
	}
}

// stat looks at a file without following any link: errLinked when a folder of its path is one.
func (r *roots) stat(t target) (fs.FileInfo, error) {
	root, err := r.at(t.Root)
	if err != nil {
		return nil, err
	}
	if err := noLinks(root, path.Dir(t.Path)); err != nil {
		return nil, err
	}
	return root.Lstat(filepath.FromSlash(t.Path))
}

// noLinks reports whether all folders on the way to dir, dir included, are folders or not there.
func noLinks(root *os.Root, dir string) error {
	for at := range dir + "/" {
		if at < len(dir) && dir[at] != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(dir[:at]))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return errLinked
		}
		if !info.IsDir() {
			return syscall.ENOTDIR
		}
	}
	return nil
}

// read opens a regular file for reading. A pipe that took its place is not waited for.
func (r *roots) read(t target) (*os.File, fs.FileInfo, error) {
	seen, err := r.stat(t)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	f, err := r.open[t.Root].OpenFile(filepath.FromSlash(t.Path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, seen) {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

var errNotRegular = errors.New("not a plain file")

// hidden says which folders are never looked at, by their resolved paths.
type hidden struct {
	home, files string
	folders     []string
}

func (s *Service) hidden() hidden {
	real := func(p string) string {
		if got, err := filepath.EvalSymlinks(p); err == nil {
			return got
		}
		return filepath.Clean(p)
	}
	h := hidden{home: real(s.o.Dir), files: real(s.filesDir())}
	for _, p := range s.o.Hidden {
		if !filepath.IsAbs(p) {
			p = filepath.Join(s.o.Dir, p)
		}
		h.folders = append(h.folders, real(p))
	}
	return h
}

// never reports whether a folder or file of this absolute path is never looked at, with all that is below it.
func (h hidden) never(p string) bool {
	if slices.ContainsFunc(h.folders, func(f string) bool { return within(f, p) }) {
		return true
	}
	if !within(h.home, p) {
		return false
	}
	rel, err := filepath.Rel(h.files, p)
	if err == nil && filepath.IsLocal(rel) {
		return strings.HasPrefix(filepath.ToSlash(rel), incognito)
	}
	return !within(p, h.files) // what is not on the way down to files/
}

func within(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && filepath.IsLocal(rel)
}

// inSkipped reports whether a folder's path leads through one that is never looked at.
func inSkipped(p string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(p), "/"), skippedFolder)
}

// syncDir makes the names in a folder below a root last.
func syncDir(root *os.Root, dir string) error {
	return wholefile.SyncDir(filepath.Join(root.Name(), filepath.FromSlash(dir)))
}
