package v1

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sentient/backend/clock"
)

const (
	writeTimeout   = 30 * time.Second // an app that takes nothing for so long is gone
	keepAliveEvery = 15 * time.Second // well below the minute after which clients and proxies call a line dead
)

// writer writes an answer; its methods may be called at once.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	clock   clock.Clock

	mu       sync.Mutex
	streamed bool
	last     time.Time // of the last write
	failed   error     // the first write that failed: the next would wait as long again
}

func newWriter(w http.ResponseWriter, c clock.Clock) *writer {
	return &writer{w: w, control: http.NewResponseController(w), clock: c}
}

// begin makes the answer a stream.
func (w *writer) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streamed = true
	w.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.w.Header().Set("X-Accel-Buffering", "no")
	w.w.WriteHeader(http.StatusOK)
}

// event writes a value as one event of the stream.
func (w *writer) event(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line := make([]byte, 0, len(body)+8)
	line = append(line, "data: "...)
	line = append(line, body...)
	return w.write(append(line, "\n\n"...))
}

// done ends the stream.
func (w *writer) done() error { return w.write([]byte("data: [DONE]\n\n")) }

// whole writes the whole answer.
func (w *writer) whole(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	body = append(body, '\n')
	w.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.w.WriteHeader(status)
	return w.write(body)
}

func (w *writer) write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeLocked(b)
}

func (w *writer) writeLocked(b []byte) error {
	if w.failed != nil {
		return w.failed
	}
	w.last = w.clock.Now()
	_ = w.control.SetWriteDeadline(w.last.Add(writeTimeout)) // where a connection has none, its end ends the write
	if _, w.failed = w.w.Write(b); w.failed == nil {
		w.failed = w.control.Flush()
	}
	return w.failed
}

// broken tells whether a write failed: the app is gone.
func (w *writer) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed != nil
}

// keepAlive writes a comment whenever a stream was silent for a while. A comment is an event of its own by its blank
// line, and one without data, which clients pass over.
func (w *writer) keepAlive(ctx context.Context) error {
	timer := w.clock.NewTimer(keepAliveEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C():
		}
		next, err := w.breathe()
		if err != nil {
			return err
		}
		timer.Reset(next)
	}
}

// breathe writes the comment if it is due, and says when to look again.
func (w *writer) breathe() (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.streamed {
		return keepAliveEvery, nil
	}
	if silent := w.clock.Now().Sub(w.last); silent < keepAliveEvery {
		return keepAliveEvery - silent, nil
	}
	return keepAliveEvery, w.writeLocked([]byte(": keep-alive\n\n"))
}

// close takes the deadline off the connection, which may serve another request.
func (w *writer) close() { _ = w.control.SetWriteDeadline(time.Time{}) }
