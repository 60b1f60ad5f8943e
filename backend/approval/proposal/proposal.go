// Package proposal turns what a person says about what Sentient may do into cards that propose a lasting rule (§2 "Rules
// from chat").
//
// It owns the table rule_proposals, the event rule_proposal.updated, the reading of messages that find such sentences, and
// the prompt of the one question that a small model is asked. It promises: only the person's accept makes a rule, and it
// never loosens one; a model only picks among keys that code has found, and the level and the keys that stay are decided by
// code; from the moment a check takes longer than the reply waits, and while a card is undecided, Covers says so, after a
// restart as well; exactly one answer to a card wins. It asks nobody about a call (the gate does) and keeps no rules
// (config does).
//
// Layer 2; the gate, the operation table and the engine import it.
package proposal

import (
	"context"
	"database/sql"
	_ "embed" // the prompt
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"text/template"

	"sentient/backend/approval/rules"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// Status is where a proposal stands.
type Status string

// The statuses.
const (
	Pending  Status = "pending"
	Accepted Status = "accepted"
	Declined Status = "declined"
)

// Target is a tool or an app that a proposal is about, for people.
type Target struct {
	Key   string `json:"key"`
	App   string `json:"app" doc:"The app's name."`
	Tool  string `json:"tool" doc:"The tool's plain name; empty for a whole app."`
	Label string `json:"label" doc:"\"Gmail > Trash\", or \"Gmail\" for a whole app."`
}

// Proposal is a card "Make this a rule?" (§2 RuleProposal).
type Proposal struct {
	ID        string      `json:"id"`
	SessionID string      `json:"session_id"`
	MessageID string      `json:"message_id"`
	Said      string      `json:"said" doc:"The person's own words, at most 300 characters."`
	Rule      rules.Level `json:"rule" enum:"never,ask,if_asked,hand_off"`
	Keys      []string    `json:"keys"`
	Targets   []Target    `json:"targets"`
	Status    Status      `json:"status" enum:"pending,accepted,declined"`
	CreatedAt string      `json:"created_at"`
	DecidedAt *string     `json:"decided_at"`
}

// TopicUpdated tells of a new card, and of one that was answered.
var TopicUpdated = event.Declare[Proposal]("rule_proposal.updated")

// Options are what a Service needs from outside.
type Options struct {
	DB    *store.DB
	Bus   *event.Bus
	Clock clock.Clock
	Log   *slog.Logger
	Tree  *svc.Tree
	Apps  func() []*tool.Plugin    // the plugins whose tools may be named, in a fixed order
	Rules func() map[string]string // tools.approvals.rules
	// Save writes rules with their origins (key to origin, whose Rule is the level). It must not loosen one that was
	// tightened since Rules was read, and tells config.updated.
	Save func(ctx context.Context, origins map[string]config.RuleOrigin) error
	// Ask asks a small model that has no tools. session is the chat it is for.
	Ask func(ctx context.Context, session, prompt string) (string, error)
}

//go:embed prompts/check.md
var checkPrompt string

// Service is the proposals of one data folder.
type Service struct {
	Options
	prompt *template.Template

	deciding sync.Mutex // one answer at a time: what is saved follows from the rules as they are then

	proposing sync.Mutex // the cards of one check at a time, so that two never make the same one; taken before mu

	mu    sync.Mutex                    // guards chats and runs; never held while a model or the settings are asked
	chats map[string]map[string]pending // by chat and proposal; a chat that is not in it was not loaded
	runs  map[*check]struct{}
}

// pending is an undecided proposal as Covers needs it.
type pending struct {
	rule rules.Level
	keys map[string]bool
}

// New makes the service. The error is for programmers: the prompt cannot be read.
func New(o Options) (*Service, error) {
	prompt, err := template.New("check.md").Parse(checkPrompt)
	if err != nil {
		return nil, fmt.Errorf("read prompt: %w", err)
	}
	return &Service{Options: o, prompt: prompt, chats: map[string]map[string]pending{}, runs: map[*check]struct{}{}}, nil
}

// Covers reports whether an undecided proposal of a chat, or a check of it that is still running, covers a tool. It reads
// the database once a chat. A chat whose proposals cannot be read covers everything: a question too many is the safe side.
func (s *Service) Covers(session string, t *tool.Tool, p *tool.Plugin) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.runs {
		if c.session == session && holds(c.keys, t, p) {
			return true
		}
	}
	list, err := s.loadLocked(session)
	if err != nil {
		s.Log.Warn("proposals of chat not read", "session", session, "error", err)
		return true
	}
	for _, one := range list {
		if holds(one.keys, t, p) {
			return true
		}
	}
	return false
}

func holds(keys map[string]bool, t *tool.Tool, p *tool.Plugin) bool {
	return keys[t.Name] || p != nil && keys[p.ID]
}

// loadLocked gives the undecided proposals of a chat. It reads while s.mu is held: a proposal that is written meanwhile is
// put in behind it, and is then there once.
func (s *Service) loadLocked(session string) (map[string]pending, error) {
	if list, ok := s.chats[session]; ok {
		return list, nil
	}
	rows, err := s.DB.Reader().QueryContext(context.Background(), `SELECT id, rule, keys FROM rule_proposals WHERE session_id = ? AND status = 'pending'`, session)
	if err != nil {
		return nil, fmt.Errorf("find pending proposals: %w", err)
	}
	defer rows.Close()
	list := map[string]pending{}
	for rows.Next() {
		var id, keys string
		var one pending
		if err := rows.Scan(&id, &one.rule, &keys); err != nil {
			return nil, fmt.Errorf("read pending proposal: %w", err)
		}
		var names []string
		if err := json.Unmarshal([]byte(keys), &names); err != nil {
			return nil, fmt.Errorf("read keys of proposal: %w", err)
		}
		one.keys = keySet(names)
		list[id] = one
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find pending proposals: %w", err)
	}
	s.chats[session] = list
	return list, nil
}

func keySet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// Forget drops what memory holds of a chat that goes, and ends its checks. The rows go with the chat's.
func (s *Service) Forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.chats, session)
	for c := range s.runs {
		if c.session == session {
			c.cancel()
		}
	}
}

// Halt ends the checks that are running and gives how many (§17). They make no card.
func (s *Service) Halt() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for c := range s.runs {
		if !c.halted {
			c.halted = true
			n++
		}
		c.cancel()
	}
	return n
}

const columns = `id, session_id, message_id, said, rule, keys, targets, status, created_at, decided_at`

func scan(row interface{ Scan(...any) error }) (Proposal, error) {
	var p Proposal
	var keys, targets string
	err := row.Scan(&p.ID, &p.SessionID, &p.MessageID, &p.Said, &p.Rule, &keys, &targets, &p.Status, &p.CreatedAt, &p.DecidedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return p, errs.New(errs.NotFound, "rule_proposal_unknown", "This proposed rule is not there any more.")
	}
	if err != nil {
		return p, fmt.Errorf("read proposal: %w", err)
	}
	if err := errors.Join(json.Unmarshal([]byte(keys), &p.Keys), json.Unmarshal([]byte(targets), &p.Targets)); err != nil {
		return p, fmt.Errorf("read keys of proposal: %w", err)
	}
	return p, nil
}
