package engine

import (
	"context"
	"path/filepath"

	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/store"
)

// enterSafeMode notes why the database is not used. Nothing is written to it, and everything that needs it is refused
// with the sentence.
func (e *Engine) enterSafeMode(u *store.Unusable) {
	e.o.Log.Error("database can't be used", "reason", u.Reason, "error", u)
	safe := &api.SafeMode{Reason: string(u.Reason), Sentence: u.Sentence, Snapshots: []api.Snapshot{}}
	for _, s := range u.Snapshots {
		safe.Snapshots = append(safe.Snapshots, api.Snapshot{Name: s.Name, At: clock.Stamp(s.At), Size: s.Size})
	}
	e.mu.Lock()
	e.safe = safe
	e.mu.Unlock()
}

// leaveDatabase goes on in safe mode with a database that could be opened, but fails at what every start reads and
// writes: a page of it is damaged, or its disk is full. Nothing runs on it yet.
func (e *Engine) leaveDatabase(u *store.Unusable) {
	if err := e.db.Close(); err != nil { // the mark of a clean stop may fail for the same reason
		e.o.Log.Warn("close unfit database", "error", err)
	}
	e.db = nil
	e.enterSafeMode(u)
}

func (e *Engine) safeMode() *api.SafeMode {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.safe
}

// refusal is what everything but the few safe operations gets in safe mode.
func (e *Engine) refusal() *errs.Error {
	if safe := e.safeMode(); safe != nil {
		return errs.New(errs.Unavailable, "safe_mode", safe.Sentence)
	}
	return nil
}

// restore puts a copy in place of the database. The engine works with it from its next start: whoever runs it is told
// by the sentence.
func (e *Engine) restore(ctx context.Context, name string) error {
	for _, s := range store.Snapshots(e.o.Home) {
		if s.Name != filepath.Base(name) {
			continue
		}
		if err := store.Restore(ctx, store.Options{Dir: e.o.Home, Clock: e.o.Clock, Log: e.o.Log, Version: e.o.Version}, s); err != nil {
			return err
		}
		e.mu.Lock()
		e.safe = &api.SafeMode{Reason: "restored", Sentence: "The copy is in place. Start Sentient again to use it.", Snapshots: []api.Snapshot{}}
		e.mu.Unlock()
		return nil
	}
	return errs.New(errs.NotFound, "snapshot_unknown", "There is no such copy. Choose one from the list.")
}
