package textkit

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"sentient/backend/errs"
)

// all reads a document to its end.
func all(pages iter.Seq2[string, error]) (string, error) {
	var b strings.Builder
	for page, err := range pages {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(page)
	}
	return b.String(), nil
}

// A report that a browser printed.
func TestPDFOfABrowser(t *testing.T) {
	data, err := os.ReadFile("testdata/report.pdf")
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for page, err := range PDF(t.Context(), bytes.NewReader(data), int64(len(data))) {
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	if len(pages) != 2 {
		t.Fatalf("%d pages: %q", len(pages), pages)
	}
	for _, want := range []string{"Quarterly report\n", "Revenue rose by 12 % to €4.5 million, while costs fell. Zażółć gęślą jaźń.", "Q1 1,200", "Q2 1,450"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("page 1 lacks %q: %q", want, pages[0])
		}
	}
	if want := "Second page: a bold word and a ligature: office, fluffy."; !strings.Contains(pages[1], want) {
		t.Errorf("page 2 lacks %q: %q", want, pages[1])
	}
}

// pdfOf makes a PDF of objects, numbered from 1; the first is its catalogue.
func pdfOf(header string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	var places []int
	for i, o := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, p := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", p)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, at)
	return b.Bytes()
}

// onePage makes a PDF of one page with these instructions.
func onePage(instructions string) []byte {
	return pdfOf("%PDF-1.4\n", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> /XObject << /X1 6 0 R >> >> >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>", streamOf("", instructions),
		streamOf("/Type /XObject /Subtype /Form", "BT /F1 12 Tf 72 500 Td (in a form) Tj ET /X1 Do"))
}

func streamOf(entries, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

func zipped(t testing.TB, content io.Reader) string {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := io.Copy(z, content); err != nil {
		t.Fatal(err)
	}
	z.Close()
	return b.String()
}

func readPDFBytes(t testing.TB, data []byte) (string, error) {
	t.Helper()
	return all(PDF(t.Context(), bytes.NewReader(data), int64(len(data))))
}

func TestPDFText(t *testing.T) {
	for _, c := range []struct{ name, instructions, want string }{
		{"words of one line", "BT /F1 12 Tf 72 700 Td (Hello) Tj ( world) Tj ET", "Hello world"},
		{"lines", "BT /F1 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' ET", "one\ntwo\nthree"},
		{"paragraphs", "BT /F1 12 Tf 72 700 Td (one) Tj 0 -40 Td (two) Tj ET", "one\n\ntwo"},
		{"a gap is a blank", "BT /F1 12 Tf 72 700 Td [(a) -500 (b) 20 (c)] TJ ET", "a bc"},
		{"placed words", "BT /F1 12 Tf 72 700 Td (left) Tj 200 0 Td (right) Tj ET", "left right"},
		{"a form, which holds itself", "BT /F1 12 Tf 72 700 Td (page) Tj ET /X1 Do", "page\n\nin a form"},
		{"no font", "BT 72 700 Td (x) Tj ET", ""},
		{"wrong instructions", "BT /F1 Tf (a) Tj ET [ ( Tj 7 7 7 7 TJ Do", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readPDFBytes(t, onePage(c.instructions))
			if first, _, _ := strings.Cut(got, "\nin a form\n\nin"); err != nil || !strings.HasPrefix(strings.TrimSpace(first), c.want) || c.want == "" && got != "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// What the library refuses without need is read.
func TestPDFForms(t *testing.T) {
	page := onePage("BT /F1 12 Tf 72 700 Td (Hello) Tj ET")
	for name, data := range map[string][]byte{
		"version 2":      bytes.Replace(page, []byte("%PDF-1.4\n"), []byte("%PDF-2.0\n"), 1),
		"CR header":      bytes.Replace(page, []byte("%PDF-1.4\n"), []byte("%PDF-1.4\r"), 1),
		"bytes after it": append(bytes.Clone(page), "\n\n\x00\x00some mailer's footer"...),
	} {
		if got, err := readPDFBytes(t, data); err != nil || strings.TrimSpace(got) != "Hello" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestDamagedPDFs(t *testing.T) {
	good := onePage("BT /F1 12 Tf 72 700 Td (Hello) Tj ET")
	pages := "<< /Type /Catalog /Pages 2 0 R >>"
	flated := func(content io.Reader) string {
		z := zipped(t, content)
		return fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", len(z), z)
	}
	page := "<< /Type /Page /Contents 4 0 R >>"
	kids := "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	for _, c := range []struct {
		name string
		data []byte
		code string // "": it may be read, as what it is
	}{
		{"empty", nil, CodeDamaged},
		{"not one", []byte("hello"), CodeDamaged},
		{"only a header", []byte("%PDF-1.4\n"), CodeDamaged},
		{"half", good[:len(good)/2], CodeDamaged},
		{"no pages", pdfOf("%PDF-1.4\n", "<< >>"), ""},
		{"no catalogue", pdfOf("%PDF-1.4\n"), CodeDamaged},
		{"pages that hold themselves", pdfOf("%PDF-1.4\n", pages, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1 >>"), CodeDamaged},
		{"a page that is its own parent", pdfOf("%PDF-1.4\n", pages, "<< /Type /Pages /Parent 2 0 R /Kids [3 0 R] >>", "<< /Parent 3 0 R /Contents 3 0 R >>"), ""},
		{"a length that is its own", pdfOf("%PDF-1.4\n", pages, kids, page, "<< /Length 4 0 R >>\nstream\nx\nendstream"), ""},
		{"a bomb", pdfOf("%PDF-1.4\n", pages, kids, page, flated(io.LimitReader(zero{}, 40<<20))), CodeTooBig},
		{"a table of a billion objects", bytes.Replace(good, []byte("xref\n0 7\n"), []byte("xref\n999999999 1\n"), 1), CodeDamaged},
		{"a size that is none", pdfOf("%PDF-1.5\n", "<< /Type /XRef /Size 99999999999 /W [1 2 1] /Length 0 >>\nstream\n\nendstream"), CodeDamaged},
		{"a size in other letters", pdfOf("%PDF-1.5\n", "<< /S#69ze%x\n 99999999999 >>"), CodeDamaged},
		{"deep nesting", pdfOf("%PDF-1.4\n", pages, kids, "<< /Contents "+strings.Repeat("[", 100_000)+" >>"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readPDFBytes(t, c.data)
			if c.code != "" && errs.Code(err) != c.code || err != nil && errs.Code(err) == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadingStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := onePage("BT /F1 12 Tf 72 700 Td (Hello) Tj ET")
	if _, err := all(PDF(ctx, bytes.NewReader(data), int64(len(data)))); !errors.Is(err, context.Canceled) {
		t.Errorf("PDF: %v", err)
	}
	doc := docxOf(t, map[string]string{"word/document.xml": paragraphs("Hello")})
	if _, err := all(DOCX(ctx, bytes.NewReader(doc), int64(len(doc)))); !errors.Is(err, context.Canceled) {
		t.Errorf("DOCX: %v", err)
	}
	if _, err := HTML(ctx, strings.NewReader("<p>x"), HTMLOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("HTML: %v", err)
	}
	for range DOCX(t.Context(), bytes.NewReader(doc), int64(len(doc))) {
		break // a reader that has enough
	}
}

// docxOf makes a Word document of files.
func docxOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for name, content := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const docxHead = `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="x"><w:body>`

func paragraphs(list ...string) string {
	var b strings.Builder
	b.WriteString(docxHead)
	for _, p := range list {
		fmt.Fprintf(&b, "<w:p><w:r><w:t>%s</w:t></w:r></w:p>", p)
	}
	return b.String() + "</w:body></w:document>"
}

func TestDOCX(t *testing.T) {
	body := docxHead + `<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Two </w:t></w:r><w:r><w:t>runs</w:t><w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t></w:r></w:p>
<w:p/><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins><w:r><w:t>added</w:t></w:r></w:ins></w:p>
<w:p><mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>once</w:t></w:r></mc:Fallback></mc:AlternateContent><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
<w:p><w:r><w:t>&lt;b&gt; Ж 😀</w:t></w:r></w:p></w:body></w:document>`
	doc := docxOf(t, map[string]string{"word/document.xml": body, "[Content_Types].xml": "<x/>"})
	got, err := all(DOCX(t.Context(), bytes.NewReader(doc), int64(len(doc))))
	want := "## Plan\nTwo runs\ttab\nline\n- item\na | b\nadded\nonce\n<b> Ж 😀\n"
	if strings.ReplaceAll(got, "a  | b", "a | b") != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDamagedDOCX(t *testing.T) {
	good := docxOf(t, map[string]string{"word/document.xml": paragraphs("Hello")})
	deep := docxHead + strings.Repeat("<w:p>", 100_000)
	for _, c := range []struct {
		name, code string
		data       []byte
	}{
		{"empty", CodeDamaged, nil},
		{"not one", CodeDamaged, []byte("PK\x03\x04 not really")},
		{"half", CodeDamaged, good[:len(good)/2]},
		{"another kind of archive", CodeDamaged, docxOf(t, map[string]string{"x": "y"})},
		{"XML that breaks off", CodeDamaged, docxOf(t, map[string]string{"word/document.xml": docxHead + "<w:p><w:r><w:t>Hel"})},
		{"an entity that grows", CodeDamaged, docxOf(t, map[string]string{"word/document.xml": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x><p><t>&b;</t></p></x>`})},
		{"a bomb", CodeTooBig, docxOf(t, map[string]string{"word/document.xml": docxHead + "<w:p><w:r><w:t>" + strings.Repeat("a", 8<<20)})},
		{"many paragraphs", CodeTooBig, docxOf(t, map[string]string{"word/document.xml": docxHead + strings.Repeat("<w:p><w:r><w:t>a</w:t></w:r></w:p>", 200_000)})},
		{"deep", CodeTooBig, docxOf(t, map[string]string{"word/document.xml": deep})},
		{"deep in what is left out", CodeTooBig, docxOf(t, map[string]string{"word/document.xml": docxHead + "<w:pict>" + strings.Repeat("<a>", 100_000)})},
		{"an attribute without end", CodeTooBig, docxOf(t, map[string]string{"word/document.xml": docxHead + `<w:p x="` + strings.Repeat("a", 8<<20)})},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := all(DOCX(t.Context(), bytes.NewReader(c.data), int64(len(c.data))))
			if errs.Code(err) != c.code {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ name, in, contentType, want string }{
		{"empty", "", "", ""},
		{"UTF-8", "Grüße ж 😀", "", "Grüße ж 😀"},
		{"UTF-8 that is called something else", "Grüße", "text/plain; charset=iso-8859-1", "Grüße"},
		{"UTF-8 with a mark", "\xef\xbb\xbfa", "", "a"},
		{"UTF-16", "\xff\xfeG\x00r\x00\xfc\x00", "", "Grü"},
		{"UTF-16, the other way", "\xfe\xff\x00G\x00\xfc", "", "Gü"},
		{"Windows-1252", "Gr\xfc\xdfe \x80", "", "Grüße €"},
		{"as its server says", "\xcf\xf0\xe8\xe2\xe5\xf2", "text/plain; charset=windows-1251", "Привет"},
		{"Shift JIS", "\x93\xfa\x96\x7b", "text/plain; charset=shift_jis", "日本"},
		{"UTF-8 with a broken place", strings.Repeat("ж", 100) + "\xff", "", strings.Repeat("ж", 100) + "\uFFFD"},
	} {
		if got, err := Decode([]byte(c.in), c.contentType); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	for name, in := range map[string]string{"NUL": "a\x00b", "a picture": "\x89PNG\r\n\x1a\n\x00\x00", "controls": strings.Repeat("\x01", 100)} {
		if got, err := Decode([]byte(in), "text/plain"); errs.Code(err) != CodeNotText {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("Grüße ", 100_000)
	latin := strings.ReplaceAll(strings.ReplaceAll(long, "ü", "\xfc"), "ß", "\xdf")
	for name, in := range map[string]string{"UTF-8": long, "a mark": "\xef\xbb\xbf" + long, "Latin": latin} {
		r, err := Reader(iotestOneAtATime{strings.NewReader(in)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != long || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := Reader(strings.NewReader("\x00\x00")); errs.Code(err) != CodeNotText {
		t.Error(err)
	}
}

// iotestOneAtATime gives odd pieces, so that characters are cut.
type iotestOneAtATime struct{ r io.Reader }

func (o iotestOneAtATime) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 7)]) }

func FuzzDOCX(f *testing.F) {
	f.Add([]byte(paragraphs("Hello", "world")))
	f.Add([]byte(docxHead + `<w:tbl><w:tr><w:tc><w:p>`))
	f.Fuzz(func(t *testing.T, xml []byte) {
		for _, doc := range [][]byte{docxOf(t, map[string]string{"word/document.xml": string(xml)}), xml} {
			got, err := all(DOCX(t.Context(), bytes.NewReader(doc), int64(len(doc))))
			if err != nil && errs.Code(err) == "" || !utf8.ValidString(got) {
				t.Fatalf("%q, %v", got, err)
			}
		}
	})
}

func FuzzPDF(f *testing.F) {
	f.Add(onePage("BT /F1 12 Tf 72 700 Td [(a) -500 (b)] TJ ET /X1 Do"))
	if data, err := os.ReadFile("testdata/report.pdf"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readPDFBytes(t, data)
		if err != nil && errs.Code(err) == "" || !utf8.ValidString(got) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}
