package doors

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sentient/app/bound"
	"sentient/backend/clock"
	"sentient/backend/obs"
	"sentient/backend/svc"
	"sentient/backend/testkit"
)

// channel is one live connection, whichever door it came through.
type channel interface {
	send(message string)
	receive() map[string]any
	close()
}

// socket is the gateway's WebSocket.
type socket struct {
	k    *testkit.Kit
	conn interface {
		Send(context.Context, []byte) error
		Receive(context.Context) ([]byte, error)
		Close()
	}
}

func openSocket(k *testkit.Kit, since string) channel {
	conn, err := k.Client().Live(k.T.Context(), since)
	if err != nil {
		k.T.Fatal(err)
	}
	return &socket{k, conn}
}

func (s *socket) send(message string) {
	if err := s.conn.Send(s.k.T.Context(), []byte(message)); err != nil {
		s.k.T.Fatal(err)
	}
}

func (s *socket) receive() map[string]any {
	ctx, cancel := context.WithTimeout(s.k.T.Context(), testkit.Patience)
	defer cancel()
	frame, err := s.conn.Receive(ctx)
	if err != nil {
		s.k.T.Fatal(err)
	}
	return decode(s.k.T, frame)
}

func (s *socket) close() { s.conn.Close() }

func decode(t testing.TB, frame []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(frame, &m); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return m
}

// windowStreams is the window's Streams with a page that collects what it is sent.
type windowStreams struct {
	*bound.Streams
	mu      sync.Mutex
	batches map[string][]bound.Batch
	changed chan struct{}
}

func openStreams(k *testkit.Kit) *windowStreams {
	w := &windowStreams{batches: map[string][]bound.Batch{}, changed: make(chan struct{}, 1)}
	tree := svc.NewTree("window", obs.Discard())
	w.Streams = bound.NewStreams(door{k}, func(name string, b bound.Batch) {
		w.mu.Lock()
		w.batches[name] = append(w.batches[name], b)
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}, tree, clock.Real{}, obs.Discard())
	k.T.Cleanup(tree.Close)
	return w
}

// next waits for the next batch of a stream.
func (w *windowStreams) next(t testing.TB, id string) bound.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	for {
		w.mu.Lock()
		if list := w.batches["stream:"+id]; len(list) > 0 {
			w.batches["stream:"+id] = list[1:]
			w.mu.Unlock()
			return list[0]
		}
		w.mu.Unlock()
		select {
		case <-w.changed:
		case <-ctx.Done():
			t.Fatalf("nothing more came on stream %s", id)
		}
	}
}

// windowChannel is the live connection through Streams.
type windowChannel struct {
	w     *windowStreams
	t     testing.TB
	id    string
	items []json.RawMessage
}

func openWindowChannel(k *testkit.Kit, since string) channel {
	c := &windowChannel{w: openStreams(k), t: k.T, id: "live"}
	input, _ := json.Marshal(map[string]string{"since": since}) // strings always encode
	if err := c.w.Open(c.id, "live", input); err != nil {
		k.T.Fatal(err)
	}
	return c
}

func (c *windowChannel) send(message string) {
	if err := c.w.Send(c.id, json.RawMessage(message)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *windowChannel) receive() map[string]any {
	for len(c.items) == 0 {
		b := c.w.next(c.t, c.id)
		if b.Done {
			c.t.Fatalf("the stream ended: %+v", b.Error)
		}
		c.items = b.Items
	}
	item := c.items[0]
	c.items = c.items[1:]
	return decode(c.t, item)
}

func (c *windowChannel) close() { c.w.Cancel(c.id) }

// through runs a test through both doors.
func through(t *testing.T, f func(k *testkit.Kit, open func(*testkit.Kit, string) channel)) {
	t.Helper()
	for name, open := range map[string]func(*testkit.Kit, string) channel{"socket": openSocket, "window": openWindowChannel} {
		t.Run(name, func(t *testing.T) { f(testkit.Start(t), open) })
	}
}

// until reads on to an event of a type.
func until(c channel, kind string) map[string]any {
	for {
		if e := c.receive(); e["type"] == kind {
			return e
		}
	}
}

func TestLiveRefusals(t *testing.T) {
	through(t, func(k *testkit.Kit, open func(*testkit.Kit, string) channel) {
		c := open(k, "")
		defer c.close()
		until(c, "hello")
		for _, m := range []struct{ message, want string }{
			{`{"type":"chat.shout","text":"x"}`, "message_unknown"},
			{`{"type":"sessions.delete","id":"x"}`, "message_unknown"}, // an operation, but no message
			{`{"text":"x"}`, "message_unknown"},
			{`{"type":"chat.send","text":""}`, "message_empty"},
			{`{"type":"chat.send","text":5}`, "invalid"},
			{`{"type":"chat.send","text":"Hi","session_id":"nobody","client_id":"c1"}`, "chat_unknown"},
			{`{"type":"presence"}`, "invalid"},
		} {
			c.send(m.message)
			e := until(c, "error")
			if e["code"] != m.want || e["recoverable"] != false || e["message"] == "" {
				t.Errorf("%s: %v", m.message, e)
			}
			if strings.Contains(m.message, "c1") && e["client_id"] != "c1" {
				t.Errorf("the client_id is not echoed: %v", e)
			}
		}
	})
}

func TestLiveTurn(t *testing.T) {
	through(t, func(k *testkit.Kit, open func(*testkit.Kit, string) channel) {
		c := open(k, "")
		defer c.close()
		hello := until(c, "hello")
		if hello["version"] != "test" || hello["assistant"] != "Sentient" || hello["boot"] == "" {
			t.Errorf("hello: %v", hello)
		}
		c.send(`{"type":"ping"}`)
		c.send(`{"type":"presence","active":true}`)
		c.send(`{"type":"chat.send","text":"Hi","client_id":"mine"}`)
		session := until(c, "session")
		if session["client_id"] != "mine" || session["session_id"] == "" || session["seq"] == nil {
			t.Errorf("session: %v", session)
		}
		var text strings.Builder
		seq := session["seq"].(float64)
		for {
			e := c.receive()
			if n, ok := e["seq"].(float64); !ok || n <= seq {
				t.Errorf("seq does not rise: %v after %v", e, seq)
			} else {
				seq = n
			}
			if e["type"] == "text_delta" {
				text.WriteString(e["text"].(string))
			}
			if e["type"] == "done" {
				if e["content"] != text.String() || e["message_id"] == nil || text.String() != "Hello." {
					t.Errorf("done: %v, drawn %q", e, text.String())
				}
				break
			}
		}
		if !k.InApp() {
			t.Error("the window said that it is in front")
		}
	})
}

// A client that was away names the last event it saw and gets exactly what followed; one that was away too long, or
// comes from another start, gets one gap.
func TestLiveCatchesUp(t *testing.T) {
	through(t, func(k *testkit.Kit, open func(*testkit.Kit, string) channel) {
		first := open(k, "")
		boot := until(first, "hello")["boot"].(string)
		id := anEmptyChat(k)["id"]
		k.Must("sessions.update", map[string]string{"id": id, "title": "One"}, nil)
		seen := until(first, "session.updated")["seq"].(float64)
		first.close()
		for _, title := range []string{"Two", "Three"} {
			k.Must("sessions.update", map[string]string{"id": id, "title": title}, nil)
		}
		second := open(k, fmt.Sprintf("%s.%.0f", boot, seen))
		defer second.close()
		for _, want := range []string{"Two", "Three"} {
			e := until(second, "session.updated")
			if data := e["data"].(map[string]any); data["title"] != want {
				t.Errorf("%v, want %s", e, want)
			}
		}
		for _, since := range []string{"another-start.3", boot + ".999999", "nonsense"} {
			c := open(k, since)
			if hello := until(c, "hello"); hello["boot"] != boot || hello["seq"] != float64(k.Bus().Seq()) {
				t.Errorf("since %s: the place in hello is not one of this start: %v", since, hello)
			}
			if e := c.receive(); e["type"] != "gap" {
				t.Errorf("since %s: %v", since, e)
			}
			c.close()
		}
	})
}

func TestWindowStreams(t *testing.T) {
	k := testkit.Start(t)
	w := openStreams(k)
	if err := w.Open("", "chat.run", nil); err == nil {
		t.Error("a stream without a name was opened")
	}
	if err := w.Open("a", "nothing.run", nil); err != nil {
		t.Fatal(err)
	}
	if b := w.next(t, "a"); !b.Done || b.Error == nil || b.Error.Status != 404 {
		t.Errorf("an unknown operation: %+v", b)
	}
	if err := w.Open("b", "chat.run", json.RawMessage(`{"text":"Hi"}`)); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for done := false; !done; {
		b := w.next(t, "b")
		for _, item := range b.Items {
			kinds = append(kinds, decode(t, item)["type"].(string))
		}
		done = b.Done
	}
	if len(kinds) < 3 || kinds[0] != "session" || kinds[len(kinds)-1] != "done" {
		t.Errorf("a turn: %v", kinds)
	}
	if err := w.Send("b", json.RawMessage(`{}`)); err == nil {
		t.Error("a message was taken by a stream that has ended")
	}
	w.Cancel("b") // has ended: no error
}

func TestWindowUpload(t *testing.T) {
	k := testkit.Start(t)
	w := openStreams(k)
	if err := w.Open("up", "files.upload", json.RawMessage(`{"name":"notes.txt","source":"upload","size":10}`)); err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{`{"piece":"aGVsbG8="}`, `{"piece":"d29ybGQ="}`, `{"end":true}`} {
		if err := w.Send("up", json.RawMessage(m)); err != nil {
			t.Fatal(err)
		}
	}
	var items []json.RawMessage
	for done := false; !done; {
		b := w.next(t, "up")
		if b.Error != nil {
			t.Fatalf("%+v", b.Error)
		}
		items, done = append(items, b.Items...), b.Done
	}
	if len(items) != 1 || decode(t, items[0])["size"] != float64(10) {
		t.Errorf("%s", items)
	}
	if _, body := k.Do(k.Request("GET", "/api/files/content/notes.txt", "")); body != "helloworld" {
		t.Errorf("kept %q", body)
	}
}
