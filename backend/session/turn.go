package session

import (
	"bytes"
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

// AddChat makes a chat with a title inside the caller's transaction, for a program that talks through one.
func (s *Service) AddChat(tx *store.Tx, id, channel, title string) error {
	if err := s.insert(tx, newChat{id: id, channel: channel}); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE sessions SET title = ?, title_by = 'user' WHERE id = ?`, title, id)
	return wrap("name chat", err)
}

// Exists reports whether a chat is there, inside the caller's transaction.
func (s *Service) Exists(tx *store.Tx, id string) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)`, id).Scan(&is)
	return is, wrap("find chat", err)
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

// About gives what a turn must know of a chat outside a transaction. 404 for an unknown chat.
func (s *Service) About(ctx context.Context, id string) (model, channel string, incognito bool, err error) {
	err = s.DB.Reader().QueryRowContext(ctx, `SELECT coalesce(model, ''), channel, incognito FROM sessions WHERE id = ?`, id).Scan(&model, &channel, &incognito)
	if errors.Is(err, sql.ErrNoRows) {
		return "", "", false, errUnknown()
	}
	return model, channel, incognito, wrap("read chat", err)
}

// SaveOutput keeps a long tool result under files/outputs/ and gives the name it got ("outputs/tool-….txt"), which no other
// file has. An incognito chat's are in a folder that goes with it (§2 "Incognito chats").
func (s *Service) SaveOutput(ctx context.Context, session string, incognito bool, name string, data []byte) (string, error) {
	dir := dirOutputs
	if incognito {
		dir = dirOutputs + "/" + incognitoOutputs + session
		if err := s.files.MkdirAll(dir, 0o700); err != nil {
			return "", fileError("make outputs folder", err)
		}
	}
	temp := dir + "/" + tempPrefix + newID()
	if _, err := s.receive(ctx, temp, bytes.NewReader(data)); err != nil {
		return "", errors.Join(err, s.discard(temp))
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	free, err := s.freeName(ctx, dir, cleanName(name))
	if err == nil {
		err = fileError("store file", s.files.Rename(temp, dir+"/"+free))
	}
	if err != nil {
		return "", errors.Join(err, s.discard(temp))
	}
	return dir + "/" + free, nil
}
