package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"sentient/backend/llm"
)

// chunk is an event of a stream, or a whole answer of a server that does not stream. It has only what is read, in the most
// forgiving types.
type chunk struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"` // beside object "error"
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Groq    *struct {
		Usage *usage `json:"usage"`
		Error string `json:"error"`
	} `json:"x_groq"`
	Timings *struct {
		Cache     int `json:"cache_n"`
		Prompt    int `json:"prompt_n"`
		Predicted int `json:"predicted_n"`
	} `json:"timings"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        *delta  `json:"delta"`
	Message      *delta  `json:"message"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Content          json.RawMessage `json:"content"` // text, or parts
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"` // text; some servers send an object
	ToolCalls        []toolCall      `json:"tool_calls"`
}

type toolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // text; some servers send the object itself
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	CacheHit   int `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptMore *struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// failed says that this is an error and no piece of an answer.
func (c chunk) failed() bool {
	e := bytes.TrimSpace(c.Error)
	return len(e) > 0 && string(e) != "null" && string(e) != `""` && string(e) != "false" || c.Object == "error" || c.Groq != nil && c.Groq.Error != ""
}

func (c chunk) usage() *llm.Usage {
	u := c.Usage
	if u == nil && c.Groq != nil {
		u = c.Groq.Usage
	}
	if u == nil {
		if t := c.Timings; t != nil && t.Prompt+t.Cache > 0 {
			return &llm.Usage{Prompt: t.Prompt + t.Cache, Completion: t.Predicted, CacheRead: t.Cache}
		}
		return nil
	}
	out := llm.Usage{Prompt: u.Prompt, Completion: u.Completion, CacheRead: u.CacheHit}
	if u.PromptMore != nil {
		out.CacheRead = max(out.CacheRead, u.PromptMore.Cached)
		out.CacheWrite = u.PromptMore.Written
	}
	if u.CompletionMore != nil {
		out.Reasoning = u.CompletionMore.Reasoning
	}
	return &out
}

// textOf gives the text of content that is a text, or of its parts of a kind ("" for text, "thinking" as Mistral sends it).
func textOf(raw json.RawMessage, kind string) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		if kind != "" {
			return ""
		}
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	case '{':
		raw = append(append([]byte{'['}, raw...), ']')
	case '[':
	default:
		return ""
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		switch {
		case kind == "thinking" && p.Type == "thinking":
			b.WriteString(textOf(p.Thinking, ""))
		case kind == "" && (p.Type == "text" || p.Type == "output_text" || p.Type == ""):
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// rawText gives a JSON text's value, and anything else as it stands.
func rawText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
