package textkit

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"strings"
)

// Caps of a Word document.
const (
	docxMax      = 32 << 20 // bytes of the text's XML, unpacked
	docxMaxRatio = 200      // times the packed size, once it is long
	docxMaxFiles = 10_000
	docxMaxLine  = 1 << 20 // bytes of one paragraph
	docxMaxToken = 2 << 20 // bytes of one tag or text
	docxMaxDepth = 1000
)

// DOCX gives the text of a Word document a paragraph at a time, each with its line end: headings and lists as in
// Markdown, a table a line a row. What was deleted, hidden or is only a fallback is left out. The reading ends when the
// caller stops asking. Errors: CodeDamaged, CodeTooBig, and a context's own.
func DOCX(ctx context.Context, r io.ReaderAt, size int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := readDOCX(ctx, r, size, func(line string) bool { return yield(line, nil) }); err != nil {
			yield("", err)
		}
	}
}

func readDOCX(ctx context.Context, r io.ReaderAt, size int64, yield func(string) bool) (err error) {
	defer caught(&err, "document")
	z, err := zip.NewReader(r, size)
	if err != nil {
		return damaged("document", err)
	}
	if len(z.File) > docxMaxFiles {
		return tooBig("document")
	}
	for _, f := range z.File {
		if f.Name != "word/document.xml" {
			continue
		}
		body, err := f.Open()
		if err != nil {
			return damaged("document", err)
		}
		defer body.Close()
		packed := int64(min(f.CompressedSize64, uint64(max(size, 0))))
		in := &capped{ctx: ctx, r: body, left: min(docxMax, 1<<20+packed*docxMaxRatio), kind: "document"}
		return (&word{in: in, d: xml.NewDecoder(in), yield: yield}).read()
	}
	return damaged("document", errors.New("no word/document.xml"))
}

// capped reads no more than it may, and no longer.
type capped struct {
	ctx  context.Context
	r    io.Reader
	left int64
	step int64 // where not 0: what may be read before it is set again
	kind string
}

func (c *capped) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, ended{err}
	}
	if c.left <= 0 || c.step < 0 {
		return 0, tooBig(c.kind)
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if c.step > 0 {
		if c.step -= int64(n); c.step == 0 {
			c.step = -1
		}
	}
	return n, err
}

// word reads the body of a document.
type word struct {
	in    *capped
	d     *xml.Decoder
	depth int
	yield func(string) bool

	line   strings.Builder
	prefix string // of a heading or a list
	cells  int    // depth of table cells: their paragraphs share a line
	hidden bool   // the run is
	inText bool
}

// read goes through the document. It knows an element by its local name; other names of the same kind do no harm.
func (w *word) read() error {
	for {
		token, err := w.next()
		if err == io.EOF {
			w.flush()
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if skipped[t.Name.Local] {
				if err := w.skip(); err != nil {
					return err
				}
				continue
			}
			w.start(t)
		case xml.EndElement:
			if !w.end(t.Name.Local) {
				return nil
			}
		case xml.CharData:
			if w.inText && !w.hidden && w.line.Len() < docxMaxLine {
				w.line.Write(t)
			}
		}
	}
}

// next gives the next token. One that is too long, or nested too deep, would need more memory than its text is worth.
func (w *word) next() (xml.Token, error) {
	w.in.step = docxMaxToken
	token, err := w.d.Token()
	switch token.(type) {
	case xml.StartElement:
		w.depth++
	case xml.EndElement:
		w.depth--
	}
	switch {
	case err == io.EOF:
		return nil, err
	case err != nil && endOf(err) != nil:
		return nil, endOf(err)
	case err != nil:
		return nil, damaged("document", err)
	case w.depth > docxMaxDepth:
		return nil, tooBig("document")
	}
	return token, nil
}

// skipped are elements that hold nothing to read, or what is there a second time.
var skipped = map[string]bool{"Fallback": true, "del": true, "moveFrom": true, "instrText": true, "pict": true, "object": true, "rt": true}

func (w *word) skip() error {
	for outside := w.depth - 1; w.depth > outside; {
		if _, err := w.next(); err == io.EOF {
			return damaged("document", io.ErrUnexpectedEOF)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (w *word) start(t xml.StartElement) {
	switch t.Name.Local {
	case "t":
		w.inText = true
	case "tab":
		w.add("\t")
	case "br", "cr":
		w.add("\n")
	case "noBreakHyphen":
		w.add("-")
	case "r":
		w.hidden = false
	case "vanish":
		w.hidden = value(t) != "0" && value(t) != "false"
	case "pStyle":
		w.style(value(t))
	case "numPr":
		if w.prefix == "" {
			w.prefix = "- "
		}
	case "tc":
		if w.cells > 0 || w.line.Len() > 0 {
			w.add(" | ")
		}
		w.cells++
	}
}

// style gives the prefix of a heading. Style names are the same in all languages of Word only for Heading1 to Heading9.
func (w *word) style(name string) {
	if level, ok := strings.CutPrefix(strings.ToLower(name), "heading"); ok && len(level) == 1 && level[0] >= '1' && level[0] <= '9' {
		w.prefix = strings.Repeat("#", min(int(level[0]-'0'), 6)) + " "
	} else if strings.EqualFold(name, "title") {
		w.prefix = "# "
	}
}

func value(t xml.StartElement) string {
	for _, a := range t.Attr {
		if a.Name.Local == "val" {
			return a.Value
		}
	}
	return ""
}

func (w *word) add(s string) {
	if !w.hidden && w.line.Len() < docxMaxLine {
		w.line.WriteString(s)
	}
}

// end reports whether the reading goes on.
func (w *word) end(name string) bool {
	switch name {
	case "t":
		w.inText = false
	case "r":
		w.hidden = false
	case "tc":
		w.cells = max(w.cells-1, 0)
	case "p":
		if w.cells == 0 {
			return w.flush()
		}
		w.prefix = ""
		w.add(" ")
	case "tr":
		if w.cells == 0 {
			return w.flush()
		}
	}
	return true
}

func (w *word) flush() bool {
	text := clean(strings.TrimRight(w.line.String(), " \t\n"))
	prefix := w.prefix
	w.line.Reset()
	w.prefix = ""
	if strings.TrimSpace(text) == "" {
		return true
	}
	return w.yield(prefix + text + "\n")
}
