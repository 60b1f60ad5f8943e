package agent_test

import (
	"errors"
	"strings"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/opt"
	"sentient/backend/session"
)

// titles reads the titles that session.updated tells until stop says so.
func (r *rig) titles(n int) []string {
	var titles []string
	r.until(func(e *event.Event) bool {
		if u, ok := event.Is(session.TopicUpdated, e); ok && u.Title.Set {
			titles = append(titles, u.Title.Value)
		}
		return len(titles) == n
	})
	return titles
}

func TestAChatIsNamed(t *testing.T) {
	long := "Please plan a long weekend in the mountains with my sister and her two small dogs"
	words := "Please plan a long weekend in the mountains with my sister…"
	for name, c := range map[string]struct {
		text  string
		off   bool
		step  scripted.Step
		want  []string
		asked int
	}{
		"by the model":       {long, false, scripted.Say("Mountain ", "weekend"), []string{words, "Mountain weekend"}, 1},
		"cleaned":            {long, false, scripted.Say("\n**Title:** \"Mountain\tweekend.\"\nIt is nice."), []string{words, "Mountain weekend"}, 1},
		"too long":           {long, false, scripted.Say(strings.Repeat("Mountain ", 20)), []string{words, "Mountain Mountain Mountain Mountain Mountain Mountain…"}, 1},
		"model fails":        {long, false, scripted.Fail(errors.New("no")), []string{words}, 1},
		"model says nothing": {"\n\n  Hi\tthere \n you", false, scripted.Say("...\n"), []string{"Hi there"}, 1},
		"switched off":       {"Hi", true, scripted.Step{}, []string{"Hi"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fast := scripted.New(c.step)
			r := newRig(t, scripted.New(scripted.Say("Gladly."), scripted.Say("Again.")))
			r.models.byRole["fast"] = fast
			r.settings.AutoTitle = !c.off
			out := r.send(agent.SendInput{Text: c.text})
			got := r.titles(len(c.want))
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Fatalf("%q", got)
			}
			for _, title := range got {
				if n := len([]rune(title)); n > 60 {
					t.Error(n, "characters")
				}
			}
			r.close()
			if n := len(fast.Requests()); n != c.asked {
				t.Fatal(n, "questions for", out.SessionID)
			}
		})
	}
}

func TestAPersonsTitleStays(t *testing.T) {
	t.Parallel()
	fast := scripted.New()
	release := make(chan struct{})
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Until: release, Text: "Hi."}}}))
	r.models.byRole["fast"] = fast
	r.settings.AutoTitle = true
	out := r.send(agent.SendInput{Text: "Hello"})
	if _, err := r.chats.Update(t.Context(), &session.UpdateInput{ID: out.SessionID, Title: opt.Of("Mine")}); err != nil {
		t.Fatal(err)
	}
	close(release)
	r.done(out.TurnID)
	dir := r.dir
	r.close()
	if len(fast.Requests()) != 0 {
		t.Fatal("a model was asked for a title nobody wants")
	}
	again := openRig(t, dir, scripted.New(), nil)
	list, err := again.chats.List(t.Context(), &session.ListInput{})
	if err != nil || list[0].Title != "Mine" {
		t.Fatal(list, err)
	}
}

func TestTheTitlePrompt(t *testing.T) {
	t.Parallel()
	fast := scripted.New(scripted.Say("Tea"))
	r := newRig(t, scripted.New(scripted.Say("Green tea, 80 °C.")))
	r.models.byRole["fast"] = fast
	r.settings.AutoTitle = true
	r.send(agent.SendInput{Text: "How hot for green tea?"})
	r.titles(2)
	req := fast.Last()
	golden(t, "title", whole(req))
	if req.Effort != llm.EffortNone || req.MaxTokens == 0 {
		t.Fatal(req)
	}
}

func TestAnIncognitoChatHasNoTitle(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Say("Hi.")))
	r.settings.AutoTitle = true
	out := r.send(agent.SendInput{Text: "Hello", Incognito: true})
	r.done(out.TurnID)
	r.settle(out.SessionID)
	list, err := r.chats.List(t.Context(), &session.ListInput{})
	if err != nil || list[0].Title != "" || !list[0].Incognito {
		t.Fatal(list, err)
	}
}
