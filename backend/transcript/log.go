// Package transcript is the one ordered log of each chat, and what is filled from it.
//
// It owns the tables chat_events (the log), turns, messages, message_files, steers (projections of it), open_replies (the
// text of replies that are still being written) and chat_summaries (of a chat's older part, for models), the chat events
// of §1 with their Go types, and two columns of sessions: leaf_turn and updated_at.
//
// It promises: an entry is committed, with the rows that follow from it, before anybody hears of it; a turn gets one
// done, never two; a streamed reply is in the database to within 250 ms or 2 KB of what was shown, and is found again
// after a crash (Recover); the projections are a pure function of the log (Rebuild gives the same bytes); a window that
// joins in the middle of a reply gets a text and a place in the stream that fit together exactly (Reply.Live).
// It does not promise to keep deltas, and it does not know what a turn is for: backend/agent decides that.
//
// agent may import it (a turn's vocabulary is its log); no other package of its layer does.
package transcript

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/google/uuid"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
)

// Options are what a Log needs from outside.
type Options struct {
	DB    *store.DB
	Bus   *event.Bus
	Clock clock.Clock
	Log   *slog.Logger
}

// Log writes and reads the logs of all chats. Run Serve beside it: it keeps open replies safe.
type Log struct {
	Options
	mu      sync.Mutex
	replies map[*Reply]struct{}
	dirty   chan struct{} // a token while a reply has text that is not in the database
	full    chan struct{} // a token when that text passed 2 KB
	saving  sync.Mutex
}

// New makes a Log.
func New(o Options) *Log {
	return &Log{Options: o, replies: map[*Reply]struct{}{}, dirty: make(chan struct{}, 1), full: make(chan struct{}, 1)}
}

// ErrChatUnknown is given for a chat that does not exist (any more).
func ErrChatUnknown() *errs.Error {
	return errs.New(errs.NotFound, "chat_unknown", "This chat does not exist any more.")
}

// NewID gives a new id: a UUIDv7, so ids sort by their time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// head is what appending to a chat needs to know of it.
type head struct {
	seq       int64
	leaf      string
	incognito bool
}

func readHead(tx *store.Tx, session string) (head, error) {
	var h head
	err := tx.QueryRow(`SELECT (SELECT coalesce(max(seq), 0) FROM chat_events WHERE session_id = s.id), coalesce(leaf_turn, ''), incognito
		FROM sessions s WHERE id = ?`, session).Scan(&h.seq, &h.leaf, &h.incognito)
	if errors.Is(err, sql.ErrNoRows) {
		return h, ErrChatUnknown()
	}
	return h, wrap("read chat", err)
}

// append writes entries and the rows that follow from them.
func (l *Log) append(tx *store.Tx, ref Ref, h head, records ...Record) error {
	now := clock.Stamp(l.Clock.Now())
	for _, r := range records {
		payload, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode log entry %q: %w", r.kind(), err)
		}
		h.seq++
		res, err := tx.Exec(`INSERT INTO chat_events (session_id, seq, id, turn_id, kind, payload, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			ref.SessionID, h.seq, NewID(), ref.TurnID, r.kind(), string(payload), now)
		if err != nil {
			return wrap("write log", err)
		}
		n, err := res.LastInsertId()
		if err != nil {
			return wrap("write log", err)
		}
		if err := writeRows(tx, r.project(place{Ref: ref, n: n, time: now, searchable: !h.incognito})); err != nil {
			return err
		}
	}
	return nil
}

func writeRows(tx *store.Tx, rows []row) error {
	for _, w := range rows {
		if err := w.write(tx); err != nil {
			return err
		}
	}
	return nil
}

// touch moves the chat to the front of the list.
func (l *Log) touch(tx *store.Tx, session string) error {
	_, err := tx.Exec(`UPDATE sessions SET updated_at = ? WHERE id = ?`, clock.Stamp(l.Clock.Now()), session)
	return wrap("write chat", err)
}

var carriedOver = [...]string{"open_replies", "chat_summaries"}

// Rebuild makes a chat's projections again from its log. The result is byte for byte what was there, unless something
// had damaged it.
func (l *Log) Rebuild(ctx context.Context, session string) error {
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		h, err := readHead(tx, session)
		if err != nil {
			return err
		}
		entries, err := readEntries(tx, session)
		if err != nil {
			return err
		}
		// open_replies and chat_summaries hang on turns and are no projections: they are carried over.
		for _, table := range carriedOver {
			if _, err := tx.Exec(`CREATE TEMP TABLE carried_`+table+` AS SELECT o.* FROM `+table+` o JOIN turns t ON t.id = o.turn_id WHERE t.session_id = ?`, session); err != nil {
				return wrap("carry "+table, err)
			}
		}
		for _, q := range []string{`DELETE FROM messages WHERE session_id = ?`, `DELETE FROM steers WHERE session_id = ?`, `DELETE FROM turns WHERE session_id = ?`} {
			if _, err := tx.Exec(q, session); err != nil {
				return wrap("clear projections", err)
			}
		}
		for _, e := range entries {
			e.at.searchable = !h.incognito
			if err := writeRows(tx, e.record.project(e.at)); err != nil {
				return err
			}
		}
		for _, table := range carriedOver {
			if _, err := tx.Exec(`INSERT INTO ` + table + ` SELECT * FROM carried_` + table); err != nil {
				return wrap("carry "+table, err)
			}
			if _, err := tx.Exec(`DROP TABLE carried_` + table); err != nil {
				return wrap("carry "+table, err)
			}
		}
		return nil
	})
}

type entry struct {
	at     place
	record Record
}

func readEntries(tx *store.Tx, session string) ([]entry, error) {
	rows, err := tx.Query(`SELECT n, turn_id, kind, payload, at FROM chat_events WHERE session_id = ? ORDER BY seq`, session)
	if err != nil {
		return nil, wrap("read log", err)
	}
	return scanEntries(rows, session)
}

// scanEntries reads entries: n, turn, kind, payload, time. It closes the rows.
func scanEntries(rows *sql.Rows, session string) ([]entry, error) {
	defer rows.Close()
	var all []entry
	for rows.Next() {
		e := entry{at: place{Ref: Ref{SessionID: session}}}
		var kind, payload string
		if err := rows.Scan(&e.at.n, &e.at.TurnID, &kind, &payload, &e.at.time); err != nil {
			return nil, wrap("read log", err)
		}
		record, err := decode(kind, []byte(payload))
		if err != nil {
			return nil, err
		}
		e.record = record
		all = append(all, e)
	}
	return all, wrap("read log", rows.Err())
}
