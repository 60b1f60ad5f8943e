package model

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"

	"sentient/backend/errs"
	"sentient/backend/llm"
)

// CatalogInput names a provider (§3 `GET /api/models/catalog/{provider}`).
type CatalogInput struct {
	Provider string `json:"provider"`
}

// CatalogModel is a model that a provider has.
type CatalogModel struct {
	ID            string `json:"id" doc:"A whole name, such as openrouter/meta-llama/llama-4-maverick:free"`
	Label         string `json:"label"`
	Free          bool   `json:"free"`
	Tools         *bool  `json:"tools" doc:"null when the provider does not say"`
	ContextLength *int   `json:"context_length" doc:"tokens; null when the provider does not say"`
}

// keptList is a list that is used again for as long as the address and the key stay.
type keptList struct {
	made  [sha256.Size]byte
	until time.Time
	list  []CatalogModel
}

// catalogFor is how long a list counts (§3 "Cached for 10 minutes").
const catalogFor = 10 * time.Minute

// Catalog lists the models of a provider (§3; more providers than it names). OpenRouter's list is public, the other cloud
// providers' need the key: 502 with a sentence without one, as for a provider that does not answer. 404 for an unknown provider.
func (s *Service) Catalog(ctx context.Context, in *CatalogInput) ([]CatalogModel, error) {
	p, ok := providerOf(in.Provider)
	if !ok {
		return nil, errs.New(errs.NotFound, "provider_unknown", "There is no provider of that name.")
	}
	c := s.o.Settings.Get()
	key, err := s.key(ctx, p, c)
	if err != nil {
		return nil, errs.From(err)
	}
	base := address(p, c)
	made := sha256.Sum256([]byte(base + "\x00" + key))
	s.mu.Lock()
	k := s.catalogs[p.id]
	s.mu.Unlock()
	if p.kind == cloud && k.made == made && s.o.Clock.Now().Before(k.until) {
		return slices.Clone(k.list), nil
	}
	list, err := s.catalog(ctx, p, base, key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := *errs.From(err)
		e.Status = http.StatusBadGateway
		return nil, &e
	}
	if p.kind == cloud {
		s.mu.Lock()
		s.catalogs[p.id] = keptList{made: made, until: s.o.Clock.Now().Add(catalogFor), list: list}
		s.mu.Unlock()
	}
	return slices.Clone(list), nil
}

func (s *Service) catalog(ctx context.Context, p provider, base, key string) ([]CatalogModel, error) {
	out := []CatalogModel{}
	if p.key && key == "" && p.id != "openrouter" {
		return nil, llm.Service{ID: p.id, Label: p.label}.KeyMissing()
	}
	switch p.speaks {
	case speaksBuiltin:
		return s.builtinCatalog(ctx, p)
	case speaksOllama:
		client, err := s.ollama(ctx, p)
		if err != nil {
			return nil, err
		}
		tags, err := s.freshTags(ctx, client)
		if err != nil {
			return nil, err
		}
		for _, t := range tags {
			out = append(out, CatalogModel{ID: p.id + "/" + t.Name, Label: t.Name, Free: true})
		}
		return out, nil
	}
	models, err := s.list(ctx, p, catalogBase(p, base), key)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		out = append(out, m.catalog(p))
	}
	return out, nil
}

func (s *Service) builtinCatalog(ctx context.Context, p provider) ([]CatalogModel, error) {
	out := []CatalogModel{}
	if s.o.Builtin == nil {
		return out, nil
	}
	st := s.o.Builtin.Status(ctx)
	if st.Model == nil {
		return out, nil
	}
	length := st.ContextLength
	return append(out, CatalogModel{ID: p.id + "/" + st.Model.Name, Label: st.Model.Label, Free: true, ContextLength: &length}), nil
}

// catalogBase is where "/models" is found when the person set no address.
func catalogBase(p provider, base string) string {
	if base != "" {
		if p.speaks == speaksAnthropic && !strings.HasSuffix(strings.TrimRight(base, "/"), "/v1") {
			return strings.TrimRight(base, "/") + "/v1"
		}
		return base
	}
	return map[string]string{
		"anthropic":  "https://api.anthropic.com/v1",
		"openai":     "https://api.openai.com/v1",
		"gemini":     "https://generativelanguage.googleapis.com/v1beta/openai",
		"openrouter": "https://openrouter.ai/api/v1",
		"groq":       "https://api.groq.com/openai/v1",
		"mistral":    "https://api.mistral.ai/v1",
		"deepseek":   "https://api.deepseek.com/v1",
		"xai":        "https://api.x.ai/v1",
		"nous":       "https://inference-api.nousresearch.com/v1",
	}[p.id]
}

// catalog puts a listed model into the contract's shape.
func (m listed) catalog(p provider) CatalogModel {
	id := strings.TrimPrefix(m.ID, "models/") // Gemini
	out := CatalogModel{ID: p.id + "/" + id, Label: id, Free: p.kind == local}
	for _, label := range []string{m.DisplayName, m.Name} {
		if label != "" {
			out.Label = label
		}
	}
	if m.Pricing != nil && m.Pricing.Prompt != "" {
		out.Free = zero(m.Pricing.Prompt) && zero(m.Pricing.Completion)
	}
	for _, n := range []int{m.ContextLength, m.MaxModelLen, m.MaxContext, m.ContextWindow, window(p.id, id)} {
		if n > 0 {
			out.ContextLength = &n
			break
		}
	}
	if m.Supported != nil {
		tools := slices.Contains(m.Supported, "tools")
		out.Tools = &tools
	}
	return out
}

// zero knows a price of nothing, however it is written.
func zero(price string) bool { return strings.Trim(price, "0.") == "" }
