package agent

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

// Subagent is a helper that a chat started (§10).
type Subagent struct {
	SubagentID   string           `json:"subagent_id"`
	SessionID    string           `json:"session_id"`
	ParentCallID string           `json:"parent_call_id"`
	Goal         string           `json:"goal"`
	Kind         string           `json:"kind" enum:"worker,reader"`
	Status       string           `json:"status" enum:"running,completed,error,cancelled"`
	Background   bool             `json:"background"`
	Summary      *string          `json:"summary"`
	Error        *string          `json:"error"`
	ToolCalls    int              `json:"tool_calls"`
	StartedAt    string           `json:"started_at"`
	FinishedAt   *string          `json:"finished_at"`
	Events       []ProgressUpdate `json:"events,omitempty"`
}

// ProgressUpdate is one step of a run (§4).
type ProgressUpdate struct {
	Timestamp string          `json:"timestamp"`
	Message   ProgressMessage `json:"message"`
}

// ProgressMessage is what a step was.
type ProgressMessage struct {
	Type       string          `json:"type" enum:"info,thought,tool_call,tool_result,final_answer,error"`
	Content    string          `json:"content,omitempty"`
	ToolName   string          `json:"tool_name,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Result     string          `json:"result,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
}

// TopicSubagent tells of a helper that began, or ended (without its events).
var TopicSubagent = event.Declare[Subagent]("subagent.updated")

// Bounds of what is kept of a helper's steps.
const (
	helperEvents = 400
	helperText   = 4000 // characters of one step
)

// SubagentsInput names a chat.
type SubagentsInput struct {
	ID string `json:"id" in:"path"`
}

// Subagents lists a chat's helpers, newest first (GET /api/sessions/{id}/subagents).
func (s *Service) Subagents(ctx context.Context, in *SubagentsInput) ([]Subagent, error) {
	if _, _, _, err := s.Chats.About(ctx, in.ID); err != nil {
		return nil, err
	}
	rows, err := s.DB.Reader().QueryContext(ctx, subagentQuery+` WHERE session_id = ? ORDER BY id DESC LIMIT 500`, in.ID)
	if err != nil {
		return nil, fmt.Errorf("list helpers: %w", err)
	}
	defer rows.Close()
	list := []Subagent{}
	for rows.Next() {
		a, err := scanSubagent(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

// SubagentInput names a helper.
type SubagentInput struct {
	ID string `json:"id" in:"path"`
}

// Subagent gives a helper (GET /api/subagents/{id}). 404 for an unknown one.
func (s *Service) Subagent(ctx context.Context, in *SubagentInput) (*Subagent, error) {
	a, err := scanSubagent(s.DB.Reader().QueryRowContext(ctx, subagentQuery+` WHERE id = ?`, in.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errs.New(errs.NotFound, "subagent_unknown", "This helper does not exist any more.")
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.helpers[in.ID]; h != nil { // what it does now is not in the database yet
		a.Events = h.record.eventsNow()
	}
	return &a, nil
}

// CancelSubagent stops a helper (POST /api/subagents/{id}/cancel) and gives it as it ended. One that has ended stays as it
// is.
func (s *Service) CancelSubagent(ctx context.Context, in *SubagentInput) (*Subagent, error) {
	s.mu.Lock()
	h := s.helpers[in.ID]
	s.mu.Unlock()
	if h != nil {
		h.cancel(errStopped)
		select {
		case <-h.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.Subagent(ctx, in)
}

const subagentQuery = `SELECT id, session_id, parent_call_id, goal, kind, status, background, summary, error, tool_calls, started_at, finished_at, events FROM subagents`

func scanSubagent(row interface{ Scan(...any) error }) (a Subagent, err error) {
	var events string
	err = row.Scan(&a.SubagentID, &a.SessionID, &a.ParentCallID, &a.Goal, &a.Kind, &a.Status, &a.Background, &a.Summary, &a.Error, &a.ToolCalls,
		&a.StartedAt, &a.FinishedAt, &events)
	if err != nil {
		return a, err
	}
	if json.Unmarshal([]byte(events), &a.Events) != nil {
		a.Events = nil // a damaged disk: what the helper found is worth more than its steps
	}
	return a, nil
}

// endHelpers marks the helpers that the last run left working.
func (s *Service) endHelpers(ctx context.Context) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE subagents INDEXED BY subagents_running SET status = 'error', error = ?, finished_at = ? WHERE status = 'running'`,
			"Sentient stopped before this helper had finished.", clock.Stamp(s.Clock.Now()))
		if err != nil {
			return fmt.Errorf("end helpers: %w", err)
		}
		return nil
	})
}

// keepHelper writes a helper's row: at its beginning and at its end.
func (s *Service) keepHelper(ctx context.Context, a Subagent) error {
	events, err := json.Marshal(a.Events)
	if err != nil {
		return fmt.Errorf("encode helper's steps: %w", err)
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO subagents (id, session_id, parent_call_id, goal, kind, status, background, summary, error, tool_calls, events, started_at, finished_at)
			SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 FROM sessions WHERE id = ?2
			ON CONFLICT (id) DO UPDATE SET status = excluded.status, summary = excluded.summary, error = excluded.error,
				tool_calls = excluded.tool_calls, events = excluded.events, finished_at = excluded.finished_at`,
			a.SubagentID, a.SessionID, a.ParentCallID, a.Goal, a.Kind, a.Status, a.Background, a.Summary, a.Error, a.ToolCalls, list(events), a.StartedAt, a.FinishedAt)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep helper: %w", err)
	}
	a.Events = nil
	event.Publish(s.Bus, TopicSubagent, a)
	return nil
}

func list(events []byte) string {
	if string(events) == "null" {
		return "[]"
	}
	return string(events)
}

// haltHelpers stops helpers, of one chat or ("") of all, and waits for their end.
func (s *Service) haltHelpers(ctx context.Context, session string, cause error) error {
	s.mu.Lock()
	var running []*helper
	for _, h := range s.helpers {
		if session == "" || h.about.SessionID == session {
			running = append(running, h)
			h.cancel(cause)
		}
	}
	s.mu.Unlock()
	for _, h := range running {
		select {
		case <-h.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// report adds what a background helper found to its chat, as a message of its own (§10), and tells it as a turn.
func (s *Service) report(ctx context.Context, a Subagent, text string) error {
	_, leave, err := s.enter(ctx, a.SessionID, true)
	if err != nil {
		return err
	}
	defer leave()
	return s.Transcript.Report(ctx, a.SessionID, text, transcript.NewID())
}
