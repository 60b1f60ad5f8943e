// Package evidence is what code knows of a run when it judges one of the run's calls: what the person said, what was read
// and from where, what was loaded.
//
// It owns the types that the checks of the gate share, and nothing else: no check, no table, no model. What it holds was
// collected by the engine; nothing in it is a model's word about itself.
package evidence

import (
	"context"
	"encoding/json"
)

// Evidence is a run's past. Checks only read it.
type Evidence struct {
	Words    []string  // the person's own messages in the chat, oldest first: as typed or spoken, nothing from outside
	Turn     []string  // those of this turn: its message, and what was said into its reply
	Trusted  []string  // what else counts as the person's: the chat's system prompt, a task's brief
	Others   []Passage // what someone else wrote into the chat itself: group members, another app
	Results  []Result  // of the calls so far, oldest first
	Loaded   []string  // web addresses that calls have loaded, oldest first, the ones of this round that will run included
	UserName string
	Records  Records // saved memories and contacts; nil: there are none
}

// Passage is a piece of text with where it came from.
type Passage struct {
	Source string // "another group member (Priya)"
	Text   string
}

// Result is what a call gave, as the model read it, without the marks around it.
type Result struct {
	Tool    string // its name
	App     string // its plugin's id
	Source  string // what a person calls it: "Gmail"; for outside content where it came from: "a downloaded file"
	Args    json.RawMessage
	Text    string // text, or compact JSON; it may be cut
	Outside bool   // someone else may have written it (§10 "Outside content")
	Private bool   // it is the person's: mail, calendar, files, memory, contacts, home, an MCP server's (decision 5)
}

// Records vouch for what the person has saved before.
type Records interface {
	// Knows reports whether a saved memory or contact holds an address, a phone number, an amount or a link.
	Knows(ctx context.Context, value string) (bool, error)
}
