package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sentient/backend/approval"
	"sentient/backend/approval/ask"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/event"
	"sentient/backend/obs"
	"sentient/backend/session"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/toolbox"
	"sentient/backend/transcript"
)

// rig is a gate over a real database and real chats, in front of tools that keep a ledger of what they were made to do.
type rig struct {
	*approval.Service
	t        *testing.T
	db       *store.DB
	bus      *event.Bus
	tree     *svc.Tree
	chats    *session.Service
	registry *toolbox.Registry
	chat     string

	mu       sync.Mutex
	settings approval.Settings
	ledger   []string
	matches  string // what the model of the second look answers
	asked    int    // how often it was asked
}

type nothing struct{}

func (nothing) Retire(context.Context, string) (func(), error)           { return func() {}, nil }
func (nothing) RetireIdle(context.Context, string) (func(), bool, error) { return func() {}, true, nil }
func (nothing) IsRunning(string) bool                                    { return false }

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, db: db, bus: event.NewBus(clock.Real{}), tree: svc.NewTree("test", obs.Discard()), matches: `{"match": true, "reason": ""}`}
	r.settings = approval.Settings{Approvals: config.Approvals{Mode: "ask", RememberSession: true, TimeoutS: 600, GrantMinutes: 60, PreferTrash: true, SecondLookModel: true},
		ConfirmPurchases: true, MarkOutside: true}
	log := transcript.New(transcript.Options{DB: db, Bus: r.bus, Clock: clock.Real{}, Log: obs.Discard()})
	r.chats, err = session.New(session.Options{DB: db, Bus: r.bus, Clock: clock.Real{}, Log: obs.Discard(), Dir: filepath.Join(dir, "home"), Settings: func() session.Settings { return session.Settings{} }, Paths: log})
	if err != nil {
		t.Fatal(err)
	}
	made, err := r.chats.Create(t.Context(), &session.CreateInput{})
	if err != nil {
		t.Fatal(err)
	}
	r.chat = made.SessionID
	if r.registry, err = toolbox.New(toolbox.Options{Plugins: r.plugins()}); err != nil {
		t.Fatal(err)
	}
	r.Service = approval.New(approval.Options{DB: db, Bus: r.bus, Clock: clock.Real{}, Log: obs.Discard(), Tree: r.tree, Settings: r.now, Modify: r.modify,
		Tools: r.registry, Chats: r.chats, Ask: r.answer})
	t.Cleanup(func() {
		r.tree.Close()
		if err := errors.Join(r.chats.Close(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) now() approval.Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settings
}

// rules sets the lasting rules anew: a map that was given out is never changed.
func (r *rig) rules(pairs ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rules := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		rules[pairs[i]] = pairs[i+1]
	}
	r.settings.Rules = rules
}

func (r *rig) modify(_ context.Context, change func(*config.Approvals)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.settings.Approvals
	fresh.Rules, fresh.RuleOrigins = map[string]string{}, map[string]config.RuleOrigin{}
	for k, v := range r.settings.Rules {
		fresh.Rules[k] = v
	}
	change(&fresh)
	r.settings.Approvals = fresh
	return nil
}

func (r *rig) answer(context.Context, string, string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.matches == "" {
		return "", errors.New("no model")
	}
	return r.matches, nil
}

func (r *rig) did(what string) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ledger = append(r.ledger, what)
	return map[string]any{"ok": true}, nil
}

func (r *rig) done() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.ledger, " ")
}

type mailIn struct {
	To      string `json:"to"`
	Subject string `json:"subject,omitempty"`
	Body    string `json:"body,omitempty"`
}

type idIn struct {
	ID string `json:"id"`
}

type urlIn struct {
	URL string `json:"url"`
}

type queryIn struct {
	Query string `json:"query"`
}

// plugins are apps that a person may have connected, and some of Sentient's own things.
func (r *rig) plugins() []*tool.Plugin {
	did := func(name string) func(context.Context, *tool.Context, idIn) (any, error) {
		return func(_ context.Context, _ *tool.Context, in idIn) (any, error) { return r.did(name + ":" + in.ID) }
	}
	label := func(label string) func(context.Context, *tool.Context, idIn) (tool.Wording, error) {
		return func(_ context.Context, _ *tool.Context, in idIn) (tool.Wording, error) {
			return tool.Wording{RiskLabel: label, Target: in.ID}, nil
		}
	}
	return []*tool.Plugin{
		{ID: "gmail", Name: "Gmail", Description: "Mail.", Category: "communication", Icon: "mail", Auth: "oauth", Tools: []*tool.Tool{
			tool.New(tool.Def[queryIn]{Name: "gmail_search", Description: "Finds mail.", Risk: tool.Read, Run: func(_ context.Context, _ *tool.Context, in queryIn) (any, error) {
				return r.did("search:" + in.Query)
			}}),
			tool.New(tool.Def[mailIn]{Name: "gmail_send", Description: "Sends a mail.", Risk: tool.Send, Run: func(_ context.Context, _ *tool.Context, in mailIn) (any, error) {
				return r.did("send:" + in.To)
			}}),
			tool.New(tool.Def[idIn]{Name: "gmail_label", Description: "Labels a mail.", Risk: tool.Write, Run: did("label")}),
			tool.New(tool.Def[idIn]{Name: "gmail_delete_mail", Description: "Deletes a mail for good.", Risk: tool.Write, Run: did("delete"), Describe: label("Deletes")}),
			tool.New(tool.Def[idIn]{Name: "gmail_trash_mail", Description: "Moves a mail to the trash.", Risk: tool.Write, Run: did("trash")}),
		}},
		{ID: "home", Name: "Home", Description: "The home.", Category: "home", Icon: "home", Auth: "api_key", Tools: []*tool.Tool{
			tool.New(tool.Def[idIn]{Name: "home_unlock", Description: "Unlocks a door.", Risk: tool.Send, NoChatGrant: true, Run: did("unlock"), Describe: label("Unlocks a door")}),
			tool.New(tool.Def[idIn]{Name: "home_switch", Description: "Switches something.", Risk: tool.Write, Run: did("switch"),
				RiskOf: func(_ context.Context, _ *tool.Context, in idIn) (tool.Risk, error) {
					switch in.ID {
					case "vault":
						return tool.Send, nil
					case "unknown":
						return 0, errors.New("not told")
					case "odd":
						panic("odd")
					}
					return tool.Write, nil
				}}),
		}},
		{ID: "shop", Name: "Shop", Description: "A shop.", Category: "utilities", Icon: "cart", Auth: "oauth", Tools: []*tool.Tool{
			tool.New(tool.Def[idIn]{Name: "shop_buy", Description: "Buys something.", Risk: tool.Send, Run: did("buy"), Describe: label("Purchase")}),
		}},
		{ID: "web", Name: "Web", Description: "Pages.", Category: "knowledge", Icon: "world", Auth: "builtin", Public: true, Tools: []*tool.Tool{
			tool.New(tool.Def[urlIn]{Name: "web_fetch", Description: "Reads a page.", Risk: tool.Read, Address: func(_ context.Context, _ *tool.Context, in urlIn) (string, error) { return in.URL, nil },
				Run: func(_ context.Context, _ *tool.Context, in urlIn) (any, error) { return r.did("fetch:" + in.URL) }}),
		}},
		{ID: "own", Name: "Own", Description: "Sentient's own things.", Category: "core", Icon: "star", Auth: "builtin", Trusted: true, Tools: []*tool.Tool{
			tool.New(tool.Def[idIn]{Name: "own_note", Description: "Notes something.", Risk: tool.Write, Internal: true, Run: did("note")}),
			tool.New(tool.Def[idIn]{Name: "own_run", Description: "Runs code.", Risk: tool.Exec, Run: did("run")}),
			tool.New(tool.Def[idIn]{Name: "memory_recall", Description: "Remembers.", Risk: tool.Read, Internal: true, Run: did("recall")}),
		}},
		{ID: "tasks", Name: "Tasks", Description: "Tasks.", Category: "core", Icon: "list", Auth: "builtin", Trusted: true, Tools: []*tool.Tool{
			tool.New(tool.Def[idIn]{Name: "tasks_create", Description: "Makes a task.", Risk: tool.Write, Internal: true, Run: did("task")}),
		}},
	}
}

// run begins a run of the chat.
func (r *rig) run(change ...func(*approval.Begin)) *approval.Run {
	r.t.Helper()
	b := approval.Begin{Surface: approval.Chat(), Context: tool.Context{SessionID: r.chat, TurnID: "t", Channel: "api-test", Origin: "user", Memory: true}}
	for _, f := range change {
		f(&b)
	}
	run, err := r.Begin(r.t.Context(), b)
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

func saying(words ...string) func(*approval.Begin) {
	return func(b *approval.Begin) { b.Words = words }
}

func marked(source string) func(*approval.Begin) {
	return func(b *approval.Begin) { b.Mark = source }
}

func on(channel string) func(*approval.Begin) {
	return func(b *approval.Begin) { b.Context.Channel = channel }
}

func of(origin string) func(*approval.Begin) {
	return func(b *approval.Begin) { b.Context.Origin = origin }
}

func helper(b *approval.Begin) { b.Surface = approval.Helper("subagents") }

// call makes a call ready for the gate.
func (r *rig) call(name, args string) approval.Call {
	r.t.Helper()
	t, p, ok := r.registry.Find(name)
	if !ok {
		r.t.Fatal("no tool " + name)
	}
	fit, err := t.Prepare(json.RawMessage(args))
	return approval.Call{Args: fit, Unfit: err, Tool: t, Plugin: p, Context: &tool.Context{SessionID: r.chat, TurnID: "t", CallID: "c", Channel: "api-test", Origin: "user", Memory: true, Progress: func(tool.Progress) {}}}
}

// face answers what it is asked, and keeps it.
type face struct {
	r       *rig
	say     ask.Decision // "": nothing
	action  string       // for an undo window; "": nothing
	before  func()       // what happens before the answer
	asks    []ask.Request
	answers []ask.Answer
	windows []ask.Window
	closed  []ask.Closed
	broken  error
}

func (f *face) Ask(ctx context.Context, q ask.Request) error {
	if f.broken != nil {
		return f.broken
	}
	f.asks = append(f.asks, q)
	if f.before != nil {
		f.before()
	}
	if f.say != "" {
		if ok, err := f.r.Answer(ctx, q.ApprovalID, f.say, "desktop"); !ok || err != nil {
			f.r.t.Errorf("the answer did not settle it: %v %v", ok, err)
		}
	}
	return nil
}

func (f *face) Answered(_ context.Context, a ask.Answer) error {
	f.answers = append(f.answers, a)
	return nil
}

func (f *face) Hold(_ context.Context, w ask.Window) error {
	f.windows = append(f.windows, w)
	if f.before != nil {
		f.before()
	}
	if f.action != "" && !f.r.EndWindow(w.UndoID, f.action) {
		f.r.t.Error("the window was over")
	}
	return nil
}

func (f *face) Held(_ context.Context, c ask.Closed) error {
	f.closed = append(f.closed, c)
	return nil
}

func past(rows []approval.Passed) func(context.Context) ([]approval.Passed, error) {
	return func(context.Context) ([]approval.Passed, error) { return rows, nil }
}
