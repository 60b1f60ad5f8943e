package proposal

import (
	"cmp"
	"slices"
	"strings"

	"sentient/backend/approval/rules"
	"sentient/backend/approval/rules/phrase"
	"sentient/backend/tool"
)

// Key is a tool or a whole app that a rule can be about.
type Key struct {
	Key     string // as it stands in tools.approvals.rules
	App     string // the plugin's id
	AppName string
	Tool    string // the tool's plain name; "" for the whole app
	Label   string // "Gmail > Trash", or "Gmail"
}

// mostCandidates is how many keys a model is given to choose from.
const mostCandidates = 60

func appKey(p *tool.Plugin) Key { return Key{Key: p.ID, App: p.ID, AppName: p.Name, Label: p.Name} }

func toolKey(t *tool.Tool, p *tool.Plugin) Key {
	plain := rules.PlainName(t.Name, p)
	return Key{Key: t.Name, App: p.ID, AppName: p.Name, Tool: plain, Label: p.Name + " > " + plain}
}

// Candidates gives what a text can be about, best first: the tools whose names or descriptions share a word with it, whose
// app it names or whose action it names, and the apps of these.
func Candidates(text string, apps []*tool.Plugin) []Key {
	x := readText(text)
	type scored struct {
		Key
		score int
	}
	var list []scored
	for _, p := range apps {
		named := x.app(p)
		best := 0
		for _, t := range p.Tools {
			if score := x.tool(t, p) + named; score > 0 {
				best = max(best, score)
				list = append(list, scored{toolKey(t, p), score})
			}
		}
		if best > 0 || named > 0 {
			list = append(list, scored{appKey(p), max(best, named)})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	keys := []Key{}
	for _, s := range list[:min(len(list), mostCandidates)] {
		keys = append(keys, s.Key)
	}
	return keys
}

// How much it says that a text and a tool have something in common.
const (
	exactName  = 100 // the tool's own name
	appName    = 20
	sameAction = 10
	nameWord   = 4
	toldWord   = 1 // a word of its description
)

// readWords is a text as tools are compared with it.
type readWords struct {
	words   []string
	stems   map[string]bool
	actions []phrase.Action
}

func readText(text string) readWords {
	x := readWords{words: phrase.Words(phrase.Fold(text)), stems: map[string]bool{}}
	for _, w := range x.words {
		if s := stem(w); s != "" {
			x.stems[s] = true
		}
	}
	x.actions = widened(actionsIn(x.words), x.words)
	return x
}

// app gives appName when the text names an app, by its name or id.
func (x readWords) app(p *tool.Plugin) int {
	for _, name := range []string{p.Name, p.ID, strings.TrimPrefix(p.ID, "mcp_")} {
		folded := phrase.Fold(name)
		if parts := phrase.Words(strings.ReplaceAll(folded, "_", " ")); phrase.Has(x.words, strings.Join(parts, " ")) || phrase.Has(x.words, folded) {
			return appName
		}
	}
	return 0
}

func (x readWords) tool(t *tool.Tool, p *tool.Plugin) int {
	if slices.Contains(x.words, t.Name) {
		return exactName
	}
	score := 0
	if x.does(t, p) {
		score += sameAction
	}
	name := strings.Fields(phrase.Fold(strings.ReplaceAll(t.Name, "_", " ")))
	for _, w := range name {
		if s := stem(w); s != "" && x.stems[s] {
			score += nameWord
		}
	}
	about := t.Description
	if len(about) > 400 {
		about = about[:400]
	}
	for _, w := range phrase.Words(phrase.Fold(about)) {
		if s := stem(w); s != "" && x.stems[s] {
			score += toldWord
		}
	}
	return score
}

// does reports whether the text names a tool's action.
func (x readWords) does(t *tool.Tool, p *tool.Plugin) bool {
	own, _, _ := phrase.OfName(strings.Fields(phrase.Fold(rules.PlainName(t.Name, p))))
	return slices.ContainsFunc(own, func(a phrase.Action) bool { return slices.Contains(x.actions, a) })
}

// stem gives a word as it is compared, "" for one that says nothing.
func stem(w string) string {
	if len(w) < 2 || noise[w] {
		return ""
	}
	if b := phrase.Base(w); b != "" {
		return b
	}
	return phrase.Singular(w)
}

var noise = words(`a about after again all also always am an and any anyone anything are as ask asked asking at be because been before but by can cannot can't check confirm could did do does doing don't
	dont down each else ever every everything first for from get give go had hand has have he her him his how i i'd i'll i'm if in into is it it's its just keep let like make may me mine more most must mustn't my myself
	name need never no not now of off ok okay on once one only or other our out over own permission approval please press put really say see set she should shouldn't so some something still stop such take tell than that
	the their them then there these they thing this those through time to too touch two under unless until up us use used user using want was way we well were what when where which while who why will with without would yes you
	your yours yourself sentient assistant new given id list optional returns return result`)

// beforeVerb are words after which a word that can be a noun is a verb all the same.
var beforeVerb = words(`never don't dont not always before to and or , you please without must should i'll ever i can will would automatically just auto sentient then mustn't shouldn't nor`)

// beforeNoun are words after which any word is a thing.
var beforeNoun = words(`my the a an our your his her their this these those any every`)

// actionsIn gives the actions that words name. A word after "my" or after a noun is a thing: "my email messages" names none.
// The draft of "just draft it" is none either: it is what the person leaves to Sentient.
func actionsIn(list []string) []phrase.Action {
	var found []phrase.Action
	for i, w := range list {
		base := phrase.Base(w)
		v, ok := phrase.VerbAt(list, i)
		if base != "" && base != w {
			v, ok = phrase.VerbAt([]string{base}, 0)
		}
		if !ok {
			continue
		}
		before := ""
		if i > 0 {
			before = list[i-1]
		}
		if beforeNoun[before] || base == "draft" && (before == "just" || before == "only") {
			continue
		}
		if v.Noun && i > 0 && !strings.HasSuffix(w, "ing") && !beforeVerb[before] && !isPress(before) {
			continue
		}
		for _, a := range v.Actions {
			if !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	return found
}

func isPress(w string) bool { return w == "press" || w == "hit" || w == "click" || w == "tap" }

// wider are the actions that somebody who forbids one means as well.
var wider = map[phrase.Action][]phrase.Action{
	"send":   {"reply", "forward"},
	"delete": {"trash"},
	"trash":  {"delete"},
	"buy":    {"pay"},
	"pay":    {"buy"},
}

func widened(actions []phrase.Action, list []string) []phrase.Action {
	all := slices.Clone(actions)
	for _, a := range actions {
		all = append(all, wider[a]...)
	}
	if slices.Contains(actions, "send") && (phrase.Has(list, "money") || phrase.Has(list, "payment")) {
		all = append(all, "pay")
	}
	return all
}
