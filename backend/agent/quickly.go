package agent

import (
	"context"
	"time"

	"sentient/backend/llm"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// quickly is one question to a small model that has no tools.
type quickly struct {
	what    string // for the log
	within  time.Duration
	model   string // what answers where the fast model does not; "": the default
	request func(c llm.Choice) llm.Request
}

// askQuickly asks the fast model, then the primary one, until an answer is taken.
func (s *Service) askQuickly(ctx context.Context, q quickly, take func(text string) error) (err error) {
	for _, try := range []struct{ role, model string }{{"fast", ""}, {"primary", q.model}} {
		var choice llm.Choice
		if choice, err = s.Models.Choose(ctx, try.role, try.model); err != nil {
			continue
		}
		var reply llm.Reply
		reply, err = svc.Guarded(ctx, s.guard(), q.what, q.within, func(ctx context.Context) (llm.Reply, error) {
			return choice.Model.Stream(ctx, q.request(choice), func(llm.Delta) error { return ctx.Err() })
		})
		if err = tool.Fault(err, q.within); err != nil {
			continue
		}
		if err = take(reply.Text); err == nil {
			return nil
		}
	}
	return err
}

// checkWithin is over the time that any check of the gate gives a model.
const checkWithin = time.Minute

// AskQuickly asks a small model for a check that the gate makes; where it does not answer, the chat's own.
func (s *Service) AskQuickly(ctx context.Context, session, prompt string) (answer string, err error) {
	model, _, _, _ := s.Chats.About(ctx, session) // without the chat, the default
	q := quickly{what: "check", within: checkWithin, model: model, request: func(c llm.Choice) llm.Request {
		return c.Request([]llm.Message{{Role: llm.User, Text: prompt}})
	}}
	err = s.askQuickly(ctx, q, func(text string) error { answer = text; return nil })
	return answer, err
}
