package openai

import (
	"regexp"
	"strings"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// quirks is what one provider does otherwise than the others. The zero quirks fits a careful OpenAI-compatible server.
type quirks struct {
	base string // address when the caller gives none
	site string // where keys and credits are had

	local        bool           // runs on this computer or in the house
	newMaxTokens bool           // max_completion_tokens instead of max_tokens
	noUsage      bool           // does not take stream_options (its last chunk has the usage anyway)
	effort       effortStyle    // how it is told how much to think
	thinkers     *regexp.Regexp // models that take an effort; nil is all
	fixedTemp    *regexp.Regexp // models that refuse a temperature
	noSchema     bool           // only response_format json_object: the schema goes into the prompt
	thinkBack    string         // member of an assistant message with tool calls that takes its thinking back
	callID       *regexp.Regexp // what a tool call's id may look like; nil is commonID
	callIDLen    int            // its length when it has to be rewritten
	signed       bool           // signs its tool calls (extra_content) and refuses them back without
}

type effortStyle int

const (
	effortUnsaid    effortStyle = iota
	effortPlain                 // reasoning_effort
	effortReasoning             // reasoning: {effort} or {enabled: false}
	effortThinking              // thinking: {type}
	effortTemplate              // chat_template_kwargs: {enable_thinking, reasoning_effort}
)

var (
	openaiThinkers = regexp.MustCompile(`^(o[1-9]|gpt-5|gpt-[6-9]|gpt-oss)`)
	groqThinkers   = regexp.MustCompile(`gpt-oss|qwen`)
	xaiThinkers    = regexp.MustCompile(`mini`)
	geminiThinkers = regexp.MustCompile(`gemini-(2\.5|[3-9])`)
	commonID       = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	mistralID      = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

var table = map[string]quirks{
	"openai": {base: "https://api.openai.com/v1", site: "platform.openai.com", newMaxTokens: true, effort: effortPlain,
		thinkers: openaiThinkers, fixedTemp: openaiThinkers},
	"openrouter": {base: "https://openrouter.ai/api/v1", site: "openrouter.ai", effort: effortReasoning, thinkBack: "reasoning"},
	"groq": {base: "https://api.groq.com/openai/v1", site: "console.groq.com", newMaxTokens: true, effort: effortPlain,
		thinkers: groqThinkers},
	"mistral": {base: "https://api.mistral.ai/v1", site: "console.mistral.ai", noUsage: true, callID: mistralID, callIDLen: 9},
	"deepseek": {base: "https://api.deepseek.com/v1", site: "platform.deepseek.com", noSchema: true, effort: effortThinking,
		thinkers: regexp.MustCompile(`chat|v[3-9]`), thinkBack: "reasoning_content"},
	"xai": {base: "https://api.x.ai/v1", site: "console.x.ai", newMaxTokens: true, effort: effortPlain, thinkers: xaiThinkers},
	"gemini": {base: "https://generativelanguage.googleapis.com/v1beta/openai", site: "aistudio.google.com", effort: effortPlain,
		thinkers: geminiThinkers, signed: true},
	"nous":      {base: "https://inference-api.nousresearch.com/v1", site: "portal.nousresearch.com"},
	"lm_studio": {base: "http://localhost:1234/v1", local: true},
	"llamafile": {base: "http://localhost:8080/v1", local: true, effort: effortTemplate},
	"vllm":      {base: "http://localhost:8000/v1", local: true, effort: effortTemplate},
	"builtin":   {local: true, effort: effortTemplate},
}

// effortFor gives the members of the request that say how much to think; none when the model is not known to take them.
func (q quirks) effortFor(model string, e llm.Effort) map[string]any {
	model = strings.ToLower(model)
	if e == "" || q.effort == effortUnsaid || q.thinkers != nil && !q.thinkers.MatchString(model) {
		return nil
	}
	none := e == llm.EffortNone
	switch q.effort {
	case effortReasoning:
		if none {
			return map[string]any{"reasoning": map[string]any{"enabled": false}}
		}
		return map[string]any{"reasoning": map[string]any{"effort": string(e)}}
	case effortThinking:
		kind := "enabled"
		if none {
			kind = "disabled"
		}
		return map[string]any{"thinking": map[string]any{"type": kind}}
	case effortTemplate:
		kwargs := map[string]any{"enable_thinking": !none}
		if !none {
			kwargs["reasoning_effort"] = string(e)
		}
		return map[string]any{"chat_template_kwargs": kwargs}
	}
	return map[string]any{"reasoning_effort": plainEffort(model, e)}
}

// plainEffort maps an effort to what a family of models calls it.
func plainEffort(model string, e llm.Effort) string {
	switch {
	case strings.Contains(model, "qwen"): // knows none and default
		if e == llm.EffortNone {
			return "none"
		}
		return "default"
	case strings.HasPrefix(model, "grok"): // knows low and high
		if e == llm.EffortNone || e == llm.EffortLow {
			return "low"
		}
		return "high"
	case e != llm.EffortNone:
		return string(e)
	case strings.HasPrefix(model, "gpt-5-") || model == "gpt-5":
		return "minimal"
	case strings.HasPrefix(model, "o"), strings.Contains(model, "gpt-oss"), strings.Contains(model, "gemini-2.5-pro"), strings.Contains(model, "gemini-3"):
		return "low" // cannot leave it off
	}
	return "none"
}

// wireID rewrites a tool call's id that this provider would refuse (chats go on with another provider's calls in them).
// The same id gives the same result.
func (q quirks) wireID(id string) string {
	shape, n := q.callID, q.callIDLen
	if shape == nil {
		shape, n = commonID, 24
	}
	return wire.CallID(id, shape, n)
}
