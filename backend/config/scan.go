package config

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// errPlace: where a value begins or ends is not clear enough to edit the text there.
var errPlace = errors.New("no clear place in the text")

// scanner finds where the values of a parsed text begin and end, as byte offsets. The parser tells only where a value
// begins; ends are found from the text. What it is not sure of it refuses.
type scanner struct {
	text  string
	lines []int // offset at which each line begins
}

func newScanner(text string) *scanner {
	s := &scanner{text: text, lines: []int{0}}
	for i := 0; i < len(text); {
		if n := breakAt(text, i); n > 0 {
			i += n
			s.lines = append(s.lines, i)
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		i += n
	}
	return s
}

// breakAt gives the length of the line break at i, 0 where there is none. The parser also counts the rare ones.
func breakAt(text string, i int) int {
	switch {
	case text[i] == '\n':
		return 1
	case text[i] == '\r':
		if i+1 < len(text) && text[i+1] == '\n' {
			return 2
		}
		return 1
	}
	for _, b := range []string{"\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(text[i:], b) {
			return len(b)
		}
	}
	return 0
}

// start gives the offset at which the parser says a node begins: at its anchor or tag where it has one.
func (s *scanner) start(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(s.lines) {
		return 0, errPlace
	}
	off := s.lines[n.Line-1]
	for range n.Column - 1 {
		if off >= len(s.text) {
			return 0, errPlace
		}
		_, w := utf8.DecodeRuneInString(s.text[off:])
		off += w
	}
	return off, nil
}

// content gives where a scalar or flow value begins behind its anchor and tag.
func (s *scanner) content(n *yaml.Node) (int, error) {
	off, err := s.start(n)
	if err != nil {
		return 0, err
	}
	for off < len(s.text) && (s.text[off] == '&' || s.text[off] == '!') {
		if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
			return 0, errPlace
		}
		for off < len(s.text) && !isBlank(s.text[off]) {
			off++
		}
		for off < len(s.text) && (s.text[off] == ' ' || s.text[off] == '\t') {
			off++
		}
	}
	return off, nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// empty reports a value that is not written at all ("key:").
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.ShortTag() == "!!null" && n.Anchor == "" &&
		n.Style&(yaml.TaggedStyle|yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
}

// end gives the offset behind a node. For a block scalar that is the beginning of the next line.
func (s *scanner) end(n *yaml.Node) (int, error) {
	switch n.Kind {
	case yaml.AliasNode:
		off, err := s.start(n)
		if err != nil || off >= len(s.text) || s.text[off] != '*' {
			return 0, errPlace
		}
		for off < len(s.text) && !isBlank(s.text[off]) && !strings.ContainsRune(",[]{}", rune(s.text[off])) {
			off++
		}
		return off, nil
	case yaml.ScalarNode:
		return s.scalarEnd(n)
	case yaml.MappingNode, yaml.SequenceNode:
		if n.Style&yaml.FlowStyle != 0 {
			return s.flowEnd(n)
		}
		if len(n.Content) == 0 {
			return 0, errPlace
		}
		last := n.Content[len(n.Content)-1]
		if n.Kind == yaml.MappingNode && empty(last) {
			_, colon, err := s.key(n.Content[len(n.Content)-2])
			return colon, err
		}
		if empty(last) {
			return 0, errPlace
		}
		return s.end(last)
	}
	return 0, errPlace
}

// key gives where a key begins and the offset behind its colon.
func (s *scanner) key(n *yaml.Node) (start, colon int, err error) {
	if n.Kind != yaml.ScalarNode {
		return 0, 0, errPlace
	}
	if start, err = s.start(n); err != nil {
		return 0, 0, err
	}
	off, err := s.end(n)
	if err != nil {
		return 0, 0, err
	}
	for off < len(s.text) && (s.text[off] == ' ' || s.text[off] == '\t') {
		off++
	}
	if off >= len(s.text) || s.text[off] != ':' {
		return 0, 0, errPlace
	}
	return start, off + 1, nil
}

func (s *scanner) scalarEnd(n *yaml.Node) (int, error) {
	off, err := s.content(n)
	if err != nil {
		return 0, err
	}
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return s.quoted(off, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return s.quoted(off, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return s.blockEnd(off)
	case n.Value == "":
		return 0, errPlace
	}
	if strings.HasPrefix(s.text[off:], n.Value) {
		return off + len(n.Value), nil
	}
	return 0, errPlace // a plain value over several lines
}

func (s *scanner) quoted(off int, q byte) (int, error) {
	if off >= len(s.text) || s.text[off] != q {
		return 0, errPlace
	}
	for i := off + 1; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && q == '"':
			i++
		case s.text[i] == q && q == '\'' && i+1 < len(s.text) && s.text[i+1] == q:
			i++
		case s.text[i] == q:
			return i + 1, nil
		}
	}
	return 0, errPlace
}

// blockEnd gives the beginning of the first line behind a block scalar: the next that is less indented than its text.
func (s *scanner) blockEnd(off int) (int, error) {
	if off >= len(s.text) || s.text[off] != '|' && s.text[off] != '>' {
		return 0, errPlace
	}
	indent, end := -1, s.lineEnd(off)
	for end < len(s.text) {
		next := s.lineEnd(end)
		line := s.text[end:next]
		body := strings.TrimLeft(line, " ")
		if strings.Trim(body, "\r\n\t ") != "" {
			depth := len(line) - len(body)
			if indent < 0 {
				if indent = depth; depth == 0 {
					return 0, errPlace
				}
			}
			if depth < indent {
				return end, nil
			}
		}
		end = next
	}
	return end, nil
}

// flowEnd gives the offset behind a flow value's closing bracket.
func (s *scanner) flowEnd(n *yaml.Node) (int, error) {
	off, err := s.content(n)
	if err != nil || off >= len(s.text) || s.text[off] != '[' && s.text[off] != '{' {
		return 0, errPlace
	}
	depth := 0
	for i := off; i < len(s.text); i++ {
		switch b := s.text[i]; {
		case b == '[' || b == '{':
			depth++
		case b == ']' || b == '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case (b == '"' || b == '\'') && opens(s.text[i-1]):
			j, err := s.quoted(i, b)
			if err != nil {
				return 0, err
			}
			i = j - 1
		case b == '#' && isBlank(s.text[i-1]):
			i = s.lineEnd(i) - 1
		}
	}
	return 0, errPlace
}

// opens: behind such a byte a quote begins a quoted value; inside a plain word it is a letter.
func opens(b byte) bool { return isBlank(b) || strings.IndexByte("[{,:?", b) >= 0 }

// lineStart and lineEnd give where the line of an offset begins and where the next one does.
func (s *scanner) lineStart(off int) int {
	lo := 0
	for _, l := range s.lines {
		if l > off {
			break
		}
		lo = l
	}
	return lo
}

func (s *scanner) lineEnd(off int) int {
	for _, l := range s.lines {
		if l > off {
			return l
		}
	}
	return len(s.text)
}

// first reports whether nothing but spaces stands before off on its line, and how many.
func (s *scanner) first(off int) (indent int, ok bool) {
	before := s.text[s.lineStart(off):off]
	return len(before), strings.Trim(before, " ") == ""
}
