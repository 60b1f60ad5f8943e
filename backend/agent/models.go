package agent

import (
	"strings"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/transcript"
)

// choose gives the model that answers a turn (§2 "The chat's model"): the message's own, else the chat's, else the
// role's. A chat's model that cannot answer is replaced by the default, with a note.
func (s *Service) choose(t *turn, role string) (choice llm.Choice, fellBack bool, err error) {
	if t.Model != "" {
		choice, err = s.Models.Choose(t.ctx, role, t.Model)
		return choice, false, err
	}
	choice, err = s.Models.Choose(t.ctx, role, t.chatModel)
	if err == nil || t.chatModel == "" || t.ctx.Err() != nil {
		return choice, false, err
	}
	choice, err = s.fallBack(t, role, err)
	return choice, true, err
}

// mayFallBack reports whether the default may answer after the model failed: once a reply, only for a chat's own model,
// and only while it has said nothing.
func (s *Service) mayFallBack(t *turn, fellBack bool) bool {
	return t.Model == "" && t.chatModel != "" && !fellBack && !t.reply.Begun() && t.ctx.Err() == nil
}

// fallBack gives the default model and says so. Where the default cannot answer either, why the chat's own could not is
// what the person should read.
func (s *Service) fallBack(t *turn, role string, why error) (llm.Choice, error) {
	choice, err := s.Models.Choose(t.ctx, role, "")
	if err != nil {
		s.Log.Info("default model cannot answer either", "error", err)
		return choice, why
	}
	if choice.Name == t.chatModel {
		return choice, why // the chat's model is the default: asking it again helps nobody
	}
	own, used := plainName(t.chatModel), plainName(choice.Name)
	s.notice(t, transcript.Notice{Code: "model_fallback", Model: t.chatModel, Used: choice.Name,
		Message: "This chat uses " + own + ", which can't answer right now, so " + used + " is answering instead. " + errs.From(why).Message})
	return choice, nil
}

// plainName is a model's name without its provider.
func plainName(model string) string {
	if _, name, ok := strings.Cut(model, "/"); ok {
		return name
	}
	return model
}
