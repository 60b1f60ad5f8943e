package look

import (
	"html"
	"mime"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookAlikes pairs letters with the plain ones that they are drawn like.
var lookAlikes = func() map[rune]rune {
	const drawn = "аᴀɑαеёєοоօрρсϲуυхχіїιıјѕһԁԛԝмтвнкгпѵӏɡνκτβ"
	const plain = "aaaaeeeoooppccyuxxiiiijshdqwmtbhkrnvlgvktb"
	out := map[rune]rune{}
	for i, r := range []rune(drawn) {
		out[r] = rune(plain[i])
	}
	return out
}()

// same gives the form in which two spellings of an address are compared: compatibility forms (fullwidth letters) and case
// are one. Nothing else is: an invisible or look-alike character makes another address.
func same(s string) string {
	return strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD")))
}

// fold gives how a text reads to a person's eye: same, without invisible characters, look-alikes as the plain letter, any
// script's digits as 0 to 9, one kind of space and apostrophe. It is for finding things, never for letting one pass.
func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if plain, ok := lookAlikes[r]; ok {
			return plain
		}
		switch {
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector), r == '\u034f':
			return -1
		case r == '\u3002':
			return '.'
		case r == '\u2019' || r == '\u2018' || r == '\u02bc':
			return '\''
		case r != '\n' && unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Nd, r):
			return digit(r)
		}
		return r
	}, same(s))
}

// digit gives a decimal digit of any script as 0 to 9: Unicode's stand in runs of ten.
func digit(r rune) rune {
	if r < unicode.MaxASCII {
		return r
	}
	return '0' + (r-zeroBefore(r))%10
}

// zeroBefore finds the start of a run of digits, which holds several sets for the mathematical ones.
func zeroBefore(r rune) rune {
	for unicode.Is(unicode.Nd, r-1) {
		r--
	}
	return r
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// decoded gives the other texts that a value can stand for: with its percent signs, its HTML references or its mail
// encoding read. It is empty for plain text.
func decoded(s string) []string {
	var out []string
	if strings.Contains(s, "%") {
		if text, err := url.PathUnescape(s); err == nil && text != s {
			out = append(out, text)
			if again, err := url.PathUnescape(text); err == nil && again != text {
				out = append(out, again)
			}
		}
	}
	if strings.Contains(s, "&") {
		if text := html.UnescapeString(s); text != s {
			out = append(out, text)
		}
	}
	if strings.Contains(s, "=?") {
		if text, err := new(mime.WordDecoder).DecodeHeader(s); err == nil && text != s {
			out = append(out, text)
		}
	}
	if strings.Contains(s, `\u`) || strings.Contains(s, `\x`) {
		if text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`); err == nil && text != s {
			out = append(out, text)
		}
	}
	return out
}

// squash keeps a text's letters and digits alone, with spelt-out at and dot signs left out, so that an address is found
// however it is written ("x at evil dot example").
func squash(s string) string {
	var b strings.Builder
	word := strings.FieldsFunc(fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range word {
		if w != "at" && w != "dot" {
			b.WriteString(w)
		}
	}
	return b.String()
}
