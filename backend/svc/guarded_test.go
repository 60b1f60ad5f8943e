package svc_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/svc"
)

var errOwn = errors.New("its own")

func TestGuardedAlwaysComesBack(t *testing.T) {
	cases := []struct {
		name string
		f    func(ctx context.Context) (int, error)
		want int
		err  error
	}{
		{"what it gives", func(context.Context) (int, error) { return 7, nil }, 7, nil},
		{"its own error", func(context.Context) (int, error) { return 0, errOwn }, 0, errOwn},
		{"a panic", func(context.Context) (int, error) { panic("broken") }, 0, svc.ErrPanicked},
		{"one that ends when told", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, 0, svc.ErrTooLong},
		{"one that does not listen", func(context.Context) (int, error) { time.Sleep(time.Hour); return 1, nil }, 0, svc.ErrTooLong},
		{"one that finishes while it is told", func(ctx context.Context) (int, error) { <-ctx.Done(); return 3, nil }, 3, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := svc.Guard{Tree: svc.NewTree("test", slog.New(slog.DiscardHandler)), Clock: clock.Real{}, Log: slog.New(slog.DiscardHandler)}
				defer g.Tree.Close()
				got, err := svc.Guarded(t.Context(), g, "work", time.Minute, c.f)
				if got != c.want || !errors.Is(err, c.err) {
					t.Errorf("gave %d, %v; want %d, %v", got, err, c.want, c.err)
				}
			})
		})
	}
}

func TestGuardedEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := svc.Guard{Tree: svc.NewTree("test", slog.New(slog.DiscardHandler)), Clock: clock.Real{}, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { time.Sleep(time.Second); cancel(errOwn) }()
		_, err := svc.Guarded(ctx, g, "work", time.Hour, func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil })
		if !errors.Is(err, errOwn) {
			t.Errorf("ended with %v, not with the cause", err)
		}
		g.Tree.Close()
		if _, err := svc.Guarded(t.Context(), g, "work", time.Hour, func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, svc.ErrClosed) {
			t.Errorf("a closed tree began work: %v", err)
		}
	})
}
