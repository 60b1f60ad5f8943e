package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sentient/backend/event"
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

// Told gives a turn's kept chat events again, from its log, in the order in which they were told, and the text of its
// reply. ended is false while it has no done.
func (l *Log) Told(ctx context.Context, ref Ref) (lines []Line, text string, ended bool, err error) {
	rows, err := l.DB.Reader().QueryContext(ctx, `SELECT kind, payload FROM chat_events WHERE session_id = ? AND turn_id = ? ORDER BY seq`, ref.SessionID, ref.TurnID)
	if err != nil {
		return nil, "", false, wrap("read log", err)
	}
	defer rows.Close()
	var t teller
	t.ref = ref
	for rows.Next() {
		var kind, payload string
		if err := rows.Scan(&kind, &payload); err != nil {
			return nil, "", false, wrap("read log", err)
		}
		r, err := decode(kind, []byte(payload))
		if err != nil {
			return nil, "", false, err
		}
		t.tell(r)
	}
	return t.lines, t.reply.Text, t.ended, wrap("read log", rows.Err())
}

// teller makes chat events of log entries, in order.
type teller struct {
	ref   Ref
	said  UserMessage
	reply AssistantMessage
	fault *Failure
	lines []Line
	ended bool
}

func (t *teller) tell(r Record) {
	switch r := r.(type) {
	case *UserMessage:
		t.said = *r
		t.add(TopicSession.Name(), SessionEvent{Ref: t.ref, ClientID: r.ClientID})
	case *AssistantMessage:
		t.reply = *r
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
	e := DoneEvent{Ref: ref, Cancelled: d.Cancelled || d.Dropped, MemorySources: []any{}, Sources: []any{}, Checks: []any{}}
	if d.MessageID != "" {
		e.Content, e.MessageID = reply.Text, &d.MessageID
	}
	if d.Dropped {
		e.Dropped, e.ClientID = []string{said.Text}, said.ClientID
	}
	if d.Failed && fault != nil {
		e.Error = fault.Message
	}
	return e
}
