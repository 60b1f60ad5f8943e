package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/agent"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

func TestSendRefuses(t *testing.T) {
	r := newRig(t, scripted.New())
	for name, c := range map[string]struct {
		in   agent.SendInput
		code string
	}{
		"nothing":             {agent.SendInput{Text: " \n"}, "message_empty"},
		"too long":            {agent.SendInput{Text: strings.Repeat("é", 1_000_001)}, "message_too_long"},
		"model without slash": {agent.SendInput{Text: "x", Model: "gpt"}, "model_invalid"},
		"unknown chat":        {agent.SendInput{Text: "x", SessionID: "nope"}, "chat_unknown"},
		"unknown attachment":  {agent.SendInput{Text: "x", Attachments: []string{"nope.pdf"}}, "file_unknown"},
		"attachment outside":  {agent.SendInput{Text: "x", Attachments: []string{"../sentient.db"}}, "file_unknown"},
		"long client_id":      {agent.SendInput{Text: "x", ClientID: strings.Repeat("x", 129)}, "client_id_invalid"},
		"many attachments":    {agent.SendInput{Text: "x", Attachments: make([]string, 21)}, "too_many_attachments"},
	} {
		if _, err := r.Send(t.Context(), &c.in); errs.Code(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := r.chats.List(t.Context(), &session.ListInput{})
	if err != nil || len(list) != 0 {
		t.Fatal("a refused message left a chat", list, err)
	}
	if e, ok := r.all.Try(); ok {
		t.Fatal("a refused message told", e.Topic.Name)
	}
}

func TestATurnStreamsAndIsKept(t *testing.T) {
	m := scripted.New(scripted.Say("Hel", "lo ", "Maya. 😀").Think("Hm.").Counting(llm.Usage{Prompt: 900, Completion: 20}))
	r := newRig(t, m)
	r.models.choice.ContextLength = 1000
	out := r.send(agent.SendInput{Text: "Hi", ClientID: "c1"})
	var names []string
	var text, thinking string
	for _, e := range r.until(isDone) {
		if ref, ok := transcript.RefOf(e); !ok || ref.SessionID != out.SessionID || ref.TurnID != out.TurnID {
			t.Fatal("event without its turn", e.Topic.Name)
		}
		if d, ok := event.Is(transcript.TopicTextDelta, e); ok {
			text += d.Text
			continue
		}
		if d, ok := event.Is(transcript.TopicThinkingDelta, e); ok {
			thinking += d.Text
			continue
		}
		if u, ok := event.Is(transcript.TopicUsage, e); ok {
			if *u.ContextPercent != 92 || u.PromptTokens != 900 || !strings.Contains(*u.ContextWarning, "92%") || u.Model != "test/primary" {
				t.Fatal(u)
			}
		}
		if d, ok := event.Is(transcript.TopicDone, e); ok {
			rows := r.messages(out.SessionID)
			if d.Content != "Hello Maya. 😀" || d.MessageID == nil || *d.MessageID != rows[1].ID || d.Cancelled || d.Error != "" {
				t.Fatal(d)
			}
			if *rows[1].Thinking != "Hm." || rows[1].Content != d.Content {
				t.Fatal(rows[1])
			}
		}
		names = append(names, e.Topic.Name)
	}
	if got := strings.Join(names, " "); got != "session usage done" || text != "Hello Maya. 😀" || thinking != "Hm." {
		t.Fatal(got, text, thinking)
	}
}

func isDone(e *event.Event) bool { return e.Topic == transcript.TopicDone.Info() }

// Each way in which a model ends, and how the turn then ends.
func TestHowTurnsEnd(t *testing.T) {
	limit := errs.New(errs.Limited, llm.CodeRateLimited, "The limit is reached. Wait a minute.")
	for name, c := range map[string]struct {
		step   scripted.Step
		err    string // of done
		reply  string // kept
		notice string
	}{
		"well":           {step: scripted.Say("Yes."), reply: "Yes."},
		"refused":        {step: scripted.Fail(limit), err: limit.Message},
		"fails midway":   {step: scripted.Step{Pieces: []scripted.Piece{{Text: "Part"}}, Err: limit}, err: limit.Message},
		"breaks off":     {step: scripted.Step{Pieces: []scripted.Piece{{Text: "Part"}}, Cut: true}, err: "The model's answer broke off in the middle. Try again, or pick another model in Settings > Models."},
		"our own fault":  {step: scripted.Fail(errors.New("dial tcp 10.0.0.1")), err: "Something went wrong inside Sentient. The details are in its log."},
		"says nothing":   {step: scripted.Say("  \n"), err: "The model gave no answer. Try again, or pick another model in Settings > Models."},
		"filtered":       {step: scripted.Step{Finish: llm.FinishFilter}, err: "The model's service held its answer back. Ask in other words, or pick another model in Settings > Models."},
		"cut by length":  {step: scripted.Step{Pieces: []scripted.Piece{{Text: "Long"}}, Finish: llm.FinishLength}, reply: "Long", notice: "reply_cut"},
		"slow with note": {step: scripted.Step{Pieces: []scripted.Piece{{Note: "Still reading."}, {Note: "Still."}, {Text: "late"}}}, reply: "late", notice: "model_waiting"},
		"broken bytes":   {step: scripted.Say("a\xffb\x00c"), reply: "a\uFFFDb\uFFFDc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, scripted.New(c.step))
			out := r.send(agent.SendInput{Text: "Q"})
			events := r.until(isDone)
			d, _ := event.Is(transcript.TopicDone, events[len(events)-1])
			if d.Error != c.err || d.Content != c.reply || (d.MessageID != nil) != (c.reply != "") || d.Cancelled {
				t.Fatal(d)
			}
			want := "user: Q\n"
			if c.reply != "" {
				want += "assistant: " + c.reply + "\n"
			}
			if got := r.said(out.SessionID); got != want {
				t.Fatal(got)
			}
			notices := 0
			for i, e := range events {
				if n, ok := event.Is(transcript.TopicNotice, e); ok {
					notices++
					if n.Code != c.notice {
						t.Fatal(n)
					}
				}
				if f, ok := event.Is(transcript.TopicError, e); ok && (f.Recoverable || f.Message != c.err || i != len(events)-2) {
					t.Fatal(f, i)
				}
			}
			if (notices == 1) != (c.notice != "") {
				t.Fatal(notices, "notices")
			}
		})
	}
}

// panics is a model that ends in a panic.
type panics struct{}

func (panics) Stream(context.Context, llm.Request, func(llm.Delta) error) (llm.Reply, error) {
	panic("model bug")
}

func TestPanicEndsTheTurn(t *testing.T) {
	r := newRig(t, panics{})
	out := r.send(agent.SendInput{Text: "Q"})
	if d := r.done(out.TurnID); d.Error == "" || d.MessageID != nil {
		t.Fatal(d)
	}
	if got := r.said(out.SessionID); got != "user: Q\n" {
		t.Fatal(got)
	}
}

// deaf is a model that goes on whatever its context says, and speaks late.
type deaf struct {
	release chan struct{}
	spoke   chan error
}

func (m deaf) Stream(_ context.Context, _ llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	if err := each(llm.Delta{Text: "Before."}); err != nil {
		return llm.Reply{}, err
	}
	<-m.release
	m.spoke <- each(llm.Delta{Text: "After."})
	return llm.Reply{Text: "Before.After."}, nil
}

func TestStopDoesNotWaitForADeafModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := deaf{make(chan struct{}), make(chan error, 1)}
		r := newRig(t, m)
		out := r.send(agent.SendInput{Text: "Q"})
		r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
		if c, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: out.SessionID}); err != nil || !c.Cancelled {
			t.Fatal(c, err)
		}
		d := r.done(out.TurnID)
		if !d.Cancelled || d.Content != "Before." || d.MessageID == nil || d.Error != "" {
			t.Fatal(d)
		}
		close(m.release)
		if err := <-m.spoke; err == nil {
			t.Fatal("a late piece was taken")
		}
		if got := r.said(out.SessionID); got != "user: Q\nassistant: Before.\n" {
			t.Fatal(got)
		}
		r.close()
	})
}

func TestStopBeforeAnythingWasSaid(t *testing.T) {
	r := newRig(t, scripted.New(scripted.Hang()))
	out := r.send(agent.SendInput{Text: "Q"})
	if _, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: out.SessionID}); err != nil {
		t.Fatal(err)
	}
	if d := r.done(out.TurnID); !d.Cancelled || d.MessageID != nil || d.Content != "" {
		t.Fatal(d)
	}
	if c, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: "nope"}); err != nil || c.Cancelled {
		t.Fatal(c, err)
	}
}

// A message that is sent while a reply is written waits, and is answered after it, also when that reply is stopped or
// fails (never lost, never twice).
func TestAMessageWaitsItsTurn(t *testing.T) {
	for name, end := range map[string]func(r *rig, release chan struct{}, id string){
		"finished": func(_ *rig, release chan struct{}, _ string) { close(release) },
		"stopped": func(r *rig, _ chan struct{}, id string) {
			if _, err := r.Cancel(r.t.Context(), &agent.CancelInput{SessionID: id}); err != nil {
				r.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			m := scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A1"}, {Until: release, Text: "!"}}}, scripted.Say("B1"), scripted.Say("C1"))
			r := newRig(t, m)
			a := r.send(agent.SendInput{Text: "A"})
			r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
			b := r.queue(agent.SendInput{Text: "B", SessionID: a.SessionID})
			c := r.queue(agent.SendInput{Text: "C", SessionID: a.SessionID})
			if got := r.said(a.SessionID); got != "user: A\nuser: B\nuser: C\n" {
				t.Fatal(got)
			}
			end(r, release, a.SessionID)
			first := r.done(a.TurnID).Content
			r.done(b.TurnID)
			r.done(c.TurnID)
			if got := r.said(a.SessionID); got != "user: A\nassistant: "+first+"\nuser: B\nassistant: B1\nuser: C\nassistant: C1\n" {
				t.Fatal(got)
			}
			// The model that answers B reads what came before it, and not C.
			if got := prompt(m.Requests()[1]); got != "user: A\nassistant: "+first+"\nuser: B\n" {
				t.Fatal(got)
			}
		})
	}
}

// prompt gives a request's messages after the system prompt.
func prompt(req llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages[1:] {
		text, _, _ := strings.Cut(undated(m.Text), "\n\n[File attached")
		b.WriteString(string(m.Role) + ": " + text + "\n")
	}
	return b.String()
}

func TestHaltDropsWhatWaits(t *testing.T) {
	t.Parallel()
	m := scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A1"}}, Hang: true}, scripted.Say("C1"))
	r := newRig(t, m)
	a := r.send(agent.SendInput{Text: "A"})
	r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
	b := r.queue(agent.SendInput{Text: "B", SessionID: a.SessionID, ClientID: "client-b"})
	if n, err := r.Halt(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	var dropped transcript.DoneEvent
	var why transcript.ErrorEvent
	ends := 0
	r.until(func(e *event.Event) bool {
		if f, ok := event.Is(transcript.TopicError, e); ok {
			why = f
		}
		if d, ok := event.Is(transcript.TopicDone, e); ok {
			ends++
			if d.TurnID == b.TurnID {
				dropped = d
			}
		}
		return ends == 2
	})
	if !dropped.Cancelled || len(dropped.Dropped) != 1 || dropped.Dropped[0] != "B" || dropped.ClientID != "client-b" || dropped.MessageID != nil {
		t.Fatal(dropped)
	}
	if why.Message != "Stopped. Your queued message wasn't sent." || !why.Dropped || why.ClientID != "client-b" || why.TurnID != b.TurnID {
		t.Fatal(why)
	}
	if got := r.said(a.SessionID); got != "user: A\nassistant: A1\nuser: B\nevent: {\"event\":\"not_sent\"}\n" {
		t.Fatal(got)
	}
	// What is sent afterwards works, and the model never hears of what was dropped.
	c := r.queue(agent.SendInput{Text: "C", SessionID: a.SessionID})
	r.done(c.TurnID)
	if got := prompt(m.Last()); got != "user: A\nassistant: A1\nuser: C\n" {
		t.Fatal(got)
	}
}

func TestAClientIDStartsOneTurn(t *testing.T) {
	t.Parallel()
	m := scripted.New(scripted.Say("One."))
	r := newRig(t, m)
	in := agent.SendInput{Text: "Q", ClientID: "same"}
	first := r.send(in)
	r.done(first.TurnID)
	in.SessionID = first.SessionID
	for _, again := range []agent.SendInput{in, {Text: "Q", ClientID: "same"}} {
		if out := r.send(again); *out != *first {
			t.Fatal(out, first)
		}
		events := r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicSession.Info() })
		s, _ := event.Is(transcript.TopicSession, events[len(events)-1])
		if s.ClientID != "same" || s.TurnID != first.TurnID {
			t.Fatal(s)
		}
	}
	if len(m.Requests()) != 1 {
		t.Fatal(len(m.Requests()), "calls")
	}
	list, err := r.chats.List(t.Context(), &session.ListInput{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
}

func TestDeletingAChatEndsItsTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A1"}}, Hang: true}))
	a := r.send(agent.SendInput{Text: "A"})
	b := r.queue(agent.SendInput{Text: "B", SessionID: a.SessionID})
	if _, err := r.chats.Delete(t.Context(), &session.DeleteInput{ID: a.SessionID}); err != nil {
		t.Fatal(err)
	}
	ended := map[string]int{}
	r.until(func(e *event.Event) bool {
		if d, ok := event.Is(transcript.TopicDone, e); ok {
			ended[d.TurnID]++
		}
		return e.Topic == session.TopicDeleted.Info()
	})
	if ended[a.TurnID] != 1 || ended[b.TurnID] != 1 {
		t.Fatal(ended)
	}
	if _, err := r.Send(t.Context(), &agent.SendInput{Text: "C", SessionID: a.SessionID}); errs.StatusOf(err) != 404 {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "chat_events", "turns", "messages", "open_replies", "message_text"} {
		var n int
		if err := r.db.Reader().QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil || n != 0 {
			t.Fatal(table, n, err)
		}
	}
}

// A database that fails at a turn's end still gives it one done; the next message of the chat ends it in the log too.
func TestAFailingDatabaseStillEndsTheTurn(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A1"}, {Until: release, Text: "!"}}}, scripted.Say("B1")))
	a := r.send(agent.SendInput{Text: "A"})
	r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
	r.exec(`CREATE TRIGGER broken BEFORE INSERT ON chat_events BEGIN SELECT raise(ABORT, 'no'); END`)
	close(release)
	if d := r.done(a.TurnID); d.Error == "" || d.MessageID != nil || d.Content != "" {
		t.Fatal(d)
	}
	r.exec(`DROP TRIGGER broken`)
	r.settle(a.SessionID)
	b := r.queue(agent.SendInput{Text: "B", SessionID: a.SessionID})
	if d := r.done(b.TurnID); d.Content != "B1" {
		t.Fatal(d)
	}
	if n := r.count(`SELECT count(*) FROM chat_events WHERE kind = 'done' AND turn_id = ?`, a.TurnID); n != 1 {
		t.Fatal(n, "dones in the log")
	}
	if n := r.count(`SELECT count(*) FROM turns WHERE state IN ('queued', 'running')`); n != 0 {
		t.Fatal(n, "open turns")
	}
}

func (r *rig) exec(q string, args ...any) {
	r.t.Helper()
	if err := r.db.Write(r.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(q, args...)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) count(q string, args ...any) (n int) {
	r.t.Helper()
	if err := r.db.Reader().QueryRow(q, args...).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// settle waits until a chat is answering nothing: a done is told a moment before its chat is free.
func (r *rig) settle(id string) {
	release, err := r.Retire(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	release()
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A1"}}, Hang: true}))
	a := r.send(agent.SendInput{Text: "A"})
	r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
	b := r.queue(agent.SendInput{Text: "B", SessionID: a.SessionID})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Send(t.Context(), &agent.SendInput{Text: "C"}); errs.Code(err) != "closing" {
		t.Fatal(err)
	}
	r.close()
	again := openRig(t, r.dir, scripted.New(), nil)
	if got := again.said(a.SessionID); got != "user: A\nassistant: A1\nuser: B\nevent: {\"event\":\"not_sent\"}\n" {
		t.Fatal(got)
	}
	if n := again.count(`SELECT count(*) FROM chat_events WHERE kind = 'done' AND turn_id IN (?, ?)`, a.TurnID, b.TurnID); n != 2 {
		t.Fatal(n)
	}
}

func TestTheChatsOwnModelFallsBack(t *testing.T) {
	off := errs.New(errs.Unavailable, llm.CodeModelUnknown, "Claude is turned off.")
	for name, c := range map[string]struct {
		own    llm.Model
		refuse error
		sent   string // model of the message
		notice bool
		err    string
		reply  string
	}{
		"answers":                 {own: scripted.New(scripted.Say("own")), reply: "own"},
		"cannot be chosen":        {refuse: off, notice: true, reply: "default"},
		"fails before a word":     {own: scripted.New(scripted.Fail(off)), notice: true, reply: "default"},
		"fails in the middle":     {own: scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "o"}}, Err: off}), err: off.Message},
		"the message's own fails": {refuse: off, sent: "cloud/own", err: off.Message},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, scripted.New(scripted.Say("default")))
			r.models.byName["cloud/own"], r.models.refuse["cloud/own"] = c.own, c.refuse
			chat, err := r.chats.Create(t.Context(), &session.CreateInput{Model: "cloud/own"})
			if err != nil {
				t.Fatal(err)
			}
			r.send(agent.SendInput{Text: "Q", SessionID: chat.SessionID, Model: c.sent})
			notices := 0
			r.until(func(e *event.Event) bool {
				if n, ok := event.Is(transcript.TopicNotice, e); ok {
					notices++
					if n.Code != "model_fallback" || n.Model != "cloud/own" || n.Used != "test/primary" ||
						n.Message != "This chat uses own, which can't answer right now, so primary is answering instead. Claude is turned off." {
						t.Error(n)
					}
				}
				if d, ok := event.Is(transcript.TopicDone, e); ok && (d.Error != c.err || d.Content != c.reply) {
					t.Error(d)
				}
				return isDone(e)
			})
			if (notices == 1) != c.notice {
				t.Fatal(notices, "notices")
			}
		})
	}
}

// A reply is in the database to within 250 ms of what was shown.
func TestAnOpenReplyIsCheckpointed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Thinking: "hm"}, {Text: "one "}, {Wait: time.Second, Text: "two "}, {Until: release, Text: "three"}}}))
		out := r.send(agent.SendInput{Text: "Q"})
		saved := func() (text string) {
			if err := r.db.Reader().QueryRow(`SELECT coalesce(group_concat(text, '|'), '') FROM (SELECT text FROM open_replies WHERE turn_id = ? ORDER BY n)`, out.TurnID).Scan(&text); err != nil {
				t.Fatal(err)
			}
			return text
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if got := saved(); got != "one " {
			t.Fatal(got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := saved(); got != "one |two " {
			t.Fatal(got)
		}
		close(release)
		r.done(out.TurnID)
		if got := saved(); got != "" {
			t.Fatal(got)
		}
		r.close()
	})
}
