package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/svc"
)

// Transport carries the frames of one live connection: a WebSocket of the gateway, or the window's own channel. Send
// may be called from several goroutines. Either gives an error when the other side has left.
type Transport interface {
	Send(ctx context.Context, frame []byte) error
	Receive(ctx context.Context) ([]byte, error)
}

// Hub serves the live connections of one engine (§1).
type Hub struct {
	bus       *event.Bus
	version   string
	assistant func() string

	mu     sync.Mutex
	active map[*Conn]bool // what each window last said with `presence`
}

// NewHub makes a hub. assistant gives the assistant's present name.
func NewHub(bus *event.Bus, version string, assistant func() string) *Hub {
	return &Hub{bus: bus, version: version, assistant: assistant, active: map[*Conn]bool{}}
}

// InApp tells whether any window says that it is in front.
func (h *Hub) InApp() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, on := range h.active {
		if on {
			return true
		}
	}
	return false
}

// Connections counts the live connections.
func (h *Hub) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.active)
}

// Conn is one live connection, as a message's operation sees it.
type Conn struct {
	hub *Hub
	to  Transport
}

// Hello is the first event of every live connection. With boot and seq a client can say later where it stopped.
type Hello struct {
	Version   string `json:"version"`
	Assistant string `json:"assistant"`
	Boot      string `json:"boot" doc:"New for each engine start"`
	Seq       uint64 `json:"seq" doc:"The newest event before this connection"`
}

// LiveInput says where a client stopped reading.
type LiveInput struct {
	Since string `json:"since,omitempty" doc:"<boot>.<seq> of the last event that was read; what came after it is sent first, or one gap"`
}

// Serve runs a live connection until either side leaves: hello, then events as they happen, and messages of the client
// one after another.
func (t *Table) Serve(ctx context.Context, h *Hub, in LiveInput, to Transport) error {
	if err := t.Ready(); err != nil {
		return err
	}
	c := &Conn{hub: h, to: to}
	h.mu.Lock()
	h.active[c] = false
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.active, c)
		h.mu.Unlock()
	}()
	since := parsePlace(in.Since)
	events := h.bus.Subscribe(since, nil)
	defer events.Close()
	if err := c.hello(ctx, since); err != nil {
		return err
	}
	return svc.Run(ctx,
		func(ctx context.Context) error { return c.write(ctx, events) },
		func(ctx context.Context) error { return c.read(ctx, t) })
}

func (c *Conn) hello(ctx context.Context, since *event.Place) error {
	seq := c.hub.bus.Seq()
	if since != nil && since.Boot == c.hub.bus.Boot() && since.Seq < seq {
		seq = since.Seq // what is replayed now comes after it; a place of another start has no number here
	}
	return c.reply(ctx, "hello", Hello{Version: c.hub.version, Assistant: c.hub.assistant(), Boot: c.hub.bus.Boot(), Seq: seq})
}

func (c *Conn) write(ctx context.Context, events *event.Subscription) error {
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return err
		}
		if err := c.to.Send(ctx, e.Wire(Encode)); err != nil {
			return err
		}
	}
}

func (c *Conn) read(ctx context.Context, t *Table) error {
	for {
		frame, err := c.to.Receive(ctx)
		if err != nil {
			return err
		}
		if err := t.message(ctx, c, frame); err != nil {
			if refused := c.refuse(ctx, frame, err); refused != nil {
				return refused
			}
		}
	}
}

// message hands one frame of the client to its operation.
func (t *Table) message(ctx context.Context, c *Conn, frame []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(frame, &head); err != nil {
		return errs.New(errs.Malformed, "not_json", "The message is not a JSON object.").Because(err)
	}
	o, in, err := t.prepare(head.Type, Message, frame)
	if err != nil {
		if errs.Code(err) == "operation_unknown" {
			return errs.New(errs.Invalid, "message_unknown", "Sentient does not know this kind of message.").
				Because(fmt.Errorf("find message type %.40q", head.Type))
		}
		return err
	}
	return o.message(ctx, c, in)
}

// MessageError tells a client that its message was not taken. It belongs to no turn.
type MessageError struct {
	Message     string `json:"message"`
	Recoverable bool   `json:"recoverable"`
	Code        string `json:"code,omitempty"`
	SessionID   string `json:"session_id,omitempty"`
	ClientID    string `json:"client_id,omitempty" doc:"Echo of the message's client_id"`
}

func (c *Conn) refuse(ctx context.Context, frame []byte, cause error) error {
	var echo struct {
		SessionID string `json:"session_id"`
		ClientID  string `json:"client_id"`
	}
	_ = json.Unmarshal(frame, &echo) // what cannot be read is not echoed
	e := errs.From(cause)
	return c.reply(ctx, "error", MessageError{Message: e.Message, Code: e.Code, SessionID: echo.SessionID, ClientID: echo.ClientID})
}

// reply sends a flat event to this connection alone. It has no seq: it is not part of the stream.
func (c *Conn) reply(ctx context.Context, kind string, payload any) error {
	frame, err := flat(kind, payload)
	if err != nil {
		return err
	}
	return c.to.Send(ctx, frame)
}

// Encode writes an event for the wire: chat events flat, domain events with data and ts (§1); seq on both (decision 11).
func Encode(e *event.Event) []byte {
	if e.Topic == event.Gap {
		return []byte(`{"type":"gap"}`)
	}
	body, err := json.Marshal(e.Payload)
	if err != nil { // the types of topics are plain; api's tests encode each
		return []byte(`{"type":"gap"}`)
	}
	var b bytes.Buffer
	b.Grow(len(body) + 96)
	b.WriteString(`{"type":`)
	b.Write(quote(e.Topic.Name))
	b.WriteString(`,"seq":`)
	b.WriteString(strconv.FormatUint(e.Seq, 10))
	if e.Topic.Chat {
		joinMembers(&b, body)
		return b.Bytes()
	}
	b.WriteString(`,"ts":"`)
	b.WriteString(clock.Stamp(e.At))
	b.WriteString(`","data":`)
	b.Write(body)
	b.WriteByte('}')
	return b.Bytes()
}

// flat writes {"type": kind, …members of payload}.
func flat(kind string, payload any) ([]byte, error) {
	body, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	var b bytes.Buffer
	b.WriteString(`{"type":`)
	b.Write(quote(kind))
	joinMembers(&b, body)
	return b.Bytes(), nil
}

// joinMembers appends the members of a JSON object to an object that is being written, and closes it.
func joinMembers(b *bytes.Buffer, object []byte) {
	if len(object) > 2 {
		b.WriteByte(',')
		b.Write(object[1:])
		return
	}
	b.WriteByte('}')
}

func quote(s string) []byte {
	q, _ := json.Marshal(s) // a string always encodes
	return q
}

// parsePlace reads "<boot>.<seq>"; nil for an empty one. What cannot be read is a place of another start, which is
// answered with a gap.
func parsePlace(s string) *event.Place {
	if s == "" {
		return nil
	}
	boot, seq, _ := strings.Cut(s, ".")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return &event.Place{}
	}
	return &event.Place{Boot: boot, Seq: n}
}
