package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// How models think: not at all, with a budget of tokens, or as they see fit under an effort (all newer ones).
var (
	neverThinks  = regexp.MustCompile(`claude-(instant|2|3-(opus|sonnet|haiku|5))`)
	thinksBudget = regexp.MustCompile(`claude-(3-7|haiku-4|sonnet-4-(5|0|2025)|sonnet-4$|opus-4-(5|1|0|2025)|opus-4$)`)
)

// budgets are the tokens of thought an effort may take, for models with a budget.
var budgets = map[llm.Effort]int64{llm.EffortLow: 2048, llm.EffortMedium: 8192, llm.EffortHigh: 15000}

// answerTokens is how long an answer may be when the caller gives no limit: the API wants one.
const answerTokens = 16000

func maxAnswer(model string) int64 {
	switch {
	case strings.Contains(model, "claude-3-5"):
		return 8192
	case neverThinks.MatchString(model):
		return 4096
	}
	return answerTokens
}

// optional says which droppable parameters a request has now.
func (c *Client) optional(req llm.Request) map[string]bool {
	can := req.Effort != "" && !neverThinks.MatchString(req.Model)
	adaptive := can && !thinksBudget.MatchString(req.Model)
	sent := map[string]bool{
		"thinking": can && !c.thoughtLost(req) && (adaptive || req.Effort != llm.EffortNone),
		"effort":   adaptive && req.Effort != llm.EffortNone,
		"format":   req.Schema != nil,
	}
	for name := range sent {
		sent[name] = sent[name] && !c.refused.Has(req.Model, name)
	}
	thinks := sent["thinking"] && req.Effort != llm.EffortNone // then the API takes no temperature
	sent["temperature"] = req.Temperature != nil && !thinks && !c.refused.Has(req.Model, "temperature")
	return sent
}

// thoughtLost says that the request goes on with a round of tool calls whose signed thoughts are not known any more: models with
// a budget then refuse to think.
func (c *Client) thoughtLost(req llm.Request) bool {
	if !thinksBudget.MatchString(req.Model) {
		return false
	}
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		if m.Role == llm.User {
			return false
		}
		if m.Role == llm.Assistant && len(m.ToolCalls) > 0 {
			_, ok := c.thoughts.Get(m.ToolCalls[0].ID)
			return !ok
		}
	}
	return false
}

// params makes the SDK's request of ours.
func (c *Client) params(req llm.Request) (sdk.MessageNewParams, error) {
	sent := c.optional(req)
	p := sdk.MessageNewParams{Model: sdk.Model(req.Model), MaxTokens: int64(req.MaxTokens), StopSequences: req.Stop}
	if p.MaxTokens <= 0 {
		p.MaxTokens = maxAnswer(req.Model)
	}
	if sent["thinking"] {
		c.think(&p, req)
	}
	if sent["effort"] {
		p.OutputConfig.Effort = sdk.OutputConfigEffort(req.Effort)
	}
	if sent["temperature"] {
		p.Temperature = sdk.Float(min(*req.Temperature, 1))
	}
	system, rest := splitSystem(req.Messages)
	if req.Schema != nil {
		var schema map[string]any
		if err := json.Unmarshal(req.Schema, &schema); err != nil {
			return p, fmt.Errorf("decode schema: %w", err)
		}
		if sent["format"] {
			p.OutputConfig.Format = sdk.JSONOutputFormatParam{Schema: schema}
		} else {
			system = append(system, llm.SchemaPrompt(req.Schema))
		}
	}
	for _, s := range system {
		p.System = append(p.System, sdk.TextBlockParam{Text: s})
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	for i, t := range req.Tools {
		tool, err := toolParam(t, i == len(req.Tools)-1)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	p.Messages = c.messages(rest, sent["thinking"] && req.Effort != llm.EffortNone)
	return p, nil
}

func (c *Client) think(p *sdk.MessageNewParams, req llm.Request) {
	budget := budgets[req.Effort]
	switch {
	case req.Effort == llm.EffortNone:
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	case thinksBudget.MatchString(req.Model):
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
		p.MaxTokens += budget // the caller's limit is the answer's
	default:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		p.MaxTokens += budget
	}
}

// splitSystem takes the system texts at the beginning away; later ones stay where they are.
func splitSystem(in []llm.Message) (system []string, rest []llm.Message) {
	for len(in) > 0 && in[0].Role == llm.System {
		if strings.TrimSpace(in[0].Text) != "" {
			system = append(system, in[0].Text)
		}
		in = in[1:]
	}
	return system, in
}

// toolParam keeps the schema's own bytes: their order is the author's, and the cache wants the same bytes.
func toolParam(t llm.Tool, last bool) (sdk.ToolUnionParam, error) {
	schema := t.Parameters
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	tool := struct {
		Name        string            `json:"name"`
		Description string            `json:"description,omitempty"`
		Schema      json.RawMessage   `json:"input_schema"`
		Cache       map[string]string `json:"cache_control,omitempty"`
	}{Name: t.Name, Description: t.Description, Schema: schema}
	if last {
		tool.Cache = map[string]string{"type": "ephemeral"}
	}
	raw, err := json.Marshal(tool)
	if err != nil {
		return sdk.ToolUnionParam{}, fmt.Errorf("encode tool %s: %w", t.Name, err)
	}
	return param.Override[sdk.ToolUnionParam](json.RawMessage(raw)), nil
}

// messages joins neighbours of one role: the API wants results of one round in one message, before anything else in it.
func (c *Client) messages(in []llm.Message, thinks bool) []sdk.MessageParam {
	var out []sdk.MessageParam
	add := func(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
		if len(blocks) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		if len(out) == 0 && role == sdk.MessageParamRoleAssistant { // a chat begins with the person
			out = append(out, sdk.NewUserMessage(sdk.NewTextBlock("…")))
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	for _, m := range in {
		switch m.Role {
		case llm.Assistant:
			add(sdk.MessageParamRoleAssistant, c.assistant(m, thinks)...)
		case llm.ToolRole:
			add(sdk.MessageParamRoleUser, sdk.NewToolResultBlock(callID(m.ToolCallID), m.Text, false))
		default:
			add(sdk.MessageParamRoleUser, userBlocks(m)...)
		}
	}
	if n := len(out); n > 0 {
		if k := len(out[n-1].Content); k > 0 {
			if mark := out[n-1].Content[k-1].GetCacheControl(); mark != nil {
				*mark = sdk.NewCacheControlEphemeralParam()
			}
		}
	}
	return out
}

func userBlocks(m llm.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, img := range m.Images {
		blocks = append(blocks, sdk.NewImageBlockBase64(img.MIME, base64.StdEncoding.EncodeToString(img.Data)))
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	return blocks
}

func (c *Client) assistant(m llm.Message, thinks bool) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	if len(m.ToolCalls) > 0 && thinks {
		if kept, ok := c.thoughts.Get(m.ToolCalls[0].ID); ok {
			blocks = append(blocks, kept...)
		}
	}
	if text := strings.TrimRight(m.Text, " \t\r\n"); text != "" { // the API refuses empty text, and blanks at the end
		blocks = append(blocks, sdk.NewTextBlock(text))
	}
	for _, call := range m.ToolCalls {
		input := call.Arguments
		if !json.Valid(input) || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
			input = json.RawMessage("{}") // the result says what was wrong with it
		}
		blocks = append(blocks, sdk.NewToolUseBlock(callID(call.ID), input, call.Name))
	}
	return blocks
}

var callIDShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func callID(id string) string { return wire.CallID(id, callIDShape, 24) }
