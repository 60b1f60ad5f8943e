package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sentient/backend/approval"
	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// SubagentSettings are the limits of helpers (§10).
type SubagentSettings struct {
	Enabled       bool
	MaxConcurrent int
	MaxRounds     int
	Role          string
	Timeout       time.Duration
	MaxTokens     int // on cloud models; 0: no limit
}

// helper is a helper at work.
type helper struct {
	about  Subagent
	record *helperFace
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

// helperFace keeps a helper's steps and shows them as progress of the call that started it.
type helperFace struct {
	clock clock.Clock
	told  func(tool.Progress)
	id    string

	mu       sync.Mutex
	text     strings.Builder
	thinking strings.Builder
	events   []ProgressUpdate
	calls    int
	files    []string
}

func (f *helperFace) Add(thinking, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thinking.WriteString(thinking)
	f.text.WriteString(text)
	return true
}

func (f *helperFace) Correct(thinking, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Reset()
	f.text.WriteString(text)
	f.thinking.Reset()
	f.thinking.WriteString(thinking)
}

func (f *helperFace) Text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

// Fold keeps what was said beside calls as a thought.
func (f *helperFace) Fold(context.Context, []transcript.Call, *transcript.Usage) error {
	f.mu.Lock()
	text := f.text.String()
	f.text.Reset()
	f.thinking.Reset()
	f.mu.Unlock()
	if strings.TrimSpace(text) != "" {
		f.step(ProgressMessage{Type: "thought", Content: text})
	}
	return nil
}

func (f *helperFace) Call(_ context.Context, calls ...transcript.Call) error {
	for _, c := range calls {
		f.mu.Lock()
		f.calls++
		f.mu.Unlock()
		f.step(ProgressMessage{Type: "tool_call", ToolName: c.Name, Parameters: c.Arguments})
		f.say("Using " + c.Name)
	}
	return nil
}

func (f *helperFace) Progress(transcript.Call, tool.Progress) {}

func (f *helperFace) Result(_ context.Context, c transcript.CallResult) error {
	f.step(ProgressMessage{Type: "tool_result", ToolName: c.Name, Result: c.Content, IsError: c.IsError})
	return nil
}

// step keeps a step, the newest ones when there are many.
func (f *helperFace) step(m ProgressMessage) {
	m.Content, m.Result = firstRunes(m.Content, helperText), firstRunes(m.Result, helperText)
	if len(m.Parameters) > helperText {
		m.Parameters = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, ProgressUpdate{Timestamp: clock.Stamp(f.clock.Now()), Message: m})
	if len(f.events) > helperEvents {
		f.events = slices.Delete(f.events, 1, 2) // the first says what it is for
	}
}

// say shows a helper's step at the call that started it.
func (f *helperFace) say(message string) {
	f.told(tool.Progress{Kind: "subagent", Text: message, Data: map[string]any{"subagent_id": f.id, "message": message}})
}

func (f *helperFace) eventsNow() []ProgressUpdate {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// beginHelper makes a helper and keeps it. ctx is what it works under; its end must be told with endHelper.
func (s *Service) beginHelper(ctx context.Context, c *tool.Context, a Subagent) (*helper, context.Context, error) {
	a.SubagentID, a.SessionID, a.ParentCallID = transcript.NewID(), c.SessionID, c.CallID
	a.Status, a.StartedAt = "running", clock.Stamp(s.Clock.Now())
	h := &helper{about: a, ended: make(chan struct{}), record: &helperFace{clock: s.Clock, told: c.Tell, id: a.SubagentID}}
	ctx, h.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	closing := s.closing
	if !closing {
		s.helpers[a.SubagentID] = h
	}
	s.mu.Unlock()
	if closing {
		return nil, ctx, tool.ErrClosing
	}
	if err := s.keepHelper(ctx, a); err != nil {
		s.forgetHelper(h)
		return nil, ctx, err
	}
	return h, ctx, nil
}

func (s *Service) forgetHelper(h *helper) {
	s.mu.Lock()
	delete(s.helpers, h.about.SubagentID)
	s.mu.Unlock()
	h.cancel(nil)
	close(h.ended)
}

// endHelper keeps how a helper ended: with its summary, or with why it has none.
func (s *Service) endHelper(ctx context.Context, h *helper, summary string, err error) Subagent {
	a := h.about
	now := clock.Stamp(s.Clock.Now())
	a.FinishedAt, a.Events = &now, h.record.eventsNow()
	a.ToolCalls = h.record.calls
	switch {
	case err == nil:
		a.Status, a.Summary = "completed", &summary
	case context.Cause(ctx) != nil && context.Cause(ctx) != errHelperTime:
		a.Status = "cancelled"
	default:
		why := errs.From(err).Message
		a.Status, a.Error = "error", &why
	}
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveWithin)
	defer cancel()
	if err := s.keepHelper(write, a); err != nil {
		s.Log.Error("helper's end not kept", "helper", a.SubagentID, "error", err)
	}
	s.forgetHelper(h)
	return a
}

var errHelperTime = errs.New(errs.Timeout, "subagent_timeout", "The helper ran out of time.")

// helperWork is a helper's whole work: its rounds, within its limits.
func (s *Service) helperWork(ctx context.Context, h *helper, c *tool.Context, task helperTask) (string, error) {
	set := s.Settings()
	limits := set.Subagents
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := s.Clock.NewTimer(limits.Timeout)
	defer timer.Stop()
	s.Tree.Go("helper's clock", func(context.Context) {
		select {
		case <-timer.C():
			stop(errHelperTime)
		case <-ctx.Done():
		}
	})
	model := ""
	if limits.Role == "primary" {
		model, _, _, _ = s.Chats.About(ctx, c.SessionID) // without the chat, the default
	}
	choice, err := s.Models.Choose(ctx, limits.Role, model)
	if err != nil {
		return "", err
	}
	instructions, err := fill(s.prompts.attachments.Lookup("helper.md"), map[string]any{
		"Assistant": cmp.Or(set.AssistantName, "Sentient"), "User": userName(set, c), "Zone": s.zoneName(set)})
	if err != nil {
		return "", err
	}
	parent := approval.RunOf(ctx)
	if parent == nil {
		return "", errNoChat
	}
	ask := task.Goal
	if task.Context != "" {
		ask += "\n\n" + task.Context
	}
	l := &loop{Service: s, ctx: ctx, call: *c, face: h.record, rounds: max(1, limits.MaxRounds), strict: true, gate: parent.Child(approval.Helper(PluginID), *c), ears: deaf{},
		notice: func(transcript.Notice) {}, messages: []llm.Message{{Role: llm.System, Text: instructions}, {Role: llm.User, Text: s.dated(ask, s.Clock.Now(), set)}}}
	l.spent = helperBudget(choice, limits)
	l.use(choice, set, Need{Text: ask, Named: task.Tools, Exclude: func(p *tool.Plugin, _ *tool.Tool) bool { return p.ID == PluginID }})
	h.record.step(ProgressMessage{Type: "info", Content: task.Goal})
	_, err = l.work()
	if cause := context.Cause(ctx); cause == errHelperTime {
		err = errs.Newf(errs.Timeout, "subagent_timeout", "Stopped after %d minutes without finishing.", int(limits.Timeout.Minutes()))
	}
	if err != nil {
		h.record.step(ProgressMessage{Type: "error", Content: errs.From(err).Message, IsError: true})
		return "", err
	}
	h.record.files = l.Written
	answer := h.record.Text()
	h.record.step(ProgressMessage{Type: "final_answer", Content: answer})
	return answer, nil
}

func userName(set Settings, c *tool.Context) string {
	if !c.Memory {
		return ""
	}
	return set.UserName
}

// helperBudget ends a helper that has used its tokens. Models on this computer cost nothing.
func helperBudget(choice llm.Choice, limits SubagentSettings) func(llm.Usage) error {
	used := 0
	return func(u llm.Usage) error {
		used += u.Prompt + u.Completion
		if choice.Local || limits.MaxTokens == 0 || used < limits.MaxTokens {
			return nil
		}
		return errs.Newf(errs.Limited, "subagent_tokens", "Stopped after using %s tokens without finishing. The limits for helpers are in Settings > Advanced.", thousands(used))
	}
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
