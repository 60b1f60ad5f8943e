package proposal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"

	"sentient/backend/approval/rules"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// errGone is that a chat went while its message was checked.
var errGone = errors.New("the chat is gone")

// ListInput names a chat and which of its proposals are wanted.
type ListInput struct {
	ID     string `json:"id" in:"path"`
	Status string `json:"status,omitempty" in:"query" default:"pending" enum:"pending,accepted,declined,all"`
}

// List gives the proposals of a chat, oldest first (GET /api/sessions/{id}/rule-proposals). 404 for an unknown chat, 422 for
// an unknown status.
func (s *Service) List(ctx context.Context, in *ListInput) ([]Proposal, error) {
	status := in.Status
	switch status {
	case "":
		status = string(Pending)
	case "all", string(Pending), string(Accepted), string(Declined):
	default:
		return nil, invalid("status", "A proposed rule is pending, accepted or declined; all gives all of them.")
	}
	var n int
	if err := s.DB.Reader().QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE id = ?`, in.ID).Scan(&n); err != nil {
		return nil, fmt.Errorf("find chat: %w", err)
	}
	if n == 0 {
		return nil, errs.New(errs.NotFound, "chat_unknown", "This chat is not there any more.")
	}
	rows, err := s.DB.Reader().QueryContext(ctx, `SELECT `+columns+` FROM rule_proposals WHERE session_id = ?1 AND (?2 = 'all' OR status = ?2) ORDER BY created_at, id`, in.ID, status)
	if err != nil {
		return nil, fmt.Errorf("list proposals: %w", err)
	}
	defer rows.Close()
	list := []Proposal{}
	for rows.Next() {
		p, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list proposals: %w", err)
	}
	return list, nil
}

func invalid(member, sentence string) error {
	return errs.New(errs.Invalid, "rule_proposal_"+member, sentence).WithFields(errs.Field{Loc: []string{member}, Msg: sentence, Type: "value_error"})
}

// The answers.
const (
	accept  = "accept"
	decline = "decline"
)

// DecideInput is the person's answer to a proposal.
type DecideInput struct {
	ID       string `json:"id" in:"path"`
	Decision string `json:"decision" enum:"accept,decline"`
}

// Decide answers a proposal (POST /api/rule-proposals/{id}). 404 for an unknown one, 409 for one that was answered, 422 for
// another answer. accept saves rules, where they tighten, before the proposal is closed: if something breaks between, the
// card is still there and accepting it again changes nothing more.
func (s *Service) Decide(ctx context.Context, in *DecideInput) (*Proposal, error) {
	if in.Decision != accept && in.Decision != decline {
		return nil, invalid("decision", "Accept the proposed rule or decline it.")
	}
	s.deciding.Lock()
	defer s.deciding.Unlock()
	p, err := scan(s.DB.Reader().QueryRowContext(ctx, `SELECT `+columns+` FROM rule_proposals WHERE id = ?`, in.ID))
	if err != nil {
		return nil, err
	}
	if p.Status != Pending {
		return nil, errAnswered()
	}
	now := clock.Stamp(s.Clock.Now())
	p.Status, p.DecidedAt = Declined, &now
	if in.Decision == accept {
		p.Status = Accepted
		if err := s.save(ctx, p); err != nil {
			return nil, err
		}
	}
	err = s.DB.WriteDurable(ctx, func(tx *store.Tx) error {
		res, err := tx.Exec(`UPDATE rule_proposals SET status = ?, decided_at = ? WHERE id = ? AND status = 'pending'`, p.Status, now, p.ID)
		if err != nil {
			return fmt.Errorf("close proposal: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errAnswered())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	delete(s.chats[p.SessionID], p.ID)
	s.mu.Unlock()
	event.Publish(s.Bus, TopicUpdated, p)
	return &p, nil
}

func errAnswered() error {
	return errs.New(errs.Conflict, "rule_proposal_answered", "This proposed rule was answered already.")
}

// via is where the person answers. Messaging apps answer for themselves once they are there.
const via = "desktop"

// save writes the rules of an accepted proposal, where they tighten. A rule that came from an incognito chat does not name
// that chat.
func (s *Service) save(ctx context.Context, p Proposal) error {
	keys := tightened(s.Rules(), p, s.Apps())
	if len(keys) == 0 {
		return nil
	}
	var incognito bool
	if err := s.DB.Reader().QueryRowContext(ctx, `SELECT incognito FROM sessions WHERE id = ?`, p.SessionID).Scan(&incognito); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read chat of proposal: %w", err)
	}
	from := via
	origins := map[string]config.RuleOrigin{}
	for key := range keys {
		o := config.RuleOrigin{Rule: string(p.Rule), Said: p.Said, At: *p.DecidedAt, Source: "chat", Via: &from}
		if !incognito {
			chat := p.SessionID
			o.SessionID = &chat
		}
		origins[key] = o
	}
	if err := s.Save(ctx, origins); err != nil {
		return fmt.Errorf("save rules: %w", err)
	}
	return nil
}

// tightened gives the keys whose rule becomes stricter. A tool's own rule beats its app's, so a tool under a stricter rule
// of its app gets none of its own, and a tool inside an app whose own rule is looser gets one. Of an app that is not
// connected any more, the rules themselves say which tools there are: those that begin with its id.
func tightened(now map[string]string, p Proposal, apps []*tool.Plugin) map[string]bool {
	keys := map[string]bool{}
	for i, key := range p.Keys {
		if t, of := toolOf(apps, key); t != nil {
			if p.Rule.Stricter(rules.For(now, t, of).Level) {
				keys[key] = true
			}
			continue
		}
		if i >= len(p.Targets) || p.Targets[i].Tool != "" {
			if p.Rule.Stricter(effective(now, key)) {
				keys[key] = true
			}
			continue
		}
		if p.Rule.Stricter(rules.Level(now[key])) {
			keys[key] = true
		}
		inside := func(name string) bool { return strings.HasPrefix(name, key+"_") }
		if of := pluginOf(apps, key); of != nil {
			inside = func(name string) bool {
				for _, t := range of.Tools {
					if t.Name == name {
						return true
					}
				}
				return strings.HasPrefix(name, key+"_") && !isAppOrItsTool(apps, name)
			}
		}
		for name := range maps.Keys(now) {
			if inside(name) && p.Rule.Stricter(rules.Level(now[name])) {
				keys[name] = true
			}
		}
	}
	return keys
}

// effective gives the level of a tool whose app is not there: its own rule, else that of the longest key that begins its
// name.
func effective(now map[string]string, key string) rules.Level {
	if l, ok := now[key]; ok {
		return rules.Level(l)
	}
	best := ""
	for app := range maps.Keys(now) {
		if strings.HasPrefix(key, app+"_") && len(app) > len(best) {
			best = app
		}
	}
	return rules.Level(now[best])
}

func toolOf(apps []*tool.Plugin, name string) (*tool.Tool, *tool.Plugin) {
	for _, p := range apps {
		for _, t := range p.Tools {
			if t.Name == name {
				return t, p
			}
		}
	}
	return nil, nil
}

func isAppOrItsTool(apps []*tool.Plugin, key string) bool {
	t, _ := toolOf(apps, key)
	return t != nil || pluginOf(apps, key) != nil
}
