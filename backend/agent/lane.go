package agent

import (
	"context"
	"errors"
	"slices"
	"sync"

	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// lane is the order of one chat's turns. Service.mu guards all but its door.
type lane struct {
	id      string
	door    chan struct{} // held by one sender at a time, so that the queue has the log's order
	refs    int           // who holds the lane or waits at its door
	current *turn         // is being answered
	queue   []*turn       // wait for it
	ending  []*turn       // were taken out of the queue and are told so now; nothing is sent before that
}

// turn is one message and what answers it.
type turn struct {
	transcript.Opening
	lane      *lane
	chatModel string // the chat's own model, or ""
	incognito bool
	reply     *transcript.Reply
	ctx       context.Context // its cause says why the turn is stopped
	cancel    context.CancelCauseFunc
	ended     chan struct{} // closed after done
	noticed   bool          // a notice was sent; one a reply
	thought   bool          // the text that was shown turned out to be thinking

	// What is said into the reply while it runs (steer.go). Service.mu guards them.
	steers   []transcript.Steer
	deaf     bool           // the reply takes no more
	steering sync.WaitGroup // steers on their way into the database

	channel string
	halts   *uint64 // see message
	memory  bool    // it may use what Sentient knows (§10 "Turns without memory")
	run     run     // what its rounds found out; read after them
}

// enter goes through a chat's door. leave must be called.
func (s *Service) enter(ctx context.Context, id string, closingToo bool) (l *lane, leave func(), err error) {
	s.mu.Lock()
	if s.closing && !closingToo {
		s.mu.Unlock()
		return nil, nil, tool.ErrClosing
	}
	l = s.lanes[id]
	if l == nil {
		l = &lane{id: id, door: make(chan struct{}, 1)}
		s.lanes[id] = l
	}
	l.refs++
	if !closingToo {
		s.sending.Add(1)
	}
	s.mu.Unlock()
	out := func() {
		s.mu.Lock()
		l.refs--
		s.tidyLocked(l)
		s.mu.Unlock()
		if !closingToo {
			s.sending.Done()
		}
	}
	select {
	case l.door <- struct{}{}:
	case <-ctx.Done():
		out()
		return nil, nil, ctx.Err()
	}
	leave = func() { <-l.door; out() }
	err = s.awaitEnding(ctx, l)
	if err == nil {
		err = s.awaitLeaving(ctx, l)
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return l, leave, nil
}

// awaitLeaving waits until a turn whose done was told has made way: whoever heard the done finds the chat free.
func (s *Service) awaitLeaving(ctx context.Context, l *lane) error {
	s.mu.Lock()
	t := l.current
	s.mu.Unlock()
	if t == nil {
		return nil
	}
	if _, live := t.reply.Live(); live {
		return nil
	}
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitEnding waits until the messages that were dropped from a queue have their end: what is sent after a Stop must
// find them marked as not sent, or a model would still read them.
func (s *Service) awaitEnding(ctx context.Context, l *lane) error {
	for {
		s.mu.Lock()
		if len(l.ending) == 0 {
			s.mu.Unlock()
			return nil
		}
		t := l.ending[0]
		s.mu.Unlock()
		select {
		case <-t.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// emptyLocked takes out what waits in a lane. Service.drop must follow.
func (l *lane) emptyLocked() []*turn {
	waiting := l.queue
	l.queue = nil
	l.ending = append(l.ending, waiting...)
	return waiting
}

// drop ends turns that emptyLocked took out of their queues.
func (s *Service) drop(waiting []*turn, why *errs.Error) {
	for _, t := range waiting {
		s.end(t, transcript.Ending{Dropped: true, Failure: why})
		s.mu.Lock()
		t.lane.ending = slices.DeleteFunc(t.lane.ending, func(o *turn) bool { return o == t })
		s.tidyLocked(t.lane)
		s.mu.Unlock()
		close(t.ended)
	}
}

// tidyLocked forgets a lane that has nothing to do.
func (s *Service) tidyLocked(l *lane) {
	if l.refs == 0 && l.current == nil && len(l.queue) == 0 && len(l.ending) == 0 {
		delete(s.lanes, l.id)
	}
}

// busy reports whether a turn is being answered. Behind the door, false stays false.
func (s *Service) busy(l *lane) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.current != nil
}

// admit starts a turn, or lets it wait. Only who is behind the door may call it.
func (s *Service) admit(t *turn) {
	s.mu.Lock()
	if t.lane.current != nil {
		t.lane.queue = append(t.lane.queue, t)
		s.mu.Unlock()
		return
	}
	t.lane.current = t
	late := t.halts != nil && *t.halts != s.halts
	s.mu.Unlock()
	if late { // everything was stopped while it came in
		t.cancel(errHalted)
	}
	s.launch(t)
}

// launch runs a turn that is its lane's current one. Where the tree is closed, nothing runs any more: the turn ends
// here, and so do all that wait behind it.
func (s *Service) launch(t *turn) {
	for t != nil && !s.Tree.Go("turn", func(ctx context.Context) { s.run(ctx, t) }) {
		end := transcript.Ending{Cancelled: true}
		if t.Queued { // it was never sent
			end = transcript.Ending{Dropped: true, Failure: unsentClosing}
		}
		s.end(t, end)
		s.leftOver(t)
		t = s.next(t)
	}
}

// next makes way for the turn after one that has ended, and gives it.
func (s *Service) next(t *turn) *turn {
	l := t.lane
	s.mu.Lock()
	l.current = nil
	if len(l.queue) > 0 {
		l.current, l.queue = l.queue[0], l.queue[1:]
	}
	after := l.current
	s.tidyLocked(l)
	s.mu.Unlock()
	close(t.ended)
	return after
}

// current gives the turn that a chat is answering, or nil.
func (s *Service) current(session string) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lanes[session]; l != nil {
		return l.current
	}
	return nil
}

// IsRunning reports whether a chat is being answered.
func (s *Service) IsRunning(session string) bool { return s.current(session) != nil }

// Retire ends a chat's turns, waits for their end, and lets none in until release is called: its chat is being deleted.
func (s *Service) Retire(ctx context.Context, session string) (release func(), err error) {
	l, leave, err := s.enter(ctx, session, true)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	var running []*turn
	if l.current != nil {
		running = append(running, l.current)
	}
	waiting := l.emptyLocked()
	s.mu.Unlock()
	err = errors.Join(s.stop(ctx, running, waiting, errDeleted, unsentDeleted), s.haltHelpers(ctx, session, errDeleted))
	if err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// RetireIdle is Retire for a chat that nobody is talking to: where a reply is being written it does nothing and gives
// false. Without an error and with true, release must be called.
func (s *Service) RetireIdle(ctx context.Context, session string) (release func(), idle bool, err error) {
	l, leave, err := s.enter(ctx, session, true)
	if err != nil {
		return nil, false, err
	}
	if s.busy(l) {
		leave()
		return nil, false, nil
	}
	return leave, true, nil
}
