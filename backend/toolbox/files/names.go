package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"sentient/backend/errs"
	"sentient/backend/tool"
)

// The folders below files/.
const (
	uploads    = "uploads"
	outputs    = "outputs"
	downloads  = "downloads"
	charts     = "charts"
	screens    = "screens"
	selections = "selections"
)

// folders can be read. What Sentient wrote down for the person, such as an export of its memory, is not among them.
//
// Another spelling of one is none, also where a file system would take it for the same: a name says
// which folder a file is in, and that says where its content comes from.
var folders = []string{uploads, outputs, downloads, charts, screens, selections}

// incognito and a chat's id name the folder of what an incognito chat saved, which goes with it and is no other chat's (§2).
const incognito = "incognito-"

// partPrefix marks a file that is still coming in.
const partPrefix = ".part-"

// Limits of names, in bytes.
const (
	maxName = 1000
	maxPart = 180
)

func errNoFile() *errs.Error {
	return errs.New(errs.NotFound, "file_unknown", "There is no file of this name. file_list shows the names of all files.")
}

func errName() *errs.Error {
	return errs.New(errs.Invalid, "file_name_invalid", "This is not the name of a file in Sentient's files folder. Names are like report.pdf or outputs/report.md, with no folder above and no link.")
}

// find gives where the file of a name lies below files/.
func find(root *os.Root, c *tool.Context, name string) (string, error) {
	name = strings.TrimPrefix(name, "files/")
	if len(name) > maxName || !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.HasPrefix(path.Base(name), partPrefix) || aliases(name) {
		return "", errName()
	}
	dir, rest, inFolder := strings.Cut(name, "/")
	if !inFolder {
		p := uploads + "/" + name
		if _, err := root.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			p = outputs + "/" + name // a model often leaves the folder of its own files out
		}
		return p, nil
	}
	if !slices.Contains(folders, dir) || dir == outputs && foreign(c, rest) {
		return "", errNoFile()
	}
	return name, nil
}

// foreign reports whether an output belongs to an incognito chat that is not the call's.
func foreign(c *tool.Context, output string) bool {
	dir, _, _ := strings.Cut(output, "/")
	chat, private := strings.CutPrefix(dir, incognito)
	return private && (c == nil || chat != c.SessionID)
}

// aliases reports whether Windows would read a name as another one.
func aliases(name string) bool {
	return runtime.GOOS == "windows" && slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.Contains(part, ":") || strings.TrimRight(part, ". ") != part
	})
}

// apiName is a stored file's name: uploads have no folder.
func apiName(p string) string { return strings.TrimPrefix(p, uploads+"/") }

// writable gives where a file that a model writes lies: below outputs/, whatever else its name says.
func writable(name string) (string, error) {
	name = strings.TrimPrefix(name, "files/")
	if len(name) > maxName || !utf8.ValidString(name) || !fs.ValidPath(name) || name == "." {
		return "", errName()
	}
	dir, rest, inFolder := strings.Cut(name, "/")
	switch {
	case inFolder && dir == outputs:
		name = rest
	case inFolder && slices.Contains(folders, dir):
		return "", errs.Newf(errs.Forbidden, "file_folder_kept", "Files are written to outputs, so that nothing in %s is ever changed. Use a name like outputs/report.md.", dir)
	}
	parts := strings.Split(name, "/")
	if len(parts) > 1 && strings.HasPrefix(parts[0], incognito) {
		return "", errName() // it would go with its chat; what a person asked for stays
	}
	if len(parts) > 6 {
		return "", errs.New(errs.Invalid, "file_name_invalid", "This name has too many folders in it. Use at most five.")
	}
	for _, part := range parts {
		if why := wrongPart(part); why != "" {
			return "", errs.New(errs.Invalid, "file_name_invalid", why)
		}
	}
	return outputs + "/" + name, nil
}

// wrongPart says what is wrong with a part of a name; every system must be able to have the file.
func wrongPart(part string) string {
	switch {
	case len(part) > maxPart:
		return "This name is too long. Use at most 180 letters."
	case strings.ContainsFunc(part, hidden):
		return "This name has characters in it that can't be seen. Use plain letters, digits, spaces, - and _."
	case strings.ContainsAny(part, `<>:"|?*\`):
		return `A name can't have any of < > : " | ? * or a backslash in it. Use plain letters, digits, spaces, - and _.`
	case strings.HasPrefix(part, "."), strings.HasPrefix(part, " "), strings.HasSuffix(part, "."), strings.HasSuffix(part, " "):
		return "A name can't begin or end with a dot or a space. Use a name like report.md."
	}
	stem, _, _ := strings.Cut(part, ".")
	if slices.Contains(reserved, strings.ToUpper(strings.TrimSpace(stem))) {
		return "Windows keeps this name for itself. Use another one."
	}
	return ""
}

// reserved are the names that Windows keeps for devices, whatever their extension.
var reserved = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM0", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9",
	"COM¹", "COM²", "COM³", "LPT0", "LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9", "LPT¹", "LPT²", "LPT³"}

// hidden reports whether a character is unseen: it could make a name look like another.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r >= 0xe0000 && r <= 0xe007f
}

// whole reports whether a file is there, regular, and reached without a link.
func whole(root *os.Root, p string) (fs.FileInfo, error) {
	for i, r := range p {
		if r != '/' {
			continue
		}
		info, err := root.Lstat(p[:i])
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	info, err := root.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return info, nil
}

// fileError makes a sentence of what the file system says.
func fileError(what string, err error) error {
	if _, known := errors.AsType[*errs.Error](err); known || err == nil {
		return err
	}
	cause := fmt.Errorf("%s: %w", what, err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errs.New(errs.Unavailable, "files_denied", "Sentient may not use its files folder. Allow it to read and write there and try again.").Because(cause)
	case errors.Is(err, syscall.ENOSPC):
		return errs.New(errs.Unavailable, "disk_full", "There is no space left on the disk, so this was not saved. Free some space and try again.").Because(cause)
	case errors.Is(err, fs.ErrNotExist):
		return errNoFile().Because(cause)
	}
	return errs.New(errs.Unavailable, "files_failed", "The files folder can't be used right now. Try again.").Because(cause)
}
