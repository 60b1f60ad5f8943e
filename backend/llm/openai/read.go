package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// endGrace is how long the end mark and the usage may take after the finish reason: some servers leave the connection open.
const endGrace = 5 * time.Second

// reading takes the body of one answer.
type reading struct {
	client *Client
	model  string
	draft  *llm.Draft
	events wire.Events
	head   wire.Head
	json   bool // the body is one JSON object
	whole  bytes.Buffer
	heard  bool                    // something of the answer arrived
	done   bool                    // the end mark came
	signs  map[int]json.RawMessage // what came with a call, by its place
}

// piece takes the next bytes; see wire.Exchange.
func (r *reading) piece(p []byte) (heard, more bool, err error) {
	first, p := r.head.First(p)
	switch first {
	case 0:
		return false, true, nil
	case '<':
		return false, false, r.client.service.NotAModel(fmt.Errorf("read answer: markup: %s", clip(p)))
	case '{': // the server does not stream
		r.json = true
		r.whole.Write(p)
		return false, true, nil
	}
	r.heard = false
	err = r.events.Write(p, r.event)
	if errors.Is(err, errDone) {
		return r.heard, false, nil
	}
	return r.heard, true, err
}

var (
	_ llm.Model    = (*Client)(nil)
	_ llm.Embedder = (*Client)(nil)
)

var errDone = errors.New("done")

// event takes one event; errDone after the end mark.
func (r *reading) event(e wire.Event) error {
	data := bytes.TrimSpace(e.Data)
	switch {
	case bytes.HasPrefix(data, []byte("[DONE]")):
		r.done = true
		if r.draft.Finish == "" {
			r.draft.Finish = llm.FinishStop
		}
		return errDone
	case data[0] == ':', e.Name == "ping", e.Name == "keepalive", e.Name == "heartbeat":
		return nil
	case e.Name == "error":
		return r.client.service.Refused(r.model, 0, nil, data)
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return r.client.service.Broken(fmt.Errorf("decode event: %w: %s", err, clip(data)))
	}
	return r.chunk(c, data)
}

func (r *reading) chunk(c chunk, raw []byte) error {
	if c.failed() {
		return r.client.service.Refused(r.model, 0, nil, raw)
	}
	if u := c.usage(); u != nil {
		r.draft.Usage = *u
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue
		}
		d := ch.Delta
		if d == nil {
			d = ch.Message
		}
		if d != nil {
			if err := r.delta(*d); err != nil {
				return err
			}
		}
		if ch.FinishReason != nil && *ch.FinishReason != "" {
			f, err := r.finish(*ch.FinishReason, raw)
			if err != nil {
				return err
			}
			r.draft.Finish = f
		}
	}
	return nil
}

func (r *reading) delta(d delta) error {
	for _, t := range []string{d.ReasoningContent, textOf(d.Reasoning, "")} {
		if t == "" {
			continue
		}
		r.heard = true
		if err := r.draft.Think(t); err != nil {
			return err
		}
		break // some servers send both
	}
	if t := textOf(d.Content, "thinking"); t != "" {
		r.heard = true
		if err := r.draft.Think(t); err != nil {
			return err
		}
	}
	if t := textOf(d.Content, "") + d.Refusal; t != "" {
		r.heard = true
		if err := r.draft.Say(t); err != nil {
			return err
		}
	}
	for _, t := range d.ToolCalls {
		r.heard = true
		r.draft.Calls.Add(llm.CallPiece{Index: t.Index, ID: t.ID, Name: t.Function.Name, Arguments: rawText(t.Function.Arguments)})
		if len(t.Extra) > 0 {
			if r.signs == nil {
				r.signs = map[int]json.RawMessage{}
			}
			r.signs[r.draft.Calls.Len()-1] = t.Extra
		}
	}
	return nil
}

// keepSigns remembers what the server wants back with these calls.
func (r *reading) keepSigns(calls []llm.ToolCall) {
	for i, c := range calls {
		if s, ok := r.signs[i]; ok {
			r.client.signs.Put(c.ID, s)
		}
	}
}

func (r *reading) finish(reason string, raw []byte) (llm.Finish, error) {
	switch strings.ToLower(reason) {
	case "tool_calls", "function_call", "tool_use":
		return llm.FinishTools, nil
	case "length", "max_tokens", "model_length":
		return llm.FinishLength, nil
	case "content_filter", "safety", "refusal":
		return llm.FinishFilter, nil
	case "error":
		return "", r.client.service.Broken(fmt.Errorf("read answer: finish reason error: %s", clip(raw)))
	}
	return llm.FinishStop, nil
}

func (r *reading) grace() time.Duration {
	if r.draft.Finish != "" {
		return endGrace
	}
	return 0
}

// end takes the end of the body.
func (r *reading) end() error {
	if r.json {
		raw := bytes.TrimPrefix(r.whole.Bytes(), []byte("\uFEFF"))
		var c chunk
		if err := json.Unmarshal(raw, &c); err != nil {
			return r.client.service.Broken(fmt.Errorf("decode answer: %w: %s", err, clip(raw)))
		}
		if err := r.chunk(c, raw); err != nil {
			return err
		}
	} else if err := r.events.End(r.event); err != nil && !errors.Is(err, errDone) {
		return err
	}
	if r.draft.Finish == "" && !r.done {
		return r.client.service.Broken(errors.New("read answer: ended without its end mark"))
	}
	return nil
}

func clip(b []byte) string {
	if len(b) > 500 {
		b = b[:500]
	}
	return string(b)
}
