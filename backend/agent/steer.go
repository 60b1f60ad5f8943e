package agent

import (
	"context"
	"slices"

	"sentient/backend/errs"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

// A steer is something said into a reply that is running (§10 "Steering"). It is in the database before anybody hears that
// it was taken; from then on it is read by the model at its next round, or becomes a turn of its own when the reply
// ends first. deaf decides the race between the two: a reply is deaf from the moment it looks for the last time.

// steer puts a message into the reply that is running. taken is false where none is, or it is over for messages.
func (s *Service) steer(ctx context.Context, l *lane, o transcript.Opening) (found transcript.Found, taken bool, err error) {
	s.mu.Lock()
	t := l.current
	if t == nil || t.deaf || s.closing {
		s.mu.Unlock()
		return found, false, nil
	}
	t.steering.Add(1) // under the lock, and so never beside the Wait of a deaf turn
	s.mu.Unlock()
	defer t.steering.Done()
	said := transcript.Steer{MessageID: transcript.NewID(), Text: o.Text, ClientID: o.ClientID}
	found = transcript.Found{Ref: t.Ref, Steered: true}
	again := false
	err = s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if o.ClientID != "" {
			var before transcript.Found
			if before, again, err = s.Transcript.Find(tx, o.ClientID); again || err != nil {
				found = before
				return err
			}
		}
		return s.Transcript.Steer(tx, t.Ref, said)
	})
	if err != nil {
		return found, true, err
	}
	if again {
		s.sentAgain(found, o.ClientID)
		return found, true, nil
	}
	s.mu.Lock()
	t.steers = append(t.steers, said)
	s.mu.Unlock()
	s.Transcript.SteerTaken(t.SessionID, o.ClientID, true)
	return found, true, nil
}

// takeSteers gives what was said since the last look. With last, nothing more is taken: what comes later opens a turn of
// its own.
func (s *Service) takeSteers(t *turn, last bool) []transcript.Steer {
	if last {
		s.mu.Lock()
		t.deaf = true
		s.mu.Unlock()
		t.steering.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	said := t.steers
	t.steers = nil
	return said
}

// turnEars are a turn's ears.
type turnEars struct {
	*Service
	t *turn
}

func (e turnEars) take(last bool) []transcript.Steer { return e.takeSteers(e.t, last) }

func (e turnEars) read(ctx context.Context, said []transcript.Steer) error {
	return e.t.reply.Interject(ctx, said)
}

// putBack keeps what was taken and could not be given to the model.
func (e turnEars) putBack(said []transcript.Steer) {
	e.mu.Lock()
	e.t.steers = append(slices.Clone(said), e.t.steers...)
	e.mu.Unlock()
}

// listen lets a turn that looked for the last time, and found something, take more.
func (e turnEars) listen() {
	e.mu.Lock()
	e.t.deaf = false
	e.mu.Unlock()
}

// leftOver makes turns of what was said into a reply and never read. They wait at the end of the queue; where everything
// is being stopped, they end there.
func (s *Service) leftOver(t *turn) {
	said := s.takeSteers(t, true)
	if len(said) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), moveWithin)
	defer cancel()
	var turns []*turn
	for _, w := range said {
		o := transcript.Opening{Ref: transcript.Ref{SessionID: t.SessionID, TurnID: transcript.NewID()}, MessageID: w.MessageID, Text: w.Text, ClientID: w.ClientID, Queued: true}
		err := s.DB.Write(ctx, func(tx *store.Tx) error {
			if err := s.Transcript.MoveSteer(tx, t.Ref, w, o.TurnID); err != nil {
				return err
			}
			return s.Transcript.Open(tx, o)
		})
		if err != nil { // it stays in the log as waiting: the next start makes a turn of it
			s.Log.Error("message not moved to its own turn", "session", t.SessionID, "error", err)
			continue
		}
		n := &turn{Opening: o, lane: t.lane, chatModel: t.chatModel, incognito: t.incognito, channel: t.channel, memory: t.memory, ended: make(chan struct{})}
		n.ctx, n.cancel = context.WithCancelCause(context.Background())
		n.reply = s.Transcript.Reply(o)
		s.Transcript.Opened(o.Ref, o.ClientID)
		turns = append(turns, n)
	}
	s.queueLeftOver(t, turns)
}

func (s *Service) queueLeftOver(t *turn, turns []*turn) {
	why := unsentFor(context.Cause(t.ctx))
	s.mu.Lock()
	if why == nil && s.closing {
		why = unsentClosing
	}
	if why == nil {
		t.lane.queue = append(t.lane.queue, turns...)
	} else {
		t.lane.ending = append(t.lane.ending, turns...)
	}
	s.mu.Unlock()
	if why != nil {
		s.drop(turns, why)
	}
}

// unsentFor gives why messages behind a stopped turn are not sent; nil where they are answered next.
func unsentFor(cause error) *errs.Error {
	switch cause {
	case errHalted:
		return unsentStopped
	case errDeleted:
		return unsentDeleted
	case errClosing:
		return unsentClosing
	}
	return nil
}

// Steer adds a message to the reply that a chat is writing, and does what Send does where there is none (chat.steer).
func (s *Service) Steer(ctx context.Context, in *SteerInput) (*SendResult, error) {
	sent, err := s.Send(ctx, &SendInput{SessionID: in.SessionID, Text: in.Text, ClientID: in.ClientID})
	if err == nil && !sent.Steered {
		s.Transcript.SteerTaken(sent.SessionID, in.ClientID, false)
	}
	return sent, err
}

// SteerInput is something to say into a running reply.
type SteerInput struct {
	SessionID string `json:"session_id" maxLength:"64"`
	Text      string `json:"text" maxLength:"1000000"`
	ClientID  string `json:"client_id,omitempty" maxLength:"128" doc:"The sender's own id of the message: sending it again starts nothing."`
}
