package transcript

import (
	"context"
	"encoding/json"
	"slices"

	"sentient/backend/clock"
	"sentient/backend/store"
)

// Past is one message of a turn's history, for a model to read.
type Past struct {
	Role        string // user, other, assistant, tool; resumed opens a turn that carries on the reply before it
	Text        string
	Thinking    string
	Name        string // user, other: who wrote it, where that is not the person; tool: the tool
	Attachments []string
	Calls       []Call
	CallID      string
	TurnID      string
	Cut         bool   // the message was cut off
	Outside     string // tool: where it was read from, when someone else wrote it
	At          string // when it was written, as a stamp
}

// historyRows bounds what is read of a history whose turns have many calls.
const historyRows = 4000

// History gives the newest messages on the path that ends with the turn, oldest first, its own included, and the summary
// of what comes before them where there is one. It reads up to the summary, or limit messages that were said (tool results
// are not counted). Messages that were never sent, and what is only for the person (role "event"), are left out.
func (l *Log) History(ctx context.Context, turn string, limit int) (past []Past, summary string, err error) {
	rows, err := l.DB.Reader().QueryContext(ctx, `WITH RECURSIVE path (id, parent, state, depth) AS (
			SELECT id, parent_id, state, 0 FROM turns WHERE id = ?1
			UNION ALL SELECT t.id, t.parent_id, t.state, depth + 1 FROM path JOIN turns t ON t.id = path.parent LIMIT ?2)
		SELECT CASE WHEN m.role = 'event' THEN m.name ELSE m.role END, m.content, coalesce(m.thinking, ''), m.attachments, m.tool_calls, coalesce(m.tool_call_id, ''),
			coalesce(m.name, ''), m.turn_id, m.cancelled, m.created_at, m.outside, coalesce(s.text, '')
		FROM path JOIN messages m ON m.turn_id = path.id LEFT JOIN chat_summaries s ON s.turn_id = path.id
		WHERE path.state <> 'unsent' AND (m.role <> 'event' OR m.name = 'resumed') AND (m.role <> 'assistant' OR m.content <> '' OR m.tool_calls <> '[]')
		ORDER BY path.depth, m.n DESC LIMIT ?3`, turn, limit, historyRows)
	if err != nil {
		return nil, "", wrap("read history", err)
	}
	defer rows.Close()
	for said := 0; rows.Next(); {
		var p Past
		var files, calls string
		if err := rows.Scan(&p.Role, &p.Text, &p.Thinking, &files, &calls, &p.CallID, &p.Name, &p.TurnID, &p.Cut, &p.At, &p.Outside, &summary); err != nil {
			return nil, "", wrap("read history", err)
		}
		if summary != "" {
			break // it covers this message and all before it
		}
		if p.Role != "tool" {
			said++
		}
		if said > limit {
			break
		}
		if err := p.read(files, calls); err != nil {
			return nil, "", err
		}
		past = append(past, p)
	}
	slices.Reverse(past)
	return past, summary, wrap("read history", rows.Err())
}

func (p *Past) read(files, calls string) error {
	if err := json.Unmarshal([]byte(files), &p.Attachments); err != nil {
		return wrap("read history", err)
	}
	var wire []wireCall
	if err := json.Unmarshal([]byte(calls), &wire); err != nil {
		return wrap("read history", err)
	}
	for _, c := range wire {
		p.Calls = append(p.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
	}
	return nil
}

// Summarize keeps a summary of the path up to and including a turn.
func (l *Log) Summarize(ctx context.Context, turn, text string) error {
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT OR REPLACE INTO chat_summaries (turn_id, text, created_at) SELECT id, ?, ? FROM turns WHERE id = ?`,
			text, clock.Stamp(l.Clock.Now()), turn)
		return wrap("keep summary", err)
	})
}

// ReadRow is a message that a run's evidence is made of.
type ReadRow struct {
	Past
	OnPath bool // it stands on the path that ends with the turn
}

// evidenceRows bounds what is read of a chat for the gate.
const evidenceRows = 20_000

// Evidence gives what a chat holds for the gate, oldest first: the messages of people on the path that ends with the turn,
// and calls and results of every branch, since what was read in one may be known in another.
func (l *Log) Evidence(ctx context.Context, ref Ref) ([]ReadRow, error) {
	rows, err := l.DB.Reader().QueryContext(ctx, `WITH RECURSIVE path (id, parent) AS (
			SELECT id, parent_id FROM turns WHERE id = ?1
			UNION ALL SELECT t.id, t.parent_id FROM path JOIN turns t ON t.id = path.parent)
		SELECT m.role, CASE WHEN m.role = 'assistant' THEN '' ELSE m.content END, m.tool_calls, coalesce(m.tool_call_id, ''), coalesce(m.name, ''), m.turn_id, m.outside, m.turn_id IN (SELECT id FROM path)
		FROM messages m WHERE m.session_id = ?2 AND m.role IN ('user', 'other', 'tool', 'assistant') AND (m.role <> 'assistant' OR m.tool_calls <> '[]')
		ORDER BY m.n DESC LIMIT ?3`, ref.TurnID, ref.SessionID, evidenceRows)
	if err != nil {
		return nil, wrap("read evidence", err)
	}
	defer rows.Close()
	var all []ReadRow
	for rows.Next() {
		var r ReadRow
		var calls string
		if err := rows.Scan(&r.Role, &r.Text, &calls, &r.CallID, &r.Name, &r.TurnID, &r.Outside, &r.OnPath); err != nil {
			return nil, wrap("read evidence", err)
		}
		if err := r.read("[]", calls); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.Reverse(all)
	return all, wrap("read evidence", rows.Err())
}
