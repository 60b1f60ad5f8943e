package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/errs"
)

// patience is how long a call waits for an engine that is starting. A start that migrates a large database takes
// longer; the page asks again.
const patience = 15 * time.Second

// switchDoor is the page's door while engines come and go behind it. Calls wait while the first engine starts and are
// refused with the reason while a failed one is started again. A call whose engine ends is ended with it.
type switchDoor struct {
	alive context.Context // as long as the window
	clock clock.Clock

	mu      sync.Mutex
	now     Door            // nil while there is none
	life    context.Context // of now
	end     context.CancelCauseFunc
	why     *errs.Error   // what is answered while there is none; nil while one starts
	changed chan struct{} // closed and made anew at each change
}

func newSwitchDoor(alive context.Context, c clock.Clock) *switchDoor {
	return &switchDoor{alive: alive, clock: c, changed: make(chan struct{})}
}

// put lets calls through to an engine.
func (s *switchDoor) put(d Door) {
	life, end := context.WithCancelCause(s.alive)
	s.set(d, life, end, nil)
}

// take ends the calls that are in the engine. why is what they and later ones are answered; nil lets later ones wait.
func (s *switchDoor) take(why *errs.Error) { s.set(nil, nil, nil, why) }

func (s *switchDoor) set(d Door, life context.Context, end context.CancelCauseFunc, why *errs.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end(errEngineGone)
	}
	s.now, s.life, s.end, s.why = d, life, end, why
	close(s.changed)
	s.changed = make(chan struct{})
}

var (
	errEngineGone = errors.New("the engine behind the window has ended")
	starting      = errs.New(errs.Unavailable, "engine_starting", "Sentient is still starting. One moment.")
	restarting    = errs.New(errs.Unavailable, "engine_restarting", "Sentient's engine is starting again. One moment.")
)

// enter gives the engine that there is and a context that ends with it, the call and the window.
func (s *switchDoor) enter(ctx context.Context) (Door, context.Context, func(), error) {
	timer := s.clock.NewTimer(patience)
	defer timer.Stop()
	for {
		s.mu.Lock()
		d, life, why, changed := s.now, s.life, s.why, s.changed
		s.mu.Unlock()
		if d != nil {
			ctx, cancel := context.WithCancelCause(ctx)
			stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
			return d, ctx, func() { stop(); cancel(nil) }, nil
		}
		if why != nil {
			return nil, nil, nil, why
		}
		select {
		case <-changed:
		case <-timer.C():
			return nil, nil, nil, starting
		case <-ctx.Done():
			return nil, nil, nil, ctx.Err()
		}
	}
}

// outcome turns the error of a call that ended because its engine did into the sentence for that.
func outcome(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errEngineGone) {
		return restarting.Because(err)
	}
	return err
}

// Context lives as long as the window.
func (s *switchDoor) Context() context.Context { return s.alive }

// Call runs a unary operation in the engine that there is.
func (s *switchDoor) Call(ctx context.Context, id string, input json.RawMessage) (any, error) {
	d, ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	out, err := d.Call(ctx, id, input)
	return out, outcome(ctx, err)
}

// Stream runs a stream operation.
func (s *switchDoor) Stream(ctx context.Context, id string, input json.RawMessage, each func(any) error) error {
	d, ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return outcome(ctx, d.Stream(ctx, id, input, each))
}

// Upload runs an upload.
func (s *switchDoor) Upload(ctx context.Context, id string, input json.RawMessage, body io.Reader) (any, error) {
	d, ctx, leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	out, err := d.Upload(ctx, id, input, body)
	return out, outcome(ctx, err)
}

// Live joins the page with the engine's events, until the engine ends.
func (s *switchDoor) Live(ctx context.Context, in api.LiveInput, to api.Transport) error {
	d, ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return outcome(ctx, d.Live(ctx, in, to))
}

// ServeFile answers with a stored file.
func (s *switchDoor) ServeFile(w http.ResponseWriter, r *http.Request, name string) {
	d, ctx, leave, err := s.enter(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave()
	d.ServeFile(w, r.WithContext(ctx), name)
}
