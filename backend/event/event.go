// Package event is the mechanism by which the engine tells what happened.
//
// It owns typed topics, one ordered bus, the numbering of events and the ring from which a client catches up. No topic
// is declared here: each is declared once beside the package that owns its type, and api lists them all.
//
// It promises: one order for everybody (Seq rises by one an event, from 1 for each engine start); a subscriber sees
// every kept event in that order, or a Gap in the place of what it missed; a publisher never waits for a subscriber.
// It does not promise that a lossy event arrives, nor anything across a restart.
package event

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"sentient/backend/clock"
)

// Class says what may happen to an event when a subscriber is slow.
type Class uint8

const (
	// Kept events are never left out in silence: a subscriber that cannot hold them gets a Gap.
	Kept Class = iota
	// Lossy events (a piece of streaming text, progress) are joined with the one before, and given up first.
	Lossy
)

// Topic is a named stream of values of one type. Declare topics as package variables with Declare or DeclareLossy.
type Topic[T any] struct {
	info *Info
}

// Info is what every topic has in common.
type Info struct {
	Name  string // the wire's "type"
	Class Class
	Chat  bool                       // a chat event: flat on the wire; else a domain event with "data"
	Zero  any                        // a zero value of the payload's type, for schemas
	join  func(a, b any) (any, bool) // lossy: a and then b as one, where that is possible
}

// Declare makes a topic whose events are kept.
func Declare[T any](name string) Topic[T] {
	var zero T
	return Topic[T]{&Info{Name: name, Class: Kept, Zero: zero}}
}

// DeclareChat makes a topic of chat events (§1, no dot in the type), which are flat on the wire.
func DeclareChat[T any](name string) Topic[T] {
	t := Declare[T](name)
	t.info.Chat = true
	return t
}

// DeclareLossy makes a topic of chat events that may be joined (join gives false where two cannot be) and lost.
func DeclareLossy[T any](name string, join func(a, b T) (T, bool)) Topic[T] {
	t := DeclareChat[T](name)
	t.info.Class = Lossy
	t.info.join = func(a, b any) (any, bool) {
		x, ok1 := a.(T)
		y, ok2 := b.(T)
		if !ok1 || !ok2 {
			return nil, false
		}
		return join(x, y)
	}
	return t
}

// Info gives what the catalogue needs.
func (t Topic[T]) Info() *Info { return t.info }

// Name is the wire's "type".
func (t Topic[T]) Name() string { return t.info.Name }

// Event is one thing that happened. It is shared by all subscribers and never changed after it was published.
type Event struct {
	Seq     uint64
	At      time.Time
	Topic   *Info
	Payload any // the topic's type; nil for a Gap

	wire atomic.Pointer[[]byte]
}

// Is reports whether the event belongs to the topic, and gives its payload.
func Is[T any](t Topic[T], e *Event) (T, bool) {
	if e.Topic != t.info {
		var zero T
		return zero, false
	}
	v, ok := e.Payload.(T)
	return v, ok
}

// Wire gives the event's encoding, made once however many subscribers send it.
func (e *Event) Wire(encode func(*Event) []byte) []byte {
	if p := e.wire.Load(); p != nil {
		return *p
	}
	b := encode(e)
	e.wire.Store(&b)
	return b
}

// Gap marks the place where a subscriber missed events: it should fetch again what it shows.
var Gap = &Info{Name: "gap", Class: Kept}

// Limits of the bus. What they are for stands beside each.
const (
	ringEvents   = 4096 // how far back a client that lost its socket can catch up
	queueLossy   = 256  // waiting lossy events before they are given up
	queueKept    = 2048 // waiting events before a subscriber is given a gap instead
	joinedAtMost = 64   // joins into one event, so that joining stays linear
)

// Bus carries all events of one engine.
type Bus struct {
	clock clock.Clock
	boot  string

	mu   sync.Mutex
	seq  uint64
	ring []*Event // circular by seq
	subs map[*Subscription]struct{}

	dropped atomic.Uint64
}

// NewBus makes a bus with a boot id of its own.
func NewBus(c clock.Clock) *Bus {
	return &Bus{clock: c, boot: uuid.NewString(), ring: make([]*Event, ringEvents), subs: map[*Subscription]struct{}{}}
}

// Boot is new for each engine start; with a Seq it names a place in the stream (contract/README, decision 11).
func (b *Bus) Boot() string { return b.boot }

// Seq is the number of the last event.
func (b *Bus) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Dropped counts the events that some subscriber did not get.
func (b *Bus) Dropped() uint64 { return b.dropped.Load() }

// Publish tells everybody. It never waits. It may be called with locks held: no subscriber runs inside it.
func Publish[T any](b *Bus, t Topic[T], v T) {
	e := &Event{Topic: t.info, Payload: v}
	b.mu.Lock()
	b.seq++
	e.Seq, e.At = b.seq, b.clock.Now() // together, so that times rise with numbers
	b.ring[e.Seq%ringEvents] = e
	for s := range b.subs {
		s.push(e)
	}
	b.mu.Unlock()
}

// Place is where a client stopped reading.
type Place struct {
	Boot string
	Seq  uint64
}

// Subscribe starts a subscription. With since, what happened after it comes first; where the ring no longer reaches
// back that far, or since is from another start, a single Gap comes first instead. want, where not nil, chooses the
// events; it must be quick and must not call the bus.
func (b *Bus) Subscribe(since *Place, want func(*Event) bool) *Subscription {
	s := &Subscription{bus: b, want: want, ready: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs[s] = struct{}{}
	if since == nil {
		return s
	}
	if since.Boot != b.boot || since.Seq > b.seq || since.Seq+ringEvents < b.seq {
		s.push(b.gap())
		return s
	}
	for n := since.Seq + 1; n <= b.seq; n++ {
		s.push(b.ring[n%ringEvents])
	}
	return s
}

func (b *Bus) gap() *Event { return &Event{Seq: b.seq, At: b.clock.Now(), Topic: Gap} }

// Lossy tells whether the topic's events may be joined or lost.
func (i *Info) Lossy() bool { return i.Class == Lossy }
