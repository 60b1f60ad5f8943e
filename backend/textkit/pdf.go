package textkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"runtime"
	"strings"

	"github.com/ledongthuc/pdf"

	"sentient/backend/errs"
)

// Caps of a PDF.
const (
	pdfMax       = 256 << 20 // bytes of the file
	pdfMaxPages  = 20_000
	pdfMaxStream = 32 << 20 // bytes of one page's instructions, unpacked
	pdfMaxNodes  = 100_000  // of the tree of pages
	pdfMaxDepth  = 64       // of that tree
	pdfMaxStack  = 4000     // calls inside one another
)

// PDF gives the text of a PDF a page at a time, each with an empty line at its end; a page without text gives "". The
// reading ends when the caller stops asking. Errors: CodeDamaged, CodeLocked for one with a password, CodeTooBig, and a
// context's own.
func PDF(ctx context.Context, r io.ReaderAt, size int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := readPDF(ctx, r, size, func(page string) bool { return yield(page, nil) }); err != nil {
			yield("", err)
		}
	}
}

func readPDF(ctx context.Context, r io.ReaderAt, size int64, yield func(string) bool) (err error) {
	if size > pdfMax {
		return tooBig("PDF")
	}
	f := &pdfFile{ctx: ctx, r: r, size: size}
	defer func() { err = f.reason(err) }()
	defer caught(&err, "PDF")
	if err := f.frame(); err != nil {
		return err
	}
	if err := f.plausible(); err != nil {
		return err
	}
	doc, err := pdf.NewReader(f, f.size)
	if errors.Is(err, pdf.ErrInvalidPassword) {
		return errs.New(errs.Invalid, CodeLocked, "This PDF is locked with a password, so Sentient can't read it.")
	}
	if err != nil {
		return damaged("PDF", err)
	}
	w := &pdfWalk{f: f, yield: yield}
	_, err = w.pages(doc.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0)
	return err
}

// pdfFile is the file as the library reads it: it ends with its context, notices a reading that goes in circles, and
// smooths out what the library takes offence at.
type pdfFile struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
	left int64 // reads that are still allowed
	why  error // the reason that a read was refused
}

// ReadAt reads from the file. The library looks up everything again each time it is asked, so that a reading that goes in
// circles, or ever deeper, is seen here.
func (f *pdfFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		f.why = err
		return 0, ended{err}
	}
	if f.left--; f.left < 0 {
		f.why = damaged("PDF", errors.New("reading goes in circles"))
		return 0, f.why
	}
	var one [1]uintptr
	if runtime.Callers(pdfMaxStack, one[:]) > 0 {
		f.why = damaged("PDF", errors.New("reading goes too deep"))
		return 0, f.why
	}
	n, err := f.r.ReadAt(p, off)
	if off < int64(len(pdfHeader)) && n > 0 {
		copy(p[:n], pdfHeader[off:])
	}
	return n, err
}

// reason gives the reason that a read was refused, where there is one: the library words it its own way.
func (f *pdfFile) reason(err error) error {
	if err != nil && f.why != nil {
		return f.why
	}
	return err
}

// pdfHeader stands for the first line of the file: the library knows no version above 1.7, and only this form.
const pdfHeader = "%PDF-1.7\n"

// frame finds where the PDF in the file ends, and how many reads it may need.
func (f *pdfFile) frame() error {
	head := make([]byte, len(pdfHeader))
	if n, err := f.r.ReadAt(head, 0); n < len(head) || !bytes.HasPrefix(head, []byte("%PDF-")) {
		return damaged("PDF", errors.Join(errors.New("no header"), err))
	}
	const tailLength = 4096
	from := max(f.size-tailLength, 0)
	tail := make([]byte, f.size-from)
	if n, err := f.r.ReadAt(tail, from); n < len(tail) {
		return damaged("PDF", err)
	}
	i := bytes.LastIndex(tail, []byte("%%EOF"))
	if i < 0 {
		return damaged("PDF", errors.New("no end"))
	}
	f.size = from + int64(i) + int64(len("%%EOF"))
	f.left = 2_000_000 + f.size
	return nil
}

// outsized are numbers for which the library would make room, or count to, whatever they are: seven digits or more behind
// certain names, however these are spelled, a reference where the number should stand, and in the heads of the table of
// objects.
var outsized = func() *regexp.Regexp {
	const blank = `(?:[\s\x00\[]|%[^\r\n]*[\r\n])*`
	named := func(names ...string) string {
		for i, name := range names {
			names[i] = ""
			for _, c := range name {
				names[i] += fmt.Sprintf("(?:%c|#(?i:%x))", c, c)
			}
		}
		return `/(?:` + strings.Join(names, "|") + `)` + blank
	}
	return regexp.MustCompile(named("Size", "Index", "N", "First", "W", "Columns", "Count") + `(?:\d+` + blank + `)*[+-]?\d{7,}|` +
		named("N", "Size", "Columns") + `\d+\s+\d+\s+R\b|` +
		`(?:^|[\r\n])\s*(?:\d{7,}\s+\d+|\d+\s+\d{7,})` + blank + `\d{10}\s\d{5}\s[nf]`)
}()

// plausible looks through the file for numbers that no honest file has.
func (f *pdfFile) plausible() error {
	const piece, overlap = 1 << 20, 512
	buf := make([]byte, piece+overlap)
	for at := int64(0); at < f.size; at += piece {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		n, err := f.r.ReadAt(buf[:min(int64(len(buf)), f.size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged("PDF", err)
		}
		if m := outsized.Find(buf[:n]); m != nil {
			return damaged("PDF", errors.New("implausible number"))
		}
	}
	return nil
}

// pdfWalk goes through the pages.
type pdfWalk struct {
	f     *pdfFile
	yield func(string) bool
	nodes int
	done  int
}

// pages reads a part of the tree of pages and reports whether to go on.
func (w *pdfWalk) pages(node, inherited pdf.Value, depth int) (bool, error) {
	if w.nodes++; w.nodes > pdfMaxNodes || depth > pdfMaxDepth || w.done > pdfMaxPages {
		return false, damaged("PDF", errors.New("endless pages"))
	}
	resources := node.Key("Resources")
	if resources.IsNull() {
		resources = inherited
	}
	kids := node.Key("Kids")
	if kids.Kind() == pdf.Array {
		for i := range kids.Len() {
			if on, err := w.pages(kids.Index(i), resources, depth+1); !on || err != nil {
				return on, err
			}
		}
		return true, nil
	}
	if node.Kind() != pdf.Dict {
		return true, nil
	}
	w.done++
	text, err := w.page(node, resources)
	if err != nil {
		return false, err
	}
	return w.yield(text), nil
}

// ligatures are letters that a font draws as one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "\u00ad", "")

// page gives the text of one page. One that is damaged does not spoil the others.
func (w *pdfWalk) page(node, resources pdf.Value) (text string, err error) {
	p := &pdfPage{ctx: w.f.ctx}
	func() {
		defer caught(&err, "PDF")
		p.show(node.Key("Contents"), resources, 0)
	}()
	if w.f.why != nil {
		return "", w.f.why
	}
	if err != nil && (w.f.ctx.Err() != nil || errs.Code(err) == CodeTooBig) {
		return "", err
	}
	if text = tidy(ligatures.Replace(clean(p.text.String()))); text != "" {
		text += "\n\n"
	}
	return text, nil
}
