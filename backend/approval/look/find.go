package look

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"sentient/backend/approval/preview"
)

// recipients finds an address or number that the person did not give.
func (c *check) recipients(ctx context.Context, _ Action) string {
	for _, a := range c.args {
		if !recipient(a.label) {
			continue
		}
		for _, f := range recipientsIn(a) {
			if warning := c.reaches(ctx, f); warning != "" {
				return warning
			}
		}
	}
	return ""
}

// reaches checks one that a call goes to: the person gave it, or a name that it belongs to.
func (c *check) reaches(ctx context.Context, f found) string {
	if c.gave(ctx, f) || !f.hidden && !f.phone && c.nameVouches(f.raw) {
		return ""
	}
	if f.phone {
		at, has := c.outside().phones[ending(f.compared())]
		return c.goesTo(f.raw, "number", at, has)
	}
	at, has := c.outside().find(f.raw)
	return c.goesTo(f.raw, "address", at, has)
}

// gave reports whether the person's words, trusted records or what is saved hold a recipient. One that only a decoding of
// the argument shows was written to be missed: nothing vouches for it.
func (c *check) gave(ctx context.Context, f found) bool {
	value, v := f.compared(), c.vouched()
	switch {
	case f.hidden:
		return false
	case f.phone:
		return v.phone(value) || c.known(ctx, value)
	}
	return v.addresses[value] || c.known(ctx, value)
}

// nameVouches reports whether an address belongs to a name that the person gave. What outside content names, other than
// as the sender of a message, no name vouches for: whoever wrote it can choose an address with a name in it.
func (c *check) nameVouches(address string) bool {
	if !slices.ContainsFunc(c.people(), func(p person) bool { return p.named(same(address)) }) {
		return false
	}
	at, has := c.outside().find(address)
	if has && !at.sender {
		return false
	}
	// An address can be described without being written: "his first name, then the host …". Its host gives it away.
	host := hostForm(domain(same(address)))
	_, described := c.outside().hosts[host]
	return !described || has || publicMail[host] || c.vouched().hosts[host] || c.outside().houses[host]
}

// publicMail are domains where anyone has an address: the same domain does not mean the same house.
var publicMail = map[string]bool{"gmail.com": true, "googlemail.com": true, "outlook.com": true, "hotmail.com": true, "live.com": true, "yahoo.com": true,
	"icloud.com": true, "me.com": true, "aol.com": true, "proton.me": true, "protonmail.com": true, "gmx.net": true, "gmx.de": true, "gmx.com": true,
	"web.de": true, "mail.com": true, "yandex.com": true, "mail.ru": true, "fastmail.com": true, "zoho.com": true, "qq.com": true, "163.com": true}

// goesTo words that a call reaches someone else than was asked for.
func (c *check) goesTo(raw, what string, at place, named bool) string {
	shown := oneLine(raw, 100)
	said := fmt.Sprintf("This goes to %s, which you didn't give.", shown)
	for _, p := range c.people() {
		if p.asked != "" {
			said = fmt.Sprintf("You asked to %s %s, but this goes to %s.", p.asked, oneLine(p.typed, 60), shown)
			break
		}
	}
	if named && at.words != "" {
		said += fmt.Sprintf(" That %s came from %s, not from you.", what, at.words)
	}
	return said
}

// oneLine gives a text as one line for people: what cannot be seen is shown, and it is at most n characters.
func oneLine(text string, n int) string {
	if len(text) > 16*n {
		text = text[:16*n] // at most four bytes a character, and room for spaces
	}
	text = strings.Join(strings.Fields(preview.Visible(text)), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// decompose parts letters from their accents.
func decompose(s string) string { return norm.NFKD.String(s) }

const maxShown = 120 // characters of a value in a warning
