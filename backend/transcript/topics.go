package transcript

import (
	"encoding/json"

	"sentient/backend/event"
	"sentient/backend/tool"
)

// Ref says which turn of which chat an event belongs to. Every chat event carries it (§1).
type Ref struct {
	SessionID string `json:"session_id"`
	TurnID    string `json:"turn_id"`
}

// SessionEvent answers chat.send: the message is in the chat and its turn has an id. ClientID is the sender's own.
type SessionEvent struct {
	Ref
	ClientID string `json:"client_id,omitempty"`
}

// TextDelta is a piece of the reply: of the message with this id, since a reply that uses tools has several. Offset counts
// the UTF-16 units of that message before this piece (what a page's String.length counts), so that a window which joins
// in the middle can tell what it has drawn already: pieces may be joined on the way to a slow reader.
type TextDelta struct {
	Ref
	MessageID string `json:"message_id"`
	Text      string `json:"text"`
	Offset    int    `json:"offset"`
	end       int
}

// ThinkingDelta is a piece of what the model thinks; see TextDelta.
type ThinkingDelta TextDelta

// ToolCallEvent says that a call begins.
type ToolCallEvent struct {
	Ref
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// ToolProgressEvent is what a running call shows (§10).
type ToolProgressEvent struct {
	Ref
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	tool.Progress
}

// ToolResultEvent says how a call ended.
type ToolResultEvent struct {
	Ref
	CallID     string          `json:"call_id"`
	Name       string          `json:"name"`
	Result     json.RawMessage `json:"result"`
	IsError    bool            `json:"is_error"`
	DurationMS int64           `json:"duration_ms"`
	Check      *Check          `json:"check,omitempty"`
}

// InterjectionEvent says that the model reads what was said into its reply (§10 "Steering").
type InterjectionEvent struct {
	Ref
	Text      string `json:"text"`
	MessageID string `json:"message_id"`
	ClientID  string `json:"client_id,omitempty"`
}

// SteerAck answers what was sent into a running reply. It has no turn (§10).
type SteerAck struct {
	SessionID string `json:"session_id"`
	Queued    bool   `json:"queued"`
	ClientID  string `json:"client_id,omitempty"`
}

// UsageEvent says what a model call took and how full the model's context is. The four context members are null when
// the model's context length is unknown (§1 "Context meter").
type UsageEvent struct {
	Ref
	Usage
}

// ErrorEvent is a sentence for the person. Recoverable false: the turn has failed and its done follows.
type ErrorEvent struct {
	Ref
	Message     string `json:"message"`
	Recoverable bool   `json:"recoverable"`
	Code        string `json:"code,omitempty"`
	Dropped     bool   `json:"dropped,omitempty"`   // a queued message that was never sent (§17)
	ClientID    string `json:"client_id,omitempty"` // with Dropped: whose message it was
}

// NoticeEvent is a plain note about this reply that is not an error.
type NoticeEvent struct {
	Ref
	Notice
}

// DoneEvent ends a turn; each turn has exactly one (§1).
type DoneEvent struct {
	Ref
	Content       string              `json:"content"`
	MessageID     *string             `json:"message_id"`
	Cancelled     bool                `json:"cancelled,omitempty"`
	MemorySources []tool.MemorySource `json:"memory_sources"`
	Sources       []tool.Source       `json:"sources"`
	Checks        []Check             `json:"checks"`
	Dropped       []string            `json:"dropped,omitempty"`
	ClientID      string              `json:"client_id,omitempty"` // with Dropped: whose message it was
	Error         string              `json:"error,omitempty"`     // the sentence of the error event before it
}

// The chat events that turns send today. hello is the gateway's.
var (
	TopicSession       = event.DeclareChat[SessionEvent]("session")
	TopicThinkingDelta = event.DeclareLossy("thinking_delta", func(a, b ThinkingDelta) (ThinkingDelta, bool) {
		d, ok := join(TextDelta(a), TextDelta(b))
		return ThinkingDelta(d), ok
	})
	TopicTextDelta    = event.DeclareLossy("text_delta", join)
	TopicToolCall     = event.DeclareChat[ToolCallEvent]("tool_call")
	TopicToolProgress = event.DeclareLossy("tool_progress", joinProgress)
	TopicToolResult   = event.DeclareChat[ToolResultEvent]("tool_result")
	TopicInterjection = event.DeclareChat[InterjectionEvent]("user_interjection")
	TopicSteerAck     = event.DeclareChat[SteerAck]("steer_ack")
	TopicUsage        = event.DeclareChat[UsageEvent]("usage")
	TopicError        = event.DeclareChat[ErrorEvent]("error")
	TopicNotice       = event.DeclareChat[NoticeEvent]("notice")
	TopicDone         = event.DeclareChat[DoneEvent]("done")
)

// join makes one piece of two that follow each other in one reply.
func join(a, b TextDelta) (TextDelta, bool) {
	if a.Ref != b.Ref || a.MessageID != b.MessageID || a.end != b.Offset {
		return TextDelta{}, false
	}
	return TextDelta{Ref: a.Ref, MessageID: a.MessageID, Text: a.Text + b.Text, Offset: a.Offset, end: b.end}, true
}

// progressJoined is how much text one event of joined progress carries, in bytes.
const progressJoined = 32 << 10

// joinProgress makes one event of two pieces of output of one call. A newer frame or status takes the place of the older.
func joinProgress(a, b ToolProgressEvent) (ToolProgressEvent, bool) {
	if a.Ref != b.Ref || a.CallID != b.CallID || a.Kind != b.Kind || len(a.Data) > 0 || len(b.Data) > 0 {
		return ToolProgressEvent{}, false
	}
	switch a.Kind {
	case "frame", "status":
		return b, true
	}
	if len(a.Text)+len(b.Text) > progressJoined {
		return ToolProgressEvent{}, false
	}
	b.Text = a.Text + b.Text
	return b, true
}

// RefOf gives the turn that an event belongs to; false for events of other topics.
func RefOf(e *event.Event) (Ref, bool) {
	r, ok := e.Payload.(interface{ ref() Ref })
	if !ok {
		return Ref{}, false
	}
	return r.ref(), true
}

func (r Ref) ref() Ref { return r }

func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
