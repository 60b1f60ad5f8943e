package model

import (
	"context"
	"crypto/sha256"
	"time"

	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/anthropic"
	"sentient/backend/llm/ollama"
	"sentient/backend/llm/openai"
	"sentient/backend/model/builtin"
)

// The refusals of Choose.
var (
	errNothing = errs.New(errs.Unavailable, llm.CodeUnreachable,
		"No model is set up yet. Start Ollama, add a provider's key, or download the built-in model in Settings > Models.")
	errNoBuiltin = errs.New(errs.Unavailable, llm.CodeModelUnknown,
		"There is no built-in model on this computer yet. Download it in Settings > Models, or pick another model there.")
	errLocalOnly = errs.New(errs.Unavailable, "local_only",
		"Local only is on, so no model outside this computer is used. Pick a local model in Settings > Models, or turn Local only off there.")
	errNoEmbedding = errs.New(errs.Unavailable, llm.CodeModelUnknown,
		"No model for memory search is set up. Pick one in Settings > Models.")
)

// Choose gives the model of a role ("primary", "fast", "planner", "executor", "vision", "voice"), or the one that override
// names ("provider/model", "" for the role's). A role without a model of its own uses the primary one. The Choice carries
// the role's settings. A model that is known not to be able to answer now is an *errs.Error with a sentence that says
// what to do; whether it will answer shows only when it is asked.
func (s *Service) Choose(ctx context.Context, role, override string) (llm.Choice, error) {
	c := s.o.Settings.Get()
	if role == "" {
		role = "primary"
	}
	name := override
	if name == "" {
		if role == "embedding" && c.Models.Roles.Model(role) == "" {
			return llm.Choice{}, errNoEmbedding
		}
		var err error
		if name, err = s.roleModel(ctx, role, c); err != nil {
			return llm.Choice{}, err
		}
	}
	p, id, err := split(name)
	if err != nil {
		return llm.Choice{}, err
	}
	base := address(p, c)
	here := runsHere(p, base, id)
	if c.Models.LocalOnly && !here {
		return llm.Choice{}, errLocalOnly
	}
	client, err := s.client(ctx, p, c)
	if err != nil {
		return llm.Choice{}, err
	}
	choice := llm.Choice{Model: client, Name: name, ID: id, Local: here}
	choice.Effort, choice.Temperature = effort(c, role), temperature(c, role)
	s.size(ctx, &choice, p, c, role)
	if p.speaks == speaksBuiltin {
		choice.Name = p.id + "/" + choice.ID
	}
	return choice, nil
}

// roleModel gives the name of a role's model. See the package comment for the one replacement it makes.
func (s *Service) roleModel(ctx context.Context, role string, c *config.Config) (string, error) {
	name := c.Models.Roles.Model(role)
	defaults := config.Defaults().Models
	if role == "embedding" || name != defaults.Roles.Model(role) {
		return name, nil
	}
	p, id, err := split(name)
	if err != nil || p.speaks != speaksOllama {
		return name, err
	}
	tags, err := s.ollamaTags(ctx, p)
	if err == nil && hasTag(tags, id) {
		return name, nil
	}
	if s.anyKey(ctx) {
		return name, nil // the client says what is wrong with Ollama; which other model is used is the person's choice
	}
	if s.o.Builtin != nil {
		if own, ok := s.o.Builtin.Present(); ok {
			return builtin.Provider + "/" + own, nil
		}
	}
	if err == nil {
		return name, nil // Ollama is there without the model, and says so best itself
	}
	return "", errNothing.Because(err)
}

// size fills in how much the model reads at once (§1 "Context meter").
func (s *Service) size(ctx context.Context, choice *llm.Choice, p provider, c *config.Config, role string) {
	switch {
	case p.speaks == speaksBuiltin:
		choice.ContextLength = s.o.Builtin.ContextLength()
		choice.ID, _ = s.o.Builtin.Present()
		if st := s.o.Builtin.Status(ctx); st.Model != nil {
			choice.Weak = st.Model.Weak
		}
	case p.speaks == speaksOllama:
		choice.ContextLength = contextLength(c, role)
		if most := s.ollamaMax(ctx, choice.Model.(*ollama.Client), choice.ID); most > 0 {
			choice.ContextLength = min(choice.ContextLength, most)
		}
		// Also on another computer of the house: the length is ours to send there.
		choice.Local = !ollamaCloud(choice.ID)
	case p.kind == cloud:
		choice.ContextLength = window(p.id, choice.ID)
	}
}

// contextLength is the person's setting for a role; one that has no own setting uses the general one.
func contextLength(c *config.Config, role string) int {
	if n := c.Models.ContextLengthPerRole[role]; n > 0 {
		return n
	}
	return c.Models.ContextLength
}

// effort is how much the role thinks. Only looking at pictures has no default of its own: it is the primary model's work.
func effort(c *config.Config, role string) llm.Effort {
	e, ok := c.Models.Reasoning[role]
	if !ok && role == "vision" {
		e = c.Models.Reasoning["primary"]
	}
	if e == "minimal" {
		e = "low" // the lightest that every provider knows
	}
	return llm.Effort(e)
}

func temperature(c *config.Config, role string) *float64 {
	if t, ok := c.Models.Temperature[role]; ok {
		return &t
	}
	return nil
}

// kept is a client that is used again while its address and key stay the same: clients remember what a provider refused
// and how it signed its calls.
type kept struct {
	made   [sha256.Size]byte
	client llm.Model
}

// client gives the client of a provider. The key that a cloud provider needs is missed here, before anything is sent.
func (s *Service) client(ctx context.Context, p provider, c *config.Config) (llm.Model, error) {
	if p.speaks == speaksBuiltin {
		if s.o.Builtin == nil {
			return nil, errNoBuiltin
		}
		if _, ok := s.o.Builtin.Present(); !ok {
			return nil, errNoBuiltin
		}
		return s.o.Builtin.Model(), nil
	}
	key, err := s.key(ctx, p, c)
	if err != nil {
		return nil, errs.From(err)
	}
	base, idle := address(p, c), time.Duration(c.Models.RequestTimeoutS)*time.Second
	if p.key && key == "" {
		return nil, llm.Service{ID: p.id, Label: p.label}.KeyMissing()
	}
	id := p.id
	if p.speaks == speaksOllama {
		id = "ollama" // one program under two names
	}
	made := sha256.Sum256([]byte(base + "\x00" + key + "\x00" + idle.String()))
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.clients[id]; ok && k.made == made {
		return k.client, nil
	}
	k := kept{made: made, client: s.connect(p, base, key, idle)}
	s.clients[id] = k
	return k.client, nil
}

func (s *Service) connect(p provider, base, key string, idle time.Duration) llm.Model {
	switch p.speaks {
	case speaksAnthropic:
		return anthropic.New(anthropic.Options{Provider: p.id, Label: p.label, BaseURL: base, APIKey: key, KeyRequired: p.key,
			Idle: idle, HTTP: s.o.HTTP, Log: s.o.Log, Clock: s.o.Clock})
	case speaksOllama:
		return ollama.New(ollama.Options{Label: p.label, BaseURL: base, Idle: idle, HTTP: s.o.HTTP, Log: s.o.Log, Clock: s.o.Clock})
	}
	return openai.New(openai.Options{Provider: p.id, Label: p.label, BaseURL: base, APIKey: key, KeyRequired: p.key,
		Local: p.kind == local, Idle: idle, HTTP: s.o.HTTP, Log: s.o.Log, Clock: s.o.Clock})
}

// Embedder gives the model of the embedding role, or the one that override names, with its name and id. Memory search
// without one goes by words.
func (s *Service) Embedder(ctx context.Context, override string) (llm.Embedder, llm.Choice, error) {
	choice, err := s.Choose(ctx, "embedding", override)
	if err != nil {
		return nil, choice, err
	}
	p, _, err := split(choice.Name)
	if err != nil {
		return nil, choice, err
	}
	e, ok := choice.Model.(llm.Embedder)
	if !ok || !p.embeds {
		return nil, choice, errs.Newf(errs.Invalid, llm.CodeModelRefused,
			"%s has no models for memory search. Pick another one in Settings > Models.", p.label)
	}
	return e, choice, nil
}
