package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"sentient/backend/approval/rules/phrase"
	"sentient/backend/tool"
)

// wanted is a call as words are compared with it.
type wanted struct {
	risk       tool.Risk
	actions    []phrase.Action
	nouns      []string // what it acts on, and its app; phrases
	others     []string // other apps
	recipients []string // addresses among its arguments
	email      bool     // it acts on an email, so that an address names it
}

// vendors stand in front of an app's name and say nothing about which app.
var vendors = set("google microsoft apple amazon")

// kin are words that people use for what tools' names call otherwise.
var kin = map[string]string{
	"email": "mail e-mail inbox", "event": "meeting appointment calendar", "message": "dm chat", "file": "document", "page": "note doc", "task": "todo to-do",
	"issue": "ticket bug", "code": "script program python", "command": "script terminal", "reminder": "alarm", "purchase": "order", "track": "song music", "tweet": "post",
	"pr": "pull", "memory": "fact", "temperature": "heating thermostat degree", "cover": "blind shutter curtain garage gate", "alarm": "security",
	"scene": "", "channel": "", "thread": "conversation",
}

var outcomeNouns = map[tool.Outcome]string{tool.OutcomeEmail: "email", tool.OutcomeMessage: "message", tool.OutcomeFile: "file", tool.OutcomeEvent: "event"}

// small are words of tools' names that name nothing.
var small = set("in on at to of for the a an by with from and or all my quick new get list search read find fetch show check look view api v1 v2 it this that me up off out")

func wantedOf(c Wanted) wanted {
	w := wanted{risk: c.Risk}
	if w.risk == 0 {
		w.risk = c.Tool.Risk
	}
	name := strings.Fields(phrase.Fold(PlainName(c.Tool.Name, c.Plugin)))
	var at, length int
	w.actions, at, length = phrase.OfName(name)
	for i, word := range name {
		if (i < at || i >= at+length) && !small[word] {
			w.noun(word)
		}
	}
	if len(w.nouns) > 1 { // "item" says what it is about only where nothing else does
		w.nouns = slices.DeleteFunc(w.nouns, func(n string) bool { return n == "item" || n == "data" })
	}
	if noun := outcomeNouns[c.Tool.Outcome]; noun != "" {
		w.noun(noun)
	}
	if c.Plugin != nil {
		w.app(c.Plugin)
	}
	w.email = w.object("email")
	if c.Tool.Outcome == tool.OutcomeHome {
		w.nouns = append(w.nouns, devices(c.Args)...)
	}
	w.recipients = recipients(c.Args)
	w.notApps(c.Apps)
	return w
}

func (w *wanted) noun(word string) {
	word = phrase.Singular(word)
	w.nouns = append(w.nouns, word)
	w.nouns = append(w.nouns, strings.Fields(kin[word])...)
}

// app adds the names of the tool's app. An app for mail acts on emails, whatever it is called.
func (w *wanted) app(p *tool.Plugin) {
	for _, name := range []string{p.Name, strings.TrimPrefix(p.ID, "mcp_")} {
		words := phrase.Words(strings.ReplaceAll(phrase.Fold(name), "_", " "))
		if len(words) == 0 {
			continue
		}
		w.nouns = append(w.nouns, strings.Join(words, " "))
		if len(words) > 1 && vendors[words[0]] {
			w.nouns = append(w.nouns, strings.Join(words[1:], " "))
		}
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, "mail") || word == "outlook" || word == "imap" }) {
			w.noun("email")
		}
	}
}

// notApps notes the other apps, but for those whose name is also a word for what this call acts on.
func (w *wanted) notApps(apps []string) {
	for _, name := range apps {
		other := strings.Join(phrase.Words(strings.ReplaceAll(phrase.Fold(name), "_", " ")), " ")
		if other != "" && !w.object(other) {
			w.others = append(w.others, other)
		}
	}
}

func (w wanted) object(noun string) bool {
	return noun != "" && slices.Contains(w.nouns, phrase.Singular(noun))
}

// names reports whether words name what the call acts on, or its app.
func (w wanted) names(words []string) bool {
	if w.email && slices.ContainsFunc(words, phrase.IsAddress) {
		return true
	}
	return slices.ContainsFunc(w.nouns, func(n string) bool { return phrase.Has(words, n) })
}

func (w wanted) namesOther(words []string) bool {
	return slices.ContainsFunc(w.others, func(n string) bool { return phrase.Has(words, n) })
}

// does reports whether a verb names the call's action. "Send a reply" replies: "send" with that noun does.
func (w wanted) does(v phrase.Verb, clause []string) bool {
	for _, a := range v.Actions {
		if slices.Contains(w.actions, a) {
			return true
		}
		if a == "send" {
			for _, own := range w.actions {
				if (own == "reply" || own == "forward") && phrase.Has(clause, string(own)) {
					return true
				}
			}
		}
	}
	return false
}

// touches reports whether words name the call's action in any form: "sending" too.
func (w wanted) touches(words []string) bool {
	for i, word := range words {
		if v, ok := phrase.VerbAt(words, i); ok && w.does(v, words) {
			return true
		}
		if base := phrase.Base(word); base != "" {
			if v, ok := phrase.VerbAt([]string{base}, 0); ok && w.does(v, words) {
				return true
			}
		}
	}
	return false
}

// fields gives the strings of some members of a call's arguments.
func fields(args json.RawMessage, members ...string) []string {
	var in map[string]any
	if json.Unmarshal(args, &in) != nil {
		return nil
	}
	var list []string
	for _, m := range members {
		switch v := in[m].(type) {
		case string:
			list = append(list, v)
		case []any:
			for _, one := range v {
				if s, ok := one.(string); ok {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

func recipients(args json.RawMessage) []string {
	var list []string
	for _, v := range fields(args, "to", "cc", "bcc", "recipient", "recipients", "email", "address") {
		for _, part := range strings.FieldsFunc(phrase.Fold(v), func(r rune) bool { return strings.ContainsRune(" ,;<>\t\n", r) }) {
			if part = strings.Trim(part, `"'()`); phrase.IsAddress(part) {
				list = append(list, part)
			}
		}
	}
	return list
}

// devices gives the names of what a home call acts on: light.kitchen_lamp is a kitchen and a lamp. The kind counts only
// where there is no name, so that "the kitchen light" is not every light.
func devices(args json.RawMessage) []string {
	var list []string
	for _, v := range fields(args, "entity_id", "entity", "device", "name", "area", "scene", "script") {
		kind, name, ok := strings.Cut(phrase.Fold(v), ".")
		if !ok {
			kind, name = "", phrase.Fold(v)
		}
		for _, word := range phrase.Words(strings.ReplaceAll(name, "_", " ")) {
			if word = phrase.Singular(word); word != kind && !small[word] && word != "," {
				list = append(list, word)
			}
		}
		if len(list) == 0 && kind != "" {
			list = append(list, kind)
		}
	}
	return list
}
