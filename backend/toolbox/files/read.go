package files

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"sentient/backend/errs"
	"sentient/backend/textkit"
	"sentient/backend/tool"
)

//go:embed file_read.md
var readDescription string

type readIn struct {
	Name   string `json:"name" doc:"The file's name, as file_list gives it."`
	Offset int    `json:"offset,omitempty" doc:"Where to begin, in characters." min:"0"`
	Limit  int    `json:"limit,omitempty" doc:"How many characters; 0: as many as fit." min:"0"`
}

// readOut is one part of a file (§10).
type readOut struct {
	Name       string `json:"name"`
	Offset     int    `json:"offset"`
	Content    string `json:"content"`
	Total      *int   `json:"total,omitempty"` // left out where the rest was not read
	More       bool   `json:"more"`
	NextOffset *int   `json:"next_offset,omitempty"`
	Note       string `json:"note,omitempty"`
}

// wholeMax is up to which size a text is read whole, so that its length is known (§10).
const wholeMax = 4 << 20

func (f *folder) read() *tool.Tool {
	return tool.New(tool.Def[readIn]{
		Name: "file_read", Description: strings.TrimSpace(readDescription), Risk: tool.Read,
		Run:         f.runRead,
		OutsideFrom: f.outsideFrom,
		Sources:     readSources,
	})
}

// outsideFrom says where a file's content comes from when somebody else may have written it (§10).
func (f *folder) outsideFrom(in readIn) string {
	root, err := f.open()
	if err != nil {
		return ""
	}
	defer root.Close()
	p, err := find(root, nil, in.Name)
	if err != nil { // one of an incognito chat, for which no call was given
		p = strings.TrimPrefix(in.Name, "files/")
	}
	switch dir, _, _ := strings.Cut(p, "/"); strings.ToLower(dir) { // many disks do not tell case apart
	case outputs:
		return "a saved tool result"
	case downloads:
		return "a downloaded file"
	}
	return ""
}

func readSources(_ readIn, result json.RawMessage) []tool.Source {
	var out readOut
	if json.Unmarshal(result, &out) != nil || out.Name == "" || out.Content == "" {
		return nil
	}
	return []tool.Source{{Kind: "file", Title: path.Base(out.Name), File: out.Name, Snippet: out.Content}}
}

func (f *folder) runRead(ctx context.Context, c *tool.Context, in readIn) (any, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p, err := find(root, c, in.Name)
	if err != nil {
		return nil, err
	}
	file, size, err := openWhole(root, p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, known, err := textOf(ctx, p, file, size)
	if err != nil {
		return nil, err
	}
	out := readOut{Name: apiName(p), Offset: in.Offset}
	if err := out.fill(text, known, in.Limit, f.limitOf(c)); err != nil {
		return nil, readError(ctx, err)
	}
	return out, nil
}

// openWhole opens a regular file that no link leads to.
func openWhole(root *os.Root, p string) (*os.File, int64, error) {
	// Looked at first: opening something else, such as a pipe, could wait forever.
	if _, err := whole(root, p); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, 0, fileError("open file", err)
		}
		return nil, 0, errNoFile().Because(err)
	}
	file, err := root.Open(p)
	if err != nil {
		return nil, 0, fileError("open file", err)
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, errors.Join(errNoFile(), err, file.Close())
	}
	return file, info.Size(), nil
}

// pieces are a text as it is read.
type pieces = iter.Seq2[string, error]

// textOf gives the text of a file and, where it is known before it is read, how many characters it has; else -1.
func textOf(ctx context.Context, p string, file *os.File, size int64) (text pieces, total int, err error) {
	head := make([]byte, 8)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, 0, fileError("read file", err)
	}
	head = head[:n]
	switch ext := strings.ToLower(path.Ext(p)); {
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return textkit.PDF(ctx, file, size), -1, nil
	case ext == ".docx" && bytes.HasPrefix(head, []byte("PK")):
		return textkit.DOCX(ctx, file, size), -1, nil
	case ext == ".pdf" || ext == ".docx":
		return nil, 0, errs.New(errs.Invalid, textkit.CodeDamaged, "This document is damaged or not what its name says, so it can't be read.")
	}
	if size > wholeMax {
		return stream(ctx, file), -1, nil
	}
	data, err := io.ReadAll(io.LimitReader(file, wholeMax+1))
	if err != nil {
		return nil, 0, fileError("read file", err)
	}
	decoded, err := textkit.Decode(data, "")
	if err != nil {
		return nil, 0, readError(ctx, err)
	}
	return func(yield func(string, error) bool) { yield(decoded, nil) }, utf8.RuneCountInString(decoded), nil
}

// stream gives a long text as it is read.
func stream(ctx context.Context, file *os.File) pieces {
	return func(yield func(string, error) bool) {
		r, err := textkit.Reader(file)
		if err != nil {
			yield("", err)
			return
		}
		buf := make([]byte, 256<<10)
		kept := 0 // bytes of a character that is not whole yet
		for {
			if ctx.Err() != nil {
				yield("", ctx.Err())
				return
			}
			n, err := r.Read(buf[kept:])
			n += kept
			end := n
			for back := 1; err == nil && back < utf8.UTFMax && back <= n; back++ {
				if utf8.RuneStart(buf[n-back]) {
					if !utf8.FullRune(buf[n-back : n]) {
						end = n - back
					}
					break
				}
			}
			piece := strings.ReplaceAll(strings.ToValidUTF8(string(buf[:end]), "\uFFFD"), "\x00", "\uFFFD")
			if !yield(piece, nil) {
				return
			}
			kept = copy(buf, buf[end:n])
			if err == io.EOF {
				return
			}
			if err != nil {
				yield("", fileError("read file", err))
				return
			}
		}
	}
}

// readError words what textkit says for a file.
func readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errs.Code(err) == textkit.CodeNotText:
		return errs.New(errs.Invalid, textkit.CodeNotText, "This file is not text, so it can't be read. Pictures, sound and archives can't; PDF and Word (.docx) files can.")
	}
	return fileError("read file", err)
}
