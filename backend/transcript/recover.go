package transcript

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"sentient/backend/store"
)

// Recovered is what a start found left open.
type Recovered struct {
	Ended  int // turns that were being answered: what they had written is kept
	Unsent int // messages that waited behind them: kept, and marked as never sent

	// On surfaces that nobody watches, nobody is there to press anything (decision 13):
	CutOff  []Ref     // the replies that were cut off, to be carried on
	Waiting []Opening // the messages that still wait, in order, to be answered
}

// Recover ends in the log whatever an engine left open that did not stop in order. It is called at a start, before
// anything is sent. unattended says of a channel that nobody watches it.
//
// A turn that was being answered ends as stopped: what had been written is kept as its message (cut), a call that had
// begun gets a result that says its outcome is not known (it is never made again by itself), and a row of role "event"
// named "interrupted" says what happened. A message that still waited is not sent by itself where somebody watches,
// because hours may have passed and what came before it was cut off: it stays in the chat where it was, followed by a row
// of role "event" named "not_sent", from which the window offers to send it again. No event is told: nobody listens yet.
func (l *Log) Recover(ctx context.Context, unattended func(channel string) bool) (Recovered, error) {
	var found Recovered
	err := l.DB.Write(ctx, func(tx *store.Tx) error {
		found = Recovered{}
		open, err := openTurns(tx, "")
		if err != nil {
			return err
		}
		for _, t := range open {
			t.unattended = unattended(t.channel)
			if err := l.recover(tx, t, &found); err != nil {
				return err
			}
		}
		return l.recoverSteers(tx, unattended, &found)
	})
	return found, err
}

func (l *Log) recover(tx *store.Tx, t openTurn, found *Recovered) error {
	if t.state == Queued && t.unattended {
		if o, err := OpeningOf(tx, t.Ref); err == nil { // one that a damaged disk has changed is marked as not sent
			o.Queued = true
			found.Waiting = append(found.Waiting, o)
			return nil
		}
	}
	if t.state == Queued {
		found.Unsent++
		return l.settle(tx, t)
	}
	found.Ended++
	if t.unattended {
		found.CutOff = append(found.CutOff, t.Ref)
	}
	return l.settle(tx, t)
}

// recoverSteers makes turns of what was said into replies and never read, whether a crash ended the reply or came just
// after its end.
func (l *Log) recoverSteers(tx *store.Tx, unattended func(channel string) bool, found *Recovered) error {
	said, err := waitingSteers(tx)
	if err != nil {
		return err
	}
	for _, s := range said {
		o := Opening{Ref: Ref{SessionID: s.into.SessionID, TurnID: NewID()}, MessageID: s.MessageID, Text: s.Text, ClientID: s.ClientID, Queued: true}
		if err := l.MoveSteer(tx, s.into, s.Steer, o.TurnID); err != nil {
			return err
		}
		if err := l.Open(tx, o); err != nil {
			return err
		}
		if unattended(s.channel) {
			found.Waiting = append(found.Waiting, o)
			continue
		}
		found.Unsent++
		if err := l.settle(tx, openTurn{Ref: o.Ref, state: Queued}); err != nil {
			return err
		}
	}
	return nil
}

// OpeningOf reads again how a turn was opened. ErrTurnUnknown when the chat has no such turn.
func OpeningOf(tx *store.Tx, ref Ref) (Opening, error) {
	o := Opening{Ref: ref}
	var kind, payload string
	err := tx.QueryRow(`SELECT kind, payload FROM chat_events WHERE session_id = ? AND turn_id = ? AND kind IN ('user_message', 'resumed') ORDER BY seq LIMIT 1`,
		ref.SessionID, ref.TurnID).Scan(&kind, &payload)
	if errors.Is(err, sql.ErrNoRows) {
		return o, ErrTurnUnknown()
	}
	if err != nil {
		return o, wrap("read message", err)
	}
	r, err := decode(kind, []byte(payload))
	if err != nil {
		return o, err
	}
	switch r := r.(type) {
	case *UserMessage:
		o.MessageID, o.Text, o.Attachments, o.ClientID, o.Model, o.From = r.MessageID, r.Text, r.Attachments, r.ClientID, r.Model, r.From
	case *Resumed:
		o.MessageID, o.ClientID, o.Resumes = r.MessageID, r.ClientID, true
	}
	return o, nil
}

// Settle ends a chat's turn that is open in the log though nothing runs: its last write had failed. It is part of the
// caller's transaction.
func (l *Log) Settle(tx *store.Tx, session string) error {
	open, err := openTurns(tx, session)
	if err != nil {
		return err
	}
	for _, t := range open {
		if err := l.settle(tx, t); err != nil {
			return err
		}
	}
	return nil
}

type openTurn struct {
	Ref
	state      State
	channel    string
	unattended bool
}

// openTurns lists turns without an end, of one chat or ("") of all, oldest first.
func openTurns(tx *store.Tx, session string) ([]openTurn, error) {
	// The index holds open turns alone. Left to itself, SQLite walks all turns to spare itself the sorting.
	rows, err := tx.Query(`SELECT t.session_id, t.id, t.state, s.channel FROM turns t INDEXED BY turns_open JOIN sessions s ON s.id = t.session_id
		WHERE t.state IN ('queued', 'running') AND (?1 = '' OR t.session_id = ?1) ORDER BY t.id`, session)
	if err != nil {
		return nil, wrap("find open turns", err)
	}
	defer rows.Close()
	var open []openTurn
	for rows.Next() {
		var t openTurn
		if err := rows.Scan(&t.SessionID, &t.TurnID, &t.state, &t.channel); err != nil {
			return nil, wrap("find open turns", err)
		}
		open = append(open, t)
	}
	return open, wrap("find open turns", rows.Err())
}

func (l *Log) settle(tx *store.Tx, t openTurn) error {
	h, err := readHead(tx, t.SessionID)
	if err != nil {
		return err
	}
	if t.state == Queued {
		return l.append(tx, t.Ref, h, notSent(), &Done{Cancelled: true, Dropped: true})
	}
	records, err := unfinishedCalls(tx, t.Ref)
	if err != nil {
		return err
	}
	kept, err := savedReply(tx, t.TurnID)
	if err != nil {
		return err
	}
	done := &Done{Cancelled: true}
	if kept.Text != "" || kept.Thinking != "" {
		records, done.MessageID = append(records, &kept), kept.MessageID
	}
	records = append(records, noteNamed("interrupted"), done)
	if err := l.append(tx, t.Ref, h, records...); err != nil {
		return err
	}
	return closeReply(tx, t.TurnID)
}

// What stands where a call's result should be after a crash. The first is never followed by the same call by itself: it
// may have gone through.
const (
	outcomeUnknown = "Sentient stopped while this ran, so it is not known whether it went through. Check before doing it again."
	neverBegun     = "Not done: Sentient stopped before this call began."
)

// unfinishedCalls gives results for the calls of a turn that have none.
func unfinishedCalls(tx *store.Tx, ref Ref) ([]Record, error) {
	rows, err := tx.Query(`SELECT kind, payload FROM chat_events WHERE session_id = ? AND turn_id = ?
		AND kind IN ('assistant_message', 'call_started', 'call_result', 'approval_asked', 'approval_answered', 'undo_opened', 'undo_closed') ORDER BY seq`, ref.SessionID, ref.TurnID)
	if err != nil {
		return nil, wrap("read calls", err)
	}
	defer rows.Close()
	var asked []Call
	seen := newEffects()
	for rows.Next() {
		var kind, payload string
		if err := rows.Scan(&kind, &payload); err != nil {
			return nil, wrap("read calls", err)
		}
		r, err := decode(kind, []byte(payload))
		if err != nil {
			continue // changed by a damaged disk: that the engine starts, and says what it can, is worth more
		}
		if m, ok := r.(*AssistantMessage); ok {
			asked = append(asked, m.Calls...)
		}
		seen.see(r)
	}
	var records []Record
	for _, c := range asked {
		if !seen.ended[c.ID] {
			records = append(records, seen.missing(c))
		}
	}
	return records, wrap("read calls", rows.Err())
}

// savedReply puts the pieces of an open reply together.
func savedReply(tx *store.Tx, turn string) (AssistantMessage, error) {
	m := AssistantMessage{Cut: true}
	rows, err := tx.Query(`SELECT message_id, text, thinking FROM open_replies WHERE turn_id = ? ORDER BY n`, turn)
	if err != nil {
		return m, wrap("read open reply", err)
	}
	defer rows.Close()
	var text, thinking strings.Builder
	for rows.Next() {
		var a, b string
		if err := rows.Scan(&m.MessageID, &a, &b); err != nil {
			return m, wrap("read open reply", err)
		}
		text.WriteString(a)
		thinking.WriteString(b)
	}
	m.Text, m.Thinking = text.String(), thinking.String()
	return m, wrap("read open reply", rows.Err())
}

func notSent() *Note { return noteNamed("not_sent") }

// noteNamed is a row of role "event" whose content names it again, as §2 has it for "trusted".
func noteNamed(name string) *Note {
	content, _ := json.Marshal(map[string]string{"event": name}) // strings always encode
	return &Note{MessageID: NewID(), Name: name, Content: content}
}
