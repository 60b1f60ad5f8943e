package approval

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"sentient/backend/approval/ask"
	"sentient/backend/approval/rules"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/tool"
)

// Grant is a standing yes (§2 "Scoped answers").
type Grant struct {
	ID        string    `json:"id"`
	Tool      string    `json:"tool"`
	Label     string    `json:"label"`
	App       string    `json:"app"`
	Scope     string    `json:"scope" enum:"task,timed"`
	TaskID    *string   `json:"task_id"`
	TaskName  *string   `json:"task_name"`
	Risk      tool.Risk `json:"risk" enum:"read,write,send,exec"`
	Via       string    `json:"via" enum:"desktop,telegram,discord,whatsapp"`
	CreatedAt string    `json:"created_at"`
	ExpiresAt *string   `json:"expires_at"`
}

// Grants are all of them.
type Grants struct {
	Grants []Grant `json:"grants"`
}

// GrantCount says that a grant was added, revoked or ran out.
type GrantCount struct {
	Count int `json:"count"`
}

// TopicGrants tells that the grants changed.
var TopicGrants = event.Declare[GrantCount]("approval_grants.updated")

// GrantsInput has no members.
type GrantsInput struct{}

// List gives the grants that hold, newest first (GET /api/approvals/grants).
func (s *Service) List(ctx context.Context, _ *GrantsInput) (*Grants, error) {
	rows, err := s.DB.Reader().QueryContext(ctx, `SELECT id, tool, label, app, scope, task_id, task_name, risk, via, created_at, expires_at
		FROM approval_grants WHERE expires_at IS NULL OR expires_at > ? ORDER BY created_at DESC, id DESC`, clock.Stamp(s.Clock.Now()))
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	defer rows.Close()
	all := Grants{Grants: []Grant{}}
	for rows.Next() {
		var g Grant
		var risk string
		if err := rows.Scan(&g.ID, &g.Tool, &g.Label, &g.App, &g.Scope, &g.TaskID, &g.TaskName, &risk, &g.Via, &g.CreatedAt, &g.ExpiresAt); err != nil {
			return nil, fmt.Errorf("list grants: %w", err)
		}
		if err := g.Risk.UnmarshalText([]byte(risk)); err != nil {
			return nil, fmt.Errorf("list grants: %w", err)
		}
		all.Grants = append(all.Grants, g)
	}
	return &all, rows.Err()
}

// RevokeInput names a grant.
type RevokeInput struct {
	ID string `json:"id" in:"path" maxLength:"64"`
}

// OKResult says that it is done.
type OKResult struct {
	OK bool `json:"ok"`
}

// Revoke takes a grant back (DELETE /api/approvals/grants/{id}). 404 for an unknown one.
func (s *Service) Revoke(ctx context.Context, in *RevokeInput) (*OKResult, error) {
	found := false
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		res, err := tx.Exec(`DELETE FROM approval_grants WHERE id = ?`, in.ID)
		if err != nil {
			return fmt.Errorf("revoke grant: %w", err)
		}
		n, err := res.RowsAffected()
		found = n > 0
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errs.New(errs.NotFound, "grant_unknown", "This permission is not there any more.")
	}
	return &OKResult{OK: true}, s.grantsChanged(ctx)
}

// grantsChanged tells how many grants there are now, and drops those that ran out.
func (s *Service) grantsChanged(ctx context.Context) error {
	count := 0
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(`DELETE FROM approval_grants WHERE expires_at <= ?`, clock.Stamp(s.Clock.Now())); err != nil {
			return fmt.Errorf("drop old grants: %w", err)
		}
		return tx.QueryRow(`SELECT count(*) FROM approval_grants`).Scan(&count)
	})
	if err == nil {
		event.Publish(s.Bus, TopicGrants, GrantCount{count})
	}
	return err
}

// inChat reports whether "Allow for this chat" covers a call: never one whose risk its own arguments raised.
func (s *Service) inChat(c *Case) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !c.raised && !c.Tool.NoChatGrant && c.of.call.SessionID != "" && s.chats[c.of.call.SessionID][c.Tool.Name] >= c.risk
}

// granted reports whether a task's or timed grant covers a call. One that cannot be read covers nothing.
func (s *Service) granted(ctx context.Context, c *Case) bool {
	var risk string
	err := s.DB.Reader().QueryRowContext(ctx, `SELECT risk FROM approval_grants WHERE tool = ? AND (scope = 'timed' AND expires_at > ?)
		ORDER BY CASE risk WHEN 'read' THEN 1 WHEN 'write' THEN 2 WHEN 'send' THEN 3 ELSE 4 END DESC LIMIT 1`, c.Tool.Name, clock.Stamp(s.Clock.Now())).Scan(&risk)
	if err != nil {
		if err != sql.ErrNoRows {
			s.Log.Warn("grants not read", "error", err)
		}
		return false
	}
	var most tool.Risk
	return most.UnmarshalText([]byte(risk)) == nil && !c.raised && c.risk <= most
}

// remember keeps what an answer leaves behind. What cannot be kept was a yes for this call only.
func (s *Service) remember(ctx context.Context, c *Case, a ask.Answer) {
	var err error
	switch a.Decision {
	case ask.Session:
		s.mu.Lock()
		chat := s.chats[c.of.call.SessionID]
		if chat == nil {
			chat = map[string]tool.Risk{}
			s.chats[c.of.call.SessionID] = chat
		}
		chat[c.Tool.Name] = max(chat[c.Tool.Name], c.risk)
		s.mu.Unlock()
	case ask.Timed:
		err = s.grantFor(ctx, c, a)
	case ask.Always:
		err = s.Modify(ctx, func(o *config.Approvals) {
			if o.Rules == nil {
				o.Rules = map[string]string{}
			}
			if o.RuleOrigins == nil {
				o.RuleOrigins = map[string]config.RuleOrigin{}
			}
			o.Rules[c.Tool.Name] = string(rules.Allow)
			o.RuleOrigins[c.Tool.Name] = config.RuleOrigin{Rule: string(rules.Allow), Source: "approval", Via: orNil(a.Via), At: clock.Stamp(s.Clock.Now()), SessionID: orNil(c.of.call.SessionID)}
		})
	}
	if err != nil {
		s.Log.Error("a wider yes was not kept", "tool", c.Tool.Name, "decision", a.Decision, "error", err)
	}
}

func (s *Service) grantFor(ctx context.Context, c *Case, a ask.Answer) error {
	now := s.Clock.Now()
	until := now.Add(time.Duration(c.set.GrantMinutes) * time.Minute)
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO approval_grants (id, tool, label, app, scope, risk, via, created_at, expires_at) VALUES (?, ?, ?, ?, 'timed', ?, ?, ?, ?)`,
			newID(), c.Tool.Name, rules.PlainName(c.Tool.Name, c.Plugin), c.Plugin.Name, c.risk.String(), a.Via, clock.Stamp(now), clock.Stamp(until))
		if err != nil {
			return fmt.Errorf("keep grant: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.grantsChanged(ctx)
}
