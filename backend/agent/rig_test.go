package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/approval"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/obs"
	"sentient/backend/session"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// rig is a data folder with everything that turns need, over a real database. Only the model is played.
type rig struct {
	*agent.Service
	t         testing.TB
	dir       string
	db        *store.DB
	bus       *event.Bus
	log       *transcript.Log
	chats     *session.Service
	models    *models
	settings  *agent.Settings
	tools     *tools
	gate      *approval.Service
	approvals approval.Settings // what the gate follows
	know      *known
	tree      *svc.Tree
	all       *event.Subscription
	closed    bool
	at        func(ctx context.Context, step string) // where not nil: called when a turn asks for the settings, or a model
}

// models gives the model of a role, or of a name.
type models struct {
	mu     sync.Mutex
	byRole map[string]llm.Model
	byName map[string]llm.Model
	refuse map[string]error
	choice llm.Choice // what is the same for all
	asked  func(ctx context.Context)
}

func (m *models) Choose(ctx context.Context, role, name string) (llm.Choice, error) {
	m.asked(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.choice
	c.Name = "test/" + role
	c.Model = m.byRole[role]
	if name != "" {
		c.Name, c.Model = name, m.byName[name]
	}
	if err := m.refuse[c.Name]; err != nil {
		return c, err
	}
	if c.Model == nil {
		return c, errs.New(errs.Unavailable, llm.CodeModelUnknown, "No model is set up for this.")
	}
	_, c.ID, _ = strings.Cut(c.Name, "/")
	return c, nil
}

// tools are the tools of a test, all of one plugin, all offered.
type tools struct {
	plugin  tool.Plugin
	helpers *tool.Plugin // those that start helpers; nil: none
}

func (t *tools) all() []*tool.Tool {
	if t.helpers == nil {
		return t.plugin.Tools
	}
	return slices.Concat(t.plugin.Tools, t.helpers.Tools)
}

func (t *tools) add(more ...*tool.Tool) { t.plugin.Tools = append(t.plugin.Tools, more...) }

func (t *tools) Find(name string) (*tool.Tool, *tool.Plugin, bool) {
	for _, one := range t.all() {
		if one.Name != name {
			continue
		}
		if t.helpers != nil && slices.Contains(t.helpers.Tools, one) {
			return one, t.helpers, true
		}
		return one, &t.plugin, true
	}
	return nil, nil, false
}

func (t *tools) Enabled(string) bool            { return true }
func (t *tools) Plugins() []*tool.Plugin        { return []*tool.Plugin{&t.plugin} }
func (t *tools) Select(agent.Need) []*tool.Tool { return t.all() }

// known is what is known about the person, in a test.
type known struct {
	recall func() (agent.Recalled, error)
	flush  func(conversation string)
}

func (k *known) Recall(context.Context, agent.RecallInput) (agent.Recalled, error) {
	if k.recall == nil {
		return agent.Recalled{}, nil
	}
	return k.recall()
}

func (k *known) Flush(_ context.Context, _, conversation string) error {
	if k.flush != nil {
		k.flush(conversation)
	}
	return nil
}

// emptyFolder gives the database of a new data folder, so that not each test has to make one.
var emptyFolder = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "sentient-agent-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, store.FileName))
})

func newRig(t testing.TB, primary llm.Model) *rig {
	dir := t.TempDir()
	file, err := emptyFolder()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, store.FileName), file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return openRig(t, dir, primary, clock.Real{})
}

func openRig(t testing.TB, dir string, primary llm.Model, c clock.Clock, prepare ...func(*rig)) *rig {
	if c == nil {
		c = clock.Real{}
	}
	t.Helper()
	log := obs.Discard()
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	db, err := store.Open(context.Background(), store.Options{Dir: dir, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, db: db, bus: event.NewBus(c), settings: &agent.Settings{}, tools: &tools{}, know: &known{}, tree: svc.NewTree("test", log)}
	r.approvals = approval.Settings{Approvals: config.Approvals{Mode: "ask"}, MarkOutside: true}
	r.models = &models{byRole: map[string]llm.Model{"primary": primary}, byName: map[string]llm.Model{}, refuse: map[string]error{},
		asked: func(ctx context.Context) { r.reached(ctx, "choose") }}
	r.log = transcript.New(transcript.Options{DB: db, Bus: r.bus, Clock: c, Log: log})
	if r.chats, err = session.New(session.Options{DB: db, Bus: r.bus, Clock: c, Log: log, Dir: dir, Paths: r.log}); err != nil {
		t.Fatal(err)
	}
	r.gate = approval.New(approval.Options{DB: db, Bus: r.bus, Clock: c, Log: log, Tree: r.tree, Tools: r.tools, Chats: r.chats,
		Settings: func() approval.Settings { return r.approvals },
		Ask: func(ctx context.Context, session, prompt string) (string, error) {
			return r.AskQuickly(ctx, session, prompt)
		}})
	r.Service, err = agent.New(agent.Options{Gate: r.gate, DB: db, Bus: r.bus, Clock: c, Log: log, Tree: r.tree, Transcript: r.log, Models: r.models,
		Chats: r.chats, Files: r.chats, Tools: r.tools, Knowledge: r.know, Dir: dir,
		Settings: func() agent.Settings {
			r.reached(context.Background(), "compose")
			return *r.settings
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prepare {
		p(r)
	}
	r.chats.UseTurns(r.Service)
	r.all = r.bus.Subscribe(nil, nil)
	if err := errors.Join(r.Start(context.Background()), r.chats.Start(context.Background())); err != nil {
		t.Fatal(err)
	}
	r.tree.Add(r.log)
	t.Cleanup(r.close)
	return r
}

func (r *rig) reached(ctx context.Context, step string) {
	if r.at != nil {
		r.at(ctx, step)
	}
}

// close ends the rig in the order of the engine.
func (r *rig) close() {
	if r.closed {
		return
	}
	r.closed = true
	ctx := context.Background()
	if err := errors.Join(r.Close(ctx), r.chats.Close(ctx)); err != nil {
		r.t.Error(err)
	}
	r.tree.Close()
	if err := r.db.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) send(in agent.SendInput) *agent.SendResult {
	r.t.Helper()
	out, err := r.Send(r.t.Context(), &in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// queue sends a message that waits for its own turn: one with something attached joins no running reply.
func (r *rig) queue(in agent.SendInput) *agent.SendResult {
	r.t.Helper()
	in.Attachments = append(in.Attachments, r.upload(in.Text+".bin", "", "\x00"))
	return r.send(in)
}

// until reads events up to the first for which stop gives true, and gives all of them.
func (r *rig) until(stop func(*event.Event) bool) []*event.Event {
	r.t.Helper()
	var seen []*event.Event
	for {
		e, err := r.all.Next(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		seen = append(seen, e)
		if stop(e) {
			return seen
		}
	}
}

// done waits for a turn's done.
func (r *rig) done(turn string) transcript.DoneEvent {
	r.t.Helper()
	events := r.until(func(e *event.Event) bool {
		d, ok := event.Is(transcript.TopicDone, e)
		return ok && d.TurnID == turn
	})
	d, _ := event.Is(transcript.TopicDone, events[len(events)-1])
	return d
}

func (r *rig) messages(id string) []session.Message {
	r.t.Helper()
	list, err := r.chats.Messages(r.t.Context(), &session.MessagesInput{ID: id})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// said gives a chat's rows as "role: content", one a line.
func (r *rig) said(id string) string {
	r.t.Helper()
	var b strings.Builder
	for _, m := range r.messages(id) {
		b.WriteString(m.Role + ": " + m.Content + "\n")
	}
	return b.String()
}

func (r *rig) upload(name, source, content string) string {
	r.t.Helper()
	f, err := r.chats.Upload(r.t.Context(), &session.UploadInput{Name: name, Source: source}, strings.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	return f.Name
}
