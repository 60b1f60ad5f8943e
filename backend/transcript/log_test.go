package transcript_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

var fault = errs.New(errs.Limited, "rate_limited", "The limit is reached.")

// The projections are a pure function of the log: made again, they have the same bytes, however turns ended.
func TestRebuildGivesTheSameBytes(t *testing.T) {
	r := newRig(t)
	secret := r.newChat(true)
	used := 5
	usage := &transcript.Usage{Model: "a/b", PromptTokens: 3, ContextUsed: &used}
	say := func(text string, e transcript.Ending, pieces ...string) {
		p := r.open("question word "+text, func(o *transcript.Opening) {
			o.ClientID, o.Attachments = "client "+text, []string{"a.txt", "screens/" + text + ".png"}
		})
		for _, piece := range pieces {
			p.Add("thought of "+piece, piece)
			r.checkpoint()
		}
		r.end(p, e)
	}
	say("done", transcript.Ending{Usage: usage}, "word one ", "word é😀")
	say("stopped", transcript.Ending{Cancelled: true}, "word half")
	say("stopped at once", transcript.Ending{Cancelled: true})
	say("failed", transcript.Ending{Failure: fault, Usage: usage}, "word lost")
	waits := r.open("word waits", func(o *transcript.Opening) { o.Queued = true })
	r.end(waits, transcript.Ending{Dropped: true, Failure: fault})
	hidden := r.open("word hidden", func(o *transcript.Opening) { o.SessionID = secret })
	hidden.Add("", "word hidden too")
	r.end(hidden, transcript.Ending{})

	// A crash: one is being answered, one waits, and the start ends both.
	lost := r.open("word crashed")
	lost.Add("", "word was ")
	r.checkpoint()
	lost.Add("", "being written")
	r.checkpoint()
	r.open("word never sent", func(o *transcript.Opening) { o.Queued = true })
	if found, err := r.Recover(t.Context(), func(string) bool { return false }); err != nil || found.Ended != 1 || found.Unsent != 1 {
		t.Fatal(found, err)
	}
	// And one is being written now.
	now := r.open("word now")
	now.Add("hm", "word in the middle")
	r.checkpoint()

	want, wantSecret := r.dump(r.chat), r.dump(secret)
	if !strings.Contains(want, "word in the middle") || !strings.Contains(want, "word was being written") || strings.Contains(want, "word lost") {
		t.Fatal(want)
	}
	for range 2 {
		r.rebuild(r.chat, want)
		r.rebuild(secret, wantSecret)
	}
	terms := r.terms()
	// Whatever had damaged them, they come back; the log is the truth.
	r.exec(`UPDATE messages SET content = 'damaged', cancelled = 1 WHERE role = 'assistant'`)
	r.exec(`UPDATE turns SET state = 'failed', parent_id = NULL`)
	r.exec(`DELETE FROM messages WHERE role = 'user' AND turn_id NOT IN (SELECT turn_id FROM open_replies)`)
	r.rebuild(r.chat, want)
	if got := r.terms(); got != terms || !strings.Contains(terms, "word") {
		t.Errorf("the index differs:\n%s\n%s", got, terms)
	}
	now.Add("", ", and goes on")
	r.end(now, transcript.Ending{})
	r.rebuild(r.chat, r.dump(r.chat))
	if err := r.Rebuild(t.Context(), "nope"); errs.StatusOf(err) != 404 {
		t.Error(err)
	}
	r.exec(`INSERT INTO message_text (message_text, rank) VALUES ('integrity-check', 0)`)
}

// terms gives every word in the search's index, with its places.
func (r *rig) terms() (all string) {
	r.write(func(tx *store.Tx) error {
		if _, err := tx.Exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab (main, message_text, instance)`); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT group_concat(term || doc || '.' || offset, ' ') FROM (SELECT * FROM temp.terms ORDER BY term, doc, offset)`).Scan(&all)
	})
	return all
}

func (r *rig) rebuild(chat, want string) {
	r.t.Helper()
	if err := r.Rebuild(r.t.Context(), chat); err != nil {
		r.t.Fatal(err)
	}
	if got := r.dump(chat); got != want {
		r.t.Errorf("rebuilt differs:\n%s\n%s", got, want)
	}
}

// What a turn told can be told again from the log, line by line.
func TestToldIsWhatWasHeard(t *testing.T) {
	n := 87
	warn := "Long."
	usage := &transcript.Usage{Model: "a/b", PromptTokens: 3, ContextUsed: &n, ContextLength: &n, ContextPercent: &n, ContextWarning: &warn}
	for name, c := range map[string]struct {
		queued bool
		text   string
		end    transcript.Ending
		want   string
	}{
		"done":            {text: "Yes.", end: transcript.Ending{Usage: usage}, want: "session notice usage done"},
		"stopped":         {text: "Ye", end: transcript.Ending{Cancelled: true}, want: "session notice done"},
		"stopped at once": {end: transcript.Ending{Cancelled: true}, want: "session notice done"},
		"failed":          {text: "Ye", end: transcript.Ending{Failure: fault, Usage: usage}, want: "session notice usage error done"},
		"dropped":         {queued: true, end: transcript.Ending{Dropped: true, Failure: fault}, want: "session error done"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ref := transcript.Ref{SessionID: r.chat, TurnID: transcript.NewID()}
			p := r.open("Q", func(o *transcript.Opening) { o.Ref, o.ClientID, o.Queued = ref, "c1", c.queued })
			if !c.queued {
				if err := r.Notice(t.Context(), ref, transcript.Notice{Message: "Note.", Code: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			if c.text != "" {
				p.Add("", c.text)
			}
			if _, ended, err := r.Told(t.Context(), ref); err != nil || ended {
				t.Fatal(ended, err)
			}
			r.end(p, c.end)
			heard := r.heard()
			all, ended, err := r.Told(t.Context(), ref)
			told, text := split(all)
			if err != nil || !ended || types(told) != c.want {
				t.Fatal(types(told), ended, err)
			}
			a, b := encode(t, heard), encode(t, told)
			if a != b {
				t.Errorf("heard\n%s\ntold\n%s", a, b)
			}
			kept := c.text
			if c.end.Failure != nil {
				kept = ""
			}
			if text != kept {
				t.Error(text)
			}
		})
	}
}

// split takes the deltas of lines apart.
func split(lines []transcript.Line) (kept []transcript.Line, text string) {
	for _, l := range lines {
		if d, ok := l.Payload.(transcript.TextDelta); ok {
			text += d.Text
			continue
		}
		kept = append(kept, l)
	}
	return kept, text
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestTheLinesOfDone(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		queued bool
		end    transcript.Ending
		want   string
	}{
		"done":    {"Yes.", false, transcript.Ending{}, `{"type":"done","session_id":"S","turn_id":"T","content":"Yes.","message_id":"M","memory_sources":[],"sources":[],"checks":[]}`},
		"stopped": {"Ye", false, transcript.Ending{Cancelled: true}, `{"type":"done","session_id":"S","turn_id":"T","content":"Ye","message_id":"M","cancelled":true,"memory_sources":[],"sources":[],"checks":[]}`},
		"at once": {"", false, transcript.Ending{Cancelled: true}, `{"type":"done","session_id":"S","turn_id":"T","content":"","message_id":null,"cancelled":true,"memory_sources":[],"sources":[],"checks":[]}`},
		"failed":  {"Ye", false, transcript.Ending{Failure: fault}, `{"type":"done","session_id":"S","turn_id":"T","content":"","message_id":null,"memory_sources":[],"sources":[],"checks":[],"error":"The limit is reached."}`},
		"dropped": {"", true, transcript.Ending{Dropped: true, Failure: fault}, `{"type":"done","session_id":"S","turn_id":"T","content":"","message_id":null,"cancelled":true,"memory_sources":[],"sources":[],"checks":[],"dropped":["Q"],"client_id":"c1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ref := transcript.Ref{SessionID: r.chat, TurnID: transcript.NewID()}
			p := r.open("Q", func(o *transcript.Opening) { o.Ref, o.ClientID, o.Queued = ref, "c1", c.queued })
			p.Add("", c.text)
			r.end(p, c.end)
			lines := r.heard()
			last := lines[len(lines)-1]
			id := "none"
			if d, ok := last.Payload.(transcript.DoneEvent); ok && d.MessageID != nil {
				id = *d.MessageID
			}
			got := strings.NewReplacer(r.chat, "S", ref.TurnID, "T", id, "M").Replace(encode(t, last))
			if got != c.want {
				t.Errorf("\n%s\n%s", got, c.want)
			}
		})
	}
	if _, err := json.Marshal(transcript.Line{Type: "x", Payload: 3}); err == nil {
		t.Error("a line that is no object")
	}
	if got := encode(t, transcript.Line{Type: `a"b`, Payload: struct{}{}}); got != `{"type":"a\"b"}` {
		t.Error(got)
	}
}

// However often, from wherever and into whatever a turn's end is written, it has one done and nothing after it.
func TestATurnHasOneDone(t *testing.T) {
	for name, breaks := range map[string]func(r *rig) (mend func()){
		"well": func(*rig) func() { return func() {} },
		"the database refuses": func(r *rig) func() {
			r.exec(`CREATE TRIGGER broken BEFORE INSERT ON chat_events BEGIN SELECT raise(ABORT, 'no'); END`)
			return func() { r.exec(`DROP TRIGGER broken`) }
		},
		"the message cannot be written": func(r *rig) func() {
			r.exec(`CREATE TRIGGER broken BEFORE INSERT ON messages BEGIN SELECT raise(ABORT, 'no'); END`)
			return func() { r.exec(`DROP TRIGGER broken`) }
		},
		"a panic": func(r *rig) func() {
			r.time.broken.Store(true)
			return func() { r.time.broken.Store(false) }
		},
		"the chat is gone": func(r *rig) func() {
			r.exec(`DELETE FROM sessions`)
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ref := transcript.Ref{SessionID: r.chat, TurnID: transcript.NewID()}
			p := r.open("Q", func(o *transcript.Opening) { o.Ref = ref })
			p.Add("", "Part")
			r.checkpoint()
			mend := breaks(r)
			var failed atomic.Int32
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					if err := p.End(t.Context(), transcript.Ending{Cancelled: i%2 == 0}); err != nil {
						failed.Add(1)
					}
				})
			}
			wg.Wait()
			mend()
			if p.Add("", "late") || p.Text() != "Part" {
				t.Error("a piece after the end was taken")
			}
			if err := p.End(t.Context(), transcript.Ending{}); err != nil {
				t.Error(err)
			}
			if _, live := p.Live(); live {
				t.Error("live after done")
			}
			lines := r.heard()
			want, failures := "session done", int32(0)
			if name != "well" {
				want, failures = "session error done", 1
			}
			if types(lines) != want || failed.Load() != failures {
				t.Fatal(types(lines), failed.Load())
			}
			if d := lines[len(lines)-1].Payload.(transcript.DoneEvent); (d.Error == "") != (name == "well") || (d.MessageID == nil) == (name == "well") {
				t.Error(d)
			}
			r.write(func(tx *store.Tx) error { return r.Settle(tx, r.chat) })
			if name == "the chat is gone" {
				return
			}
			if n := r.text(`SELECT count(*) FROM chat_events WHERE kind = 'done' AND turn_id = ?`, ref.TurnID); n != "1" {
				t.Error(n, "dones in the log")
			}
			if n := r.text(`SELECT count(*) FROM open_replies`); n != "0" {
				t.Error(n, "pieces left behind")
			}
		})
	}
}

// The log of a chat is read with entries it does not know as an error, never by leaving them out.
func TestUnknownEntriesAreNoSilentLoss(t *testing.T) {
	r := newRig(t)
	ref := transcript.Ref{SessionID: r.chat, TurnID: transcript.NewID()}
	r.end(r.open("Q", func(o *transcript.Opening) { o.Ref = ref }), transcript.Ending{Cancelled: true})
	want := r.dump(r.chat)
	r.exec(`INSERT INTO chat_events (session_id, seq, id, turn_id, kind, payload, at) VALUES (?, 99, 'x', ?, 'from_later', '{}', '')`, r.chat, ref.TurnID)
	if _, _, err := r.Told(t.Context(), ref); err == nil {
		t.Error("told")
	}
	if err := r.Rebuild(t.Context(), r.chat); err == nil || r.dump(r.chat) != want {
		t.Error("rebuilt", err)
	}
}

// History reads the path back from a turn, what was never sent left out.
func TestHistory(t *testing.T) {
	r := newRig(t)
	for _, text := range []string{"a", "b", "c"} {
		p := r.open(text)
		p.Add("t", strings.ToUpper(text))
		r.end(p, transcript.Ending{Cancelled: text == "b"})
	}
	r.end(r.open("dropped", func(o *transcript.Opening) { o.Queued = true }), transcript.Ending{Dropped: true, Failure: fault})
	ref := transcript.Ref{SessionID: r.chat, TurnID: transcript.NewID()}
	r.open("now", func(o *transcript.Opening) { o.Ref, o.Attachments = ref, []string{"x.txt"} })
	r.open("later", func(o *transcript.Opening) { o.Queued = true })
	for limit, want := range map[int]string{1: "now", 2: "C now", 4: "B c C now", 30: "a A b B c C now"} {
		past, _, err := r.History(t.Context(), ref.TurnID, limit)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, p := range past {
			said = append(said, p.Text)
		}
		if got := strings.Join(said, " "); got != want && limit != 2 && limit != 4 {
			t.Errorf("limit %d: %s", limit, got)
		} else if !strings.HasSuffix(want, got) {
			t.Errorf("limit %d: %s", limit, got) // a dropped turn may take a place, never a message
		}
		if last := past[len(past)-1]; last.Text != "now" || last.TurnID != ref.TurnID || len(last.Attachments) != 1 {
			t.Error(last)
		}
	}
}
