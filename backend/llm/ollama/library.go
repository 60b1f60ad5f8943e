package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// Tag is a model that is downloaded.
type Tag struct {
	Name          string
	Size          int64 // bytes
	Family        string
	ParameterSize string   // "8.2B"
	Quantization  string   // "Q4_K_M"
	Capabilities  []string // only newer versions say it here; see Show
}

// Details is what Ollama knows about a model.
type Details struct {
	ContextLength int      // the most it can read at once; 0 when unknown
	NumCtx        int      // the window its own settings give it; 0 when they give none
	Capabilities  []string // completion, tools, thinking, vision, embedding; nil when the version does not say
	Family        string
	ParameterSize string
	EmbeddingDim  int
}

// Running is a model that is loaded.
type Running struct {
	Name          string
	Size          int64 // bytes
	SizeVRAM      int64 // bytes of them on the graphics card
	ContextLength int   // 0 when the version does not say
}

// Progress is a step of a download.
type Progress struct {
	Status    string
	Digest    string
	Completed int64 // bytes; 0 when the step has none
	Total     int64
}

// quickIdle is how long the short questions wait: a window is open on them.
const quickIdle = 15 * time.Second

// pullIdle is how long a download may be silent: checking a big file takes minutes.
const pullIdle = 15 * time.Minute

// Version gives Ollama's version, and with it that it is reachable.
func (c *Client) Version(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	err := c.call(ctx, http.MethodGet, "/api/version", "", nil, &out, quickIdle)
	return out.Version, err
}

type details struct {
	Family        string `json:"family"`
	ParameterSize string `json:"parameter_size"`
	Quantization  string `json:"quantization_level"`
}

// Tags gives the models that are downloaded, as Ollama orders them.
func (c *Client) Tags(ctx context.Context) ([]Tag, error) {
	var out struct {
		Models []struct {
			Name         string   `json:"name"`
			Model        string   `json:"model"`
			Size         int64    `json:"size"`
			Details      details  `json:"details"`
			Capabilities []string `json:"capabilities"`
		} `json:"models"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/tags", "", nil, &out, quickIdle); err != nil {
		return nil, err
	}
	tags := make([]Tag, 0, len(out.Models))
	for _, m := range out.Models {
		if m.Name == "" {
			m.Name = m.Model
		}
		tags = append(tags, Tag{m.Name, m.Size, m.Details.Family, m.Details.ParameterSize, m.Details.Quantization, m.Capabilities})
	}
	return tags, nil
}

// Show gives what is known about a downloaded model.
func (c *Client) Show(ctx context.Context, name string) (Details, error) {
	var out struct {
		Details      details                    `json:"details"`
		Info         map[string]json.RawMessage `json:"model_info"`
		Capabilities []string                   `json:"capabilities"`
		Parameters   string                     `json:"parameters"`
	}
	if err := c.call(ctx, http.MethodPost, "/api/show", name, map[string]string{"model": name}, &out, quickIdle); err != nil {
		return Details{}, err
	}
	d := Details{Capabilities: out.Capabilities, Family: out.Details.Family, ParameterSize: out.Details.ParameterSize}
	for key, raw := range out.Info {
		var n int
		switch {
		case json.Unmarshal(raw, &n) != nil:
		case strings.HasSuffix(key, ".context_length"):
			d.ContextLength = max(d.ContextLength, n)
		case strings.HasSuffix(key, ".embedding_length"):
			d.EmbeddingDim = max(d.EmbeddingDim, n)
		}
	}
	for p := range strings.Lines(out.Parameters) {
		if f := strings.Fields(p); len(f) == 2 && f[0] == "num_ctx" {
			d.NumCtx, _ = strconv.Atoi(f[1])
		}
	}
	return d, nil
}

// PS gives the models that are loaded now.
func (c *Client) PS(ctx context.Context) ([]Running, error) {
	var out struct {
		Models []struct {
			Name    string `json:"name"`
			Size    int64  `json:"size"`
			VRAM    int64  `json:"size_vram"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/ps", "", nil, &out, quickIdle); err != nil {
		return nil, err
	}
	running := make([]Running, 0, len(out.Models))
	for _, m := range out.Models {
		running = append(running, Running{m.Name, m.Size, m.VRAM, m.Context})
	}
	return running, nil
}

// Embed gives vectors of texts; see llm.Embedder. A text over the model's window is cut by Ollama.
func (c *Client) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n := min(len(texts), llm.EmbedBatch)
		var out struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		in := map[string]any{"model": model, "input": texts[:n], "truncate": true}
		if err := c.call(ctx, http.MethodPost, "/api/embed", model, in, &out, c.opt.Idle); err != nil {
			return nil, err
		}
		if err := llm.CheckVectors(out.Embeddings, n); err != nil {
			return nil, c.service.Broken(err)
		}
		all, texts = append(all, out.Embeddings...), texts[n:]
	}
	return all, nil
}

// Pull downloads a model and calls each for every step, on the caller's goroutine. An error of each, or ctx's end, stops it; what
// was loaded is kept by Ollama for the next time.
func (c *Client) Pull(ctx context.Context, name string, each func(Progress) error) error {
	body, err := json.Marshal(map[string]any{"model": name, "stream": true})
	if err != nil {
		return fmt.Errorf("encode pull: %w", err)
	}
	var lines wire.Lines
	var mine error // what each gave
	success := false
	take := func(raw []byte) error {
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			return nil
		}
		var p struct {
			Status    string `json:"status"`
			Digest    string `json:"digest"`
			Completed int64  `json:"completed"`
			Total     int64  `json:"total"`
			Error     string `json:"error"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return c.service.Broken(fmt.Errorf("decode progress: %w: %s", err, clip(raw)))
		}
		if p.Error != "" {
			return c.pullRefused(name, 0, raw)
		}
		success = success || p.Status == "success"
		mine = each(Progress{p.Status, p.Digest, p.Completed, p.Total})
		return mine
	}
	err = wire.Exchange{
		Clock:   c.clk,
		Idle:    pullIdle,
		MaxBody: 1 << 30, // a line a moment for hours
		Open: func(ctx context.Context) (*http.Response, error) {
			return c.send(ctx, http.MethodPost, "/api/pull", body)
		},
		Piece: func(p []byte) (bool, bool, error) { return true, true, lines.Write(p, take) },
		End: func() error {
			if err := lines.End(take); err != nil {
				return err
			}
			if !success {
				return c.service.Broken(errors.New("pull model: ended before its success"))
			}
			return nil
		},
	}.Run(ctx)
	if mine != nil {
		return mine
	}
	if refusal, ok := errors.AsType[*wire.StatusError](err); ok {
		return c.pullRefused(name, refusal.Status, refusal.Body)
	}
	return wire.Fault(ctx, c.service, nil, err)
}

// call makes a short exchange of JSON.
func (c *Client) call(ctx context.Context, method, path, model string, in, out any, idle time.Duration) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode %s: %w", path, err)
		}
	}
	err := wire.JSON(ctx, wire.Exchange{Clock: c.clk, Idle: idle,
		Open: func(ctx context.Context) (*http.Response, error) { return c.send(ctx, method, path, body) }}, c.service, out)
	if refusal, ok := errors.AsType[*wire.StatusError](err); ok {
		return c.service.Refused(model, refusal.Status, refusal.Header, refusal.Body)
	}
	return err
}
