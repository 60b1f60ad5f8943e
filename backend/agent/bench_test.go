package agent_test

import (
	"context"
	"testing"
	"time"

	"sentient/backend/agent"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/transcript"
)

// timed is a model that notes when it is called and what its pieces cost.
type timed struct {
	called chan time.Time
	deltas int
	cost   chan time.Duration
}

func (m timed) Stream(_ context.Context, _ llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	m.called <- time.Now()
	start := time.Now()
	for range m.deltas {
		if err := each(llm.Delta{Text: "some words "}); err != nil {
			return llm.Reply{}, err
		}
	}
	m.cost <- time.Since(start)
	return llm.Reply{Finish: llm.FinishStop}, nil
}

// BenchmarkDelta is what a piece of text costs from the model's callback to the bus, with one window reading (P3, P4).
func BenchmarkDelta(b *testing.B) {
	m := timed{make(chan time.Time, 1), b.N, make(chan time.Duration, 1)}
	r := newRig(b, m)
	window := r.bus.Subscribe(nil, nil)
	b.ReportAllocs()
	if _, err := r.Send(b.Context(), &agent.SendInput{Text: "Q"}); err != nil {
		b.Fatal(err)
	}
	for {
		e, err := window.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if isDone(e) {
			break
		}
	}
	b.ReportMetric(float64((<-m.cost).Nanoseconds())/float64(b.N), "ns/delta")
}

// BenchmarkFirstToken is what a turn adds before the model is asked, and from its first piece to a window (P3), in a
// chat with 30 messages.
func BenchmarkFirstToken(b *testing.B) {
	m := timed{make(chan time.Time, 1), 1, make(chan time.Duration, 1)}
	r := newRig(b, m)
	var before, after time.Duration
	id := ""
	turn := func() {
		start := time.Now()
		out, err := r.Send(b.Context(), &agent.SendInput{Text: "How are you today?", SessionID: id})
		if err != nil {
			b.Fatal(err)
		}
		id = out.SessionID
		called := <-m.called
		before += called.Sub(start)
		<-m.cost
		for {
			e, err := r.all.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := event.Is(transcript.TopicTextDelta, e); ok {
				after += time.Since(called)
			}
			if isDone(e) {
				break
			}
		}
		r.settle(id)
	}
	for range 15 {
		turn()
	}
	before, after = 0, 0
	for b.Loop() {
		turn()
	}
	b.ReportMetric(float64(before.Microseconds())/float64(b.N), "µs-before-call")
	b.ReportMetric(float64(after.Microseconds())/float64(b.N), "µs-to-window")
}
