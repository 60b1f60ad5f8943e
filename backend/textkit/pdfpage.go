package textkit

import (
	"context"
	"io"
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

const (
	pdfMaxText  = 4 << 20 // bytes of one page's text
	pdfMaxForms = 6       // forms inside one another
)

// pdfPage follows the instructions of one page as far as they place text.
type pdfPage struct {
	ctx   context.Context
	text  strings.Builder
	fonts map[string]*pdfFont // of the resources in use

	font    *pdfFont
	size    float64
	scale   float64 // of the text's width
	charGap float64
	wordGap float64
	leading float64
	x, y    float64 // where the line begins
	matrix  [6]float64
	along   float64 // how far the text of this line has come, in its own units

	endX, endY float64 // where the last text ended on the page
	height     float64 // of that text
	begun      bool
}

// show follows the instructions of a page or a form. What is wrong with them panics.
func (p *pdfPage) show(contents, resources pdf.Value, depth int) {
	if contents.IsNull() || depth > pdfMaxForms {
		return
	}
	p.measure(contents)
	before := p.fonts
	p.fonts = map[string]*pdfFont{}
	defer func() { p.fonts = before }()
	p.scale = 1
	pdf.Interpret(contents, func(stack *pdf.Stack, op string) {
		if err := p.ctx.Err(); err != nil {
			panic(ended{err})
		}
		args := make([]pdf.Value, min(stack.Len(), 16))
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		for stack.Len() > 0 {
			stack.Pop()
		}
		p.do(op, args, resources, depth)
	})
}

// measure refuses instructions that unpack to more than anybody would draw.
func (p *pdfPage) measure(contents pdf.Value) {
	parts := []pdf.Value{contents}
	if contents.Kind() == pdf.Array {
		parts = nil
		for i := range min(contents.Len(), 10_000) {
			parts = append(parts, contents.Index(i))
		}
	}
	left := int64(pdfMaxStream)
	for _, v := range parts {
		if v.Kind() != pdf.Stream {
			continue
		}
		body := v.Reader()
		n, err := io.Copy(io.Discard, &capped{ctx: p.ctx, r: body, left: left, kind: "PDF"})
		_ = body.Close()
		if left -= n; err != nil && endOf(err) != nil {
			panic(err)
		}
	}
}

func number(args []pdf.Value, i int) float64 {
	if i >= len(args) {
		return 0
	}
	return args[i].Float64()
}

func (p *pdfPage) do(op string, args []pdf.Value, resources pdf.Value, depth int) {
	switch op {
	case "BT":
		p.matrix, p.x, p.y, p.along = [6]float64{1, 0, 0, 1, 0, 0}, 0, 0, 0
	case "Tf":
		if len(args) == 2 {
			p.font, p.size = p.fontOf(resources, args[0].Name()), args[1].Float64()
		}
	case "Tc":
		p.charGap = number(args, 0)
	case "Tw":
		p.wordGap = number(args, 0)
	case "Tz":
		p.scale = number(args, 0) / 100
	case "TL":
		p.leading = number(args, 0)
	case "Td":
		p.move(number(args, 0), number(args, 1))
	case "TD":
		p.leading = -number(args, 1)
		p.move(number(args, 0), number(args, 1))
	case "Tm":
		for i := range p.matrix {
			p.matrix[i] = number(args, i)
		}
		p.x, p.y, p.along = 0, 0, 0
	case "T*":
		p.move(0, -p.leading)
	case "Tj":
		p.draw(raw(args, 0))
	case "'":
		p.move(0, -p.leading)
		p.draw(raw(args, 0))
	case "\"":
		p.wordGap, p.charGap = number(args, 0), number(args, 1)
		p.move(0, -p.leading)
		p.draw(raw(args, 2))
	case "TJ":
		if len(args) > 0 {
			p.drawSpaced(args[0])
		}
	case "Do":
		p.form(args, resources, depth)
	}
}

func raw(args []pdf.Value, i int) string {
	if i >= len(args) {
		return ""
	}
	return args[i].RawString()
}

func (p *pdfPage) move(dx, dy float64) {
	p.x, p.y, p.along = p.x+dx, p.y+dy, 0
}

// at is where the text is on the page.
func (p *pdfPage) at() (x, y float64) {
	tx, m := p.x+p.along, p.matrix
	return tx*m[0] + p.y*m[2] + m[4], tx*m[1] + p.y*m[3] + m[5]
}

func (p *pdfPage) drawSpaced(list pdf.Value) {
	for i := range list.Len() {
		v := list.Index(i)
		if v.Kind() == pdf.String {
			p.draw(v.RawString())
		} else {
			p.along -= v.Float64() / 1000 * p.size * p.scale
		}
	}
}

// draw adds text, with a blank or a line's end before it where it stands apart from the text before.
func (p *pdfPage) draw(codes string) {
	if p.font == nil || codes == "" || p.text.Len() > pdfMaxText {
		return
	}
	text, width, glyphs := p.font.decode(codes)
	x, y := p.at()
	height := math.Abs(p.size) * max(math.Hypot(p.matrix[2], p.matrix[3]), 1e-6)
	p.separate(x, y, height, text)
	p.text.WriteString(text)
	spaces := float64(strings.Count(text, " "))
	p.along += (width/1000*p.size + float64(glyphs)*p.charGap + spaces*p.wordGap) * p.scale
	p.endX, p.endY = p.at()
	p.height, p.begun = height, true
}

// What counts as apart, in heights of the text.
const (
	newLine      = 0.5
	newParagraph = 1.8
	blankGap     = 0.17
)

func (p *pdfPage) separate(x, y, height float64, text string) {
	if !p.begun || p.text.Len() == 0 {
		return
	}
	high := max(height, p.height, 0.1)
	before := p.text.String()
	last := before[len(before)-1]
	dx, dy := x-p.endX, p.endY-y
	switch {
	case math.Abs(dy) > high*newParagraph:
		p.text.WriteString("\n\n")
	case math.Abs(dy) > high*newLine:
		p.text.WriteByte('\n')
	case dx < -high*4: // back on the same height: another column
		p.text.WriteByte('\n')
	case dx > high*blankGap && last != ' ' && last != '\n' && !strings.HasPrefix(text, " "):
		p.text.WriteByte(' ')
	}
}

// form shows a form that a page refers to: some programs put all of a page into one.
func (p *pdfPage) form(args []pdf.Value, resources pdf.Value, depth int) {
	if len(args) == 0 {
		return
	}
	x := resources.Key("XObject").Key(args[0].Name())
	if x.Kind() != pdf.Stream || x.Key("Subtype").Name() != "Form" {
		return
	}
	own := x.Key("Resources")
	if own.IsNull() {
		own = resources
	}
	font, size := p.font, p.size
	p.show(x, own, depth+1)
	p.font, p.size = font, size
}

func (p *pdfPage) fontOf(resources pdf.Value, name string) *pdfFont {
	if f, ok := p.fonts[name]; ok {
		return f
	}
	f := p.newFont(resources.Key("Font").Key(name))
	p.fonts[name] = f
	return f
}
