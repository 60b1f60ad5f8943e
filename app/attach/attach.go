// Package attach makes a running engine of another process the window's door: whoever holds the data folder's lock is
// the engine, and everybody else is its client.
package attach

import (
	"context"
	"encoding/json"
	"io"

	"sentient/backend/api"
	"sentient/backend/client"
	"sentient/backend/svc"
)

// Door is a running engine of another process as the window's door.
type Door struct {
	*client.Client
	Alive context.Context // as long as the window is open
}

// Context lives as long as the window.
func (d Door) Context() context.Context { return d.Alive }

// Live joins the window's channel with the engine's socket.
func (d Door) Live(ctx context.Context, in api.LiveInput, to api.Transport) error {
	conn, err := d.Client.Live(ctx, in.Since)
	if err != nil {
		return err
	}
	defer conn.Close()
	return svc.Run(ctx,
		func(ctx context.Context) error { return pump(ctx, conn.Receive, to.Send) },
		func(ctx context.Context) error { return pump(ctx, to.Receive, conn.Send) })
}

func pump(ctx context.Context, from func(context.Context) ([]byte, error), to func(context.Context, []byte) error) error {
	for {
		frame, err := from(ctx)
		if err != nil {
			return err
		}
		if err := to(ctx, frame); err != nil {
			return err
		}
	}
}

// Upload sends a file. See client.Client.Upload.
func (d Door) Upload(ctx context.Context, id string, input json.RawMessage, body io.Reader) (any, error) {
	return d.Client.Upload(ctx, id, input, body)
}
