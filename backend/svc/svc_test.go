package svc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// logBuffer is a log that may be written from many goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newTree(t *testing.T) (*Tree, *logBuffer) {
	t.Helper()
	var b logBuffer
	tree := NewTree("test", slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(tree.Close)
	return tree, &b
}

func TestServiceIsStartedAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(ctx context.Context) error
		said string
	}{
		{"error", func(context.Context) error { return errors.New("broken pipe") }, "broken pipe"},
		{"panic", func(context.Context) error { panic("out of paper") }, "out of paper"},
		{"another context's end", func(context.Context) error { return context.DeadlineExceeded }, "deadline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, log := newTree(t)
			var runs atomic.Int32
			third := make(chan struct{})
			tree.Add(Func{"printer", func(ctx context.Context) error {
				if runs.Add(1) == 3 {
					close(third)
					<-ctx.Done()
					return ctx.Err()
				}
				return c.fail(ctx)
			}})
			<-third
			tree.Close()
			if s := log.String(); strings.Count(s, c.said) < 2 || !strings.Contains(s, "printer") {
				t.Errorf("log: %s", s)
			}
		})
	}
}

func TestServiceThatFailsOnAndOnIsSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b logBuffer
		tree := NewTree("test", slog.New(slog.NewTextHandler(&b, nil)))
		var runs atomic.Int32
		tree.Add(Func{"printer", func(context.Context) error { runs.Add(1); return errors.New("broken") }})
		synctest.Wait()
		if n := runs.Load(); n == 0 || n > 20 {
			t.Errorf("%d runs at once", n)
		}
		tree.Close()
	})
}

func TestOrderlyEndIsAnEnd(t *testing.T) {
	for name, end := range map[string]error{"nil": nil, "done": ErrDone, "wrapped": fmt.Errorf("all printed: %w", ErrDone)} {
		synctest.Test(t, func(t *testing.T) {
			var b logBuffer
			tree := NewTree("test", slog.New(slog.NewTextHandler(&b, nil)))
			var runs atomic.Int32
			stop := tree.Add(Func{"printer", func(context.Context) error { runs.Add(1); return end }})
			synctest.Wait()
			if n := runs.Load(); n != 1 || b.String() != "" {
				t.Errorf("%s: %d runs, log %q", name, n, b.String())
			}
			stop() // of what has ended by itself
			tree.Close()
		})
	}
}

func TestStopWaits(t *testing.T) {
	tree, log := newTree(t)
	running := make(chan struct{})
	var ended, other atomic.Bool
	stop := tree.Add(Func{"printer", func(ctx context.Context) error {
		close(running)
		<-ctx.Done()
		for range 1000 {
			runtime.Gosched()
		}
		ended.Store(true)
		return errors.New("ended in a bad mood")
	}})
	tree.Add(Func{"other", func(ctx context.Context) error { <-ctx.Done(); other.Store(true); return nil }})
	<-running
	stop()
	if !ended.Load() || other.Load() {
		t.Error("stop did not wait, or stopped another service")
	}
	stop()
	tree.Close()
	stop()
	if !other.Load() || log.String() != "" {
		t.Errorf("other %v, log %q", other.Load(), log.String())
	}
}

func TestGo(t *testing.T) {
	tree, log := newTree(t)
	started := make(chan struct{})
	var ended atomic.Bool
	if !tree.Go("work", func(ctx context.Context) { close(started); <-ctx.Done(); ended.Store(true) }) {
		t.Fatal("refused")
	}
	if !tree.Go("bad work", func(context.Context) { panic("out of paper") }) {
		t.Fatal("refused")
	}
	<-started
	tree.Close()
	if !ended.Load() {
		t.Error("Close did not wait")
	}
	if s := log.String(); !strings.Contains(s, "out of paper") || !strings.Contains(s, "bad work") || !strings.Contains(s, "svc_test.go") {
		t.Errorf("log: %s", s)
	}
	if tree.Go("late", func(context.Context) { t.Error("ran after Close") }) {
		t.Error("accepted after Close")
	}
	tree.Close()
}

// After Close nothing of a busy tree is left: the bubble ends only when all its goroutines have.
func TestNothingIsLeftAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b logBuffer
		tree := NewTree("test", slog.New(slog.NewTextHandler(&b, nil)))
		var running atomic.Int32
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				stop := tree.Add(Func{fmt.Sprint("service ", i), func(ctx context.Context) error {
					running.Add(1)
					defer running.Add(-1)
					if i%4 == 0 {
						return errors.New("broken")
					}
					<-ctx.Done()
					return nil
				}})
				tree.Go("work", func(ctx context.Context) { running.Add(1); <-ctx.Done(); running.Add(-1) })
				if i%3 == 0 {
					stop()
				}
			})
		}
		wg.Wait()
		tree.Close()
		if n := running.Load(); n != 0 {
			t.Errorf("%d still run", n)
		}
	})
}

func TestRun(t *testing.T) {
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	bad := errors.New("bad")
	for _, c := range []struct {
		name  string
		loops []func(context.Context) error
		want  string
	}{
		{"nothing", nil, "<nil>"},
		{"all end well", []func(context.Context) error{func(context.Context) error { return nil }, func(context.Context) error { return nil }}, "<nil>"},
		{"one fails", []func(context.Context) error{wait, func(context.Context) error { return bad }, wait}, "bad"},
		{"one panics", []func(context.Context) error{wait, func(context.Context) error { panic("out of paper") }}, "panic: out of paper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Run(t.Context(), c.loops...)
			if line, _, _ := strings.Cut(fmt.Sprint(err), "\n"); line != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, wait, wait); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
