package proposal

import (
	"slices"
	"strings"

	"sentient/backend/approval/rules"
	"sentient/backend/approval/rules/phrase"
)

// Bounds of what is read. A longer sentence is no instruction.
const (
	mostText      = 1 << 20 // bytes of a message
	mostSentence  = 2000    // bytes of a sentence
	mostSentences = 12
)

// Detect gives the sentences of a message that read like a standing "never", "ask me first", "only if I ask" or "hand it to
// me", as they were written, in order. It is the filter before a model is asked, so it lets pass what might be one; a
// sentence that is about the request at hand alone, and one that wants fewer questions, never does.
func Detect(text string) []string {
	if len(text) > mostText {
		text = text[:mostText]
	}
	var list []string
	for _, s := range phrase.Sentences(text) {
		if len(s.Text) > mostSentence {
			continue
		}
		if standing(phrase.Words(phrase.Fold(s.Text))) {
			list = append(list, s.Text)
			if len(list) == mostSentences {
				break
			}
		}
	}
	return list
}

func standing(words []string) bool {
	if limited(words) {
		return false
	}
	words = withoutFewerQuestions(words)
	return forbids(words) || wantsQuestion(words) || levelWords(words) != rules.None
}

// LevelFor gives the level that a person's words make it, with what the model picked (never or ask) where they do not say.
// Where they say several, the strictest counts.
func LevelFor(words string, picked rules.Level) rules.Level {
	if l := levelWords(withoutFewerQuestions(phrase.Words(phrase.Fold(words)))); l != rules.None {
		return l
	}
	if picked == rules.Never {
		return rules.Never
	}
	return rules.Ask
}

func levelWords(words []string) rules.Level {
	switch {
	case handsOver(words):
		return rules.HandOff
	case wantsQuestion(words):
		return rules.Ask
	case onlyIfAsked(words):
		return rules.IfAsked
	}
	return rules.None
}

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

var (
	// thisOnce are phrases that limit a sentence to the request at hand.
	thisOnce = []string{"this time", "this once", "just once", "only once", "for now", "right now", "for the moment", "at the moment", "for today", "just today", "only today", "just tonight",
		"yet", "for this", "in this message", "in this reply", "in this chat", "in this conversation", "in this answer", "in this task", "in this step", "this one time", "not now"}
	parts = words("part step phase section question exercise round stage chapter paragraph")
	// speakers before a "never" or "don't" tell of somebody instead of forbidding.
	speakers = words("i we they he she it who why you people and/or")
	// idle are what follows a "don't" that forbids nothing.
	idle    = words("worry forget hesitate mind know think care understand you we i believe remember see have")
	between = words("always ever even keep need to have bother again please you really constantly")
	permits = []string{"you can", "you may", "feel free", "go ahead", "free to", "it's fine", "it's ok", "it is fine", "it is ok", "okay to", "ok to", "fine to", "allowed to"}

	questions = []string{"ask me first", "ask me before", "ask first", "ask before", "asking first", "check with me", "checking with me", "confirm with me", "confirming with me", "without checking",
		"without my", "my approval", "my permission", "get my ok", "get my okay", "run it by me", "running it by me", "need my ok", "need my okay"}
	always    = []string{"always ask", "always check", "always confirm", "always get my"}
	withoutIt = []string{"without asking", "without confirming", "without telling me"}
	handWords = []string{"hand it to me", "hand them to me", "hand that to me", "hand this to me", "hand those to me", "hand it over", "hand them over", "hand over to me", "let me press", "let me hit",
		"let me click", "let me send", "let me post", "let me tap", "just draft", "only draft", "just prepare", "only prepare", "just write the draft", "leave the sending to me", "leave sending to me", "leave that to me", "leave it to me",
		"leave the last step to me", "i press send", "i'll press send", "i'll hit send", "i'll click send"}
	myOwn      = []string{"i'll", "i will", "i'd rather", "i want to", "i would rather", "i prefer to", "i do", "i send", "let me", "i'd like to", "i can", "i always"}
	onlyWords  = []string{"unless i", "only when i", "only if i", "only after i", "except when i", "except if i", "not until i"}
	askedWords = words("ask asked tell told say said request requested want instruct explicitly specifically")
)

// limited reports whether a sentence is about the request at hand: "this time", "in part A".
func limited(words []string) bool {
	if slices.ContainsFunc(thisOnce, func(p string) bool { return phrase.Has(words, p) }) {
		return true
	}
	for i := 0; i+1 < len(words); i++ {
		if (words[i] == "in" || words[i] == "for" || words[i] == "during") && parts[words[i+1]] {
			return true
		}
	}
	return false
}

// withoutFewerQuestions takes out "don't ask me", "stop asking" and the like, each up to the end of its clause: they want
// less, never more.
func withoutFewerQuestions(words []string) []string {
	var kept []string
	for i := 0; i < len(words); i++ {
		j := i
		switch words[i] {
		case "don't", "dont", "never", "stop", "quit", "needn't", "not", "no":
			j = i + 1
		case "do":
			if i+1 < len(words) && words[i+1] == "not" {
				j = i + 2
			}
		}
		for j > i && j < len(words) && between[words[j]] {
			j++
		}
		if j == i || j >= len(words) || words[j] != "ask" && words[j] != "asking" {
			kept = append(kept, words[i])
			continue
		}
		for i+1 < len(words) && words[i+1] != "," && words[i+1] != "but" && words[i+1] != "and" {
			i++
		}
	}
	return kept
}

// forbids reports whether words hold a "never" or a "don't" that is said to the assistant.
func forbids(words []string) bool {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w {
		case "never", "don't", "dont":
			if said(words, i, i+1) {
				return true
			}
		case "do":
			if next == "not" && said(words, i, i+2) {
				return true
			}
		case "must", "should", "may", "can", "shall":
			if (next == "not" || next == "never") && (i == 0 || words[i-1] == "you" || words[i-1] == "sentient") {
				return true
			}
		case "mustn't", "shouldn't", "cannot", "can't":
			if i == 0 || words[i-1] == "you" || words[i-1] == "sentient" {
				return true
			}
		case "stop":
			if strings.HasSuffix(next, "ing") && phrase.Base(next) != "" {
				return true
			}
		case "under":
			if next == "no" && phrase.Has(words, "under no circumstance") {
				return true
			}
		case "not":
			if next == "allowed" || next == "permitted" {
				return true
			}
		case "no":
			if i == 0 && strings.HasSuffix(next, "ing") && phrase.Base(next) != "" {
				return true
			}
		case "off":
			if next == "limits" {
				return true
			}
		}
	}
	return false
}

// said reports whether the "don't" before a place is said to the assistant. "I don't want you to" is, "I don't know" is not.
func said(words []string, at, after int) bool {
	if after >= len(words) || idle[words[after]] {
		return false
	}
	if at == 0 || !speakers[words[at-1]] {
		return true
	}
	return words[at-1] == "i" && (words[after] == "want" || words[after] == "like" || words[after] == "ever") && phrase.Has(words, "you to")
}

func wantsQuestion(words []string) bool {
	has := func(p string) bool { return phrase.Has(words, p) }
	for _, p := range always {
		if i := phrase.Find(words, p); i >= 0 && (i == 0 || !speakers[words[i-1]] || words[i-1] == "you") {
			return true
		}
	}
	if slices.ContainsFunc(questions, has) {
		return true
	}
	return slices.ContainsFunc(withoutIt, has) && (forbids(words) || !slices.ContainsFunc(permits, has))
}

func handsOver(words []string) bool {
	has := func(p string) bool { return phrase.Has(words, p) }
	return slices.ContainsFunc(handWords, has) || has("myself") && slices.ContainsFunc(myOwn, has)
}

func onlyIfAsked(words []string) bool {
	for _, p := range onlyWords {
		i := phrase.Find(words, p)
		if i < 0 {
			continue
		}
		for j := i + len(strings.Fields(p)); j < len(words) && j < i+8; j++ {
			if askedWords[words[j]] {
				return true
			}
		}
	}
	return false
}
