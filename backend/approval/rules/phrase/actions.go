package phrase

import "strings"

// Action is one thing that can be done: "send", "delete", "turn_on".
type Action string

// Verb is a word that names an action.
type Verb struct {
	Actions []Action
	Noun    bool   // it can be a noun as well ("post", "email"): a verb only where a verb goes
	Object  string // what it acts on by itself: "email" of "email Priya"
}

// table lists, an action a line, its verbs and then those that can be nouns. A word may stand in several lines. What is
// sent, posted and shared is one action: which tool says which is chance.
var table = []struct{ action, verbs, nouns string }{
	{"send", "send publish submit", "post email mail message text dm tweet share ping"},
	{"reply", "respond", "reply answer"},
	{"forward", "fwd", "forward"},
	{"delete", "delete erase remove wipe destroy clear", "purge"},
	{"trash", "delete remove discard", "trash bin"},
	{"archive", "", "archive"},
	{"create", "create add insert make generate schedule", "book draft invite new compose log plan"},
	{"write", "write save overwrite append", "draft"},
	{"update", "update edit modify rename reschedule adjust rewrite replace set", "change patch fix"},
	{"move", "move", "transfer"},
	{"run", "execute run launch", "start"},
	{"start", "begin", "start trigger"},
	{"stop", "terminate kill", "stop halt"},
	{"buy", "buy", "purchase order checkout"},
	{"pay", "pay refund donate", "transfer wire"},
	{"unlock", "unlock", ""},
	{"lock", "", "lock"},
	{"open", "open", ""},
	{"close", "close shut", ""},
	{"arm", "arm", "alarm"},
	{"disarm", "disarm", ""},
	{"turn_on", "enable activate", ""},
	{"turn_off", "disable deactivate", ""},
	{"activate", "activate", ""},
	{"set", "set adjust", "change"},
	{"play", "", "play"},
	{"pause", "", "pause"},
	{"skip", "skip", ""},
	{"upload", "", "upload"},
	{"download", "", "download"},
	{"install", "install", ""},
	{"uninstall", "uninstall", ""},
	{"restore", "restore recover undelete", ""},
	{"share", "", "share"},
	{"invite", "", "invite"},
	{"cancel", "cancel", ""},
	{"accept", "accept", ""},
	{"decline", "decline", ""},
	{"approve", "approve", ""},
	{"reject", "reject", ""},
	{"merge", "merge", ""},
	{"commit", "commit", ""},
	{"push", "", "push"},
	{"comment", "", "comment"},
	{"react", "react", ""},
	{"assign", "assign", ""},
	{"mark", "", "mark flag"},
	{"label", "", "label tag"},
	{"star", "", "star pin"},
	{"complete", "complete finish", ""},
	{"remind", "remind", ""},
	{"call", "", "call phone"},
	{"click", "", "click press tap"},
	{"type", "", "type"},
	{"fill", "fill", ""},
	{"navigate", "navigate browse", "visit"},
	{"rename", "rename", ""},
	{"copy", "", "copy"},
	{"subscribe", "subscribe", ""},
	{"unsubscribe", "unsubscribe", ""},
	{"block", "", "block"},
	{"join", "join", ""},
	{"leave", "leave", ""},
	{"follow", "follow", ""},
	{"forget", "forget", ""},
	{"remember", "remember", ""},
	{"record", "", "record"},
	{"print", "", "print"},
	{"deploy", "deploy", ""},
	{"restart", "restart reboot", ""},
}

// objects are what verbs that say it themselves act on.
var objects = map[string]string{"email": "email", "mail": "email", "message": "message", "text": "message", "dm": "message", "tweet": "tweet", "remind": "reminder", "call": "call", "phone": "call"}

// separable are verbs of two words; between them may stand what they act on ("turn the light off").
var separable = []struct {
	first, last string
	action      Action
}{
	{"turn", "on", "turn_on"}, {"switch", "on", "turn_on"}, {"put", "on", "turn_on"},
	{"turn", "off", "turn_off"}, {"switch", "off", "turn_off"}, {"shut", "off", "turn_off"}, {"shut", "down", "turn_off"},
	{"set", "up", "create"}, {"throw", "away", "trash"}, {"get", "rid", "trash"}, {"write", "back", "reply"}, {"sign", "up", "subscribe"},
	{"move", "trash", "trash"}, {"move", "bin", "trash"}, {"put", "trash", "trash"}, {"check", "out", "buy"},
}

var verbs = func() map[string]Verb {
	set := map[string]Verb{}
	for _, row := range table {
		for i, words := range []string{row.verbs, row.nouns} {
			for _, w := range strings.Fields(words) {
				v := set[w]
				v.Actions = append(v.Actions, Action(row.action))
				v.Noun = v.Noun || i == 1
				v.Object = objects[w]
				set[w] = v
			}
		}
	}
	return set
}()

// reach is how many words after a verb its second word may stand.
const reach = 8

// VerbAt gives the verb that stands at a place of the words, in the form of an order ("send", not "sent" or "sending").
// Where several second words could be meant ("turn the light on the left off"), it is none of them.
func VerbAt(words []string, i int) (Verb, bool) {
	var found Action
	for _, s := range separable {
		if words[i] != s.first {
			continue
		}
		if i+1 < len(words) && words[i+1] == s.last {
			return Verb{Actions: []Action{s.action}}, true
		}
		for j := i + 1; j < len(words) && j <= i+reach && words[j] != ","; j++ {
			if words[j] != s.last {
				continue
			}
			if found != "" && found != s.action {
				return Verb{}, false
			}
			found = s.action
		}
	}
	if found != "" {
		return Verb{Actions: []Action{found}}, true
	}
	v, ok := verbs[words[i]]
	return v, ok
}

// Base gives the verb of a form: "sending" and "sends" are "send"; "" where it is no form of a known one.
func Base(w string) string {
	if _, ok := verbs[w]; ok {
		return w
	}
	for _, end := range []string{"ing", "es", "s", "ed", "d"} {
		root, ok := strings.CutSuffix(w, end)
		if !ok || len(root) < 2 {
			continue
		}
		forms := []string{root, root + "e"}
		if n := len(root); n > 2 && root[n-1] == root[n-2] {
			forms = append(forms, root[:n-1]) // running
		}
		for _, f := range forms {
			if _, ok := verbs[f]; ok {
				return f
			}
		}
	}
	return ""
}

// OfName gives the action of a tool by the words of its plain name, and which of them says it (how many words from where).
// A first word that the table does not know is an action of its own.
func OfName(name []string) (actions []Action, at, length int) {
	for i, w := range name {
		if i+1 < len(name) {
			for _, s := range separable {
				if w == s.first && name[i+1] == s.last {
					return []Action{s.action}, i, 2
				}
			}
		}
		for _, row := range table { // a tool's name says exactly one thing, so the row that bears it comes first
			if w == row.action {
				return []Action{Action(w)}, i, 1
			}
		}
		if v, ok := verbs[w]; ok {
			return v.Actions, i, 1
		}
	}
	if len(name) > 0 {
		return []Action{Action(name[0])}, 0, 1
	}
	return nil, 0, 0
}

// IsVerb reports whether a word is a verb of the table, in the form of an order.
func IsVerb(w string) bool {
	_, ok := verbs[w]
	if !ok {
		for _, s := range separable {
			ok = ok || s.first == w
		}
	}
	return ok
}
