package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// endGrace is how long message_stop may take after the stop reason.
const endGrace = 5 * time.Second

// event is one event of the stream: only what is read, of all kinds together.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message *struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block *struct {
		Type     string          `json:"type"`
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Text     string          `json:"text"`
		Thinking string          `json:"thinking"`
		Sign     string          `json:"signature"`
		Data     string          `json:"data"`
	} `json:"content_block"`
	Delta *struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
		JSON     string `json:"partial_json"`
		Sign     string `json:"signature"`
		Stop     string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	OutputMore *struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// reading takes the body of one answer.
type reading struct {
	service  llm.Service
	model    string
	draft    *llm.Draft
	events   wire.Events
	usage    usage
	head     wire.Head
	heard    bool
	block    string // type of the open block
	thinking strings.Builder
	sign     string
	data     string
	thoughts []sdk.ContentBlockParamUnion // signed, in order
}

var _ llm.Model = (*Client)(nil)

var errDone = errors.New("done")

// piece takes the next bytes; see wire.Exchange.
func (r *reading) piece(p []byte) (heard, more bool, err error) {
	first, p := r.head.First(p)
	switch first {
	case 0:
		return false, true, nil
	case '<':
		return false, false, r.service.NotAModel(fmt.Errorf("read answer: markup: %s", clip(p)))
	}
	r.heard = false
	err = r.events.Write(p, r.event)
	if errors.Is(err, errDone) {
		return r.heard, false, nil
	}
	return r.heard, true, err
}

func (r *reading) event(e wire.Event) error {
	data := bytes.TrimSpace(e.Data)
	if data[0] == ':' || e.Name == "ping" {
		return nil
	}
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return r.service.Broken(fmt.Errorf("decode event: %w: %s", err, clip(data)))
	}
	if ev.Type == "" {
		ev.Type = e.Name
	}
	switch ev.Type {
	case "error":
		return r.service.Refused(r.model, 0, nil, data)
	case "message_start":
		if ev.Message != nil {
			r.count(ev.Message.Usage)
		}
	case "content_block_start":
		return r.begin(ev)
	case "content_block_delta":
		return r.more(ev)
	case "content_block_stop":
		r.close()
	case "message_delta":
		if ev.Usage != nil {
			r.count(*ev.Usage)
		}
		if ev.Delta != nil && ev.Delta.Stop != "" {
			r.draft.Finish = finish(ev.Delta.Stop)
		}
	case "message_stop":
		if r.draft.Finish == "" {
			r.draft.Finish = llm.FinishStop
		}
		return errDone
	default:
		if len(ev.Error) > 0 {
			return r.service.Refused(r.model, 0, nil, data)
		}
	}
	return nil
}

// count takes a usage: its figures are totals so far, and zero where the event says nothing.
func (r *reading) count(u usage) {
	r.usage.Input = max(r.usage.Input, u.Input)
	r.usage.Output = max(r.usage.Output, u.Output)
	r.usage.CacheRead = max(r.usage.CacheRead, u.CacheRead)
	r.usage.CacheWrite = max(r.usage.CacheWrite, u.CacheWrite)
	out := llm.Usage{Prompt: r.usage.Input + r.usage.CacheRead + r.usage.CacheWrite, Completion: r.usage.Output,
		CacheRead: r.usage.CacheRead, CacheWrite: r.usage.CacheWrite, Reasoning: r.draft.Usage.Reasoning}
	if u.OutputMore != nil {
		out.Reasoning = max(out.Reasoning, u.OutputMore.Thinking)
	}
	r.draft.Usage = out
}

func (r *reading) begin(ev event) error {
	if ev.Block == nil {
		return nil
	}
	r.close()
	r.block = ev.Block.Type
	switch ev.Block.Type {
	case "text":
		return r.say(ev.Block.Text)
	case "thinking":
		r.sign = ev.Block.Sign
		return r.think(ev.Block.Thinking)
	case "redacted_thinking":
		r.data = ev.Block.Data
	case "tool_use":
		r.heard = true
		args := string(bytes.TrimSpace(ev.Block.Input))
		if args == "{}" || args == "null" { // the pieces follow
			args = ""
		}
		r.draft.Calls.Begin(llm.CallPiece{Index: &ev.Index, ID: ev.Block.ID, Name: ev.Block.Name, Arguments: args})
	}
	return nil
}

func (r *reading) more(ev event) error {
	if ev.Delta == nil {
		return nil
	}
	switch ev.Delta.Type {
	case "text_delta":
		return r.say(ev.Delta.Text)
	case "thinking_delta":
		return r.think(ev.Delta.Thinking)
	case "signature_delta":
		r.sign += ev.Delta.Sign
	case "input_json_delta":
		r.heard = true
		if r.block == "tool_use" {
			r.draft.Calls.Add(llm.CallPiece{Index: &ev.Index, Arguments: ev.Delta.JSON})
		}
	}
	return nil
}

func (r *reading) say(s string) error {
	r.heard = r.heard || s != ""
	return r.draft.Say(s)
}

func (r *reading) think(s string) error {
	r.heard = r.heard || s != ""
	r.thinking.WriteString(s)
	return r.draft.Think(s)
}

// close keeps the block that ends when it is a thought: the API wants it back exactly.
func (r *reading) close() {
	switch r.block {
	case "thinking":
		if r.sign != "" {
			r.thoughts = append(r.thoughts, sdk.NewThinkingBlock(r.sign, r.thinking.String()))
		}
	case "redacted_thinking":
		r.thoughts = append(r.thoughts, sdk.NewRedactedThinkingBlock(r.data))
	}
	r.block, r.sign, r.data = "", "", ""
	r.thinking.Reset()
}

func finish(reason string) llm.Finish {
	switch reason {
	case "tool_use":
		return llm.FinishTools
	case "max_tokens", "model_context_window_exceeded":
		return llm.FinishLength
	case "refusal":
		return llm.FinishFilter
	}
	return llm.FinishStop
}

func (r *reading) grace() time.Duration {
	if r.draft.Finish != "" {
		return endGrace
	}
	return 0
}

// end takes the end of the body.
func (r *reading) end() error {
	if err := r.events.End(r.event); err != nil && !errors.Is(err, errDone) {
		return err
	}
	if r.draft.Finish == "" {
		return r.service.Broken(errors.New("read answer: ended without its end mark"))
	}
	return nil
}

func clip(b []byte) string {
	if len(b) > 500 {
		b = b[:500]
	}
	return string(b)
}
