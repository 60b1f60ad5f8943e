package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/transcript"
)

const goodKey = "sk-sentient-the-right-one"

// rig is the API on a real socket over scripted turns.
type rig struct {
	*turns
	t      testing.TB
	key    fixedKey
	names  fixedNames
	on     atomic.Bool
	memory atomic.Bool
	ready  atomic.Pointer[errs.Error]
	log    lockedBuffer
	o      Options
	server *httptest.Server
}

func newRig(t testing.TB, scripts ...script) *rig {
	t.Helper()
	r := &rig{t: t, turns: newTurns(scripts...), key: fixedKey{key: goodKey}}
	r.on.Store(true)
	r.o = Options{
		Settings: func() (bool, bool) { return r.on.Load(), r.memory.Load() },
		Key:      &r.key, Turns: r.turns, Chats: &r.names, Stops: r.turns.stops.Load,
		Ready: func() error {
			if e := r.ready.Load(); e != nil {
				return e
			}
			return nil
		},
		Clock: clock.Real{}, Log: obs.NewLogger(&r.log, -8),
	}
	r.server = httptest.NewServer(New(r.o))
	t.Cleanup(r.server.Close)
	return r
}

// fixedKey is a key that is kept nowhere.
type fixedKey struct {
	key   string
	err   error
	asked atomic.Int64
}

func (k *fixedKey) Get(context.Context) (string, error) { k.asked.Add(1); return k.key, k.err }
func (k *fixedKey) Put(_ context.Context, key string) error {
	if k.err == nil {
		k.key = key
	}
	return k.err
}

// fixedNames gives each name the chat "chat of NAME".
type fixedNames struct {
	err   error
	hook  func()
	asked atomic.Int64
}

func (n *fixedNames) Named(_ context.Context, name string) (string, error) {
	n.asked.Add(1)
	if n.hook != nil {
		n.hook()
	}
	return "chat of " + name, n.err
}

// script is what a turn tells. A step may wait.
type script struct {
	refuse error // nothing starts
	steps  []step
	err    error // how Ask ends
}

type step struct {
	until <-chan struct{}
	line  transcript.Line
}

// turns runs scripts as the agent runs turns: each to its end, whoever follows it.
type turns struct {
	stops atomic.Uint64

	mu      sync.Mutex
	scripts []script // the last one is played again and again
	busy    map[string]bool
	asked   []Question
	ended   int
	running sync.WaitGroup
}

func newTurns(scripts ...script) *turns {
	if len(scripts) == 0 {
		scripts = []script{said("Hello.")}
	}
	return &turns{scripts: scripts, busy: map[string]bool{}}
}

func (s *turns) Ask(ctx context.Context, q Question, each func(transcript.Line) error) error {
	lines, end, err := s.start(q)
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l, ok := <-lines:
			if !ok {
				return end
			}
			if err := each(l); err != nil {
				return err
			}
		}
	}
}

func (s *turns) start(q Question) (<-chan transcript.Line, error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Stops != s.stops.Load() {
		return nil, nil, errs.New(errs.Cancelled, "stopped", "Stopped.")
	}
	if s.busy[q.SessionID] {
		return nil, nil, errs.New(errs.Conflict, "chat_busy", "Busy.")
	}
	sc := s.scripts[0]
	if len(s.scripts) > 1 {
		s.scripts = s.scripts[1:]
	}
	if sc.refuse != nil {
		return nil, nil, sc.refuse
	}
	s.busy[q.SessionID] = true
	s.asked = append(s.asked, q)
	lines := make(chan transcript.Line, len(sc.steps))
	s.running.Go(func() {
		defer close(lines)
		for i, st := range sc.steps {
			if st.until != nil {
				<-st.until
			}
			if i == len(sc.steps)-1 {
				s.mu.Lock()
				delete(s.busy, q.SessionID)
				s.ended++
				s.mu.Unlock()
			}
			lines <- st.line
		}
	})
	return lines, sc.err, nil
}

func (s *turns) questions() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Question(nil), s.asked...)
}

func line(name string, payload any) step {
	return step{line: transcript.Line{Type: name, Payload: payload}}
}

var ref = transcript.Ref{SessionID: "s1", TurnID: "t1"}

func session() step { return line("session", transcript.SessionEvent{Ref: ref}) }
func text(message, piece string) step {
	return line("text_delta", transcript.TextDelta{Ref: ref, MessageID: message, Text: piece})
}
func used(prompt, completion int) step {
	return line("usage", transcript.UsageEvent{Ref: ref, Usage: transcript.Usage{PromptTokens: prompt, CompletionTokens: completion}})
}
func done() step { return line("done", transcript.DoneEvent{Ref: ref}) }
func failed(sentence string) []step {
	return []step{line("error", transcript.ErrorEvent{Ref: ref, Message: sentence}), line("done", transcript.DoneEvent{Ref: ref, Error: sentence})}
}

// said is a turn of one message.
func said(pieces ...string) script {
	steps := []step{session()}
	for _, p := range pieces {
		steps = append(steps, text("m1", p))
	}
	return script{steps: append(steps, used(10, 3), done())}
}

// answered is what a request got.
type answered struct {
	status int
	header http.Header
	body   string
}

func (a answered) fault(t testing.TB) Fault {
	t.Helper()
	var b map[string]Fault
	if err := json.Unmarshal([]byte(a.body), &b); err != nil || len(b) != 1 {
		t.Errorf("not OpenAI's shape of an error: %s (%v)", a.body, err)
	}
	return b["error"]
}

func (r *rig) request(method, path, body string, head ...string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.server.URL+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+goodKey)
	for i := 0; i < len(head); i += 2 {
		if req.Header.Del(head[i]); head[i+1] != "" {
			req.Header.Set(head[i], head[i+1])
		}
	}
	return req
}

func (r *rig) send(req *http.Request) answered {
	r.t.Helper()
	res, err := r.server.Client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answered{res.StatusCode, res.Header, string(raw)}
}

func (r *rig) call(method, path, body string, head ...string) answered {
	r.t.Helper()
	return r.send(r.request(method, path, body, head...))
}

const chatPath = "/v1/chat/completions"

func (r *rig) ask(body string) answered { r.t.Helper(); return r.call("POST", chatPath, body) }

// saying is a body with one message of the user.
func saying(text string, more ...string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"model":"sentient","messages":[{"role":"user","content":%s}]%s}`, content, strings.Join(more, ""))
}

const streaming = `,"stream":true`

// events cuts a stream into its data lines.
func (a answered) events(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, e := range strings.Split(strings.TrimSuffix(a.body, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(e, "data: ")
		if !ok || strings.Contains(data, "\n") {
			if strings.HasPrefix(e, ":") {
				continue
			}
			t.Fatalf("not an event: %q", e)
		}
		all = append(all, data)
	}
	return all
}

// told joins the text of a stream, and checks what each client relies on.
func (a answered) told(t testing.TB) (text string, finish []string) {
	t.Helper()
	events := a.events(t)
	if events[len(events)-1] != "[DONE]" {
		t.Errorf("the stream does not end with [DONE]: %s", a.body)
	}
	for _, e := range events[:len(events)-1] {
		var c struct {
			Choices []struct {
				Delta        struct{ Content string }
				FinishReason *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(e), &c); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		for _, ch := range c.Choices {
			if !strings.Contains(e, `"finish_reason":`) {
				t.Errorf("no finish_reason: %s", e)
			}
			text += ch.Delta.Content
			if ch.FinishReason != nil {
				finish = append(finish, *ch.FinishReason)
			}
		}
	}
	return text, finish
}

func (a answered) content(t testing.TB) string {
	t.Helper()
	var c struct {
		Choices []struct {
			Message struct{ Role, Content string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &c); err != nil || len(c.Choices) != 1 || c.Choices[0].Message.Role != "assistant" {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return c.Choices[0].Message.Content
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

var realClock = clock.Real{}
var discard = obs.Discard()
