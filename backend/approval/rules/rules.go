// Package rules is the person's lasting rules for tools and apps, applied (§2 "Lasting approval rules").
//
// It owns the levels and their order, which rule a tool falls under, the sentences that refuse or hand over a call, and the
// check whether the person's own words asked for one ("Only if I asked"). Everything here is code over what it is given: no
// table, no clock, no model. It promises that the same words and call give the same answer, in time linear in the words, and
// that in doubt words asked for nothing, so that a question is asked. It keeps no rules and asks nobody.
//
// Layer 2; the gate, the proposals and whoever lists tools import it.
package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sentient/backend/approval/rules/phrase"
	"sentient/backend/tool"
)

// Level is what a rule says.
type Level string

// The levels. None is that there is no rule.
const (
	None    Level = ""
	Allow   Level = "allow"
	IfAsked Level = "if_asked"
	Ask     Level = "ask"
	HandOff Level = "hand_off"
	Never   Level = "never"
)

// order is strictness, loosest first.
var order = []Level{Allow, None, IfAsked, Ask, HandOff, Never}

// Stricter reports whether a level allows less than another. One that is unknown counts as never.
func (l Level) Stricter(than Level) bool { return l.rank() > than.rank() }

func (l Level) rank() int {
	if i := slices.Index(order, l); i >= 0 {
		return i
	}
	return len(order) - 1
}

// Rule is the rule that a tool falls under.
type Rule struct {
	Level Level
	Key   string // as it stands in tools.approvals.rules; "" when there is none
	App   bool   // the rule is the app's, not the tool's own
}

// For gives the rule of a tool: its own beats its app's. p may be nil.
func For(rules map[string]string, t *tool.Tool, p *tool.Plugin) Rule {
	if level, ok := rules[t.Name]; ok && level != "" {
		return Rule{Level: known(level), Key: t.Name}
	}
	if p != nil {
		if level, ok := rules[p.ID]; ok && level != "" {
			return Rule{Level: known(level), Key: p.ID, App: true}
		}
	}
	return Rule{}
}

func known(level string) Level {
	if l := Level(level); slices.Contains(order, l) {
		return l
	}
	return Never // a rule that cannot be read must not be one that allows
}

// Applied gives what a rule comes to for one call: "Only if I asked" is allow for one that the words asked for, else ask.
func Applied(r Rule, asked bool) Level {
	if r.Level != IfAsked {
		return r.Level
	}
	if asked {
		return Allow
	}
	return Ask
}

// HandsOff reports whether a call of this effective risk is for the person to do: look-ups run as usual.
func HandsOff(r Rule, risk tool.Risk) bool { return r.Level == HandOff && risk != tool.Read }

// Purchase is the risk label of a call that spends money.
const Purchase = "Purchase"

// opensHome are the risk labels of calls that open the person's home (§2, OPENS_HOME_LABELS).
var opensHome = []string{"Unlocks a door", "Turns off your alarm", "Opens a garage door or gate", "Controls a door, lock or alarm"}

// OpensHome reports whether a risk label says that a call opens the person's home.
func OpensHome(label string) bool {
	return slices.ContainsFunc(opensHome, func(l string) bool { return strings.EqualFold(l, strings.TrimSpace(label)) })
}

// PlainName gives a tool's name for people, without its app: `slack_post_message` of slack is "Post message". What goes is
// the plugin's id in front, or else a first word that all tools of the plugin share.
func PlainName(name string, p *tool.Plugin) string {
	words := strings.Join(strings.FieldsFunc(strip(name, p), func(r rune) bool { return r == '_' || unicode.IsSpace(r) }), " ")
	first, n := utf8.DecodeRuneInString(words)
	if words == "" {
		return name
	}
	return string(unicode.ToUpper(first)) + words[n:]
}

func strip(name string, p *tool.Plugin) string {
	if p == nil {
		return name
	}
	if rest, ok := strings.CutPrefix(name, p.ID+"_"); ok && rest != "" {
		return rest
	}
	first, rest, ok := strings.Cut(name, "_")
	if !ok || rest == "" || len(p.Tools) < 2 || phrase.IsVerb(first) {
		return name
	}
	for _, t := range p.Tools {
		if !strings.HasPrefix(t.Name, first+"_") {
			return name
		}
	}
	return rest
}

// Name is what a rule is about, for people: Slack, or "Post message" in Slack.
func Name(r Rule, t *tool.Tool, p *tool.Plugin) string {
	if p == nil {
		return `"` + PlainName(t.Name, nil) + `"`
	}
	if r.App {
		return p.Name
	}
	return `"` + PlainName(t.Name, p) + `" in ` + p.Name
}

// Refusal is the sentence of a call that a never rule keeps from running.
func Refusal(r Rule, t *tool.Tool, p *tool.Plugin) string {
	return "You've set Sentient to never use " + Name(r, t, p) + ". Change this in Settings > Approvals & safety."
}

// HandOffMessage is what the model reads in the place of a result of a call that was handed to the person. name is as Name
// gives it.
func HandOffMessage(name string) string {
	return "NOT DONE by Sentient: " + name + ` is set to "Hand it to me", so Sentient did not do it. What you prepared is shown to the user in Sentient, ` +
		"with a copy button, for them to finish themselves. Do not try it again and do not do it another way. Tell the user in plain words what is ready for them, " +
		"and that it has not been done yet."
}
