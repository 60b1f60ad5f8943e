package look

import (
	"regexp"
	"strings"
	"unicode"
)

// found is an address or a phone number in an argument.
type found struct {
	raw    string // as it is written, or as it reads decoded
	phone  bool
	hidden bool // it is only there once the value is decoded
}

// compared gives the form in which it is compared with what the person gave.
func (f found) compared() string {
	if f.phone {
		return digits(f.raw)
	}
	return same(f.raw)
}

var (
	// spelt is an address with its signs spelt out: x (at) evil (dot) example.
	spelt = regexp.MustCompile(`(?i)([\pL\pN._+-]{1,64})\s{0,3}[(\[{<]\s?(?:at|@)\s?[)\]}>]\s{0,3}([\pL\pN.-]{1,253}(?:\s{0,3}[(\[{<]\s?(?:dot|\.)\s?[)\]}>]\s{0,3}[\pL\pN-]{1,63}){0,8})`)
	dots  = regexp.MustCompile(`(?i)\s*[(\[{<]\s?(?:dot|\.)\s?[)\]}>]\s*`)
	date  = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	jid   = regexp.MustCompile(`^\d{7,15}@(s\.whatsapp\.net|c\.us)$`)
)

// recipientsIn gives every address and phone number in a recipient's value. What holds an @ in any form is one: whatever
// stands there, the app may read an address in it.
func recipientsIn(a argument) []found {
	out := addressesIn(a.text)
	seen := map[string]bool{}
	for _, f := range out {
		seen[same(f.raw)] = true
	}
	if m := spelt.FindStringSubmatch(fold(a.text)); m != nil {
		out = append(out, found{raw: m[1] + "@" + dots.ReplaceAllString(m[2], "."), hidden: true})
	}
	for _, text := range decoded(a.text) {
		for _, f := range addressesIn(text) {
			if !seen[same(f.raw)] {
				seen[same(f.raw)] = true
				f.hidden = true
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 && !idKey(a.key) {
		for _, part := range strings.FieldsFunc(fold(a.text), func(r rune) bool { return strings.ContainsRune(",;/\n", r) }) {
			if part = strings.TrimPrefix(strings.TrimSpace(part), "tel:"); isPhone(part) {
				out = append(out, found{raw: strings.TrimSpace(part), phone: true})
			}
		}
	}
	return out
}

// idKey reports whether a key below a recipient's holds a number of its own: an id, a time.
func idKey(key string) bool {
	for _, end := range []string{"id", "ids", "time", "timestamp", "date", "at", "ts"} {
		if key == end || strings.HasSuffix(key, "_"+end) {
			return true
		}
	}
	return false
}

// addressesIn gives the tokens of a text that hold an @. A token ends at spaces and at the signs that part addresses in a
// list; nothing else ends it, so that a/b@x is not taken for b@x.
func addressesIn(text string) []found {
	if !strings.ContainsAny(text, "@\uff20\ufe6b") {
		return nil
	}
	var out []found
	for _, token := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,;<>()[]"`, r) }) {
		if !strings.Contains(same(token), "@") {
			continue
		}
		if rest, ok := cutPrefixFold(token, "mailto:"); ok {
			for i, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '?' || r == '&' }) {
				if i > 0 {
					part = part[strings.Index(part, "=")+1:] // ?cc=…
				}
				if strings.Contains(same(part), "@") {
					out = append(out, found{raw: part})
				}
			}
			continue
		}
		token = strings.Trim(strings.TrimRight(token, ".:!"), "'")
		if !strings.Contains(same(token), "@") || strings.HasPrefix(token, "@") && strings.Count(token, "@") == 1 && !strings.Contains(token, ".") {
			continue // "@arjun" is a name, not an address
		}
		if jid.MatchString(token) {
			number, _, _ := strings.Cut(token, "@")
			out = append(out, found{raw: "+" + number, phone: true})
			continue
		}
		out = append(out, found{raw: token})
	}
	return out
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r = digit(r); r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, fold(s))
}

// isPhone reports whether a whole value is a phone number: 7 to 15 digits and the signs that are written between them.
func isPhone(s string) bool {
	if len(s) > 40 || date.MatchString(s) {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && !strings.ContainsRune("+-.() ", r) {
			return false
		}
	}
	n := len(digits(s))
	return n >= 7 && n <= 15
}

// phonesIn gives the digits of the phone numbers in a text: runs of digits and the signs between them, and the parts of a
// run that spaces divide.
func phonesIn(text string) []string {
	var out []string
	for _, run := range strings.FieldsFunc(fold(text), func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune("+-.() ", r) }) {
		if len(run) > 200 {
			run = run[:200]
		}
		if n := digits(run); len(n) >= 7 && len(n) <= 15 {
			out = append(out, n)
		}
		for _, part := range strings.Fields(run) {
			if n := digits(part); len(n) >= 7 && len(n) <= 15 {
				out = append(out, n)
			}
		}
	}
	return out
}

// samePhone reports whether two numbers reach the same phone: equal, or one has a country's code before the other, whose
// leading zero is dropped then.
func samePhone(a, b string) bool {
	const local = 9 // digits that must be there, without a country's code
	if len(a) < len(b) {
		a, b = b, a
	}
	if a == b {
		return true
	}
	a, b = strings.TrimPrefix(a, "00"), strings.TrimLeft(b, "0")
	return len(b) >= local && strings.HasSuffix(a, b) && len(a)-len(b) <= 3
}

// addressInText gives the addresses in running text, in the form in which they are compared. Its local part is read
// widely and its signs at the ends are not part of it.
func addressInText(text string) []string {
	var out []string
	for _, f := range addressesIn(text) {
		if !f.phone {
			token := strings.Trim(same(f.raw), ".:!?*_`{}|'")
			out = append(out, token)
			if i := strings.LastIndexAny(token, "/=&:|"); i >= 0 && i < strings.Index(token, "@") {
				out = append(out, token[i+1:])
			}
		}
	}
	return out
}

// domain gives the part of an address behind its last @.
func domain(address string) string {
	return address[strings.LastIndex(address, "@")+1:]
}
