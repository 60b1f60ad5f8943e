package svc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"sentient/backend/clock"
)

// Guard is what Guarded needs from outside.
type Guard struct {
	Tree  *Tree
	Clock clock.Clock
	Log   *slog.Logger
}

// How a guarded call can fail by itself.
var (
	ErrTooLong  = errors.New("took too long")
	ErrPanicked = errors.New("panicked")
	ErrClosed   = errors.New("nothing is begun any more")
)

// patience is how long a call may go on after it was told to end before it is left behind.
const patience = time.Second

// Guarded calls a function that is not to be trusted to come back: a panic is ErrPanicked, one that takes longer than
// within is told to end and is ErrTooLong, one that does not end is left behind. Once ctx has ended the error is its cause.
func Guarded[T any](ctx context.Context, g Guard, what string, within time.Duration, f func(ctx context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	got := make(chan answer, 1)
	ok := g.Tree.Go(what, func(context.Context) {
		a := answer{err: fmt.Errorf("%s ended without an answer", what)}
		defer func() {
			if p := recover(); p != nil {
				g.Log.Error("guarded call panicked", "call", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				a.err = ErrPanicked
			}
			got <- a
		}()
		a.value, a.err = f(ctx)
	})
	if !ok {
		var none T
		return none, ErrClosed
	}
	limit := g.Clock.NewTimer(within)
	defer limit.Stop()
	select {
	case a := <-got:
		return a.value, a.err
	case <-limit.C():
		cancel(ErrTooLong)
	case <-ctx.Done():
	}
	a, ended := Await(ctx, g.Clock, got)
	if context.Cause(ctx) == ErrTooLong && (a.err != nil || !ended) {
		a.err = ErrTooLong
	} else if !ended {
		a.err = context.Cause(ctx)
	}
	return a.value, a.err
}

// Await waits for work that was started beside. Once ctx has ended it waits a moment longer and then goes on without.
func Await[T any](ctx context.Context, c clock.Clock, got <-chan T) (value T, ended bool) {
	select {
	case value = <-got:
		return value, true
	case <-ctx.Done():
	}
	limit := c.NewTimer(patience)
	defer limit.Stop()
	select {
	case value = <-got:
		return value, true
	case <-limit.C():
		return value, false
	}
}
