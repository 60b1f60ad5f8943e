package config

import (
	"context"
	"time"

	"sentient/backend/errs"
	"sentient/backend/svc"
)

// How often the file is looked at, and how long it must lie still before it is read: an editor may write in pieces.
const (
	watchEvery = 2 * time.Second
	watchStill = 500 * time.Millisecond
)

// Watch gives the service that notices when a person edits the file, and applies that like any other change.
func (s *Store) Watch() svc.Service {
	return svc.Func{Name: "config.watch", Run: s.watch}
}

func (s *Store) watch(ctx context.Context) error {
	timer := s.clock.NewTimer(watchEvery)
	defer timer.Stop()
	var pending stamp
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C():
		}
		wait := watchEvery
		switch is := stampOf(s.path); {
		case !is.found || !s.changed(is):
			pending = stamp{}
		case is != pending:
			pending, wait = is, watchStill
		default:
			s.reload(ctx, is)
			pending = stamp{}
		}
		timer.Reset(wait)
	}
}

func (s *Store) changed(is stamp) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen == nil && is != s.seen
}

// reload applies the file as a person left it. What cannot be applied is said, and the settings stay as they were.
func (s *Store) reload(ctx context.Context, is stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = is
	now := s.now.Load()
	base, err := s.base()
	if err == nil && base.raw == nil {
		return // gone in this moment
	}
	var next *settled
	if err == nil {
		next, err = s.verify(ctx, now, base.tree)
	}
	if err != nil {
		s.log.WarnContext(ctx, "the edited settings file is not applied", "error", err)
		if errs.Code(err) == "config_hand_edit" {
			s.aboutFile("The settings file was changed by hand and cannot be read any more, so the settings stay as they were. Correct the file, or start Sentient again to go back to the last good copy.")
		} else {
			s.aboutFile("The settings file was changed by hand, but the change is not applied. " + errs.From(err).Message)
		}
		return
	}
	s.aboutFile(s.report(base)...)
	if len(base.problems) == 0 {
		s.keepGood(base.raw)
	}
	s.apply(ctx, now, next)
}

// aboutFile replaces the notes about the file as it is now.
func (s *Store) aboutFile(sentences ...string) {
	s.notesMu.Lock()
	defer s.notesMu.Unlock()
	s.fileNote = sentences
}
