package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sentient/backend/event"
	"sentient/backend/tool"
)

// Line is a chat event in wire form: one flat object that begins with its type.
type Line struct {
	Type    string
	Payload any
}

// LineOf gives an event's line.
func LineOf(e *event.Event) Line { return Line{e.Topic.Name, e.Payload} }

// MarshalJSON writes the payload's object with its type in front.
func (l Line) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(l.Payload)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(body, []byte("{")) {
		return nil, fmt.Errorf("encode line %q: payload is no object", l.Type)
	}
	name, _ := json.Marshal(l.Type) // a string always encodes
	out := append([]byte(`{"type":`), name...)
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// Told gives a turn's chat events again, from its log, in the order in which they were told: the kept ones, and each
// finished message as one delta of thinking and one of text. ended is false while it has no done.
func (l *Log) Told(ctx context.Context, ref Ref) (lines []Line, ended bool, err error) {
	rows, err := l.DB.Reader().QueryContext(ctx, `SELECT kind, payload FROM chat_events WHERE session_id = ? AND turn_id = ? ORDER BY seq`, ref.SessionID, ref.TurnID)
	if err != nil {
		return nil, false, wrap("read log", err)
	}
	defer rows.Close()
	t := teller{ref: ref, begun: map[string]bool{}}
	for rows.Next() {
		var kind, payload string
		if err := rows.Scan(&kind, &payload); err != nil {
			return nil, false, wrap("read log", err)
		}
		r, err := decode(kind, []byte(payload))
		if err != nil {
			return nil, false, err
		}
		t.tell(r)
	}
	return t.lines, t.ended, wrap("read log", rows.Err())
}

// teller makes chat events of log entries, in order.
type teller struct {
	ref   Ref
	said  UserMessage
	reply AssistantMessage
	fault *Failure
	begun map[string]bool
	lines []Line
	ended bool
}

func (t *teller) tell(r Record) {
	switch r := r.(type) {
	case *UserMessage:
		t.said = *r
		t.add(TopicSession.Name(), SessionEvent{Ref: t.ref, ClientID: r.ClientID})
	case *Resumed:
		t.said = UserMessage{MessageID: r.MessageID, ClientID: r.ClientID}
		t.add(TopicSession.Name(), SessionEvent{Ref: t.ref, ClientID: r.ClientID})
	case *Reported:
		t.add(TopicSession.Name(), SessionEvent{Ref: t.ref})
	case *AssistantMessage:
		t.reply = *r
		if r.Thinking != "" {
			t.add(TopicThinkingDelta.Name(), ThinkingDelta{Ref: t.ref, MessageID: r.MessageID, Text: r.Thinking})
		}
		if r.Text != "" {
			t.add(TopicTextDelta.Name(), TextDelta{Ref: t.ref, MessageID: r.MessageID, Text: r.Text})
		}
	case *CallStarted:
		t.begun[r.ID] = true
		t.add(TopicToolCall.Name(), ToolCallEvent{Ref: t.ref, CallID: r.ID, Name: r.Name, Arguments: r.Arguments})
	case *CallResult:
		if !t.begun[r.CallID] {
			return // it never began, and nobody heard of it
		}
		t.add(TopicToolResult.Name(), r.event(t.ref))
	case *ApprovalAsked:
		t.add(TopicApproval.Name(), ApprovalEvent{Ref: t.ref, Request: r.Request})
	case *UndoOpened:
		t.add(TopicUndo.Name(), UndoEvent{Ref: t.ref, Window: r.Window})
	case *Interjection:
		t.add(TopicInterjection.Name(), InterjectionEvent{Ref: t.ref, Text: r.Text, MessageID: r.MessageID, ClientID: r.ClientID})
	case *Usage:
		t.add(TopicUsage.Name(), UsageEvent{Ref: t.ref, Usage: *r})
	case *Notice:
		t.add(TopicNotice.Name(), NoticeEvent{Ref: t.ref, Notice: *r})
	case *Failure:
		t.fault = r
		t.add(TopicError.Name(), r.event(t.ref))
	case *Done:
		t.ended = true
		t.add(TopicDone.Name(), r.event(t.ref, t.said, t.reply, t.fault))
	}
}

func (t *teller) add(name string, payload any) { t.lines = append(t.lines, Line{name, payload}) }

func (f *Failure) event(ref Ref) ErrorEvent {
	return ErrorEvent{Ref: ref, Message: f.Message, Code: f.Code, Dropped: f.Dropped, ClientID: f.ClientID}
}

// event gives the done of a turn, from what the log has of it.
func (d *Done) event(ref Ref, said UserMessage, reply AssistantMessage, fault *Failure) DoneEvent {
	e := DoneEvent{Ref: ref, Cancelled: d.Cancelled || d.Dropped, MemorySources: []tool.MemorySource{}, Sources: []tool.Source{}, Checks: []Check{}}
	if d.MessageID != "" {
		e.Content, e.MessageID = reply.Text, &d.MessageID
		e.MemorySources = append(e.MemorySources, reply.Memories...)
		e.Sources = append(e.Sources, reply.Sources...)
		e.Checks = append(e.Checks, reply.Checks...)
	}
	if d.Dropped {
		e.Dropped, e.ClientID = []string{said.Text}, said.ClientID
	}
	if d.Failed && fault != nil {
		e.Error = fault.Message
	}
	return e
}
