package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// Opening is a message that opens a turn.
type Opening struct {
	Ref
	ClientID    string
	Text        string
	Attachments []string
	Model       string // for this message only
	From        string // who wrote it, where that is not the person
	Queued      bool   // it waits behind another turn; Start starts it
	Resumes     bool   // no message: it carries on the reply that was cut off before it

	// Beside is the turn whose place it takes on the shown path: it gets the same turn before it (contract/README, decision
	// 16). "": it follows the newest turn of the path.
	Beside    string
	MessageID string // "": one is made
}

// Found is where a client_id was used before.
type Found struct {
	Ref
	Steered bool // into a reply that was running, and its turn has not become one of its own
}

// Find gives the turn that a client_id opened, or was said into, wherever it was.
func (l *Log) Find(tx *store.Tx, clientID string) (Found, bool, error) {
	var f Found
	err := tx.QueryRow(`SELECT session_id, id, 0 FROM turns WHERE client_id = ?1
		UNION ALL SELECT session_id, turn_id, 1 FROM steers WHERE client_id = ?1 AND state <> 'moved' LIMIT 1`, clientID).
		Scan(&f.SessionID, &f.TurnID, &f.Steered)
	if errors.Is(err, sql.ErrNoRows) {
		return f, false, nil
	}
	return f, err == nil, wrap("find message", err)
}

// ErrTurnUnknown is given for a message whose turn is not in the chat (any more).
func ErrTurnUnknown() *errs.Error {
	return errs.New(errs.NotFound, "message_unknown", "This message is not in the chat any more.")
}

// parentOf gives the turn before the new one.
func parentOf(tx *store.Tx, o Opening, h head) (parent string, err error) {
	if o.Beside == "" {
		return h.leaf, nil
	}
	err = tx.QueryRow(`SELECT coalesce(parent_id, '') FROM turns WHERE id = ? AND session_id = ?`, o.Beside, o.SessionID).Scan(&parent)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrTurnUnknown()
	}
	return parent, wrap("find turn", err)
}

// Open writes a turn's message, as part of the caller's transaction. After the commit the caller calls Opened.
func (l *Log) Open(tx *store.Tx, o Opening) error {
	h, err := readHead(tx, o.SessionID)
	if err != nil {
		return err
	}
	parent, err := parentOf(tx, o, h)
	if err != nil {
		return err
	}
	if o.MessageID == "" {
		o.MessageID = NewID()
	}
	records := []Record{&UserMessage{MessageID: o.MessageID, Text: o.Text, Attachments: o.Attachments, ClientID: o.ClientID, Model: o.Model, Parent: parent, From: o.From}}
	if o.Resumes {
		records[0] = &Resumed{MessageID: o.MessageID, ClientID: o.ClientID, Parent: parent}
	}
	if !o.Queued {
		records = append(records, &TurnStarted{})
	}
	if err := l.append(tx, o.Ref, h, records...); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE sessions SET leaf_turn = ? WHERE id = ?`, o.TurnID, o.SessionID); err != nil {
		return wrap("write chat", err)
	}
	return l.touch(tx, o.SessionID)
}

// Opened tells everybody that a turn was opened. Telling it again (for a client_id that is sent again) does no harm.
func (l *Log) Opened(ref Ref, clientID string) {
	event.Publish(l.Bus, TopicSession, SessionEvent{Ref: ref, ClientID: clientID})
}

// Start says that a queued turn is being answered now.
func (l *Log) Start(ctx context.Context, ref Ref) error {
	return l.record(ctx, ref, &TurnStarted{})
}

// Usage keeps and tells what a model call took.
func (l *Log) Usage(ctx context.Context, ref Ref, u Usage) error {
	if err := l.record(ctx, ref, &u); err != nil {
		return err
	}
	event.Publish(l.Bus, TopicUsage, UsageEvent{Ref: ref, Usage: u})
	return nil
}

// Notice keeps and tells a note about a reply.
func (l *Log) Notice(ctx context.Context, ref Ref, n Notice) error {
	if err := l.record(ctx, ref, &n); err != nil {
		return err
	}
	event.Publish(l.Bus, TopicNotice, NoticeEvent{Ref: ref, Notice: n})
	return nil
}

func (l *Log) record(ctx context.Context, ref Ref, records ...Record) error {
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		h, err := readHead(tx, ref.SessionID)
		if err != nil {
			return err
		}
		return l.append(tx, ref, h, records...)
	})
}

// Ending is how a turn ends. The zero Ending is a finished reply.
type Ending struct {
	Cancelled bool        // stopped: what was written is kept
	Dropped   bool        // a queued message that was never sent; Failure says why
	Failure   *errs.Error // it failed: nothing of the reply is kept
	Usage     *Usage      // of the last model call, kept and told with the end

	// What the whole turn had in mind, used, and really did; kept with its last message.
	Memories []tool.MemorySource
	Sources  []tool.Source
	Checks   []Check
}

// endWithin bounds the last write of a turn. It is not cut short by whatever ended the turn.
const endWithin = 15 * time.Second

// End ends the reply's turn: writes the message it leaves, then tells usage, error and done. It may be called from
// anywhere and more than once; only the first call counts. Whatever happens to the write, done is told: an error says
// that it is not in the log, and the next start will end the turn there.
func (r *Reply) End(ctx context.Context, e Ending) error {
	if !r.close() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	done := Done{Cancelled: e.Cancelled, Dropped: e.Dropped, Failed: e.Failure != nil && !e.Dropped}
	if e.Failure == nil && (r.text.Len() > 0 || r.thinking.Len() > 0 || len(e.Checks)+len(e.Sources)+len(e.Memories) > 0 && !e.Dropped) {
		done.MessageID = r.messageID
	}
	err := r.writeEnd(ctx, e, done)
	if err != nil && e.Failure == nil {
		e = Ending{Failure: errs.From(err)}
		done = Done{Failed: true}
		err = errors.Join(err, r.writeEnd(ctx, e, done))
	}
	r.tellEnd(e, done)
	return err
}

// writeEnd writes a turn's end. A panic on the way is an error like others: done must still be told.
func (r *Reply) writeEnd(ctx context.Context, e Ending, done Done) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Log.Error("end of turn panicked", "turn", r.ref.TurnID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("write end of turn: panic: %v", p)
		}
	}()
	return r.log.DB.Write(ctx, func(tx *store.Tx) error {
		h, err := readHead(tx, r.ref.SessionID)
		if err != nil {
			return err
		}
		var records []Record
		for _, c := range r.calls { // those that the end of the turn kept from ending
			records = append(records, errorResult(c, neverEnded))
		}
		if done.MessageID != "" {
			records = append(records, r.last(e, done))
		}
		if e.Usage != nil {
			records = append(records, e.Usage)
		}
		if e.Failure != nil {
			records = append(records, r.failure(e))
		}
		if done.Dropped {
			records = append(records, notSent())
		}
		if err := r.log.append(tx, r.ref, h, append(records, &done)...); err != nil {
			return err
		}
		if err := closeReply(tx, r.ref.TurnID); err != nil {
			return err
		}
		return r.log.touch(tx, r.ref.SessionID)
	})
}

// neverEnded is the result of a call that its turn's end kept from ending.
const neverEnded = "This call did not end, because the reply was stopped."

// last is the turn's last message. End calls it after the reply was closed.
func (r *Reply) last(e Ending, done Done) *AssistantMessage {
	return &AssistantMessage{MessageID: r.messageID, Text: r.text.String(), Thinking: r.thinking.String(), Cut: done.Cancelled,
		Memories: e.Memories, Sources: e.Sources, Checks: e.Checks}
}

func (r *Reply) failure(e Ending) *Failure {
	f := &Failure{Message: e.Failure.Message, Code: e.Failure.Code}
	if e.Dropped {
		f.Dropped, f.ClientID = true, r.said.ClientID
	}
	return f
}

// tellEnd publishes the end. It holds the reply, so that Live never sees a turn whose done was told already.
func (r *Reply) tellEnd(e Ending, done Done) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if r.begun[c.ID] { // nobody heard of the others
			event.Publish(r.log.Bus, TopicToolResult, errorResult(c, neverEnded).event(r.ref))
		}
	}
	r.calls = nil
	if e.Usage != nil {
		event.Publish(r.log.Bus, TopicUsage, UsageEvent{Ref: r.ref, Usage: *e.Usage})
	}
	var fault *Failure
	if e.Failure != nil {
		fault = r.failure(e)
		event.Publish(r.log.Bus, TopicError, fault.event(r.ref))
	}
	d := done.event(r.ref, r.said, *r.last(e, done), fault)
	event.Publish(r.log.Bus, TopicDone, d)
	r.told = true
}

// Report adds a message of the assistant that no message of the person asked for now: what a helper in the background
// found. It is a turn of its own, opened and ended in one step.
func (l *Log) Report(ctx context.Context, session, text, turn string) error {
	ref := Ref{SessionID: session, TurnID: turn}
	m := &AssistantMessage{MessageID: NewID(), Text: valid(text)}
	d := &Done{MessageID: m.MessageID}
	err := l.DB.Write(ctx, func(tx *store.Tx) error {
		h, err := readHead(tx, session)
		if err != nil {
			return err
		}
		if err := l.append(tx, ref, h, &Reported{Parent: h.leaf}, m, d); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE sessions SET leaf_turn = ? WHERE id = ?`, turn, session); err != nil {
			return wrap("write chat", err)
		}
		return l.touch(tx, session)
	})
	if err != nil {
		return err
	}
	l.Opened(ref, "")
	event.Publish(l.Bus, TopicDone, d.event(ref, UserMessage{}, *m, nil))
	return nil
}
