package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/opt"
	"sentient/backend/store"
)

// Session is a chat as the list shows it (§2). All members are always there.
type Session struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Channel      string   `json:"channel"`
	CreatedAt    string   `json:"created_at"`
	UpdatedAt    string   `json:"updated_at"`
	Untrusted    *string  `json:"untrusted"` // what outside content it read, "" when clean, null before its first turn
	VisitedHosts []string `json:"visited_hosts" nullable:"true" doc:"null before its first turn"`
	Incognito    bool     `json:"incognito"`
	Model        *string  `json:"model"`        // null: the default
	MemoryScope  string   `json:"memory_scope"` // the one it uses now
	NodeID       *string  `json:"node_id"`
}

// ListInput bounds a list of chats.
type ListInput struct {
	Limit int `json:"limit,omitempty" in:"query" default:"100" minimum:"1" maximum:"1000"`
}

// List gives the newest chats first (GET /api/sessions), incognito ones included.
func (s *Service) List(ctx context.Context, in *ListInput) ([]Session, error) {
	rows, err := s.DB.Reader().QueryContext(ctx, `SELECT id, title, channel, created_at, updated_at, untrusted, visited_hosts, incognito, model, memory_scope, node_id
		FROM sessions ORDER BY updated_at DESC, id DESC LIMIT ?`, limited(in.Limit, 100, 1000))
	if err != nil {
		return nil, wrap("list chats", err)
	}
	defer rows.Close()
	list := []Session{}
	for rows.Next() {
		var c Session
		var hosts, scope sql.NullString
		if err := rows.Scan(&c.ID, &c.Title, &c.Channel, &c.CreatedAt, &c.UpdatedAt, &c.Untrusted, &hosts, &c.Incognito, &c.Model, &scope, &c.NodeID); err != nil {
			return nil, wrap("list chats", err)
		}
		if hosts.Valid && json.Unmarshal([]byte(hosts.String), &c.VisitedHosts) != nil {
			c.VisitedHosts = []string{} // changed by a damaged disk: the list of chats is worth more
		}
		c.MemoryScope = s.scope(scope, c.Channel)
		list = append(list, c)
	}
	return list, wrap("list chats", rows.Err())
}

func limited(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// CreateInput is a new chat. All members are in the query.
type CreateInput struct {
	Incognito   bool   `json:"incognito,omitempty" in:"query" doc:"Nothing is learned from it, no search finds it, and it is deleted."`
	Model       string `json:"model,omitempty" in:"query" maxLength:"200" doc:"provider/model; left out: the default."`
	MemoryScope string `json:"memory_scope,omitempty" in:"query" maxLength:"160" doc:"personal, work or a project's name."`
}

// CreateResult names the new chat.
type CreateResult struct {
	SessionID string `json:"session_id"`
}

// Create makes an empty chat (POST /api/sessions). 422 for a model or scope that is none.
func (s *Service) Create(ctx context.Context, in *CreateInput) (*CreateResult, error) {
	c := newChat{id: newID(), channel: "desktop", incognito: in.Incognito}
	if in.Model != "" {
		if err := checkModel(in.Model); err != nil {
			return nil, err
		}
		c.model = in.Model
	}
	if in.MemoryScope != "" {
		scope, err := cleanScope(in.MemoryScope)
		if err != nil {
			return nil, err
		}
		c.scope = scope
	}
	if err := s.DB.Write(ctx, func(tx *store.Tx) error { return s.insert(tx, c) }); err != nil {
		return nil, err
	}
	return &CreateResult{c.id}, nil
}

type newChat struct {
	id, channel, model, scope string
	incognito                 bool
}

func (s *Service) insert(tx *store.Tx, c newChat) error {
	now := clock.Stamp(s.Clock.Now())
	_, err := tx.Exec(`INSERT INTO sessions (id, channel, created_at, updated_at, incognito, model, memory_scope)
		VALUES (?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''))`, c.id, c.channel, now, now, c.incognito, c.model, c.scope)
	return wrap("write chat", err)
}

// UpdateInput changes a chat; what is absent stays.
type UpdateInput struct {
	ID          string            `json:"id" in:"path"`
	Title       opt.Field[string] `json:"title,omitzero" maxLength:"2000"`
	Model       opt.Field[string] `json:"model,omitzero" maxLength:"200" doc:"provider/model; null or empty: the default."`
	MemoryScope opt.Field[string] `json:"memory_scope,omitzero" maxLength:"160" doc:"personal, work or a project's name; null or empty: the default."`
}

// UpdateResult repeats what changed, as it is now.
type UpdateResult struct {
	OK          bool              `json:"ok"`
	Title       opt.Field[string] `json:"title,omitzero"`
	Model       opt.Field[string] `json:"model,omitzero"`
	MemoryScope opt.Field[string] `json:"memory_scope,omitzero"`
}

// Update renames a chat, picks its model or its memories (PATCH /api/sessions/{id}). 404 for an unknown chat, 422 for a
// model or scope that is none.
func (s *Service) Update(ctx context.Context, in *UpdateInput) (*UpdateResult, error) {
	title, model, scope, err := in.clean()
	if err != nil {
		return nil, err
	}
	out := &UpdateResult{OK: true, Title: title, Model: model}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		var channel string
		var own sql.NullString
		err := tx.QueryRow(`UPDATE sessions SET
				title = CASE WHEN ?2 THEN ?3 ELSE title END, title_by = CASE WHEN ?2 THEN 'user' ELSE title_by END,
				model = CASE WHEN ?4 THEN nullif(?5, '') ELSE model END,
				memory_scope = CASE WHEN ?6 THEN nullif(?7, '') ELSE memory_scope END
			WHERE id = ?1 RETURNING channel, memory_scope`,
			in.ID, title.Set, title.Value, model.Set, model.Value, scope.Set, scope.Value).Scan(&channel, &own)
		if errors.Is(err, sql.ErrNoRows) {
			return errUnknown()
		}
		if scope.Set {
			out.MemoryScope = opt.Of(s.scope(own, channel))
		}
		return wrap("change chat", err)
	})
	if err != nil {
		return nil, err
	}
	if title.Set || model.Set || scope.Set {
		event.Publish(s.Bus, TopicUpdated, Updated{SessionID: in.ID, Title: out.Title, Model: out.Model, MemoryScope: out.MemoryScope})
	}
	return out, nil
}

// clean checks what was sent and makes "" null where both mean the default.
func (in *UpdateInput) clean() (title, model, scope opt.Field[string], err error) {
	if v, ok := in.Title.Get(); ok {
		title = opt.Of(oneLine(v, maxTitle))
		if title.Value == "" {
			return title, model, scope, errs.New(errs.Invalid, "title_empty", "A chat needs a title.").
				WithFields(errs.Field{Loc: []string{"title"}, Msg: "Write a title.", Type: "value_error"})
		}
	}
	if in.Model.Set {
		model = opt.Null[string]()
		if v, ok := in.Model.Get(); ok && v != "" {
			model = opt.Of(v)
			if err := checkModel(v); err != nil {
				return title, model, scope, err
			}
		}
	}
	if in.MemoryScope.Set {
		scope = opt.Null[string]()
		if v, ok := in.MemoryScope.Get(); ok && strings.TrimSpace(v) != "" {
			clean, err := cleanScope(v)
			if err != nil {
				return title, model, scope, err
			}
			scope = opt.Of(clean)
		}
	}
	return title, model, scope, nil
}

// maxTitle is the longest title in characters.
const maxTitle = 200

// oneLine gives text as one line of at most n characters.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || turnsText(r) {
			return ' '
		}
		return r
	}, text)), " ")
	if r := []rune(text); len(r) > n {
		return strings.TrimSpace(string(r[:n]))
	}
	return text
}

// DeleteInput names a chat.
type DeleteInput struct {
	ID string `json:"id" in:"path"`
}

// OKResult says that it was done.
type OKResult struct {
	OK bool `json:"ok"`
}

// Delete ends the chat's turns and deletes the chat, its messages, and the captured screens and selections that only it
// had attached (DELETE /api/sessions/{id}). 404 for an unknown chat.
func (s *Service) Delete(ctx context.Context, in *DeleteInput) (*OKResult, error) {
	release, err := s.turns.Retire(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.delete(ctx, in.ID, "", ""); err != nil {
		return nil, err
	}
	return &OKResult{true}, nil
}

// reasonIncognito is why the engine deletes a chat by itself.
const reasonIncognito = "incognito"

// delete deletes a chat whose turns have ended and that lets none in. before, where not empty, spares one that has been
// used since: 404 as well.
func (s *Service) delete(ctx context.Context, id, reason, before string) error {
	var captures []string
	err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if captures, err = ownCaptures(tx, id); err != nil {
			return err
		}
		res, err := tx.Exec(`DELETE FROM sessions WHERE id = ?1 AND (?2 = '' OR updated_at < ?2)`, id, before)
		if err != nil {
			return wrap("delete chat", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errUnknown())
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.removeCaptures(id, captures)
	if err := s.DB.Shred(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("deleted chat stands in the write-ahead log for a while", "error", err)
	}
	event.Publish(s.Bus, TopicDeleted, Deleted{SessionID: id, Reason: reason})
	return nil
}

// deleteIncognito deletes incognito chats without a new message since before ("": all of them). A reply that is being
// written is never cut off.
func (s *Service) deleteIncognito(ctx context.Context, before string) error {
	rows, err := s.DB.Reader().QueryContext(ctx, `SELECT id FROM sessions WHERE incognito = 1 AND (?1 = '' OR updated_at < ?1)`, before)
	if err != nil {
		return wrap("find incognito chats", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return wrap("find incognito chats", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return wrap("find incognito chats", err)
	}
	var failed error
	for _, id := range ids {
		if err := s.deleteSilent(ctx, id, before); err != nil && !errs.Is(err, errs.NotFound) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// deleteSilent deletes one incognito chat. A message may have come since it was found, and looking again is only safe
// once no other can come in.
func (s *Service) deleteSilent(ctx context.Context, id, before string) error {
	if before == "" {
		release, err := s.turns.Retire(ctx, id)
		if err != nil {
			return err
		}
		defer release()
		return s.delete(ctx, id, reasonIncognito, "")
	}
	release, idle, err := s.turns.RetireIdle(ctx, id)
	if err != nil || !idle {
		return err
	}
	defer release()
	return s.delete(ctx, id, reasonIncognito, before)
}
