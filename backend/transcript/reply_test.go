package transcript_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"sentient/backend/event"
	"sentient/backend/transcript"
)

func (r *rig) pieces() string {
	r.t.Helper()
	return r.text(`SELECT coalesce(group_concat(n || ':' || text || '/' || thinking, '|'), '') FROM (SELECT * FROM open_replies ORDER BY turn_id, n)`)
}

func TestCheckpointsAreFolded(t *testing.T) {
	r := newRig(t)
	p := r.open("Q")
	r.checkpoint() // nothing to save
	for _, c := range []struct{ thinking, text, want string }{
		{"hm", "", "0:/hm"}, {"", "one ", "0:/hm|1:one /"}, {"", "", "0:/hm|1:one /"}, {"so", "twö", "0:/hm|1:one /|2:twö/so"},
	} {
		p.Add(c.thinking, c.text)
		r.checkpoint()
		r.checkpoint() // nothing new
		if got := r.pieces(); got != c.want {
			t.Error(got)
		}
	}
	p.Add("", " unsaved")
	r.end(p, transcript.Ending{})
	if got := r.pieces(); got != "" {
		t.Error(got)
	}
	if got := r.text(`SELECT content || '/' || thinking FROM messages WHERE role = 'assistant'`); got != "one twö unsaved/hmso" {
		t.Error(got)
	}
	r.checkpoint() // the reply is closed: nothing comes back
	if got := r.pieces(); got != "" {
		t.Error(got)
	}
}

// Checkpoints that run into a reply's end leave nothing behind, and lose nothing.
func TestCheckpointsRaceTheEnd(t *testing.T) {
	r := newRig(t)
	for i := range 15 {
		p := r.open(fmt.Sprint("Q", i))
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 5 {
				if err := r.Checkpoint(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		for n := range 20 {
			p.Add("", fmt.Sprint(n, " "))
		}
		want := p.Text()
		r.end(p, transcript.Ending{Cancelled: i%2 == 0})
		wg.Wait()
		if got := r.text(`SELECT content FROM messages WHERE role = 'assistant' ORDER BY n DESC LIMIT 1`); got != want {
			t.Error(got)
		}
		if got := r.pieces(); got != "" {
			t.Error(got)
		}
	}
}

// Text is in the database 250 ms after it was shown, or at once when it is 2 KB; what could not be saved is tried again
// though no more text comes; and nothing happens while nothing is written.
func TestServeSavesOpenReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Serve(ctx) }()
		p := r.open("Q")
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		pass(time.Hour)
		p.Add("", "one")
		pass(249 * time.Millisecond)
		if got := r.pieces(); got != "" {
			t.Error(got)
		}
		pass(2 * time.Millisecond)
		if got := r.pieces(); got != "0:one/" {
			t.Error(got)
		}
		big := strings.Repeat("x", 2<<10)
		p.Add("", big)
		synctest.Wait()
		if got := r.pieces(); got != "0:one/|1:"+big+"/" {
			t.Error(len(got))
		}
		r.exec(`CREATE TRIGGER broken BEFORE INSERT ON open_replies BEGIN SELECT raise(ABORT, 'no'); END`)
		p.Add("", "two")
		pass(10 * time.Second)
		r.exec(`DROP TRIGGER broken`)
		pass(251 * time.Millisecond)
		if got := r.pieces(); got != "0:one/|1:"+big+"/|2:two/" {
			t.Error(len(got))
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.end(p, transcript.Ending{})
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// drawn is what a window shows of a reply: the text it was given, and of each later piece what lies beyond it.
type drawn struct{ units []uint16 }

func (d *drawn) apply(t *testing.T, offset int, text string) {
	piece := utf16.Encode([]rune(text))
	have := len(d.units)
	if offset > have {
		t.Errorf("a piece at %d for a window that has %d", offset, have)
		return
	}
	if offset+len(piece) > have {
		d.units = append(d.units, piece[have-offset:]...)
	}
}

func (d *drawn) String() string { return string(utf16.Decode(d.units)) }

// A reader that joins at any moment and applies later pieces by their offset has exactly the text that is kept, however
// slow it is and however pieces were joined for it on the way.
func TestAReaderThatJoinsHasTheWholeText(t *testing.T) {
	alphabet := []string{"a", "é", "😀", "日本", " ", "\n", "👨‍👩‍👧", "e\u0301", "broken\xff", "nul\x00"}
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		r := newRig(t)
		p := r.open("Q")
		const total = 600
		written := make([]chan struct{}, total)
		for i := range written {
			written[i] = make(chan struct{})
		}
		texts := make([][2]string, 6)
		var wg sync.WaitGroup
		for i := range texts {
			joins, slow := rnd.IntN(total), rnd.IntN(4)
			wg.Go(func() { texts[i] = r.reads(p, written, joins, slow) })
		}
		for i := range total {
			var text, thinking strings.Builder
			for range rnd.IntN(4) {
				text.WriteString(alphabet[rnd.IntN(len(alphabet))])
				if rnd.IntN(3) == 0 {
					thinking.WriteString(alphabet[rnd.IntN(len(alphabet))])
				}
			}
			p.Add(thinking.String(), text.String())
			close(written[i])
		}
		r.end(p, transcript.Ending{})
		wg.Wait()
		want := [2]string{r.text(`SELECT content FROM messages WHERE role = 'assistant'`), r.text(`SELECT thinking FROM messages WHERE role = 'assistant'`)}
		for i, got := range texts {
			if got != want {
				t.Errorf("seed %d, reader %d: %d and %d bytes of %d and %d", seed, i, len(got[0]), len(got[1]), len(want[0]), len(want[1]))
			}
		}
	}
}

// reads joins after a piece was written, and reads as many events at a time as it is slow for pieces to be written.
func (r *rig) reads(p *transcript.Reply, written []chan struct{}, joins, slow int) [2]string {
	t := r.t.(*testing.T)
	<-written[joins]
	sub := r.bus.Subscribe(nil, nil)
	defer sub.Close()
	open, live := p.Live()
	text, thinking, seq := open.Text, open.Thinking, open.Seq
	if !live {
		return [2]string{p.Text(), thinking}
	}
	a, b := drawn{utf16.Encode([]rune(text))}, drawn{utf16.Encode([]rune(thinking))}
	for n := joins; ; n += 1 + slow*10 {
		if n < len(written) {
			<-written[n]
		}
		e, err := sub.Next(t.Context())
		if err != nil {
			t.Error(err)
			return [2]string{}
		}
		if e.Topic == event.Gap { // it asks again, as a window does
			open, live = p.Live()
			if text, thinking, seq = open.Text, open.Thinking, open.Seq; !live { // it has ended meanwhile; a window reads the messages then
				return [2]string{p.Text(), thinking}
			}
			a, b = drawn{utf16.Encode([]rune(text))}, drawn{utf16.Encode([]rune(thinking))}
			continue
		}
		if e.Seq <= seq {
			continue
		}
		if d, ok := event.Is(transcript.TopicTextDelta, e); ok {
			a.apply(t, d.Offset, d.Text)
		}
		if d, ok := event.Is(transcript.TopicThinkingDelta, e); ok {
			b.apply(t, d.Offset, d.Text)
		}
		if _, ok := event.Is(transcript.TopicDone, e); ok {
			return [2]string{a.String(), b.String()}
		}
	}
}

// Pieces that wait for a slow reader are joined, and none of their text is lost; those of different turns, and of text
// and thinking, stay apart.
func TestJoinedPiecesKeepAllText(t *testing.T) {
	r := newRig(t)
	a := r.open("A")
	other := r.newChat(false)
	b := r.open("B", func(o *transcript.Opening) { o.SessionID = other })
	r.heard()
	for range 100 {
		a.Add("", "aé😀")
	}
	for range 10 {
		b.Add("", "b")
		a.Add("t", "a")
	}
	var text, events = map[string]*drawn{r.chat: {}, other: {}}, 0
	thinking := &drawn{}
	for {
		e, ok := r.all.Try()
		if !ok {
			break
		}
		events++
		if d, ok := event.Is(transcript.TopicTextDelta, e); ok {
			text[d.SessionID].apply(t, d.Offset, d.Text)
		}
		if d, ok := event.Is(transcript.TopicThinkingDelta, e); ok {
			thinking.apply(t, d.Offset, d.Text)
		}
	}
	if got := text[r.chat].String(); got != a.Text() || len(got) == 0 {
		t.Error(got)
	}
	if got := text[other].String(); got != strings.Repeat("b", 10) {
		t.Error(got)
	}
	if got := thinking.String(); got != strings.Repeat("t", 10) {
		t.Error(got)
	}
	if events >= 100 {
		t.Error("nothing was joined", events)
	}
	r.end(a, transcript.Ending{})
	r.end(b, transcript.Ending{})
}
