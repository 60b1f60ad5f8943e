package transcript

import (
	"context"
	"encoding/json"
)

// Past is one message of a turn's history, for a model to read.
type Past struct {
	Role        string // user, assistant
	Text        string
	Thinking    string
	Attachments []string
	TurnID      string
}

// History gives the newest messages, at most limit, on the path that ends with the turn, oldest first, its own message
// included. Messages that were never sent, and what is only for the person (role "event"), are left out.
func (l *Log) History(ctx context.Context, turn string, limit int) ([]Past, error) {
	rows, err := l.DB.Reader().QueryContext(ctx, `WITH RECURSIVE path (id, parent, state, depth) AS (
			SELECT id, parent_id, state, 0 FROM turns WHERE id = ?1
			UNION ALL SELECT t.id, t.parent_id, t.state, depth + 1 FROM path JOIN turns t ON t.id = path.parent LIMIT ?2)
		SELECT m.role, m.content, coalesce(m.thinking, ''), m.attachments, m.turn_id FROM path JOIN messages m ON m.turn_id = path.id
		WHERE path.state <> 'unsent' AND m.role IN ('user', 'assistant') AND (m.role <> 'assistant' OR m.content <> '')
		ORDER BY path.depth, m.n DESC LIMIT ?2`, turn, limit)
	if err != nil {
		return nil, wrap("read history", err)
	}
	defer rows.Close()
	var past []Past
	for rows.Next() {
		var p Past
		var files string
		if err := rows.Scan(&p.Role, &p.Text, &p.Thinking, &files, &p.TurnID); err != nil {
			return nil, wrap("read history", err)
		}
		if err := json.Unmarshal([]byte(files), &p.Attachments); err != nil {
			return nil, wrap("read history", err)
		}
		past = append(past, p)
	}
	for i, j := 0, len(past)-1; i < j; i, j = i+1, j-1 {
		past[i], past[j] = past[j], past[i]
	}
	return past, wrap("read history", rows.Err())
}
