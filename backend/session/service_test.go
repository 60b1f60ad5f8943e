package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/opt"
	"sentient/backend/session"
	"sentient/backend/transcript"
)

func TestCreateRefuses(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		in   session.CreateInput
		code string
	}{
		"model without provider": {session.CreateInput{Model: "qwen3"}, "model_invalid"},
		"model without name":     {session.CreateInput{Model: "ollama_chat/"}, "model_invalid"},
		"model with spaces":      {session.CreateInput{Model: " a/b"}, "model_invalid"},
		"model too long":         {session.CreateInput{Model: "a/" + strings.Repeat("b", 200)}, "model_invalid"},
		"scope always":           {session.CreateInput{MemoryScope: "Always"}, "memory_scope_invalid"},
		"scope blank":            {session.CreateInput{MemoryScope: "  "}, "memory_scope_invalid"},
		"scope too long":         {session.CreateInput{MemoryScope: strings.Repeat("é", 41)}, "memory_scope_invalid"},
		"scope with a mark":      {session.CreateInput{MemoryScope: "Pro\u202eject"}, "memory_scope_invalid"},
	} {
		_, err := r.Create(t.Context(), &c.in)
		t.Log(name)
		wantError(t, err, 422, c.code)
	}
	if len(r.list()) != 0 || r.heard() != "" {
		t.Fatal("a refused chat was made")
	}
}

func TestListHasEveryMember(t *testing.T) {
	r := newRig(t)
	r.settings.ScopeOf = func(channel string) string { return map[string]string{"desktop": "work"}[channel] }
	old := r.create(session.CreateInput{Model: "ollama_chat/qwen3:8b", MemoryScope: "PERSONAL"})
	young := r.create(session.CreateInput{Incognito: true})
	list := r.list()
	if len(list) != 2 || list[0].ID != young {
		t.Fatal(list)
	}
	check := func(s session.Session, want string) {
		t.Helper()
		for _, v := range []string{s.CreatedAt, s.UpdatedAt} {
			if _, err := time.Parse("2006-01-02T15:04:05.000000Z", v); err != nil {
				t.Error(err)
			}
		}
		s.CreatedAt, s.UpdatedAt = "C", "U"
		if got := strings.ReplaceAll(asJSON(t, s), s.ID, "ID"); got != want {
			t.Errorf("\n%s\n%s", got, want)
		}
	}
	check(list[0], `{"id":"ID","title":"","channel":"desktop","created_at":"C","updated_at":"U","untrusted":null,"visited_hosts":null,"incognito":true,"model":null,"memory_scope":"work","node_id":null}`)
	check(list[1], `{"id":"ID","title":"","channel":"desktop","created_at":"C","updated_at":"U","untrusted":null,"visited_hosts":null,"incognito":false,"model":"ollama_chat/qwen3:8b","memory_scope":"personal","node_id":null}`)

	// Its first turn makes it known as clean, and the newest.
	r.says(old, "Hi", "Hello.")
	list = r.list()
	check(list[0], `{"id":"ID","title":"","channel":"desktop","created_at":"C","updated_at":"U","untrusted":"","visited_hosts":[],"incognito":false,"model":"ollama_chat/qwen3:8b","memory_scope":"personal","node_id":null}`)
	if h := r.heard(); h != "" {
		t.Error("a clean turn told", h)
	}
	// A capture marks it, once, and says so.
	shot := r.upload("Inbox.png", "screen", "png")
	for range 2 {
		r.says(old, "What is this?", "A picture.", shot)
	}
	if got, want := r.heard(), fmt.Sprintf("session.updated {\"session_id\":%q,\"untrusted\":\"your screen\"}\n", old); got != want {
		t.Errorf("%s%s", got, want)
	}
	if list = r.list(); *list[0].Untrusted != "your screen" {
		t.Error(list[0])
	}
	if one, err := r.List(t.Context(), &session.ListInput{Limit: 1}); err != nil || len(one) != 1 || one[0].ID != old {
		t.Error(one, err)
	}
}

func TestUpdate(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
		out    string
		event  string // after the session_id; "-": none
		title  string
		model  string
		scope  string
	}{
		"empty title":      {body: `{"title":" \n"}`, status: 422, code: "title_empty"},
		"no model":         {body: `{"model":"x","title":"No"}`, status: 422, code: "model_invalid"},
		"scope always":     {body: `{"memory_scope":"ALWAYS","title":"No"}`, status: 422, code: "memory_scope_invalid"},
		"nothing":          {body: `{}`, out: `{"ok":true}`, event: "-", title: "Old", model: "a/b", scope: "work"},
		"null title stays": {body: `{"title":null}`, out: `{"ok":true}`, event: "-", title: "Old", model: "a/b", scope: "work"},
		"title":            {body: `{"title":"  New\n\u202ename 👨‍👩‍👧 "}`, out: `{"ok":true,"title":"New name 👨‍👩‍👧"}`, event: `,"title":"New name 👨‍👩‍👧"`, title: "New name 👨‍👩‍👧", model: "a/b", scope: "work"},
		"long title":       {body: `{"title":"` + strings.Repeat("é", 300) + `"}`, out: `{"ok":true,"title":"` + strings.Repeat("é", 200) + `"}`, event: `,"title":"` + strings.Repeat("é", 200) + `"`, title: strings.Repeat("é", 200), model: "a/b", scope: "work"},
		"model":            {body: `{"model":"c/d"}`, out: `{"ok":true,"model":"c/d"}`, event: `,"model":"c/d"`, title: "Old", model: "c/d", scope: "work"},
		"default model":    {body: `{"model":null}`, out: `{"ok":true,"model":null}`, event: `,"model":null`, title: "Old", scope: "work"},
		"empty model":      {body: `{"model":""}`, out: `{"ok":true,"model":null}`, event: `,"model":null`, title: "Old", scope: "work"},
		"scope":            {body: `{"memory_scope":"My Project"}`, out: `{"ok":true,"memory_scope":"My Project"}`, event: `,"memory_scope":"My Project"`, title: "Old", model: "a/b", scope: "My Project"},
		"default scope":    {body: `{"memory_scope":null}`, out: `{"ok":true,"memory_scope":"personal"}`, event: `,"memory_scope":"personal"`, title: "Old", model: "a/b", scope: "personal"},
		"all":              {body: `{"memory_scope":"","model":"c/d","title":"T"}`, out: `{"ok":true,"title":"T","model":"c/d","memory_scope":"personal"}`, event: `,"title":"T","model":"c/d","memory_scope":"personal"`, title: "T", model: "c/d", scope: "personal"},
	} {
		t.Run(name, func(t *testing.T) {
			id := r.create(session.CreateInput{Model: "a/b", MemoryScope: "work"})
			if err := r.SetAutoTitle(t.Context(), id, "Old", true); err != nil {
				t.Fatal(err)
			}
			r.heard()
			in := session.UpdateInput{}
			if err := json.Unmarshal([]byte(c.body), &in); err != nil {
				t.Fatal(err)
			}
			in.ID = id
			out, err := r.Update(t.Context(), &in)
			if c.status != 0 {
				wantError(t, err, c.status, c.code)
				if r.heard() != "" || r.list()[0].Title != "Old" {
					t.Fatal("a refused change did something")
				}
				return
			}
			if err != nil || asJSON(t, out) != c.out {
				t.Fatal(err, asJSON(t, out))
			}
			want := ""
			if c.event != "-" {
				want = `session.updated {"session_id":"` + id + `"` + c.event + "}\n"
			}
			if got := r.heard(); got != want {
				t.Errorf("\n%s%s", got, want)
			}
			s := r.list()[0]
			model := ""
			if s.Model != nil {
				model = *s.Model
			}
			if s.Title != c.title || model != c.model || s.MemoryScope != c.scope {
				t.Error(s)
			}
		})
	}
	_, err := r.Update(t.Context(), &session.UpdateInput{ID: "nope", Title: opt.Of("T")})
	wantError(t, err, 404, "chat_unknown")
	if r.heard() != "" {
		t.Error("told of an unknown chat")
	}
}

func TestMessages(t *testing.T) {
	r := newRig(t)
	_, err := r.Messages(t.Context(), &session.MessagesInput{ID: "nope"})
	wantError(t, err, 404, "chat_unknown")

	id := r.create(session.CreateInput{})
	if got := asJSON(t, r.messages(id, 0)); got != "[]" {
		t.Fatal(got)
	}
	file := r.upload("report.pdf", "", "%PDF")
	for i := range 6 {
		r.says(id, fmt.Sprint("q", i), fmt.Sprint("a", i))
	}
	p := r.log.Reply(r.opens(id, "last", file))
	p.Add("Hm.", "cut o")
	if err := p.End(t.Context(), transcript.Ending{Cancelled: true}); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{
		1: "cut o", 2: "last cut o", 3: "a5 last cut o", 0: "q0 a0 q1 a1 q2 a2 q3 a3 q4 a4 q5 a5 last cut o", 9999: "q0 a0 q1 a1 q2 a2 q3 a3 q4 a4 q5 a5 last cut o",
	} {
		var said []string
		for _, m := range r.messages(id, limit) {
			said = append(said, m.Content)
		}
		if got := strings.Join(said, " "); got != want {
			t.Errorf("limit %d: %s", limit, got)
		}
	}
	for i, want := range []string{
		`{"id":"ID","role":"user","content":"last","thinking":null,"tool_calls":[],"tool_call_id":null,"name":null,"attachments":["report.pdf"],"interjection":false,"memory_sources":[],"sources":[],"approval":null,"checks":[],"created_at":"C","turn_id":"T"}`,
		`{"id":"ID","role":"assistant","content":"cut o","thinking":"Hm.","tool_calls":[],"tool_call_id":null,"name":null,"attachments":[],"interjection":false,"memory_sources":[],"sources":[],"approval":null,"checks":[],"created_at":"C","cancelled":true,"turn_id":"T"}`,
	} {
		m := r.messages(id, 2)[i]
		if m.ID == "" || m.CreatedAt == "" || m.TurnID == "" {
			t.Error(m)
		}
		m.ID, m.CreatedAt, m.TurnID = "ID", "C", "T"
		if got := asJSON(t, m); got != want {
			t.Errorf("\n%s\n%s", got, want)
		}
	}
}

func TestDelete(t *testing.T) {
	r := newRig(t)
	_, err := r.Delete(t.Context(), &session.DeleteInput{ID: "nope"})
	wantError(t, err, 404, "chat_unknown")
	if r.heard() != "" {
		t.Fatal("told of an unknown chat")
	}
	id, other := r.create(session.CreateInput{}), r.create(session.CreateInput{})
	r.says(id, "gone", "gone as well")
	r.says(other, "stays", "stays as well")
	r.turns.retired = nil
	out, err := r.Delete(t.Context(), &session.DeleteInput{ID: id})
	if err != nil || !out.OK {
		t.Fatal(err)
	}
	if got, want := r.heard(), `session.deleted {"session_id":"`+id+"\"}\n"; got != want {
		t.Error(got, want)
	}
	if len(r.turns.retired) != 1 || r.turns.retired[0] != id || r.turns.inside != 0 {
		t.Error("its turns were not ended", r.turns)
	}
	for _, table := range []string{"chat_events", "turns", "messages"} {
		if n := r.count(`SELECT count(*) FROM `+table+` WHERE session_id = ?`, id); n != 0 {
			t.Error(n, "rows left in", table)
		}
	}
	_, err = r.Messages(t.Context(), &session.MessagesInput{ID: id})
	wantError(t, err, 404, "chat_unknown")
	_, err = r.Delete(t.Context(), &session.DeleteInput{ID: id})
	wantError(t, err, 404, "chat_unknown")
	if len(r.messages(other, 0)) != 2 {
		t.Error("another chat lost its messages")
	}
}

// What was deleted is in no byte of the data folder any more, the search's index included.
func TestDeletedTextIsGone(t *testing.T) {
	r := newRig(t)
	id, other := r.create(session.CreateInput{}), r.create(session.CreateInput{})
	secret := "xylophagous"
	for i := range 40 {
		r.says(id, fmt.Sprintf("My %s secret %d: %s", secret, i, strings.Repeat(secret+" ", 20)), secret+strings.Repeat(" reply", 50))
		r.says(other, "Something else", "Quite marsupial")
	}
	if got, err := r.Search(t.Context(), &session.SearchInput{Q: secret}); err != nil || len(got) != 50 {
		t.Fatal(len(got), err)
	}
	if n := inFolder(t, r.dir, secret); n == 0 {
		t.Fatal("the test looks in the wrong place")
	}
	if _, err := r.Delete(t.Context(), &session.DeleteInput{ID: id}); err != nil {
		t.Fatal(err)
	}
	if n := r.count(`SELECT count(*) FROM message_text WHERE message_text MATCH ?`, secret); n != 0 {
		t.Error(n, "found in the index")
	}
	r.close()
	if n := inFolder(t, r.dir, secret); n != 0 {
		t.Error(n, "files still have it")
	}
	if n := inFolder(t, r.dir, "marsupial"); n == 0 {
		t.Error("what was not deleted is gone as well")
	}
}

// inFolder counts the files that have a text in them, or the start of it: an index keeps words without their common
// beginning.
func inFolder(t *testing.T, dir, text string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) || bytes.Contains(raw, []byte(text[2:6])) {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestIncognitoChatsGo(t *testing.T) {
	t.Run("at a start", func(t *testing.T) {
		r := newRig(t)
		gone, stays := r.create(session.CreateInput{Incognito: true}), r.create(session.CreateInput{})
		r.turns.run(gone, true) // left over from a crash: no turn survives a start
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.wantLeft(stays)
		if got, want := r.heard(), `session.deleted {"session_id":"`+gone+"\",\"reason\":\"incognito\"}\n"; got != want {
			t.Error(got, want)
		}
	})
	t.Run("at the end", func(t *testing.T) {
		r := newRig(t)
		r.says(r.create(session.CreateInput{Incognito: true}), "a secret xylophone", "yes")
		stays := r.create(session.CreateInput{})
		r.close()
		openRig(t, r.dir).wantLeft(stays)
		if inFolder(t, r.dir, "xylophone") != 0 {
			t.Error("its text is still there")
		}
	})
	t.Run("after silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { silence(t, 0, 30*time.Minute) })
	})
	t.Run("after a silence of one's own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { silence(t, 5*time.Minute, 5*time.Minute) })
	})
}

// silence lets chats be silent: one from the start, one with a message half way, one that is being answered.
func silence(t *testing.T, setting, after time.Duration) {
	r := newRig(t)
	r.settings.IncognitoDeleteAfter = setting
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Serve(ctx) }()

	quiet, spoken, running := r.create(session.CreateInput{Incognito: true}), r.create(session.CreateInput{Incognito: true}), r.create(session.CreateInput{Incognito: true})
	plain := r.create(session.CreateInput{})
	r.turns.run(running, true)
	time.Sleep(after / 2)
	r.says(spoken, "Hi", "Hello.")
	pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
	pass(after/2 - time.Second)
	r.wantLeft(quiet, spoken, running, plain)
	pass(time.Minute + 2*time.Second) // within a minute
	r.wantLeft(spoken, running, plain)
	if got, want := r.heard(), `session.deleted {"session_id":"`+quiet+"\",\"reason\":\"incognito\"}\n"; got != want {
		t.Error(got, want)
	}
	pass(after / 2)
	r.wantLeft(running, plain)
	r.turns.run(running, false)
	pass(time.Minute + time.Second)
	r.wantLeft(plain)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r.close()
}

// A message that comes between finding a silent chat and deleting it keeps the chat.
func TestAMessageKeepsASilentChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := r.create(session.CreateInput{Incognito: true})
		r.UseTurns(lateMessage{r.turns, func() { r.says(id, "Still here", "Good.") }})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Serve(ctx) }()
		time.Sleep(32 * time.Minute)
		synctest.Wait()
		r.wantLeft(id)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.UseTurns(r.turns)
		r.close()
	})
}

// lateMessage lets a message in just before the chat is closed to others.
type lateMessage struct {
	*turns
	say func()
}

func (l lateMessage) RetireIdle(ctx context.Context, id string) (func(), bool, error) {
	l.say()
	return l.turns.RetireIdle(ctx, id)
}

func (r *rig) wantLeft(ids ...string) {
	r.t.Helper()
	left := map[string]bool{}
	for _, s := range r.list() {
		left[s.ID] = true
	}
	for _, id := range ids {
		if !left[id] {
			r.t.Error("a chat is gone that should be there")
		}
		delete(left, id)
	}
	if len(left) != 0 {
		r.t.Error("chats are there that should be gone", len(left))
	}
}

func TestAutoTitles(t *testing.T) {
	r := newRig(t)
	type step struct {
		title string
		by    string // words, model, user
		want  string
	}
	for name, steps := range map[string][]step{
		"the model's replaces the words":    {{"First words", "words", "First words"}, {"A title", "model", "A title"}},
		"words stay the first ones":         {{"First words", "words", "First words"}, {"Other words", "words", "First words"}},
		"the model's stays":                 {{"A title", "model", "A title"}, {"Another", "model", "A title"}, {"Words", "words", "A title"}},
		"the person's stays":                {{"Mine", "user", "Mine"}, {"Words", "words", "Mine"}, {"A title", "model", "Mine"}},
		"the person's replaces the model's": {{"A title", "model", "A title"}, {"Mine", "user", "Mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			id := r.create(session.CreateInput{})
			before := ""
			for _, s := range steps {
				var err error
				if s.by == "user" {
					_, err = r.Update(t.Context(), &session.UpdateInput{ID: id, Title: opt.Of(s.title)})
				} else {
					err = r.SetAutoTitle(t.Context(), id, s.title, s.by == "model")
				}
				if got := r.list()[0].Title; err != nil || got != s.want {
					t.Fatal(got, err)
				}
				if told := r.heard() != ""; told != (s.want != before) {
					t.Error("told", told, "after", s)
				}
				before = s.want
				wants, err := r.WantsTitle(t.Context(), id)
				if named := s.want == "Mine" || s.want == "A title"; err != nil || wants == named {
					t.Error(wants, err)
				}
			}
		})
	}
	if wants, err := r.WantsTitle(t.Context(), "nope"); wants || err != nil {
		t.Error(wants, err)
	}
	if err := r.SetAutoTitle(t.Context(), "nope", "T", true); err != nil || r.heard() != "" {
		t.Error(err)
	}
}
