package session

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"

	"sentient/backend/event"
	"sentient/backend/opt"
	"sentient/backend/store"
)

// The methods of this file are for whoever runs turns. They take and give plain values, so that it can name what it
// needs as an interface of its own.

// Add makes a chat inside the caller's transaction.
func (s *Service) Add(tx *store.Tx, id, channel string, incognito bool) error {
	return s.insert(tx, newChat{id: id, channel: channel, incognito: incognito})
}

// Enter begins a turn in a chat, inside the caller's transaction, and gives the chat's own model ("": the default).
// Where an attachment brings in what someone else may have written, the chat is marked with it before a model reads it
// (§10 "Outside content"). told is called after the commit. 404 for an unknown chat.
func (s *Service) Enter(tx *store.Tx, id string, attachments []string) (model string, incognito bool, told func(), err error) {
	var was sql.NullString
	outside := ""
	for _, name := range attachments {
		outside = cmp.Or(outside, outsideOf(name))
	}
	err = tx.QueryRow(`SELECT coalesce(model, ''), incognito, untrusted FROM sessions WHERE id = ?`, id).Scan(&model, &incognito, &was)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil, errUnknown()
	}
	if err != nil {
		return "", false, nil, wrap("read chat", err)
	}
	told = func() {}
	mark := was.String
	if mark == "" && outside != "" {
		mark = outside
		told = func() {
			event.Publish(s.Bus, TopicUpdated, Updated{SessionID: id, Untrusted: opt.Of(mark)})
		}
	}
	if was.Valid && was.String == mark {
		return model, incognito, told, nil
	}
	_, err = tx.Exec(`UPDATE sessions SET untrusted = ?, visited_hosts = coalesce(visited_hosts, '[]') WHERE id = ?`, mark, id)
	return model, incognito, told, wrap("mark chat", err)
}

// SetAutoTitle names a chat that its person has not named: with the first words of a message (final false), or with a
// model's title (final true), which later calls leave alone. It tells session.updated when the title changed.
func (s *Service) SetAutoTitle(ctx context.Context, id, title string, final bool) error {
	by, over := "words", []any{"", ""}
	if final {
		by, over = "model", []any{"", "words"}
	}
	changed := false
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		res, err := tx.Exec(`UPDATE sessions SET title = ?, title_by = ? WHERE id = ? AND title_by IN (?, ?)`, append([]any{title, by, id}, over...)...)
		if err != nil {
			return wrap("name chat", err)
		}
		n, err := res.RowsAffected()
		changed = n > 0
		return wrap("name chat", err)
	})
	if err == nil && changed {
		event.Publish(s.Bus, TopicUpdated, Updated{SessionID: id, Title: opt.Of(title)})
	}
	return err
}

// WantsTitle reports whether neither the person nor a model has named the chat.
func (s *Service) WantsTitle(ctx context.Context, id string) (bool, error) {
	var by string
	err := s.DB.Reader().QueryRowContext(ctx, `SELECT title_by FROM sessions WHERE id = ?`, id).Scan(&by)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return by == "" || by == "words", wrap("read chat", err)
}

// outsideOf says what an attachment brings in that someone else may have written: "your screen", "another app", or "" for
// a file that the person chose.
func outsideOf(name string) string {
	switch {
	case strings.HasPrefix(name, dirScreens+"/"):
		return "your screen"
	case strings.HasPrefix(name, dirSelections+"/"):
		return "another app"
	}
	return ""
}
