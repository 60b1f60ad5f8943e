package agent_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/tool"
)

// holding lists the files of a folder that hold a text.
func holding(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// No byte of an incognito chat is left once it is gone: of what was said, thought, looked up, attached, saved or found out
// by a helper, in whatever file. Other chats stay.
func TestNothingIsLeftOfAnIncognitoChat(t *testing.T) {
	t.Parallel()
	const canary = "canary7f3a9c2e"
	m := scripted.By(func(req llm.Request) scripted.Step {
		if !strings.Contains(whole(req), canary) {
			return scripted.Say("An ordinary reply.")
		}
		step := scripted.Step{Pieces: []scripted.Piece{{Thinking: "thought " + canary}, {Text: "said " + canary}}}
		if len(req.Messages) == 2 && !forHelper(req) && len(req.Tools) > 0 {
			step.Calls = []llm.ToolCall{scripted.ToolCall("look", map[string]string{"text": canary}), scripted.ToolCall("delegate_task", map[string]string{"goal": canary})}
		}
		return step
	})
	r := withHelpers(t, m, gives("look", strings.Repeat("long "+canary+" ", 500)))
	r.models.byRole["vision"] = m
	r.settings.ResultMaxChars, r.settings.AutoTitle = 1500, true
	kept := r.send(agent.SendInput{Text: "An ordinary chat"})
	r.done(kept.TurnID)
	r.settle(kept.SessionID)
	files := []string{r.upload(canary+".png", "screen", canary), r.upload("x.txt", "selection", canary)}
	out := r.send(agent.SendInput{Text: "asked " + canary, Attachments: files, Incognito: true})
	r.done(out.TurnID)
	r.done(r.send(agent.SendInput{Text: "and again " + canary, SessionID: out.SessionID}).TurnID)
	if err := r.log.Summarize(t.Context(), out.TurnID, "summary "+canary); err != nil {
		t.Fatal(err)
	}
	if n := len(holding(t, r.dir, canary)); n < 4 {
		t.Fatal("the test keeps too little:", n)
	}
	if found, err := r.chats.Search(t.Context(), &session.SearchInput{Q: canary}); err != nil || len(found) != 0 {
		t.Error("found:", found, err)
	}
	if _, err := r.chats.Delete(t.Context(), &session.DeleteInput{ID: out.SessionID}); err != nil {
		t.Fatal(err)
	}
	if left := holding(t, r.dir, canary); len(left) != 0 {
		t.Error("left in", left)
	}
	if got := r.said(kept.SessionID); got != "user: An ordinary chat\nassistant: An ordinary reply.\n" {
		t.Error(got)
	}
}

// An incognito chat's turn is not learned from; an ordinary one's is, once, with what it was.
func TestCompletedTurns(t *testing.T) {
	t.Parallel()
	heard := make(chan agent.Completed, 4)
	m := scripted.By(func(req llm.Request) scripted.Step {
		if len(req.Messages) == 2 {
			return scripted.Step{Calls: []llm.ToolCall{scripted.ToolCall("look", nil), scripted.ToolCall("broken", nil)}}
		}
		return scripted.Say("Done.")
	})
	r := newRig(t, m)
	r.tools.add(gives("look", "x"), does("broken", func(context.Context, *tool.Context, args) (any, error) { panic("bug") }))
	r.OnCompleted = func(_ context.Context, c agent.Completed) { heard <- c }
	r.done(r.send(agent.SendInput{Text: "Secret", Incognito: true}).TurnID)
	out := r.send(agent.SendInput{Text: "Q"})
	r.done(out.TurnID)
	c := <-heard
	if c.TurnID != out.TurnID || c.ToolCalls != 2 || c.ToolErrors != 1 || c.UserText != "Q" || c.Reply != "Done." || c.SkillsViewed == nil {
		t.Errorf("%+v", c)
	}
	r.close()
	if len(heard) != 0 {
		t.Error("heard of more", <-heard)
	}
}
