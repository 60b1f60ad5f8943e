package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/notify"
	"sentient/backend/store"
)

// rig is the notifications of a data folder over a real database.
type rig struct {
	*notify.Service
	t   *testing.T
	db  *store.DB
	all *event.Subscription
}

func newRig(t *testing.T) *rig {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	bus := event.NewBus(clock.Real{})
	return &rig{Service: notify.New(notify.Options{DB: db, Bus: bus, Clock: clock.Real{}}), t: t, db: db, all: bus.Subscribe(nil, nil)}
}

// heard gives the events since it was called last, one a line. Each must tell what is in the database already.
func (r *rig) heard() string {
	r.t.Helper()
	var b strings.Builder
	for {
		e, ok := r.all.Try()
		if !ok {
			return b.String()
		}
		b.WriteString(e.Topic.Name + " " + asJSON(r.t, e.Payload) + "\n")
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (r *rig) post(title string) *notify.Notification {
	r.t.Helper()
	n, err := r.Post(r.t.Context(), notify.Notification{Kind: notify.Info, Title: title, Message: "m"})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) titles(in notify.ListInput) string {
	r.t.Helper()
	out, err := r.List(r.t.Context(), &in)
	if err != nil {
		r.t.Fatal(err)
	}
	var titles []string
	for _, n := range out.Notifications {
		titles = append(titles, n.Title)
	}
	return fmt.Sprint(strings.Join(titles, " "), ", unread ", out.Unread)
}

func TestPost(t *testing.T) {
	r := newRig(t)
	for _, kind := range []notify.Kind{"", "warning", "Info"} {
		if _, err := r.Post(t.Context(), notify.Notification{Kind: kind, Title: "t"}); err == nil {
			t.Errorf("kind %q was taken", kind)
		}
	}
	if _, err := r.Post(t.Context(), notify.Notification{Kind: notify.Info, Title: "t", Payload: map[string]any{"f": func() {}}}); err == nil {
		t.Error("a payload that is no JSON was taken")
	}
	if r.heard() != "" || r.titles(notify.ListInput{}) != ", unread 0" {
		t.Fatal("a refused notification is there")
	}
	task := "task-1"
	n, err := r.Post(t.Context(), notify.Notification{
		ID: "mine", Read: true, CreatedAt: "never", Kind: notify.Task, Title: " Two\nlines\u202e ", Message: "**Done**\n\nyes\xff", TaskID: &task,
		Payload: map[string]any{"event": "done", "n": 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n.ID == "mine" || n.Read {
		t.Error("the caller chose what is ours", n)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000000Z", n.CreatedAt); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf(`{"id":%q,"kind":"task","title":"Two lines","message":"**Done**\n\nyes`+"\uFFFD"+`","payload":{"event":"done","n":3},"task_id":"task-1","read":false,"created_at":%q}`, n.ID, n.CreatedAt)
	if got := asJSON(t, n); got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	if got := r.heard(); got != "notification.new "+want+"\n" {
		t.Error(got)
	}
	out, err := r.List(t.Context(), &notify.ListInput{})
	if err != nil || asJSON(t, out) != `{"notifications":[`+want+`],"unread":1}` {
		t.Error(asJSON(t, out), err)
	}
	for _, kind := range []notify.Kind{"info", "task", "approval", "proactive", "skill", "error", "brief", "reminder", "budget", "backup"} {
		n, err := r.Post(t.Context(), notify.Notification{Kind: kind, Title: strings.Repeat("é", 300), Message: strings.Repeat("é", 30_000)})
		if err != nil || len([]rune(n.Title)) != 200 || len([]rune(n.Message)) != 20_000 || !strings.HasSuffix(n.Title, "…") {
			t.Error(kind, err)
		}
		if got := asJSON(t, n); !strings.Contains(got, `"payload":{},"task_id":null`) {
			t.Error(got)
		}
	}
}

func TestCreate(t *testing.T) {
	r := newRig(t)
	for _, message := range []string{"", " \n\t "} {
		_, err := r.Create(t.Context(), &notify.CreateInput{Message: message, Title: "T"})
		if errs.StatusOf(err) != 400 || errs.Code(err) != "message_empty" {
			t.Error(err)
		}
	}
	if r.heard() != "" {
		t.Fatal("a refused note was told")
	}
	for name, c := range map[string]struct {
		in      notify.CreateInput
		title   string
		payload string
	}{
		"plain":             {notify.CreateInput{}, "Note", `{}`},
		"titled":            {notify.CreateInput{Title: " Tea\nis ready "}, "Tea is ready", `{}`},
		"a source":          {notify.CreateInput{Title: "T", Source: "cron"}, "T", `{"source":"cron"}`},
		"an app is no MCP":  {notify.CreateInput{Title: "T", Source: "cron", App: "X"}, "T", `{"source":"cron"}`},
		"mcp":               {notify.CreateInput{Title: "T", Source: "mcp", App: "Claude Code"}, "From MCP app (Claude Code): T", `{"app":"Claude Code","source":"mcp"}`},
		"mcp without title": {notify.CreateInput{Source: "mcp", App: "Claude Code"}, "From MCP app (Claude Code): Note", `{"app":"Claude Code","source":"mcp"}`},
		"mcp without app":   {notify.CreateInput{Title: "T", Source: "mcp"}, "An MCP app: T", `{"source":"mcp"}`},
		"mcp in capitals":   {notify.CreateInput{Title: "Sentient: pay", Source: " MCP "}, "An MCP app: Sentient: pay", `{"source":"MCP"}`},
		"turned text":       {notify.CreateInput{Title: "\u202eyap\u2066\u200f", Source: "mcp", App: "X\u202e\nY"}, "From MCP app (X Y): yap", `{"app":"X Y","source":"mcp"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.Message = " Hello **you** "
			n, err := r.Create(t.Context(), &c.in)
			if err != nil {
				t.Fatal(err)
			}
			if n.Kind != notify.Info || n.Title != c.title || n.Message != "Hello **you**" || asJSON(t, n.Payload) != c.payload || n.TaskID != nil {
				t.Error(asJSON(t, n))
			}
			if got := r.heard(); got != "notification.new "+asJSON(t, n)+"\n" {
				t.Error(got)
			}
		})
	}
	n, err := r.Create(t.Context(), &notify.CreateInput{Message: "m", Title: strings.Repeat("x", 500), Source: "mcp", App: strings.Repeat("y", 500)})
	if err != nil || !strings.HasPrefix(n.Title, "From MCP app (yyy") || len([]rune(n.Title)) > 200 {
		t.Error(n, err)
	}
}

func TestListAndRead(t *testing.T) {
	r := newRig(t)
	var ids []string
	for i := range 60 {
		ids = append(ids, r.post(fmt.Sprint("n", i)).ID)
	}
	r.heard()
	if got := r.titles(notify.ListInput{Limit: 3}); got != "n59 n58 n57, unread 60" {
		t.Error(got)
	}
	for limit, want := range map[int]int{0: 50, -1: 50, 1: 1, 9999: 60} {
		if out, err := r.List(t.Context(), &notify.ListInput{Limit: limit}); err != nil || len(out.Notifications) != want {
			t.Error(limit, len(out.Notifications), err)
		}
	}
	for _, id := range []string{"", "nope"} {
		if _, err := r.Read(t.Context(), &notify.IDInput{ID: id}); errs.StatusOf(err) != 404 || errs.Code(err) != "notification_unknown" {
			t.Error(err)
		}
	}
	if r.heard() != "" {
		t.Error("told of an unknown notification")
	}
	in := notify.IDInput{ID: ids[59]}
	for range 2 { // reading it again is no fault
		if out, err := r.Read(t.Context(), &in); err != nil || !out.OK {
			t.Fatal(err)
		}
	}
	in.ID = "changed"
	one := fmt.Sprintf("notification.read {\"id\":%q}\n", ids[59])
	if got := r.heard(); got != one+one {
		t.Error(got)
	}
	if got := r.titles(notify.ListInput{Limit: 2}); got != "n59 n58, unread 59" {
		t.Error(got)
	}
	if got := r.titles(notify.ListInput{Limit: 2, UnreadOnly: true}); got != "n58 n57, unread 59" {
		t.Error(got)
	}
	if n, err := r.Unread(t.Context()); err != nil || n != 59 {
		t.Error(n, err)
	}
	if _, err := r.ReadAll(t.Context(), &notify.AllInput{}); err != nil {
		t.Fatal(err)
	}
	if got := r.heard(); got != "notification.read {\"id\":null}\n" {
		t.Error(got)
	}
	if got := r.titles(notify.ListInput{UnreadOnly: true}); got != ", unread 0" {
		t.Error(got)
	}
}

func TestDelete(t *testing.T) {
	r := newRig(t)
	a, b := r.post("a"), r.post("b")
	r.heard()
	if _, err := r.Delete(t.Context(), &notify.IDInput{ID: "nope"}); errs.StatusOf(err) != 404 || r.heard() != "" {
		t.Error(err)
	}
	if out, err := r.Delete(t.Context(), &notify.IDInput{ID: a.ID}); err != nil || !out.OK {
		t.Fatal(err)
	}
	if got := r.heard(); got != fmt.Sprintf("notification.deleted {\"id\":%q}\n", a.ID) {
		t.Error(got)
	}
	if _, err := r.Delete(t.Context(), &notify.IDInput{ID: a.ID}); errs.StatusOf(err) != 404 {
		t.Error(err)
	}
	if got := r.titles(notify.ListInput{}); got != "b, unread 1" {
		t.Error(got)
	}
	for range 2 { // with nothing there as well
		if _, err := r.DeleteAll(t.Context(), &notify.AllInput{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.heard(); got != "notification.deleted {\"id\":null}\nnotification.deleted {\"id\":null}\n" {
		t.Error(got)
	}
	if _, err := r.Read(t.Context(), &notify.IDInput{ID: b.ID}); errs.StatusOf(err) != 404 {
		t.Error(err)
	}
}

func TestUpdatePayload(t *testing.T) {
	r := newRig(t)
	if _, err := r.UpdatePayload(t.Context(), "nope", map[string]any{"a": 1}, false); errs.StatusOf(err) != 404 || r.heard() != "" {
		t.Error(err)
	}
	n, err := r.Post(t.Context(), notify.Notification{Kind: notify.Approval, Title: "Allow it?", Payload: map[string]any{"name": "gmail_send", "status": "pending", "nested": map[string]any{"a": "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	r.heard()
	if _, err := r.UpdatePayload(t.Context(), n.ID, map[string]any{"status": make(chan int)}, true); err == nil || r.heard() != "" {
		t.Error("a payload that is no JSON was taken")
	}
	for _, c := range []struct {
		set  map[string]any
		read bool
		want string
		is   bool
	}{
		{map[string]any{"answer": 1.5}, false, `{"answer":1.5,"name":"gmail_send","nested":{"a":"b"},"status":"pending"}`, false},
		{map[string]any{"status": "allow", "answer": nil, "never": nil}, true, `{"name":"gmail_send","nested":{"a":"b"},"status":"allow"}`, true},
		{nil, false, `{"name":"gmail_send","nested":{"a":"b"},"status":"allow"}`, true}, // what was read stays read
	} {
		got, err := r.UpdatePayload(t.Context(), n.ID, c.set, c.read)
		if err != nil || asJSON(t, got.Payload) != c.want || got.Read != c.is || got.Title != n.Title || got.CreatedAt != n.CreatedAt {
			t.Error(asJSON(t, got), err)
		}
		if h := r.heard(); h != "notification.updated "+asJSON(t, got)+"\n" {
			t.Error(h)
		}
		out, err := r.List(t.Context(), &notify.ListInput{})
		if err != nil || asJSON(t, out.Notifications[0]) != asJSON(t, got) {
			t.Error(asJSON(t, out), err)
		}
	}
}

// What cannot be written is not told.
func TestNothingIsToldThatIsNotKept(t *testing.T) {
	r := newRig(t)
	n := r.post("a")
	r.heard()
	if err := r.db.Write(t.Context(), func(tx *store.Tx) error {
		for _, what := range []string{"INSERT", "UPDATE", "DELETE"} {
			if _, err := tx.Exec(`CREATE TRIGGER no_` + what + ` BEFORE ` + what + ` ON notifications BEGIN SELECT raise(ABORT, 'no'); END`); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, err1 := r.Create(ctx, &notify.CreateInput{Message: "m"})
	_, err2 := r.Read(ctx, &notify.IDInput{ID: n.ID})
	_, err3 := r.Delete(ctx, &notify.IDInput{ID: n.ID})
	_, err4 := r.DeleteAll(ctx, &notify.AllInput{})
	_, err5 := r.UpdatePayload(ctx, n.ID, map[string]any{"a": 1}, true)
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if err == nil {
			t.Error("no error from", i+1)
		}
	}
	if h := r.heard(); h != "" {
		t.Error(h)
	}
}
