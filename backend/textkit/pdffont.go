package textkit

import (
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
)

// Caps of a font.
const (
	fontMaxWidths = 70_000
	fontMaxCodes  = 200_000 // that a table of characters may name
)

// pdfFont turns codes into text and tells how wide they are.
type pdfFont struct {
	composite  bool // of many characters
	codeLength int  // bytes of a code
	table      map[string]string
	encoder    pdf.TextEncoding // where there is no table
	widths     map[int]float64  // thousandths of the size
	width      float64          // of the others
}

// newFont reads a font. One that cannot be read gives its codes as they are.
func (p *pdfPage) newFont(v pdf.Value) *pdfFont {
	f := &pdfFont{codeLength: 1, widths: map[int]float64{}, width: 500}
	if v.Key("Subtype").Name() == "Type0" {
		f.composite, f.codeLength = true, 2
		f.cidWidths(v.Key("DescendantFonts").Index(0))
	} else {
		first, list := int(v.Key("FirstChar").Int64()), v.Key("Widths")
		for i := range min(list.Len(), fontMaxWidths) {
			f.widths[first+i] = list.Index(i).Float64()
		}
	}
	if table := v.Key("ToUnicode"); table.Kind() == pdf.Stream {
		p.measure(table)
		f.readTable(table, v)
	}
	if len(f.table) == 0 {
		f.encoder = f.encoderOf(v)
	}
	return f
}

// encoderOf gives the reading of a font without a table of characters; nil where its codes say nothing.
func (f *pdfFont) encoderOf(v pdf.Value) pdf.TextEncoding {
	name := v.Key("Encoding").Name()
	if f.composite {
		if strings.Contains(name, "UCS2") || strings.Contains(name, "UTF16") {
			return wideEncoding{}
		}
		return nil
	}
	if v.Key("ToUnicode").Kind() == pdf.Stream && (name == "" || name == "Identity-H") {
		return nil // the library would read the table itself, and count to whatever number it names
	}
	return (&pdf.Font{V: v}).Encoder()
}

type wideEncoding struct{}

func (wideEncoding) Decode(codes string) string { return wide(codes) }

// cidWidths reads the widths of a font with many characters: "c [w w w]" and "from to w" in turn.
func (f *pdfFont) cidWidths(v pdf.Value) {
	f.width = 1000
	if w := v.Key("DW"); !w.IsNull() {
		f.width = w.Float64()
	}
	list := v.Key("W")
	for i := 0; i+1 < list.Len() && len(f.widths) < fontMaxWidths; {
		first := int(list.Index(i).Int64())
		if inner := list.Index(i + 1); inner.Kind() == pdf.Array {
			for j := range min(inner.Len(), fontMaxWidths) {
				f.widths[first+j] = inner.Index(j).Float64()
			}
			i += 2
			continue
		}
		last := min(int(list.Index(i+1).Int64()), first+0xffff)
		for code := first; code <= last && len(f.widths) < fontMaxWidths; code++ {
			f.widths[code] = list.Index(i + 2).Float64()
		}
		i += 3
	}
}

// readTable reads a table of characters. The tables are small programs, which begin with opening a dictionary that is not
// there; any dictionary does.
func (f *pdfFont) readTable(v, dictionary pdf.Value) {
	f.table = map[string]string{}
	defer func() { _ = recover() }() // what was read so far counts; a file that can't be read any more fails at its next use
	pdf.Interpret(v, func(stack *pdf.Stack, op string) {
		switch op {
		case "endcodespacerange":
			if f.composite && stack.Len() >= 2 {
				f.codeLength = max(1, min(len(stack.Pop().RawString()), 4))
			}
		case "endbfchar":
			for stack.Len() >= 2 {
				to, from := stack.Pop().RawString(), stack.Pop().RawString()
				f.name(from, wide(to))
			}
		case "endbfrange":
			for stack.Len() >= 3 {
				to, last, first := stack.Pop(), stack.Pop().RawString(), stack.Pop().RawString()
				f.nameRange(first, last, to)
			}
		}
		if op == "findresource" {
			stack.Push(dictionary)
		}
		if strings.HasPrefix(op, "begin") || strings.HasPrefix(op, "end") {
			for stack.Len() > 0 {
				stack.Pop()
			}
		}
	})
}

func (f *pdfFont) name(code, text string) {
	if !f.composite && len(code) > 1 {
		code = code[len(code)-1:] // some tables name the codes of a simple font with two bytes
	}
	if code != "" && len(f.table) < fontMaxCodes {
		f.table[code] = text
	}
}

func (f *pdfFont) nameRange(first, last string, to pdf.Value) {
	if len(first) == 0 || len(first) != len(last) || len(first) > 4 {
		return
	}
	low, high := numberOf(first), numberOf(last)
	for i := 0; low+i <= high && len(f.table) < fontMaxCodes; i++ {
		code := codeOf(low+i, len(first))
		if to.Kind() == pdf.Array {
			if i >= to.Len() {
				return
			}
			f.name(code, wide(to.Index(i).RawString()))
			continue
		}
		text := []rune(wide(to.RawString()))
		if len(text) == 0 {
			return
		}
		text[len(text)-1] += rune(i)
		f.name(code, string(text))
	}
}

func numberOf(s string) int {
	n := 0
	for i := range len(s) {
		n = n<<8 | int(s[i])
	}
	return n
}

func codeOf(n, length int) string {
	b := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		b[i] = byte(n)
		n >>= 8
	}
	return string(b)
}

// wide reads UTF-16, which a table's texts are in.
func wide(s string) string {
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}

// decode gives the text of codes, how wide they are together, and how many.
func (f *pdfFont) decode(codes string) (text string, width float64, glyphs int) {
	var b strings.Builder
	for i := 0; i < len(codes); i += f.codeLength {
		code := codes[i:min(i+f.codeLength, len(codes))]
		w, ok := f.widths[numberOf(code)]
		if !ok {
			w = f.width
		}
		width += w
		glyphs++
		b.WriteString(f.table[code])
	}
	if f.encoder != nil {
		return f.encoder.Decode(codes), width, glyphs
	}
	return b.String(), width, glyphs
}
