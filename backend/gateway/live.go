package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"sentient/backend/api"
	"sentient/backend/svc"
)

var noDeadline time.Time

const (
	maxFrame     = 1 << 20 // bytes of one message of a client
	writeTimeout = 30 * time.Second
	pingEvery    = 30 * time.Second
	pingTimeout  = 15 * time.Second
)

// live serves the live connection over a WebSocket.
func (g *Gateway) live(w http.ResponseWriter, r *http.Request, o api.Op) error {
	raw, err := g.input(w, r, o)
	if err != nil {
		return err
	}
	var in api.LiveInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return fmt.Errorf("decode live input: %w", err)
	}
	if err := g.o.Table.Ready(); err != nil {
		return err
	}
	// Host and Origin are checked before this, for every request.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil // Accept has answered
	}
	ws.SetReadLimit(maxFrame)
	s := &socket{ws: ws, gateway: g}
	err = svc.Run(r.Context(),
		func(ctx context.Context) error { return g.o.Table.Serve(ctx, g.o.Hub, in, s) },
		s.keepAlive)
	g.o.Log.DebugContext(r.Context(), "live connection ended", "cause", err)
	_ = ws.Close(websocket.StatusNormalClosure, "") // usually it is closed already
	return nil
}

// socket is a WebSocket as the transport of a live connection.
type socket struct {
	ws      *websocket.Conn
	gateway *Gateway
}

// Send writes one frame. A reader that takes none for the write timeout is cut off; it can catch up when it is back.
func (s *socket) Send(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return s.ws.Write(ctx, websocket.MessageText, frame)
}

// Receive reads one frame.
func (s *socket) Receive(ctx context.Context) ([]byte, error) {
	_, frame, err := s.ws.Read(ctx)
	return frame, err
}

// keepAlive notices a client that is gone without a word.
func (s *socket) keepAlive(ctx context.Context) error {
	timer := s.gateway.o.Clock.NewTimer(pingEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C():
		}
		pingCtx, cancel := context.WithTimeout(ctx, pingTimeout)
		err := s.ws.Ping(pingCtx)
		cancel()
		if err != nil {
			return fmt.Errorf("ping client: %w", err)
		}
		timer.Reset(pingEvery)
	}
}
