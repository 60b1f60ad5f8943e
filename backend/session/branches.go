package session

import (
	"context"
	"database/sql"
	"errors"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/opt"
	"sentient/backend/store"
)

// Branch is where a message stands among those that take each other's place: versions of one message, or of one reply.
type Branch struct {
	Index int      `json:"index" doc:"Which of them this is, from 0"`
	Turns []string `json:"turns" doc:"Their turns, oldest first; show one with PATCH /api/sessions/{id}/branch"`
}

// branches gives, for the turns that have others beside them, where they stand.
func (s *Service) branches(ctx context.Context, id string) (map[string]*Branch, error) {
	rows, err := s.DB.Reader().QueryContext(ctx, `SELECT coalesce(b.parent_id, ''), t.id
		FROM (SELECT parent_id FROM turns WHERE session_id = ?1 GROUP BY parent_id HAVING count(*) > 1) b
		JOIN turns t ON t.session_id = ?1 AND t.parent_id IS b.parent_id ORDER BY t.id`, id)
	if err != nil {
		return nil, wrap("read branches", err)
	}
	defer rows.Close()
	beside := map[string][]string{}
	for rows.Next() {
		var parent, turn string
		if err := rows.Scan(&parent, &turn); err != nil {
			return nil, wrap("read branches", err)
		}
		beside[parent] = append(beside[parent], turn)
	}
	of := map[string]*Branch{}
	for _, turns := range beside {
		for i, turn := range turns {
			of[turn] = &Branch{Index: i, Turns: turns}
		}
	}
	return of, wrap("read branches", rows.Err())
}

// ShowInput names a turn whose path a chat should show.
type ShowInput struct {
	ID     string `json:"id" in:"path"`
	TurnID string `json:"turn_id" maxLength:"64"`
}

// ShowResult names the turn at the end of the path that is shown now.
type ShowResult struct {
	OK     bool   `json:"ok"`
	TurnID string `json:"turn_id"`
}

// Show makes a chat show the path through a turn, down to the newest turn after it (PATCH /api/sessions/{id}/branch).
// 404 for an unknown chat or turn, 409 while the chat is being answered. It tells session.updated.
func (s *Service) Show(ctx context.Context, in *ShowInput) (*ShowResult, error) {
	release, err := s.idle(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	var leaf string
	err = s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		leaf, err = s.Paths.Show(tx, in.ID, in.TurnID)
		return err
	})
	if err != nil {
		return nil, err
	}
	event.Publish(s.Bus, TopicUpdated, Updated{SessionID: in.ID, Branch: opt.Of(leaf)})
	return &ShowResult{OK: true, TurnID: leaf}, nil
}

// idle keeps a chat that nobody is answering as it is until release is called.
func (s *Service) idle(ctx context.Context, id string) (release func(), err error) {
	release, idle, err := s.turns.RetireIdle(ctx, id)
	if err != nil {
		return nil, err
	}
	if !idle {
		return nil, errs.New(errs.Conflict, "chat_busy", "This chat is being answered. Wait for the reply, or stop it first.")
	}
	return release, nil
}

// ForkInput names a message down to which a chat is copied.
type ForkInput struct {
	ID        string `json:"id" in:"path"`
	MessageID string `json:"message_id" maxLength:"64"`
}

// Fork makes a new chat of an old one, down to the turn of a message ("Branch to a new chat"). The old one stays as it is.
// The new one keeps its model, its memories and, where there is one, its mark of outside content; an incognito chat's is
// incognito. 404 for an unknown chat or message.
func (s *Service) Fork(ctx context.Context, in *ForkInput) (*CreateResult, error) {
	id := newID()
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		now := clock.Stamp(s.Clock.Now())
		res, err := tx.Exec(`INSERT INTO sessions (id, title, title_by, channel, created_at, updated_at, untrusted, visited_hosts, incognito, model, memory_scope)
			SELECT ?, title, title_by, 'desktop', ?, ?, untrusted, visited_hosts, incognito, model, memory_scope FROM sessions WHERE id = ?`, id, now, now, in.ID)
		if err != nil {
			return wrap("copy chat", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(errUnknown(), err)
		}
		return s.Paths.Fork(tx, in.ID, in.MessageID, id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errUnknown()
	}
	if err != nil {
		return nil, err
	}
	return &CreateResult{SessionID: id}, nil
}
