// Package svc runs everything that lives longer than a call.
//
// A long-lived part is a Service: Serve(ctx) works until ctx ends. A Tree holds services, starts again what fails (with
// back-off, by suture) and, when it is closed, waits for all of them. One-off work that outlives its caller goes through
// Tree.Go. This is the only place with a bare go statement (backend/meta holds it), so that nothing is left running
// and no panic ends the program.
package svc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/thejerf/suture/v4"
)

// Service works until ctx ends. A nil error, and any once ctx has ended, is an orderly end; any other, and a panic, is
// logged and it is started again.
type Service interface {
	Serve(ctx context.Context) error
}

// Func is a named function as a Service.
type Func struct {
	Name string
	Run  func(ctx context.Context) error
}

// Serve runs the function.
func (f Func) Serve(ctx context.Context) error { return f.Run(ctx) }

// String names it in logs.
func (f Func) String() string { return f.Name }

// ErrDone is returned by a service that is finished and is not to be started again.
var ErrDone = suture.ErrDoNotRestart

// kept is a service as the supervisor sees it, which by itself would start again whatever ends.
type kept struct{ Service }

// Serve runs the service once.
func (k kept) Serve(ctx context.Context) error {
	err := guard(ctx, k.Service.Serve)
	if err == nil || ctx.Err() != nil {
		return ErrDone
	}
	return err
}

// String names the service in logs.
func (k kept) String() string {
	if s, ok := k.Service.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", k.Service)
}

// Tree supervises the services of one engine.
type Tree struct {
	log    *slog.Logger
	sup    *suture.Supervisor
	ctx    context.Context
	cancel context.CancelFunc
	done   <-chan error
	once   sync.Once
	jobs   sync.WaitGroup
	mu     sync.Mutex
	closed bool
}

// stopGrace is how long a service may take to end before the tree stops waiting for it and says so.
const stopGrace = 10 * time.Second

// NewTree starts an empty tree.
func NewTree(name string, log *slog.Logger) *Tree {
	t := &Tree{log: log}
	t.sup = suture.New(name, suture.Spec{
		EventHook: func(e suture.Event) {
			log.Warn("service event", "event", e.String())
		},
		Timeout: stopGrace,
	})
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.done = t.sup.ServeBackground(t.ctx)
	return t
}

// Add starts a service and gives a function that stops it and waits for its end.
func (t *Tree) Add(s Service) (stop func()) {
	token := t.sup.Add(kept{s})
	return func() {
		if err := t.sup.RemoveAndWait(token, stopGrace); err != nil && !errors.Is(err, suture.ErrSupervisorNotRunning) {
			t.log.Warn("service did not stop in time", "service", fmt.Sprint(s), "error", err)
		}
	}
}

// Go runs one-off work beside its caller. Its context ends with the tree. A panic is logged with its stack. After Close
// it does nothing and gives false.
func (t *Tree) Go(name string, work func(ctx context.Context)) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return false
	}
	t.jobs.Add(1)
	t.mu.Unlock()
	go func() {
		defer t.jobs.Done()
		defer func() {
			if p := recover(); p != nil {
				t.log.Error("work panicked", "work", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
		work(t.ctx)
	}()
	return true
}

// Close ends everything and waits for it, services first. A second call waits as well.
func (t *Tree) Close() {
	t.once.Do(func() {
		t.mu.Lock()
		t.closed = true
		t.mu.Unlock()
		t.cancel()
		<-t.done
	})
	t.jobs.Wait()
}

// Run runs the functions side by side until all have ended. The first that gives an error ends the context of the others,
// and Run gives that error; one that gives nil just leaves.
// It is for a call that needs two loops (a socket's reader and writer), where a Tree would outlive it.
func Run(ctx context.Context, loops ...func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	for _, loop := range loops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := guard(ctx, loop); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		}()
	}
	wg.Wait()
	return first
}

func guard(ctx context.Context, loop func(ctx context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return loop(ctx)
}
