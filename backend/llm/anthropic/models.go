package anthropic

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"

	"sentient/backend/llm"
	"sentient/backend/llm/wire"
)

// ModelInfo is a model that the server offers.
type ModelInfo = llm.ModelInfo

// listIdle is how long a list of models is waited for: a window is open on it.
const listIdle = 20 * time.Second

// Models gives the models that the key may use, newest first.
func (c *Client) Models(ctx context.Context) ([]ModelInfo, error) {
	if c.opt.KeyRequired && c.opt.APIKey == "" {
		return nil, c.service.KeyMissing()
	}
	var out struct {
		Data []struct {
			ID      string `json:"id"`
			Name    string `json:"display_name"`
			Context int    `json:"max_input_tokens"`
		} `json:"data"`
	}
	err := wire.JSON(ctx, wire.Exchange{Clock: c.clk, Idle: listIdle, Open: func(ctx context.Context) (*http.Response, error) {
		var res *http.Response
		err := c.client().Get(ctx, "v1/models", nil, &res, option.WithQuery("limit", "1000"))
		return res, err
	}}, c.service, &out)
	if refusal, ok := errors.AsType[*wire.StatusError](err); ok {
		return nil, c.service.Refused("", refusal.Status, refusal.Header, refusal.Body)
	}
	if err != nil {
		return nil, err
	}
	models := make([]ModelInfo, 0, len(out.Data))
	for _, m := range out.Data {
		models = append(models, ModelInfo{ID: m.ID, Name: m.Name, ContextLength: m.Context})
	}
	return models, nil
}
