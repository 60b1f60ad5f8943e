package onboarding

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"sentient/backend/errs"
)

// readLimit is the largest file of ours that is read; a person may have pasted a book into USER.md.
const readLimit = 4 << 20

// read gives a file's text; "" when there is none. A file too large to be kept whole is refused rather than cut.
func (s *Service) read(name string) (string, error) {
	f, err := os.Open(filepath.Join(s.Dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fileError(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, readLimit+1))
	if err != nil {
		return "", fileError(err)
	}
	if len(data) > readLimit {
		return "", errs.New(errs.Conflict, "profile_too_large", "The profile file in the workspace folder is too large. Shorten it and try again.")
	}
	return string(data), nil
}

// write replaces a file whole or not at all.
func (s *Service) write(name, text string) error {
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fileError(err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fileError(errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

func fileError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return errs.New(errs.Unavailable, "workspace_denied", "Sentient may not write to its workspace folder. Allow it to and try again.").Because(err)
	}
	return fmt.Errorf("write workspace: %w", err)
}

// oneLine gives text as one line.
func oneLine(text string) string { return strings.Join(strings.Fields(plain(text)), " ") }

// plain gives text without characters that are unseen or that end our marks early.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || (r >= '\u202a' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069')) {
			return -1
		}
		return r
	}, text)
	marks := strings.NewReplacer("<!--", "", "-->", "")
	for clean := marks.Replace(text); clean != text; clean = marks.Replace(text) {
		text = clean // what was left out may have stood inside another mark
	}
	return strings.TrimSpace(text)
}
