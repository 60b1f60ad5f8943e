package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/agent"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

type args struct {
	N    int    `json:"n,omitempty" doc:"a number"`
	Text string `json:"text,omitempty"`
}

// does makes a look-up that does what run says.
func does(name string, run func(ctx context.Context, c *tool.Context, in args) (any, error)) *tool.Tool {
	return tool.New(tool.Def[args]{Name: name, Description: "Looks up.", Risk: tool.Read, Run: run})
}

// gives makes a look-up that always gives the same.
func gives(name string, value any) *tool.Tool {
	return does(name, func(context.Context, *tool.Context, args) (any, error) { return value, nil })
}

// results gives the tool rows of a chat as "name: content".
func (r *rig) results(id string) (list []string) {
	for _, m := range r.messages(id) {
		if m.Role == "tool" {
			list = append(list, *m.Name+": "+m.Content)
		}
	}
	return list
}

// What a tool does wrong, and what a model asks for wrongly, is a clear result for the model, and the turn goes on.
func TestWrongCallsAndTools(t *testing.T) {
	for name, c := range map[string]struct {
		tool *tool.Tool
		call llm.ToolCall
		want string // in the result
	}{
		"panics": {does("t", func(context.Context, *tool.Context, args) (any, error) { panic("bug") }), scripted.ToolCall("t", nil), "This tool ran into a fault of its own"},
		"fails": {does("t", func(context.Context, *tool.Context, args) (any, error) {
			return nil, errors.New("dial tcp 10.0.0.1: secret")
		}), scripted.ToolCall("t", nil), `{"error":"t did not work. Try another way, or tell the user."}`},
		"fails well": {does("t", func(context.Context, *tool.Context, args) (any, error) {
			return nil, errs.New(errs.NotFound, "x", "There is no such page.").Because(errors.New("secret"))
		}), scripted.ToolCall("t", nil), `{"error":"There is no such page."}`},
		"200 MB": {does("t", func(context.Context, *tool.Context, args) (any, error) { return strings.Repeat("x", 200<<20), nil }), scripted.ToolCall("t", nil), "larger than 16 MB"},
		"200 MB list": {does("t", func(context.Context, *tool.Context, args) (any, error) {
			return []string{strings.Repeat("x", 20<<20)}, nil
		}), scripted.ToolCall("t", nil), "larger than 16 MB"},
		"no UTF-8":   {gives("t", "a\xff\xfeb\x00c"), scripted.ToolCall("t", nil), "a\uFFFDb\uFFFDc"},
		"no JSON":    {gives("t", map[string]any{"f": func() {}}), scripted.ToolCall("t", nil), "This tool ran into a fault"},
		"nothing":    {gives("t", nil), scripted.ToolCall("t", nil), "{}"},
		"unknown":    {gives("t", "ok"), scripted.ToolCall("tt", nil), `There is no tool called \"tt\". The tools are: t.`},
		"no name":    {gives("t", "ok"), scripted.ToolCall("", nil), `There is no tool called \"unnamed\"`},
		"long name":  {gives("t", "ok"), scripted.ToolCall(strings.Repeat("x", 10000), nil), `There is no tool called \"xxx`},
		"half JSON":  {gives("t", "ok"), scripted.ToolCall("t", `{"n": 1, "text": "half`), `Invalid arguments for t: they are not valid JSON.`},
		"wrong kind": {gives("t", "ok"), scripted.ToolCall("t", `{"n": "many"}`), `"schema":{`},
		"extra":      {gives("t", "ok"), scripted.ToolCall("t", `{"bcc": "x"}`), `Invalid arguments for t`},
		"a list":     {gives("t", "ok"), scripted.ToolCall("t", `[1]`), `not a JSON object`},
		"forgiven":   {does("t", func(_ context.Context, _ *tool.Context, in args) (any, error) { return in.N + 1, nil }), scripted.ToolCall("t", "```json\n{\"n\": \"41\"}\n```"), "42"},
		"sends": {tool.New(tool.Def[args]{Name: "t", Description: "Sends.", Risk: tool.Send, Run: func(context.Context, *tool.Context, args) (any, error) { return "sent", nil }}),
			scripted.ToolCall("t", nil), "Not done: t needs the user's yes"},
		"writes": {tool.New(tool.Def[args]{Name: "t", Description: "Writes.", Risk: tool.Write, Run: func(context.Context, *tool.Context, args) (any, error) { return "written", nil }}),
			scripted.ToolCall("t", nil), "Not done: t needs the user's yes"},
		"its own": {tool.New(tool.Def[args]{Name: "t", Description: "Notes.", Risk: tool.Write, Internal: true, Run: func(context.Context, *tool.Context, args) (any, error) { return "noted", nil }}),
			scripted.ToolCall("t", nil), "noted"},
		"riskier now": {tool.New(tool.Def[args]{Name: "t", Description: "Reads.", Risk: tool.Read, Run: func(context.Context, *tool.Context, args) (any, error) { return "sent", nil },
			RiskOf: func(context.Context, *tool.Context, args) (tool.Risk, error) { return tool.Send, nil }}), scripted.ToolCall("t", nil), "Not done: t needs"},
		"risk fails": {tool.New(tool.Def[args]{Name: "t", Description: "Notes.", Risk: tool.Read, Internal: true, Run: func(context.Context, *tool.Context, args) (any, error) { return "ran", nil },
			RiskOf: func(context.Context, *tool.Context, args) (tool.Risk, error) { panic("bug") }}), scripted.ToolCall("t", nil), "Not done: t needs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := scripted.New(scripted.Step{Calls: []llm.ToolCall{c.call}}, scripted.Say("Done."))
			r := newRig(t, m)
			r.tools.add(c.tool)
			out := r.send(agent.SendInput{Text: "Q"})
			if d := r.done(out.TurnID); d.Content != "Done." || d.Error != "" {
				t.Fatal(d)
			}
			got := strings.Join(r.results(out.SessionID), "\n")
			if !strings.Contains(got, c.want) || strings.Contains(got, "secret") || strings.Contains(got, "goroutine") {
				t.Error(got)
			}
			last := m.Last().Messages[len(m.Last().Messages)-1]
			if last.Role != llm.ToolRole || !strings.Contains(last.Text, c.want) {
				t.Error("the model read", last)
			}
		})
	}
}

// A tool that hangs is given up after its time, and after Stop at once, whether it listens to its context or not.
func TestHangingTools(t *testing.T) {
	for name, deaf := range map[string]bool{"listens": false, "deaf": true} {
		for _, stop := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " stopped ", stop), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					freed := make(chan struct{})
					m := scripted.New(scripted.Call("t", nil), scripted.Say("Done."))
					r := newRig(t, m)
					r.tools.add(does("t", func(ctx context.Context, _ *tool.Context, _ args) (any, error) {
						if !deaf {
							<-ctx.Done()
							return nil, ctx.Err()
						}
						<-freed
						return "late", nil
					}))
					out := r.send(agent.SendInput{Text: "Q"})
					began := time.Now()
					if stop {
						synctest.Wait()
						if _, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: out.SessionID}); err != nil {
							t.Fatal(err)
						}
					}
					d := r.done(out.TurnID)
					took := time.Since(began)
					got := strings.Join(r.results(out.SessionID), "\n")
					if stop && (!d.Cancelled || took > 5*time.Second || !strings.Contains(got, "the reply was stopped")) ||
						!stop && (d.Content != "Done." || took < 2*time.Minute || took > 3*time.Minute || !strings.Contains(got, "took longer than 2 minutes")) {
						t.Error(d, took, got)
					}
					close(freed)
					r.close()
				})
			})
		}
	}
}

// Look-ups that follow each other run side by side, everything else in order; results keep the order of the calls.
func TestLookUpsRunSideBySide(t *testing.T) {
	for _, parallel := range []bool{true, false} {
		t.Run(fmt.Sprint("parallel ", parallel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var begun []string
				run := func(_ context.Context, _ *tool.Context, in args) (any, error) {
					mu.Lock()
					begun = append(begun, fmt.Sprint(in.N))
					mu.Unlock()
					time.Sleep(time.Duration(10-in.N) * time.Second) // the first takes longest
					return in.N, nil
				}
				note := tool.New(tool.Def[args]{Name: "note", Description: "Notes.", Risk: tool.Write, Internal: true, Run: run})
				var calls []llm.ToolCall
				for i := range 5 {
					name := "look"
					if i == 3 {
						name = "note"
					}
					calls = append(calls, scripted.ToolCall(name, map[string]int{"n": i}))
				}
				r := newRig(t, scripted.New(scripted.Step{Calls: calls}, scripted.Say("Done.")))
				r.settings.ParallelReads = parallel
				r.tools.add(does("look", run), note)
				began := time.Now()
				out := r.send(agent.SendInput{Text: "Q"})
				var order []string
				for _, e := range r.until(isDone) {
					switch d := e.Payload.(type) {
					case transcript.ToolCallEvent:
						order = append(order, "call "+string(d.Arguments))
					case transcript.ToolResultEvent:
						order = append(order, "result "+string(d.Result))
					}
				}
				want := "call {} call {\"n\":1} call {\"n\":2} result 0 result 1 result 2 call {\"n\":3} result 3 call {\"n\":4} result 4"
				long := 23 * time.Second
				if !parallel {
					want, long = "call {} result 0 call {\"n\":1} result 1 call {\"n\":2} result 2 call {\"n\":3} result 3 call {\"n\":4} result 4", 40*time.Second
				}
				if got := strings.ReplaceAll(strings.Join(order, " "), `{"n":0}`, "{}"); got != want {
					t.Error(got)
				}
				if took := time.Since(began); took != long {
					t.Error(took, begun)
				}
				if got := strings.Join(r.results(out.SessionID), " "); got != "look: 0 look: 1 look: 2 note: 3 look: 4" {
					t.Error(got)
				}
				r.close()
			})
		})
	}
}

// A hundred calls in one round are carried out up to a limit; each has its own result.
func TestAHundredCallsInARound(t *testing.T) {
	t.Parallel()
	var calls []llm.ToolCall
	for i := range 100 {
		calls = append(calls, scripted.ToolCall("look", map[string]int{"n": i + 1}))
	}
	m := scripted.New(scripted.Step{Calls: calls}, scripted.Say("Done."))
	r := newRig(t, m)
	r.tools.add(does("look", func(_ context.Context, _ *tool.Context, in args) (any, error) { return in.N, nil }))
	out := r.send(agent.SendInput{Text: "Q"})
	r.done(out.TurnID)
	got := r.results(out.SessionID)
	if len(got) != 100 || got[63] != "look: 64" || !strings.Contains(got[64], "at most 64 calls") {
		t.Error(len(got), got[60:])
	}
}

// A model that makes the same call for ever is told so once, and then the turn ends with a plain sentence; no more requests
// are made. Blanks make no other call, and two calls in turn are no way around it.
func TestRepeatedCallsEnd(t *testing.T) {
	for name, arguments := range map[string][]string{
		"the same":      {`{"text":"a"}`},
		"in turn":       {`{"text":"a"}`, `{"text":"b"}`},
		"another blank": {`{"text":"a b"}`, `{"text":"a  b"}`, `{"text":" a b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			m := scripted.By(func(llm.Request) scripted.Step {
				n++
				return scripted.Call("look", arguments[n%len(arguments)])
			})
			r := newRig(t, m)
			r.settings.RepeatLimit = 3
			r.tools.add(gives("look", map[string]any{"items": []string{}}))
			out := r.send(agent.SendInput{Text: "Q"})
			d := r.done(out.TurnID)
			if !strings.Contains(d.Content, "I kept repeating the same step (look)") || d.Error != "" || d.MessageID == nil {
				t.Error(d)
			}
			if most := 4 * len(arguments); n > most {
				t.Error(n, "rounds")
			}
			if nudged := strings.Count(strings.Join(r.results(out.SessionID), "\n"), "You have made this same call"); nudged != 1 {
				t.Error(nudged, "nudges")
			}
		})
	}
}

// A different result starts the count again: waiting for something is no repetition.
func TestWaitingIsNoRepetition(t *testing.T) {
	t.Parallel()
	n, polled := 0, 0
	m := scripted.By(func(llm.Request) scripted.Step {
		if n++; n <= 10 {
			return scripted.Call("look", nil)
		}
		return scripted.Say("There.")
	})
	r := newRig(t, m)
	r.settings.RepeatLimit = 3
	r.tools.add(does("look", func(context.Context, *tool.Context, args) (any, error) { polled++; return polled, nil }))
	if d := r.done(r.send(agent.SendInput{Text: "Q"}).TurnID); d.Content != "There." {
		t.Error(d)
	}
}

// A model that uses up its rounds is made to answer; one that answers nothing is asked once more, and then the person gets
// what was found.
func TestAnAnswerInTheEnd(t *testing.T) {
	t.Run("rounds used up", func(t *testing.T) {
		t.Parallel()
		n := 0
		m := scripted.By(func(req llm.Request) scripted.Step {
			n++
			if strings.Contains(req.Messages[len(req.Messages)-1].Text, "Give your final answer now") {
				return scripted.Say("So far: 5.")
			}
			return scripted.Call("look", map[string]int{"n": n})
		})
		r := newRig(t, m)
		r.tools.add(does("look", func(_ context.Context, _ *tool.Context, in args) (any, error) { return in.N, nil }))
		if d := r.done(r.send(agent.SendInput{Text: "Q"}).TurnID); d.Content != "So far: 5." || n != 64 {
			t.Error(d, n)
		}
	})
	t.Run("nothing twice", func(t *testing.T) {
		t.Parallel()
		m := scripted.New(scripted.Step{Calls: []llm.ToolCall{scripted.ToolCall("look", `{"n":1}`), scripted.ToolCall("other", nil)}}, scripted.Say(""), scripted.Say(" "))
		r := newRig(t, m)
		r.tools.add(gives("look", "Trains leave at 9 and 11."), gives("other", "Nothing."))
		d := r.done(r.send(agent.SendInput{Text: "Q"}).TurnID)
		if want := "I couldn't put together a full answer, so here is what I found:\n\n- look: Trains leave at 9 and 11.\n- other: Nothing."; strings.TrimSpace(d.Content) != want {
			t.Errorf("%q", d.Content)
		}
	})
	t.Run("nothing without a call", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, scripted.New(scripted.Say("")))
		if d := r.done(r.send(agent.SendInput{Text: "Q"}).TurnID); !strings.Contains(d.Error, "The model gave no answer") {
			t.Error(d)
		}
	})
}

// A long result is cut to what the model reads, the whole of it is in a file, and the note says exactly where to go on. The
// event has it whole.
func TestLongResults(t *testing.T) {
	for _, incognito := range []bool{false, true} {
		t.Run(fmt.Sprint("incognito ", incognito), func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat("zeile ö 😀 ", 2000)
			m := scripted.New(scripted.Call("look", nil), scripted.Say("Done."))
			r := newRig(t, m)
			r.settings.ResultMaxChars = 2000
			r.tools.add(gives("look", long))
			out := r.send(agent.SendInput{Text: "Q", Incognito: incognito})
			events := r.until(isDone)
			folder := "outputs/"
			if incognito {
				folder += "incognito-" + out.SessionID + "/"
			}
			name := folder + "tool-call_1.txt"
			total := len([]rune(long))
			note := fmt.Sprintf("\n[Result cut: this is only the first 2000 of %d characters. The full result is saved as files/%s (%d characters). Read on with file_read(name=%q, offset=2000); each part gives the next_offset to continue from.]", total, name, total, name)
			read := m.Last().Messages[len(m.Last().Messages)-1].Text
			if want := string([]rune(long)[:2000]) + note; read != want {
				t.Error(read[len(read)-300:])
			}
			saved, err := os.ReadFile(filepath.Join(r.dir, "files", filepath.FromSlash(name)))
			if err != nil || string(saved) != long {
				t.Error(len(saved), err)
			}
			for _, e := range events {
				if d, ok := event.Is(transcript.TopicToolResult, e); ok {
					var whole string
					if err := json.Unmarshal(d.Result, &whole); err != nil || whole != long {
						t.Error("the event's result is cut", len(whole), err)
					}
				}
			}
			if _, err := r.chats.Delete(t.Context(), &session.DeleteInput{ID: out.SessionID}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "files", filepath.FromSlash(name))); os.IsNotExist(err) != incognito {
				t.Error("after the chat:", err)
			}
		})
	}
}

// Sources are what results showed: those that were cut away do not count, the first mention wins.
func TestSources(t *testing.T) {
	t.Parallel()
	search := tool.New(tool.Def[args]{Name: "search", Description: "Searches.", Risk: tool.Read,
		Run: func(context.Context, *tool.Context, args) (any, error) {
			return "https://a.example " + strings.Repeat("x", 1600) + " https://b.example", nil
		},
		Sources: func(args, json.RawMessage) []tool.Source {
			return []tool.Source{{Kind: "web", Title: "A", URL: "https://a.example", Shown: "https://a.example"}, {Kind: "web", Title: "B", URL: "https://b.example", Shown: "https://b.example"}}
		}})
	r := newRig(t, scripted.New(scripted.Step{Calls: []llm.ToolCall{scripted.ToolCall("search", `{"n":1}`), scripted.ToolCall("search", `{"n":2}`)}}, scripted.Say("Done.")))
	r.settings.ResultMaxChars = 1500
	r.tools.plugin.ID, r.tools.plugin.Auth = "web", "builtin"
	r.tools.add(search)
	out := r.send(agent.SendInput{Text: "Q"})
	d := r.done(out.TurnID)
	want := `[{"kind":"web","title":"A","url":"https://a.example","app":"web","tool":"search"}]`
	if got, _ := json.Marshal(d.Sources); string(got) != want {
		t.Error(string(got))
	}
	rows := r.messages(out.SessionID)
	if got := string(rows[len(rows)-1].Sources); got != want {
		t.Error(got)
	}
	for _, m := range rows[:len(rows)-1] {
		if string(m.Sources) != "[]" {
			t.Error(m.Role, string(m.Sources))
		}
	}
}

// A model that cannot use tools answers without them.
func TestAModelWithoutTools(t *testing.T) {
	t.Parallel()
	m := scripted.By(func(req llm.Request) scripted.Step {
		if len(req.Tools) > 0 {
			return scripted.Fail(errs.New(errs.Unavailable, llm.CodeNoTools, "The model can't use tools."))
		}
		return scripted.Say("Plain.")
	})
	r := newRig(t, m)
	r.tools.add(gives("look", "x"))
	if d := r.done(r.send(agent.SendInput{Text: "Q"}).TurnID); d.Content != "Plain." {
		t.Error(d)
	}
}

// What was said into a reply is read by the model at its next round, once; said into the last round, it continues the turn.
func TestSteering(t *testing.T) {
	for name, c := range map[string]struct {
		at   int // the model call during which it is said
		want string
	}{
		"during a tool round":   {1, "user: Q\nassistant: Looking.\ntool: found\nuser: Also B\nassistant: Done.\n"},
		"during the last round": {2, "user: Q\nassistant: Looking.\ntool: found\nassistant: Done.\nuser: Also B\nassistant: And B.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, n := make(chan struct{}), 0
			var r *rig
			var chat string
			m := scripted.By(func(req llm.Request) scripted.Step {
				if n++; n == c.at {
					<-said
				}
				switch n {
				case 1:
					return scripted.Step{Pieces: []scripted.Piece{{Text: "Looking."}}, Calls: []llm.ToolCall{scripted.ToolCall("look", nil)}}
				case 2:
					return scripted.Say("Done.")
				}
				return scripted.Say("And B.")
			})
			r = newRig(t, m)
			r.tools.add(gives("look", "found"))
			out := r.send(agent.SendInput{Text: "Q"})
			chat = out.SessionID
			if c.at == 2 {
				r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicToolResult.Info() })
			}
			steered, err := r.Steer(t.Context(), &agent.SteerInput{SessionID: chat, Text: "Also B", ClientID: "b"})
			if err != nil || !steered.Steered || steered.TurnID != out.TurnID {
				t.Fatal(steered, err)
			}
			if again := r.send(agent.SendInput{SessionID: chat, Text: "Also B", ClientID: "b"}); !again.Steered {
				t.Error("sent again:", again)
			}
			live, err := r.Live(t.Context(), &agent.LiveInput{ID: chat})
			if err != nil || len(live.Steers) != 1 || live.Steers[0].Text != "Also B" {
				t.Error(live, err)
			}
			close(said)
			var told []string
			for _, e := range r.until(isDone) {
				switch e.Payload.(type) {
				case transcript.SteerAck, transcript.InterjectionEvent, transcript.DoneEvent:
					told = append(told, e.Topic.Name)
				}
			}
			if got := strings.Join(told, " "); got != "steer_ack steer_ack user_interjection done" {
				t.Error(got)
			}
			if got := r.said(chat); got != c.want {
				t.Error(got)
			}
			for _, row := range r.messages(chat) {
				if row.Interjection != (row.Content == "Also B") {
					t.Error(row.Content, row.Interjection)
				}
			}
		})
	}
}

// What was said into a reply that fails, or is stopped, is answered next: never lost, never twice.
func TestASteerOutlivesItsReply(t *testing.T) {
	for name, stop := range map[string]bool{"fails": false, "stopped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, said := 0, make(chan struct{})
			m := scripted.By(func(llm.Request) scripted.Step {
				if n++; n > 1 {
					return scripted.Say("B it is.")
				}
				if stop {
					return scripted.Step{Pieces: []scripted.Piece{{Text: "Hm."}}, Hang: true}
				}
				<-said
				return scripted.Fail(errs.New(errs.Limited, llm.CodeRateLimited, "The limit is reached."))
			})
			r := newRig(t, m)
			out := r.send(agent.SendInput{Text: "A"})
			if _, err := r.Steer(t.Context(), &agent.SteerInput{SessionID: out.SessionID, Text: "B", ClientID: "b"}); err != nil {
				t.Fatal(err)
			}
			close(said)
			if stop {
				r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
				if _, err := r.Cancel(t.Context(), &agent.CancelInput{SessionID: out.SessionID}); err != nil {
					t.Fatal(err)
				}
			}
			r.done(out.TurnID)
			events := r.until(isDone)
			if d, _ := event.Is(transcript.TopicDone, events[len(events)-1]); d.Content != "B it is." || d.TurnID == out.TurnID {
				t.Error(d)
			}
			if n := strings.Count(r.said(out.SessionID), "user: B\n"); n != 1 {
				t.Error(r.said(out.SessionID))
			}
		})
	}
}

// What code found a call really did stands with the reply: checked, failed with a message that fits what the reply claims,
// or put right by a later call.
func TestOutcomesAreChecked(t *testing.T) {
	write := tool.New(tool.Def[args]{Name: "put", Description: "Writes.", Risk: tool.Write, Internal: true, Outcome: tool.OutcomeFile,
		Run: func(_ context.Context, _ *tool.Context, in args) (any, error) {
			return map[string]string{"name": in.Text}, nil
		},
		Targets: func(in args) []string { return []string{in.Text} },
		Verify: func(_ context.Context, _ *tool.Context, in args, _ json.RawMessage) (tool.Verified, error) {
			return tool.Verified{OK: in.N == 0, Detail: "a.md is not there", Missed: []string{in.Text}}, nil
		}})
	for name, c := range map[string]struct {
		calls []string
		reply string
		want  string
	}{
		"worked":  {[]string{`{"text":"a.md"}`}, "I wrote it.", `true read_back false ""`},
		"claimed": {[]string{`{"text":"a.md","n":1}`}, "I wrote a.md.", `false read_back false "Sentient said it wrote the file, but a.md is not there."`},
		"owned":   {[]string{`{"text":"a.md","n":1}`}, "I could not write a.md.", `false read_back false "Sentient tried to write the file, but a.md is not there."`},
		"mended":  {[]string{`{"text":"a.md","n":1}`, `{"text":"a.md"}`}, "I wrote a.md.", `false read_back true "", true read_back false ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := scripted.Step{}
			for _, a := range c.calls {
				step.Calls = append(step.Calls, scripted.ToolCall("put", a))
			}
			r := newRig(t, scripted.New(step, scripted.Say(c.reply)))
			r.tools.plugin.ID, r.tools.plugin.Auth = "files", "builtin"
			r.tools.add(write)
			out := r.send(agent.SendInput{Text: "Q"})
			d := r.done(out.TurnID)
			var got []string
			for _, k := range d.Checks {
				got = append(got, fmt.Sprintf("%v %s %v %q", k.OK, k.How, k.Settled, k.Message))
			}
			if strings.Join(got, ", ") != c.want {
				t.Error(got)
			}
			rows := r.messages(out.SessionID)
			if kept, _ := json.Marshal(d.Checks); string(rows[len(rows)-1].Checks) != string(kept) {
				t.Error(string(rows[len(rows)-1].Checks))
			}
			failed := strings.Contains(r.results(out.SessionID)[0], "Sentient checked afterwards and it did not work: a.md is not there.")
			if failed != (name != "worked") {
				t.Error(r.results(out.SessionID))
			}
		})
	}
}

// A call knows whether its turn may use what Sentient knows about the person.
func TestCallsKnowWhetherTheyMayRemember(t *testing.T) {
	for name, c := range map[string]struct{ incognito, allowed, want bool }{
		"ordinary": {false, false, true}, "incognito": {true, true, true}, "incognito without memory": {true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := !c.want
			r := newRig(t, scripted.New(scripted.Call("look", nil), scripted.Say("Done.")))
			r.settings.IncognitoUsesMemory = c.allowed
			r.tools.add(does("look", func(_ context.Context, at *tool.Context, _ args) (any, error) { got = at.Memory; return "x", nil }))
			r.done(r.send(agent.SendInput{Text: "Q", Incognito: c.incognito}).TurnID)
			if got != c.want {
				t.Error(got)
			}
		})
	}
}
