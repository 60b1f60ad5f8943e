package agent_test

import (
	"fmt"
	"sync"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/transcript"
)

func show[T any](p *T) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}

// The context meter (§1): what it counts, what it leaves null, and its two sentences from 85 % on.
func TestTheContextMeter(t *testing.T) {
	const long = "This chat is getting long for primary (%d%% of what it reads at once). Older messages may be left out"
	local := long + ": start a new chat, or set a longer context length in Settings > Models."
	cloud := long + ", so a new chat works best."
	for name, c := range map[string]struct {
		usage   llm.Usage
		length  int
		local   bool
		percent string
		warning string
	}{
		"length unknown":      {llm.Usage{Prompt: 900, Completion: 10}, 0, true, "null", "null"},
		"plenty of room":      {llm.Usage{Prompt: 40_000, Completion: 2_400}, 100_000, true, "42", "null"},
		"just below":          {llm.Usage{Prompt: 84_000, Completion: 499}, 100_000, true, "84", "null"},
		"rounded up, local":   {llm.Usage{Prompt: 84_000, Completion: 500}, 100_000, true, "85", fmt.Sprintf(local, 85)},
		"local":               {llm.Usage{Prompt: 86_000, Completion: 1_000}, 100_000, true, "87", fmt.Sprintf(local, 87)},
		"cloud":               {llm.Usage{Prompt: 86_000, Completion: 1_000}, 100_000, false, "87", fmt.Sprintf(cloud, 87)},
		"more than it can be": {llm.Usage{Prompt: 119_000, Completion: 1_000}, 100_000, false, "120", fmt.Sprintf(cloud, 120)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, scripted.New(scripted.Say("ok").Counting(c.usage)))
			r.models.choice.ContextLength, r.models.choice.Local = c.length, c.local
			r.send(agent.SendInput{Text: "Q"})
			u := r.usage(t)
			if u == nil || u.PromptTokens != c.usage.Prompt || u.CompletionTokens != c.usage.Completion || u.Model != "test/primary" {
				t.Fatal(u)
			}
			if show(u.ContextPercent) != c.percent || show(u.ContextWarning) != c.warning {
				t.Error(show(u.ContextPercent), show(u.ContextWarning))
			}
			if null := c.length == 0; (u.ContextUsed == nil) != null || (u.ContextLength == nil) != null {
				t.Error(u)
			}
		})
	}
}

// usage gives what the next turn tells of its tokens, or nil when it tells nothing.
func (r *rig) usage(t *testing.T) *transcript.UsageEvent {
	t.Helper()
	var found *transcript.UsageEvent
	for _, e := range r.until(isDone) {
		if u, ok := event.Is(transcript.TopicUsage, e); ok {
			if found != nil {
				t.Error("told twice")
			}
			found = &u
		}
	}
	return found
}

// A service that counts nothing still moves the meter where the length is known; one that counts only what it had not
// cached is not believed.
func TestTheMeterCountsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Say("ok"), scripted.Say("ok"), scripted.Say("ok").Counting(llm.Usage{Prompt: 2, Completion: 1})))
	out := r.send(agent.SendInput{Text: "Q"})
	if u := r.usage(t); u != nil {
		t.Error("nothing was known and told", u)
	}
	r.settle(out.SessionID)
	r.models.choice.ContextLength = 100_000
	var used [2]int
	for i := range used {
		r.send(agent.SendInput{Text: "Q", SessionID: out.SessionID})
		u := r.usage(t)
		if u == nil || u.ContextUsed == nil || u.PromptTokens != 2*i {
			t.Fatal(u)
		}
		used[i] = *u.ContextUsed
		r.settle(out.SessionID)
	}
	if used[0] < 100 || used[1] <= used[0] {
		t.Error(used)
	}
}

// A client_id that is sent from many places at once starts one turn, in one chat, and all get the same answer.
func TestAClientIDSideBySide(t *testing.T) {
	for name, inChat := range map[string]bool{"new chat": false, "same chat": true} {
		t.Run(name, func(t *testing.T) {
			m := scripted.By(func(llm.Request) scripted.Step { return scripted.Say("One.") })
			r := newRig(t, m)
			in := agent.SendInput{Text: "Q", ClientID: "same"}
			if inChat {
				chat, err := r.chats.Create(t.Context(), &session.CreateInput{})
				if err != nil {
					t.Fatal(err)
				}
				in.SessionID = chat.SessionID
			}
			var wg sync.WaitGroup
			outs := make([]agent.SendResult, 8)
			for i := range outs {
				wg.Go(func() {
					if i%2 == 0 {
						outs[i] = *r.send(in)
						return
					}
					err := r.Chat(t.Context(), &agent.ChatInput{Text: in.Text, ClientID: in.ClientID, SessionID: in.SessionID}, func(v any) error {
						l := readLine(t, v)
						outs[i] = agent.SendResult{SessionID: l.SessionID, TurnID: l.TurnID}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, out := range outs {
				if out != outs[0] {
					t.Error(out, outs[0])
				}
			}
			r.settle(outs[0].SessionID)
			if n := len(m.Requests()); n != 1 {
				t.Error(n, "calls")
			}
			if turns, chats := r.count(`SELECT count(*) FROM turns`), r.count(`SELECT count(*) FROM sessions`); turns != 1 || chats != 1 {
				t.Error(turns, "turns in", chats, "chats")
			}
		})
	}
}

// What was taken once is not checked again: its file may be gone by now.
func TestAClientIDIsKnownWithoutItsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Say("One.")))
	in := agent.SendInput{Text: "Q", ClientID: "same", Attachments: []string{r.upload("a.txt", "", "x")}}
	first := r.send(in)
	r.done(first.TurnID)
	if _, err := r.chats.DeleteFile(t.Context(), &session.FileInput{Name: "a.txt"}); err != nil {
		t.Fatal(err)
	}
	if again := r.send(in); *again != *first {
		t.Error(again, first)
	}
	events := r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicSession.Info() })
	if s, _ := event.Is(transcript.TopicSession, events[len(events)-1]); s.TurnID != first.TurnID || s.ClientID != "same" {
		t.Error(s)
	}
}
