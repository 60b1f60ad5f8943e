package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/agent"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// TestEveryTurnEndsOnce plays seeded random days: people in several chats send, say something into a reply, send again,
// stop, change what they said and delete, while the model answers, uses slow tools, fails, breaks off, hangs, panics or
// goes deaf, and tools do the same, until everything is stopped and the engine closes. Then each turn has one done, each
// call one result, no message is lost or doubled, what was shown is what is kept, and the rows are what the log says.
func TestEveryTurnEndsOnce(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newChaos(t, seed, seed%2 == 1).play() })
		})
	}
}

type chaos struct {
	*rig
	rnd   *rand.Rand
	flaky sync.Mutex // held while the database refuses to write the log
	fails bool       // it does so now and then
	mu    sync.Mutex
	sent  map[string]string // chat by text
	chats map[string]bool   // true: deleted
	turns map[string]string // chat by turn, as told
	dones map[string]int
	shown map[string]string // text deltas by message
	calls map[string]int    // told
	ends  map[string]int    // results told, by call
	ended map[string]transcript.DoneEvent
	freed chan struct{}
}

func newChaos(t *testing.T, seed uint64, fails bool) *chaos {
	c := &chaos{fails: fails, rnd: rand.New(rand.NewPCG(seed, 1)), sent: map[string]string{}, chats: map[string]bool{},
		turns: map[string]string{}, calls: map[string]int{}, ends: map[string]int{}, dones: map[string]int{}, shown: map[string]string{}, ended: map[string]transcript.DoneEvent{}, freed: make(chan struct{})}
	c.rig = newRig(t, chaoticModel{c})
	c.tools.add(c.tool("look_up", tool.Read), c.tool("look_aside", tool.Read), c.tool("note_down", tool.Write))
	c.settings.ParallelReads, c.settings.RepeatLimit = true, 3
	return c
}

func (c *chaos) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rnd.IntN(n)
}

// chaoticModel answers each call in a way of its own.
type chaoticModel struct{ *chaos }

func (m chaoticModel) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	step := scripted.Step{}
	for i := range 1 + m.n(6) {
		step.Pieces = append(step.Pieces, scripted.Piece{Text: fmt.Sprintf("piece %d. ", i), Wait: time.Duration(m.n(200)) * time.Millisecond})
	}
	switch m.n(12) {
	case 8, 9, 10, 11:
		if len(req.Tools) == 0 {
			break
		}
		for range 1 + m.n(4) {
			step.Calls = append(step.Calls, llm.ToolCall{Name: req.Tools[m.n(len(req.Tools))].Name, Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, m.n(3)))})
		}
	case 0:
		step.Err = errs.New(errs.Limited, llm.CodeRateLimited, "The limit is reached.")
	case 1:
		step.Hang = true
	case 2:
		step.Cut = true
	case 3:
		panic("model bug")
	case 4:
		_ = each(llm.Delta{Text: "deaf"})
		<-m.freed
		return llm.Reply{}, errors.New("far too late")
	}
	return scripted.New(step).Stream(ctx, req, each)
}

// tool is a tool that takes its time, and sometimes fails, panics, or never ends.
func (c *chaos) tool(name string, risk tool.Risk) *tool.Tool {
	return tool.New(tool.Def[struct {
		N int `json:"n"`
	}]{Name: name, Description: "Does something.", Risk: risk, Internal: true, Within: time.Second,
		Run: func(ctx context.Context, at *tool.Context, in struct {
			N int `json:"n"`
		}) (any, error) {
			at.Tell(tool.Progress{Kind: "status", Text: "working"})
			time.Sleep(time.Duration(c.n(900)) * time.Millisecond)
			switch c.n(6) {
			case 0:
				return nil, errors.New("tool failed")
			case 1:
				panic("tool bug")
			case 2:
				<-ctx.Done()
				return nil, ctx.Err()
			case 3:
				<-c.freed
			}
			return map[string]any{"n": in.N, "salt": c.n(2)}, nil
		}})
}

func (c *chaos) play() {
	var people, watch sync.WaitGroup
	watch.Go(c.watch)
	for person := range 4 {
		people.Go(func() { c.person(person) })
	}
	people.Wait()
	if c.n(2) == 0 {
		if _, err := c.Halt(c.t.Context()); err != nil {
			c.t.Error(err)
		}
	}
	if err := c.Close(c.t.Context()); err != nil {
		c.t.Error(err)
	}
	close(c.freed)
	c.all.Close()
	watch.Wait()
	c.close()
	c.check(openRig(c.t, c.dir, scripted.New(), nil))
}

// watch notes what a window would hear.
func (c *chaos) watch() {
	for {
		e, err := c.all.Next(context.Background())
		if err != nil {
			return
		}
		c.mu.Lock()
		switch d := e.Payload.(type) {
		case transcript.SessionEvent:
			c.turns[d.TurnID] = d.SessionID
		case transcript.DoneEvent:
			c.dones[d.TurnID]++
			c.ended[d.TurnID] = d
		case transcript.TextDelta:
			if n := len([]rune(c.shown[d.MessageID])); n != d.Offset {
				c.t.Errorf("a piece at %d after %d", d.Offset, n)
			}
			c.shown[d.MessageID] += d.Text
		case transcript.ToolCallEvent:
			c.calls[d.TurnID+d.CallID]++
		case transcript.ToolResultEvent:
			c.ends[d.TurnID+d.CallID]++
		}
		if e.Topic == event.Gap {
			c.t.Error("a gap for a reader that keeps up")
		}
		c.mu.Unlock()
	}
}

func (c *chaos) person(person int) {
	var mine []string
	for i := range 15 {
		time.Sleep(time.Duration(c.n(400)) * time.Millisecond)
		pick := func() string {
			if len(mine) == 0 {
				return ""
			}
			return mine[c.n(len(mine))]
		}
		switch c.n(12) {
		case 0:
			_, err := c.Cancel(c.t.Context(), &agent.CancelInput{SessionID: pick()})
			c.expect(err)
		case 1:
			if id := pick(); id != "" && c.n(3) == 0 {
				_, err := c.rig.chats.Delete(c.t.Context(), &session.DeleteInput{ID: id})
				c.expect(err)
				c.mu.Lock()
				c.chats[id] = true
				c.mu.Unlock()
			}
		case 2:
			c.breakDatabase()
		case 3:
			if id := pick(); id != "" {
				c.steers(agent.SteerInput{SessionID: id, Text: fmt.Sprintf("steer %d of person %d", i, person), ClientID: fmt.Sprintf("s%d-%d", person, i)})
			}
		default:
			in := agent.SendInput{Text: fmt.Sprintf("message %d of person %d", i, person), SessionID: pick(), ClientID: fmt.Sprintf("%d-%d", person, i)}
			if c.n(3) == 0 {
				in.SessionID = ""
			}
			mine = append(mine, c.sends(in)...)
		}
	}
}

func (c *chaos) steers(in agent.SteerInput) {
	out, err := c.Steer(c.t.Context(), &in)
	c.expect(err)
	if err == nil {
		c.mu.Lock()
		c.sent[in.Text] = out.SessionID
		c.mu.Unlock()
	}
}

func (c *chaos) breakDatabase() {
	if !c.fails || !c.flaky.TryLock() {
		return
	}
	defer c.flaky.Unlock()
	c.exec(`CREATE TRIGGER broken BEFORE INSERT ON chat_events BEGIN SELECT raise(ABORT, 'no'); END`)
	time.Sleep(time.Duration(c.n(500)) * time.Millisecond)
	c.exec(`DROP TRIGGER broken`)
}

// sends sends a message, sometimes twice at once, and gives the new chat, if it made one.
func (c *chaos) sends(in agent.SendInput) (made []string) {
	var wg sync.WaitGroup
	outs := make([]*agent.SendResult, 1+c.n(2))
	for i := range outs {
		wg.Go(func() {
			out, err := c.Send(c.t.Context(), &in)
			c.expect(err)
			outs[i] = out
		})
	}
	wg.Wait()
	for _, out := range outs {
		if out == nil {
			continue
		}
		if outs[0] != nil && out.SessionID != outs[0].SessionID && !c.deleted(outs[0].SessionID) {
			c.t.Error("one message, two chats", in, out, outs[0])
		}
		c.mu.Lock()
		c.sent[in.Text] = out.SessionID
		if _, known := c.chats[out.SessionID]; !known {
			c.chats[out.SessionID] = false
			made = append(made, out.SessionID)
		}
		c.mu.Unlock()
	}
	return made
}

func (c *chaos) deleted(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chats[id]
}

// expect allows what deleting a chat, and a database that refuses, make of a call.
func (c *chaos) expect(err error) {
	if err != nil && !errs.Is(err, errs.NotFound) && !c.fails {
		c.t.Error(err)
	}
}

func (c *chaos) check(r *rig) {
	for turn, chat := range c.turns {
		if c.dones[turn] != 1 {
			c.t.Errorf("%d dones for a turn of %s", c.dones[turn], chat)
		}
	}
	for turn := range c.dones {
		if c.turns[turn] == "" {
			c.t.Error("a done of no turn")
		}
	}
	for call, n := range c.calls {
		if n != 1 || c.ends[call] != 1 {
			c.t.Errorf("call %s: told %d times, ended %d times", call, n, c.ends[call])
		}
	}
	for id, deleted := range c.chats {
		if deleted {
			continue
		}
		c.checkChat(r, id)
	}
	if n := r.count(`SELECT count(*) FROM open_replies`); n != 0 {
		c.t.Error(n, "pieces left behind")
	}
	if n := r.count(`SELECT count(*) FROM turns WHERE state IN ('queued', 'running')`); n != 0 {
		c.t.Error(n, "open turns")
	}
}

func (c *chaos) checkChat(r *rig, id string) {
	rows := r.messages(id)
	text := map[string]int{}
	replies := map[string]string{}
	for _, m := range rows {
		if m.Role == "user" {
			text[m.Content]++
		}
		if m.Role == "assistant" {
			replies[m.ID] = m.Content
		}
	}
	for said, chat := range c.sent {
		if chat == id && text[said] != 1 {
			c.t.Errorf("%q stands %d times", said, text[said])
		}
	}
	for turn, chat := range c.turns {
		if chat != id {
			continue
		}
		if m := c.ended[turn].MessageID; m != nil && replies[*m] != c.ended[turn].Content {
			c.t.Errorf("kept %q, done says %q", replies[*m], c.ended[turn].Content)
		}
		if n := r.count(`SELECT count(*) FROM chat_events WHERE kind = 'done' AND turn_id = ?`, turn); n != 1 {
			c.t.Error(n, "dones in the log")
		}
	}
	for message, kept := range replies {
		// Where the end of its turn could not be written, what had been saved of it was found again.
		if shown := c.shown[message]; kept != shown && !(c.fails && strings.HasPrefix(shown, kept)) {
			c.t.Errorf("shown %q, kept %q", shown, kept)
		}
	}
	if n := r.count(`SELECT count(*) FROM messages m, json_each(m.tool_calls) c WHERE m.session_id = ?1 AND
		(SELECT count(*) FROM messages t WHERE t.session_id = ?1 AND t.tool_call_id = c.value ->> 'id') <> 1`, id); n != 0 {
		c.t.Error(n, "calls without one result")
	}
	before := dump(r, id)
	if err := r.log.Rebuild(c.t.Context(), id); err != nil {
		c.t.Error(err)
	}
	if after := dump(r, id); after != before {
		c.t.Errorf("rebuilt differs:\n%s\n%s", before, after)
	}
}

// dump gives every byte of a chat's projections.
func dump(r *rig, id string) string {
	r.t.Helper()
	var b strings.Builder
	for _, q := range []string{
		`SELECT json_group_array(json_array(n, id, turn_id, role, content, thinking, tool_calls, tool_call_id, name, attachments, interjection, memory_sources, sources, approval, checks, cancelled, searchable, created_at)) FROM (SELECT * FROM messages WHERE session_id = ? ORDER BY n)`,
		`SELECT json_group_array(json_array(id, parent_id, client_id, state, created_at, ended_at)) FROM (SELECT * FROM turns WHERE session_id = ? ORDER BY id)`,
		`SELECT json_group_array(json_array(name, message_n)) FROM (SELECT * FROM message_files WHERE session_id = ? ORDER BY name, message_n)`,
	} {
		var row string
		if err := r.db.Reader().QueryRow(q, id).Scan(&row); err != nil {
			r.t.Fatal(err)
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}
