package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"sentient/backend/clock"
	"sentient/backend/event"
	"sentient/backend/opt"
	"sentient/backend/store"
)

// What a chat has read that someone else wrote, and where files came from (§10 "Outside content"). The gate asks and tells.

// mostHosts bounds the visited hosts that a chat keeps: beyond it a site is asked about again.
const mostHosts = 2000

// Mark gives what a chat has read, "" for nothing; known is false for a chat that was never looked at. visited are the web
// hosts that it loaded. 404 for an unknown chat.
func (s *Service) Mark(ctx context.Context, id string) (source string, known bool, visited []string, err error) {
	var mark, hosts sql.NullString
	err = s.DB.Reader().QueryRowContext(ctx, `SELECT untrusted, visited_hosts FROM sessions WHERE id = ?`, id).Scan(&mark, &hosts)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil, errUnknown()
	}
	if err == nil && hosts.Valid {
		err = json.Unmarshal([]byte(hosts.String), &visited)
	}
	return mark.String, mark.Valid, visited, wrap("read chat's mark", err)
}

// SetMark marks a chat that is not marked yet, and tells session.updated; one that is keeps its mark. "" only says that
// the chat was looked at.
func (s *Service) SetMark(ctx context.Context, id, source string) error {
	changed := false
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		res, err := tx.Exec(`UPDATE sessions SET untrusted = ?1 WHERE id = ?2 AND (untrusted IS NULL OR untrusted = '' AND ?1 <> '')`, source, id)
		if err != nil {
			return wrap("mark chat", err)
		}
		n, err := res.RowsAffected()
		changed = n > 0 && source != ""
		return wrap("mark chat", err)
	})
	if err == nil && changed {
		event.Publish(s.Bus, TopicUpdated, Updated{SessionID: id, Untrusted: opt.Of(source)})
	}
	return err
}

// Visit adds web hosts to those that a chat has loaded.
func (s *Service) Visit(ctx context.Context, id string, hosts []string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		var kept sql.NullString
		err := tx.QueryRow(`SELECT visited_hosts FROM sessions WHERE id = ?`, id).Scan(&kept)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // its chat is gone
		}
		if err != nil {
			return wrap("read visited hosts", err)
		}
		var all []string
		if kept.Valid && json.Unmarshal([]byte(kept.String), &all) != nil {
			all = nil // a damaged list asks more, never less
		}
		before := len(all)
		for _, h := range hosts {
			if !slices.Contains(all, h) && len(all) < mostHosts {
				all = append(all, h)
			}
		}
		if len(all) == before {
			return nil
		}
		text, _ := json.Marshal(all) // strings always encode
		_, err = tx.Exec(`UPDATE sessions SET visited_hosts = ? WHERE id = ?`, string(text), id)
		return wrap("keep visited hosts", err)
	})
}

// WroteFile keeps that a run which had read what someone else wrote wrote a file, by its name under files/.
func (s *Service) WroteFile(ctx context.Context, name, source string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO file_sources (name, source, at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET source = excluded.source, at = excluded.at`,
			path.Clean(name), source, clock.Stamp(s.Clock.Now()))
		return wrap("keep a file's source", err)
	})
}

// FileSource gives what the run had read that wrote a file, or "".
func (s *Service) FileSource(ctx context.Context, name string) (source string, err error) {
	err = s.DB.Reader().QueryRowContext(ctx, `SELECT source FROM file_sources WHERE name = ?`, path.Clean(name)).Scan(&source)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read a file's source: %w", err)
	}
	return source, nil
}
