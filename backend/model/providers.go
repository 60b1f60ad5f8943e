package model

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"

	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/model/builtin"
	"sentient/backend/secret"
)

// Kinds of providers.
const (
	cloud = "cloud"
	local = "local"
)

// Adapters: who speaks to a provider.
const (
	speaksOpenAI    = "openai"
	speaksAnthropic = "anthropic"
	speaksOllama    = "ollama"
	speaksBuiltin   = "builtin"
)

// provider is a row of the table.
type provider struct {
	id, label, kind string
	speaks          string
	key             bool   // needs one
	base            string // usual address, for those that are somewhere on this computer
	docs            string
	suggested       []string
	hidden          bool // a second name of another row
	embeds          bool
}

// providers are all that are known, in the order in which the window lists them.
func providers() []provider {
	return []provider{
		{id: builtin.Provider, label: "Built in", kind: local, speaks: speaksBuiltin, docs: "https://github.com/ggml-org/llama.cpp"},
		{id: "ollama", label: "Ollama", kind: local, speaks: speaksOllama, base: "http://localhost:11434", docs: "https://ollama.com/download",
			suggested: []string{"ollama_chat/qwen3:8b", "ollama_chat/qwen3:4b", "ollama/nomic-embed-text"}, embeds: true},
		{id: "ollama_chat", label: "Ollama", kind: local, speaks: speaksOllama, base: "http://localhost:11434", hidden: true, embeds: true},
		{id: "lm_studio", label: "LM Studio", kind: local, speaks: speaksOpenAI, base: "http://localhost:1234/v1", docs: "https://lmstudio.ai/docs", embeds: true},
		{id: "llamafile", label: "llamafile", kind: local, speaks: speaksOpenAI, base: "http://localhost:8080/v1", docs: "https://github.com/mozilla-ai/llamafile", embeds: true},
		{id: "vllm", label: "vLLM", kind: local, speaks: speaksOpenAI, base: "http://localhost:8000/v1", docs: "https://docs.vllm.ai/", embeds: true},
		{id: "anthropic", label: "Anthropic", kind: cloud, speaks: speaksAnthropic, key: true, docs: "https://console.anthropic.com/",
			suggested: []string{"anthropic/claude-sonnet-5", "anthropic/claude-haiku-4-5"}},
		{id: "openai", label: "OpenAI", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://platform.openai.com/api-keys",
			suggested: []string{"openai/gpt-5.1", "openai/gpt-5-mini", "openai/text-embedding-3-small"}, embeds: true},
		{id: "gemini", label: "Google Gemini", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://aistudio.google.com/apikey",
			suggested: []string{"gemini/gemini-2.5-pro", "gemini/gemini-2.5-flash"}, embeds: true},
		{id: "openrouter", label: "OpenRouter", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://openrouter.ai/keys",
			suggested: []string{"openrouter/anthropic/claude-sonnet-5", "openrouter/openai/gpt-5-mini"}},
		{id: "groq", label: "Groq", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://console.groq.com/keys",
			suggested: []string{"groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-20b"}},
		{id: "mistral", label: "Mistral", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://console.mistral.ai/api-keys",
			suggested: []string{"mistral/mistral-large-latest", "mistral/mistral-small-latest"}, embeds: true},
		{id: "deepseek", label: "DeepSeek", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://platform.deepseek.com/api_keys",
			suggested: []string{"deepseek/deepseek-chat", "deepseek/deepseek-reasoner"}},
		{id: "xai", label: "xAI", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://console.x.ai/",
			suggested: []string{"xai/grok-4", "xai/grok-3-mini"}},
		{id: "nous", label: "Nous Portal", kind: cloud, speaks: speaksOpenAI, key: true, docs: "https://portal.nousresearch.com/"},
	}
}

func providerOf(id string) (provider, bool) {
	all := providers()
	i := slices.IndexFunc(all, func(p provider) bool { return p.id == id })
	if i < 0 {
		return provider{}, false
	}
	return all[i], true
}

// split reads "provider/model". Names of models may hold slashes of their own.
func split(name string) (provider, string, error) {
	name = strings.TrimSpace(name)
	id, model, ok := strings.Cut(name, "/")
	if !ok || id == "" || model == "" || strings.ContainsAny(name, " \t\r\n") {
		return provider{}, "", errs.New(errs.Invalid, "model_name", "Name a model as provider/model, such as ollama_chat/qwen3:8b.")
	}
	p, ok := providerOf(id)
	if !ok {
		return provider{}, "", errs.Newf(errs.Invalid, "provider_unknown",
			"There is no provider called %s. Pick a model in Settings > Models.", shortName(id))
	}
	return p, model, nil
}

// shortName keeps what somebody typed from filling a sentence.
func shortName(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// address is where a provider is reached: the person's, else the usual one, "" for a cloud provider's own.
func address(p provider, c *config.Config) string {
	// The two names of Ollama are one program: an address that was set for one of them counts for the other.
	other := map[string]string{"ollama": "ollama_chat", "ollama_chat": "ollama"}[p.id]
	for _, id := range []string{p.id, other} {
		if base := c.Models.Providers[id].APIBase; base != "" && base != p.base {
			return base
		}
	}
	return p.base
}

// runsHere is the rule of Local only (§2 "Cost meter and budget"): a local runtime at an address of this computer, and not
// one of Ollama's models that run elsewhere.
func runsHere(p provider, base, model string) bool {
	switch {
	case p.speaks == speaksBuiltin:
		return true
	case p.kind != local, p.speaks == speaksOllama && ollamaCloud(model):
		return false
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ollamaCloud knows Ollama's cloud models: "…-cloud", also as a tag.
func ollamaCloud(model string) bool {
	return strings.HasSuffix(model, "-cloud") || strings.HasSuffix(model, ":cloud")
}

// ProvidersInput is empty.
type ProvidersInput struct{}

// Provider is one provider (§3 `GET /api/models/providers`).
type Provider struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Kind        string   `json:"kind" enum:"cloud,local"`
	KeyRequired bool     `json:"key_required"`
	KeySet      bool     `json:"key_set"`
	APIBase     *string  `json:"api_base" doc:"The address that is set; null for the provider's own"`
	DocsURL     string   `json:"docs_url"`
	Suggested   []string `json:"suggested" doc:"Models to offer, as provider/model"`
	SignIn      bool     `json:"sign_in" doc:"Connected by signing in, never by a pasted key"`
}

// Providers lists the providers (§3), the built-in model among them. It asks none of them anything. A keychain that
// cannot be read counts as no key.
func (s *Service) Providers(ctx context.Context, _ *ProvidersInput) ([]Provider, error) {
	c := s.o.Settings.Get()
	set := s.keysSet(ctx)
	list := []Provider{}
	for _, p := range providers() {
		if p.hidden || p.speaks == speaksBuiltin && s.o.Builtin == nil {
			continue
		}
		out := Provider{ID: p.id, Label: p.label, Kind: p.kind, KeyRequired: p.key, KeySet: set[p.id] || s.envKey(p, c) != "",
			DocsURL: p.docs, Suggested: append([]string{}, p.suggested...)}
		if p.speaks == speaksBuiltin {
			if name, ok := s.o.Builtin.Present(); ok {
				out.Suggested = append(out.Suggested, p.id+"/"+name)
			}
		}
		if base := address(p, c); base != "" {
			out.APIBase = &base
		}
		list = append(list, out)
	}
	return list, nil
}

// key gives a provider's key, "" when there is none.
func (s *Service) key(ctx context.Context, p provider, c *config.Config) (string, error) {
	if !p.key {
		return s.envKey(p, c), nil
	}
	key, _, err := s.o.Keys.Get(ctx, p.id)
	return key, err
}

// envKey is for local servers that want a key: the keychain has no names for them.
func (s *Service) envKey(p provider, c *config.Config) string {
	name := c.Models.Providers[p.id].APIKeyEnv
	if p.key || p.speaks == speaksBuiltin || name == "" || s.o.Getenv == nil {
		return ""
	}
	return strings.TrimSpace(s.o.Getenv(name))
}

// keysSet says which providers have a key.
func (s *Service) keysSet(ctx context.Context) map[string]bool {
	entries, err := s.o.Keys.List(ctx)
	if err != nil {
		s.o.Log.WarnContext(ctx, "keys not read", "error", err)
	}
	set := map[string]bool{}
	for _, e := range entries {
		if e.Kind == secret.Provider && e.Set {
			set[e.Name] = true
		}
	}
	return set
}

// anyKey says whether any provider of models has a key or a sign-in: then somebody set Sentient up, and which model
// answers is theirs to say.
func (s *Service) anyKey(ctx context.Context) bool {
	set := s.keysSet(ctx)
	return set["chatgpt"] || slices.ContainsFunc(providers(), func(p provider) bool { return p.key && set[p.id] })
}
