package transcript

import (
	"encoding/json"
	"fmt"

	"sentient/backend/store"
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
}

func (r messageRow) write(tx *store.Tx) error {
	files := []byte("[]")
	if len(r.attachments) > 0 {
		files, _ = json.Marshal(r.attachments) // strings always encode
	}
	_, err := tx.Exec(`INSERT INTO messages (n, id, session_id, turn_id, role, content, thinking, name, attachments, cancelled, searchable, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.place.n, r.id, r.place.SessionID, r.place.TurnID, r.role, r.content, orNull(r.thinking), orNull(r.name), string(files),
		r.cancelled, r.place.searchable, r.place.time)
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
