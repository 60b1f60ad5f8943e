// Package notify keeps what Sentient tells a person outside the chats: notifications.
//
// It owns the table notifications, the events notification.*, and the shape of §6. It promises that a notification is
// in the database before anybody hears of it, and that a note from outside (Create) can never look like one of
// Sentient's own. It does not show anything: windows, channels and the desktop listen to the events.
package notify

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
)

// Kind says what a notification is about, and how it is drawn.
type Kind string

// The kinds (§6; budget and backup by contract/README, decision 15).
const (
	Info      Kind = "info"
	Task      Kind = "task"
	Approval  Kind = "approval"
	Proactive Kind = "proactive"
	Skill     Kind = "skill"
	Error     Kind = "error"
	Brief     Kind = "brief"
	Reminder  Kind = "reminder"
	Budget    Kind = "budget"
	Backup    Kind = "backup"
)

var kinds = []Kind{Info, Task, Approval, Proactive, Skill, Error, Brief, Reminder, Budget, Backup}

// Notification is one notification (§6).
type Notification struct {
	ID        string         `json:"id"`
	Kind      Kind           `json:"kind" enum:"info,task,approval,proactive,skill,error,brief,reminder,budget,backup"`
	Title     string         `json:"title"`
	Message   string         `json:"message"` // Markdown
	Payload   map[string]any `json:"payload"`
	TaskID    *string        `json:"task_id"`
	Read      bool           `json:"read"`
	CreatedAt string         `json:"created_at"`
}

// Which says which notifications were read or deleted: null is all.
type Which struct {
	ID *string `json:"id"`
}

// The domain events of notifications.
var (
	TopicNew     = event.Declare[Notification]("notification.new")
	TopicUpdated = event.Declare[Notification]("notification.updated")
	TopicRead    = event.Declare[Which]("notification.read")
	TopicDeleted = event.Declare[Which]("notification.deleted")
)

// Options are what a Service needs from outside.
type Options struct {
	DB    *store.DB
	Bus   *event.Bus
	Clock clock.Clock
}

// Service is the notifications of one data folder.
type Service struct{ Options }

// New makes the service.
func New(o Options) *Service { return &Service{o} }

// Bounds of a note, in characters; longer ones are cut.
const (
	maxTitle   = 200
	maxMessage = 20_000
)

// Post makes a notification. kind must be one of the kinds above, title not empty; a nil payload is {}; taskID may be "".
func (s *Service) Post(ctx context.Context, n Notification) (*Notification, error) {
	if !slices.Contains(kinds, n.Kind) {
		return nil, fmt.Errorf("post notification: unknown kind %q", n.Kind)
	}
	n.ID, n.Read, n.CreatedAt = uuid.Must(uuid.NewV7()).String(), false, clock.Stamp(s.Clock.Now())
	n.Title, n.Message = oneLine(n.Title, maxTitle), cut(strings.ToValidUTF8(n.Message, "\uFFFD"), maxMessage)
	if n.Payload == nil {
		n.Payload = map[string]any{}
	}
	payload, err := json.Marshal(n.Payload)
	if err != nil {
		return nil, fmt.Errorf("encode notification payload: %w", err)
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO notifications (id, kind, title, message, payload, task_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			n.ID, n.Kind, n.Title, n.Message, string(payload), n.TaskID, n.CreatedAt)
		return wrap("write notification", err)
	})
	if err != nil {
		return nil, err
	}
	event.Publish(s.Bus, TopicNew, n)
	return &n, nil
}

// CreateInput is a note from outside the engine (POST /api/notifications).
type CreateInput struct {
	Message string `json:"message,omitempty" doc:"Markdown."`
	Title   string `json:"title,omitempty"`
	Source  string `json:"source,omitempty" doc:"Where it comes from; mcp for an MCP app."`
	App     string `json:"app,omitempty" doc:"The MCP app's own name."`
}

// sourceMCP is the source of notes that connected MCP apps send (the notify_me tool, §6).
const sourceMCP = "mcp"

// Create makes a plain info note, whatever the caller would have it look like. An MCP app's note gets a title that says
// whose it is. 400 without a message.
func (s *Service) Create(ctx context.Context, in *CreateInput) (*Notification, error) {
	n := Notification{Kind: Info, Title: oneLine(in.Title, maxTitle), Message: strings.TrimSpace(in.Message), Payload: map[string]any{}}
	if n.Message == "" {
		return nil, errs.New(errs.Malformed, "message_empty", "A notification needs a message.")
	}
	source, app := oneLine(in.Source, 40), oneLine(in.App, 60)
	if source != "" {
		n.Payload["source"] = source
	}
	if strings.EqualFold(source, sourceMCP) {
		from := "An MCP app"
		if app != "" {
			from = "From MCP app (" + app + ")"
			n.Payload["app"] = app
		}
		if n.Title == "" {
			n.Title = "Note"
		}
		n.Title = from + ": " + n.Title
	}
	if n.Title == "" {
		n.Title = "Note"
	}
	return s.Post(ctx, n)
}

// UpdatePayload sets members of a notification's payload (nil removes one), and marks it read where read is true. It
// tells notification.updated. 404 for an unknown one.
func (s *Service) UpdatePayload(ctx context.Context, id string, set map[string]any, read bool) (*Notification, error) {
	var n Notification
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		var err error
		if n, err = scan(tx.QueryRow(`SELECT `+columns+` FROM notifications WHERE id = ?`, id)); err != nil {
			return err
		}
		for k, v := range set {
			if v == nil {
				delete(n.Payload, k)
				continue
			}
			n.Payload[k] = v
		}
		n.Read = n.Read || read
		payload, err := json.Marshal(n.Payload)
		if err != nil {
			return fmt.Errorf("encode notification payload: %w", err)
		}
		_, err = tx.Exec(`UPDATE notifications SET payload = ?, read = ? WHERE id = ?`, string(payload), n.Read, id)
		return wrap("write notification", err)
	})
	if err != nil {
		return nil, err
	}
	event.Publish(s.Bus, TopicUpdated, n)
	return &n, nil
}

const columns = `id, kind, title, message, payload, task_id, read, created_at`

func scan(row interface{ Scan(...any) error }) (Notification, error) {
	var n Notification
	var payload string
	err := row.Scan(&n.ID, &n.Kind, &n.Title, &n.Message, &payload, &n.TaskID, &n.Read, &n.CreatedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return n, errUnknown()
	}
	if err != nil {
		return n, wrap("read notification", err)
	}
	if json.Unmarshal([]byte(payload), &n.Payload) != nil {
		n.Payload = map[string]any{} // changed by a damaged disk: the other notifications can still be read
	}
	return n, nil
}

func errUnknown() error {
	return errs.New(errs.NotFound, "notification_unknown", "This notification is not there any more.")
}

func oneLine(text string, n int) string {
	return cut(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		// Characters that turn the direction of text could make an attribution read as something else.
		if unicode.IsControl(r) || r == '\u061c' || r == '\u200e' || r == '\u200f' || (r >= '\u2028' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069') {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))), " "), n)
}

func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
