package transcript

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sentient/backend/event"
	"sentient/backend/store"
)

// How much of a streaming reply a crash may cost: what came in the last checkpointEvery, or checkpointSize bytes.
const (
	checkpointEvery = 250 * time.Millisecond
	checkpointSize  = 2 << 10
)

// Reply is the reply that one turn is writing: its open message, one after another. One goroutine writes; anybody may
// look (Live) and end it (End).
type Reply struct {
	log  *Log
	ref  Ref
	said UserMessage // what it answers

	mu             sync.Mutex
	messageID      string // of the open message
	text, thinking strings.Builder
	textEnd        int // UTF-16 units in text
	thinkingEnd    int
	saved          saved
	calls          []Call          // of the last message that have no result yet
	begun          map[string]bool // those of them that were told
	corrected      bool            // text and thinking are no longer what the pieces add up to
	closed         bool            // no more text
	told           bool            // done was published
}

// saved is how much of the reply is in open_replies, and in how many pieces.
type saved struct {
	text, thinking, pieces int
}

// Reply makes the reply of a turn that was opened. Its End must be called.
func (l *Log) Reply(o Opening) *Reply {
	r := &Reply{log: l, ref: o.Ref, said: UserMessage{Text: o.Text, ClientID: o.ClientID}, messageID: NewID()}
	l.mu.Lock()
	l.replies[r] = struct{}{}
	l.mu.Unlock()
	return r
}

// Add adds a piece of thinking and a piece of text and tells them. After End it does nothing and gives false.
func (r *Reply) Add(thinking, text string) bool {
	thinking, text = valid(thinking), valid(text)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return false
	}
	if thinking != "" {
		d := ThinkingDelta{Ref: r.ref, MessageID: r.messageID, Text: thinking, Offset: r.thinkingEnd}
		r.thinkingEnd += units(thinking)
		d.end = r.thinkingEnd
		r.thinking.WriteString(thinking)
		event.Publish(r.log.Bus, TopicThinkingDelta, d)
	}
	if text != "" {
		d := TextDelta{Ref: r.ref, MessageID: r.messageID, Text: text, Offset: r.textEnd}
		r.textEnd += units(text)
		d.end = r.textEnd
		r.text.WriteString(text)
		event.Publish(r.log.Bus, TopicTextDelta, d)
	}
	unsaved := r.text.Len() + r.thinking.Len() - r.saved.text - r.saved.thinking
	r.mu.Unlock()
	if unsaved > 0 {
		signal(r.log.dirty)
	}
	if unsaved >= checkpointSize {
		signal(r.log.full)
	}
	return true
}

// Correct replaces what was written by what the model turned out to have meant, where the pieces were shown otherwise: a
// model that closes a thinking tag it never opened has shown its thoughts as text. Nothing is told before done, whose
// content is what counts. It is called after the last Add.
func (r *Reply) Correct(thinking, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.corrected = true
	r.text.Reset()
	r.text.WriteString(valid(text))
	r.thinking.Reset()
	r.thinking.WriteString(valid(thinking))
}

// valid replaces bytes that are no text, so that what is shown, sent and stored is the same.
func valid(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Text gives the open message so far.
func (r *Reply) Text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Begun reports whether anything was written into the open message.
func (r *Reply) Begun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Len()+r.thinking.Len() > 0
}

// Open is the open message of a reply, as far as it is written.
type Open struct {
	MessageID, Text, Thinking string
	Seq                       uint64 // the number of the last event that is in it
}

// Live gives the open message and the number of the last event that is in it: whoever draws it and then applies only
// the events after Seq, each delta from its offset on, has the same text as whoever was there from the start. ok is
// false once done was told.
func (r *Reply) Live() (open Open, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Open{r.messageID, r.text.String(), r.thinking.String(), r.log.Bus.Seq()}, !r.told
}

// close lets no more text in; false when it was closed already.
func (r *Reply) close() bool {
	r.mu.Lock()
	was := r.closed
	r.closed = true
	r.mu.Unlock()
	r.log.mu.Lock()
	delete(r.log.replies, r)
	r.log.mu.Unlock()
	return !was
}

// Serve keeps what open replies have written so far in the database, until ctx ends. Nothing wakes it while no reply
// is being written.
func (l *Log) Serve(ctx context.Context) error {
	failing := false
	for {
		select {
		case <-l.dirty:
		case <-ctx.Done():
			return nil
		}
		timer := l.Clock.NewTimer(checkpointEvery)
		select {
		case <-timer.C():
		case <-l.full:
		case <-ctx.Done():
		}
		timer.Stop()
		err := l.Checkpoint(ctx)
		if err != nil && ctx.Err() == nil {
			signal(l.dirty) // the text is still in memory: tried again, until it is saved or its reply has ended
			if !failing {
				l.Log.Warn("open replies not saved", "error", err)
			}
		}
		failing = err != nil
	}
}

// String names the service in logs.
func (l *Log) String() string { return "transcript checkpoints" }

// piece is what a reply has written since it was last saved.
type piece struct {
	reply          *Reply
	messageID      string
	from           saved
	text, thinking string
}

func (r *Reply) unsaved() (piece, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.corrected {
		return piece{}, false // its end is being written
	}
	p := piece{reply: r, messageID: r.messageID, from: r.saved, text: r.text.String()[r.saved.text:], thinking: r.thinking.String()[r.saved.thinking:]}
	return p, !r.closed && (p.text != "" || p.thinking != "")
}

// Checkpoint saves what is new of all open replies, in one transaction. Serve calls it.
func (l *Log) Checkpoint(ctx context.Context) error {
	l.saving.Lock() // two at once would save the same piece twice; Fold must not close a message in between
	defer l.saving.Unlock()
	l.mu.Lock()
	var pieces []piece
	for r := range l.replies {
		if p, ok := r.unsaved(); ok {
			pieces = append(pieces, p)
		}
	}
	l.mu.Unlock()
	if len(pieces) == 0 {
		return nil
	}
	err := l.DB.Write(ctx, func(tx *store.Tx) error {
		for _, p := range pieces {
			// A turn that ended meanwhile has its message already: nothing may be left behind for it.
			if _, err := tx.Exec(`INSERT INTO open_replies (turn_id, n, message_id, text, thinking)
				SELECT id, ?, ?, ?, ? FROM turns WHERE id = ? AND state = 'running'`,
				p.from.pieces, p.messageID, p.text, p.thinking, p.reply.ref.TurnID); err != nil {
				return wrap("save open reply", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range pieces {
		p.reply.mu.Lock()
		p.reply.saved = saved{p.from.text + len(p.text), p.from.thinking + len(p.thinking), p.from.pieces + 1}
		p.reply.mu.Unlock()
	}
	return nil
}

func closeReply(tx *store.Tx, turn string) error {
	_, err := tx.Exec(`DELETE FROM open_replies WHERE turn_id = ?`, turn)
	return wrap("close open reply", err)
}
