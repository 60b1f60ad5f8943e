package agent

import (
	"context"
	"unicode/utf16"

	"sentient/backend/errs"
	"sentient/backend/event"
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
	turnID := transcript.NewID()
	f := &follower{Service: s, each: each}
	sub := s.follow(turnID)
	defer func() { sub.Close() }()
	ref, err := s.send(ctx, &SendInput{SessionID: in.SessionID, Text: in.Text, Attachments: in.Attachments, Model: in.Model, ClientID: in.ClientID, Incognito: in.Incognito}, turnID)
	if err != nil {
		return err
	}
	f.ref = ref
	if ref.TurnID != turnID {
		sub.Close()
		sub = s.follow(ref.TurnID)
		// Its first sender may still be on the way from the database to the queue, behind the chat's door.
		_, leave, err := s.enter(ctx, ref.SessionID, true)
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
	ref            transcript.Ref
	each           func(any) error
	text, thinking int  // UTF-16 units that were passed on
	kept           int  // kept events that were passed on
	fromLog        bool // after a gap, kept events are read from the log, where they can be counted
	ended          bool
}

func (f *follower) take(ctx context.Context, e *event.Event) error {
	if e.Topic == event.Gap {
		return f.catchUp(ctx)
	}
	if d, ok := event.Is(transcript.TopicTextDelta, e); ok {
		return f.piece(d.Offset, d.Text, &f.text, f.textLine)
	}
	if d, ok := event.Is(transcript.TopicThinkingDelta, e); ok {
		return f.piece(d.Offset, d.Text, &f.thinking, f.thinkingLine)
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

// catchUp passes on what a gap, or a late start, left out: the text so far, or the rest of a turn that has ended.
func (f *follower) catchUp(ctx context.Context) error {
	f.fromLog = true
	lines, text, ended, err := f.Transcript.Told(ctx, f.ref)
	if err != nil {
		return err
	}
	thinking := ""
	if !ended {
		t := f.find()
		if t == nil {
			return f.lost(ctx)
		}
		var live bool
		if text, thinking, _, live = t.reply.Live(); !live {
			return f.lost(ctx)
		}
	}
	return f.rest(lines, thinking, text, ended)
}

func (f *follower) rest(lines []transcript.Line, thinking, text string, ended bool) error {
	lines = lines[min(f.kept, len(lines)):]
	if f.kept == 0 && len(lines) > 0 { // the session comes before everything
		if err := f.lines(lines[:1]); err != nil {
			return err
		}
		lines = lines[1:]
	}
	if err := f.piece(0, thinking, &f.thinking, f.thinkingLine); err != nil {
		return err
	}
	if err := f.piece(0, text, &f.text, f.textLine); err != nil {
		return err
	}
	f.ended = ended
	return f.lines(lines)
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
	lines, text, ended, err := f.Transcript.Told(ctx, f.ref)
	if err != nil {
		return err
	}
	if ended {
		return f.rest(lines, "", text, ended)
	}
	why := errs.New(errs.Unavailable, "reply_lost", "The end of this reply could not be saved. Open the chat again to see what was kept.").Message
	return f.unlogged(transcript.DoneEvent{Ref: f.ref, MemorySources: []any{}, Sources: []any{}, Checks: []any{}, Error: why})
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
func (f *follower) piece(offset int, text string, done *int, line func(text string, offset int) transcript.Line) error {
	rest, units := after(text, *done-offset)
	if rest == "" {
		return nil
	}
	l := line(rest, *done)
	*done += units
	return f.each(l)
}

func (f *follower) textLine(text string, offset int) transcript.Line {
	return transcript.Line{Type: transcript.TopicTextDelta.Name(), Payload: transcript.TextDelta{Ref: f.ref, Text: text, Offset: offset}}
}

func (f *follower) thinkingLine(text string, offset int) transcript.Line {
	return transcript.Line{Type: transcript.TopicThinkingDelta.Name(), Payload: transcript.ThinkingDelta{Ref: f.ref, Text: text, Offset: offset}}
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
