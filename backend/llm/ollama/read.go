package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// line is one line of a streamed chat.
type line struct {
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"` // an object; text from some compatible servers
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     int             `json:"prompt_eval_count"`
	Eval       int             `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// reading takes the body of one answer.
type reading struct {
	client    *Client
	req       llm.Request
	draft     *llm.Draft
	lines     wire.Lines
	estimate  int // tokens of the prompt, about
	window    int // num_ctx as sent
	heard     bool
	done      bool
	shortened bool
}

var (
	_ llm.Model    = (*Client)(nil)
	_ llm.Embedder = (*Client)(nil)
)

var errDone = errors.New("done")

// piece takes the next bytes; see wire.Exchange.
func (r *reading) piece(p []byte) (heard, more bool, err error) {
	r.heard = false
	err = r.lines.Write(p, r.line)
	if errors.Is(err, errDone) {
		return r.heard, false, nil
	}
	return r.heard, true, err
}

func (r *reading) line(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil
	}
	if data[0] == '<' {
		return r.client.service.NotAModel(fmt.Errorf("read answer: markup: %s", clip(data)))
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return r.client.service.Broken(fmt.Errorf("decode line: %w: %s", err, clip(data)))
	}
	if len(l.Error) > 0 && string(l.Error) != "null" && string(l.Error) != `""` {
		return r.client.service.Refused(r.req.Model, 0, nil, data)
	}
	if l.Message.Thinking != "" {
		r.heard = true
		if err := r.draft.Think(l.Message.Thinking); err != nil {
			return err
		}
	}
	if l.Message.Content != "" {
		r.heard = true
		if err := r.draft.Say(l.Message.Content); err != nil {
			return err
		}
	}
	for _, c := range l.Message.ToolCalls {
		r.heard = true
		r.draft.Calls.Begin(llm.CallPiece{ID: c.ID, Name: c.Function.Name, Arguments: arguments(c.Function.Arguments)})
	}
	if !l.Done {
		return nil
	}
	r.done = true
	r.draft.Usage = llm.Usage{Prompt: l.Prompt, Completion: l.Eval}
	r.draft.Finish = llm.FinishStop
	if l.DoneReason == "length" {
		r.draft.Finish = llm.FinishLength
	}
	return errDone
}

// arguments gives the object's own bytes, or what stands in a JSON text.
func arguments(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// end takes the end of the body.
func (r *reading) end() error {
	if err := r.lines.End(r.line); err != nil && !errors.Is(err, errDone) {
		return err
	}
	if !r.done {
		return r.client.service.Broken(errors.New("read answer: ended without its end mark"))
	}
	return nil
}

// tellShortfall says when Ollama read only a part of the prompt.
func (r *reading) tellShortfall(ctx context.Context) error {
	c := r.client
	c.mu.Lock()
	cached, known := c.last[r.req.Model]
	c.last[r.req.Model] = max(r.estimate, r.draft.Usage.Prompt) + r.draft.Usage.Completion
	c.mu.Unlock()
	if !known {
		cached = -1
	}
	if !shortfall(r.estimate, r.draft.Usage.Prompt, r.window, cached) {
		return nil
	}
	r.shortened = true
	c.log.WarnContext(ctx, "ollama read only a part of the prompt", "model", r.req.Model, "estimate", r.estimate, "read", r.draft.Usage.Prompt, "num_ctx", r.window)
	return r.draft.Note(fmt.Sprintf("The beginning of this chat was left out: it is longer than what %s reads at once. Start a new chat, or set a longer context length in Settings > Models.", r.req.Model))
}

// shortfall judges whether a prompt was cut. Ollama reports only what it had not cached (read), so a small figure alone
// proves nothing. It was cut when the prompt is well over the window that was sent; when the figure is that of a full
// window of another size (a server that goes by its own); or when even all that the exchange before left in the cache
// (cached, -1 when there was none) does not make up for what is missing.
func shortfall(estimate, read, window, cached int) bool {
	if window > 0 && estimate > window+window/10 {
		return true
	}
	if read <= 0 || read >= estimate*6/10 {
		return false
	}
	for w := 2048; w <= 1<<20; w *= 2 {
		if read >= w-16 && read <= w+16 {
			return true
		}
	}
	return cached >= 0 && read+cached < estimate*6/10
}

func clip(b []byte) string {
	if len(b) > 500 {
		b = b[:500]
	}
	return string(b)
}
