package transcript_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/event"
	"sentient/backend/obs"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

// rig is a log over a real database, with one chat.
type rig struct {
	*transcript.Log
	t    testing.TB
	db   *store.DB
	bus  *event.Bus
	time *faultyClock
	chat string
	all  *event.Subscription
}

// faultyClock panics when it is told to: a fault in the middle of a write.
type faultyClock struct {
	clock.Real
	broken atomic.Bool
}

func (c *faultyClock) Now() time.Time {
	if c.broken.Load() {
		panic("clock bug")
	}
	return c.Real.Now()
}

func newRig(t testing.TB) *rig {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, db: db, bus: event.NewBus(clock.Real{}), time: &faultyClock{}}
	r.Log = transcript.New(transcript.Options{DB: db, Bus: r.bus, Clock: r.time, Log: obs.Discard()})
	r.chat = r.newChat(false)
	r.all = r.bus.Subscribe(nil, nil)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) newChat(incognito bool) string {
	r.t.Helper()
	id := transcript.NewID()
	r.exec(`INSERT INTO sessions (id, created_at, updated_at, incognito) VALUES (?, '', '', ?)`, id, incognito)
	return id
}

func (r *rig) exec(q string, args ...any) {
	r.t.Helper()
	r.write(func(tx *store.Tx) error {
		_, err := tx.Exec(q, args...)
		return err
	})
}

func (r *rig) write(f func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) text(q string, args ...any) (s string) {
	r.t.Helper()
	if err := r.db.Reader().QueryRow(q, args...).Scan(&s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// open opens a turn with a message.
func (r *rig) open(text string, change ...func(*transcript.Opening)) *transcript.Reply {
	r.t.Helper()
	o := transcript.Opening{Ref: transcript.Ref{SessionID: r.chat, TurnID: transcript.NewID()}, Text: text}
	for _, f := range change {
		f(&o)
	}
	r.write(func(tx *store.Tx) error { return r.Open(tx, o) })
	r.Opened(o.Ref, o.ClientID)
	return r.Reply(o)
}

func (r *rig) end(p *transcript.Reply, e transcript.Ending) {
	r.t.Helper()
	if err := p.End(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) checkpoint() {
	r.t.Helper()
	if err := r.Checkpoint(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// heard gives the lines of the events since it was called last, deltas left out.
func (r *rig) heard() (lines []transcript.Line) {
	for {
		e, ok := r.all.Try()
		if !ok {
			return lines
		}
		if !e.Topic.Lossy() {
			lines = append(lines, transcript.LineOf(e))
		}
	}
}

func types(lines []transcript.Line) string {
	var names []string
	for _, l := range lines {
		names = append(names, l.Type)
	}
	return strings.Join(names, " ")
}

// dump gives every byte of a chat's projections, and what the search finds of it.
func (r *rig) dump(chat string) string {
	r.t.Helper()
	var b strings.Builder
	for _, q := range []string{
		`SELECT json_group_array(json_array(n, id, turn_id, role, content, thinking, tool_calls, tool_call_id, name, attachments, interjection, memory_sources, sources, approval, checks, cancelled, searchable, created_at)) FROM (SELECT * FROM messages WHERE session_id = ? ORDER BY n)`,
		`SELECT json_group_array(json_array(id, parent_id, client_id, state, created_at, ended_at)) FROM (SELECT * FROM turns WHERE session_id = ? ORDER BY id)`,
		`SELECT json_group_array(json_array(name, message_n)) FROM (SELECT * FROM message_files WHERE session_id = ? ORDER BY name, message_n)`,
		`SELECT json_group_array(json_array(o.turn_id, o.n, o.message_id, o.text, o.thinking)) FROM (SELECT o.* FROM open_replies o JOIN turns t ON t.id = o.turn_id WHERE t.session_id = ? ORDER BY o.turn_id, o.n) o`,
		`SELECT json_group_array(n) FROM (SELECT m.n FROM message_text JOIN messages m ON m.n = message_text.rowid WHERE message_text MATCH 'word' AND m.session_id = ? ORDER BY 1)`,
	} {
		b.WriteString(r.text(q, chat) + "\n")
	}
	return b.String()
}
