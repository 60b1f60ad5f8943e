package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// CallPiece is a piece of a tool call as chat-completion streams send it. Servers leave out or repeat any of its members.
type CallPiece struct {
	Index     *int
	ID        string
	Name      string
	Arguments string
}

// Calls puts tool calls together from pieces and keeps them apart when a server gives several the same index, no index,
// the same id or no id. The zero Calls is ready.
type Calls struct {
	calls []*openCall
}

type openCall struct {
	index *int
	id    string
	name  string
	args  strings.Builder
	final string // the id that List gave
}

// Len gives how many calls there are.
func (c *Calls) Len() int { return len(c.calls) }

// Add takes the next piece. It begins a call when the piece has an index or id of its own, or names a tool although the
// call that it would continue is named otherwise or complete; else it continues that call.
func (c *Calls) Add(p CallPiece) {
	if call := c.target(p); call != nil {
		call.add(p)
	} else if p.ID != "" || p.Name != "" || strings.TrimSpace(p.Arguments) != "" {
		c.Begin(p)
	}
}

// Begin takes the first piece of a call, where the service says that it is one.
func (c *Calls) Begin(p CallPiece) {
	call := &openCall{index: p.Index}
	c.calls = append(c.calls, call)
	call.add(p)
}

func (call *openCall) add(p CallPiece) {
	if call.id == "" {
		call.id = p.ID
	}
	if call.name == "" {
		call.name = p.Name
	}
	call.args.WriteString(p.Arguments)
}

// target finds the call that a piece continues, nil for a new one.
func (c *Calls) target(p CallPiece) *openCall {
	for i := len(c.calls) - 1; i >= 0; i-- {
		call := c.calls[i]
		if p.Index != nil && call.index != nil && *p.Index != *call.index {
			continue
		}
		sameIndex := p.Index != nil && call.index != nil
		if p.ID != "" && call.id != "" && p.ID != call.id {
			continue
		}
		if !sameIndex && p.ID == "" && p.Name == "" && i != len(c.calls)-1 {
			continue
		}
		if begins(call, p) {
			return nil
		}
		return call
	}
	return nil
}

// begins says that a piece which would continue call is a call of its own.
func begins(call *openCall, p CallPiece) bool {
	if p.Name == "" || call.name == "" {
		return false
	}
	if p.Name != call.name {
		return true
	}
	// The same name again: some servers repeat it with every piece.
	return completeObject(call.args.String()) && (p.ID == "" || strings.TrimSpace(p.Arguments) != "")
}

func completeObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}

// List gives the calls in order. Each ID is there and unique: where the server gave none, or one twice, it is made up, once.
// Empty arguments are {}; others are as the model wrote them, valid JSON or not.
func (c *Calls) List() []ToolCall {
	var out []ToolCall
	taken := map[string]bool{}
	for _, call := range c.calls {
		if call.final == "" {
			call.final = call.id
			if call.final == "" || taken[call.final] {
				call.final = NewCallID()
			}
		}
		taken[call.final] = true
		args := bytes.TrimSpace([]byte(call.args.String()))
		if len(args) == 0 {
			args = []byte("{}")
		}
		out = append(out, ToolCall{ID: call.final, Name: call.name, Arguments: args})
	}
	return out
}
