package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"sentient/backend/api"
	"sentient/backend/session"
)

// standIn is an engine that answers with its name, and works on "slow" until its caller leaves.
type standIn struct {
	name    string
	entered chan string // one of each slow call

	mu     sync.Mutex
	dead   bool
	closed int
	gone   chan error // ends Wait
}

func newStandIn(name string) *standIn {
	return &standIn{name: name, entered: make(chan string, 16), gone: make(chan error, 1)}
}

var errLeft = errors.New("its caller left")

func (s *standIn) slow(ctx context.Context, what string) error {
	s.entered <- what
	<-ctx.Done()
	return fmt.Errorf("%w: %w", errLeft, ctx.Err())
}

func (s *standIn) Context() context.Context { return context.Background() }

func (s *standIn) Call(ctx context.Context, id string, _ json.RawMessage) (any, error) {
	if id == "slow" {
		return nil, s.slow(ctx, "call")
	}
	return s.name, nil
}

func (s *standIn) Stream(ctx context.Context, _ string, _ json.RawMessage, each func(any) error) error {
	if err := each(s.name); err != nil {
		return err
	}
	return s.slow(ctx, "stream")
}

func (s *standIn) Upload(ctx context.Context, _ string, _ json.RawMessage, body io.Reader) (any, error) {
	raw, err := io.ReadAll(body)
	return s.name + string(raw), err
}

func (s *standIn) Live(ctx context.Context, _ api.LiveInput, _ api.Transport) error {
	return s.slow(ctx, "live")
}

func (s *standIn) Download(context.Context, string, json.RawMessage) (*session.Content, error) {
	return nil, errors.New("not here")
}

func (s *standIn) ServeFile(w http.ResponseWriter, _ *http.Request, name string) {
	fmt.Fprint(w, s.name, " has ", name)
}

func (s *standIn) Wait(ctx context.Context) error {
	select {
	case err := <-s.gone:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (s *standIn) Alive(context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.dead
}

func (s *standIn) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

func (s *standIn) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
}

func (s *standIn) closes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
