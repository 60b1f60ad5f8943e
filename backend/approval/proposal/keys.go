package proposal

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sentient/backend/approval/rules"
	"sentient/backend/approval/rules/phrase"
	"sentient/backend/tool"
)

// instruction is one instruction of a person: a sentence, or a part of one that stands by itself.
type instruction struct {
	text     string // folded
	sentence string // as it was written
	words    readWords
}

// starts are words with which a new instruction begins behind a comma or a conjunction.
var starts = words("never don't dont do always use touch only must please")

var joins = words(", and or but")

// instructions splits sentences where another instruction begins. A part that names neither an app nor an action ("always
// ask me before that") belongs to the one before it.
func instructions(sentences []string, apps []*tool.Plugin) []instruction {
	var list []instruction
	for _, s := range sentences {
		for _, part := range split(phrase.Words(phrase.Fold(s))) {
			text := strings.Join(part, " ")
			x := readText(text)
			named := len(x.actions) > 0 || slices.ContainsFunc(apps, func(p *tool.Plugin) bool {
				return x.app(p) > 0 || slices.ContainsFunc(p.Tools, func(t *tool.Tool) bool { return slices.Contains(x.words, t.Name) })
			})
			if named || len(list) == 0 {
				list = append(list, instruction{text, s, x})
				continue
			}
			last := &list[len(list)-1]
			last.text += " , " + text
			last.words = readText(last.text)
			if last.sentence != s && !strings.HasSuffix(last.sentence, s) {
				last.sentence += " " + s
			}
		}
	}
	return list
}

func split(list []string) [][]string {
	var all [][]string
	from := 0
	for i := 1; i+1 < len(list); i++ {
		if joins[list[i]] && starts[list[i+1]] {
			if i > from {
				all = append(all, list[from:i])
			}
			from = i + 1
		}
	}
	return append(all, list[from:])
}

// picked is a key with the instruction that it follows from.
type picked struct {
	Key
	level    rules.Level
	sentence string
}

// vague are actions that can mean an app as a whole: "never open Slack".
var vague = []phrase.Action{"open", "call", "run", "start", "navigate", "type", "click"}

// choose makes of the keys that a model picked those that a rule is proposed for (§2): each judged by the instruction that
// mentions its app. A whole app stays only where that instruction names no action, else its tools with that action stand in
// its place; tools that the words name exactly are exactly those. level is what the model picked.
func choose(list []instruction, keys []Key, apps []*tool.Plugin, level rules.Level) []picked {
	var out []picked
	add := func(k Key, in instruction) {
		l := LevelFor(in.text, level)
		i := slices.IndexFunc(out, func(o picked) bool { return o.Key.Key == k.Key })
		if i < 0 {
			out = append(out, picked{k, l, in.sentence})
		} else if l.Stricter(out[i].level) {
			out[i].level, out[i].sentence = l, in.sentence
		}
	}
	for _, k := range keys {
		p := pluginOf(apps, k.App)
		if p == nil || len(list) == 0 {
			continue
		}
		for _, in := range mentions(list, k, p) {
			if exact := exactly(in, apps); len(exact) > 0 {
				for _, e := range exact {
					add(e, in)
				}
				continue
			}
			if k.Tool != "" {
				add(k, in)
				continue
			}
			for _, one := range narrowed(in, k, p) {
				add(one, in)
			}
		}
	}
	return slices.DeleteFunc(out, func(o picked) bool { // a tool whose whole app is proposed as strictly
		return o.Tool != "" && slices.ContainsFunc(out, func(app picked) bool { return app.Tool == "" && app.App == o.App && !o.level.Stricter(app.level) })
	})
}

func pluginOf(apps []*tool.Plugin, id string) *tool.Plugin {
	if i := slices.IndexFunc(apps, func(p *tool.Plugin) bool { return p.ID == id }); i >= 0 {
		return apps[i]
	}
	return nil
}

// mentions gives the instructions that a key follows from: for an app, each that names it, else the one that has most in
// common with its tools; for a tool the one that has most in common with it.
func mentions(list []instruction, k Key, p *tool.Plugin) []instruction {
	var naming []instruction
	best, most := 0, -1
	for i, in := range list {
		named, score := in.words.app(p), 0
		for _, t := range p.Tools {
			if k.Tool == "" || t.Name == k.Key {
				score = max(score, in.words.tool(t, p))
			}
		}
		if named > 0 && k.Tool == "" {
			naming = append(naming, in)
		}
		if score+named > most {
			best, most = i, score+named
		}
	}
	if len(naming) > 0 {
		return naming
	}
	return list[best : best+1]
}

// exactly gives the tools that an instruction names by their own names.
func exactly(in instruction, apps []*tool.Plugin) []Key {
	var list []Key
	for _, p := range apps {
		for _, t := range p.Tools {
			if strings.Contains(t.Name, "_") && slices.Contains(in.words.words, t.Name) {
				list = append(list, toolKey(t, p))
			}
		}
	}
	return list
}

// narrowed gives what stands for a whole app.
func narrowed(in instruction, k Key, p *tool.Plugin) []Key {
	if len(in.words.actions) == 0 {
		return []Key{k}
	}
	var list []Key
	for _, t := range p.Tools {
		if in.words.does(t, p) {
			list = append(list, toolKey(t, p))
		}
	}
	if len(list) == 0 && !slices.ContainsFunc(in.words.actions, func(a phrase.Action) bool { return !slices.Contains(vague, a) }) {
		return []Key{k}
	}
	return list
}

// weighed gives the keys that a check is about while it runs: a whole app only where it could be proposed.
func weighed(list []instruction, candidates []Key, apps []*tool.Plugin) map[string]bool {
	set := map[string]bool{}
	for _, k := range choose(list, candidates, apps, rules.Never) {
		set[k.Key.Key] = true
	}
	for _, k := range candidates {
		if k.Tool != "" {
			set[k.Key] = true
		}
	}
	return set
}

func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
