package agent

import (
	"context"
	"fmt"
	"runtime/debug"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// run answers a turn and ends it. It is the turn's one goroutine.
func (s *Service) run(ctx context.Context, t *turn) {
	defer context.AfterFunc(ctx, func() { t.cancel(errClosing) })()
	end := s.answer(t)
	s.end(t, end)
	s.leftOver(t)
	s.launch(s.next(t))
	s.completed(t, end)
	if end.Failure == nil && t.reply.Begun() {
		s.nameChat(t)
		s.compress(t)
	}
}

// end ends a turn. Every turn that was opened comes here once. It never panics, so that what waits behind the turn is
// always let in.
func (s *Service) end(t *turn, end transcript.Ending) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("end of turn panicked", "turn", t.TurnID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			s.markUnended(t.SessionID)
		}
		t.cancel(nil)
	}()
	s.mu.Lock()
	t.deaf = true // whoever hears the end and then says something begins a turn
	s.mu.Unlock()
	if f := end.Failure; f != nil && !end.Dropped {
		s.Log.Warn("turn failed", "session", t.SessionID, "turn", t.TurnID, "code", f.Code, "error", f)
	}
	if err := t.reply.End(t.ctx, end); err != nil {
		s.Log.Error("end of turn not written", "session", t.SessionID, "turn", t.TurnID, "error", err)
		s.markUnended(t.SessionID)
	}
}

// answer does a turn's work and says how it ends. It never panics.
func (s *Service) answer(t *turn) (end transcript.Ending) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("turn panicked", "turn", t.TurnID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			end = transcript.Ending{Failure: errs.From(fmt.Errorf("turn panicked: %v", p))}
		}
	}()
	usage, err := s.rounds(t)
	end.Usage = usage
	switch {
	case err == nil:
	case context.Cause(t.ctx) != nil:
		end.Cancelled = true
	default:
		end.Failure = errs.From(err)
		return end
	}
	end.Memories, end.Sources, end.Checks = t.run.Memories, t.run.Sources, settleChecks(t.run.Checks, t.reply.Text())
	return end
}

// rounds does the work of a turn: build the prompt, choose the model and the tools, and let them work until there is an
// answer.
func (s *Service) rounds(t *turn) (*transcript.Usage, error) {
	if err := s.awaitEnding(t.ctx, t.lane); err != nil {
		return nil, err
	}
	if t.Queued {
		if err := s.Transcript.Start(t.ctx, t.Ref); err != nil {
			return nil, err
		}
	}
	p, err := s.compose(t)
	if err != nil {
		return nil, err
	}
	role := "primary"
	if p.pictures {
		role = "vision"
	}
	choice, fellBack, err := s.choose(t, role)
	if err != nil {
		return nil, err
	}
	set := s.Settings()
	call := tool.Context{SessionID: t.SessionID, TurnID: t.TurnID, Channel: t.channel, Origin: "user", Incognito: t.incognito, Memory: t.mayRemember(set)}
	gate, err := s.enterGate(t, call)
	if err != nil {
		return nil, err
	}
	l := &loop{Service: s, ctx: t.ctx, face: t.reply, messages: p.messages, rounds: maxRounds, gate: gate, ears: turnEars{s, t}, nudges: true, call: call}
	l.notice = func(n transcript.Notice) { s.notice(t, n) }
	l.again = func(why error) bool {
		if !s.mayFallBack(t, fellBack) {
			return false
		}
		other, err := s.fallBack(t, role, why)
		if err != nil {
			return false
		}
		l.use(other, set, p.need)
		return true
	}
	l.run.Memories = addMemories(nil, p.memories, "")
	l.use(choice, set, p.need)
	defer func() { t.run = l.run }()
	return l.work()
}

// use lets a model answer: its tools are chosen, and how much of a result it reads.
func (l *loop) use(choice llm.Choice, set Settings, need Need) {
	l.choice, l.resultMx = choice, resultLimit(choice, set)
	l.tools = nil
	if choice.Weak {
		return // it answers short questions and nothing else
	}
	need.All, need.Max = set.AllTools, set.MaxToolsCloud
	if choice.Local {
		need.Max = set.MaxToolsLocal
	}
	exclude := need.Exclude
	need.Exclude = func(p *tool.Plugin, t *tool.Tool) bool {
		return exclude != nil && exclude(p, t) || l.Gate.Hidden(t, p)
	}
	l.tools = l.Tools.Select(need)
}

// resultLimit is how many characters of a result a model reads (§10).
func resultLimit(choice llm.Choice, set Settings) int {
	n := set.ResultMaxChars
	if n <= 0 {
		n = 16000
	}
	if choice.ContextLength > 0 && set.ResultShare > 0 {
		n = min(n, int(set.ResultShare*float64(choice.ContextLength)*3))
	}
	return max(n, 1500)
}

// notice tells a note about the reply; only the first one is told (§1). A note that cannot be kept is not worth a turn.
func (s *Service) notice(t *turn, n transcript.Notice) {
	if t.noticed {
		return
	}
	t.noticed = true
	if err := s.Transcript.Notice(t.ctx, t.Ref, n); err != nil && t.ctx.Err() == nil {
		s.Log.Warn("notice not kept", "turn", t.TurnID, "error", err)
	}
}

// Completed is what a turn was, for the parts that learn from turns (§10 "Hooks").
type Completed struct {
	SessionID, TurnID     string
	ToolCalls, ToolErrors int
	SkillsViewed          []string
	UserText, Reply       string
}

// completed tells who learns from turns. Nothing is learned from incognito chats, nor from a turn that failed.
func (s *Service) completed(t *turn, end transcript.Ending) {
	if s.OnCompleted == nil || t.incognito || end.Failure != nil || end.Dropped {
		return
	}
	c := Completed{SessionID: t.SessionID, TurnID: t.TurnID, ToolCalls: t.run.Calls, ToolErrors: t.run.Errors, SkillsViewed: []string{}, UserText: t.Text, Reply: t.reply.Text()}
	s.Tree.Go("turn completed", func(ctx context.Context) { s.OnCompleted(ctx, c) })
}
