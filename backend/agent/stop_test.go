package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"sentient/backend/agent"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/transcript"
)

// stepping is a model that says two words and tells when it gets where.
type stepping struct {
	reached func(ctx context.Context, step string)
}

func (m stepping) Stream(ctx context.Context, _ llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	m.reached(ctx, "call")
	if err := each(llm.Delta{Text: "one "}); err != nil {
		return llm.Reply{}, err
	}
	m.reached(ctx, "word")
	if err := each(llm.Delta{Text: "two"}); err != nil {
		return llm.Reply{}, err
	}
	m.reached(ctx, "end")
	return llm.Reply{Text: "one two", Finish: llm.FinishStop}, nil
}

// stops are the ways in which a person or the engine stops a turn.
var stops = map[string]func(r *rig, chat string) error{
	"cancel": func(r *rig, chat string) error {
		_, err := r.Cancel(context.Background(), &agent.CancelInput{SessionID: chat})
		return err
	},
	"halt": func(r *rig, _ string) error {
		_, err := r.Halt(context.Background())
		return err
	},
	"delete": func(r *rig, chat string) error {
		_, err := r.chats.Delete(context.Background(), &session.DeleteInput{ID: chat})
		return err
	},
	"close": func(r *rig, _ string) error { return r.Close(context.Background()) },
}

// A turn can be stopped at every step, in every way, and still has one done that says what is kept.
func TestStopAtEachStep(t *testing.T) {
	kept := map[string]string{"choose": "", "call": "", "word": "one ", "end": "one two"}
	for step, want := range kept {
		for how, stop := range stops {
			t.Run(how+" at "+step, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, nil)
				r.models.byRole["primary"] = stepping{func(ctx context.Context, at string) { r.at(ctx, at) }}
				chat, err := r.chats.Create(t.Context(), &session.CreateInput{})
				if err != nil {
					t.Fatal(err)
				}
				var stopping sync.WaitGroup
				var once sync.Once
				r.at = func(ctx context.Context, at string) {
					if at == step {
						once.Do(func() {
							stopping.Go(func() {
								if err := stop(r, chat.SessionID); err != nil {
									t.Error(err)
								}
							})
							<-ctx.Done()
						})
					}
				}
				out := r.send(agent.SendInput{Text: "Q", SessionID: chat.SessionID})
				d := r.done(out.TurnID)
				if d.Content != want || (d.MessageID == nil) != (want == "") || d.Error != "" || d.Cancelled == (step == "end") {
					t.Error(d)
				}
				stopping.Wait()
				r.goesOnAfter(how, chat.SessionID)
			})
		}
	}
}

// goesOnAfter checks what a chat does after it was stopped, and that its turn has no second done.
func (r *rig) goesOnAfter(how, chat string) {
	r.t.Helper()
	out, err := r.Send(r.t.Context(), &agent.SendInput{Text: "Again", SessionID: chat})
	switch how {
	case "delete":
		if errs.StatusOf(err) != 404 {
			r.t.Error(err)
		}
		return
	case "close":
		if errs.Code(err) != "closing" {
			r.t.Error(err)
		}
		return
	}
	if err != nil {
		r.t.Fatal(err)
	}
	events := r.until(isDone)
	if d, _ := event.Is(transcript.TopicDone, events[len(events)-1]); d.TurnID != out.TurnID || d.Content != "one two" {
		r.t.Error(d)
	}
}

// A panic anywhere in a turn ends that turn with a sentence, and lets in what waits.
func TestAPanicAnywhereEndsTheTurn(t *testing.T) {
	for _, step := range []string{"compose", "choose", "call", "word", "end"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.models.byRole["primary"] = stepping{func(ctx context.Context, at string) { r.at(ctx, at) }}
			waits := make(chan struct{})
			var once sync.Once
			r.at = func(_ context.Context, at string) {
				if at == step {
					once.Do(func() {
						<-waits
						panic("bug")
					})
				}
			}
			a := r.send(agent.SendInput{Text: "A"})
			b := r.queue(agent.SendInput{Text: "B", SessionID: a.SessionID})
			close(waits)
			if d := r.done(a.TurnID); d.Error != "Something went wrong inside Sentient. The details are in its log." || d.MessageID != nil || d.Content != "" {
				t.Error(d)
			}
			if d := r.done(b.TurnID); d.Content != "one two" {
				t.Error(d)
			}
			if got := r.said(a.SessionID); got != "user: A\nuser: B\nassistant: one two\n" {
				t.Error(got)
			}
		})
	}
}

// A model that hangs keeps its turn open, without a bound of ours, until it is stopped.
func TestAHangingModelWaitsForStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A"}}, Hang: true}))
		out := r.send(agent.SendInput{Text: "Q"})
		synctest.Wait()
		if !r.IsRunning(out.SessionID) {
			t.Fatal("not running")
		}
		if c, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: out.SessionID}); err != nil || !c.Cancelled {
			t.Fatal(c, err)
		}
		if d := r.done(out.TurnID); !d.Cancelled || d.Content != "A" {
			t.Error(d)
		}
		r.close()
	})
}

// When nothing can run any more, a long queue ends one by one and not on top of each other, and each message has its done.
func TestALongQueueEndsWithTheTree(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r := newRig(t, deaf{release, make(chan error, 1)})
	a := r.send(agent.SendInput{Text: "A"})
	turns := map[string]int{a.TurnID: 0}
	for i := range 60 {
		turns[r.queue(agent.SendInput{Text: fmt.Sprint("B", i), SessionID: a.SessionID}).TurnID] = 0
	}
	var closing sync.WaitGroup
	closing.Go(r.tree.Close) // without the order of an orderly end
	seen := r.bus.Subscribe(nil, isDone)
	r.untilAll(seen, turns)
	close(release)
	closing.Wait()
	for turn, n := range turns {
		if n != 1 {
			t.Error(n, "dones for", turn)
		}
	}
	if n := r.count(`SELECT count(*) FROM turns WHERE state = 'unsent'`); n != 60 {
		t.Error(n, "not sent")
	}
	if out, err := r.Send(t.Context(), &agent.SendInput{Text: "C"}); err == nil { // let in, and ended at once
		if n := r.count(`SELECT count(*) FROM chat_events WHERE kind = 'done' AND turn_id = ?`, out.TurnID); n != 1 {
			t.Error(n, "dones")
		}
	}
}

// untilAll counts dones until each turn has one.
func (r *rig) untilAll(seen *event.Subscription, turns map[string]int) {
	for left := len(turns); left > 0; {
		e, err := seen.Next(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if d, ok := event.Is(transcript.TopicDone, e); ok {
			if turns[d.TurnID]++; turns[d.TurnID] == 1 {
				left--
			}
		}
	}
}

// What Stop everything drops is never read by a model, however soon the next message comes.
func TestDroppedMessagesAreNeverRead(t *testing.T) {
	t.Parallel()
	m := scripted.By(func(req llm.Request) scripted.Step {
		if strings.HasSuffix(req.Messages[len(req.Messages)-1].Text, "hang") {
			return scripted.Hang()
		}
		return scripted.Say("ok")
	})
	r := newRig(t, m)
	chat := r.send(agent.SendInput{Text: "hang"}).SessionID
	for range 2 {
		for i := range 20 {
			r.send(agent.SendInput{Text: fmt.Sprint("waiting ", i), SessionID: chat})
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.Halt(t.Context()); err != nil {
				t.Error(err)
			}
		})
		for i := range 5 {
			wg.Go(func() { r.send(agent.SendInput{Text: fmt.Sprint("soon ", i), SessionID: chat}) })
		}
		wg.Wait()
		r.settle(chat)
		r.send(agent.SendInput{Text: "then hang", SessionID: chat})
	}
	r.settle(chat)
	for _, req := range m.Requests() {
		if p := prompt(req); strings.Contains(p, "waiting") {
			t.Fatal(p)
		}
	}
	if n := r.count(`SELECT count(*) FROM turns WHERE (SELECT count(*) FROM chat_events e WHERE e.turn_id = turns.id AND kind = 'done') <> 1`); n != 0 {
		t.Error(n, "turns without one done")
	}
}

// Stop everything also stops the model that is just naming a chat.
func TestHaltStopsNaming(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan error, 1)
	r := newRig(t, scripted.New(scripted.Say("Hi.")))
	r.settings.AutoTitle = true
	r.models.byRole["fast"] = modelFunc(func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	r.send(agent.SendInput{Text: "Hello"})
	<-asked
	if _, err := r.Halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type modelFunc func(ctx context.Context) error

func (f modelFunc) Stream(ctx context.Context, _ llm.Request, _ func(llm.Delta) error) (llm.Reply, error) {
	return llm.Reply{}, f(ctx)
}

// A chat that is to be deleted for its silence is left alone while it is answered, and lets nobody in once it is not.
func TestRetireIdle(t *testing.T) {
	release := make(chan struct{})
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "A"}, {Until: release}}}, scripted.Say("B")))
	out := r.send(agent.SendInput{Text: "Q"})
	if _, idle, err := r.RetireIdle(t.Context(), out.SessionID); idle || err != nil {
		t.Fatal(idle, err)
	}
	close(release)
	if d := r.done(out.TurnID); d.Cancelled || d.Content != "A" {
		t.Fatal(d)
	}
	r.settle(out.SessionID)
	leave, idle, err := r.RetireIdle(t.Context(), out.SessionID)
	if !idle || err != nil {
		t.Fatal(idle, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Send(ctx, &agent.SendInput{Text: "Q", SessionID: out.SessionID}); !errors.Is(err, context.Canceled) {
		t.Error("a message was let in", err)
	}
	leave()
	if d := r.done(r.send(agent.SendInput{Text: "Q", SessionID: out.SessionID}).TurnID); d.Content != "B" {
		t.Error(d)
	}
}
