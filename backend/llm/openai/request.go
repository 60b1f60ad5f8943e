package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"sentient/backend/llm"
)

// optional says which droppable parameters a request has now.
func (c *Client) optional(req llm.Request) map[string]bool {
	sent := map[string]bool{
		"stream_options":  !c.quirks.noUsage,
		"effort":          len(c.quirks.effortFor(req.Model, req.Effort)) > 0,
		"temperature":     req.Temperature != nil && !c.fixedTemperature(req.Model),
		"response_format": req.Schema != nil,
	}
	if req.MaxTokens > 0 {
		sent[c.maxTokensName(req.Model)] = true
	}
	for name := range sent {
		if c.refused.Has(req.Model, name) {
			sent[name] = false
		}
	}
	return sent
}

func (c *Client) fixedTemperature(model string) bool {
	return c.quirks.fixedTemp != nil && c.quirks.fixedTemp.MatchString(strings.ToLower(model))
}

// maxTokensName gives the name that the model takes; one that it refused is replaced by the other.
func (c *Client) maxTokensName(model string) string {
	first, second := "max_tokens", "max_completion_tokens"
	if c.quirks.newMaxTokens {
		first, second = second, first
	}
	if c.refused.Has(model, first) {
		return second
	}
	return first
}

// params makes the SDK's request of ours.
func (c *Client) params(req llm.Request) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{Model: req.Model}
	extra := map[string]any{"stream": true}
	sent := c.optional(req)
	if sent["stream_options"] {
		p.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)}
	}
	if sent["temperature"] {
		p.Temperature = sdk.Float(*req.Temperature)
	}
	if sent["max_tokens"] {
		p.MaxTokens = sdk.Int(int64(req.MaxTokens))
	}
	if sent["max_completion_tokens"] {
		p.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
	}
	if sent["effort"] {
		for name, value := range c.quirks.effortFor(req.Model, req.Effort) {
			extra[name] = value
		}
	}
	if len(req.Stop) > 0 {
		p.Stop = sdk.ChatCompletionNewParamsStopUnion{OfStringArray: req.Stop}
	}
	for _, t := range req.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	messages := req.Messages
	if req.Schema != nil {
		inPrompt := c.quirks.noSchema || !sent["response_format"]
		if err := setSchema(&p, req.Schema, c.quirks.noSchema, sent["response_format"]); err != nil {
			return p, err
		}
		if inPrompt {
			hint := llm.Message{Role: llm.System, Text: llm.SchemaPrompt(req.Schema)}
			messages = append([]llm.Message{hint}, messages...)
		}
	}
	for _, m := range mergeSystem(messages) {
		p.Messages = append(p.Messages, c.message(m))
	}
	p.SetExtraFields(extra)
	return p, nil
}

func setSchema(p *sdk.ChatCompletionNewParams, schema json.RawMessage, objectOnly, send bool) error {
	if !json.Valid(schema) {
		return fmt.Errorf("encode schema: not JSON")
	}
	switch {
	case !send:
	case objectOnly:
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	default:
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: schema},
		}
	}
	return nil
}

// mergeSystem joins the system messages at the beginning into one: templates of local models take a single one.
func mergeSystem(in []llm.Message) []llm.Message {
	n := 0
	var texts []string
	for n < len(in) && in[n].Role == llm.System {
		texts = append(texts, in[n].Text)
		n++
	}
	if n < 2 {
		return in
	}
	return append([]llm.Message{{Role: llm.System, Text: strings.Join(texts, "\n\n")}}, in[n:]...)
}

// toolParam keeps the schema's own bytes: their order is the author's, and the same bytes are what caches want.
func toolParam(t llm.Tool) (sdk.ChatCompletionToolUnionParam, error) {
	parameters := t.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	raw, err := json.Marshal(struct {
		Type     string `json:"type"`
		Function any    `json:"function"`
	}{"function", struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, parameters}})
	if err != nil {
		return sdk.ChatCompletionToolUnionParam{}, fmt.Errorf("encode tool %s: %w", t.Name, err)
	}
	return param.Override[sdk.ChatCompletionToolUnionParam](json.RawMessage(raw)), nil
}

func (c *Client) message(m llm.Message) sdk.ChatCompletionMessageParamUnion {
	switch m.Role {
	case llm.System:
		return sdk.SystemMessage(m.Text)
	case llm.ToolRole:
		return sdk.ToolMessage(m.Text, c.quirks.wireID(m.ToolCallID))
	case llm.Assistant:
		return c.assistant(m)
	}
	if len(m.Images) == 0 {
		return sdk.UserMessage(m.Text)
	}
	var parts []sdk.ChatCompletionContentPartUnionParam
	if m.Text != "" {
		parts = append(parts, sdk.TextContentPart(m.Text))
	}
	for _, img := range m.Images {
		url := "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
		parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: url}))
	}
	return sdk.UserMessage(parts)
}

// missingSign is what Gemini's documentation gives for calls whose signature is not known any more.
const missingSign = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

func (c *Client) assistant(m llm.Message) sdk.ChatCompletionMessageParamUnion {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	if m.Text != "" || len(m.ToolCalls) == 0 {
		a.Content.OfString = sdk.String(m.Text)
	}
	for i, call := range m.ToolCalls {
		args := string(call.Arguments)
		if !json.Valid(call.Arguments) { // the result says what was wrong; servers refuse a history that is not JSON
			args = "{}"
		}
		f := &sdk.ChatCompletionMessageFunctionToolCallParam{ID: c.quirks.wireID(call.ID),
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: args}}
		if c.quirks.signed {
			sign, ok := c.signs.Get(call.ID)
			if !ok && i == 0 {
				sign, ok = json.RawMessage(missingSign), true
			}
			if ok {
				f.SetExtraFields(map[string]any{"extra_content": sign})
			}
		}
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: f})
	}
	if c.quirks.thinkBack != "" && m.Thinking != "" && len(m.ToolCalls) > 0 {
		a.SetExtraFields(map[string]any{c.quirks.thinkBack: m.Thinking})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: a}
}
