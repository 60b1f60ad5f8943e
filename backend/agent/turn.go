package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/transcript"
)

// run answers a turn and ends it. It is the turn's one goroutine.
func (s *Service) run(ctx context.Context, t *turn) {
	defer context.AfterFunc(ctx, func() { t.cancel(errClosing) })()
	end := s.answer(t)
	s.end(t, end)
	s.launch(s.next(t))
	if end.Failure == nil && t.reply.Begun() {
		s.nameChat(t)
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
	usage, err := s.round(t)
	switch {
	case err == nil:
		return transcript.Ending{Usage: usage}
	case context.Cause(t.ctx) != nil:
		return transcript.Ending{Usage: usage, Cancelled: true}
	}
	return transcript.Ending{Usage: usage, Failure: errs.From(err)}
}

// round is one round of a turn: build the prompt, call the model, stream. A round that asks for tools will run them and
// be followed by another; its message is then written here, and the last one with the turn's end.
func (s *Service) round(t *turn) (*transcript.Usage, error) {
	if err := s.awaitEnding(t.ctx, t.lane); err != nil {
		return nil, err
	}
	if t.Queued {
		if err := s.Transcript.Start(t.ctx, t.Ref); err != nil {
			return nil, err
		}
	}
	messages, pictures, err := s.compose(t)
	if err != nil {
		return nil, err
	}
	role := "primary"
	if pictures {
		role = "vision"
	}
	choice, fellBack, err := s.choose(t, role)
	if err != nil {
		return nil, err
	}
	asked := fit(messages, choice.ContextLength)
	reply, err := s.stream(t, choice, asked)
	if err != nil && s.mayFallBack(t, fellBack) {
		if choice, err = s.fallBack(t, role, err); err != nil {
			return nil, err
		}
		asked = fit(messages, choice.ContextLength)
		reply, err = s.stream(t, choice, asked)
	}
	usage := meter(choice, asked, reply)
	if err != nil {
		if reply.Usage == (llm.Usage{}) {
			usage = nil // the call may never have been made
		}
		return usage, err
	}
	return usage, s.complete(t, reply)
}

// complete settles what the turn keeps of a reply that ended well: what was shown, and what a service that does not
// stream gave only at the end.
func (s *Service) complete(t *turn, reply llm.Reply) error {
	shown := t.reply.Text()
	if t.thought && strings.TrimSpace(reply.Text) != "" {
		t.reply.Correct(reply.Thinking, reply.Text)
		shown = reply.Text
	}
	if rest, ok := strings.CutPrefix(reply.Text, shown); ok && rest != "" {
		t.reply.Add("", rest)
		shown = reply.Text
	}
	if strings.TrimSpace(shown) == "" {
		if reply.Finish == llm.FinishFilter {
			return errs.New(errs.Unavailable, llm.CodeModelRefused, "The model's service held its answer back. Ask in other words, or pick another model in Settings > Models.")
		}
		return errs.New(errs.Unavailable, llm.CodeBroken, "The model gave no answer. Try again, or pick another model in Settings > Models.")
	}
	if reply.Finish == llm.FinishLength {
		s.notice(t, transcript.Notice{Code: "reply_cut", Message: "The model reached its length limit before the answer was complete. Ask it to go on."})
	}
	return nil
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

// stream asks the model and passes on what it says. A turn that is stopped does not wait for a model that goes on.
func (s *Service) stream(t *turn, choice llm.Choice, messages []llm.Message) (llm.Reply, error) {
	type answer struct {
		reply llm.Reply
		err   error
	}
	got := make(chan answer, 1)
	started := s.Tree.Go("model call", func(context.Context) {
		a := answer{err: errors.New("model call ended without an answer")}
		defer func() {
			if p := recover(); p != nil {
				s.Log.Error("model panicked", "model", choice.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				a.err = fmt.Errorf("model panicked: %v", p)
			}
			got <- a
		}()
		a.reply, a.err = choice.Model.Stream(t.ctx, choice.Request(messages), func(d llm.Delta) error { return s.pass(t, d) })
	})
	if !started {
		return llm.Reply{}, errEngineClosing()
	}
	select {
	case a := <-got:
		return a.reply, a.err
	case <-t.ctx.Done():
	}
	patience := s.Clock.NewTimer(abandonAfter)
	defer patience.Stop()
	select {
	case a := <-got:
		return a.reply, a.err
	case <-patience.C():
		s.Log.Warn("model did not stop", "model", choice.Name)
		return llm.Reply{}, context.Cause(t.ctx)
	}
}

// pass passes on one piece of what the model says.
func (s *Service) pass(t *turn, d llm.Delta) error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	if d.Note != "" {
		s.notice(t, transcript.Notice{Code: "model_waiting", Message: d.Note})
	}
	t.thought = t.thought || d.Thought
	if (d.Text != "" || d.Thinking != "") && !t.reply.Add(d.Thinking, d.Text) {
		return context.Canceled
	}
	return nil
}
