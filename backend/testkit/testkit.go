// Package testkit starts a whole engine for a test: real SQLite in a temporary folder, a real gateway on a free port, a
// scripted model. Only tests and eval import it.
package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/client"
	"sentient/backend/clock"
	"sentient/backend/engine"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/obs"
	"sentient/backend/tool"
)

// Kit is a running engine with its scripted model.
type Kit struct {
	*engine.Engine
	T     testing.TB
	Home  string
	Model *scripted.Model
	HTTP  *http.Client
	Log   *Log
	page  fs.FS
	clock clock.Clock
	tools []*tool.Plugin
}

// Patience is how long a test waits for something that must come; what is meant to take no time comes at once.
const Patience = 20 * time.Second

// Option changes the engine of a test.
type Option func(*Kit)

// WithHome uses a data folder that is there already.
func WithHome(dir string) Option { return func(k *Kit) { k.Home = dir } }

// WithModel answers with the steps, in order, or by the function of a scripted.By.
func WithModel(m *scripted.Model) Option { return func(k *Kit) { k.Model = m } }

// WithPage serves a page.
func WithPage(page fs.FS) Option { return func(k *Kit) { k.page = page } }

// WithClock runs the engine by another clock.
func WithClock(c clock.Clock) Option { return func(k *Kit) { k.clock = c } }

// WithTools adds tools; a plugin with the id of one of Sentient's own takes its place.
func WithTools(plugins ...*tool.Plugin) Option {
	return func(k *Kit) { k.tools = append(k.tools, plugins...) }
}

// Start starts an engine and closes it with the test. Without WithModel every question is answered with "Hello."; titles
// are answered too.
func Start(t testing.TB, options ...Option) *Kit {
	t.Helper()
	k := &Kit{T: t, HTTP: &http.Client{Timeout: Patience}, Log: &Log{}}
	for _, o := range options {
		o(k)
	}
	if k.Home == "" {
		k.Home = t.TempDir()
	}
	if k.Model == nil {
		k.Model = scripted.By(func(llm.Request) scripted.Step { return scripted.Say("Hel", "lo.") })
	}
	e, err := engine.Start(t.Context(), engine.Options{
		Home: k.Home, Port: 0, Version: "test", Page: k.page, Clock: k.clock,
		Getenv: func(string) string { return "" },
		Log:    obs.NewLogger(k.Log, -4),
		Models: Choose{k.Model}, Plugins: k.tools,
	})
	if err != nil {
		t.Fatalf("start engine: %v\n%s", err, k.Log.String())
	}
	k.Engine = e
	t.Cleanup(func() {
		k.HTTP.CloseIdleConnections()
		e.Close()
		if t.Failed() {
			t.Logf("engine's log:\n%s", k.Log.String())
		}
	})
	return k
}

// Choose answers every role with one model.
type Choose struct{ Model llm.Model }

// Choose gives the model under the name that was asked for.
func (c Choose) Choose(_ context.Context, _, model string) (llm.Choice, error) {
	if model == "" {
		model = "scripted/model"
	}
	return llm.Choice{Model: c.Model, Name: model, ID: model, ContextLength: 8192, Local: true}, nil
}

// Log collects what the engine logs.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write collects.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is everything so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Client gives a Go client of the engine.
func (k *Kit) Client() *client.Client {
	c := client.New(k.URL(), k.Token())
	k.T.Cleanup(c.Close)
	return c
}

// Request makes an HTTP request with the folder's token.
func (k *Kit) Request(method, path, body string) *http.Request {
	k.T.Helper()
	r, err := http.NewRequestWithContext(k.T.Context(), method, k.URL()+path, strings.NewReader(body))
	if err != nil {
		k.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+k.Token())
	return r
}

// Do sends a request and gives status and body.
func (k *Kit) Do(r *http.Request) (int, string) {
	k.T.Helper()
	res, err := k.HTTP.Do(r)
	if err != nil {
		k.T.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		k.T.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// Must runs a unary operation in process and decodes its answer into out (nil to ignore it); an error fails the test.
func (k *Kit) Must(id string, in, out any) {
	k.T.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		k.T.Fatal(err)
	}
	answer, err := k.Call(k.T.Context(), id, raw)
	if err != nil {
		k.T.Fatalf("%s: %v", id, err)
	}
	if out == nil {
		return
	}
	if raw, err = json.Marshal(answer); err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		k.T.Fatal(err)
	}
}

// Ask sends a message, waits for its turn's end and gives the chat and the final text.
func (k *Kit) Ask(text string) (session, reply string) {
	k.T.Helper()
	return k.AskIn("", text)
}

// AskIn is Ask in a chat that is there.
func (k *Kit) AskIn(session, text string) (string, string) {
	k.T.Helper()
	in, _ := json.Marshal(map[string]string{"text": text, "session_id": session}) // strings always encode
	var reply string
	ctx, cancel := context.WithTimeout(k.T.Context(), Patience)
	defer cancel()
	err := k.Stream(ctx, "chat.run", in, func(v any) error {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		var e struct {
			Type      string `json:"type"`
			SessionID string `json:"session_id"`
			Content   string `json:"content"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		if e.Type == "session" {
			session = e.SessionID
		}
		if e.Type == "done" {
			reply = e.Content
		}
		return nil
	})
	if err != nil {
		k.T.Fatalf("ask: %v", err)
	}
	return session, reply
}

// Await waits for an event that fits.
func (k *Kit) Await(events *event.Subscription, fits func(*event.Event) bool) *event.Event {
	k.T.Helper()
	ctx, cancel := context.WithTimeout(k.T.Context(), Patience)
	defer cancel()
	for {
		e, err := events.Next(ctx)
		if err != nil {
			k.T.Fatalf("the awaited event did not come: %v", err)
		}
		if fits(e) {
			return e
		}
	}
}

// WaitIdle waits until a chat is answered by nobody.
func (k *Kit) WaitIdle(chat string) {
	k.T.Helper()
	for {
		var live struct {
			TurnID *string `json:"turn_id"`
		}
		k.Must("sessions.live", map[string]string{"id": chat}, &live)
		if live.TurnID == nil {
			return
		}
		soon := clock.Real{}.NewTimer(5 * time.Millisecond)
		select {
		case <-soon.C():
		case <-k.T.Context().Done():
			k.T.Fatal("the chat is still being answered")
		}
	}
}
