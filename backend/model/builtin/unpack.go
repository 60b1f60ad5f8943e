package builtin

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Caps of an archive: a llama.cpp build has about 60 files and 60 MB.
const (
	maxFiles = 2000
	maxBytes = 1 << 30
)

var errArchive = errors.New("unpack: the archive holds something it should not")

// unpacker writes members of an archive below dir and nowhere else.
type unpacker struct {
	ctx   context.Context
	root  *os.Root
	files int
	bytes int64
}

// unpack unpacks a .zip or .tar.gz file into the empty folder dir.
func unpack(ctx context.Context, file, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{ctx: ctx, root: root}
	if strings.HasSuffix(file, ".zip") {
		return u.zip(file)
	}
	return u.tar(file)
}

func (u *unpacker) zip(file string) error {
	r, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !f.Mode().IsRegular() {
			return errArchive
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		err = u.file(f.Name, f.Mode(), in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) tar(file string) error {
	packed, err := os.Open(file)
	if err != nil {
		return err
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	r := tar.NewReader(plain)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
		case tar.TypeReg:
			err = u.file(h.Name, h.FileInfo().Mode(), r)
		case tar.TypeSymlink: // libraries: libllama.so -> libllama.so.0
			err = u.link(h.Name, h.Linkname)
		default:
			err = errArchive
		}
		if err != nil {
			return err
		}
	}
}

// place checks a member's name, makes its folder and counts it.
func (u *unpacker) place(name string) (string, error) {
	name = path.Clean(name)
	if !filepath.IsLocal(filepath.FromSlash(name)) || u.files >= maxFiles {
		return "", errArchive
	}
	if err := u.ctx.Err(); err != nil {
		return "", err
	}
	u.files++
	if dir := path.Dir(name); dir != "." {
		if err := u.root.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	return name, nil
}

func (u *unpacker) file(name string, mode fs.FileMode, in io.Reader) error {
	name, err := u.place(name)
	if err != nil {
		return err
	}
	out, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|mode.Perm()&0o111)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxBytes-u.bytes+1))
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if u.bytes += n; err == nil && u.bytes > maxBytes {
		err = errArchive
	}
	return err
}

// link makes a link to a neighbour. A link to anywhere else could lead a later member out of the folder.
func (u *unpacker) link(name, target string) error {
	if target != path.Base(target) || target == ".." || target == "." || strings.ContainsAny(target, `\:`) {
		return errArchive
	}
	name, err := u.place(name)
	if err != nil {
		return err
	}
	return u.root.Symlink(target, name)
}

// serverIn finds the server in an unpacked archive, wherever its release keeps it.
func serverIn(dir string) (string, error) {
	want := "llama-server"
	if runtime.GOOS == "windows" {
		want += ".exe"
	}
	found := ""
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && d.Name() == want {
			found = p
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && found == "" {
		err = fmt.Errorf("find %s: %w", want, fs.ErrNotExist)
	}
	return found, err
}
