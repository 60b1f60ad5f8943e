//go:build clients

package clienttest

import (
	"context"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/gateway/v1"
	"sentient/backend/obs"
	"sentient/backend/transcript"
)

// order is what a text tells whoever answers it: hold GATE, fail, cut or quiet; anything else is said again.
var order = regexp.MustCompile(`\b(hold|fail|cut|quiet)\b ?([\w-]*)$`)

// scriptedTarget serves the API over scripted turns.
func scriptedTarget(t *testing.T) target {
	s := &turns{gates: newGates(), busy: map[string]bool{}, replies: map[string][]string{}, stopped: make(chan struct{})}
	serve := func(on bool) string {
		server := httptest.NewServer(v1.New(v1.Options{Settings: func() (bool, bool) { return on, false }, Key: fixedKey("sk-sentient-test"),
			Turns: s, Chats: names{}, Stops: s.stops.Load, Clock: quick{start: time.Now()}, Log: obs.Discard()}))
		t.Cleanup(server.Close)
		return server.URL + "/v1"
	}
	return target{base: serve(true), off: serve(false), key: "sk-sentient-test", gates: s.gates, stop: s.stop, replies: s.said}
}

// quick is a clock whose timers run a hundred times as fast: a stream that is quiet for a second shows that it lives as
// it would in a hundred.
type quick struct {
	clock.Real
	start time.Time
}

func (quick) NewTimer(d time.Duration) clock.Timer { return quickTimer{clock.Real{}.NewTimer(d / 100)} }

// Now runs as fast.
func (q quick) Now() time.Time { return q.start.Add(100 * time.Since(q.start)) }

type quickTimer struct{ clock.Timer }

func (t quickTimer) Reset(d time.Duration) bool { return t.Timer.Reset(d / 100) }

type fixedKey string

func (k fixedKey) Get(context.Context) (string, error) { return string(k), nil }
func (fixedKey) Put(context.Context, string) error     { return nil }

type names struct{}

func (names) Named(_ context.Context, name string) (string, error) { return name, nil }

// turns answers by what it is told, each turn to its end, whoever follows it.
type turns struct {
	gates *gates
	stops atomic.Uint64

	mu      sync.Mutex
	busy    map[string]bool
	replies map[string][]string
	stopped chan struct{}
}

func (s *turns) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops.Add(1)
	close(s.stopped)
	s.stopped = make(chan struct{})
	return nil
}

func (s *turns) said(user string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.replies[user]...), nil
}

func (s *turns) Ask(ctx context.Context, q v1.Question, each func(transcript.Line) error) error {
	s.mu.Lock()
	stopped := s.stopped
	busy := s.busy[q.SessionID]
	s.busy[q.SessionID] = true
	s.mu.Unlock()
	if busy {
		return errs.New(errs.Conflict, "chat_busy", "This chat is still answering.")
	}
	told := make(chan any, 1000)
	go func() {
		defer close(told)
		s.answer(q, stopped, told)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case payload, ok := <-told:
			if !ok {
				return nil
			}
			if err, failed := payload.(error); failed {
				return err
			}
			if err := each(transcript.Line{Payload: payload}); err != nil {
				return err
			}
		}
	}
}

func (s *turns) answer(q v1.Question, stopped chan struct{}, told chan<- any) {
	ref := transcript.Ref{SessionID: q.SessionID, TurnID: transcript.NewID()}
	var reply strings.Builder
	say := func(message string, pieces ...string) {
		for _, p := range pieces {
			reply.WriteString(p)
			told <- transcript.TextDelta{Ref: ref, MessageID: message, Text: p}
		}
	}
	end := func(payloads ...any) {
		s.mu.Lock()
		delete(s.busy, q.SessionID)
		s.replies[q.SessionID] = append(s.replies[q.SessionID], reply.String())
		s.mu.Unlock()
		for _, p := range payloads {
			told <- p
		}
	}
	fail := func(sentence string) {
		end(transcript.ErrorEvent{Ref: ref, Message: sentence}, transcript.DoneEvent{Ref: ref, Error: sentence})
	}
	told <- transcript.SessionEvent{Ref: ref}
	m := order.FindStringSubmatch(q.Text)
	if m == nil {
		m = []string{"", "", ""}
	}
	switch m[1] {
	case "fail":
		fail("The model is overloaded. Try again.")
		return
	case "cut":
		say("1", "This is cut ")
		fail("The reply was cut off. Try again.")
		return
	case "hold":
		say("1", "Before ")
		select {
		case <-s.gates.of(m[2]):
		case <-stopped:
			end(errs.New(errs.Conflict, "stopped", "Stopped."))
			return
		}
		say("1", "and after.")
	case "quiet":
		say("1", "Let me see.")
		<-time.After(time.Second)
		say("2", "Here ", "it is.")
	default:
		say("1", strings.SplitAfter("You said: "+q.Text, " ")...)
	}
	end(transcript.UsageEvent{Ref: ref, Usage: transcript.Usage{PromptTokens: 40, CompletionTokens: 7}}, transcript.DoneEvent{Ref: ref})
}
