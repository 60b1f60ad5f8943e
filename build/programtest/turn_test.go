//go:build program

package programtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/llm/scripted"
)

// Models that fail in every way: one error with a sentence, one done, nothing of the reply kept (§1), and the chat goes
// on afterwards.
func TestModelFaults(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	hello := scripted.Text("Half a ")
	faults := map[string]scripted.Play{
		"refuses-503":    scripted.Refuse(503, `{"error":{"message":"overloaded"}}`),
		"refuses-401":    scripted.Refuse(401, `{"error":{"message":"invalid key sk-secret"}}`),
		"refuses-429":    scripted.Refuse(429, `{"error":{"message":"slow down"}}`),
		"refuses-404":    scripted.Refuse(404, `{"error":{"message":"model not found"}}`),
		"refuses-500":    scripted.Refuse(500, `<html>Internal Server Error</html>`),
		"cuts-at-once":   {Cut: true},
		"cuts":           {Parts: []scripted.Part{{Bytes: hello}}, Cut: true},
		"ends-early":     scripted.Stream(hello),
		"rubbish":        scripted.Stream("\x00\xff\xfe rubbish <html>\n\n\n\ndata: {{{\n\n"),
		"rubbish-within": scripted.Stream(hello, "data: not json\n\n"),
		"error-event":    scripted.Stream(hello, "data: {\"error\":{\"message\":\"busy\"},\"choices\":[]}\n\n"),
		"says-nothing":   scripted.Stream(end(0)),
		"empty":          scripted.Stream(""),
		"json-instead":   {Header: http.Header{"Content-Type": {"application/json"}}, Parts: []scripted.Part{{Bytes: `{"ok":true}`}}},
	}
	for word, play := range faults {
		s.on(word, func(string) scripted.Play { return play })
	}
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	l := e.open(t)
	for word := range faults {
		must(t, l.say(map[string]any{"type": "chat.send", "text": word + " please"}))
		all := l.await(t, "a done", isDone(""))
		var errorsTold []happening
		session := ""
		for _, h := range all {
			session = h.SessionID
			if h.Type == "error" {
				errorsTold = append(errorsTold, h)
			}
		}
		done := all[len(all)-1]
		if len(errorsTold) != 1 || !isSentence(done.Error) || errorsTold[0].Message != done.Error || done.Content != "" || done.MessageID != nil {
			t.Errorf("%s: %d errors, done %+v", word, len(errorsTold), done)
			continue
		}
		t.Logf("%-15s %-18s %s", word, errorsTold[0].Code, done.Error)
		if strings.Contains(done.Error, "sk-secret") {
			t.Errorf("%s: the provider's own words are shown", word)
		}
		for _, m := range e.messages(session) {
			if m.Role == "assistant" {
				t.Errorf("%s: a failed reply was kept: %q", word, m.Content)
			}
		}
		// Nothing more of this turn comes: the next events are the next turn's.
		must(t, l.say(map[string]any{"type": "chat.send", "session_id": session, "text": "still there?", "client_id": word}))
		all = l.await(t, "an answer afterwards", isDone(session))
		if last := all[len(all)-1]; all[0].Type != "session" || last.Error != "" && !strings.Contains(last.Error, ".") {
			t.Errorf("%s: afterwards %+v … %+v", word, all[0], last)
		}
	}
	e.stop()
	looked(t, p.home, true)
}

// Stop closes the connection to a model that says nothing more, and keeps what it had said; so does the engine's end.
func TestStopClosesTheModelsSocket(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.on("hang", func(string) scripted.Play {
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("Let me ")}, {Bytes: scripted.Text("think")}}, Hang: true}
	})
	s.on("mute", func(string) scripted.Play { return scripted.Play{Hang: true} })
	s.on("never", func(string) scripted.Play { return scripted.Play{Before: make(chan struct{})} })
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	l := e.open(t)
	for i, c := range []struct{ word, kept string }{{"hang", "Let me think"}, {"mute", ""}, {"never", ""}} {
		must(t, l.say(map[string]any{"type": "chat.send", "text": c.word}))
		all := l.await(t, "the session event", func(h happening) bool { return h.Type == "session" })
		session := all[len(all)-1].SessionID
		eventually(t, hangLimit, "the model is asked", func() bool { return len(s.Requests()) > i })
		var d drawing
		if c.kept != "" {
			l.await(t, "the beginning", func(h happening) bool {
				return h.Type == "text_delta" && d.add(h.Text, h.Offset) && d.text() == c.kept
			})
		}
		must(t, l.say(map[string]any{"type": "chat.cancel", "session_id": session}))
		all = l.await(t, "the done of a stopped reply", isDone(session))
		done := all[len(all)-1]
		ctx, cancel := context.WithTimeout(t.Context(), hangLimit)
		err := s.AwaitGone(ctx, i+1)
		cancel()
		t.Logf("%-6s cancelled %v, kept %q, socket closed: %v", c.word, done.Cancelled, done.Content, err == nil)
		if err != nil || !done.Cancelled || done.Error != "" || done.Content != c.kept {
			t.Errorf("%s: %+v, socket: %v", c.word, done, err)
		}
	}
	must(t, l.say(map[string]any{"type": "chat.send", "text": "hang again"}))
	all := l.await(t, "the beginning", func(h happening) bool { return h.Type == "text_delta" })
	session := all[len(all)-1].SessionID
	e.stop()
	ctx, cancel := context.WithTimeout(t.Context(), hangLimit)
	defer cancel()
	must(t, s.AwaitGone(ctx, 4))
	looked(t, p.home, true)
	e = p.serve()
	if m := e.messages(session); len(m) != 2 || m[1].Content == "" || !strings.HasPrefix("Let me think", m[1].Content) || !m[1].Cancelled {
		t.Errorf("after a stop in mid reply: %+v", m)
	}
	e.stop()
}

// A client_id that is sent twice, one after the other and over many sockets in the same moment, makes one turn.
func TestSameMessageTwice(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	const sockets, rounds = 8, 20
	all := make([]*live, sockets)
	for i := range all {
		all[i] = e.open(t)
	}
	chats, turns := map[string]bool{}, map[string]bool{}
	for round := range rounds {
		client := fmt.Sprintf("twice-%d", round)
		var start sync.WaitGroup
		start.Add(1)
		seen := make([][2]string, sockets)
		var together sync.WaitGroup
		failed := make([]error, sockets)
		for i := range all {
			together.Go(func() {
				start.Wait()
				if i == sockets-1 { // one of them by POST /api/chat
					a := e.call("POST", "/api/chat", map[string]any{"text": "once " + client, "client_id": client})
					var h happening
					line, _, _ := strings.Cut(string(a.body), "\n")
					failed[i] = errors.Join(a.err, json.Unmarshal([]byte(line), &h))
					seen[i] = [2]string{h.SessionID, h.TurnID}
					if n := strings.Count(string(a.body), `"type":"done"`); n != 1 {
						failed[i] = fmt.Errorf("%d ends: %s", n, a)
					}
					return
				}
				for range 2 {
					failed[i] = errors.Join(failed[i], all[i].say(map[string]any{"type": "chat.send", "text": "once " + client, "client_id": client}))
				}
				_, err := all[i].until(func(h happening) bool {
					if h.Type == "session" && h.ClientID == client {
						seen[i] = [2]string{h.SessionID, h.TurnID}
					}
					return seen[i][1] != ""
				})
				failed[i] = errors.Join(failed[i], err)
			})
		}
		start.Done()
		together.Wait()
		for i := range all {
			if failed[i] != nil || seen[i] != seen[0] {
				t.Fatalf("round %d, client %d: turn %v, the first one has %v (%v)", round, i, seen[i], seen[0], failed[i])
			}
		}
		chats[seen[0][0]], turns[seen[0][1]] = true, true
	}
	e.stop()
	l := looked(t, p.home, true)
	asked := len(s.Requests())
	t.Logf("%d messages, each sent %d times over %d sockets: %d turns, %d chats, %d rows, %d requests to the model", rounds, 2*(sockets-1)+1, sockets, l.turns, l.chats, l.messages, asked)
	if l.turns != rounds || l.chats != rounds || l.messages != 2*rounds || asked != rounds || len(turns) != rounds || len(chats) != rounds {
		t.Error("a message was doubled")
	}
}

// POST /api/chat answers with lines, a session first and a done last; who hangs up does not end the turn.
func TestChatAsLines(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	open := make(chan struct{})
	s.on("wait", func(string) scripted.Play {
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("Before ")}, {Bytes: scripted.Text("and after") + end(2), Until: open}}}
	})
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	a := e.call("POST", "/api/chat", map[string]any{"text": "good morning", "client_id": "one"})
	var first, last happening
	lines := strings.Split(strings.TrimSpace(string(a.body)), "\n")
	must(t, json.Unmarshal([]byte(lines[0]), &first))
	must(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	if first.Type != "session" || first.ClientID != "one" || last.Type != "done" || last.Content != "You said: good morning" || !strings.HasPrefix(a.header.Get("Content-Type"), "application/x-ndjson") {
		t.Errorf("%s", a)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", e.url+"/api/chat", strings.NewReader(`{"text":"wait for it"}`))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+e.token)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	read := bufio.NewScanner(res.Body)
	var session happening
	for read.Scan() {
		var h happening
		must(t, json.Unmarshal(read.Bytes(), &h))
		if h.Type == "session" {
			session = h
		}
		if h.Type == "text_delta" {
			break
		}
	}
	l := e.open(t)
	hangUp()
	res.Body.Close()
	close(open)
	l.await(t, "the done of a turn whose client hung up", isDone(session.SessionID))
	m := e.messages(session.SessionID)
	t.Logf("after the hang-up: %q", m[len(m)-1].Content)
	if len(m) != 2 || m[1].Content != "Before and after" || m[1].Cancelled {
		t.Errorf("%+v", m)
	}
	e.stop()
	looked(t, p.home, true)
}

// cutting is a connection that breaks after so many bytes were read from it.
type cutting struct {
	net.Conn
	left int
}

func (c *cutting) Read(b []byte) (int, error) {
	if c.left <= 0 {
		_ = c.Close() // as a broken line would
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// A client's line breaks at random offsets of replies, again and again. It comes back with the last event it saw, or
// like a page that was loaded anew with sessions.live: what it draws in the end is what is stored (R21, R14).
func TestStreamCutAtRandomOffsets(t *testing.T) {
	const replies, pieces = 12, 400
	all := numbered(pieces)
	full := strings.Join(all, "")
	s := newStub(t)
	s.on("tell", func(string) scripted.Play { return paced(all, time.Millisecond) })
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	r := rand.New(rand.NewPCG(seedOfKills, 3))
	cuts := map[string]int{}
	for i := range replies {
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			// The handshake and hello take about 400 bytes; most cuts fall into deltas, many into the middle of a frame.
			return &cutting{c, 150 + r.IntN(12_000)}, nil
		}
		l := e.open(t)
		must(t, l.say(map[string]any{"type": "chat.send", "text": fmt.Sprintf("tell %d", i)}))
		told := l.await(t, "the session event", func(h happening) bool { return h.Type == "session" })
		session := told[len(told)-1].SessionID
		since := l.since()
		l.close()
		text, done := drawThroughCuts(t, e, dial, session, since, i%2 == 1, cuts)
		m := e.messages(session)
		if len(m) != 2 || m[1].Content != full {
			t.Fatalf("reply %d: stored %+v", i, m)
		}
		if text != full || done.Content != "" && done.Content != full {
			t.Errorf("reply %d: drawn %d bytes, stored %d", i, len(text), len(full))
		}
	}
	t.Logf("%d replies of %d bytes; cuts: %v", replies, len(full), cuts)
	if cuts["while reading"] < 50 {
		t.Errorf("only %d cuts", cuts["while reading"])
	}
	e.stop()
}

// drawThroughCuts follows a reply to its end over a line that breaks. reload: at each return the page starts anew.
func drawThroughCuts(t *testing.T, e *engine, dial func(context.Context, string, string) (net.Conn, error), session, since string, reload bool, cuts map[string]int) (text string, done happening) {
	t.Helper()
	d := &drawing{}
	anew := func() (over bool) {
		cuts["drawn anew"]++
		state := get[struct {
			TurnID *string `json:"turn_id"`
			Text   string  `json:"text"`
		}](e, "/api/sessions/"+session+"/live")
		d = &drawing{}
		if state.TurnID != nil {
			d.add(state.Text, 0)
			return false
		}
		for _, m := range e.messages(session) {
			if m.Role == "assistant" {
				d.add(m.Content, 0)
			}
		}
		return len(d.units) > 0
	}
	for range 400 {
		from := since
		if reload {
			from = ""
		}
		l, err := e.connect(t.Context(), from, dial)
		if err != nil {
			cuts["while connecting"]++
			continue
		}
		if reload && anew() {
			l.close()
			return d.text(), done
		}
		over := false
		_, err = l.until(func(h happening) bool {
			switch {
			case h.Type == "gap":
				over = anew()
			case h.Type == "text_delta" && h.SessionID == session && !d.add(h.Text, h.Offset):
				t.Errorf("a piece is missing before offset %d (reload %v)", h.Offset, reload)
			case h.Type == "done" && h.SessionID == session:
				over, done = true, h
			}
			return over
		})
		since = l.since()
		l.close()
		if err == nil {
			return d.text(), done
		}
		cuts["while reading"]++
	}
	t.Error("the reply did not come to its end")
	return d.text(), done
}
