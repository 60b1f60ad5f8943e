package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"sentient/backend/llm"
)

// Sizes of what a service may answer: OpenRouter's list has about 1 MB.
const (
	maxAnswer = 16 << 20
	maxError  = 64 << 10
)

// listed is a model in an OpenAI-compatible list; providers add what they like.
type listed struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	DisplayName   string   `json:"display_name"`
	ContextLength int      `json:"context_length"`
	MaxModelLen   int      `json:"max_model_len"`      // vLLM
	MaxContext    int      `json:"max_context_length"` // Mistral
	ContextWindow int      `json:"context_window"`     // Groq
	Supported     []string `json:"supported_parameters"`
	Pricing       *struct {
		Prompt     string `json:"prompt"`
		Completion string `json:"completion"`
	} `json:"pricing"`
}

// list asks a provider for its models (GET /models, which all but Ollama have).
func (s *Service) list(ctx context.Context, p provider, base, key string) ([]listed, error) {
	limit := lookup
	if p.kind == local {
		limit = glance
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	who := llm.Service{ID: p.id, Label: p.label, Local: p.kind == local}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models?limit=1000", nil)
	if err != nil {
		return nil, who.Unreachable(fmt.Errorf("make request: %w", err))
	}
	if p.speaks != speaksAnthropic {
		req.URL.RawQuery = "" // only Anthropic gives its list in pages of twenty
	}
	if key != "" {
		authorize(req, p, key)
	}
	res, err := s.o.HTTP.Do(req)
	if err != nil {
		return nil, who.Transport(fmt.Errorf("list models: %w", err), false)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxError))
		return nil, who.Refused("", res.StatusCode, res.Header, text)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, who.Transport(fmt.Errorf("read list: %w", err), true)
	}
	if len(data) > maxAnswer {
		return nil, who.Broken(errors.New("read list: too large"))
	}
	var out struct {
		Data []listed `json:"data"`
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, who.NotAModel(fmt.Errorf("read list: %w", err))
	}
	return out.Data, nil
}

func authorize(req *http.Request, p provider, key string) {
	if p.speaks == speaksAnthropic {
		req.Header.Set("X-Api-Key", key)
		req.Header.Set("Anthropic-Version", "2023-06-01")
		return
	}
	req.Header.Set("Authorization", "Bearer "+key)
}
