package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// ModelInfo is a model that the server offers.
type ModelInfo = llm.ModelInfo

// listIdle is how long a list of models is waited for: a window is open on it.
const listIdle = 20 * time.Second

// Models gives the models that the server offers, in its order.
func (c *Client) Models(ctx context.Context) ([]ModelInfo, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	var out struct {
		Data []modelRow `json:"data"`
	}
	err := c.json(ctx, "", listIdle, &out, func(ctx context.Context, res **http.Response) error {
		return c.client().Get(ctx, "models", nil, res)
	})
	if err != nil {
		return nil, err
	}
	models := make([]ModelInfo, 0, len(out.Data))
	for _, m := range out.Data {
		models = append(models, ModelInfo{ID: strings.TrimPrefix(m.ID, "models/"), Name: m.name(), ContextLength: m.context()})
	}
	return models, nil
}

// modelRow has the members in which servers say what a model reads at once.
type modelRow struct {
	ID            string          `json:"id"`
	Name          json.RawMessage `json:"name"`
	Display       string          `json:"display_name"`
	ContextLength int             `json:"context_length"`     // OpenRouter
	ContextWindow int             `json:"context_window"`     // Groq
	MaxContext    int             `json:"max_context_length"` // Mistral, LM Studio
	Loaded        int             `json:"loaded_context_length"`
	MaxModelLen   int             `json:"max_model_len"` // vLLM
	Meta          struct {
		Served int `json:"n_ctx"` // llama.cpp; n_ctx_train is what it could read, not what it does
	} `json:"meta"`
}

func (m modelRow) name() string {
	var s string
	_ = json.Unmarshal(m.Name, &s)
	if s == "" {
		s = m.Display
	}
	if s == m.ID {
		s = ""
	}
	return s
}

func (m modelRow) context() int {
	for _, n := range []int{m.Loaded, m.MaxModelLen, m.Meta.Served, m.ContextLength, m.ContextWindow, m.MaxContext} {
		if n > 0 {
			return n
		}
	}
	return 0
}

// Embed gives vectors of texts; see llm.Embedder. A text over the model's window is an error: cut before.
func (c *Client) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	var all [][]float32
	for len(texts) > 0 {
		n := min(len(texts), llm.EmbedBatch)
		vectors, err := c.embed(ctx, model, texts[:n])
		if err != nil {
			return nil, err
		}
		all, texts = append(all, vectors...), texts[n:]
	}
	return all, nil
}

func (c *Client) embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	params := sdk.EmbeddingNewParams{Model: model, EncodingFormat: sdk.EmbeddingNewParamsEncodingFormatFloat,
		Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
	var out struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	err := c.json(ctx, model, c.opt.Idle, &out, func(ctx context.Context, res **http.Response) error {
		return c.client().Post(ctx, "embeddings", params, res)
	})
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(out.Data))
	for i, d := range out.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(vectors) || vectors[at] != nil {
			return nil, c.service.Broken(fmt.Errorf("read vectors: index %d of %d", at, len(vectors)))
		}
		vectors[at] = d.Embedding
	}
	if err := llm.CheckVectors(vectors, len(texts)); err != nil {
		return nil, c.service.Broken(err)
	}
	return vectors, nil
}

func (c *Client) json(ctx context.Context, model string, idle time.Duration, out any, open func(context.Context, **http.Response) error) error {
	err := wire.JSON(ctx, wire.Exchange{Clock: c.clk, Idle: idle, Open: func(ctx context.Context) (*http.Response, error) {
		var res *http.Response
		err := open(ctx, &res)
		return res, err
	}}, c.service, out)
	if refusal, ok := errors.AsType[*wire.StatusError](err); ok {
		return c.service.Refused(model, refusal.Status, refusal.Header, refusal.Body)
	}
	return err
}
