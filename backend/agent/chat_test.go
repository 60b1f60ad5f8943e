package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sentient/backend/agent"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/transcript"
)

// line is a line as a client of POST /api/chat reads it.
type line struct {
	Type      string  `json:"type"`
	SessionID string  `json:"session_id"`
	TurnID    string  `json:"turn_id"`
	Text      string  `json:"text"`
	Offset    int     `json:"offset"`
	Message   string  `json:"message"`
	Content   string  `json:"content"`
	MessageID *string `json:"message_id"`
	Error     string  `json:"error"`
	Sources   []any   `json:"sources"`
}

func readLine(t testing.TB, v any) line {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(raw), `{"type":"`) {
		t.Fatalf("%s", raw)
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func types(lines []line) string {
	var names []string
	for _, l := range lines {
		names = append(names, l.Type)
	}
	return strings.Join(names, " ")
}

func TestChatGivesTheTurnsLines(t *testing.T) {
	limit := errs.New(errs.Limited, llm.CodeRateLimited, "The limit is reached.")
	for name, c := range map[string]struct {
		step scripted.Step
		want string
	}{
		"well":   {scripted.Say("a", "b").Think("hm"), "session thinking_delta text_delta text_delta done"},
		"failed": {scripted.Step{Pieces: []scripted.Piece{{Text: "a"}}, Err: limit}, "session text_delta error done"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, scripted.New(c.step))
			var lines []line
			if err := r.Chat(t.Context(), &agent.ChatInput{Text: "Q"}, func(v any) error {
				lines = append(lines, readLine(t, v))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			// A reader that is slower gets pieces joined; this one may be.
			if got := strings.ReplaceAll(types(lines), "text_delta text_delta", "text_delta"); got != strings.ReplaceAll(c.want, "text_delta text_delta", "text_delta") {
				t.Fatal(got)
			}
			last := lines[len(lines)-1]
			if lines[0].SessionID == "" || last.Sources == nil || last.SessionID != lines[0].SessionID {
				t.Fatal(lines)
			}
		})
	}
}

func TestChatRefuses(t *testing.T) {
	r := newRig(t, scripted.New())
	err := r.Chat(t.Context(), &agent.ChatInput{Text: "Q", SessionID: "nope"}, func(any) error { t.Error("a line"); return nil })
	if errs.StatusOf(err) != 404 {
		t.Fatal(err)
	}
}

func TestChatLeftAloneGoesOn(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Text: "a"}, {Until: release, Text: "b"}}}))
	ctx, leave := context.WithCancel(t.Context())
	var ref line
	err := r.Chat(ctx, &agent.ChatInput{Text: "Q"}, func(v any) error {
		if ref = readLine(t, v); ref.Type == "text_delta" {
			leave()
		}
		return nil
	})
	if err == nil {
		t.Fatal("no error for a reader that left")
	}
	close(release)
	if d := r.done(ref.TurnID); d.Content != "ab" || d.Cancelled {
		t.Fatal(d)
	}
}

// A reader that stands still gets all text once and one done, however much the bus gave up for it meanwhile.
func TestChatCatchesUp(t *testing.T) {
	const pieces = 3_000
	for name, hold := range map[string]bool{"while it runs": false, "after its end": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := scripted.Step{}
			var want strings.Builder
			for i := range pieces {
				p := scripted.Piece{Text: fmt.Sprintf("%d😀", i)}
				if i%2 == 1 {
					p = scripted.Piece{Thinking: "x"} // alternating kinds cannot be joined
				}
				step.Pieces = append(step.Pieces, p)
				want.WriteString(p.Text)
			}
			release := make(chan struct{})
			if !hold {
				step.Pieces = append(step.Pieces, scripted.Piece{Until: release, Text: "end"})
				want.WriteString("end")
			}
			r := newRig(t, scripted.New(step))
			seen := r.bus.Subscribe(nil, func(e *event.Event) bool { return e.Topic.Class == event.Lossy || isDone(e) })
			var got strings.Builder
			var lines []line
			err := r.Chat(t.Context(), &agent.ChatInput{Text: "Q"}, func(v any) error {
				l := readLine(t, v)
				if l.Type == "session" {
					waitFor(t, seen, hold, pieces) // the model writes on while this reader stands still
				}
				if l.Type == "text_delta" {
					got.WriteString(l.Text)
					if len(lines) > 0 && lines[len(lines)-1].Type != "text_delta" && !hold {
						once(release)
					}
				}
				lines = append(lines, l)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() {
				t.Fatal("text differs", got.Len(), want.Len())
			}
			if n := strings.Count(types(lines), "done"); n != 1 || lines[len(lines)-1].Type != "done" || strings.Count(types(lines), "session") != 1 {
				t.Fatal(n, "dones")
			}
		})
	}
}

func once(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// waitFor returns when a turn has ended (end), or when n pieces of its reply were told.
func waitFor(t *testing.T, sub *event.Subscription, end bool, n int) {
	last := 0
	for !end && last < n-2 || end {
		e, err := sub.Next(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		if isDone(e) {
			return
		}
		last = int(e.Seq)
	}
}

func TestChatSentAgainGetsTheSameTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Say("Yes.").Counting(llm.Usage{Prompt: 3, Completion: 1})))
	in := &agent.ChatInput{Text: "Q", ClientID: "same"}
	var runs [2][]line
	for i := range runs {
		if err := r.Chat(t.Context(), in, func(v any) error {
			runs[i] = append(runs[i], readLine(t, v))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if types(runs[1]) != "session text_delta usage done" {
		t.Fatal(types(runs[1]))
	}
	a, b := runs[0][len(runs[0])-1], runs[1][len(runs[1])-1]
	if a.TurnID != b.TurnID || a.Content != b.Content || *a.MessageID != *b.MessageID || runs[1][1].Text != "Yes." {
		t.Fatal(a, b)
	}
}

// A window that joins at any moment of a reply, however its events are joined on the way, draws exactly the reply (R21).
func TestLiveFitsTheStream(t *testing.T) {
	t.Parallel()
	step := scripted.Step{}
	for i := range 900 {
		step.Pieces = append(step.Pieces, scripted.Piece{Text: fmt.Sprintf("%d é😀 ", i), Thinking: strings.Repeat("t", i%3)})
	}
	r := newRig(t, scripted.New(step))
	release := make(chan struct{})
	r.models.byRole["primary"] = scripted.New(scripted.Step{Pieces: append([]scripted.Piece{{Until: release}}, step.Pieces...)})
	out := r.send(agent.SendInput{Text: "Q", ClientID: "c"})
	var wg sync.WaitGroup
	texts := make([]string, 12)
	for i := range texts {
		wg.Go(func() { texts[i] = r.window(out.SessionID, i*70) })
	}
	close(release)
	wg.Wait()
	want := r.messages(out.SessionID)[1].Content
	for i, got := range texts {
		if got != want {
			t.Errorf("window %d drew %d bytes of %d", i, len(got), len(want))
		}
	}
	idle, err := r.Live(t.Context(), &agent.LiveInput{ID: out.SessionID})
	if err != nil || idle.TurnID != nil || idle.Text != "" || idle.Seq == 0 {
		t.Fatal(idle, err)
	}
}

// window does what a page does that is loaded after some events: listen, ask, draw, apply.
func (r *rig) window(id string, after int) string {
	watch := r.bus.Subscribe(nil, nil)
	for n := 0; n < after; n++ {
		if e, err := watch.Next(r.t.Context()); err != nil || isDone(e) {
			break
		}
	}
	watch.Close()
	sub := r.bus.Subscribe(nil, nil)
	defer sub.Close()
	live, err := r.Live(r.t.Context(), &agent.LiveInput{ID: id})
	if err != nil {
		r.t.Error(err)
		return ""
	}
	if live.TurnID == nil {
		return r.messages(id)[1].Content
	}
	drawn := []rune(live.Text)
	for {
		e, err := sub.Next(r.t.Context())
		if err != nil {
			r.t.Error(err)
			return ""
		}
		if e.Seq <= live.Seq {
			continue
		}
		if e.Topic == event.Gap {
			return r.window(id, 0)
		}
		if d, ok := event.Is(transcript.TopicTextDelta, e); ok {
			have := utf16Len(string(drawn))
			piece := []rune(d.Text)
			for d.Offset < have && len(piece) > 0 {
				d.Offset += utf16Len(string(piece[:1]))
				piece = piece[1:]
			}
			drawn = append(drawn, piece...)
		}
		if isDone(e) {
			return string(drawn)
		}
	}
}

func utf16Len(s string) (n int) {
	for _, c := range s {
		n++
		if c > 0xffff {
			n++
		}
	}
	return n
}
