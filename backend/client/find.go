package client

import (
	"context"
	"encoding/json"
	"time"

	"sentient/backend/discovery"
)

const findTimeout = 2 * time.Second

// Find gives a client of the folder's running engine, or nil when there is none. The discovery file alone proves
// nothing: the engine must answer to the folder's token.
func Find(ctx context.Context, home string) *Client {
	found, err := discovery.Read(home)
	if err != nil {
		return nil
	}
	token, err := discovery.ReadToken(home)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	c := New(found.URL, token)
	if _, err := Do[json.RawMessage](ctx, c, BootstrapGet, struct{}{}); err != nil {
		c.Close()
		return nil
	}
	return c
}
