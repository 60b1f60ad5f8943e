package transcript

import (
	"encoding/json"
	"fmt"

	"sentient/backend/approval/ask"
	"sentient/backend/tool"
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
	From        string   `json:"from,omitempty"`   // who wrote it, where that is not the person
}

// Resumed opens a turn that carries on a reply which was cut off: the one before it.
type Resumed struct {
	MessageID string `json:"message_id"`
	ClientID  string `json:"client_id,omitempty"`
	Parent    string `json:"parent"` // the turn whose reply was cut off
}

// TurnStarted says that the turn is being answered.
type TurnStarted struct{}

// Reported opens a turn in which the assistant speaks by itself.
type Reported struct {
	Parent string `json:"parent,omitempty"`
}

// AssistantMessage is a finished message of the assistant: the end of a turn, or of a round that asks for tools. Cut: it
// was stopped, or a crash ended it. The lists belong to the last message of a turn.
type AssistantMessage struct {
	MessageID string              `json:"message_id"`
	Text      string              `json:"text"`
	Thinking  string              `json:"thinking,omitempty"`
	Cut       bool                `json:"cut,omitempty"`
	Calls     []Call              `json:"calls,omitempty"`
	Memories  []tool.MemorySource `json:"memories,omitempty"`
	Sources   []tool.Source       `json:"sources,omitempty"`
	Checks    []Check             `json:"checks,omitempty"`
}

// Call is one call that a model asks for.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object; what a model wrote that is none stands in "unreadable"
}

// CallStarted says that a call is being carried out: from here on it may have had an effect.
type CallStarted struct {
	Call
}

// CallResult is how a call ended. Content is what the model reads, Result the whole of it for the person.
type CallResult struct {
	MessageID  string          `json:"message_id"`
	CallID     string          `json:"call_id"`
	Name       string          `json:"name"`
	Content    string          `json:"content"`
	Result     json.RawMessage `json:"result"`
	IsError    bool            `json:"is_error,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	Check      *Check          `json:"check,omitempty"`
	Outside    string          `json:"outside,omitempty"`  // where it was read from, when someone else wrote it: "Gmail"
	Approval   *ask.Answered   `json:"approval,omitempty"` // how its request was answered
}

// Check is what code found a call really did (§4 "Checking the outcome", OutcomeCheck).
type Check struct {
	Tool    string   `json:"tool"`
	App     string   `json:"app"`
	Kind    *string  `json:"kind" enum:"email,message,file,event,home"`
	Action  string   `json:"action"`
	OK      bool     `json:"ok"`
	Detail  string   `json:"detail"`
	How     string   `json:"how" enum:"result,read_back"`
	Targets []string `json:"targets"`
	Missed  []string `json:"missed"`
	Settled bool     `json:"settled,omitempty"`
	Message string   `json:"message,omitempty"`
}

// Steered is something said into a running reply. It waits until a model reads it (Interjection), or becomes a turn of
// its own (SteerMoved).
type Steered struct {
	MessageID string `json:"message_id"` // of the message it becomes
	Text      string `json:"text"`
	ClientID  string `json:"client_id,omitempty"`
}

// Interjection says that the model reads what was said into its reply.
type Interjection struct {
	MessageID string `json:"message_id"`
	Text      string `json:"text"`
	ClientID  string `json:"client_id,omitempty"`
}

// SteerMoved says that what was said into this reply became a turn of its own: the reply had ended.
type SteerMoved struct {
	MessageID string `json:"message_id"`
	Turn      string `json:"turn"`
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
	"resumed":           func() Record { return new(Resumed) },
	"reported":          func() Record { return new(Reported) },
	"turn_started":      func() Record { return new(TurnStarted) },
	"assistant_message": func() Record { return new(AssistantMessage) },
	"call_started":      func() Record { return new(CallStarted) },
	"call_result":       func() Record { return new(CallResult) },
	"approval_asked":    func() Record { return new(ApprovalAsked) },
	"approval_answered": func() Record { return new(ApprovalAnswered) },
	"undo_opened":       func() Record { return new(UndoOpened) },
	"undo_closed":       func() Record { return new(UndoClosed) },
	"steered":           func() Record { return new(Steered) },
	"interjection":      func() Record { return new(Interjection) },
	"steer_moved":       func() Record { return new(SteerMoved) },
	"note":              func() Record { return new(Note) },
	"usage":             func() Record { return new(Usage) },
	"notice":            func() Record { return new(Notice) },
	"error":             func() Record { return new(Failure) },
	"done":              func() Record { return new(Done) },
}

func (*UserMessage) kind() string      { return "user_message" }
func (*Resumed) kind() string          { return "resumed" }
func (*Reported) kind() string         { return "reported" }
func (*TurnStarted) kind() string      { return "turn_started" }
func (*AssistantMessage) kind() string { return "assistant_message" }
func (*CallStarted) kind() string      { return "call_started" }
func (*CallResult) kind() string       { return "call_result" }
func (*Steered) kind() string          { return "steered" }
func (*Interjection) kind() string     { return "interjection" }
func (*SteerMoved) kind() string       { return "steer_moved" }
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
		messageRow{place: at, id: m.MessageID, role: "user", content: m.Text, name: m.From, attachments: m.Attachments},
	}
}

func (m *Resumed) project(at place) []row {
	note := noteNamed("resumed")
	note.MessageID = m.MessageID
	return append([]row{turnRow{ref: at.Ref, parent: m.Parent, clientID: m.ClientID, at: at.time}}, note.project(at)...)
}

func (m *Reported) project(at place) []row {
	return []row{turnRow{ref: at.Ref, parent: m.Parent, at: at.time}}
}

func (*TurnStarted) project(at place) []row {
	return []row{turnState{turn: at.TurnID, state: Running}}
}

func (m *AssistantMessage) project(at place) []row {
	return []row{messageRow{place: at, id: m.MessageID, role: "assistant", content: m.Text, thinking: m.Thinking, cancelled: m.Cut,
		calls: m.Calls, memories: m.Memories, sources: m.Sources, checks: m.Checks}}
}

func (*CallStarted) project(place) []row { return nil }

func (m *CallResult) project(at place) []row {
	at.searchable = false // a search is for what was said
	return []row{messageRow{place: at, id: m.MessageID, role: "tool", content: m.Content, name: m.Name, callID: m.CallID,
		outside: m.Outside, approval: m.Approval}}
}

func (m *Steered) project(at place) []row {
	return []row{steerRow{ref: at.Ref, id: m.MessageID, clientID: m.ClientID, text: m.Text, at: at.time}}
}

func (m *Interjection) project(at place) []row {
	return []row{steerState{id: m.MessageID, state: "read"},
		messageRow{place: at, id: m.MessageID, role: "user", content: m.Text, interjection: true}}
}

func (m *SteerMoved) project(place) []row { return []row{steerState{id: m.MessageID, state: "moved"}} }

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
