package model

import (
	"context"
	"slices"
	"strings"
	"time"

	"sentient/backend/llm/ollama"
)

// keptTags is the last answer to "what have you got?", so that a chat does not ask before each reply.
type keptTags struct {
	client *ollama.Client
	until  time.Time
	list   []ollama.Tag
	err    error
}

// tagsFor is how long that answer counts: short, so that a person who has just started Ollama is not told otherwise.
const tagsFor = 5 * time.Second

// ollama gives the client of Ollama (p is one of its two names), which needs no key.
func (s *Service) ollama(ctx context.Context, p provider) (*ollama.Client, error) {
	client, err := s.client(ctx, p, s.o.Settings.Get())
	if err != nil {
		return nil, err
	}
	return client.(*ollama.Client), nil
}

// ollamaTags lists what Ollama has downloaded, as it said a moment ago.
func (s *Service) ollamaTags(ctx context.Context, p provider) ([]ollama.Tag, error) {
	client, err := s.ollama(ctx, p)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	k := s.tags
	s.mu.Unlock()
	if k.client == client && s.o.Clock.Now().Before(k.until) {
		return k.list, k.err
	}
	return s.freshTags(ctx, client)
}

func (s *Service) freshTags(ctx context.Context, client *ollama.Client) ([]ollama.Tag, error) {
	inner, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	list, err := client.Tags(inner)
	if ctx.Err() == nil {
		s.mu.Lock()
		s.tags = keptTags{client: client, until: s.o.Clock.Now().Add(tagsFor), list: list, err: err}
		s.mu.Unlock()
	}
	return list, err
}

// forgetTags: something was downloaded.
func (s *Service) forgetTags() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tags = keptTags{}
}

// hasTag knows that a name without a tag means ":latest".
func hasTag(list []ollama.Tag, model string) bool {
	if !strings.Contains(model, ":") {
		model += ":latest"
	}
	return slices.ContainsFunc(list, func(t ollama.Tag) bool { return t.Name == model })
}

// shownKey names a model at one address.
type shownKey struct {
	client *ollama.Client
	model  string
}

// ollamaShow asks Ollama about a model. The answer is kept: it does not change while the model has its name.
func (s *Service) ollamaShow(ctx context.Context, client *ollama.Client, model string) (ollama.Details, error) {
	key := shownKey{client, model}
	s.mu.Lock()
	known, ok := s.shown[key]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	inner, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	details, err := client.Show(inner, model)
	if err == nil {
		s.mu.Lock()
		s.shown[key] = details
		s.mu.Unlock()
	}
	return details, err
}

// ollamaMax is the longest context of a model, 0 when Ollama does not say or is not there.
func (s *Service) ollamaMax(ctx context.Context, client *ollama.Client, model string) int {
	s.mu.Lock()
	absent := s.tags.client == client && s.tags.err != nil && s.o.Clock.Now().Before(s.tags.until)
	s.mu.Unlock()
	if absent { // it was not there a moment ago: that need not be found out again
		return 0
	}
	details, err := s.ollamaShow(ctx, client, model)
	if err != nil {
		s.o.Log.DebugContext(ctx, "context length not known", "model", model, "error", err)
	}
	return details.ContextLength
}
