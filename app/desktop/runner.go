package desktop

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/svc"
)

const (
	firstPause   = 500 * time.Millisecond // before a failed engine is started again
	longestPause = 15 * time.Second
	longLife     = time.Minute            // an engine that lived this long had started well
	lockPause    = 250 * time.Millisecond // between looks for the engine that holds the folder
	lockPatience = 8 * time.Second        // it may be starting, or just ending
	aliveEvery   = 2 * time.Second        // between looks whether an engine of another process still answers
	aliveTries   = 2                      // that many looks in a row without an answer: it is gone
)

// runner keeps an engine behind the window: it attaches to a running one, or runs one in this process and starts it
// again when it fails. It is a svc.Service.
type runner struct {
	clock clock.Clock
	log   *slog.Logger
	door  *switchDoor

	// find gives the folder's running engine of another process, or nil, and start an engine in this one.
	find  func(ctx context.Context) foundEngine
	start func(ctx context.Context) (localEngine, error)

	told   func(State)           // hears every change
	locked func(sentence string) // the folder is another process's that does not answer; the window can't work
	again  chan struct{}         // holds a token when the engine is to be started anew

	mu    sync.Mutex
	state State
	ours  bool // the engine runs in this process
}

// foundEngine is a running engine of another process.
type foundEngine interface {
	Door
	Alive(ctx context.Context) bool // it answers now
	Close()
}

// String names the service in logs.
func (r *runner) String() string { return "engine of the window" }

// State tells how the engine is.
func (r *runner) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *runner) tell(s State) { r.tellOf(s, false) }

func (r *runner) tellOf(s State, ours bool) {
	r.mu.Lock()
	same := r.state == s
	r.state, r.ours = s, ours
	r.mu.Unlock()
	if !same {
		r.told(s)
	}
}

// Restart ends the engine and starts it anew, as after a restored copy. An engine of another process is not ours to end.
func (r *runner) Restart() error {
	r.mu.Lock()
	ours, ready := r.ours, r.state.State == stateReady
	r.mu.Unlock()
	switch {
	case !ready:
		return starting
	case !ours:
		return errs.New(errs.Conflict, "engine_elsewhere", "Sentient runs outside of this window. Start it again there.")
	}
	select {
	case r.again <- struct{}{}:
	default: // asked already
	}
	return nil
}

// Serve keeps an engine until ctx ends, and closes the last one then.
func (r *runner) Serve(ctx context.Context) error {
	pause, waited := firstPause, time.Duration(0)
	r.tell(State{State: stateStarting})
	for ctx.Err() == nil {
		if e := r.find(ctx); e != nil {
			r.attached(ctx, e)
			waited = 0
			continue
		}
		began := r.clock.Now()
		err := r.local(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			pause = firstPause
		case errs.Code(err) == "folder_locked":
			// Its holder may be about to answer, or about to be gone.
			if waited >= lockPatience {
				r.tell(State{State: stateFailed, Detail: errs.From(err).Message})
				r.log.Error("another process holds the data folder and does not answer", "error", err)
				r.locked(errs.From(err).Message)
				return svc.ErrDone
			}
			waited += lockPause
			_ = rest(ctx, r.clock, lockPause) // the loop sees the end of ctx
		default:
			if r.clock.Now().Sub(began) >= longLife {
				pause = firstPause
			}
			r.log.Error("engine failed; it is started again", "pause", pause, "error", err)
			r.door.take(errs.From(err))
			r.tell(State{State: stateFailed, Detail: errs.From(err).Message})
			_ = rest(ctx, r.clock, pause) // the loop sees the end of ctx
			pause = min(pause*2, longestPause)
		}
	}
	return ctx.Err()
}

var errAskedAnew = errors.New("a new start was asked for")

// local runs an engine in this process, to its end. nil says that it ended because it was asked to.
func (r *runner) local(ctx context.Context) error {
	e, err := r.start(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	r.door.put(localDoor{e})
	defer r.door.take(restarting)
	r.tellOf(State{State: stateReady}, true)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = svc.Run(ctx,
		func(ctx context.Context) error {
			err := e.Wait(ctx)
			if err == nil && ctx.Err() == nil {
				err = errors.New("engine ended by itself")
			}
			cancel(err)
			return err
		},
		func(ctx context.Context) error {
			select {
			case <-r.again:
				cancel(errAskedAnew)
			case <-ctx.Done():
			}
			return nil
		})
	if errors.Is(context.Cause(ctx), errAskedAnew) {
		r.tell(State{State: stateStarting})
		return nil
	}
	return err
}

// attached uses an engine of another process for as long as it answers.
func (r *runner) attached(ctx context.Context, e foundEngine) {
	defer e.Close()
	r.log.Info("an engine is running already: the window uses it")
	r.door.put(e)
	defer r.door.take(restarting)
	r.tell(State{State: stateReady})
	for missed := 0; missed < aliveTries; {
		if rest(ctx, r.clock, aliveEvery) != nil {
			return
		}
		if e.Alive(ctx) {
			missed = 0
			continue
		}
		missed++
	}
	r.log.Warn("the engine of the other process does not answer any more")
	r.tell(State{State: stateStarting})
}
