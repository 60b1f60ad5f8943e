// Package look is the second look at a call that can send something out: it compares where the call goes, what it costs and
// which links it carries with what the person asked for (§10 "Second look at outgoing actions").
//
// It owns two checks: Deterministic, which is code alone, and Model, which asks a small model that sees only the person's
// own words and the action. Both give one sentence for the person, or nothing. A check only ever adds a question: no result
// of it makes a call less risky or takes the place of another check.
//
// It promises that what it cannot read, tell or ask counts against the call; that hidden characters, look-alike letters
// and other spellings of an address never make it pass as one that the person gave; and that its work grows linearly with
// its input. It does not promise to understand: an address that is named after a person the words name passes as long as
// nothing from outside named it.
//
// What vouches for a value: the person's words, the chat's system prompt and a task's brief, results that hold nothing
// from outside (but not for what the model itself put into a call before), and what the person has saved.
//
// It reads no table and knows no app. The gate imports it.
package look

import (
	"context"
	"encoding/json"

	"sentient/backend/approval/evidence"
	"sentient/backend/tool"
)

// Action is a call that is about to run.
type Action struct {
	Tool    *tool.Tool
	Plugin  *tool.Plugin
	Risk    tool.Risk // its effective risk
	Args    json.RawMessage
	Wording tool.Wording
	// Destinations are whom a reply reaches; DestinationsErr is why they could not be read.
	Destinations    []tool.Destination
	DestinationsErr error
}

// unreadable is the warning of a reply whose recipients cannot be read.
const unreadable = "Sentient couldn't read who this reply goes to, so it checks with you first."

// Applies reports whether the model's check is for such a call: effective risk send or exec, of a tool that reaches
// beyond Sentient. Whether it is asked for this call is the gate's to say.
func Applies(a Action) bool { return a.Tool != nil && !a.Tool.Internal && a.Risk >= tool.Send }

// Deterministic gives what code finds off about a call, as one sentence: first about its recipients, then about amounts of
// money, then about links. It is "" when nothing is, and for code, whose text says little about what it does.
func Deterministic(ctx context.Context, a Action, e *evidence.Evidence) (warning string) {
	if a.Risk >= tool.Exec || a.Tool == nil {
		return ""
	}
	if e == nil {
		e = &evidence.Evidence{}
	}
	c := &check{Evidence: e, args: readArguments(a.Args)}
	for _, find := range []func(context.Context, Action) string{c.recipients, c.destinations, c.amounts, c.links} {
		if warning = find(ctx, a); warning != "" {
			return warning
		}
	}
	return ""
}

// check is one call's look. What it needs of the evidence is read when it is first asked for: most calls ask for little.
type check struct {
	*evidence.Evidence
	args    []argument
	given   *vouchers
	places  *outside
	persons []person
	asked   int // questions put to the records
}

// maxAsked bounds the questions that one call puts to the records; what is beyond it is not known.
const maxAsked = 200

// known reports whether something that the person has saved holds a value. An error counts as no.
func (c *check) known(ctx context.Context, value string) bool {
	if c.Records == nil || c.asked >= maxAsked {
		return false
	}
	c.asked++
	ok, err := c.Records.Knows(ctx, value)
	return ok && err == nil
}

func (c *check) vouched() *vouchers {
	if c.given == nil {
		c.given = collectVouchers(c.Evidence)
	}
	return c.given
}

func (c *check) outside() *outside {
	if c.places == nil {
		c.places = readPlaces(c.Evidence)
	}
	return c.places
}

// own are the person's own texts, oldest first: the words, then this turn's that are not among them.
func own(e *evidence.Evidence) []string {
	seen := make(map[string]bool, len(e.Words))
	texts := append(make([]string, 0, len(e.Words)+len(e.Turn)), e.Words...)
	for _, w := range e.Words {
		seen[w] = true
	}
	for _, w := range e.Turn {
		if !seen[w] {
			texts = append(texts, w)
		}
	}
	return texts
}
