// Package wire is what the model adapters share towards the network: one watched exchange (silence, cancelling, caps),
// readers of streamed lines and events, and a bounded memory for values that a service wants back.
//
// An Exchange promises that its callbacks run one after the other on the goroutine of Run, that a cancelled context
// closes the connection at once, and that nothing of it runs on after Run has returned. It does not know what a body
// means: that is the adapter's, and so are the sentences for people.
//
// Only packages under backend/llm import it.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"sentient/backend/clock"
)

// The ways an exchange fails by its own rules.
var (
	ErrSilent  = errors.New("wait for answer: silent for too long")
	ErrTooBig  = errors.New("read answer: body over the cap")
	ErrCut     = errors.New("read answer: broke off")
	errStopped = errors.New("stopped")
)

// Figures of an exchange.
const (
	DefaultIdle = 180 * time.Second // models.request_timeout_s when the caller gives none
	NoteAfter   = 10 * time.Second  // silence until the person is told
	MaxBody     = 64 << 20          // bytes of a body
	maxQuiet    = 10                // keep-alives alone hold a connection for this many idle times
)

// Exchange is one request and its streamed answer.
type Exchange struct {
	Clock clock.Clock
	// Idle is how long the server may be silent; 0 is DefaultIdle. It counts from the start, so a slow server may take that
	// long for its headers.
	Idle time.Duration
	// MaxBody caps the body; 0 is the constant.
	MaxBody int64
	// Open sends the request by a Doer. It runs on another goroutine and must end when its context does.
	Open func(ctx context.Context) (*http.Response, error)
	// Piece takes the next bytes of a 2xx body, valid during the call. heard says that they held something of the answer, as
	// keep-alives do not; more is false when the answer is complete.
	Piece func(p []byte) (heard, more bool, err error)
	// End is called when the body ended and Piece had not said that the answer is complete.
	End func() error
	// Quiet is called once for every silence that lasts NoteAfter; begun says whether anything was heard before. May be nil.
	Quiet func(begun bool) error
	// Grace, when not nil and above 0, replaces Idle from now on: the answer is whole but for its end mark, and silence is
	// then its end, not an error.
	Grace func() time.Duration
}

type arrival struct {
	data []byte
	last bool  // nothing follows
	err  error // why; nil is the body's orderly end
}

// Run makes the exchange. It gives ctx's error, ErrSilent, ErrTooBig, ErrCut with its cause, *StatusError, the transport's error, or what a callback gave.
func (x Exchange) Run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.Idle <= 0 {
		x.Idle = DefaultIdle
	}
	if x.MaxBody <= 0 {
		x.MaxBody = MaxBody
	}
	rctx, cancel := context.WithCancel(ctx)
	arrivals := make(chan arrival)
	var reader errgroup.Group
	reader.Go(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = send(rctx, arrivals, arrival{last: true, err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())})
			}
		}()
		return send(rctx, arrivals, arrival{last: true, err: x.read(rctx, arrivals)})
	})
	err := x.watch(ctx, arrivals)
	cancel()
	_ = reader.Wait()
	return err
}

func send(ctx context.Context, to chan<- arrival, a arrival) error {
	select {
	case to <- a:
		return nil
	case <-ctx.Done():
		return errStopped
	}
}

// read runs beside Run. What it gives is the last arrival.
func (x Exchange) read(ctx context.Context, to chan<- arrival) error {
	res, err := x.Open(ctx)
	if res != nil && res.Body != nil {
		defer res.Body.Close()
	}
	if err != nil {
		return err
	}
	if res == nil {
		return errors.New("send request: no response")
	}
	var total int64
	buf := make([]byte, 16<<10)
	for {
		n, err := res.Body.Read(buf)
		total += int64(n)
		if total > x.MaxBody {
			return ErrTooBig
		}
		if n > 0 {
			if err := send(ctx, to, arrival{data: bytes.Clone(buf[:n])}); err != nil {
				return err
			}
		}
		if err == io.EOF { // exactly: a request that was answered by a closed connection wraps it
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCut, err)
		}
	}
}

// watch is the caller's side: arrivals, silence, cancelling.
func (x Exchange) watch(ctx context.Context, arrivals <-chan arrival) error {
	idle := x.Clock.NewTimer(x.Idle)
	defer idle.Stop()
	note := x.Clock.NewTimer(NoteAfter)
	defer note.Stop()
	begun := false
	lastHeard := x.Clock.Now()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-note.C():
			if x.Quiet != nil {
				if err := x.Quiet(begun); err != nil {
					return err
				}
			}
		case <-idle.C():
			if x.grace() > 0 {
				return x.end()
			}
			return ErrSilent
		case a := <-arrivals:
			if err := ctx.Err(); err != nil {
				return err
			}
			if a.last {
				if a.err == nil || x.grace() > 0 {
					return x.end()
				}
				return a.err
			}
			heard, more, err := x.Piece(a.data)
			if err != nil || !more {
				return err
			}
			if heard {
				begun, lastHeard = true, x.Clock.Now()
				note.Reset(NoteAfter)
			} else if x.Clock.Now().Sub(lastHeard) > maxQuiet*x.Idle {
				return ErrSilent
			}
			wait := x.Idle
			if g := x.grace(); g > 0 {
				wait = g
			}
			idle.Reset(wait)
		}
	}
}

func (x Exchange) grace() time.Duration {
	if x.Grace == nil {
		return 0
	}
	return x.Grace()
}

func (x Exchange) end() error {
	if x.End == nil {
		return nil
	}
	return x.End()
}
