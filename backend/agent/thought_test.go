package agent_test

import (
	"context"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

// muser shows its thoughts as text, then closes a thinking tag that it never opened.
type muser struct{}

func (muser) Stream(_ context.Context, _ llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	for _, d := range []llm.Delta{{Text: "Six times seven, "}, {Text: "hm."}, {Thought: true}, {Text: "42"}} {
		if err := each(d); err != nil {
			return llm.Reply{}, err
		}
	}
	return llm.Reply{Text: "42", Thinking: "Six times seven, hm.", Finish: llm.FinishStop}, nil
}

// What turned out to be thinking is kept as thinking, and the answer is the answer alone.
func TestThoughtsShownAsTextAreTakenBack(t *testing.T) {
	r := newRig(t, muser{})
	out := r.send(agent.SendInput{Text: "6 × 7?"})
	if d := r.done(out.TurnID); d.Content != "42" {
		t.Errorf("done has %q", d.Content)
	}
	rows := r.messages(out.SessionID)
	if len(rows) != 2 || rows[1].Content != "42" || rows[1].Thinking == nil || *rows[1].Thinking != "Six times seven, hm." {
		t.Errorf("%+v", rows)
	}
}

// A weak model is not asked for a title: the message's own words are better.
func TestAWeakModelNamesNothing(t *testing.T) {
	fast := scripted.New(scripted.Say("Nonsense"))
	r := newRig(t, scripted.New(scripted.Say("Gladly.")))
	r.models.byRole["fast"], r.models.choice.Weak = fast, true
	r.settings.AutoTitle = true
	r.send(agent.SendInput{Text: "Water the plants"})
	if got := r.titles(1); got[0] != "Water the plants" {
		t.Error(got)
	}
	r.close()
	if n := len(fast.Requests()); n != 0 {
		t.Error(n, "questions for a title")
	}
}
