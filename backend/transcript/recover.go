package transcript

import (
	"context"
	"encoding/json"
	"strings"

	"sentient/backend/store"
)

// Recovered counts what a start found left open.
type Recovered struct {
	Ended  int // turns that were being answered: their partial reply is kept
	Unsent int // messages that waited behind them: kept, and marked as never sent
}

// Recover ends in the log whatever an engine left open that did not stop in order. It is called at a start, before
// anything is sent.
//
// A turn that was being answered ends as stopped: what had been written is kept as its message (cut), and a row of role
// "event" named "interrupted" says what happened. A message that still waited is not sent by itself, because hours may
// have passed and what came before it was cut off: it stays in the chat where it was, followed by a row of role "event"
// named "not_sent", from which the window offers to send it again. No event is told: nobody listens yet.
func (l *Log) Recover(ctx context.Context) (Recovered, error) {
	var found Recovered
	err := l.DB.Write(ctx, func(tx *store.Tx) error {
		found = Recovered{}
		open, err := openTurns(tx, "")
		if err != nil {
			return err
		}
		for _, t := range open {
			if err := l.settle(tx, t); err != nil {
				return err
			}
			if t.state == Queued {
				found.Unsent++
			} else {
				found.Ended++
			}
		}
		return nil
	})
	return found, err
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
	state State
}

// openTurns lists turns without an end, of one chat or ("") of all, oldest first.
func openTurns(tx *store.Tx, session string) ([]openTurn, error) {
	// The index holds open turns alone. Left to itself, SQLite walks all turns to spare itself the sorting.
	rows, err := tx.Query(`SELECT session_id, id, state FROM turns INDEXED BY turns_open
		WHERE state IN ('queued', 'running') AND (?1 = '' OR session_id = ?1) ORDER BY id`, session)
	if err != nil {
		return nil, wrap("find open turns", err)
	}
	defer rows.Close()
	var open []openTurn
	for rows.Next() {
		var t openTurn
		if err := rows.Scan(&t.SessionID, &t.TurnID, &t.state); err != nil {
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
	kept, err := savedReply(tx, t.TurnID)
	if err != nil {
		return err
	}
	done := &Done{Cancelled: true}
	records := []Record{}
	if kept.Text != "" || kept.Thinking != "" {
		records, done.MessageID = append(records, &kept), kept.MessageID
	}
	records = append(records, note("interrupted"), done)
	if err := l.append(tx, t.Ref, h, records...); err != nil {
		return err
	}
	return closeReply(tx, t.TurnID)
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

func notSent() *Note { return note("not_sent") }

// note is a row of role "event" whose content names it again, as §2 has it for "trusted".
func note(name string) *Note {
	content, _ := json.Marshal(map[string]string{"event": name}) // strings always encode
	return &Note{MessageID: NewID(), Name: name, Content: content}
}
