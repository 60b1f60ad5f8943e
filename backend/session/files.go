package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"syscall"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/store"
)

// The folders under files/. An upload's name in the API has no folder; every other file's name has.
const (
	dirUploads    = "uploads"
	dirScreens    = "screens"
	dirSelections = "selections"
	dirOutputs    = "outputs"   // long tool results, files that Sentient wrote
	dirCharts     = "charts"    // pictures that Sentient drew
	dirDownloads  = "downloads" // what the browser brought
)

// folders are those whose files carry their folder in their name.
var folders = []string{dirScreens, dirSelections, dirOutputs, dirCharts, dirDownloads}

// tempPrefix marks a file that is still coming in. No name of a person starts with a dot.
const tempPrefix = ".part-"

// File is a file as the list shows it (§2 "Files").
type File struct {
	Name       string `json:"name"`
	Size       int64  `json:"size"`
	MIME       string `json:"mime"`
	ModifiedAt string `json:"modified_at"`
}

// UploadInput says what comes in.
type UploadInput struct {
	Name   string `json:"name" doc:"The file's name; folders in it are dropped." maxLength:"1000"`
	Source string `json:"source,omitempty" enum:"upload,screen,selection" default:"upload"`
}

// UploadResult names the stored file.
type UploadResult struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	MIME string `json:"mime"`
}

var sourceDirs = map[string]string{"": dirUploads, "upload": dirUploads, "screen": dirScreens, "selection": dirSelections}

// Upload stores a file (POST /api/files) whole or not at all. Its name is cleaned, and made one that no file has and no
// message ever had: " (1)" for uploads, a random part for screens and selections (#458). 413 over the size limit.
func (s *Service) Upload(ctx context.Context, in *UploadInput, body io.Reader) (*UploadResult, error) {
	dir, ok := sourceDirs[in.Source]
	if !ok {
		return nil, errs.New(errs.Invalid, "source_invalid", "A file's source is upload, screen or selection.")
	}
	temp := dir + "/" + tempPrefix + newID()
	size, err := s.receive(ctx, temp, body)
	if err != nil {
		return nil, errors.Join(err, s.discard(temp))
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	name, err := s.freeName(ctx, dir, cleanName(in.Name))
	if err == nil {
		err = fileError("store file", s.files.Rename(temp, dir+"/"+name))
	}
	if err != nil {
		return nil, errors.Join(err, s.discard(temp))
	}
	return &UploadResult{Name: apiName(dir + "/" + name), Size: size, MIME: mimeOf(name)}, nil
}

func (s *Service) receive(ctx context.Context, temp string, body io.Reader) (int64, error) {
	f, err := s.files.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fileError("store file", err)
	}
	size, err := io.Copy(f, io.LimitReader(incoming{whileAlive{ctx, body}}, s.MaxFileSize+1))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, fileError("store file", err)
	}
	if size > s.MaxFileSize {
		return 0, errs.Newf(errs.TooLarge, "file_too_large", "This file is larger than %d MB, the most that can be attached.", s.MaxFileSize>>20)
	}
	return size, nil
}

// whileAlive is a reader that ends with its context.
type whileAlive struct {
	ctx context.Context
	io.Reader
}

func (r whileAlive) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// incoming tells an upload that breaks off from a disk that fails.
type incoming struct{ io.Reader }

func (r incoming) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return n, err
	}
	if _, known := errors.AsType[*errs.Error](err); known {
		return n, err
	}
	return n, errs.New(errs.Malformed, "upload_broken", "The file broke off before all of it was here, so it was not kept. Try again.").Because(err)
}

func (s *Service) discard(temp string) error {
	if err := s.files.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError("remove unfinished file", err)
	}
	return nil
}

// FilesInput has no members.
type FilesInput struct{}

// Files lists all files, newest first (GET /api/files).
func (s *Service) Files(ctx context.Context, _ *FilesInput) ([]File, error) {
	type dated struct {
		File
		at time.Time
	}
	var found []dated
	err := s.walk(ctx, ".", func(p string, info fs.FileInfo) {
		found = append(found, dated{File{apiName(p), info.Size(), mimeOf(p), clock.Stamp(info.ModTime())}, info.ModTime()})
	})
	if err != nil {
		return nil, err
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].at.After(found[j].at) })
	list := make([]File, len(found))
	for i, f := range found {
		list[i] = f.File
	}
	return list, nil
}

// walk visits the regular files under a folder of files/. Links are not followed and not listed.
func (s *Service) walk(ctx context.Context, dir string, visit func(p string, info fs.FileInfo)) error {
	err := fs.WalkDir(s.files.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // deleted meanwhile
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), tempPrefix):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			visit(p, info)
		}
		return nil
	})
	return fileError("list files", err)
}

// FileInput names a file as the list does.
type FileInput struct {
	Name string `json:"name" in:"path"`
}

// Content is a file for reading. The caller closes Body.
type Content struct {
	Name     string
	MIME     string
	Size     int64
	Modified time.Time
	Body     io.ReadSeekCloser
}

// Content opens a file (GET and HEAD /api/files/content/{name}). 404 when it is not there any more.
func (s *Service) Content(_ context.Context, in *FileInput) (*Content, error) {
	p, err := storedPath(in.Name)
	if err != nil {
		return nil, err
	}
	// Looked at first: opening something else, such as a pipe, could wait forever.
	info, err := s.files.Lstat(p)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errNoFile()
	}
	var f *os.File
	if err == nil {
		f, err = s.files.Open(p)
	}
	if err != nil {
		return nil, openError(err)
	}
	info, err = f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errNoFile(), err, f.Close())
	}
	return &Content{Name: path.Base(p), MIME: mimeOf(p), Size: info.Size(), Modified: info.ModTime(), Body: f}, nil
}

// DeleteFile deletes a file (DELETE /api/files/{name}). 404 when it is not there any more.
func (s *Service) DeleteFile(_ context.Context, in *FileInput) (*OKResult, error) {
	p, err := storedPath(in.Name)
	if err != nil {
		return nil, err
	}
	info, err := s.files.Lstat(p)
	if err == nil && info.IsDir() {
		return nil, errNoFile()
	}
	if err == nil {
		err = s.files.Remove(p)
	}
	if err != nil {
		return nil, openError(err)
	}
	return &OKResult{true}, nil
}

// ReadFile gives the start of a file, at most max bytes, its kind and its whole size, for a model to read.
func (s *Service) ReadFile(ctx context.Context, name string, max int64) (data []byte, mime string, size int64, err error) {
	c, err := s.Content(ctx, &FileInput{Name: name})
	if err != nil {
		return nil, "", 0, err
	}
	defer c.Body.Close()
	data, err = io.ReadAll(io.LimitReader(whileAlive{ctx, c.Body}, max))
	return data, c.MIME, c.Size, fileError("read file", err)
}

// ownCaptures lists the screens and selections that go with a chat: those its messages have and no other chat's. For an
// incognito chat that is all of them, whoever else has one.
func ownCaptures(tx *store.Tx, session string) ([]string, error) {
	rows, err := tx.Query(`SELECT DISTINCT f.name FROM message_files f WHERE f.session_id = ?1
		AND (f.name LIKE 'screens/%' OR f.name LIKE 'selections/%')
		AND ((SELECT incognito FROM sessions WHERE id = ?1)
			OR NOT EXISTS (SELECT 1 FROM message_files o WHERE o.name = f.name AND o.session_id <> ?1))`, session)
	if err != nil {
		return nil, wrap("find captures", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, wrap("find captures", err)
		}
		names = append(names, name)
	}
	return names, wrap("find captures", rows.Err())
}

// removeCaptures deletes what went with a chat. The chat is gone already; a file that cannot be removed now is tried
// again by the next start's sweep.
func (s *Service) removeCaptures(session string, names []string) {
	for _, name := range names {
		p, err := storedPath(name)
		if err == nil {
			err = s.files.Remove(p)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("capture not deleted", "error", err)
		}
	}
	if err := s.files.RemoveAll(dirOutputs + "/" + incognitoOutputs + session); err != nil {
		s.Log.Warn("incognito outputs not deleted", "error", err)
	}
}

// incognitoOutputs and a chat's id name the folder of long results that an incognito chat read (#291).
const incognitoOutputs = "incognito-"

// sweepFiles deletes what no chat has: unfinished uploads, captures over an hour old that no message has, and the
// outputs of incognito chats that are gone.
func (s *Service) sweepFiles(ctx context.Context) error {
	old := s.Clock.Now().Add(-time.Hour)
	for _, dir := range []string{dirUploads, dirScreens, dirSelections, dirOutputs} {
		entries, err := fs.ReadDir(s.files.FS(), dir)
		if err != nil {
			return fileError("list files", err)
		}
		for _, e := range entries {
			p := dir + "/" + e.Name()
			loose := strings.HasPrefix(e.Name(), tempPrefix)
			if info, err := e.Info(); !loose && (dir == dirScreens || dir == dirSelections) && err == nil && info.ModTime().Before(old) {
				attached, err := s.attached(ctx, p)
				if err != nil {
					return err
				}
				loose = !attached
			}
			if loose {
				if err := s.discard(p); err != nil {
					s.Log.Warn("loose file not deleted", "error", err)
				}
			}
		}
	}
	outputs, err := fs.ReadDir(s.files.FS(), dirOutputs)
	if err != nil {
		return fileError("list files", err)
	}
	for _, e := range outputs {
		// Incognito chats are deleted before this runs, so that each such folder is one left behind.
		if strings.HasPrefix(e.Name(), incognitoOutputs) {
			if err := s.files.RemoveAll(dirOutputs + "/" + e.Name()); err != nil {
				s.Log.Warn("incognito outputs not deleted", "error", err)
			}
		}
	}
	return nil
}

// attached reports whether any message has a file of this name.
func (s *Service) attached(ctx context.Context, name string) (bool, error) {
	var is bool
	err := s.DB.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM message_files WHERE name = ?)`, name).Scan(&is)
	return is, wrap("find attachment", err)
}

func errNoFile() *errs.Error {
	return errs.New(errs.NotFound, "file_unknown", "This file is not there any more.")
}

// openError is fileError for a name from outside: what cannot be reached by it (a part of it is a file, or a link that
// leads out of the folder) is not there.
func openError(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.EIO) {
		return fileError("open file", err)
	}
	return errNoFile().Because(err)
}

// fileError makes a sentence of what the file system says.
func fileError(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errNoFile().Because(err)
	case errors.Is(err, fs.ErrPermission):
		return errs.New(errs.Unavailable, "files_denied", "Sentient may not use its files folder. Allow it to read and write there and try again.").Because(err)
	case isDiskFull(err):
		return errs.New(errs.Unavailable, store.CodeFull, "There is no space left on the disk, so this was not saved. Free some space and try again.").Because(err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
