package model

import (
	"context"
	"regexp"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/llm/ollama"
	"sentient/backend/model/builtin"
)

// PullInput names a model to download (§3 `POST /api/models/ollama/pull`).
type PullInput struct {
	Name string `json:"name" doc:"A model of Ollama's library, such as qwen3:8b"`
}

// PullProgress is one line of a download. The last one of a download that worked has the status "success".
type PullProgress struct {
	Status    string `json:"status"`
	Completed int64  `json:"completed,omitempty" doc:"bytes"`
	Total     int64  `json:"total,omitempty" doc:"bytes"`
}

var pullName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}(:[A-Za-z0-9._-]{1,80})?$`)

// Pull downloads a model with Ollama (§3) and passes its lines on. It ends with ctx, and then Ollama keeps what it has
// and goes on from there the next time. A failure is an *errs.Error, not a line.
func (s *Service) Pull(ctx context.Context, in *PullInput, each func(PullProgress) error) error {
	name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(in.Name), "ollama_chat/"), "ollama/")
	if !pullName.MatchString(name) {
		return errs.New(errs.Invalid, "model_name", "Name a model of Ollama's library, such as qwen3:8b.")
	}
	p, _ := providerOf("ollama")
	client, err := s.ollama(ctx, p)
	if err != nil {
		return err
	}
	defer s.forgetTags()
	return client.Pull(ctx, name, func(p ollama.Progress) error {
		return each(PullProgress{Status: p.Status, Completed: p.Completed, Total: p.Total})
	})
}

// BuiltinInput is empty.
type BuiltinInput struct{}

// Builtin says how the built-in model stands.
func (s *Service) Builtin(ctx context.Context, _ *BuiltinInput) (*builtin.Status, error) {
	if s.o.Builtin == nil {
		return &builtin.Status{State: builtin.Missing, Message: "There is no built-in model for this computer."}, nil
	}
	st := s.o.Builtin.Status(ctx)
	return &st, nil
}

// BuiltinDownloadInput names a model of the offer.
type BuiltinDownloadInput struct {
	Name string `json:"name,omitempty" doc:"The offer's name; left out: the one that suits this computer"`
}

// BuiltinDownload brings the built-in model, on the person's word: only ever called for a button that says its size and
// licence. It ends with ctx and goes on from there the next time.
func (s *Service) BuiltinDownload(ctx context.Context, in *BuiltinDownloadInput, each func(PullProgress) error) error {
	if s.o.Builtin == nil {
		return errNoBuiltin
	}
	return s.o.Builtin.Download(ctx, in.Name, func(p builtin.Progress) error { return each(PullProgress(p)) })
}
