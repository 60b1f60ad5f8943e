//go:build program

package programtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/llm/scripted"
)

const (
	stepsOfARun = 60
	killFor     = 50 * time.Second // how long rounds of kills go on
	seedOfKills = 20261130
)

// known is what a client was told, and what it asked for without hearing an answer.
type known struct {
	chats  map[string]*knownChat
	notes  map[string]bool // id → deleted
	maybe  map[string]bool // notes whose deletion was asked for
	name   string          // the setting that was saved last
	asked  string          // one that was asked for since
	serial int
}

type knownChat struct {
	titles  []string // the one that was acknowledged, then those that may have been saved
	gone    bool
	maybe   bool // its deletion was asked for
	sent    []*knownSend
	replies map[string]string // message id → text of done
}

type knownSend struct {
	client, text, turn string // turn: as it was acknowledged, or ""
}

// script is one client's run of steps against an engine that is killed at some moment.
type script struct {
	*known
	e   *engine
	l   *live
	r   *rand.Rand
	did map[string]int
}

// step does one thing; false when the engine is gone.
func (s *script) step() bool {
	s.serial++
	n := s.serial
	c, id := s.some()
	switch k := s.r.IntN(20); {
	case c == nil || k < 1:
		return s.create()
	case k < 10:
		return s.send(id, c, k%2 == 0)
	case k < 12:
		return s.rename(id, c)
	case k < 13:
		return s.remove(id, c)
	case k < 16:
		s.asked = fmt.Sprintf("name %d", n)
		ok := s.did1("config", s.e.call("PATCH", "/api/config", map[string]any{"assistant": map[string]any{"user_name": s.asked}}))
		if ok {
			s.name = s.asked
		}
		return ok
	case k < 18:
		return s.note()
	default:
		return s.unnote()
	}
}

// did1 counts a step that was acknowledged.
func (s *script) did1(what string, a answer) bool {
	if a.err != nil {
		return false
	}
	if a.status != 200 {
		s.e.t.Errorf("%s: %s", what, a)
		return true
	}
	s.did[what]++
	return true
}

func (s *script) some() (*knownChat, string) {
	for id, c := range s.chats { // any
		if !c.gone && !c.maybe {
			return c, id
		}
	}
	return nil, ""
}

func (s *script) create() bool {
	a := s.e.call("POST", "/api/sessions", map[string]any{})
	if ok := s.did1("create", a); !ok || a.status != 200 {
		return ok
	}
	s.chats[decoded[struct {
		SessionID string `json:"session_id"`
	}](s.e.t, a).SessionID] = &knownChat{titles: []string{""}, replies: map[string]string{}}
	return true
}

func (s *script) send(id string, c *knownChat, wait bool) bool {
	m := &knownSend{client: fmt.Sprintf("client-%d", s.serial), text: fmt.Sprintf("say number %d", s.serial)}
	c.sent = append(c.sent, m)
	if s.l.say(map[string]any{"type": "chat.send", "session_id": id, "text": m.text, "client_id": m.client}) != nil {
		return false
	}
	_, err := s.l.until(func(h happening) bool {
		if h.Type == "session" && h.ClientID == m.client {
			m.turn = h.TurnID
		}
		if h.Type == "done" && h.MessageID != nil && !h.Cancelled && s.chats[h.SessionID] != nil {
			s.chats[h.SessionID].replies[*h.MessageID] = h.Content
		}
		refused := h.Type == "error" && h.ClientID == m.client // others are of chats that were deleted with messages waiting
		if refused {
			s.e.t.Errorf("send: %s %s", h.Code, h.Message)
		}
		return m.turn != "" && (!wait || h.Type == "done" && h.TurnID == m.turn) || refused
	})
	if err == nil {
		s.did["send"]++
	}
	return err == nil
}

func (s *script) rename(id string, c *knownChat) bool {
	title := fmt.Sprintf("Title %d", s.serial)
	c.titles = append(c.titles, title)
	ok := s.did1("rename", s.e.call("PATCH", "/api/sessions/"+id, map[string]any{"title": title}))
	if ok {
		c.titles = []string{title}
	}
	return ok
}

func (s *script) remove(id string, c *knownChat) bool {
	c.maybe = true
	ok := s.did1("delete", s.e.call("DELETE", "/api/sessions/"+id, nil))
	c.gone = ok
	return ok
}

func (s *script) note() bool {
	a := s.e.call("POST", "/api/notifications", map[string]any{"message": fmt.Sprintf("note %d", s.serial)})
	ok := s.did1("note", a)
	if ok && a.status == 200 {
		s.notes[decoded[notification](s.e.t, a).ID] = false
	}
	return ok
}

func (s *script) unnote() bool {
	for id, gone := range s.notes {
		if gone || s.maybe[id] {
			continue
		}
		s.maybe[id] = true
		ok := s.did1("delete note", s.e.call("DELETE", "/api/notifications/"+id, nil))
		s.notes[id] = ok
		return ok
	}
	return s.note()
}

// The engine is killed at random moments of a run of steps, again and again on the same folder: whatever it had
// acknowledged is there after the restart, nothing twice, every turn has one end, the database is whole (R1).
func TestKillAtRandomMoments(t *testing.T) {
	s := newStub(t)
	s.on("say", func(text string) scripted.Play {
		return paced(strings.SplitAfter("An answer of some words to "+text, " "), 2*time.Millisecond)
	})
	p := newPerson(t)
	p.configure(s, "")
	k := &known{chats: map[string]*knownChat{}, notes: map[string]bool{}, maybe: map[string]bool{}}
	r := rand.New(rand.NewPCG(seedOfKills, 1))
	did, rounds, whole := map[string]int{}, 0, 0
	var slowest time.Duration
	for end := time.Now().Add(killFor); time.Now().Before(end) && !t.Failed(); rounds++ {
		e := p.serve()
		slowest = max(slowest, e.took)
		k.verify(t, e)
		if rounds%5 == 4 {
			e.stop()
			looked(t, p.home, true)
			e = p.serve()
			whole++
		}
		l, err := e.connect(t.Context(), "", nil)
		must(t, err)
		run := &script{known: k, e: e, l: l, r: r, did: did}
		var killer sync.WaitGroup
		after := time.Duration(r.IntN(500_000)) * time.Microsecond
		killer.Go(func() {
			<-in(after)
			e.kill()
		})
		for i := 0; i < stepsOfARun && run.step(); i++ {
		}
		killer.Wait()
		l.close()
		k.trim(t, r)
	}
	e := p.serve()
	k.verify(t, e)
	e.stop()
	l := looked(t, p.home, true)
	t.Logf("rounds %d (%d with a look into the database), slowest start %s, acknowledged: %v; %d chats, %d messages, %d turns at the end", rounds, whole, slowest.Round(time.Millisecond), did, l.chats, l.messages, l.turns)
	if rounds < 5 {
		t.Errorf("only %d rounds", rounds)
	}
}

// verify asks the engine for everything that was acknowledged.
func (k *known) verify(t *testing.T, e *engine) {
	t.Helper()
	there := map[string]string{}
	for _, c := range get[[]chat](e, "/api/sessions?limit=1000") {
		there[c.ID] = c.Title
	}
	l, err := e.connect(t.Context(), "", nil)
	must(t, err)
	defer l.close()
	for id, c := range k.chats {
		title, ok := there[id]
		switch {
		case c.gone && ok:
			t.Errorf("chat %s was deleted and is back", id)
		case !ok && !c.gone && !c.maybe:
			t.Errorf("chat %s is lost", id)
		}
		c.gone, c.maybe = !ok, false
		if ok {
			k.verifyChat(t, e, l, id, c, title)
		}
	}
	have := map[string]bool{}
	for _, n := range e.notifications() {
		have[n.ID] = true
	}
	for id, gone := range k.notes {
		if have[id] == gone && (gone || !k.maybe[id]) {
			t.Errorf("note %s: deleted %v, there %v", id, gone, have[id])
		}
		k.notes[id] = !have[id]
	}
	name := get[bootstrap](e, "/api/bootstrap").Assistant.UserName
	if name != k.name && name != k.asked {
		t.Errorf("the setting is %q; %q was saved, %q asked for", name, k.name, k.asked)
	}
	k.name, k.asked = name, name
}

func (k *known) verifyChat(t *testing.T, e *engine, l *live, id string, c *knownChat, title string) {
	t.Helper()
	ok := len(c.titles) == 1 && c.titles[0] == "" // nobody named it: its first words do
	for _, have := range c.titles {
		ok = ok || have == title || have == ""
	}
	if !ok {
		t.Errorf("chat %s is titled %q, not one of %q", id, title, c.titles)
	}
	if len(c.titles) > 1 || c.titles[0] != "" {
		c.titles = []string{title}
	}
	for _, m := range c.sent { // what was sent is sent again: the same turn answers, nothing is doubled
		must(t, l.say(map[string]any{"type": "chat.send", "session_id": id, "text": m.text, "client_id": m.client}))
		var turn string
		l.await(t, "the answer to a repeated message", func(h happening) bool {
			if h.Type == "session" && h.ClientID == m.client {
				turn = h.TurnID
			}
			return turn != "" || h.Type == "steer_ack" && h.ClientID == m.client // it was said into a reply
		})
		if m.turn != "" && turn != "" && turn != m.turn {
			t.Errorf("message %s was answered by turn %s, and by %s when sent again", m.client, m.turn, turn)
		}
		m.turn = turn
	}
	users, byID := map[string]int{}, map[string]message{}
	for _, m := range e.messages(id) {
		byID[m.ID] = m
		if m.Role == "user" {
			users[m.Content]++
		}
	}
	for _, m := range c.sent {
		if users[m.text] != 1 {
			t.Errorf("message %q is there %d times", m.text, users[m.text])
		}
	}
	for mid, text := range c.replies {
		if byID[mid].Content != text {
			t.Errorf("reply %s was told as %q and is %q", mid, text, byID[mid].Content)
		}
	}
}

// trim keeps the run quick: of many chats only the newest are looked at on and on.
func (k *known) trim(t *testing.T, r *rand.Rand) {
	t.Helper()
	for id, c := range k.chats {
		if len(c.sent) > 30 || c.gone || len(k.chats) > 8 && r.IntN(2) == 0 {
			delete(k.chats, id)
		}
	}
	for id := range k.notes {
		if len(k.notes) > 40 {
			delete(k.notes, id)
		}
	}
}

// The engine is killed in the middle of a reply: what is kept is a beginning of it, marked as cut off, once, and its
// turn has ended; asking again in the same chat works (R14).
func TestKillInMidReply(t *testing.T) {
	const pieces, kills = 400, 14
	all := numbered(pieces)
	full := strings.Join(all, "")
	s := newStub(t)
	s.on("tell", func(string) scripted.Play { return paced(all, 2*time.Millisecond) })
	p := newPerson(t)
	p.configure(s, "")
	r := rand.New(rand.NewPCG(seedOfKills, 2))
	for i := range kills {
		e := p.serve()
		l, err := e.connect(t.Context(), "", nil)
		must(t, err)
		must(t, l.say(map[string]any{"type": "chat.send", "text": fmt.Sprintf("tell %d", i), "client_id": fmt.Sprintf("tell-%d", i)}))
		var killer sync.WaitGroup
		killer.Go(func() {
			<-in(time.Duration(20+r.IntN(700)) * time.Millisecond)
			e.kill()
		})
		var d drawing
		session, turn := "", ""
		_, err = l.until(func(h happening) bool {
			if h.Type == "session" {
				session, turn = h.SessionID, h.TurnID
			}
			if h.Type == "text_delta" && !d.add(h.Text, h.Offset) {
				t.Errorf("a piece is missing before offset %d", h.Offset)
			}
			return false
		})
		killer.Wait()
		l.close()
		if session == "" {
			t.Logf("kill %2d: before the message was taken (%v)", i, err)
			continue
		}
		e = p.serve()
		kept := checkCutReply(t, e, session, fmt.Sprintf("tell %d", i), full)
		t.Logf("kill %2d: shown %4d bytes, kept %4d", i, len(d.text()), len(kept))
		if !strings.HasPrefix(full, d.text()) {
			t.Errorf("what was shown is no beginning of what the model said")
		}
		again, err := e.connect(t.Context(), "", nil)
		must(t, err)
		must(t, again.say(map[string]any{"type": "chat.send", "session_id": session, "text": fmt.Sprintf("tell %d", i), "client_id": fmt.Sprintf("tell-%d", i)}))
		again.await(t, "the first turn", func(h happening) bool { return h.Type == "session" && h.TurnID == turn })
		must(t, again.say(map[string]any{"type": "chat.send", "session_id": session, "text": "and now"}))
		done := again.await(t, "an answer after the restart", isDone(session))
		if last := done[len(done)-1]; last.Content == "" || last.Error != "" {
			t.Errorf("after the restart: %q %q", last.Content, last.Error)
		}
		again.close()
		e.stop()
		looked(t, p.home, true)
	}
}

func checkCutReply(t *testing.T, e *engine, session, said, full string) (kept string) {
	t.Helper()
	users, replies, ends := 0, 0, 0
	for _, m := range e.messages(session) {
		switch {
		case m.Role == "user" && m.Content == said:
			users++
		case m.Role == "assistant":
			replies++
			kept = m.Content
			if !m.Cancelled {
				t.Error("a reply that was cut off does not say so")
			}
		case m.Role == "event" && m.Name != nil && *m.Name == "interrupted":
			ends++
		}
	}
	if users != 1 || replies > 1 || ends != 1 {
		t.Errorf("%d messages, %d replies, %d ends", users, replies, ends)
	}
	if !strings.HasPrefix(full, kept) {
		t.Errorf("what was kept is no beginning of what the model said: %q", kept)
	}
	if state := get[struct {
		TurnID *string `json:"turn_id"`
	}](e, "/api/sessions/"+session+"/live"); state.TurnID != nil {
		t.Error("its turn is still running")
	}
	return kept
}
