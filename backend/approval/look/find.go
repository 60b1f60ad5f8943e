package look

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sentient/backend/approval/preview"
	"sentient/backend/tool"
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

// reaches checks one that a call goes to.
func (c *check) reaches(ctx context.Context, f found) string {
	value, v := f.compared(), c.vouched()
	if f.phone {
		if v.phone(value) || c.known(ctx, value) {
			return ""
		}
		at, has := c.outside().phones[ending(value)]
		return c.goesTo(f.raw, "number", at, has)
	}
	if !f.hidden && (v.addresses[value] || c.known(ctx, value)) {
		return ""
	}
	at, has := c.outside().find(f.raw)
	if (!has || at.sender) && !f.hidden {
		for _, p := range c.people() {
			if p.named(value) {
				return ""
			}
		}
	}
	return c.goesTo(f.raw, "address", at, has)
}

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

var (
	toAll   = regexp.MustCompile(`(?i)\b(reply[ -]?all|(reply|respond|answer|write back) to (all|everyone|everybody|them all|the (whole )?(thread|group))|everyone|everybody)\b`)
	toReply = regexp.MustCompile(`(?i)\b(repl(y|ies|ying)|respond|answer|write back|follow up|nudge|get back to)\b`)
)

// destinations checks whom a reply goes to, as the app's own record of the message says (§10 "Reply destinations").
func (c *check) destinations(ctx context.Context, a Action) string {
	if a.DestinationsErr != nil {
		return unreadable
	}
	for _, d := range a.Destinations {
		if warning := c.destination(ctx, d); warning != "" {
			return warning
		}
	}
	return ""
}

func (c *check) destination(ctx context.Context, d tool.Destination) string {
	given := c.vouched().addresses[same(d.Address)] || c.known(ctx, same(d.Address))
	warning := c.reaches(ctx, found{raw: d.Address})
	switch d.Why {
	case "reply_to":
		if given {
			return ""
		}
		if domain(same(d.Address)) != domain(same(d.Sender)) {
			return fmt.Sprintf("This reply goes to %s, the address that email asked replies to go to, not to the person who sent it (%s).", oneLine(d.Address, 100), oneLine(d.Sender, 100))
		}
	case "thread":
		if c.says(toAll) {
			return ""
		}
		return warning
	case "sender", "yours":
	default:
		return warning
	}
	// A reply to whoever wrote is what was asked for, unless the words name somebody else.
	for _, p := range c.people() {
		if p.asked != "" {
			return warning
		}
	}
	if c.says(toReply) {
		return ""
	}
	return warning
}

// says reports whether the person's own words match.
func (c *check) says(what *regexp.Regexp) bool {
	for _, text := range own(c.Evidence) {
		if what.MatchString(text) {
			return true
		}
	}
	return false
}

// amounts finds money that the person did not speak of.
func (c *check) amounts(ctx context.Context, _ Action) string {
	for _, a := range c.args {
		isAmount := a.label == "Amount"
		found := moneyIn(a.text, isAmount)
		for _, m := range found {
			if isAmount && m.currency == "" {
				m.currency = currencyOf(a.currency)
			}
			if !c.vouched().amount(m) && !c.known(ctx, m.raw) {
				return fmt.Sprintf("This includes %s, an amount that isn't in what you asked.", oneLine(m.raw, 60))
			}
		}
		if isAmount && len(found) == 0 && strings.TrimSpace(a.text) != "" && !c.vouched().amounts["0"][""] && strings.ContainsFunc(fold(a.text), unicode.IsDigit) {
			return fmt.Sprintf("This includes %s, an amount that isn't in what you asked.", oneLine(a.text, 60))
		}
	}
	return ""
}

// links finds a link that outside content gave.
func (c *check) links(ctx context.Context, _ Action) string {
	o := c.outside()
	if !o.any {
		return ""
	}
	for _, a := range c.args {
		for _, text := range append([]string{a.text, fold(a.text)}, decoded(a.text)...) {
			for _, l := range linksIn(text) {
				at, came := o.links[l.form]
				if !came {
					at, came = o.hosts[l.host]
				}
				if came && !c.vouched().links[l.form] && !c.vouched().hosts[l.host] && !c.known(ctx, l.form) {
					return fmt.Sprintf("This includes a link to %s that came from %s, not from you.", oneLine(l.host, 100), at.words)
				}
			}
		}
	}
	return ""
}

// oneLine gives a text as one line for people: what cannot be seen is shown, and it is at most n characters.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(preview.Visible(text)), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// decompose parts letters from their accents.
func decompose(s string) string { return norm.NFKD.String(s) }
