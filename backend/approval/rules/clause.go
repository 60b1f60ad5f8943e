package rules

import (
	"slices"
	"strings"

	"sentient/backend/approval/rules/phrase"
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func phrases(lines string) [][]string {
	var list [][]string
	for p := range strings.SplitSeq(lines, "|") {
		list = append(list, strings.Fields(p))
	}
	return list
}

var (
	// openers come before an order's verb and add nothing to it.
	openers = set(`yes yeah yep yup ok okay sure please pls plz kindly now then also and just so hey hi hello sentient next first finally great good perfect
		thanks fine alright right absolutely definitely go quickly again immediately , let's lets`)
	// requests are openers of several words.
	requests = phrases(`can you|could you|would you|will you|you can|you may|you could|go ahead and|go ahead|go and|i want you to|i need you to|i'd like you to|
		i would like you to|i'd like to ask you to|help me to|help me|you should|would you mind|try to|looks good|sounds good|do it and|make sure to|be sure to|make sure you|you need to|you have to|you must`)
	politeWords = []string{"can you", "could you", "would you", "will you", "please", "pls", "plz", "yes", "yeah", "ok", "okay"}
	bareWords   = set(`it that this them those these one now please away off all out right ahead for me then already thanks thank you go on today`)
	// scene are words that say when or how, before an order: whoever else stands there may be the verb's subject.
	scene = set(`today tonight tomorrow morning afternoon evening noon monday tuesday wednesday thursday friday saturday sunday this that week at on in the
		meanwhile carefully simply actually maybe perhaps lastly second third afterwards`)
	subjects  = set(`i i'll i'd i've i'm we we'll he she they you you'll it that's it's if when unless until once after before because so while who which`)
	negations = set(`don't dont not never no without cannot can't won't mustn't shouldn't needn't stop avoid refrain nobody nothing neither nor`)
	conjuncts = set(`, and then or but instead plus`)
	// content are words after which follows what is to be said, so that its "if" is no condition.
	content = set(`asking saying telling that about whether`)
)

// clauses splits the words of a sentence where a new order, a refusal or another subject begins: after a comma or a
// conjunction. "Priya, Bob and the Slack channel" stays in one piece.
func clauses(words []string) [][]string {
	var list [][]string
	var now []string
	for i, w := range words {
		if conjuncts[w] && begins(words[i+1:]) {
			if len(now) > 0 {
				list = append(list, now)
			}
			now = nil
			if w == "but" || w == "instead" {
				now = []string{w}
			}
			continue
		}
		now = append(now, w)
	}
	if len(now) > 0 {
		list = append(list, now)
	}
	return list
}

// begins reports whether words start a clause of their own.
func begins(words []string) bool {
	for range 8 { // more than this opens nothing
		if len(words) == 0 {
			break
		}
		if subjects[words[0]] || negations[words[0]] || words[0] == "only" || words[0] == "wait" || words[0] == "ask" {
			return true
		}
		n := opening(words)
		if n == 0 {
			break
		}
		words = words[n:]
	}
	return len(words) > 0 && (phrase.IsVerb(words[0]) || looks[words[0]])
}

// looks are orders that change nothing; they begin a clause too.
var looks = set(`summarize summarise read check look find search list show tell give get fetch explain translate draft prepare review cancel forget do let keep`)

// negated reports whether a clause starts by saying no, or says it of its verb.
func negated(clause []string) bool {
	for i, w := range clause {
		switch {
		case negations[w] && !(w == "no" && i == 0 && len(clause) > 1 && (clause[1] == "problem" || clause[1] == ",")):
			return true
		case w == "do" && i+1 < len(clause) && clause[i+1] == "not":
			return true
		case strings.HasSuffix(w, "n't"):
			return true
		case content[w]:
			return false
		}
	}
	return false
}

// takesBack reports whether a no has no action of its own, so that it is about what was said before: "don't", "do not do it".
func takesBack(clause []string) bool {
	return !slices.ContainsFunc(clause, func(w string) bool { return !negations[w] && !bareWords[w] && !openers[w] && !halts[w] })
}

var halts = set(`do yet so anything wait stop mind want actually but oh sorry hold cancel forget`)

// calledOff reports whether a clause ends what was asked before it.
func calledOff(clause []string) bool {
	switch clause[0] {
	case "wait", "stop", "cancel", "forget", "hold", "nevermind", "no", "scratch", "undo":
		return len(clause) <= 4 && !slices.ContainsFunc(clause[1:], phrase.IsVerb) && takesBack(append([]string{"no"}, clause[1:]...))
	}
	return len(clause) > 1 && clause[0] == "actually" && calledOff(clause[1:])
}

// firstAsks are phrases that want a question before anything is done.
var firstAsks = []string{"ask me", "ask first", "ask before", "asking me", "asking first", "check with me", "checking with me", "check back with me", "confirm with me", "run it by me", "get my ok",
	"get my okay", "get my approval", "get my permission", "my approval", "my permission", "my confirmation", "show me first", "let me see it first", "let me check", "let me review",
	"let me approve", "let me confirm", "let me read", "wait for me", "wait for my", "wait until i"}

func firstAsk(words []string) bool {
	return slices.ContainsFunc(firstAsks, func(p string) bool { return phrase.Has(words, p) })
}

// bareFirstAsk reports whether an ask-first names no action, so that it is about what was said before it.
func bareFirstAsk(words []string) bool {
	return !slices.ContainsFunc(words, phrase.IsVerb)
}

// conditions are phrases that put off what the sentence asks for.
var conditions = []string{"if i", "when i", "once i", "after i", "until i", "unless", "whenever", "as soon as", "later", "before i", "only if", "only when", "only after", "in case", "myself"}

// conditional reports whether a sentence sets a condition, or puts off what it asks for.
func conditional(words []string) bool {
	for _, p := range conditions {
		if phrase.Has(words, p) {
			return true
		}
	}
	for _, w := range words {
		if content[w] {
			return false
		}
		if w == "if" || w == "once" || w == "until" || w == "till" || w == "after" {
			return true
		}
	}
	return false
}
