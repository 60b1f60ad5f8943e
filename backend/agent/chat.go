package agent

import (
	"context"
	"errors"
	"unicode/utf16"

	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// ChatInput is a message whose answer comes as lines (POST /api/chat, §2).
type ChatInput struct {
	SessionID   string   `json:"session_id,omitempty" maxLength:"64" doc:"The chat; left out: a new one."`
	Text        string   `json:"text" maxLength:"1000000"`
	Attachments []string `json:"attachments,omitempty" maxItems:"20" doc:"Names of files, as the list of files has them."`
	Model       string   `json:"model,omitempty" maxLength:"200" doc:"provider/model, for this message only."`
	ClientID    string   `json:"client_id,omitempty" maxLength:"128" doc:"The sender's own id of the message: sending it again starts nothing."`
	Incognito   bool     `json:"incognito,omitempty" doc:"Makes the new chat an incognito one; ignored with session_id."`
}

// Chat is Send whose turn is followed: each gets the turn's chat events in wire form, a session first and a done last,
// each value encoding to one JSON object. A reader that is slow gets joined pieces, and one that is very slow what it
// missed in larger ones; none gets text twice. When ctx ends or each fails, the turn goes on. A client_id that was sent
// before is answered with what its first turn tells, from its start.
func (s *Service) Chat(ctx context.Context, in *ChatInput, each func(any) error) error {
	m := message{SendInput: SendInput{SessionID: in.SessionID, Text: in.Text, Attachments: in.Attachments, Model: in.Model, ClientID: in.ClientID, Incognito: in.Incognito}}
	return s.converse(ctx, m, each)
}

// Asked is what another program asks in a chat of its own.
type Asked struct {
	SessionID, Text string
	Channel         string
	From            string // who is speaking, as the chat shows it
	Memory          bool   // the turn may use what Sentient knows about the person
	Halts           uint64 // Halts when it was asked: it is not begun when everything was stopped since (409 stopped)
}

// Ask is Chat for another program: the text is not the person's own words, and while the chat is being answered it is
// refused (409 chat_busy), with nothing started.
func (s *Service) Ask(ctx context.Context, q Asked, each func(transcript.Line) error) error {
	m := message{SendInput: SendInput{SessionID: q.SessionID, Text: q.Text}, channel: q.Channel, from: q.From, noMemory: !q.Memory, alone: true, halts: &q.Halts}
	return s.converse(ctx, m, func(v any) error { return each(v.(transcript.Line)) })
}

// converse sends a message and follows its turn.
func (s *Service) converse(ctx context.Context, m message, each func(any) error) error {
	m.turnID = transcript.NewID()
	f := &follower{Service: s, each: each, seen: map[string]*drawn{}}
	sub := s.follow(m.turnID)
	defer func() { sub.Close() }()
	found, err := s.send(ctx, m)
	if err != nil {
		return err
	}
	if found.Steered {
		return each(transcript.Line{Type: transcript.TopicSteerAck.Name(), Payload: transcript.SteerAck{SessionID: found.SessionID, Queued: true, ClientID: m.ClientID}})
	}
	f.ref = found.Ref
	if found.TurnID != m.turnID {
		sub.Close()
		sub = s.follow(found.TurnID)
		// Its first sender may still be on the way from the database to the queue, behind the chat's door.
		_, leave, err := s.enter(ctx, found.SessionID, true)
		if err != nil {
			return err
		}
		leave()
		if err := f.catchUp(ctx); err != nil || f.ended {
			return err
		}
	}
	for !f.ended {
		e, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if err := f.take(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) follow(turn string) *event.Subscription {
	return s.Bus.Subscribe(nil, func(e *event.Event) bool {
		r, ok := transcript.RefOf(e)
		return ok && r.TurnID == turn
	})
}

// follower passes a turn's events on, each once.
type follower struct {
	*Service
	ref     transcript.Ref
	each    func(any) error
	seen    map[string]*drawn // by message
	kept    int               // kept events that were passed on
	fromLog bool              // after a gap, kept events are read from the log, where they can be counted
	ended   bool
}

// drawn is how much of a message was passed on, in UTF-16 units.
type drawn struct{ text, thinking int }

func (f *follower) of(message string) *drawn {
	d := f.seen[message]
	if d == nil {
		d = &drawn{}
		f.seen[message] = d
	}
	return d
}

func (f *follower) take(ctx context.Context, e *event.Event) error {
	if e.Topic == event.Gap {
		return f.catchUp(ctx)
	}
	if known, err := f.delta(e.Payload); known {
		return err
	}
	if e.Topic.Lossy() {
		return f.each(transcript.LineOf(e))
	}
	if _, ok := event.Is(transcript.TopicSession, e); ok && f.kept > 0 {
		return nil // the message was sent again
	}
	done, last := event.Is(transcript.TopicDone, e)
	if f.fromLog {
		if err := f.catchUp(ctx); err != nil || f.ended || !last {
			return err
		}
		return f.unlogged(done)
	}
	f.kept++
	f.ended = last
	return f.each(transcript.LineOf(e))
}

// delta passes on a piece of text or thinking; known is false for anything else.
func (f *follower) delta(payload any) (known bool, err error) {
	switch d := payload.(type) {
	case transcript.TextDelta:
		return true, f.piece(d, &f.of(d.MessageID).text, func(d transcript.TextDelta) transcript.Line {
			return transcript.Line{Type: transcript.TopicTextDelta.Name(), Payload: d}
		})
	case transcript.ThinkingDelta:
		return true, f.piece(transcript.TextDelta(d), &f.of(d.MessageID).thinking, func(d transcript.TextDelta) transcript.Line {
			return transcript.Line{Type: transcript.TopicThinkingDelta.Name(), Payload: transcript.ThinkingDelta(d)}
		})
	}
	return false, nil
}

// catchUp passes on what a gap, or a late start, left out: the messages so far, or the rest of a turn that has ended.
func (f *follower) catchUp(ctx context.Context) error {
	f.fromLog = true
	// The open message first: what is folded into the log between the two looks is then in both, and not in neither.
	open, live := transcript.Open{}, false
	if t := f.find(); t != nil {
		open, live = t.reply.Live()
	}
	lines, ended, err := f.Transcript.Told(ctx, f.ref)
	if err != nil {
		return err
	}
	if !ended && !live {
		return f.lost(ctx)
	}
	if err := f.rest(lines, ended); err != nil || ended {
		return err
	}
	return errors.Join(
		f.text(transcript.ThinkingDelta{Ref: f.ref, MessageID: open.MessageID, Text: open.Thinking}),
		f.text(transcript.TextDelta{Ref: f.ref, MessageID: open.MessageID, Text: open.Text}))
}

func (f *follower) text(delta any) error {
	_, err := f.delta(delta)
	return err
}

func (f *follower) rest(lines []transcript.Line, ended bool) error {
	kept := 0
	for _, l := range lines {
		if known, err := f.delta(l.Payload); known {
			if err != nil {
				return err
			}
			continue
		}
		if kept++; kept <= f.kept {
			continue
		}
		f.kept++
		if err := f.each(l); err != nil {
			return err
		}
	}
	f.ended = ended
	return nil
}

// find gives the turn while it is answered or waits.
func (f *follower) find() *turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lanes[f.ref.SessionID]
	if l == nil {
		return nil
	}
	for _, t := range append([]*turn{l.current}, l.queue...) {
		if t != nil && t.TurnID == f.ref.TurnID {
			return t
		}
	}
	return nil
}

// lost ends the lines of a turn that runs no more though the log had no end of it: it ended between the two looks, and
// the log has it now, or its end could not be written.
func (f *follower) lost(ctx context.Context) error {
	lines, ended, err := f.Transcript.Told(ctx, f.ref)
	if err != nil {
		return err
	}
	if ended {
		return f.rest(lines, ended)
	}
	why := errs.New(errs.Unavailable, "reply_lost", "The end of this reply could not be saved. Open the chat again to see what was kept.").Message
	return f.unlogged(transcript.DoneEvent{Ref: f.ref, MemorySources: []tool.MemorySource{}, Sources: []tool.Source{}, Checks: []transcript.Check{}, Error: why})
}

// unlogged ends the lines of a turn whose end could not be written.
func (f *follower) unlogged(done transcript.DoneEvent) error {
	f.ended = true
	lines := []transcript.Line{{Type: transcript.TopicDone.Name(), Payload: done}}
	if done.Error != "" {
		fault := transcript.Line{Type: transcript.TopicError.Name(), Payload: transcript.ErrorEvent{Ref: f.ref, Message: done.Error}}
		lines = append([]transcript.Line{fault}, lines...)
	}
	return f.lines(lines)
}

func (f *follower) lines(lines []transcript.Line) error {
	for _, l := range lines {
		f.kept++
		if err := f.each(l); err != nil {
			return err
		}
	}
	return nil
}

// piece passes on what of a piece was not passed on yet.
func (f *follower) piece(d transcript.TextDelta, done *int, line func(transcript.TextDelta) transcript.Line) error {
	rest, units := after(d.Text, *done-d.Offset)
	if rest == "" {
		return nil
	}
	d.Text, d.Offset = rest, *done
	*done += units
	return f.each(line(d))
}

// after gives what follows the first n UTF-16 units of a text, and its length in units.
func after(text string, n int) (rest string, units int) {
	for i, r := range text {
		if n <= 0 {
			rest = text[i:]
			break
		}
		n -= utf16.RuneLen(r)
	}
	for _, r := range rest {
		units += utf16.RuneLen(r)
	}
	return rest, units
}
