package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/obs"
	"sentient/backend/session"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

// rig is the chats of a data folder over a real database and real files, with their messages from the real transcript.
// Who runs the turns is played.
type rig struct {
	*session.Service
	t        testing.TB
	dir      string
	db       *store.DB
	bus      *event.Bus
	log      *transcript.Log
	turns    *turns
	settings session.Settings
	events   *event.Subscription
	closed   bool
}

// turns plays who runs the turns: it says which chats are being answered, and notes which it was told to retire.
type turns struct {
	mu      sync.Mutex
	running map[string]bool
	retired []string
	inside  int // chats between Retire and release
}

func (f *turns) Retire(_ context.Context, id string) (func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retired = append(f.retired, id)
	f.inside++
	return func() {
		f.mu.Lock()
		f.inside--
		f.mu.Unlock()
	}, nil
}

func (f *turns) RetireIdle(ctx context.Context, id string) (func(), bool, error) {
	f.mu.Lock()
	busy := f.running[id]
	f.mu.Unlock()
	if busy {
		return nil, false, nil
	}
	release, err := f.Retire(ctx, id)
	return release, true, err
}

func (f *turns) run(id string, runs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[id] = runs
}

func newRig(t testing.TB, change ...func(*session.Options)) *rig {
	t.Helper()
	return openRig(t, t.TempDir(), change...)
}

func openRig(t testing.TB, dir string, change ...func(*session.Options)) *rig {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, db: db, bus: event.NewBus(clock.Real{}), turns: &turns{running: map[string]bool{}}}
	r.log = transcript.New(transcript.Options{DB: db, Bus: r.bus, Clock: clock.Real{}, Log: obs.Discard()})
	o := session.Options{DB: db, Bus: r.bus, Clock: clock.Real{}, Log: obs.Discard(), Dir: dir, Settings: func() session.Settings { return r.settings }}
	for _, f := range change {
		f(&o)
	}
	if r.Service, err = session.New(o); err != nil {
		t.Fatal(err)
	}
	r.UseTurns(r.turns)
	r.events = r.bus.Subscribe(nil, func(e *event.Event) bool {
		return e.Topic == session.TopicUpdated.Info() || e.Topic == session.TopicDeleted.Info()
	})
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() {
	if r.closed {
		return
	}
	r.closed = true
	if err := errors.Join(r.Close(context.Background()), r.db.Close()); err != nil {
		r.t.Error(err)
	}
	if r.turns.inside != 0 {
		r.t.Error(r.turns.inside, "chats were never let go again")
	}
}

func (r *rig) create(in session.CreateInput) string {
	r.t.Helper()
	out, err := r.Create(r.t.Context(), &in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out.SessionID
}

// opens puts a message into a chat, as a turn that is answered.
func (r *rig) opens(chat, text string, attachments ...string) transcript.Opening {
	r.t.Helper()
	o := transcript.Opening{Ref: transcript.Ref{SessionID: chat, TurnID: transcript.NewID()}, Text: text, Attachments: attachments}
	told := func() {}
	if err := r.db.Write(r.t.Context(), func(tx *store.Tx) (err error) {
		if _, _, told, err = r.Enter(tx, chat, attachments); err != nil {
			return err
		}
		return r.log.Open(tx, o)
	}); err != nil {
		r.t.Fatal(err)
	}
	told()
	return o
}

// says is a whole turn: a message and its reply.
func (r *rig) says(chat, text, reply string, attachments ...string) {
	r.t.Helper()
	p := r.log.Reply(r.opens(chat, text, attachments...))
	p.Add("", reply)
	if err := p.End(r.t.Context(), transcript.Ending{}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) list() []session.Session {
	r.t.Helper()
	list, err := r.List(r.t.Context(), &session.ListInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *rig) messages(chat string, limit int) []session.Message {
	r.t.Helper()
	list, err := r.Messages(r.t.Context(), &session.MessagesInput{ID: chat, Limit: limit})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *rig) upload(name, source, content string) string {
	r.t.Helper()
	out, err := r.Upload(r.t.Context(), &session.UploadInput{Name: name, Source: source}, strings.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Name
}

// heard gives the events of chats since it was called last, one a line: topic and data.
func (r *rig) heard() string {
	r.t.Helper()
	var b strings.Builder
	for {
		e, ok := r.events.Try()
		if !ok {
			return b.String()
		}
		b.WriteString(e.Topic.Name + " " + asJSON(r.t, e.Payload) + "\n")
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (r *rig) count(q string, args ...any) (n int) {
	r.t.Helper()
	if err := r.db.Reader().QueryRow(q, args...).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

func wantError(t *testing.T, err error, status int, code string) {
	t.Helper()
	if errs.StatusOf(err) != status || errs.Code(err) != code {
		t.Errorf("want %d %s, got %d %v", status, code, errs.StatusOf(err), err)
	}
}
