package preview

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// blank are characters that are letters or symbols by their class and show nothing.
var blank = map[rune]bool{'\u034f': true, '\u115f': true, '\u1160': true, '\u17b4': true, '\u17b5': true, '\u2800': true, '\u3164': true, '\uffa0': true}

// Visible makes a text safe to show on one or more lines: no character of it is invisible, and none changes the order in
// which the others stand.
//
// Nothing is dropped in silence. A control, direction, zero-width, filler or private character, and a line separator
// other than the plain line break, is shown as its code point in ⟨⟩, in its own place. So a person sees that
// "arjun⟨U+200B⟩@example.com" is another address than arjun@example.com, and a text that would be drawn backwards is
// drawn as it runs. A zero-width joiner inside an emoji, and the mark that asks for an emoji's coloured form, stay.
func Visible(s string) string { return visible(s, true) }

func visible(s string, lines bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !slices.ContainsFunc([]rune(s), hidden) {
		return s
	}
	var b strings.Builder
	runes := []rune(strings.ReplaceAll(s, "\r\n", "\n"))
	for i, r := range runes {
		switch {
		case !hidden(r), lines && (r == '\n' || r == '\t'), emojiJoin(runes, i):
			b.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector) || blank[r]
}

func emojiJoin(runes []rune, i int) bool {
	symbol := func(at int) bool {
		return at >= 0 && at < len(runes) && (unicode.In(runes[at], unicode.So, unicode.Sk) || runes[at] == '\ufe0f')
	}
	return runes[i] == '\u200d' && symbol(i-1) && symbol(i+1) || runes[i] == '\ufe0f' && i > 0 && unicode.In(runes[i-1], unicode.So, unicode.Sm, unicode.Po)
}

// oneLine makes a value fit a line: runs of spaces are one, so that no recipient is pushed out of sight.
func oneLine(s string) string { return strings.Join(strings.Fields(visible(s, false)), " ") }

// strange names the characters of an address that are not plain letters. Such an address can look exactly like another
// one (a Cyrillic а in arjun@…), which no cleaning can show: only saying so can. A person's name beside it may have any
// letters.
func strange(value string) string {
	const most = 8
	var codes []string
	for _, token := range strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;<>", r) }) {
		if !strings.Contains(norm.NFKC.String(token), "@") {
			continue
		}
		for _, r := range token {
			if code := fmt.Sprintf("U+%04X", r); r > unicode.MaxASCII && r != '⟨' && r != '⟩' && r != '…' && !slices.Contains(codes, code) && len(codes) < most {
				codes = append(codes, code)
			}
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return " (not plain letters: " + strings.Join(codes, ", ") + ")"
}
