package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ThinkFilter tells a model's thinking from its answer where a server leaves the tags in the text, while the text streams
// in pieces of any size.
//
//   - <think>, <thinking>, <thought> and [THINK] open, their counterparts close, however they are cut.
//   - A tag inside inline code or a code fence is text.
//   - An opening tag at the start of the answer or of a line streams as thinking at once; elsewhere in a line it is held
//     until its closing tag shows that it was one, and is text otherwise. Nothing is lost either way.
//   - A first closing tag without an opening one (chat templates that open it in the prompt) makes everything before it
//     thinking: what was already given as text is taken back by a Delta with Thought set.
//   - White space at the beginning of the answer, and around a thought, is dropped.
//
// The zero ThinkFilter is ready.
type ThinkFilter struct {
	mode    thinkMode
	closing string // the tag that ends the thought
	pending string // may be the beginning of a tag, or of a run of backticks
	held    strings.Builder
	code    codeState
	opened  bool // an opening tag was seen, or thinking came by another way
	midLine bool // something but white space stands in this line
	said    bool // the answer has begun: white space counts
	thought bool // the thought has begun
	out     []Delta
}

type thinkMode int

const (
	inText thinkMode = iota
	inThought
	inHeld // after an opening tag in the middle of a line
)

// maxRun is how many backticks or tildes in a row are waited for.
const maxRun = 4 << 10

// maxHeld is how much is held before an opening tag in the middle of a line counts as text, in bytes.
const maxHeld = 256 << 10

var thinkTags = []struct{ open, close string }{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"[THINK]", "[/THINK]"},
}

// Write takes the next piece of content and gives what is sure, in order.
func (f *ThinkFilter) Write(s string) []Delta {
	f.feed(s, false)
	return f.take()
}

// End gives what was still held. The filter must not be used after it.
func (f *ThinkFilter) End() []Delta {
	f.feed("", true)
	if f.mode == inHeld {
		f.text(f.held.String())
	}
	return f.take()
}

func (f *ThinkFilter) take() []Delta {
	out := f.out
	f.out = nil
	return out
}

func (f *ThinkFilter) feed(s string, last bool) {
	s = f.pending + s
	f.pending = ""
	for s != "" {
		var n int
		if f.mode == inText {
			n = f.textStep(s, last)
		} else {
			n = f.thoughtStep(s, last)
		}
		if n == 0 {
			f.pending = s
			return
		}
		s = s[n:]
	}
}

// thoughtStep takes some of s inside a thought; 0 asks for more.
func (f *ThinkFilter) thoughtStep(s string, last bool) int {
	if i := indexFold(s, f.closing); i >= 0 {
		f.inner(s[:i])
		if f.mode == inHeld {
			held := f.held.String()
			f.held.Reset()
			f.thinking(strings.TrimPrefix(held, openerOf(held)))
		}
		f.mode, f.thought = inText, false
		f.code = codeState{}
		return i + len(f.closing)
	}
	keep := 0
	if !last {
		keep = tailOf(s, f.closing)
	}
	if len(s) == keep {
		return 0
	}
	f.inner(s[:len(s)-keep])
	if f.mode == inHeld && f.held.Len() > maxHeld {
		f.text(f.held.String())
		f.held.Reset()
		f.mode = inText
	}
	return len(s) - keep
}

func (f *ThinkFilter) inner(s string) {
	if f.mode == inHeld {
		f.held.WriteString(s)
		return
	}
	f.thinking(s)
}

// textStep takes some of s outside a thought; 0 asks for more.
func (f *ThinkFilter) textStep(s string, last bool) int {
	i := strings.IndexAny(s, "`~<[\n")
	if i != 0 {
		if i < 0 {
			i = len(s)
		}
		f.line(s[:i])
		return i
	}
	switch c := s[0]; c {
	case '\n':
		f.code.newline(f.midLine)
		f.midLine = false
		f.text("\n")
		return 1
	case '`', '~':
		n := 1
		for n < len(s) && s[n] == c {
			n++
		}
		if n == len(s) && !last && n < maxRun {
			return 0
		}
		f.code.run(c, n, !f.midLine, s[n:])
		f.line(s[:n])
		return n
	}
	if f.code.inside() {
		f.line(s[:1])
		return 1
	}
	return f.tagStep(s, last)
}

// tagStep looks for a tag at the beginning of s, which begins with "<" or "[".
func (f *ThinkFilter) tagStep(s string, last bool) int {
	for _, t := range thinkTags {
		switch {
		case hasPrefixFold(s, t.open):
			f.opened, f.closing = true, t.close
			f.mode = inThought
			if f.midLine {
				f.mode = inHeld
				f.held.WriteString(s[:len(t.open)])
			}
			return len(t.open)
		case !f.opened && hasPrefixFold(s, t.close):
			f.opened = true
			f.out = append(f.out, Delta{Thought: true})
			f.said, f.midLine = false, false
			f.code = codeState{}
			return len(t.close)
		case !last && (hasPrefixFold(t.open, s) || !f.opened && hasPrefixFold(t.close, s)):
			return 0
		}
	}
	f.line(s[:1])
	return 1
}

// line is text without a line end.
func (f *ThinkFilter) line(s string) {
	if strings.TrimSpace(s) != "" {
		f.midLine = true
	}
	f.text(s)
}

func (f *ThinkFilter) text(s string) {
	if !f.said {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		f.said = s != ""
	}
	if s == "" {
		return
	}
	if n := len(f.out); n > 0 && f.out[n-1].Text != "" {
		f.out[n-1].Text += s
		return
	}
	f.out = append(f.out, Delta{Text: s})
}

func (f *ThinkFilter) thinking(s string) {
	if !f.thought {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		f.thought = s != ""
	}
	if s == "" {
		return
	}
	if n := len(f.out); n > 0 && f.out[n-1].Thinking != "" {
		f.out[n-1].Thinking += s
		return
	}
	f.out = append(f.out, Delta{Thinking: s})
}

// codeState knows whether the text stands in inline code or a code fence (CommonMark, near enough).
type codeState struct {
	fence    byte // '`' or '~' inside a fence
	fenceLen int
	inline   int // length of the run of backticks that opened inline code
}

func (c *codeState) inside() bool { return c.fence != 0 || c.inline != 0 }

// run takes a run of backticks or tildes. after is what follows it, empty at the very end.
func (c *codeState) run(char byte, n int, lineStart bool, after string) {
	blankAfter := after == "" || unicode.IsSpace(rune(after[0]))
	switch {
	case c.fence != 0:
		if lineStart && char == c.fence && n >= c.fenceLen && blankAfter {
			*c = codeState{}
		}
	case lineStart && n >= 3 && c.inline == 0:
		c.fence, c.fenceLen = char, n
	case char == '`' && c.inline == 0:
		c.inline = n
	case char == '`' && c.inline == n:
		c.inline = 0
	}
}

// newline ends inline code at a blank line: a lone backtick in a sentence must not hide the rest of the answer.
func (c *codeState) newline(lineHadText bool) {
	if !lineHadText {
		c.inline = 0
	}
}

func openerOf(s string) string {
	for _, t := range thinkTags {
		if hasPrefixFold(s, t.open) {
			return s[:len(t.open)]
		}
	}
	return ""
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// indexFold finds an ASCII tag without minding case.
func indexFold(s, tag string) int {
	for i := 0; i+len(tag) <= len(s); i++ {
		if (s[i] == tag[0]) && strings.EqualFold(s[i:i+len(tag)], tag) {
			return i
		}
	}
	return -1
}

// tailOf gives how many bytes at the end of s may be the beginning of tag.
func tailOf(s, tag string) int {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.EqualFold(s[len(s)-n:], tag[:n]) {
			return n
		}
	}
	return 0
}

// whole cuts s before a UTF-8 sequence that is not complete yet, so that no piece ever ends inside a letter.
func whole(s string) (head, tail string) {
	for n := 1; n <= min(utf8.UTFMax-1, len(s)); n++ {
		if b := s[len(s)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n], s[len(s)-n:]
			}
			return s, ""
		}
	}
	return s, ""
}
