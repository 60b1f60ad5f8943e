package outside

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// From when on the parts of an address can carry data, in characters (§10 address_carries_data).
const (
	longPath     = 100
	longFragment = 40
)

// CarriesData reports whether an address could carry data out: it has a query, a long path or fragment, a user name, or was
// cut short. One that cannot be read counts as one that could.
func CarriesData(address string) bool {
	u := parse(address)
	if u == nil || hostOf(u) == "" {
		return true
	}
	return u.RawQuery != "" || u.User != nil || max(characters(u.EscapedPath()), characters(u.Path)) > longPath ||
		characters(u.EscapedFragment()) > longFragment || cutShort(address)
}

// Host gives the host of an address in lower case and ASCII (punycode), without its port; "" for an address that cannot be
// read.
func Host(address string) string {
	if u := parse(address); u != nil {
		return hostOf(u)
	}
	return ""
}

func characters(s string) int { return utf8.RuneCountInString(s) }

func cutShort(address string) bool {
	address = strings.TrimSpace(address)
	return strings.HasSuffix(address, "...") || strings.Contains(address, "…")
}

// parse reads an address as a browser does: a backslash is a slash, line ends and tabs are not there, and one without a
// scheme is of the web. nil: it cannot be read, or is not of the web.
func parse(address string) *url.URL {
	address = strings.TrimFunc(address, func(r rune) bool { return r <= ' ' })
	address = strings.Map(func(r rune) rune {
		switch r {
		case '\t', '\r', '\n':
			return -1
		}
		return r
	}, address)
	head, tail, mark := address, "", ""
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		head, mark, tail = address[:i], address[i:i+1], address[i+1:]
	}
	head = strings.ReplaceAll(head, `\`, "/")
	scheme, rest, ok := strings.Cut(head, ":")
	switch s := strings.ToLower(scheme); {
	case ok && (s == "http" || s == "https"):
		head = s + "://" + strings.TrimLeft(rest, "/")
	case strings.HasPrefix(head, "//"):
		head = "https:" + head
	case strings.Contains(head, "://"), ok && !strings.ContainsAny(scheme, "./") && !portAt(rest):
		return nil
	default:
		head = "https://" + head
	}
	u, err := url.Parse(head + mark + tail)
	if err != nil {
		return nil
	}
	return u
}

// portAt tells whether what follows a colon is a port, so that what stands before it is a host.
func portAt(rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return n > 0 && n < 6 && (n == len(rest) || rest[n] == '/')
}

func hostOf(u *url.URL) string {
	host := strings.TrimSuffix(u.Hostname(), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.WithZone("").String()
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil { // names with a "_" are no valid names, and are in use
		if ascii, err = idna.Punycode.ToASCII(host); err != nil || strings.ContainsAny(ascii, " %<>\"'`{}|^\\[]@") || !isASCII(ascii) {
			return ""
		}
	}
	return strings.ToLower(ascii)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] <= ' ' {
			return false
		}
	}
	return true
}

// site gives the domain that someone registered, which all hosts below it belong to; an IP address is its own.
func site(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return d
	}
	return host
}

// canonical gives an address in the form in which two of the same are equal; "" for one that cannot be read. Scheme, the
// host's case and a slash at the end make no difference, everything else does.
func canonical(u *url.URL) string {
	host := hostOf(u)
	if host == "" {
		return ""
	}
	if p := u.Port(); p != "" && p != "443" && p != "80" {
		host += ":" + p
	}
	if u.User != nil {
		host = u.User.String() + "@" + host
	}
	s := host + strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		s += "?" + u.RawQuery
	}
	if f := u.EscapedFragment(); f != "" {
		s += "#" + f
	}
	return s
}
