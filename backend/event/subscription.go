package event

import (
	"context"
	"sync"
)

// Subscription is one reader's bounded queue. One goroutine reads it.
type Subscription struct {
	bus  *Bus
	want func(*Event) bool

	mu     sync.Mutex
	queue  []entry
	closed bool
	ready  chan struct{} // holds one token while there is something to read
}

// entry is an event as this reader will see it: joined events are a copy of the reader's own.
type entry struct {
	event  *Event
	joined int
}

// push adds an event. The bus holds its lock, so order is the bus's order.
func (s *Subscription) push(e *Event) {
	if s.want != nil && e.Topic != Gap && !s.want(e) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if e.Topic.Class == Lossy && s.pushLossy(e) {
		s.wake()
		return
	}
	if len(s.queue) >= queueKept {
		// The reader is far behind. What it has not read is worth less than a fresh look: one gap stands for all of it.
		s.bus.dropped.Add(s.waiting() + 1)
		s.queue = append(s.queue[:0], entry{event: &Event{Seq: e.Seq, At: e.At, Topic: Gap}})
		s.wake()
		return
	}
	s.queue = append(s.queue, entry{event: e})
	s.wake()
}

// waiting counts the events in the queue, those that were joined and not the gaps.
func (s *Subscription) waiting() (n uint64) {
	for _, e := range s.queue {
		if e.event.Topic != Gap {
			n += 1 + uint64(e.joined)
		}
	}
	return n
}

// pushLossy joins e with the last waiting event, or gives it up when too many wait. false: queue it as it is.
func (s *Subscription) pushLossy(e *Event) bool {
	if n := len(s.queue); n > 0 {
		last := &s.queue[n-1]
		if last.event.Topic == e.Topic && last.joined < joinedAtMost && e.Topic.join != nil {
			if v, ok := e.Topic.join(last.event.Payload, e.Payload); ok {
				last.event = &Event{Seq: e.Seq, At: e.At, Topic: e.Topic, Payload: v}
				last.joined++
				return true
			}
		}
	}
	if len(s.queue) < queueLossy {
		return false
	}
	s.bus.dropped.Add(1)
	gap := entry{event: &Event{Seq: e.Seq, At: e.At, Topic: Gap}}
	if last := len(s.queue) - 1; s.queue[last].event.Topic == Gap {
		s.queue[last] = gap // it stands for this one as well
		return true
	}
	s.queue = append(s.queue, gap)
	return true
}

func (s *Subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next waits for the next event. It gives ctx's error when ctx ends, and context.Canceled after Close.
func (s *Subscription) Next(ctx context.Context) (*Event, error) {
	for {
		if e, ok, closed := s.take(); ok {
			return e, nil
		} else if closed {
			return nil, context.Canceled
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Try gives the next event if one waits.
func (s *Subscription) Try() (*Event, bool) {
	e, ok, _ := s.take()
	return e, ok
}

func (s *Subscription) take() (e *Event, ok, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil, false, s.closed
	}
	e = s.queue[0].event
	s.queue[0] = entry{}
	s.queue = s.queue[1:]
	if len(s.queue) == 0 {
		s.queue = nil // gives back what a burst made it grow to
	}
	return e, true, false
}

// Close ends the subscription; Next then drains what is left and ends.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	delete(s.bus.subs, s)
	s.bus.mu.Unlock()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wake()
}
