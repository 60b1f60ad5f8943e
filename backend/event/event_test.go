package event

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"sentient/backend/clock"
)

type said struct {
	Chat string
	Text string
}

var (
	added = Declare[int]("thing.added")
	other = Declare[int]("thing.other")
	ended = DeclareChat[string]("done")
	delta = DeclareLossy("text_delta", func(a, b said) (said, bool) {
		return said{a.Chat, a.Text + b.Text}, a.Chat == b.Chat
	})
	tick = DeclareLossy("tick", func(a, b int) (int, bool) { return 0, false })
)

func newBus() *Bus { return NewBus(clock.Real{}) }

// drain reads what waits.
func drain(s *Subscription) (all []*Event) {
	for e, ok := s.Try(); ok; e, ok = s.Try() {
		all = append(all, e)
	}
	return all
}

// show writes events as "name:payload#seq".
func show(events []*Event) string {
	var all []string
	for _, e := range events {
		p := fmt.Sprint(e.Payload)
		if e.Topic == Gap {
			p = ""
		}
		all = append(all, fmt.Sprintf("%s:%s#%d", e.Topic.Name, p, e.Seq))
	}
	return strings.Join(all, " ")
}

func TestTopics(t *testing.T) {
	for _, c := range []struct {
		info        *Info
		name        string
		chat, lossy bool
	}{
		{added.Info(), "thing.added", false, false},
		{ended.Info(), "done", true, false},
		{delta.Info(), "text_delta", true, true},
	} {
		if c.info.Name != c.name || c.info.Chat != c.chat || c.info.Lossy() != c.lossy || c.info.Zero == nil {
			t.Errorf("%+v", c.info)
		}
	}
	if added.Name() != "thing.added" {
		t.Error(added.Name())
	}
	e := &Event{Topic: added.Info(), Payload: 5}
	if v, ok := Is(added, e); v != 5 || !ok {
		t.Error(v, ok)
	}
	if _, ok := Is(other, e); ok {
		t.Error("one topic is another")
	}
	if _, ok := Is(added, &Event{Topic: Gap}); ok {
		t.Error("a gap is a topic")
	}
}

func TestOrderAndNumbers(t *testing.T) {
	b := newBus()
	early := b.Subscribe(nil, nil)
	Publish(b, added, 1)
	late := b.Subscribe(nil, nil)
	odd := b.Subscribe(nil, func(e *Event) bool { return e.Seq%2 == 1 })
	Publish(b, other, 2)
	Publish(b, ended, "x")
	if got := show(drain(early)); got != "thing.added:1#1 thing.other:2#2 done:x#3" {
		t.Error(got)
	}
	if got := show(drain(late)); got != "thing.other:2#2 done:x#3" {
		t.Error(got)
	}
	if got := show(drain(odd)); got != "done:x#3" {
		t.Error(got)
	}
	if b.Seq() != 3 || b.Dropped() != 0 || b.Boot() == "" || b.Boot() == newBus().Boot() {
		t.Error(b.Seq(), b.Dropped(), b.Boot())
	}
}

func TestCatchUp(t *testing.T) {
	filled := func() *Bus {
		b := newBus()
		b.boot = "here"
		for n := range ringEvents + 10 {
			Publish(b, tick, n+1)
		}
		return b
	}
	const last = uint64(ringEvents + 10)
	for _, c := range []struct {
		name  string
		since Place
		want  string
	}{
		{"another start", Place{"x", last}, "gap:#4106"},
		{"no boot", Place{"", 5}, "gap:#4106"},
		{"from the future", Place{"here", last + 1}, "gap:#4106"},
		{"far too large", Place{"here", ^uint64(0)}, "gap:#4106"},
		{"too old", Place{"here", 9}, "gap:#4106"},
		{"from the start", Place{"here", 0}, "gap:#4106"},
		{"nothing missed", Place{"here", last}, ""},
		{"two missed", Place{"here", last - 2}, "tick:4105#4105 tick:4106#4106"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := filled()
			s := b.Subscribe(&c.since, nil)
			if got := show(drain(s)); got != c.want {
				t.Errorf("got %s", got)
			}
			Publish(b, tick, 0)
			if got := drain(s); len(got) != 1 {
				t.Error("nothing fresh after it")
			}
		})
	}
	// The oldest place from which the ring still reaches.
	b := filled()
	s := b.Subscribe(&Place{"here", last - ringEvents}, func(e *Event) bool { return e.Seq < last-ringEvents+3 })
	if got := show(drain(s)); got != "tick:11#11 tick:12#12" {
		t.Error(got)
	}
}

// All text of a stream arrives, however slow its reader is, as long as it is read before too much else waits.
func TestJoiningKeepsAllText(t *testing.T) {
	b := newBus()
	s := b.Subscribe(nil, nil)
	quick := b.Subscribe(nil, nil)
	var want, seen strings.Builder
	for n := range 5000 {
		p := said{"a", fmt.Sprintf("%d ", n)}
		want.WriteString(p.Text)
		Publish(b, delta, p)
		for _, e := range drain(quick) {
			v, _ := Is(delta, e)
			seen.WriteString(v.Text)
		}
	}
	Publish(b, ended, "x")
	var got strings.Builder
	events := drain(s)
	for _, e := range events {
		v, _ := Is(delta, e)
		got.WriteString(v.Text)
	}
	if got.String() != want.String() || seen.String() != want.String() {
		t.Error("text was lost or came twice")
	}
	if len(events) > 5000/joinedAtMost+2 || b.Dropped() != 0 {
		t.Errorf("%d events, %d dropped", len(events), b.Dropped())
	}
	if last := events[len(events)-2]; last.Seq != 5000 {
		t.Errorf("a joined event has number %d", last.Seq)
	}
}

func TestOnlyNeighboursAreJoined(t *testing.T) {
	b := newBus()
	s := b.Subscribe(nil, nil)
	for _, p := range []said{{"a", "1"}, {"a", "2"}, {"b", "3"}, {"a", "4"}} {
		Publish(b, delta, p)
	}
	Publish(b, added, 5)
	Publish(b, delta, said{"a", "6"})
	Publish(b, tick, 7)
	Publish(b, tick, 8)
	want := "text_delta:{a 12}#2 text_delta:{b 3}#3 text_delta:{a 4}#4 thing.added:5#5 text_delta:{a 6}#6 tick:7#7 tick:8#8"
	if got := show(drain(s)); got != want {
		t.Error(got)
	}
}

// A joined event is the reader's own: the one in the ring, and that of other readers, stays as it was published.
func TestJoiningChangesNobodyElse(t *testing.T) {
	b := newBus()
	slow, quick := b.Subscribe(nil, nil), b.Subscribe(nil, nil)
	Publish(b, delta, said{"a", "1"})
	first, _ := quick.Try()
	encode := func(e *Event) []byte { return []byte(fmt.Sprint(e.Payload)) }
	if got := string(first.Wire(encode)); got != "{a 1}" {
		t.Error(got)
	}
	Publish(b, delta, said{"a", "2"})
	joined, _ := slow.Try()
	if got := string(joined.Wire(encode)); got != "{a 12}" {
		t.Error(got)
	}
	again := b.Subscribe(&Place{b.Boot(), 0}, func(e *Event) bool { return e.Seq == 1 })
	if e, _ := again.Try(); e != first || string(e.Wire(func(*Event) []byte { return []byte("encoded twice") })) != "{a 1}" {
		t.Error("the ring's event was changed or encoded twice")
	}
}

// A reader that reads nothing gets one gap in place of everything, and then what is fresh.
func TestReaderThatNeverReads(t *testing.T) {
	b := newBus()
	s := b.Subscribe(nil, nil)
	for n := range queueKept + 100 {
		Publish(b, added, n)
	}
	events := drain(s)
	if len(events) != 100 || events[0].Topic != Gap || events[0].Seq != queueKept+1 {
		t.Fatalf("%d events, first %s", len(events), show(events[:1]))
	}
	for i, e := range events[1:] {
		if e.Topic == Gap || e.Seq != events[0].Seq+uint64(i)+1 {
			t.Fatalf("after the gap: %s", show(events[:5]))
		}
	}
	if b.Dropped() != queueKept+1 {
		t.Errorf("%d dropped", b.Dropped())
	}
	for n := range 5*queueKept + 7 {
		Publish(b, added, n)
	}
	gaps := 0
	events = drain(s)
	for _, e := range events {
		if e.Topic == Gap {
			gaps++
		}
	}
	if gaps != 1 || events[0].Topic != Gap || events[len(events)-1].Seq != b.Seq() {
		t.Errorf("%d gaps in %d events", gaps, len(events))
	}
	if got := uint64(queueKept + 100 + 5*queueKept + 7 - 99 - (len(events) - 1)); b.Dropped() != got {
		t.Errorf("%d dropped, %d are missing", b.Dropped(), got)
	}
}

// What may be lost goes first, and a gap says where; what is kept still comes.
func TestLossyIsGivenUpFirst(t *testing.T) {
	b := newBus()
	s := b.Subscribe(nil, nil)
	for n := range queueLossy + 50 {
		Publish(b, tick, n)
	}
	Publish(b, added, 1)
	for n := range 50 {
		Publish(b, tick, n)
	}
	Publish(b, added, 2)
	events := drain(s)
	want := fmt.Sprintf("gap:#%d thing.added:1#%d gap:#%d thing.added:2#%d", queueLossy+50, queueLossy+51, queueLossy+101, queueLossy+102)
	if got := show(events[queueLossy:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if b.Dropped() != 100 {
		t.Errorf("%d dropped", b.Dropped())
	}
}

func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus()
		s := b.Subscribe(nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var got []*Event
		var end error
		go func() {
			for {
				e, err := s.Next(ctx)
				if err != nil {
					end = err
					return
				}
				got = append(got, e)
			}
		}()
		synctest.Wait()
		Publish(b, added, 1)
		Publish(b, added, 2)
		synctest.Wait()
		if show(got) != "thing.added:1#1 thing.added:2#2" {
			t.Error(show(got))
		}
		cancel()
		synctest.Wait()
		if !errors.Is(end, context.Canceled) {
			t.Error(end)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus()
		waits := b.Subscribe(nil, nil)
		full := b.Subscribe(nil, nil)
		var end error
		go func() { _, end = waits.Next(t.Context()) }()
		synctest.Wait()
		waits.Close()
		synctest.Wait()
		if !errors.Is(end, context.Canceled) {
			t.Error("Next did not end:", end)
		}
		Publish(b, added, 1)
		full.Close()
		full.Close()
		Publish(b, added, 2)
		if e, err := full.Next(t.Context()); err != nil || e.Seq != 1 {
			t.Error(e, err)
		}
		for range 2 {
			if _, err := full.Next(t.Context()); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if len(b.subs) != 0 {
			t.Errorf("%d subscriptions are still known", len(b.subs))
		}
	})
}

// Fifty readers, quick and slow, coming and going, with locks held around Publish: order holds for each, nothing is
// missing without a gap, and no publisher waits.
func TestManyReaders(t *testing.T) {
	b := newBus()
	const publishers, each, readers = 4, 3000, 50
	var lock sync.Mutex
	var all sync.WaitGroup
	done, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range readers {
		all.Go(func() {
			s := b.Subscribe(&Place{b.Boot(), 0}, nil)
			place := uint64(0)
			for n := 0; ; n++ {
				e, err := s.Next(done)
				if err != nil {
					s.Close()
					for _, e := range drain(s) {
						place = e.Seq
					}
					break
				}
				if e.Topic != Gap && (e.Seq <= place || e.Seq != place+1 && e.Topic != delta.Info()) {
					t.Errorf("reader %d: %d after %d", i, e.Seq, place)
					return
				}
				place = e.Seq
				if i%5 == 0 && n%100 == 99 { // cuts off and comes back
					s.Close()
					drain(s)
					s = b.Subscribe(&Place{b.Boot(), place}, nil)
				}
				if i%7 == 0 {
					lock.Lock()
					lock.Unlock() //nolint:staticcheck // waits for whoever publishes under it
				}
			}
			if want := b.Seq(); place != want {
				t.Errorf("reader %d ended at %d of %d", i, place, want)
			}
		})
	}
	var writers sync.WaitGroup
	for p := range publishers {
		writers.Go(func() {
			for n := range each {
				lock.Lock()
				if n%3 == 0 {
					Publish(b, delta, said{fmt.Sprint(p), "x"})
				} else {
					Publish(b, added, n)
				}
				lock.Unlock()
			}
		})
	}
	writers.Wait()
	cancel()
	all.Wait()
	if b.Seq() != publishers*each {
		t.Error(b.Seq())
	}
}
