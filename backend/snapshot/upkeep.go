package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"sentient/backend/clock"
	"sentient/backend/store"
	"sentient/backend/svc"
)

// Repair makes right what a crash left behind (§10): a restore that was cut short can be done again, calls that never
// ended are settled as End would, copies that no row has are removed. It is called at start, before the first Guard. What
// can't be made right is logged and left for the next start; an error is that the rows can't be read.
func (s *Service) Repair(ctx context.Context) error {
	ids, err := s.ids(ctx, `SELECT id FROM file_snapshots WHERE restoring_at IS NOT NULL AND restored_at IS NULL ORDER BY created_at`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		s.tell("clear restore", id, s.clear(ctx, id))
	}
	if ids, err = s.ids(ctx, `SELECT id FROM file_snapshots WHERE state = 'open' ORDER BY created_at`); err != nil {
		return err
	}
	for _, id := range ids {
		err := s.settle(ctx, id)
		if lost(err) { // the copies went before their row, or with the disk: there is nothing to put back
			s.tell("settle snapshot", id, err)
			err = s.forget(ctx, id)
		}
		s.tell("settle snapshot", id, err)
	}
	return s.sweep(ctx)
}

// lost reports that a snapshot's list is not there or can't be understood.
func lost(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, shape := errors.AsType[*json.UnmarshalTypeError](err)
	return errors.Is(err, fs.ErrNotExist) || syntax || shape
}

func (s *Service) tell(what, id string, err error) {
	if err != nil {
		s.o.Log.Error("repair of snapshots", "what", what, "snapshot", id, "error", err)
	}
}

// clear removes what a restore that was cut short left beside the files, and makes it possible again.
func (s *Service) clear(ctx context.Context, id string) error {
	x, err := s.row(ctx, id)
	if err != nil {
		return err
	}
	r := s.roots()
	defer r.close()
	for i, f := range x.files {
		t := f.target()
		t.Path = path.Join(path.Dir(t.Path), tempName(id, i))
		if info, err := r.stat(t); err != nil || !info.Mode().IsRegular() {
			continue // mostly there is none
		}
		if err := s.before("remove unfinished file"); err != nil {
			return err
		}
		if err := r.open[t.Root].Remove(filepath.FromSlash(t.Path)); err != nil {
			return err
		}
	}
	return s.unmark(ctx, id)
}

// sweep removes from snapshots/ what no row has.
func (s *Service) sweep(ctx context.Context) error {
	names, err := os.ReadDir(s.home())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read folder of snapshots: %w", err)
	}
	known, err := s.ids(ctx, `SELECT id FROM file_snapshots`)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, id := range known {
		there[id] = true
	}
	for _, n := range names {
		id := n.Name()
		if uuid.Validate(id) != nil || !n.IsDir() {
			continue // not ours
		}
		if !there[id] {
			s.tell("remove folder", id, s.remove(id))
			continue
		}
		x, err := s.row(ctx, id)
		if err == nil && x.state != stateOpen {
			err = s.tidy(id, x.state, x.files)
		}
		s.tell("tidy folder", id, err)
	}
	return nil
}

func (s *Service) ids(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.o.DB.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list snapshots: %w", err)
		}
		list = append(list, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	return list, nil
}

// Prune removes the copies that are older than keep_days, then the oldest until all are below max_kept_mb (§10). Their
// rows stay and say so: what was changed is still told.
func (s *Service) Prune(ctx context.Context) error {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	set := s.o.Settings()
	before := clock.Stamp(s.o.Clock.Now().AddDate(0, 0, -set.KeepDays))
	ids, err := s.ids(ctx, `SELECT id FROM file_snapshots WHERE state = 'kept' AND (created_at < ?1 OR id IN (
			SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY created_at DESC, id DESC) AS newer FROM file_snapshots WHERE state = 'kept' AND created_at >= ?1)
			WHERE newer > ?2)) ORDER BY created_at`, before, int64(set.MaxKeptMB)<<20)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.expire(ctx, id); err != nil {
			return fmt.Errorf("remove old copies: %w", err)
		}
	}
	return nil
}

// expire removes a snapshot's copies, the row first: a row must not offer what is gone.
func (s *Service) expire(ctx context.Context, id string) error {
	x, err := s.row(ctx, id)
	if err != nil {
		return err
	}
	for i := range x.files {
		x.files[i].Copy, x.files[i].Sum = "", ""
	}
	files, err := list(x.files)
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	notes, err := list(append(x.notes, noteGone))
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	err = s.write(ctx, "write snapshot", func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE file_snapshots SET state = 'none', files = ?, notes = ?, bytes = 0 WHERE id = ?`, files, notes, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.remove(id)
}

// pruneEvery is how often old copies are removed (§10).
const pruneEvery = 6 * time.Hour

// Upkeep is the service that prunes, at start and every six hours.
func (s *Service) Upkeep() svc.Service {
	return svc.Func{Name: "snapshot upkeep", Run: s.upkeep}
}

func (s *Service) upkeep(ctx context.Context) error {
	t := s.o.Clock.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C():
		}
		if err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("old copies not removed", "error", err)
		}
		t.Reset(pruneEvery)
	}
}
