//go:build program

package programtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"testing"
	"unicode/utf16"

	"github.com/coder/websocket"
)

// happening is an event as it comes down a live connection, with the members that tests read.
type happening struct {
	Type      string          `json:"type"`
	Seq       uint64          `json:"seq"`
	Boot      string          `json:"boot"`
	SessionID string          `json:"session_id"`
	TurnID    string          `json:"turn_id"`
	ClientID  string          `json:"client_id"`
	Text      string          `json:"text"`
	Offset    int             `json:"offset"`
	Message   string          `json:"message"`
	Code      string          `json:"code"`
	Content   string          `json:"content"`
	MessageID *string         `json:"message_id"`
	Cancelled bool            `json:"cancelled"`
	Error     string          `json:"error"`
	Data      json.RawMessage `json:"data"`
}

// live is one client's live connection.
type live struct {
	e    *engine
	ws   *websocket.Conn
	boot string
	seq  uint64 // the last event that was read
}

// connect opens a live connection and reads its hello. since is "" or where the client stopped.
func (e *engine) connect(ctx context.Context, since string, dial func(context.Context, string, string) (net.Conn, error)) (*live, error) {
	address := e.url + "/ws?token=" + url.QueryEscape(e.token)
	if since != "" {
		address += "&since=" + url.QueryEscape(since)
	}
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	ctx, cancel := context.WithTimeout(ctx, hangLimit)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(64 << 20)
	l := &live{e: e, ws: ws}
	hello, err := l.next(ctx)
	if err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	if hello.Type != "hello" || hello.Boot == "" {
		_ = ws.CloseNow()
		return nil, fmt.Errorf("the first event is %q", hello.Type)
	}
	l.boot, l.seq = hello.Boot, hello.Seq
	return l, nil
}

// open is connect for tests that need it to work. It is closed when the test ends.
func (e *engine) open(t testing.TB) *live {
	t.Helper()
	l, err := e.connect(context.Background(), "", nil)
	must(t, err)
	t.Cleanup(l.close)
	return l
}

func (l *live) close() { _ = l.ws.CloseNow() }

func (l *live) since() string { return fmt.Sprintf("%s.%d", l.boot, l.seq) }

func (l *live) say(message map[string]any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangLimit)
	defer cancel()
	return l.ws.Write(ctx, websocket.MessageText, raw)
}

func (l *live) next(ctx context.Context) (h happening, err error) {
	_, raw, err := l.ws.Read(ctx)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, err
	}
	if h.Seq > 0 {
		l.seq = h.Seq
	}
	return h, nil
}

// until reads events until one is the one looked for, and gives all of them.
func (l *live) until(ok func(happening) bool) ([]happening, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hangLimit)
	defer cancel()
	var all []happening
	for {
		h, err := l.next(ctx)
		if err != nil {
			return all, errors.Join(err, fmt.Errorf("after %d events", len(all)))
		}
		all = append(all, h)
		if ok(h) {
			return all, nil
		}
	}
}

// await is until for tests that need it to come.
func (l *live) await(t testing.TB, what string, ok func(happening) bool) []happening {
	t.Helper()
	all, err := l.until(ok)
	if err != nil {
		t.Fatalf("%s did not come: %v", what, err)
	}
	return all
}

func isDone(session string) func(happening) bool {
	return func(h happening) bool { return h.Type == "done" && (session == "" || h.SessionID == session) }
}

// drawing is a reply's text as a window draws it from deltas.
type drawing struct{ units []uint16 }

// add applies a delta from its offset on; false when something is missing before it.
func (d *drawing) add(text string, offset int) bool {
	if offset > len(d.units) {
		return false
	}
	u := utf16.Encode([]rune(text))
	if have := len(d.units) - offset; have < len(u) {
		d.units = append(d.units, u[have:]...)
	}
	return true
}

func (d *drawing) text() string { return string(utf16.Decode(d.units)) }
