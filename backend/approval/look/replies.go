package look

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

var (
	// answers ask for a reply to a message: who that goes to is the message's to say, not the words'.
	answers = regexp.MustCompile(`\b(repl(y|ies|ied|ying)|respon[ds]\w*|answer\w*|writ(e|ing) back|get back to|follow(ing)?[- ]up|nudge|chase|remind|accept|decline|confirm|thank|rsvp|(tell|let|ask) (him|her|them)|say (yes|no|thanks))\b`)
	toAll   = regexp.MustCompile(`\breply(ing)?[- ]?(to )?[- ]?(all|everyone|everybody)\b|\b(to|tell|answer|email|copy|cc|include|message|let|update|notify|inform|thank|ask|remind|with) (back )?(everyone|everybody|all of them|all of you|(the )?(whole|entire) (group|team|thread|list|family|class)|the others)\b|^\W*(everyone|everybody|all of them|reply-all)\W*$`)
	denied  = regexp.MustCompile(`\b(don'?t|do not|not|never|no|without|instead of|rather than|only|just to|isn'?t)\b`)
	clauses = regexp.MustCompile(`[.!?;,\n]+|\b(but|then)\b`)
)

// destinations checks whom a reply reaches, which its arguments do not say (§5 "Replies and forwards").
func (c *check) destinations(ctx context.Context, a Action) string {
	if a.DestinationsErr != nil {
		return unreadable
	}
	for _, d := range a.Destinations {
		for _, f := range destinationsIn(d.Address) {
			if c.gave(ctx, f) {
				continue
			}
			from := senderAddress(d.Sender)
			if d.Why == "reply_to" && (f.hidden || f.phone || !sameHouse(f.raw, from)) {
				if from = oneLine(from, maxShown); from != "" {
					from = " (" + from + ")"
				}
				return fmt.Sprintf("This reply goes to %s, the address that email asked replies to go to, not to the person who sent it%s.", oneLine(f.raw, maxShown), from)
			}
			if c.answered(d.Why, f, from) {
				continue
			}
			if warning := c.reaches(ctx, f); warning != "" {
				return warning
			}
		}
	}
	return ""
}

// destinationsIn gives the recipients in what an app says a reply goes to. What cannot be read is one that nobody gave.
func destinationsIn(address string) []found {
	if all := recipientsIn(argument{text: address}); len(all) > 0 {
		return all
	}
	return []found{{raw: address, hidden: true}}
}

// answered reports whether the words ask for a reply that goes where this one goes: to the one who wrote, where no other
// is named; to the others of a message only when they ask for a reply to all.
func (c *check) answered(why string, f found, from string) bool {
	if f.hidden {
		return false
	}
	texts := append(slices.Clone(c.Trusted), own(c.Evidence)...)
	switch why {
	case "thread":
		return wantsAll(texts)
	case "sender", "yours", "reply_to":
		return slices.ContainsFunc(texts, func(t string) bool { return answers.MatchString(fold(t)) }) && c.nobodyElse(f, from)
	}
	return false
}

// nobodyElse reports whether the newest words that name somebody to answer do not name another than this one. A reply to
// "Priya" goes to the mail that shows Priya as its sender, whatever her address is.
func (c *check) nobodyElse(f found, from string) bool {
	texts := own(c.Evidence)
	address := same(f.raw)
	shown := c.outside().display[address]
	if address != same(from) && from != "" {
		shown = nil // another address than the sender's: the sender's name is not its name
	}
	for i := len(texts) - 1; i >= 0; i-- {
		var asked []person
		for _, p := range personsIn(texts[i]) {
			if p.asked != "" {
				asked = append(asked, p)
			}
		}
		given := addressInText(texts[i])
		if len(asked) == 0 && len(given) == 0 {
			continue
		}
		return slices.Contains(given, address) || slices.ContainsFunc(asked, func(p person) bool { return p.named(f.raw) || p.shows(shown, address) })
	}
	return true
}

// shows reports whether a sender's display name or the labels of its domain have the person's (or the firm's) name.
func (p person) shows(display []string, address string) bool {
	labels := strings.Split(domain(address), ".")
	if publicMail[domain(address)] {
		labels = nil
	}
	for _, name := range display {
		var words []string
		for _, w := range strings.Fields(name) {
			words = append(words, nameForm(strings.Trim(w, `",()`)))
		}
		if !slices.ContainsFunc(p.names, func(n string) bool { return !slices.Contains(words, n) }) {
			return true
		}
	}
	return len(p.names) == 1 && slices.Contains(labels, p.names[0])
}

// wantsAll reports whether the words ask for a reply to all. The last that speak of it count.
func wantsAll(texts []string) bool {
	wants := false
	for _, t := range texts {
		for _, clause := range clauses.Split(fold(t), -1) {
			if at := toAll.FindStringIndex(clause); at != nil {
				wants = !denied.MatchString(clause[:at[0]])
			}
		}
	}
	return wants
}

func senderAddress(s string) string {
	if p, ok := parseSender(s); ok {
		return p.address
	}
	if all := addressesIn(s); len(all) == 1 {
		return same(all[0].raw)
	}
	return ""
}

// sameHouse reports whether two addresses are of one organisation: the same domain, or parts of the same registered one.
// At a public mail service everyone is a house of their own; an address with other than plain letters is of no known one.
func sameHouse(a, b string) bool {
	x, y := hostForm(domain(same(a))), hostForm(domain(same(b)))
	switch {
	case same(a) == same(b):
		return true
	case b == "" || publicMail[x] || !ascii(a):
		return false
	case x == y:
		return true
	}
	rx, err := publicsuffix.EffectiveTLDPlusOne(x)
	ry, err2 := publicsuffix.EffectiveTLDPlusOne(y)
	return err == nil && err2 == nil && rx == ry
}
