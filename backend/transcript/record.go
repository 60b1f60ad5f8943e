package transcript

import (
	"encoding/json"
	"fmt"
)

// Record is one kind of log entry: what a turn has to say that must be kept. Its JSON form is the entry's payload.
// Kinds are never renamed and members never change their meaning: logs of all ages are read.
type Record interface {
	kind() string
	// project gives what the tables hold because of this entry. It must be pure: Rebuild calls it again, years later.
	project(at place) []row
}

// place is where an entry stands, as far as projections depend on it.
type place struct {
	Ref
	n          int64 // the entry's place over all chats
	time       string
	searchable bool // false in incognito chats
}

// UserMessage opens a turn: it waits until TurnStarted.
type UserMessage struct {
	MessageID   string   `json:"message_id"`
	Text        string   `json:"text"`
	Attachments []string `json:"attachments,omitempty"`
	ClientID    string   `json:"client_id,omitempty"`
	Model       string   `json:"model,omitempty"`  // for this message only
	Parent      string   `json:"parent,omitempty"` // the turn before it on its path
}

// TurnStarted says that the turn is being answered.
type TurnStarted struct{}

// AssistantMessage is a finished message of the assistant. Cut: it was stopped, or a crash ended it.
type AssistantMessage struct {
	MessageID string `json:"message_id"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking,omitempty"`
	Cut       bool   `json:"cut,omitempty"`
}

// Note is a row of role "event": something that happened to the chat, shown to the person, never sent to a model.
type Note struct {
	MessageID string          `json:"message_id"`
	Name      string          `json:"name"`
	Content   json.RawMessage `json:"content"`
}

// Usage is what a model call took, in tokens, and the context meter.
type Usage struct {
	Model            string  `json:"model"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	ContextUsed      *int    `json:"context_used"`
	ContextLength    *int    `json:"context_length"`
	ContextPercent   *int    `json:"context_percent"`
	ContextWarning   *string `json:"context_warning"`
}

// Notice is a plain note about a reply.
type Notice struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Model   string `json:"model,omitempty"`
	Used    string `json:"used,omitempty"`
}

// Failure is why a turn failed, or why its message was never sent.
type Failure struct {
	Message  string `json:"message"`
	Code     string `json:"code,omitempty"`
	Dropped  bool   `json:"dropped,omitempty"`
	ClientID string `json:"client_id,omitempty"`
}

// Done ends a turn. The reply's text is in its AssistantMessage.
type Done struct {
	MessageID string `json:"message_id,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	Dropped   bool   `json:"dropped,omitempty"`
	Failed    bool   `json:"failed,omitempty"`
}

// records makes an empty record of each kind, for reading the log.
var records = map[string]func() Record{
	"user_message":      func() Record { return new(UserMessage) },
	"turn_started":      func() Record { return new(TurnStarted) },
	"assistant_message": func() Record { return new(AssistantMessage) },
	"note":              func() Record { return new(Note) },
	"usage":             func() Record { return new(Usage) },
	"notice":            func() Record { return new(Notice) },
	"error":             func() Record { return new(Failure) },
	"done":              func() Record { return new(Done) },
}

func (*UserMessage) kind() string      { return "user_message" }
func (*TurnStarted) kind() string      { return "turn_started" }
func (*AssistantMessage) kind() string { return "assistant_message" }
func (*Note) kind() string             { return "note" }
func (*Usage) kind() string            { return "usage" }
func (*Notice) kind() string           { return "notice" }
func (*Failure) kind() string          { return "error" }
func (*Done) kind() string             { return "done" }

// decode reads an entry's payload.
func decode(kind string, payload []byte) (Record, error) {
	empty, ok := records[kind]
	if !ok {
		return nil, fmt.Errorf("read log: unknown kind %q", kind)
	}
	r := empty()
	if err := json.Unmarshal(payload, r); err != nil {
		return nil, fmt.Errorf("read log entry %q: %w", kind, err)
	}
	return r, nil
}

func (m *UserMessage) project(at place) []row {
	return []row{
		turnRow{ref: at.Ref, parent: m.Parent, clientID: m.ClientID, at: at.time},
		messageRow{place: at, id: m.MessageID, role: "user", content: m.Text, attachments: m.Attachments},
	}
}

func (*TurnStarted) project(at place) []row {
	return []row{turnState{turn: at.TurnID, state: Running}}
}

func (m *AssistantMessage) project(at place) []row {
	return []row{messageRow{place: at, id: m.MessageID, role: "assistant", content: m.Text, thinking: m.Thinking, cancelled: m.Cut}}
}

func (m *Note) project(at place) []row {
	at.searchable = false
	return []row{messageRow{place: at, id: m.MessageID, role: "event", content: string(m.Content), name: m.Name}}
}

func (*Usage) project(place) []row   { return nil }
func (*Notice) project(place) []row  { return nil }
func (*Failure) project(place) []row { return nil }

func (d *Done) project(at place) []row {
	state := Finished
	switch {
	case d.Dropped:
		state = Unsent
	case d.Cancelled:
		state = Stopped
	case d.Failed:
		state = Failed
	}
	return []row{turnState{turn: at.TurnID, state: state, ended: at.time}}
}
