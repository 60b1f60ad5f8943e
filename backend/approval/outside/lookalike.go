package outside

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fakeMarker stands where something imitated a mark (§10).
const fakeMarker = "[fake marker removed]"

// Bounds of one look-alike, in characters: how much may stand between two of its letters, how long its letters may go on,
// and how far its closing bracket may be.
const (
	lookGap   = 64
	lookReach = 1200
	lookClose = 400
)

// phrases are what a marker says first, letters only.
var phrases = [...]string{"outsidecontent", "endofoutsidecontent"}

// twins give the plain letter of characters that look like one and do not become it by normalization. Only letters that a
// marker, an address or a name can be imitated with.
var twins = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'ё': 'e', 'һ': 'h', 'і': 'i', 'ї': 'i', 'ӏ': 'l', 'ј': 'j', 'к': 'k', 'м': 'm', 'п': 'n', 'о': 'o', 'р': 'p', 'ѕ': 's', 'т': 't', 'ц': 'u', 'ѵ': 'v', 'х': 'x', 'у': 'y', 'ғ': 'f', 'в': 'b',
	'α': 'a', 'ϲ': 'c', 'δ': 'd', 'ε': 'e', 'ϵ': 'e', 'ι': 'i', 'κ': 'k', 'η': 'n', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'ν': 'v', 'χ': 'x', 'γ': 'y', 'σ': 'o', 'ϝ': 'f',
	'օ': 'o', 'ս': 'u', 'ո': 'n', 'ց': 'g', 'հ': 'h', 'զ': 'q', 'տ': 's', 'է': 't', 'ԑ': 'e', 'ӧ': 'o',
	'ᴀ': 'a', 'ʙ': 'b', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɢ': 'g', 'ʜ': 'h', 'ɪ': 'i', 'ᴊ': 'j', 'ᴋ': 'k', 'ʟ': 'l', 'ᴍ': 'm', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't', 'ᴜ': 'u', 'ᴠ': 'v', 'ᴡ': 'w', 'ʏ': 'y', 'ᴢ': 'z',
	'ı': 'i', 'ɩ': 'i', 'ø': 'o', 'ɵ': 'o', 'đ': 'd', 'ð': 'd', 'ɗ': 'd', 'ɖ': 'd', 'ƒ': 'f', 'ɛ': 'e', 'ə': 'e', 'ʂ': 's', 'ŧ': 't', 'ʈ': 't', 'ƭ': 't', 'ʋ': 'u', 'ɥ': 'u', 'ɲ': 'n', 'ɳ': 'n', 'ŋ': 'n', 'ƈ': 'c', 'ł': 'l', 'ſ': 's', 'ᑌ': 'u', 'ᑎ': 'n', 'ᗪ': 'd', 'ᑕ': 'c', 'ꓳ': 'o', 'ꓴ': 'u', 'ꓔ': 't', 'ꓢ': 's', 'ꓲ': 'i', 'ꓓ': 'd', 'ꓰ': 'e', 'ꓚ': 'c', 'ꓠ': 'n', 'ꓝ': 'f',
	'Ꭲ': 't', 'Ꭼ': 'e', 'Ꭰ': 'd', 'Ꮯ': 'c', 'Ꮪ': 's', 'Ꭵ': 'i', 'Ꮎ': 'o', 'ꭲ': 't', 'ꭼ': 'e', 'ꭰ': 'd', 'ꮯ': 'c', 'ꮪ': 's', 'ꭵ': 'i', 'ꮎ': 'o',
}

// figures are the figures and signs that stand for a letter.
var figures = map[rune]rune{'0': 'o', '1': 'i', '3': 'e', '5': 's', '7': 't', '!': 'i', '|': 'i', '$': 's', '€': 'e', '¢': 'c', '†': 't', '+': 't', '©': 'c'}

// plainRune gives the lower-case letters or figures that a character looks like; "" for one that is neither. Accents go.
func plainRune(r rune) string {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return string(r + 'a' - 'A')
		}
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return string(r)
		}
		return ""
	}
	if flag := r - 0x1F1E6; flag >= 0 && flag < 26 { // letters of flags
		return string('a' + flag)
	}
	var b strings.Builder
	for _, d := range norm.NFKD.String(string(r)) {
		d = unicode.ToLower(d)
		if t, ok := twins[d]; ok {
			d = t
		}
		if unicode.IsLetter(d) && d != 0x115F && d != 0x1160 && d != 0x3164 || unicode.IsDigit(d) {
			b.WriteRune(d)
		}
	}
	return b.String()
}

// isHidden tells whether a character takes no room on the page, or is none.
func isHidden(r rune) bool {
	switch {
	case r < 0x20 || r == 0x7F:
		return true
	case r < utf8.RuneSelf:
		return false
	case r == utf8.RuneError, 0x80 <= r && r < 0xA0, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, 0xFE00 <= r && r <= 0xFE0F, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || r == 0x2800 || r == 0x3164 }

// bracket tells whether a character opens or closes: a bracket of any script, a corner, an angle.
func bracket(r rune) (opens, closes bool) {
	switch r {
	case '<', '‹', '«', '⟨', '〈', '⎡', '⎢', '⎣', '┌', '│', '├', '「', 'Ⲥ', 'ꓡ':
		return true, r == '│'
	case '>', '›', '»', '⟩', '〉', '⎤', '⎥', '⎦', '┐':
		return false, true
	}
	return unicode.In(r, unicode.Ps, unicode.Pi), unicode.In(r, unicode.Pe, unicode.Pf)
}

// escapes are brackets written as codes, which a model reads as brackets all the same.
var escapes = []struct {
	text          string
	opens, closes bool
}{
	{`\u005b`, true, false}, {`\x5b`, true, false}, {"&#91;", true, false}, {"&#x5b;", true, false}, {"&lbrack;", true, false}, {"&lsqb;", true, false}, {"%5b", true, false}, {`\[`, true, false},
	{`\u005d`, false, true}, {`\x5d`, false, true}, {"&#93;", false, true}, {"&#x5d;", false, true}, {"&rbrack;", false, true}, {"&rsqb;", false, true}, {"%5d", false, true}, {`\]`, false, true},
}

// sign is the next thing of a text: how long it is, and what it can be in a marker.
type sign struct {
	size          int
	opens, closes bool
	letters       string // plain; "" for what only separates
	perhaps       rune   // the letter that a figure can stand for
}

func signAt(s string) sign {
	switch s[0] {
	case '\\', '&', '%':
		for _, e := range escapes {
			if len(s) >= len(e.text) && strings.EqualFold(s[:len(e.text)], e.text) {
				return sign{size: len(e.text), opens: e.opens, closes: e.closes}
			}
		}
		if len(s) > 1 && s[0] == '\\' && strings.IndexByte("nrtbf", s[1]) >= 0 {
			return sign{size: 2} // a line end or a tab inside JSON
		}
		if r, size := coded(s); size > 0 {
			return sign{size: size, letters: plainRune(r), perhaps: figures[r]}
		}
	}
	r, size := utf8.DecodeRuneInString(s)
	opens, closes := bracket(r)
	if opens || closes {
		return sign{size: size, opens: opens, closes: closes}
	}
	if isHidden(r) {
		return sign{size: size}
	}
	return sign{size: size, letters: plainRune(r), perhaps: figures[r]}
}

// coded reads a character that is written as \u0041, &#65;, &#x41; or %41; size 0: there is none.
func coded(s string) (r rune, size int) {
	read := func(start, base, most int, end byte) (rune, int) {
		i, n := start, 0
		for i < len(s) && i-start < most {
			d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
			if s[i] < 0x30 || d < 0 || d >= base {
				break
			}
			n, i = n*base+d, i+1
		}
		if i == start || n > unicode.MaxRune || end == 0 && i-start != most || end != 0 && (i == len(s) || s[i] != end) {
			return 0, 0
		}
		if end != 0 {
			i++
		}
		return rune(n), i
	}
	switch {
	case strings.HasPrefix(s, `\u`):
		return read(2, 16, 4, 0)
	case strings.HasPrefix(s, `\x`):
		return read(2, 16, 2, 0)
	case strings.HasPrefix(s, "&#x"), strings.HasPrefix(s, "&#X"):
		return read(3, 16, 6, ';')
	case strings.HasPrefix(s, "&#"):
		return read(2, 10, 7, ';')
	case s[0] == '%':
		return read(1, 16, 2, 0)
	}
	return 0, 0
}

// unmarked gives text with everything that imitates a mark taken out. The time is linear: each bracket looks a bounded way
// ahead.
func unmarked(s string) string {
	for range 8 { // taking one out can bring the parts of another together; a text that goes on doing so is all imitation
		clean := unmarkedOnce(s)
		if clean == s {
			return s
		}
		s = clean
	}
	return strings.Map(func(r rune) rune {
		if opens, closes := bracket(r); opens || closes {
			return -1
		}
		return r
	}, s)
}

func unmarkedOnce(s string) string {
	var b strings.Builder
	kept, lineStart := 0, true
	for i := 0; i < len(s); {
		if c := s[i]; !lineStart && c < utf8.RuneSelf && c != '[' && c != '(' && c != '{' && c != '<' && c != '\\' && c != '&' && c != '%' && c != '\n' {
			i++
			continue
		}
		g := signAt(s[i:])
		if g.opens && i+g.size < len(s) && signAt(s[i+g.size:]).opens {
			i += g.size // of brackets in a row the last one begins what follows
			lineStart = false
			continue
		}
		if g.opens || lineStart && g.letters != "" {
			if n := imitation(s[i:], g.opens); n > 0 {
				b.WriteString(s[kept:i])
				b.WriteString(fakeMarker)
				i += n
				kept, lineStart = i, false
				continue
			}
		}
		switch {
		case s[i] == '\n' || strings.HasPrefix(s[i:], `\n`):
			lineStart = true
		case g.letters != "" || g.opens:
			lineStart = false
		}
		i += g.size
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// imitation gives how many bytes of what begins here imitate a mark; 0: it does not. Without an opening bracket it must say
// a code after the phrase, or close a bracket on its line, as a mark does.
func imitation(s string, bracketed bool) int {
	at, possible := 0, [len(phrases)]bool{true, true}
	var got [len(phrases)]int
	gap, signs := 0, 0
	for at < len(s) && gap < lookGap && signs < lookReach {
		g := signAt(s[at:])
		signs++
		at += g.size
		if g.letters == "" && g.perhaps == 0 {
			gap++
			continue
		}
		gap = 0
		done, left := false, false
		for p, phrase := range phrases {
			if !possible[p] {
				continue
			}
			rest := phrase[got[p]:]
			switch {
			case g.letters != "" && strings.HasPrefix(rest, g.letters):
				got[p] += len(g.letters)
			case g.perhaps != 0 && rune(rest[0]) == g.perhaps:
				got[p]++
			case g.letters == "": // a sign that only separates here
			default:
				possible[p] = false
			}
			done, left = done || possible[p] && got[p] == len(phrase), left || possible[p]
		}
		if done {
			return closing(s, at, bracketed)
		}
		if !left {
			return 0
		}
	}
	return 0
}

// closing gives where an imitation ends whose phrase ends at a byte: behind its closing bracket where one is near.
func closing(s string, at int, bracketed bool) int {
	end, code, blanks := at, 0, 0
	for n := 0; end < len(s) && n < lookClose; n++ {
		if s[end] == '\n' {
			break
		}
		g := signAt(s[end:])
		if g.opens && !bracketed {
			return 0 // a bracket of its own: prose that begins with these words
		}
		if g.closes {
			return end + g.size
		}
		if c := s[end]; code == n-blanks && strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 {
			code++
		} else if code == 0 && g.letters == "" {
			blanks++
		}
		end += g.size
	}
	switch {
	case bracketed:
		return at
	case code >= 8:
		return end
	}
	return 0
}
