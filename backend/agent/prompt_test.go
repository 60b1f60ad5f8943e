package agent_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/agent"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
)

var update = flag.Bool("update", false, "write golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs (go test -update writes it):\n%s", name, got)
	}
}

var dated = regexp.MustCompile(`(?m)^\[[A-Z][a-z]+day, .* \d\d:\d\d\]\n`)

// undated takes out the lines that say when a message was written.
func undated(text string) string { return dated.ReplaceAllString(text, "") }

// whole gives a request as a model reads it.
func whole(req llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString("## " + string(m.Role) + "\n" + m.Text + "\n")
		for _, i := range m.Images {
			b.WriteString("(picture " + i.MIME + " " + string(i.Data) + ")\n")
		}
	}
	return b.String()
}

func TestPrompts(t *testing.T) {
	maya := agent.Settings{AssistantName: "Iris", UserName: "Maya", Timezone: "Asia/Kolkata", Location: "Pune, India", Language: "en"}
	for name, c := range map[string]struct {
		set       agent.Settings
		soul      string
		user      string
		incognito bool
	}{
		"bare":            {},
		"full":            {set: maya, soul: "<!-- a note -->\nYou are dry.\n", user: "- Name: Maya\n<!-- end -->\n\n## Learned\n\n- Likes tea."},
		"incognito":       {set: with(maya, func(s *agent.Settings) { s.IncognitoUsesMemory = true }), user: "- Name: Maya", incognito: true},
		"incognito_alone": {set: maya, user: "- Name: Maya", incognito: true},
		"unknown_zone":    {set: agent.Settings{Timezone: "Mars/Olympus"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(7 * time.Minute) // 00:07 UTC on 1 January 2000
				m := scripted.New(scripted.Say("ok"))
				r := newRig(t, m)
				*r.settings = c.set
				r.workspace("SOUL.md", c.soul)
				r.workspace("USER.md", c.user)
				r.done(r.send(agent.SendInput{Text: "Hi", Incognito: c.incognito}).TurnID)
				golden(t, name, whole(m.Last()))
				r.close()
			})
		})
	}
}

func with(s agent.Settings, change func(*agent.Settings)) agent.Settings {
	change(&s)
	return s
}

func (r *rig) workspace(name, text string) {
	r.t.Helper()
	if text == "" {
		return
	}
	dir := filepath.Join(r.dir, "workspace")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func TestAttachmentsInThePrompt(t *testing.T) {
	t.Parallel()
	m := scripted.New(scripted.Say("one"), scripted.Say("two"))
	r := newRig(t, m)
	r.models.byRole["vision"] = m
	names := []string{
		r.upload("notes.md", "", "# Notes\n\nBuy tea.\n"),
		r.upload("cat.png", "", "PNGDATA"),
		r.upload("report.pdf", "", "%PDF"),
		r.upload("long.txt", "", strings.Repeat("x", 120<<10)),
	}
	out := r.send(agent.SendInput{Text: "Look", Attachments: append(names, names[0])})
	r.done(out.TurnID)
	golden(t, "attachments", strings.ReplaceAll(afterSystem(m.Last()), strings.Repeat("x", 100<<10), "(100 KB of x)"))
	if _, err := r.chats.DeleteFile(t.Context(), &session.FileInput{Name: "cat.png"}); err != nil {
		t.Fatal(err)
	}
	r.done(r.send(agent.SendInput{Text: "And now?", SessionID: out.SessionID}).TurnID)
	golden(t, "attachments_later", afterSystem(m.Last()))
}

func TestCapturesInThePromptMarkTheChat(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{"screen": "your screen", "selection": "another app"} {
		m := scripted.New(scripted.Say("one"))
		r := newRig(t, m)
		r.models.byRole["vision"] = m
		file := map[string]string{"screen": "Inbox - Mail.png", "selection": "Notepad.txt"}[source]
		name := r.upload(file, source, "content")
		r.done(r.send(agent.SendInput{Text: "What is this?", Attachments: []string{name}}).TurnID)
		golden(t, source, strings.ReplaceAll(afterSystem(m.Last()), name, source+"s/NAME"))
		list, err := r.chats.List(t.Context(), &session.ListInput{})
		if err != nil || *list[0].Untrusted != want || list[0].VisitedHosts == nil {
			t.Fatal(list, err)
		}
	}
}

func afterSystem(req llm.Request) string {
	req.Messages = slices.Clone(req.Messages[1:])
	for i := range req.Messages {
		req.Messages[i].Text = undated(req.Messages[i].Text)
	}
	return whole(req)
}

// Only the newest messages go to the model, and no more than it reads at once; an answer never comes without its
// question.
func TestHistoryIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		window int
		room   int    // tokens that the last prompt may take beside its instructions; 0: no bound
		first  string // the oldest message of the last request
	}{
		"all":          {window: 30, first: "question 0"},
		"window":       {window: 4, first: "question 4"},
		"context":      {window: 30, room: 280, first: "question 3"}, // two questions with their answers take 222
		"tiny context": {window: 30, room: 1, first: "question 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := scripted.By(func(llm.Request) scripted.Step { return scripted.Say(strings.Repeat("word ", 80)) })
			r := newRig(t, m)
			r.settings.HistoryWindow = c.window
			id := ""
			for i := range 6 {
				if i == 5 && c.room > 0 { // a quarter of the context is kept free
					r.models.choice.ContextLength = (len(m.Last().Messages[0].Text)/4 + 4 + c.room) * 4 / 3
				}
				out := r.send(agent.SendInput{Text: "question " + string(rune('0'+i)), SessionID: id})
				id = out.SessionID
				r.done(out.TurnID)
				r.settle(id)
			}
			req := m.Last()
			if req.Messages[0].Role != llm.System || undated(req.Messages[1].Text) != c.first || undated(req.Messages[len(req.Messages)-1].Text) != "question 5" {
				t.Fatal(prompt(req))
			}
		})
	}
}

// What failed and is sent again stands once in the prompt, and the person's messages in a row become one.
func TestARetryIsNotReadTwice(t *testing.T) {
	t.Parallel()
	fail := scripted.Fail(errs.New(errs.Limited, llm.CodeRateLimited, "The limit is reached."))
	m := scripted.New(fail, fail, scripted.Say("ok"))
	r := newRig(t, m)
	a := r.send(agent.SendInput{Text: "Same"})
	r.done(a.TurnID)
	for _, text := range []string{"Same", "Other"} {
		r.settle(a.SessionID)
		r.done(r.send(agent.SendInput{Text: text, SessionID: a.SessionID}).TurnID)
	}
	if got := prompt(m.Last()); got != "user: Same\n\nOther\n" {
		t.Fatal(got)
	}
}

func TestThePromptStaysTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := scripted.By(func(llm.Request) scripted.Step { return scripted.Say("ok") })
		r := newRig(t, m)
		id := ""
		for range 4 {
			out := r.send(agent.SendInput{Text: "Hi", SessionID: id})
			id = out.SessionID
			r.done(out.TurnID)
			r.settle(id)
			time.Sleep(time.Minute)
		}
		all := m.Requests()
		for i := 1; i < len(all); i++ {
			if a, b := whole(all[i-1]), whole(all[i]); !strings.HasPrefix(b, a) {
				t.Fatal("a later prompt does not begin with the one before it")
			}
		}
		r.close()
	})
}
