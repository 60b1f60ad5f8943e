package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// Message is one row of a chat (§2). All members are always there but Cancelled, which only a reply that was cut off
// has (stopped, or ended by a crash), and Branch.
type Message struct {
	ID            string          `json:"id"`
	Role          string          `json:"role" enum:"user,assistant,tool,other,event"`
	Content       string          `json:"content"`
	Thinking      *string         `json:"thinking"`
	ToolCalls     json.RawMessage `json:"tool_calls"`
	ToolCallID    *string         `json:"tool_call_id"`
	Name          *string         `json:"name"`
	Attachments   []string        `json:"attachments"`
	Interjection  bool            `json:"interjection"`
	MemorySources json.RawMessage `json:"memory_sources"`
	Sources       json.RawMessage `json:"sources"`
	Approval      json.RawMessage `json:"approval"` // null where none was asked
	Checks        json.RawMessage `json:"checks"`
	CreatedAt     string          `json:"created_at"`
	Cancelled     bool            `json:"cancelled,omitempty"`
	TurnID        string          `json:"turn_id"`
	Branch        *Branch         `json:"branch,omitempty" doc:"On the first message of a turn that has others beside it"`
}

// MessagesInput names a chat and how many of its newest messages are wanted.
type MessagesInput struct {
	ID    string `json:"id" in:"path"`
	Limit int    `json:"limit,omitempty" in:"query" default:"500" minimum:"1" maximum:"5000"`
}

// Messages gives the newest messages of the path that the chat shows, oldest first (GET /api/sessions/{id}/messages).
// A turn's rows stand together: a message that waits for its turn comes after the reply before it. 404 for an unknown
// chat.
func (s *Service) Messages(ctx context.Context, in *MessagesInput) ([]Message, error) {
	var leaf string
	err := s.DB.Reader().QueryRowContext(ctx, `SELECT coalesce(leaf_turn, '') FROM sessions WHERE id = ?`, in.ID).Scan(&leaf)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errUnknown()
	}
	if err != nil {
		return nil, wrap("read chat", err)
	}
	// Each turn has a row at least, so that the walk up the path can end after limit turns.
	rows, err := s.DB.Reader().QueryContext(ctx, `WITH RECURSIVE path (id, parent, depth) AS (
			SELECT id, parent_id, 0 FROM turns WHERE id = ?1
			UNION ALL SELECT t.id, t.parent_id, depth + 1 FROM path JOIN turns t ON t.id = path.parent LIMIT ?2)
		SELECT m.id, m.role, m.content, m.thinking, m.tool_calls, m.tool_call_id, m.name, m.attachments, m.interjection,
			m.memory_sources, m.sources, coalesce(m.approval, 'null'), m.checks, m.created_at, m.cancelled, m.turn_id
		FROM path JOIN messages m ON m.turn_id = path.id ORDER BY path.depth, m.n DESC LIMIT ?2`, leaf, limited(in.Limit, 500, 5000))
	if err != nil {
		return nil, wrap("read messages", err)
	}
	defer rows.Close()
	list := []Message{}
	for rows.Next() {
		m, err := scanMessage(rows)
		if err != nil {
			return nil, wrap("read messages", err)
		}
		list = append(list, m)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	if err := rows.Err(); err != nil {
		return nil, wrap("read messages", err)
	}
	of, err := s.branches(ctx, in.ID)
	for i, m := range list {
		if i == 0 || list[i-1].TurnID != m.TurnID {
			list[i].Branch = of[m.TurnID]
		}
	}
	return list, err
}

func scanMessage(rows *sql.Rows) (Message, error) {
	var m Message
	var calls, files, memory, sources, approval, checks string
	err := rows.Scan(&m.ID, &m.Role, &m.Content, &m.Thinking, &calls, &m.ToolCallID, &m.Name, &files, &m.Interjection,
		&memory, &sources, &approval, &checks, &m.CreatedAt, &m.Cancelled, &m.TurnID)
	if err != nil {
		return m, err
	}
	m.ToolCalls, m.MemorySources, m.Sources = readable(calls, "[]"), readable(memory, "[]"), readable(sources, "[]")
	m.Approval, m.Checks = readable(approval, "null"), readable(checks, "[]")
	if json.Unmarshal([]byte(files), &m.Attachments) != nil {
		m.Attachments = []string{}
	}
	return m, nil
}

// readable gives a stored JSON value. One that a damaged disk has changed is left out, so that the chat around it can
// still be read.
func readable(stored, otherwise string) json.RawMessage {
	if !json.Valid([]byte(stored)) {
		return json.RawMessage(otherwise)
	}
	return json.RawMessage(stored)
}

// SearchInput is what a person typed.
type SearchInput struct {
	Q     string `json:"q" in:"query" maxLength:"1000"`
	Limit int    `json:"limit,omitempty" in:"query" default:"50" minimum:"1" maximum:"200"`
}

// Found is a message that has the words.
type Found struct {
	SessionID string `json:"session_id"`
	MessageID string `json:"message_id"`
	Role      string `json:"role"`
	Snippet   string `json:"snippet"` // plain text around the words
	CreatedAt string `json:"created_at"`
}

// Search gives the newest messages that have all the words (GET /api/sessions/search), never of incognito chats. The
// last word may be unfinished: where the words as they stand fill no page, those that begin with it count too. No text
// is an error: what has no word finds nothing.
func (s *Service) Search(ctx context.Context, in *SearchInput) ([]Found, error) {
	whole, begun := matchQueries(in.Q)
	limit := limited(in.Limit, 50, 200)
	if whole == "" {
		return []Found{}, nil
	}
	// Whole words are read from the newest backwards; the beginning of a word has to be gathered from all words first,
	// which takes long for a frequent one.
	list, err := s.find(ctx, whole, limit)
	if err != nil || len(list) == limit || begun == "" {
		return list, err
	}
	return s.find(ctx, begun, limit)
}

func (s *Service) find(ctx context.Context, query string, limit int) ([]Found, error) {
	list := []Found{}
	rows, err := s.DB.Reader().QueryContext(ctx, `SELECT m.session_id, m.id, m.role, snippet(message_text, 0, '', '', '…', 24), m.created_at
		FROM message_text JOIN messages m ON m.n = message_text.rowid
		WHERE message_text MATCH ? ORDER BY message_text.rowid DESC LIMIT ?`, query, limit)
	if err != nil {
		return nil, wrap("search messages", err)
	}
	defer rows.Close()
	for rows.Next() {
		var f Found
		if err := rows.Scan(&f.SessionID, &f.MessageID, &f.Role, &f.Snippet, &f.CreatedAt); err != nil {
			return nil, wrap("search messages", err)
		}
		f.Snippet = oneLine(f.Snippet, 400)
		list = append(list, f)
	}
	return list, wrap("search messages", rows.Err())
}

// maxWords bounds a search; a pasted page must not become a query of a thousand terms.
const maxWords = 12

// matchQueries makes FTS5 queries of what a person typed: every word in quotes, so that nothing in it is syntax; begun
// has the last one as a beginning, when it is long enough to be selective and nothing follows it.
func matchQueries(text string) (whole, begun string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	words = words[:min(len(words), maxWords)]
	if len(words) == 0 {
		return "", ""
	}
	last := words[len(words)-1]
	whole = `"` + strings.Join(words, `" "`) + `"`
	if len([]rune(last)) >= 2 && strings.HasSuffix(text, last) {
		begun = whole + "*"
	}
	return whole, begun
}
