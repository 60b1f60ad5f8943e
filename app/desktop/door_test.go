package desktop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/errs"
)

func TestCallsWaitForTheFirstEngineAndNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSwitchDoor(t.Context(), clock.Real{})
		began := time.Now()
		if _, err := d.Call(t.Context(), "name", nil); errs.Code(err) != "engine_starting" || time.Since(began) != patience {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Call(ctx, "name", nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		got := make(chan any, 1)
		go func() {
			v, err := d.Call(t.Context(), "name", nil)
			if err != nil {
				v = err
			}
			got <- v
		}()
		synctest.Wait()
		d.put(newStandIn("first"))
		if v := <-got; v != "first" {
			t.Errorf("got %v", v)
		}
	})
}

func TestWhileAFailedEngineStartsAgainCallsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSwitchDoor(t.Context(), clock.Real{})
		d.put(newStandIn("first"))
		d.take(restarting)
		if _, err := d.Call(t.Context(), "name", nil); errs.Code(err) != "engine_restarting" || errs.StatusOf(err) != 503 {
			t.Fatal(err)
		}
		d.put(newStandIn("second"))
		if v, err := d.Call(t.Context(), "name", nil); err != nil || v != "second" {
			t.Fatal(v, err)
		}
	})
}

func TestWhatIsInAnEngineEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSwitchDoor(t.Context(), clock.Real{})
		first := newStandIn("first")
		d.put(first)
		ended := make(chan error, 3)
		go func() { _, err := d.Call(t.Context(), "slow", nil); ended <- err }()
		go func() { ended <- d.Stream(t.Context(), "s", nil, func(any) error { return nil }) }()
		go func() { ended <- d.Live(t.Context(), api.LiveInput{}, nil) }()
		for range 3 {
			<-first.entered
		}
		d.put(newStandIn("second"))
		for range 3 {
			if err := <-ended; errs.Code(err) != "engine_restarting" || !errors.Is(err, errLeft) {
				t.Errorf("ended with %v", err)
			}
		}
		// A call that its caller ended keeps its own reason.
		ctx, cancel := context.WithCancel(t.Context())
		third := newStandIn("third")
		d.put(third)
		go func() { _, err := d.Call(ctx, "slow", nil); ended <- err }()
		<-third.entered
		cancel()
		if err := <-ended; errs.Code(err) == "engine_restarting" || !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestEverythingElseGoesThrough(t *testing.T) {
	d := newSwitchDoor(t.Context(), clock.Real{})
	d.put(newStandIn("it"))
	v, err := d.Upload(t.Context(), "files.upload", nil, strings.NewReader(" took this"))
	if err != nil || v != "it took this" {
		t.Error(v, err)
	}
	if d.Context() != t.Context() {
		t.Error("calls do not live as long as the window")
	}
}
