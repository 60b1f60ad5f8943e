package transcript

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"sentient/backend/errs"
	"sentient/backend/store"
)

// Branches: the turns of a chat are a tree, and the chat shows one path of it, down to its leaf (contract/README,
// decision 16). Nothing here changes a log entry: choosing a path moves the leaf alone.

// TurnOf gives the turn that a message of the person opened. 404 for a message that is not in the chat, 422 for one that
// opened no turn.
func (l *Log) TurnOf(ctx context.Context, session, message string) (string, error) {
	var turn, role string
	var interjection bool
	err := l.DB.Reader().QueryRowContext(ctx, `SELECT turn_id, role, interjection FROM messages WHERE id = ? AND session_id = ?`, message, session).
		Scan(&turn, &role, &interjection)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrTurnUnknown()
	}
	if err == nil && (role != "user" || interjection) {
		return "", errs.New(errs.Invalid, "message_fixed", "Only a message that began a reply can be changed.")
	}
	return turn, wrap("find message", err)
}

// OpeningBy gives how the turn of any of its messages was opened.
func (l *Log) OpeningBy(ctx context.Context, session, message string) (turn string, o Opening, err error) {
	err = l.DB.Write(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow(`SELECT turn_id FROM messages WHERE id = ? AND session_id = ?`, message, session).Scan(&turn)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrTurnUnknown()
		}
		if err != nil {
			return wrap("find message", err)
		}
		o, err = OpeningOf(tx, Ref{SessionID: session, TurnID: turn})
		return err
	})
	return turn, o, err
}

// Show makes a chat show the path through a turn: down to the newest turn after it. It gives that leaf.
func (l *Log) Show(tx *store.Tx, session, turn string) (leaf string, err error) {
	err = tx.QueryRow(`WITH RECURSIVE below (id) AS (
			SELECT id FROM turns WHERE id = ?1 AND session_id = ?2
			UNION ALL SELECT (SELECT id FROM turns WHERE session_id = ?2 AND parent_id = below.id ORDER BY id DESC LIMIT 1) FROM below WHERE below.id IS NOT NULL)
		SELECT id FROM below WHERE id IS NOT NULL ORDER BY id DESC LIMIT 1`, turn, session).Scan(&leaf)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrTurnUnknown()
	}
	if err != nil {
		return "", wrap("find branch", err)
	}
	_, err = tx.Exec(`UPDATE sessions SET leaf_turn = ? WHERE id = ?`, leaf, session)
	return leaf, wrap("write chat", err)
}

// forkAtMost bounds how many entries a new chat may begin with.
const forkAtMost = 200_000

// Fork writes the path down to a message's turn into another, empty chat: as new entries of its log, with ids of their
// own. Turns without an end are left out. It is part of the caller's transaction, which has made the chat.
func (l *Log) Fork(tx *store.Tx, from, message, into string) error {
	entries, err := pathEntries(tx, from, message)
	if err != nil {
		return err
	}
	if len(entries) > forkAtMost {
		return errs.New(errs.TooLarge, "chat_too_long", "This chat is too long to be copied into a new one.")
	}
	turns, last := map[string]string{}, ""
	for _, e := range entries {
		id, known := turns[e.at.TurnID]
		if !known {
			id = NewID()
			turns[e.at.TurnID] = id
		}
		h, err := readHead(tx, into)
		if err != nil {
			return err
		}
		record, err := copied(e.record, turns)
		if err != nil {
			return err
		}
		if record == nil {
			continue
		}
		if err := l.append(tx, Ref{SessionID: into, TurnID: id}, h, record); err != nil {
			return err
		}
		last = id
	}
	_, err = tx.Exec(`UPDATE sessions SET leaf_turn = ?, forked_from = ? WHERE id = ?`, orNull(last), from, into)
	if err != nil {
		return wrap("write chat", err)
	}
	return l.touch(tx, into)
}

// pathEntries gives the log entries of the ended turns on the path down to a message's turn, turn by turn.
func pathEntries(tx *store.Tx, session, message string) ([]entry, error) {
	rows, err := tx.Query(`WITH RECURSIVE path (id, parent, depth) AS (
			SELECT t.id, t.parent_id, 0 FROM messages m JOIN turns t ON t.id = m.turn_id WHERE m.id = ?1 AND m.session_id = ?2
			UNION ALL SELECT t.id, t.parent_id, depth + 1 FROM path JOIN turns t ON t.id = path.parent)
		SELECT e.n, e.turn_id, e.kind, e.payload, e.at FROM path JOIN turns t ON t.id = path.id AND t.ended_at IS NOT NULL
			JOIN chat_events e ON e.session_id = ?2 AND e.turn_id = path.id ORDER BY path.depth DESC, e.seq`, message, session)
	if err != nil {
		return nil, wrap("read log", err)
	}
	all, err := scanEntries(rows, session)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, ErrTurnUnknown()
	}
	return all, nil
}

// copied gives an entry as it stands in another chat: ids of messages are unique, and a client's id belongs to the chat
// where it was sent. What was said into a reply and became a turn of its own stays behind.
func copied(r Record, turns map[string]string) (Record, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("copy log entry: %w", err)
	}
	c, err := decode(r.kind(), raw)
	if err != nil {
		return nil, err
	}
	switch c := c.(type) {
	case *UserMessage:
		c.MessageID, c.ClientID, c.Parent = NewID(), "", turns[c.Parent]
	case *Resumed:
		c.MessageID, c.ClientID, c.Parent = NewID(), "", turns[c.Parent]
	case *Reported:
		c.Parent = turns[c.Parent]
	case *AssistantMessage:
		c.MessageID = fresh(turns, c.MessageID)
	case *CallResult:
		c.MessageID = NewID()
	case *Note:
		c.MessageID = NewID()
	case *Interjection:
		c.MessageID, c.ClientID = NewID(), ""
	case *Done:
		if c.MessageID != "" {
			c.MessageID = fresh(turns, c.MessageID)
		}
	case *Steered, *SteerMoved:
		return nil, nil
	}
	return c, nil
}

// fresh gives the new id of an old one, the same each time.
func fresh(ids map[string]string, old string) string {
	if ids[old] == "" {
		ids[old] = NewID()
	}
	return ids[old]
}
