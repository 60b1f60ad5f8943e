package transcript

import (
	"encoding/json"
	"fmt"

	"sentient/backend/approval/ask"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// State is where a turn stands.
type State string

// The states. Unsent: its message waited behind another turn and was never given to a model.
const (
	Queued   State = "queued"
	Running  State = "running"
	Finished State = "done"
	Stopped  State = "stopped"
	Failed   State = "failed"
	Unsent   State = "unsent"
)

// row is one change to the projected tables.
type row interface {
	write(tx *store.Tx) error
}

type turnRow struct {
	ref              Ref
	parent, clientID string
	at               string
}

func (r turnRow) write(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO turns (id, session_id, parent_id, client_id, state, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		r.ref.TurnID, r.ref.SessionID, orNull(r.parent), orNull(r.clientID), Queued, r.at)
	return wrap("write turn", err)
}

type turnState struct {
	turn  string
	state State
	ended string
}

func (r turnState) write(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE turns SET state = ?, ended_at = ? WHERE id = ?`, r.state, orNull(r.ended), r.turn)
	return wrap("write turn state", err)
}

type messageRow struct {
	place       place
	id          string
	role        string
	content     string
	thinking    string
	name        string
	attachments []string
	cancelled   bool

	calls        []Call
	callID       string
	interjection bool
	memories     []tool.MemorySource
	sources      []tool.Source
	checks       []Check
	outside      string
	approval     *ask.Answered
}

func (r messageRow) write(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO messages (n, id, session_id, turn_id, role, content, thinking, name, attachments, cancelled, searchable, created_at,
		tool_calls, tool_call_id, interjection, memory_sources, sources, checks, outside, approval) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.place.n, r.id, r.place.SessionID, r.place.TurnID, r.role, r.content, orNull(r.thinking), orNull(r.name), list(r.attachments),
		r.cancelled, r.place.searchable, r.place.time,
		list(wireCalls(r.calls)), orNull(r.callID), r.interjection, list(r.memories), list(r.sources), list(r.checks), r.outside, stored(r.approval))
	if err != nil {
		return wrap("write message", err)
	}
	for _, name := range r.attachments {
		if _, err := tx.Exec(`INSERT OR IGNORE INTO message_files (name, message_n, session_id) VALUES (?, ?, ?)`,
			name, r.place.n, r.place.SessionID); err != nil {
			return wrap("write message file", err)
		}
	}
	return nil
}

// list encodes a list of plain values, which always encode.
func list[T any](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	text, _ := json.Marshal(values)
	return string(text)
}

// wireCall is a call as a message row carries it (§2).
type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func wireCalls(calls []Call) []wireCall {
	out := make([]wireCall, len(calls))
	for i, c := range calls {
		out[i].ID, out[i].Type = c.ID, "function"
		out[i].Function.Name, out[i].Function.Arguments = c.Name, string(c.Arguments)
	}
	return out
}

type steerRow struct {
	ref                    Ref
	id, clientID, text, at string
}

func (r steerRow) write(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO steers (id, session_id, turn_id, client_id, text, state, at) VALUES (?, ?, ?, ?, ?, 'waiting', ?)`,
		r.id, r.ref.SessionID, r.ref.TurnID, orNull(r.clientID), r.text, r.at)
	return wrap("write steer", err)
}

type steerState struct{ id, state string }

func (r steerState) write(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE steers SET state = ? WHERE id = ?`, r.state, r.id)
	return wrap("write steer state", err)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
