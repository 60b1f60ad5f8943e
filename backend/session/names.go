package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxName is the longest file name in bytes, with room left for a random part or a number; systems allow 255.
const maxName = 180

// cleanName makes a plain file name of what a browser, a window title or a messaging app calls a file: no folders, no
// control or direction characters, nothing that a system keeps for itself. It is never empty.
func cleanName(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, ""))
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case isControl(r):
			return -1
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = norm.NFC.String(name) // what was left out may have stood between a letter and its accent
	name = strings.TrimLeft(strings.TrimRight(strings.TrimSpace(name), ". "), ". ")
	stem, ext := splitName(name)
	if stem == "" {
		stem = "file"
	}
	if reserved[strings.ToUpper(strings.TrimSpace(strings.SplitN(stem, ".", 2)[0]))] {
		stem = "_" + stem
	}
	return cutBytes(stem, maxName-len(ext)) + ext
}

// reserved are the names that Windows keeps for devices, whatever their extension.
var reserved = func() map[string]bool {
	names := map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true}
	for _, d := range "123456789¹²³" {
		names["COM"+string(d)], names["LPT"+string(d)] = true, true
	}
	return names
}()

// isControl reports whether a character is unseen: controls, and the marks that hide text or turn its direction.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Variation_Selector, r) || (r >= 0xe0000 && r <= 0xe007f)
}

// turnsText reports whether a character ends a line or changes the direction of the text after it. A title may have the
// other unseen characters: emoji are made with them.
func turnsText(r rune) bool {
	return r == '\u200e' || r == '\u200f' || (r >= '\u2028' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069')
}

// splitName cuts a name before its extension; an extension has at most 16 bytes and no space.
func splitName(name string) (stem, ext string) {
	ext = path.Ext(name)
	if len(ext) > 16 || strings.Contains(ext, " ") || ext == "." {
		ext = ""
	}
	return strings.TrimRight(strings.TrimSuffix(name, ext), " "), ext
}

func cutBytes(s string, n int) string {
	for len(s) > n {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return strings.TrimRight(s, " .")
}

// freeName gives the name a new file gets in its folder. s.naming is held.
func (s *Service) freeName(ctx context.Context, dir, name string) (string, error) {
	stem, ext := splitName(name)
	for try := range 10_000 {
		candidate := name
		switch {
		case dir == dirScreens || dir == dirSelections:
			var random [3]byte
			_, _ = rand.Read(random[:]) // never fails
			candidate = fmt.Sprintf("%s %s%s", stem, hex.EncodeToString(random[:]), ext)
		case try > 0:
			candidate = fmt.Sprintf("%s (%d)%s", stem, try, ext)
		}
		taken, err := s.taken(ctx, dir+"/"+candidate)
		if err != nil {
			return "", err
		}
		if !taken {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("name file: no free name")
}

// taken reports whether a file or a message has the name.
func (s *Service) taken(ctx context.Context, p string) (bool, error) {
	if _, err := s.files.Lstat(p); err == nil {
		return true, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, fileError("name file", err)
	}
	return s.attached(ctx, apiName(p))
}

// apiName is a stored file's name in the API: uploads have no folder.
func apiName(p string) string { return strings.TrimPrefix(p, dirUploads+"/") }

// storedPath is where a file of that name in the API lies under files/. Names that no file of ours can have are a 404,
// and so is every second spelling of one: what a name says about a file (which folder it is in, which message has it)
// must be the whole truth about it.
func storedPath(name string) (string, error) {
	if len(name) > 1000 || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || strings.HasPrefix(path.Base(name), tempPrefix) || aliases(name) {
		return "", errNoFile()
	}
	folder, _, inFolder := strings.Cut(name, "/")
	switch {
	case !inFolder:
		return dirUploads + "/" + name, nil
	case slices.Contains(folders, folder):
		return name, nil
	}
	return "", errNoFile()
}

// aliases reports whether Windows would read a name as another one: it drops dots and spaces at the end of each part,
// and takes what follows a colon for a stream of the file.
func aliases(name string) bool {
	return runtime.GOOS == "windows" && slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.Contains(part, ":") || strings.TrimRight(part, ". ") != part
	})
}

// mimes are the kinds that matter to us, the same on every computer; the system's own list fills in the rest.
var mimes = map[string]string{
	".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json",
	".yaml": "application/yaml", ".yml": "application/yaml", ".xml": "application/xml", ".html": "text/html", ".htm": "text/html",
	".log": "text/plain", ".go": "text/plain", ".py": "text/plain", ".js": "text/javascript", ".ts": "text/plain", ".sh": "text/plain", ".sql": "text/plain",
	".pdf": "application/pdf", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".svg": "image/svg+xml", ".heic": "image/heic", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".m4a": "audio/mp4", ".mp4": "video/mp4", ".zip": "application/zip",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

func mimeOf(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if m, ok := mimes[ext]; ok {
		return m
	}
	if m, _, err := mime.ParseMediaType(mime.TypeByExtension(ext)); err == nil {
		return m
	}
	return "application/octet-stream"
}
