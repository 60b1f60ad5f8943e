package config

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// touch writes the file as a person would, with a time of change of its own.
func touch(t *testing.T, dir, text string) {
	t.Helper()
	write(t, dir, text)
	now := time.Now()
	if err := os.Chtimes(filepath.Join(dir, fileName), now, now); err != nil {
		t.Fatal(err)
	}
}

func TestWatchAppliesHandEdits(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		bus := event.NewBus(clock.Real{})
		s, err := Open(Options{Dir: dir, Clock: clock.Real{}, Log: obs.Discard(), Bus: bus})
		if err != nil {
			t.Fatal(err)
		}
		sub := bus.Subscribe(nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var log []string
		s.Subscribe("a", recorder{log: &log, name: "a"})
		_ = svc.Run(ctx, s.Watch().Serve, func(ctx context.Context) error {
			look := func() { time.Sleep(3 * watchEvery); synctest.Wait() }
			look()
			if _, ok := sub.Try(); ok || len(log) > 0 {
				t.Error("told of something before anything was edited")
			}
			touch(t, dir, "ui:\n  theme: light\n")
			look()
			if s.Get().UI.Theme != "light" || !slices.Equal(log, []string{"a verify dark>light", "a commit dark>light"}) {
				t.Errorf("theme %s, %q", s.Get().UI.Theme, log)
			}
			if e, ok := sub.Try(); !ok {
				t.Error("nothing was published")
			} else if u, _ := event.Is(Updated, e); !slices.Equal(u.Sections, []string{"ui"}) {
				t.Errorf("published %+v", u)
			}
			watchFaults(t, s, dir, look)
			cancel()
			return nil
		}) // ends with the context's error
	})
}

func watchFaults(t *testing.T, s *Store, dir string, look func()) {
	t.Helper()
	touch(t, dir, "ui: [")
	look()
	if n := s.Notes(); len(n) != 1 || s.Get().UI.Theme != "light" {
		t.Errorf("a broken edit: %q", n)
	} else {
		plainSentence(t, n[0])
	}
	touch(t, dir, "ui:\n  theme: drak\n  accent: sea\n")
	look()
	if n := s.Notes(); len(n) != 1 || !strings.Contains(n[0], "ui.theme") || s.Get().UI.Accent != "sea" {
		t.Errorf("a wrong value: %q", n)
	}
	no := errs.New(errs.Conflict, "no", "This cannot be now.")
	cancel := s.Subscribe("gate", recorder{log: new([]string), name: "gate", refuse: no})
	touch(t, dir, "ui:\n  theme: system\n")
	look()
	if n := s.Notes(); len(n) != 1 || !strings.Contains(n[0], "This cannot be now.") || s.Get().UI.Theme != "dark" {
		t.Errorf("a refused edit: %q, theme %s", n, s.Get().UI.Theme)
	}
	cancel()
	touch(t, dir, "ui:\n  theme: system # again\n")
	look()
	if n := s.Notes(); len(n) != 0 || s.Get().UI.Theme != "system" {
		t.Errorf("after it was allowed: %q, theme %s", n, s.Get().UI.Theme)
	}
	if err := os.Remove(filepath.Join(dir, fileName)); err != nil {
		t.Error(err)
	}
	look()
	if s.Get().UI.Theme != "system" {
		t.Error("a missing file changed the settings")
	}
	if _, err := s.Patch(t.Context(), json.RawMessage(`{"ui":{"accent":"sea"}}`)); err != nil {
		t.Error(err)
	}
	look()
	if c := s.Get(); c.UI.Theme != "system" || c.UI.Accent != "sea" {
		t.Errorf("after a save: %+v", c.UI)
	}
}
