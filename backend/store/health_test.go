package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
)

func TestUncleanStopIsTold(t *testing.T) {
	dir := t.TempDir()
	running(t, dir, "DELETE FROM meta WHERE key = 'store.clean_stop'")
	db := mustOpen(t, testOptions(dir))
	h := db.Health()
	if !h.Unclean || !h.OK || !strings.Contains(h.Sentence, "did not stop cleanly") {
		t.Fatalf("%+v", h)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := db.Health(); h.CheckedAt.IsZero() || !strings.Contains(h.Sentence, "is sound") {
		t.Fatalf("%+v", h)
	}
	mustClose(t, db)
	if h := mustOpen(t, testOptions(dir)).Health(); h.Unclean {
		t.Fatalf("after a clean stop: %+v", h)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	dir := t.TempDir()
	used(t, dir)
	edit(t, filepath.Join(dir, FileName), func(b []byte) []byte { clear(b[len(b)-4096+8:]); return b })
	db := mustOpen(t, testOptions(dir))
	err := db.Check(t.Context())
	if errs.Code(err) != CodeDamaged {
		t.Fatalf("got %v", err)
	}
	wantSentence(t, err)
	if h := db.Health(); !h.Damaged || h.OK || !strings.Contains(h.Sentence, "damaged") {
		t.Errorf("%+v", h)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if h := db.Health(); h.Damaged || h.Checking {
		t.Errorf("%+v", h)
	}
}

// Upkeep checks after an unclean stop, then weekly, also across restarts, and puts the reserve back.
func TestUpkeep(t *testing.T) {
	dir := t.TempDir()
	running(t, dir, "DELETE FROM meta WHERE key = 'store.clean_stop'")
	for _, c := range []struct {
		name   string
		after  time.Duration
		checks bool
	}{
		{"after an unclean stop", time.Minute, true},
		{"a day later", 24 * time.Hour, false},
		{"a week later", 8 * 24 * time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			db, err := Open(t.Context(), testOptions(dir))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			dropReserve(dir)
			before, _, _ := db.Meta(t.Context(), metaCheckedAt)
			ctx, cancel := context.WithTimeout(t.Context(), c.after)
			defer cancel()
			if err := db.Upkeep().Serve(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			after, _, _ := db.Meta(t.Context(), metaCheckedAt)
			if (before != after) != c.checks {
				t.Errorf("%s: checked at %q, before %q", c.name, after, before)
			}
			if _, err := clock.Parse(after); err != nil || db.Health().CheckedAt.IsZero() {
				t.Errorf("%s: %v, %+v", c.name, err, db.Health())
			}
			if !dropReserve(dir) {
				t.Errorf("%s: no reserve", c.name)
			}
		})
	}
}
