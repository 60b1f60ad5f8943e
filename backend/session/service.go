// Package session keeps the chats: their list, their settings, their messages as the window reads them, their files.
//
// It owns the table sessions, the folder files/ in the data folder (uploads/, screens/, selections/, outputs/), the
// domain events session.updated and session.deleted, and the shapes of §2 "Sessions (chats)" and "Files". It reads
// messages and turns, which backend/transcript fills, and never writes them; deleting a chat takes its rows along.
//
// It promises: a list, a page of messages and a search stay quick with a million messages; what a person types into the
// search never is an error; an incognito chat is in no search and is gone after a start, a stop, or half an hour of
// silence; a file name in a message never points at another file later; no name reaches outside files/.
// It does not promise to know whether a turn runs: it asks whoever runs them (Turns).
package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/opt"
	"sentient/backend/store"
)

// Turns is what a chat needs of whoever runs its turns.
type Turns interface {
	// Retire ends the chat's turns, waits for their end, and lets none start until release is called.
	Retire(ctx context.Context, session string) (release func(), err error)
	// RetireIdle is the same for a chat that is being answered by nobody; where one is, it does nothing and gives false.
	RetireIdle(ctx context.Context, session string) (release func(), idle bool, err error)
}

// Settings are the parts of the config that chats follow. They are asked for each time.
type Settings struct {
	IncognitoDeleteAfter time.Duration               // of silence; 0: 30 minutes
	ScopeOf              func(channel string) string // a messaging app's memory scope; nil: personal
}

// Paths are what a chat needs of its log to show another path of its turns (contract/README, decision 16).
type Paths interface {
	// Show makes a chat show the path through a turn, inside the transaction, and gives its newest turn.
	Show(tx *store.Tx, session, turn string) (leaf string, err error)
	// Fork writes the path down to a message's turn into another, empty chat.
	Fork(tx *store.Tx, from, message, into string) error
}

// Options are what a Service needs from outside.
type Options struct {
	DB          *store.DB
	Bus         *event.Bus
	Clock       clock.Clock
	Log         *slog.Logger
	Dir         string          // the data folder
	Settings    func() Settings // nil: the defaults
	Paths       Paths
	MaxFileSize int64 // of an upload, in bytes; 0: 200 MB
}

// Service is the chats of one data folder. UseTurns must be called before it is used.
type Service struct {
	Options
	turns Turns
	files *os.Root

	naming sync.Mutex // held while a new file gets its name
}

// maxFileSize is the largest upload where Options do not say.
const maxFileSize = 200 << 20

// New makes the service and the folder of its files.
func New(o Options) (*Service, error) {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.MaxFileSize == 0 {
		o.MaxFileSize = maxFileSize
	}
	dir := filepath.Join(o.Dir, "files")
	for _, kind := range append([]string{dirUploads}, folders...) {
		if err := os.MkdirAll(filepath.Join(dir, kind), 0o700); err != nil {
			return nil, fmt.Errorf("make files folder: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open files folder: %w", err)
	}
	return &Service{Options: o, files: root}, nil
}

// UseTurns connects whoever runs the turns. It is apart from New because that one needs the chats.
func (s *Service) UseTurns(t Turns) { s.turns = t }

// Start deletes what must not outlive the last run: incognito chats (§2), and captured screens and selections that no
// message has and that are over an hour old. It is called after the transcript has recovered and before anything is
// served.
func (s *Service) Start(ctx context.Context) error {
	if err := s.deleteIncognito(ctx, ""); err != nil {
		return err
	}
	return s.sweepFiles(ctx)
}

// Close deletes the incognito chats. It is called after all turns have ended.
func (s *Service) Close(ctx context.Context) error {
	return errors.Join(s.deleteIncognito(ctx, ""), s.files.Close())
}

// Serve deletes incognito chats that have been silent for too long, once a minute, until ctx ends.
func (s *Service) Serve(ctx context.Context) error {
	for {
		timer := s.Clock.NewTimer(time.Minute)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		after := s.Settings().IncognitoDeleteAfter
		if after <= 0 {
			after = 30 * time.Minute
		}
		if err := s.deleteIncognito(ctx, clock.Stamp(s.Clock.Now().Add(-after))); err != nil && ctx.Err() == nil {
			s.Log.Warn("incognito chats not deleted", "error", err)
		}
	}
}

// String names the service in logs.
func (s *Service) String() string { return "incognito chats" }

// Updated is the data of session.updated: only what changed.
type Updated struct {
	SessionID   string            `json:"session_id"`
	Title       opt.Field[string] `json:"title,omitzero"`
	Model       opt.Field[string] `json:"model,omitzero"` // null: the default
	MemoryScope opt.Field[string] `json:"memory_scope,omitzero"`
	Untrusted   opt.Field[string] `json:"untrusted,omitzero"`
	Branch      opt.Field[string] `json:"branch,omitzero" doc:"Another path of the chat is shown: that with this turn at its end"`
}

// Deleted is the data of session.deleted.
type Deleted struct {
	SessionID string `json:"session_id"`
	Reason    string `json:"reason,omitempty" enum:"incognito"`
}

// The domain events of chats.
var (
	TopicUpdated = event.Declare[Updated]("session.updated")
	TopicDeleted = event.Declare[Deleted]("session.deleted")
)

func errUnknown() *errs.Error {
	return errs.New(errs.NotFound, "chat_unknown", "This chat does not exist any more.")
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// checkModel refuses what is no "provider/model".
func checkModel(model string) error {
	provider, name, ok := strings.Cut(model, "/")
	if !ok || provider == "" || name == "" || strings.TrimSpace(model) != model || len(model) > 200 {
		return errs.New(errs.Invalid, "model_invalid", "A chat's model is written as provider/model, for example ollama_chat/qwen3:8b.").
			WithFields(errs.Field{Loc: []string{"model"}, Msg: "Write the model as provider/model.", Type: "value_error"})
	}
	return nil
}

// cleanScope gives a memory scope in its own spelling (§7 "Memory scopes"): the built-in ones in lower case, a project's
// name as it is.
func cleanScope(scope string) (string, error) {
	scope = strings.TrimSpace(scope)
	switch lower := strings.ToLower(scope); lower {
	case "personal", "work":
		return lower, nil
	case "always":
		return "", scopeInvalid("A chat cannot use only the memories that every chat knows. Pick personal, work or a project.")
	}
	if scope == "" || len([]rune(scope)) > 40 || strings.ContainsFunc(scope, isControl) {
		return "", scopeInvalid("A project's name has 1 to 40 characters.")
	}
	return scope, nil
}

func scopeInvalid(message string) error {
	return errs.New(errs.Invalid, "memory_scope_invalid", message).
		WithFields(errs.Field{Loc: []string{"memory_scope"}, Msg: message, Type: "value_error"})
}

func (s *Service) scope(own sql.NullString, channel string) string {
	if own.Valid {
		return own.String
	}
	if of := s.Settings().ScopeOf; of != nil {
		if scope := of(channel); scope != "" {
			return scope
		}
	}
	return "personal"
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
