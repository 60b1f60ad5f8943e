package agent_test

import (
	"context"
	"strings"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/store"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// onAPI makes a chat of another program's.
func (r *rig) onAPI() string {
	r.t.Helper()
	id := transcript.NewID()
	if err := r.db.Write(r.t.Context(), func(tx *store.Tx) error { return r.chats.AddChat(tx, id, "api", "Editor") }); err != nil {
		r.t.Fatal(err)
	}
	return id
}

// A crash in the middle of a call: its outcome is not known, the one behind it never began, neither is made again by
// itself. In the window the reply waits for a press; where nobody watches, it is carried on.
func TestACrashInTheMiddleOfACall(t *testing.T) {
	for _, channel := range []string{"desktop", "api"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			hold, running := make(chan struct{}), make(chan struct{}, 1)
			m := scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "Noting."}}, Calls: []llm.ToolCall{scripted.ToolCall("note", `{"n":1}`), scripted.ToolCall("note", `{"n":2}`)}})
			r := newRig(t, m)
			t.Cleanup(func() { close(hold) }) // before the rig waits for what it runs
			note := func(run func()) *tool.Tool {
				return tool.New(tool.Def[args]{Name: "note", Description: "Notes.", Risk: tool.Write, Internal: true,
					Run: func(context.Context, *tool.Context, args) (any, error) { run(); return "noted", nil }})
			}
			r.tools.add(note(func() { running <- struct{}{}; <-hold }))
			chat := ""
			if channel == "api" {
				chat = r.onAPI()
			}
			out := r.send(agent.SendInput{Text: "Q", SessionID: chat})
			<-running
			if _, err := r.Steer(t.Context(), &agent.SteerInput{SessionID: out.SessionID, Text: "And B", ClientID: "b"}); err != nil {
				t.Fatal(err)
			}
			crashed := copyFolder(t, r.dir)
			if _, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: out.SessionID}); err != nil {
				t.Fatal(err)
			}

			ran := 0
			after := scripted.By(func(llm.Request) scripted.Step { return scripted.Say("Carried on.") })
			again := openRig(t, crashed, after, nil, func(r *rig) { r.tools.add(note(func() { ran++ })) })
			results := again.results(out.SessionID)
			if len(results) != 2 || !strings.Contains(results[0], "it is not known whether it went through") || !strings.Contains(results[1], "stopped before this call began") {
				t.Fatal(results)
			}
			if channel == "desktop" {
				want := "user: Q\nassistant: Noting.\ntool: " + results[0][6:] + "\ntool: " + results[1][6:] + "\nevent: {\"event\":\"interrupted\"}\nuser: And B\nevent: {\"event\":\"not_sent\"}\n"
				if got := again.said(out.SessionID); got != want {
					t.Fatalf("%s\n%s", got, want)
				}
				resumed, err := again.Resume(t.Context(), &agent.ResumeInput{ID: out.SessionID, ClientID: "r"})
				if err != nil {
					t.Fatal(err)
				}
				if d := again.done(resumed.TurnID); d.Content != "Carried on." {
					t.Error(d)
				}
				req := after.Last()
				if last := lastText(req); !strings.Contains(last, "The reply above was cut off") || !strings.Contains(whole(req), "it is not known whether") {
					t.Error(whole(req))
				}
			} else {
				for again.IsRunning(out.SessionID) || strings.Count(again.said(out.SessionID), "Carried on.") < 1 {
					again.until(isDone)
				}
				if got := again.said(out.SessionID); strings.Count(got, "user: And B\n") != 1 || strings.Contains(got, "not_sent") {
					t.Error(got)
				}
			}
			if ran != 0 {
				t.Error("a call was made again")
			}
		})
	}
}

// What waited behind nothing but a crash is answered by itself where nobody watches: each message once.
func TestUnattendedRepliesAreCarriedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "Half of it"}}, Hang: true}))
	chat := r.onAPI()
	r.send(agent.SendInput{Text: "Q", SessionID: chat})
	for r.count(`SELECT count(*) FROM open_replies`) == 0 {
		if err := r.log.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m := scripted.By(func(llm.Request) scripted.Step { return scripted.Say(", and the rest.") })
	again := openRig(t, copyFolder(t, r.dir), m, nil, func(r *rig) { r.settings.UserName = "Maya" })
	again.until(isDone)
	if got := m.Last().Messages[0].Text; strings.Contains(got, "Maya") || !strings.Contains(got, "is not available here") {
		t.Error("another app's turn was carried on with what Sentient knows:", got)
	}
	if got := again.said(chat); got != "user: Q\nassistant: Half of it\nevent: {\"event\":\"interrupted\"}\nevent: {\"event\":\"resumed\"}\nassistant: , and the rest.\n" {
		t.Error(got)
	}
}

// Answering anew, changing a message and walking the branches lose nothing; each path reads as if the others were not there.
func TestBranches(t *testing.T) {
	t.Parallel()
	n := 0
	m := scripted.By(func(req llm.Request) scripted.Step {
		n++
		return scripted.Say(strings.Repeat("I", n))
	})
	r := newRig(t, m)
	a := r.send(agent.SendInput{Text: "A"})
	r.done(a.TurnID)
	r.settle(a.SessionID)
	b := r.send(agent.SendInput{Text: "B", SessionID: a.SessionID})
	r.done(b.TurnID)
	r.settle(a.SessionID)
	said := func() string { return strings.ReplaceAll(strings.TrimSpace(r.said(a.SessionID)), "\n", " | ") }
	if got := said(); got != "user: A | assistant: I | user: B | assistant: II" {
		t.Fatal(got)
	}
	rows := r.messages(a.SessionID)
	again, err := r.Regenerate(t.Context(), &agent.RegenerateInput{ID: a.SessionID, MessageID: rows[3].ID, ClientID: "g"})
	if err != nil {
		t.Fatal(err)
	}
	r.done(again.TurnID)
	r.settle(a.SessionID)
	if got := said(); got != "user: A | assistant: I | user: B | assistant: III" {
		t.Error(got)
	}
	edited := r.send(agent.SendInput{Text: "A2", SessionID: a.SessionID, Replaces: rows[0].ID, ClientID: "e"})
	if d := r.done(edited.TurnID); d.Content != "IIII" {
		t.Error(d)
	}
	r.settle(a.SessionID)
	if got := said(); got != "user: A2 | assistant: IIII" {
		t.Error(got)
	}
	if got := prompt(m.Last()); got != "user: A2\n" {
		t.Error(got)
	}
	if got := r.messages(a.SessionID)[0].Branch; got == nil || got.Index != 1 || len(got.Turns) != 2 || got.Turns[0] != a.TurnID {
		t.Errorf("%+v", got)
	}
	if sent := r.send(agent.SendInput{Text: "A2", SessionID: a.SessionID, Replaces: rows[0].ID, ClientID: "e"}); sent.TurnID != edited.TurnID {
		t.Error("sent again, a branch more")
	}
	if _, err := r.Send(t.Context(), &agent.SendInput{Text: "x", SessionID: a.SessionID, Replaces: rows[1].ID}); err == nil {
		t.Error("a reply was replaced by a message")
	}
	before := dump(r, a.SessionID)
	if err := r.log.Rebuild(t.Context(), a.SessionID); err != nil || dump(r, a.SessionID) != before {
		t.Error("rebuilt differs", err)
	}
}
