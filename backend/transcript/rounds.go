package transcript

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// Fold ends the open message because the turn goes on: with the calls that the model asks for, or with an answer into
// which something was said. The next message begins empty. What the model call took is kept and told first. An open
// message with no text and no calls leaves no row.
func (r *Reply) Fold(ctx context.Context, calls []Call, usage *Usage) error {
	r.log.saving.Lock()
	defer r.log.saving.Unlock()
	r.mu.Lock()
	m := &AssistantMessage{MessageID: r.messageID, Text: r.text.String(), Thinking: r.thinking.String(), Calls: calls}
	r.mu.Unlock()
	var records []Record
	if m.Text != "" || m.Thinking != "" || len(calls) > 0 {
		records = append(records, m)
	}
	if usage != nil {
		records = append(records, usage)
	}
	err := r.log.DB.Write(ctx, func(tx *store.Tx) error {
		h, err := readHead(tx, r.ref.SessionID)
		if err != nil {
			return err
		}
		if err := r.log.append(tx, r.ref, h, records...); err != nil {
			return err
		}
		return closeReply(tx, r.ref.TurnID)
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if usage != nil {
		event.Publish(r.log.Bus, TopicUsage, UsageEvent{Ref: r.ref, Usage: *usage})
	}
	r.calls, r.begun = slices.Clone(calls), map[string]bool{}
	r.text, r.thinking = strings.Builder{}, strings.Builder{}
	r.messageID, r.textEnd, r.thinkingEnd, r.saved, r.corrected = NewID(), 0, 0, saved{}, false
	return nil
}

// Call says that calls begin now: they are in the log before it returns, and told in their order.
func (r *Reply) Call(ctx context.Context, calls ...Call) error {
	records := make([]Record, len(calls))
	for i, c := range calls {
		records[i] = &CallStarted{c}
	}
	if err := r.log.record(ctx, r.ref, records...); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range calls {
		r.begun[c.ID] = true
		event.Publish(r.log.Bus, TopicToolCall, ToolCallEvent{Ref: r.ref, CallID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return nil
}

// progressKinds are those that the wire knows; every other one is a status (§10).
var progressKinds = []string{"stdout", "stderr", "status", "frame", "subagent"}

// Bounds of one piece of progress, in bytes. A picture that is cut is none, so a larger one is left out.
const (
	progressText  = 32 << 10
	progressImage = 2 << 20
)

// Progress tells what a running call shows. It is not kept.
func (r *Reply) Progress(call Call, p tool.Progress) {
	if !slices.Contains(progressKinds, p.Kind) {
		p.Kind = "status"
	}
	if p.Text = valid(p.Text); len(p.Text) > progressText {
		p.Text = valid(p.Text[len(p.Text)-progressText:])
	}
	if len(p.Image) > progressImage {
		p.Image = ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		event.Publish(r.log.Bus, TopicToolProgress, ToolProgressEvent{Ref: r.ref, CallID: call.ID, Name: call.Name, Progress: p})
	}
}

// Result keeps and tells how a call ended. Its MessageID may be empty: one is made.
func (r *Reply) Result(ctx context.Context, c CallResult) error {
	if c.MessageID == "" {
		c.MessageID = NewID()
	}
	r.mu.Lock()
	over := r.closed
	r.mu.Unlock()
	if over {
		return context.Canceled // its turn has ended, and has given it a result
	}
	if err := r.log.record(ctx, r.ref, &c); err != nil {
		return err
	}
	r.mu.Lock()
	r.calls = slices.DeleteFunc(r.calls, func(o Call) bool { return o.ID == c.CallID })
	r.mu.Unlock()
	event.Publish(r.log.Bus, TopicToolResult, c.event(r.ref))
	return nil
}

func (c *CallResult) event(ref Ref) ToolResultEvent {
	return ToolResultEvent{Ref: ref, CallID: c.CallID, Name: c.Name, Result: c.Result, IsError: c.IsError, DurationMS: c.DurationMS, Check: c.Check}
}

// Steer is something said into a running reply.
type Steer struct {
	MessageID, Text, ClientID string
}

// Steer keeps what was said into a running reply, as part of the caller's transaction. Until Interject it is in no row.
func (l *Log) Steer(tx *store.Tx, ref Ref, s Steer) error {
	h, err := readHead(tx, ref.SessionID)
	if err != nil {
		return err
	}
	if err := l.append(tx, ref, h, &Steered{MessageID: s.MessageID, Text: s.Text, ClientID: s.ClientID}); err != nil {
		return err
	}
	return l.touch(tx, ref.SessionID)
}

// SteerTaken answers a steer: whether it waits for the running reply.
func (l *Log) SteerTaken(session, clientID string, queued bool) {
	event.Publish(l.Bus, TopicSteerAck, SteerAck{SessionID: session, Queued: queued, ClientID: clientID})
}

// Interject gives the model what was said into its reply: user messages from now on.
func (r *Reply) Interject(ctx context.Context, said []Steer) error {
	records := make([]Record, len(said))
	for i, s := range said {
		records[i] = &Interjection{MessageID: s.MessageID, Text: s.Text, ClientID: s.ClientID}
	}
	if err := r.log.record(ctx, r.ref, records...); err != nil {
		return err
	}
	for _, s := range said {
		event.Publish(r.log.Bus, TopicInterjection, InterjectionEvent{Ref: r.ref, Text: s.Text, MessageID: s.MessageID, ClientID: s.ClientID})
	}
	return nil
}

// MoveSteer takes what was said into a reply that has ended out of it, as part of the transaction that opens its own
// turn.
func (l *Log) MoveSteer(tx *store.Tx, from Ref, s Steer, turn string) error {
	h, err := readHead(tx, from.SessionID)
	if err != nil {
		return err
	}
	return l.append(tx, from, h, &SteerMoved{MessageID: s.MessageID, Turn: turn})
}

type waitingSteer struct {
	Steer
	into    Ref
	channel string
}

// waitingSteers lists what was said into replies and not read yet, oldest first.
func waitingSteers(tx *store.Tx) ([]waitingSteer, error) {
	rows, err := tx.Query(`SELECT w.id, w.text, coalesce(w.client_id, ''), w.session_id, w.turn_id, s.channel
		FROM steers w INDEXED BY steers_waiting JOIN sessions s ON s.id = w.session_id WHERE w.state = 'waiting' ORDER BY w.id`)
	if err != nil {
		return nil, wrap("read steers", err)
	}
	defer rows.Close()
	var all []waitingSteer
	for rows.Next() {
		var s waitingSteer
		if err := rows.Scan(&s.MessageID, &s.Text, &s.ClientID, &s.into.SessionID, &s.into.TurnID, &s.channel); err != nil {
			return nil, wrap("read steers", err)
		}
		all = append(all, s)
	}
	return all, wrap("read steers", rows.Err())
}

// errorResult is the result of a call that did not run, or whose end is not known.
func errorResult(c Call, sentence string) *CallResult {
	result, _ := json.Marshal(map[string]string{"error": sentence}) // strings always encode
	return &CallResult{MessageID: NewID(), CallID: c.ID, Name: c.Name, Content: string(result), Result: result, IsError: true}
}
