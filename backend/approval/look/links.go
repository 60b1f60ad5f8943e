package look

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// link is a web address in a text.
type link struct {
	form string // host and what follows it, without scheme, www and a slash at the end
	host string // in ASCII
}

// links flags a link of the call that came from outside content: one that stands there, or any on a host that is only
// named there (its path may carry what the call knows).
func (c *check) links(ctx context.Context, _ Action) string {
	if !c.outside().any {
		return ""
	}
	for _, a := range c.args {
		if a.number {
			continue
		}
		for _, text := range append([]string{a.text}, decoded(a.text)...) {
			for _, l := range linksIn(text) {
				at, has := c.fromOutside(l)
				if has && !c.known(ctx, l.form) {
					return fmt.Sprintf("This includes a link to %s that came from %s, not from you.", oneLine(l.host, maxShown), at.words)
				}
			}
		}
	}
	return ""
}

func (c *check) fromOutside(l link) (place, bool) {
	v, o := c.vouched(), c.outside()
	if at, has := o.links[l.form]; has && !v.links[l.form] && (l.form != l.host || !v.hosts[l.host]) {
		return at, true
	}
	for host := l.host; host != ""; {
		if v.hosts[host] {
			return place{}, false
		}
		if at, has := o.hosts[host]; has {
			return at, true
		}
		_, rest, ok := strings.Cut(host, ".")
		if !ok || !strings.Contains(rest, ".") {
			break
		}
		host = rest
	}
	return place{}, false
}

// linksIn gives the web addresses of a text: with a scheme, with www, with a path, or a bare name under a known ending.
func linksIn(text string) []link {
	if !strings.Contains(text, ".") && ascii(text) {
		return nil
	}
	var out []link
	text = strings.NewReplacer("[.]", ".", "(.)", ".", "[:]", ":", `\/`, "/").Replace(fold(text))
	for _, token := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>()[]{}\"'`|,;*", r) }) {
		if l, ok := linkOf(token); ok {
			out = append(out, l)
		}
	}
	return out
}

// notHosts are endings that are more often a file's than a host's.
var notHosts = map[string]bool{"md": true, "py": true, "rs": true, "sh": true, "pl": true, "ps": true, "zip": true, "mov": true, "cc": true, "so": true, "ml": true}

// testEndings are reserved names that no registry lists.
var testEndings = map[string]bool{"example": true, "test": true, "invalid": true, "localhost": true, "onion": true, "local": true}

func linkOf(token string) (link, bool) {
	token = strings.Trim(token, ".!?:_~#…")
	scheme := false
	for _, sign := range []string{"https://", "http://", "hxxps://", "hxxp://", "ftp://", "//"} {
		if i := strings.Index(token, sign); i >= 0 && i < 64 && (sign != "//" || i == 0) {
			token, scheme = token[i+len(sign):], true
			break
		}
	}
	end := strings.IndexAny(token, "/?#\\")
	if end < 0 {
		end = len(token)
	}
	host, rest := token[:end], token[end:]
	if at := strings.LastIndex(host, "@"); at >= 0 {
		if !scheme {
			return link{}, false // an email address
		}
		host = host[at+1:]
	}
	if name, port, ok := strings.Cut(host, ":"); ok && len(port) <= 5 {
		host = name
	}
	host = hostForm(host)
	if len(host) > 253 || !isHost(host, scheme || strings.HasPrefix(token, "www."), strings.HasPrefix(rest, "/")) {
		return link{}, false
	}
	return link{form: host + strings.TrimRight(rest, "/"), host: host}, true
}

func isHost(host string, sure, path bool) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return sure
	}
	i := strings.LastIndex(host, ".")
	if i <= 0 {
		return sure && host != ""
	}
	for _, r := range host {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' {
			return false
		}
	}
	ending := host[i+1:]
	if sure || testEndings[ending] {
		return true
	}
	_, icann := publicsuffix.PublicSuffix(host)
	return icann && (path || !notHosts[ending])
}

// hostForm gives a host as a browser would ask for it, without www.
func hostForm(host string) string {
	host = strings.TrimPrefix(strings.Trim(strings.ToLower(host), "."), "www.")
	if !ascii(host) && len(host) <= 1000 {
		if plain, err := idna.Punycode.ToASCII(host); err == nil {
			return plain
		}
	}
	return host
}
