package ollama

import (
	"bytes"
	"encoding/json"
	"strings"

	"sentient/backend/llm"
)

// chatRequest is the body of POST /api/chat.
type chatRequest struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Tools    []tool          `json:"tools,omitempty"`
	Format   json.RawMessage `json:"format,omitempty"`
	Think    any             `json:"think,omitempty"` // true, false, or a level
	Stream   bool            `json:"stream"`
	Options  options         `json:"options"`
}

type options struct {
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

type message struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Thinking  string     `json:"thinking,omitempty"`
	Images    [][]byte   `json:"images,omitempty"` // base64 by encoding/json
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	ToolName  string     `json:"tool_name,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// The window when the caller leaves it open: Ollama's own may be as small as 2,048 tokens and cuts without a word.
const (
	smallestWindow = 4096
	largestWindow  = 32768 // more may not fit into memory, so it must be asked for
	answerRoom     = 1024
)

// window gives num_ctx: what the caller wants; else the smallest power of two that covers the prompt with a quarter to spare
// for the estimate's error, and room for an answer. It grows in powers of two since Ollama loads the model anew for each.
func window(req llm.Request) int {
	if req.ContextLength > 0 {
		return req.ContextLength
	}
	need := llm.EstimateRequest(req)*5/4 + max(answerRoom, req.MaxTokens)
	w := smallestWindow
	for w < need && w < largestWindow {
		w *= 2
	}
	return w
}

// optional says which droppable parameters a request has now.
func (c *Client) optional(req llm.Request) map[string]bool {
	return map[string]bool{
		"think":  req.Effort != "" && !c.refused.Has(req.Model, "think"),
		"format": req.Schema != nil && !c.refused.Has(req.Model, "format"),
	}
}

func (c *Client) chat(req llm.Request) chatRequest {
	sent := c.optional(req)
	out := chatRequest{Model: req.Model, Stream: true, Options: options{NumCtx: window(req), NumPredict: req.MaxTokens, Temperature: req.Temperature, Stop: req.Stop}}
	if sent["think"] {
		out.Think = think(req.Model, req.Effort)
	}
	messages := req.Messages
	if sent["format"] {
		out.Format = req.Schema
	} else if req.Schema != nil {
		messages = append([]llm.Message{{Role: llm.System, Text: llm.SchemaPrompt(req.Schema)}}, messages...)
	}
	for _, m := range messages {
		out.Messages = append(out.Messages, toMessage(m))
	}
	for _, t := range req.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: function{t.Name, t.Description, parameters}})
	}
	return out
}

// think gives the think parameter: most models know on and off, gpt-oss knows levels and cannot leave it off.
func think(model string, e llm.Effort) any {
	if strings.Contains(model, "gpt-oss") {
		if e == llm.EffortNone {
			return string(llm.EffortLow)
		}
		return string(e)
	}
	return e != llm.EffortNone
}

func toMessage(m llm.Message) message {
	out := message{Role: string(m.Role), Content: m.Text}
	for _, img := range m.Images {
		out.Images = append(out.Images, img.Data)
	}
	if m.Role == llm.ToolRole {
		out.ToolName, out.CallID = m.ToolName, m.ToolCallID
	}
	for _, call := range m.ToolCalls {
		t := toolCall{ID: call.ID}
		t.Function.Name, t.Function.Arguments = call.Name, call.Arguments
		if !json.Valid(call.Arguments) || !bytes.HasPrefix(bytes.TrimSpace(call.Arguments), []byte("{")) {
			t.Function.Arguments = json.RawMessage("{}") // the result says what was wrong with them
		}
		out.ToolCalls = append(out.ToolCalls, t)
	}
	if len(m.ToolCalls) > 0 {
		out.Thinking = m.Thinking
	}
	return out
}
