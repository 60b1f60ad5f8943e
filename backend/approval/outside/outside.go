// Package outside is what the gate does about text that someone else wrote, and about what leaves a run that has read it
// (§10 "Outside content", decisions 5 and 10).
//
// It owns the marks around such text for a model (Marker), where outside content came from (Source and the others), which
// addresses can carry data (CarriesData), the value check (Values), and what counts as a change that the person must have
// named (Destructive, Names), with the sentences that ask for each. Everything is computed from what it is given: no clock,
// no database, no network, no model.
//
// It promises that text inside a mark holds nothing that reads like a mark, that a mark which it did not make is never
// taken for one, and that every function ends in time linear in its input. Its checks only ever add a question; what they
// cannot read counts against a call. It does not decide who is asked, or how: the gate does, which is its only importer.
// What the value check cannot see stands in ADR 20.
//
// Layer 3, under backend/approval.
package outside

import (
	"fmt"
	"strings"
)

// AskSending says why a call that sends something asks (§10). app is where the run read outside content.
func AskSending(app string) string {
	return fmt.Sprintf("Sentient read content from %s in this chat, so it checks with you before sending anything.", app)
}

// AskAddress says why an address that could carry data asks (§10). host is "" when it could not be read.
func AskAddress(app, host string) string {
	return fmt.Sprintf("Sentient read content from %s in this chat, and this address could carry your data to %s, so it checks with you first.", app, named(host))
}

// AskValue says why an address or a search that carries a private value asks (decision 5). to is a host, or the name of
// what is searched.
func AskValue(app, to string) string {
	return fmt.Sprintf("Sentient read content from %s in this chat, and this would give something private of yours to %s, so it checks with you first.", app, named(to))
}

// AskChange says why a delete, an overwrite or a change of who has access asks (decision 10). what is what it acts on,
// "" when that is unknown. The text is shortened to one line.
func AskChange(app, what string) string {
	what = line(what, 80)
	if what == "" {
		what = "what this changes"
	}
	return fmt.Sprintf("Sentient read content from %s in this chat, and you did not name %s yourself, so it checks with you before changing it.", app, what)
}

// Held is the result of a call that nobody could be asked about, for the model (§10).
func Held(app, toolName string) string {
	return fmt.Sprintf("Not done: this run read content from %s, so %s needs the user's OK first. Do not try it another way. Say what you would have done, so that the user can decide.", app, toolName)
}

func named(host string) string {
	if host = line(host, 100); host != "" {
		return host
	}
	return "an unknown site"
}

// line gives text on one line of at most n characters, without characters that nobody sees.
func line(s string, n int) string {
	var b strings.Builder
	blank, count := false, 0
	for _, r := range s {
		if count == n {
			break
		}
		switch {
		case isBlank(r):
			blank = b.Len() > 0
			continue
		case isHidden(r):
			continue
		}
		if blank {
			if count+1 >= n {
				break
			}
			b.WriteByte(' ')
			count++
		}
		blank = false
		b.WriteRune(r)
		count++
	}
	return b.String()
}
