package builtin

import (
	"context"
	"strings"
	"time"

	"sentient/backend/errs"
	"sentient/backend/llm"
)

// A weak model wanders: without a limit it writes until its context is full, and at the server's temperature it guesses.
const (
	weakTokens      = 1024
	weakTemperature = 0.3
)

// dyingGrace is how long the end of a process may come after the end of its connections.
const dyingGrace = 2 * time.Second

// Model gives the built-in model. The first question starts its server; what the question waits for comes as a Note.
func (s *Service) Model() llm.Model { return model{s} }

type model struct{ s *Service }

// Stream answers as llm.Model says. req.Model is not read: there is one model. Tools are left out for a model that cannot
// use them.
func (m model) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	sv, giveBack, err := m.s.acquire(ctx, func() error {
		return each(llm.Delta{Note: "The built-in model is starting."})
	})
	if err != nil {
		return llm.Reply{}, err
	}
	defer giveBack()

	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(sv.life, func() { cancel(context.Cause(sv.life)) })()

	var refused error // what each gave back: its own error must come out as it is
	out := &opening{each: each, trim: sv.model.Template != ""}
	reply, err := sv.ask.Stream(inner, fit(req, sv.model), func(d llm.Delta) error {
		refused = out.pass(d)
		return refused
	})
	if out.trim {
		reply.Text = strings.TrimLeft(reply.Text, " \n")
	}
	if err == nil {
		m.s.answered()
		return reply, nil
	}
	if refused != nil || ctx.Err() != nil {
		return reply, err
	}
	return reply, m.s.explain(sv, err)
}

// fit makes a request one that this model can answer.
func fit(req llm.Request, f *found) llm.Request {
	req.Model = f.Name
	// A small model on a processor takes minutes to think, and what it thinks helps little.
	req.Effort = llm.EffortNone
	if !f.Tools {
		req.Tools = nil
	}
	if len(req.Stop) > 0 {
		// A request's own stops replace the server's.
		req.Stop = append(append([]string{}, req.Stop...), f.Stops...)
	}
	if f.Weak {
		if req.MaxTokens == 0 {
			req.MaxTokens = weakTokens
		}
		if req.Temperature == nil {
			t := weakTemperature
			req.Temperature = &t
		}
	}
	return req
}

// opening passes an answer on without the blank that a base model writes after "Assistant:".
type opening struct {
	each  func(llm.Delta) error
	trim  bool
	begun bool
}

func (o *opening) pass(d llm.Delta) error {
	if o.trim && !o.begun && d.Text != "" {
		d.Text = strings.TrimLeft(d.Text, " \n")
		if d.Text == "" && d.Thinking == "" && d.Note == "" {
			return nil
		}
		o.begun = d.Text != ""
	}
	return o.each(d)
}

// answered notes that the server works: the next death is the first one again.
func (s *Service) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = 0
	s.notBefore = time.Time{}
}

// explain turns the error of a broken connection into the reason, when the reason is that the server went away.
func (s *Service) explain(sv *server, err error) error {
	switch errs.Code(err) {
	case llm.CodeUnreachable, llm.CodeBroken, "":
	default:
		if sv.life.Err() == nil {
			return err
		}
	}
	timer := s.o.Clock.NewTimer(dyingGrace)
	defer timer.Stop()
	select {
	case <-sv.life.Done():
	case <-timer.C():
		return err
	}
	if why := context.Cause(sv.life); why == errExited {
		return errDied.Because(err)
	}
	return errStopping.Because(err)
}
