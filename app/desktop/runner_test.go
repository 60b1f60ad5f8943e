package desktop

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// course runs a runner over engines that the test gives one by one.
type course struct {
	*runner
	mu     sync.Mutex
	found  []foundEngine // given one a look; then none
	starts []func() (localEngine, error)
	began  []time.Time
	states []State
	said   []string
	ended  chan error
	cancel func()
}

func newCourse(t *testing.T) *course {
	t.Helper()
	c := &course{ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	c.cancel = cancel
	door := newSwitchDoor(ctx, clock.Real{})
	c.runner = &runner{clock: clock.Real{}, log: obs.Discard(), door: door, again: make(chan struct{}, 1),
		find: func(context.Context) foundEngine {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.found) == 0 {
				return nil
			}
			e := c.found[0]
			c.found = c.found[1:]
			return e
		},
		start: func(context.Context) (localEngine, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.began = append(c.began, time.Now())
			if len(c.starts) == 0 {
				return nil, errs.New(errs.Unavailable, "no_more", "No more engines.")
			}
			s := c.starts[0]
			c.starts = c.starts[1:]
			return s()
		},
		told:   func(s State) { c.mu.Lock(); defer c.mu.Unlock(); c.states = append(c.states, s) },
		locked: func(s string) { c.mu.Lock(); defer c.mu.Unlock(); c.said = append(c.said, s) },
	}
	return c
}

func (c *course) run(t *testing.T) {
	ctx := c.door.alive
	go func() { c.ended <- c.Serve(ctx) }()
	t.Cleanup(c.cancel)
}

func (c *course) stop(t *testing.T) {
	t.Helper()
	c.cancel()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the runner ended with %v", err)
	}
}

func good(e *standIn) func() (localEngine, error) {
	return func() (localEngine, error) { return e, nil }
}

func bad(err error) func() (localEngine, error) {
	return func() (localEngine, error) { return nil, err }
}

func (c *course) answers(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	if v, err := c.door.Call(t.Context(), "name", nil); err != nil || v != want {
		t.Errorf("%v %v answers, not %s", v, err, want)
	}
}

func TestAnEngineThatFailsIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourse(t)
		first, second := newStandIn("first"), newStandIn("second")
		full := errs.New(errs.Unavailable, "disk_full", "The disk is full.")
		c.starts = []func() (localEngine, error){bad(full), bad(full), good(first), good(second)}
		c.run(t)
		synctest.Wait()
		if _, err := c.door.Call(t.Context(), "name", nil); errs.Code(err) != "disk_full" {
			t.Errorf("the page is told %v", err)
		}
		time.Sleep(firstPause + 2*firstPause)
		c.answers(t, "first")
		first.gone <- errors.New("listener broke")
		synctest.Wait()
		if first.closes() != 1 {
			t.Errorf("the failed engine was closed %d times", first.closes())
		}
		time.Sleep(longestPause)
		c.answers(t, "second")
		c.stop(t)
		if second.closes() != 1 {
			t.Errorf("the last engine was closed %d times", second.closes())
		}
		want := []State{{stateStarting, ""}, {stateFailed, "The disk is full."}, {stateReady, ""},
			{stateFailed, "Something went wrong inside Sentient. The details are in its log."}, {stateReady, ""}}
		if !reflect.DeepEqual(c.states, want) {
			t.Errorf("told %v", c.states)
		}
	})
}

func TestPausesGrowToABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourse(t)
		c.run(t)
		time.Sleep(5 * time.Minute)
		c.stop(t)
		for i := 1; i < len(c.began); i++ {
			gap, want := c.began[i].Sub(c.began[i-1]), min(firstPause<<(i-1), longestPause)
			if i > 20 {
				want = longestPause
			}
			if gap != want {
				t.Fatalf("start %d came after %v, not %v", i, gap, want)
			}
		}
	})
}

func TestARunningEngineIsUsedAndReplacedWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourse(t)
		remote, own := newStandIn("remote"), newStandIn("own")
		c.found = []foundEngine{remote}
		c.starts = []func() (localEngine, error){good(own)}
		c.run(t)
		c.answers(t, "remote")
		if err := c.Restart(); errs.Code(err) != "engine_elsewhere" {
			t.Errorf("an engine of another process was restarted: %v", err)
		}
		time.Sleep(time.Hour)
		c.answers(t, "remote")
		remote.die()
		time.Sleep(aliveEvery * (aliveTries + 1))
		c.answers(t, "own")
		if remote.closes() != 1 {
			t.Errorf("closed %d times", remote.closes())
		}
		c.stop(t)
	})
}

func TestAFolderWhoseHolderIsAboutToAnswerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourse(t)
		locked := errs.New(errs.Conflict, "folder_locked", "Another Sentient is using this data folder.")
		c.starts = []func() (localEngine, error){bad(locked), bad(locked), good(newStandIn("own"))}
		c.run(t)
		time.Sleep(3 * lockPause)
		c.answers(t, "own")
		if len(c.said) > 0 {
			t.Errorf("said %q", c.said)
		}
		c.stop(t)
	})
}

func TestAFolderThatStaysLockedIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourse(t)
		sentence := "Another Sentient is using this data folder."
		for range 1000 {
			c.starts = append(c.starts, bad(errs.New(errs.Conflict, "folder_locked", sentence)))
		}
		began := time.Now()
		c.run(t)
		if err := <-c.ended; !errors.Is(err, svc.ErrDone) {
			t.Fatal(err)
		}
		if took := time.Since(began); took != lockPatience {
			t.Errorf("said after %v", took)
		}
		if !reflect.DeepEqual(c.said, []string{sentence}) || c.State() != (State{stateFailed, sentence}) {
			t.Errorf("said %q, state %v", c.said, c.State())
		}
	})
}

func TestANewStartCanBeAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourse(t)
		if err := c.Restart(); errs.Code(err) != "engine_starting" {
			t.Errorf("restarted before the first start: %v", err)
		}
		first, second := newStandIn("first"), newStandIn("second")
		c.starts = []func() (localEngine, error){good(first), good(second)}
		c.run(t)
		c.answers(t, "first")
		began := time.Now()
		if err := c.Restart(); err != nil {
			t.Fatal(err)
		}
		c.answers(t, "second")
		if first.closes() != 1 || time.Since(began) != 0 {
			t.Errorf("closed %d times, after %v", first.closes(), time.Since(began))
		}
		c.stop(t)
	})
}
