package model

import (
	"context"
	"slices"
	"strings"

	"sentient/backend/svc"
)

// LocalInput is empty.
type LocalInput struct{}

// Local is what local programs have (§3 `GET /api/models/local`).
type Local struct {
	Ollama   LocalProgram `json:"ollama"`
	LMStudio LocalProgram `json:"lm_studio"`
}

// LocalProgram is one of them.
type LocalProgram struct {
	Reachable bool         `json:"reachable"`
	Models    []LocalModel `json:"models"`
}

// LocalModel is a model that is downloaded. What a program does not say is empty.
type LocalModel struct {
	Name          string   `json:"name"`
	Size          int64    `json:"size" doc:"bytes; 0 when not known"`
	Family        string   `json:"family"`
	ParameterSize string   `json:"parameter_size"`
	IsEmbedding   bool     `json:"is_embedding"`
	Capabilities  []string `json:"capabilities" doc:"From Ollama: completion, tools, thinking, vision, embedding. A hint"`
}

// Local lists what Ollama and LM Studio have (§3). One that does not answer within three seconds is not reachable; that is
// no error.
func (s *Service) Local(ctx context.Context, _ *LocalInput) (*Local, error) {
	var out Local
	err := svc.Run(ctx,
		func(context.Context) error { out.Ollama = s.localOllama(ctx); return nil },
		func(context.Context) error { out.LMStudio = s.localLMStudio(ctx); return nil })
	if err == nil {
		err = ctx.Err()
	}
	return &out, err
}

func (s *Service) localOllama(ctx context.Context) LocalProgram {
	program := LocalProgram{Models: []LocalModel{}}
	p, _ := providerOf("ollama")
	client, err := s.ollama(ctx, p)
	if err != nil {
		return program
	}
	tags, err := s.freshTags(ctx, client)
	if err != nil {
		return program
	}
	program.Reachable = true
	for _, t := range tags {
		m := LocalModel{Name: t.Name, Size: t.Size, Family: t.Family, ParameterSize: t.ParameterSize, Capabilities: t.Capabilities}
		if m.Capabilities == nil { // older versions say it only here
			if details, err := s.ollamaShow(ctx, client, t.Name); err == nil {
				m.Capabilities = details.Capabilities
			}
		}
		if m.Capabilities == nil {
			m.Capabilities = []string{}
		}
		m.IsEmbedding = slices.Contains(m.Capabilities, "embedding") ||
			!slices.Contains(m.Capabilities, "completion") && embeds(m.Name, m.Family)
		program.Models = append(program.Models, m)
	}
	return program
}

func (s *Service) localLMStudio(ctx context.Context) LocalProgram {
	p, _ := providerOf("lm_studio")
	c := s.o.Settings.Get()
	program := LocalProgram{Models: []LocalModel{}}
	key, _ := s.key(ctx, p, c) // usually none
	ids, err := s.list(ctx, p, address(p, c), key)
	if err != nil {
		return program
	}
	program.Reachable = true
	for _, m := range ids {
		program.Models = append(program.Models, LocalModel{Name: m.ID, IsEmbedding: embeds(m.ID, ""), Capabilities: []string{}})
	}
	return program
}

// embeds guesses from a name whether a model only makes vectors, for programs that do not say.
func embeds(name, family string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "embed") || strings.Contains(name, "bge-") || strings.Contains(name, "minilm") ||
		strings.Contains(family, "bert")
}
