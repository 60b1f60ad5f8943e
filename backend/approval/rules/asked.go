package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"sentient/backend/approval/rules/phrase"
	"sentient/backend/tool"
)

// Wanted is a call of which is asked whether the person's words asked for it.
type Wanted struct {
	Tool   *tool.Tool
	Plugin *tool.Plugin
	Risk   tool.Risk // the effective one
	Args   json.RawMessage
	Apps   []string // display names and ids of the other connected apps
}

// mostWords bounds how much of the words is read, in bytes: a longer message than this is pasted, not said.
const mostWords = 64 << 10

// mostInSentence bounds a sentence, in words. Nobody asks in one that is longer; what it says is not looked into, and what
// was asked before it is no longer sure.
const mostInSentence = 400

// AskedFor reports whether the person's own messages of this turn, oldest first, asked for a call (§2 `if_asked`).
//
// A call above a look-up is asked for by a clause that names its action with a verb, and what it acts on or its app, or that
// is a bare "yes, send it". A look-up is asked for by a clause that names what it reads or its app. A clause that names
// another connected app, says no, asks to be asked first, sets a condition or tells of somebody else's doing asks for
// nothing; a later no takes back what was asked before. Text in quotation marks, quoted lines, code and what follows a colon
// are what somebody may have pasted, and ask for nothing either.
func AskedFor(words []string, c Wanted) bool {
	if c.Tool == nil {
		return false
	}
	w := wantedOf(c)
	asked := false
	for _, message := range words {
		if len(message) > mostWords {
			continue
		}
		for _, s := range phrase.Sentences(unquoted(phrase.Fold(message))) {
			asked = w.hear(s, asked)
		}
	}
	return asked && w.reaches(words)
}

// hear follows one sentence: whether the call is asked for after it, when before it was as asked says.
func (w wanted) hear(s phrase.Sentence, asked bool) bool {
	words := phrase.Words(s.Text)
	if len(words) > mostInSentence {
		return false
	}
	if firstAsk(words) {
		// "ask me first" is about what was said before it, "ask me before you send it" about what it names.
		return asked && !w.touches(words) && !bareFirstAsk(words)
	}
	refusing, putOff := false, conditional(words)
	for _, clause := range clauses(words) {
		switch {
		case negated(clause):
			refusing = true
			if takesBack(clause) || w.touches(clause) {
				asked = false
			}
		case putOff:
			asked = asked && !calledOff(clause)
		case clause[0] == "but" || clause[0] == "instead":
			refusing = false
			asked = asked || w.asks(clause[1:], s.Question)
		case calledOff(clause):
			asked = false
		case !refusing:
			asked = asked || w.asks(clause, s.Question)
		}
	}
	return asked
}

// asks reports whether one clause asks for the call.
func (w wanted) asks(clause []string, question bool) bool {
	if len(clause) == 0 || w.namesOther(clause) {
		return false
	}
	if w.risk == tool.Read {
		return w.names(clause)
	}
	request := slices.ContainsFunc(politeWords, func(p string) bool { return phrase.Has(clause, p) })
	if question && !request {
		return false // "send it?" is not yet a yes
	}
	for i := range clause {
		v, ok := phrase.VerbAt(clause, i)
		if !ok || !w.does(v, clause) || !verbPlace(clause, i, v) {
			continue
		}
		if question && ability(clause, i) || toThePerson(clause, i) {
			continue
		}
		rest := append(slices.Clone(clause[:i]), clause[i+1:]...)
		if w.object(v.Object) || w.names(rest) || bare(clause, i) {
			return true
		}
	}
	return false
}

// ability reports whether a question asks what can be done at all: "can you send emails?".
func ability(clause []string, i int) bool {
	rest := clause[i+1:]
	return len(rest) == 0 || len(rest) == 1 && phrase.Singular(rest[0]) != rest[0]
}

// toThePerson reports whether what is asked for comes to the person: "send me the email" sends none.
func toThePerson(clause []string, i int) bool {
	return i+1 < len(clause) && (clause[i+1] == "me" || clause[i+1] == "us") && (clause[i] == "send" || clause[i] == "forward")
}

// bare reports whether a clause is nothing but its verb: "yes, send it".
func bare(clause []string, i int) bool {
	for j, word := range clause {
		if j != i && !bareWords[word] && !openers[word] {
			return false
		}
	}
	return true
}

// verbPlace reports whether a verb stands where an order has its verb. One that may be a noun only does after words that
// open a request; another also after what sets the scene ("tomorrow send ..."). "Priya will send" asks for nothing.
func verbPlace(clause []string, i int, v phrase.Verb) bool {
	before := clause[:i]
	for len(before) > 0 {
		n := opening(before)
		if n == 0 {
			break
		}
		before = before[n:]
	}
	if v.Noun && i+1 < len(clause) && nounAfter[clause[i+1]] {
		return false // "email from Bob please", "email is broken"
	}
	if len(before) == 0 {
		return true
	}
	if v.Noun {
		return false
	}
	return !slices.ContainsFunc(before, func(word string) bool { return !scene[word] })
}

// nounAfter are words behind a word that then is a thing and not what is to be done.
var nounAfter = map[string]bool{"from": true, "of": true, "is": true, "are": true, "was": true, "were": true, "has": true, "have": true, "says": true, "said": true,
	"address": true, "addresses": true, "account": true, "about": true, "by": true, "in": true, "on": true, "at": true, "which": true, "can": true, "will": true, "would": true,
	"should": true, "does": true, "doesn't": true, "isn't": true, "and": true, "or": true}

// opening gives how many words at the start only open a request.
func opening(words []string) int {
	for _, p := range requests {
		n := len(p)
		if n <= len(words) && slices.Equal(words[:n], p) {
			return n
		}
	}
	if openers[words[0]] {
		return 1
	}
	return 0
}

// reaches reports whether a call that names its recipients by address goes only to those that the person named, where the
// person named any.
func (w wanted) reaches(words []string) bool {
	if len(w.recipients) == 0 {
		return true
	}
	named := map[string]bool{}
	for _, message := range words {
		for _, word := range phrase.Words(phrase.Fold(message)) {
			if phrase.IsAddress(word) {
				named[word] = true
			}
		}
	}
	if len(named) == 0 {
		return true
	}
	return !slices.ContainsFunc(w.recipients, func(a string) bool { return !named[a] })
}

// unquoted takes out what may be somebody else's words: quotations, quoted lines, code, what follows a colon. A colon at the
// end of a line introduces all that comes after it.
func unquoted(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "'''") || strings.HasPrefix(trimmed, "~~~") { // folding made ``` of it '''
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(trimmed, ">") {
			continue
		}
		line = withoutQuotations(line)
		if i := colon(line); i >= 0 {
			b.WriteString(line[:i])
			if strings.TrimSpace(line[i+1:]) == "" {
				break
			}
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// colon gives where a colon stands that something follows after a blank, or that ends the line; -1 without one.
func colon(line string) int {
	for i := range len(line) {
		if line[i] == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\n' || line[i+1] == '\t') {
			return i
		}
	}
	return -1
}

func withoutQuotations(line string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		switch r {
		case '"', '„', '«', '»', '“', '”':
			inside = !inside
			return ' '
		}
		if inside && r != '\n' {
			return -1
		}
		return r
	}, line)
}
