package outside

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// longest is how long an address may be that is read at all, in bytes. A longer one counts as carrying something.
const longest = 16 << 10

// part is one of the places of an address that can hold something.
type part struct {
	column string // which place: "p0", "q:page"; the same place of two addresses has the same name
	text   string // read: without percent signs, entities, escapes
	odd    float64
}

// dateBits is what a date can say where it is asked for, in bits; it does not count as a piece of what is private.
const dateBits = 8

// datedPath is the day of an article.
var datedPath = regexp.MustCompile(`/(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/(?:0?[1-9]|[12]\d|3[01]))?(?:/|$)`)

// split takes an address apart. site is what its host belongs to.
func split(u *url.URL) (parts []part, domain string) {
	host := hostOf(u)
	domain = site(host)
	add := func(column, text string) {
		if text != "" {
			text, odd := readText(text)
			parts = append(parts, part{column, text, odd})
		}
	}
	if u.User != nil {
		add("u", u.User.String())
	}
	if _, err := netip.ParseAddr(host); err == nil {
		add("s", host)
	} else {
		full := host
		if raw := strings.TrimSuffix(u.Hostname(), "."); strings.EqualFold(raw, host) {
			full = raw // capitals of a host are sent as they stand
		}
		labels := strings.Split(strings.TrimSuffix(full[:len(full)-len(domain)], "."), ".")
		for i, l := range labels {
			add("h"+strconv.Itoa(len(labels)-i), unicodeLabel(l))
		}
		suffix, _ := publicsuffix.PublicSuffix(host)
		add("s", unicodeLabel(strings.TrimSuffix(strings.TrimSuffix(domain, suffix), ".")))
	}
	if p := u.Port(); p != "" && p != "80" && p != "443" && p != "8080" {
		add("o", p)
	}
	path := datedPath.ReplaceAllStringFunc(u.EscapedPath(), func(string) string {
		parts = append(parts, part{column: "d", odd: dateBits})
		return "/"
	})
	for i, s := range strings.Split(strings.Trim(path, "/"), "/") {
		add("p"+strconv.Itoa(i), s)
	}
	for i, pair := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		column := "k" + strconv.Itoa(i)
		if value != "" {
			column = "K" + strconv.Itoa(i) // a name with a value
		}
		add(column, strings.ReplaceAll(key, "+", " "))
		add("q:"+key, strings.ReplaceAll(value, "+", " "))
	}
	add("f", u.EscapedFragment())
	return parts, domain
}

// readText reads a part as whatever gets it may: percent signs up to three times, entities, escapes. odd is what its
// writing itself can say, in bits: characters that nobody sees, letters that need no percent sign and have one.
func readText(s string) (text string, odd float64) {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' {
			if r, size := coded(s[i:]); size > 0 && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9') {
				odd++
			}
		}
	}
	for range 3 {
		read := unescaped(unpercent(s))
		if read == s {
			break
		}
		s = read
	}
	for _, r := range s {
		if isHidden(r) && r != '\n' && r != '\r' && r != '\t' {
			odd += 4
		}
	}
	return s, odd
}

func unpercent(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] == '%' {
			if r, size := coded(s[i:]); size > 0 {
				b = append(b, byte(r))
				i += size
				continue
			}
		}
		b = append(b, s[i])
		i++
	}
	return string(b)
}

// unicodeLabel gives a label of a host as it reads.
func unicodeLabel(l string) string {
	if strings.HasPrefix(l, "xn--") {
		if u, err := idna.Punycode.ToUnicode(l); err == nil {
			return u
		}
	}
	return l
}
