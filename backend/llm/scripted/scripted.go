// Package scripted is a language model that plays a script, for tests and for eval.
//
// Model is an llm.Model and an llm.Embedder inside the process; Server is an OpenAI-compatible stub on loopback, so
// that a whole program can be driven from outside, down to the bytes of one event. Both keep every request they were
// sent. Both are safe for concurrent use. Nothing here imitates intelligence: an answer is exactly what the script
// says, and a request beyond the script is an error that says so.
//
// Only tests, testkit and eval import it.
package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
)

// Piece is one delta of an answer. Until is waited for first (until it is closed or gives a value), then Wait.
type Piece struct {
	Text     string
	Thinking string
	Note     string
	Until    <-chan struct{}
	Wait     time.Duration
}

// Step is one answer of the script: its pieces in order, then its tool calls, then how it ends. Exactly one of Err, Hang
// and Cut is looked at, in this order; without any of them the answer ends well.
type Step struct {
	Pieces []Piece
	Calls  []llm.ToolCall // a call without ID gets "call_<n>", counted over the model's life
	Usage  llm.Usage
	Finish llm.Finish // empty: FinishTools with calls, FinishStop without
	Err    error      // the answer fails with it, what was said before stays in the Reply
	Hang   bool       // says no more until the caller's context ends
	Cut    bool       // the stream breaks off without its end mark
}

// Say is an answer of text, a piece an argument.
func Say(texts ...string) Step {
	s := Step{}
	for _, t := range texts {
		s.Pieces = append(s.Pieces, Piece{Text: t})
	}
	return s
}

// Call is an answer that asks for one tool. arguments is a json.RawMessage or string that is taken as it is (also when it is not
// JSON), or any value that encodes to JSON; nil is {}.
func Call(name string, arguments any) Step {
	return Step{Calls: []llm.ToolCall{ToolCall(name, arguments)}}
}

// ToolCall makes a call for a Step; see Call for arguments.
func ToolCall(name string, arguments any) llm.ToolCall {
	c := llm.ToolCall{Name: name}
	switch a := arguments.(type) {
	case nil:
		c.Arguments = json.RawMessage("{}")
	case json.RawMessage:
		c.Arguments = a
	case string:
		c.Arguments = json.RawMessage(a)
	default:
		raw, err := json.Marshal(a)
		if err != nil {
			raw = []byte(fmt.Sprintf("%q", err.Error()))
		}
		c.Arguments = raw
	}
	return c
}

// Fail is an answer that fails before it says anything.
func Fail(err error) Step { return Step{Err: err} }

// Hang is an answer that never comes.
func Hang() Step { return Step{Hang: true} }

// Think puts a thought before the answer.
func (s Step) Think(text string) Step {
	s.Pieces = append([]Piece{{Thinking: text}}, s.Pieces...)
	return s
}

// Counting gives the answer's usage.
func (s Step) Counting(u llm.Usage) Step {
	s.Usage = u
	return s
}

// Model plays a script.
type Model struct {
	mu       sync.Mutex
	choose   func(llm.Request) Step
	steps    []Step
	requests []llm.Request
	calls    int
	embedded []string
	changed  chan struct{} // closed and renewed with every request
	clk      clock.Clock
}

// New plays the steps in order, one a request.
func New(steps ...Step) *Model {
	return &Model{steps: steps, changed: make(chan struct{}), clk: clock.Real{}}
}

// By asks choose for the answer to each request. choose may be called from several goroutines at once.
func By(choose func(llm.Request) Step) *Model {
	m := New()
	m.choose = choose
	return m
}

// WithClock makes Piece.Wait go by this clock. It returns m.
func (m *Model) WithClock(c clock.Clock) *Model {
	m.clk = c
	return m
}

// Add appends steps to the script.
func (m *Model) Add(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, steps...)
}

// Requests gives every request so far, in the order of arrival.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

// Forget lets go of the requests so far: a test of memory must not measure its own notes.
func (m *Model) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = nil
}

// Last gives the newest request; the zero Request when there is none.
func (m *Model) Last() llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return llm.Request{}
	}
	return m.requests[len(m.requests)-1]
}

// Left gives how many steps of the script have not been played.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}

// Await returns when n requests have arrived, or with ctx's error.
func (m *Model) Await(ctx context.Context, n int) error {
	for {
		m.mu.Lock()
		have, changed := len(m.requests), m.changed
		m.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Model) next(req llm.Request) (Step, error) {
	m.mu.Lock()
	m.requests = append(m.requests, copyRequest(req))
	n := len(m.requests)
	close(m.changed)
	m.changed = make(chan struct{})
	choose := m.choose
	var step Step
	if choose == nil {
		if len(m.steps) == 0 {
			m.mu.Unlock()
			return Step{}, fmt.Errorf("scripted model: no answer in the script for request %d", n)
		}
		step, m.steps = m.steps[0], m.steps[1:]
	}
	m.mu.Unlock()
	if choose != nil {
		step = choose(copyRequest(req))
	}
	step.Calls = append([]llm.ToolCall(nil), step.Calls...)
	m.mu.Lock()
	for i := range step.Calls {
		m.calls++
		if step.Calls[i].ID == "" {
			step.Calls[i].ID = fmt.Sprintf("call_%d", m.calls)
		}
	}
	m.mu.Unlock()
	return step, nil
}

// Stream plays the next answer; see llm.Model.
func (m *Model) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	var reply llm.Reply
	step, err := m.next(req)
	if err != nil {
		return reply, err
	}
	for _, p := range step.Pieces {
		if err := m.wait(ctx, p); err != nil {
			return reply, err
		}
		if p.Text == "" && p.Thinking == "" && p.Note == "" {
			continue
		}
		reply.Text += p.Text
		reply.Thinking += p.Thinking
		if err := each(llm.Delta{Text: p.Text, Thinking: p.Thinking, Note: p.Note}); err != nil {
			return reply, err
		}
	}
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	switch {
	case step.Err != nil:
		return reply, step.Err
	case step.Hang:
		<-ctx.Done()
		return reply, ctx.Err()
	case step.Cut:
		return reply, errs.New(errs.Unavailable, llm.CodeBroken, "The model's answer broke off in the middle. Try again, or pick another model in Settings > Models.")
	}
	reply.ToolCalls, reply.Usage, reply.Finish = step.Calls, step.Usage, step.Finish
	if reply.Finish == "" {
		reply.Finish = llm.FinishStop
		if len(step.Calls) > 0 {
			reply.Finish = llm.FinishTools
		}
	}
	return reply, nil
}

func (m *Model) wait(ctx context.Context, p Piece) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Until != nil {
		select {
		case <-p.Until:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if p.Wait > 0 {
		t := m.clk.NewTimer(p.Wait)
		defer t.Stop()
		select {
		case <-t.C():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// copyRequest keeps a request as it was when it came: callers go on appending to their message slices.
func copyRequest(r llm.Request) llm.Request {
	r.Messages = append([]llm.Message(nil), r.Messages...)
	r.Tools = append([]llm.Tool(nil), r.Tools...)
	r.Stop = append([]string(nil), r.Stop...)
	return r
}

var (
	_ llm.Model    = (*Model)(nil)
	_ llm.Embedder = (*Model)(nil)
)
