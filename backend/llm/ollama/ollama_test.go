package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/golden"
	"sentient/backend/llm/scripted"
)

func serve(t *testing.T, plays ...scripted.Play) *scripted.Server {
	t.Helper()
	s, err := scripted.Serve(plays...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

const done = `{"message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":1}` + "\n"

func answer(read int) scripted.Play { return scripted.Stream(fmt.Sprintf(done, read)) }

func sent(t *testing.T, s *scripted.Server, n int) (r chatRequest) {
	t.Helper()
	if err := s.Requests()[n].JSON(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, code string
		says       string
	}{
		{404, `{"error":"model 'm' not found"}`, llm.CodeModelUnknown, "Ollama has not downloaded m."},
		{400, `{"error":"registry.ollama.ai/library/m does not support tools"}`, llm.CodeNoTools, "can't use tools"},
		{500, `{"error":"model requires more system memory (39.3 GiB) than is available (7.5 GiB)"}`, llm.CodeModelRefused, "free memory"},
		{500, `{"error":"llama runner process has terminated: exit status 2"}`, llm.CodeDown, "Ollama ran into a problem."},
		{503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, llm.CodeDown, "Ollama ran into a problem."},
	} {
		s := serve(t, scripted.Refuse(c.status, c.body))
		_, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), golden.Hello())
		if errs.Code(err) != c.code || !strings.Contains(errs.From(err).Message, c.says) || len(s.Requests()) != 1 {
			t.Errorf("%s: %v", c.body, err)
		}
	}
	s := serve(t)
	s.Close()
	m := New(Options{BaseURL: s.Root})
	if _, _, err := golden.Ask(t, m, golden.Hello()); errs.Code(err) != llm.CodeUnreachable || !strings.Contains(errs.From(err).Message, "Ollama is not running") {
		t.Error(err)
	}
	if _, err := m.Version(t.Context()); errs.Code(err) != llm.CodeUnreachable {
		t.Error(err)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	half := 0.5
	s := serve(t, answer(50))
	req := llm.Request{Model: "qwen3:8b", Effort: llm.EffortNone, Temperature: &half, MaxTokens: 9, ContextLength: 8192, Stop: []string{"X"}, Schema: json.RawMessage(`{"type":"object"}`),
		Tools: []llm.Tool{{Name: "set_timer", Description: "Sets.", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)}, {Name: "bare"}},
		Messages: []llm.Message{
			{Role: llm.System, Text: "Be kind."},
			{Role: llm.User, Text: "look", Images: []llm.Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
			{Role: llm.Assistant, Thinking: "hm", ToolCalls: []llm.ToolCall{{ID: "c1", Name: "set_timer", Arguments: json.RawMessage(`{"z":1}`)}, {ID: "c2", Name: "bare", Arguments: json.RawMessage(`oops`)}}},
			{Role: llm.ToolRole, ToolCallID: "c1", ToolName: "set_timer", Text: "done"},
			{Role: llm.ToolRole, ToolCallID: "c2", ToolName: "bare", Text: "bad"},
		}}
	if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"qwen3:8b","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"look","images":["AQID"]},` +
		`{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"c1","function":{"name":"set_timer","arguments":{"z":1}}},{"id":"c2","function":{"name":"bare","arguments":{}}}]},` +
		`{"role":"tool","content":"done","tool_name":"set_timer","tool_call_id":"c1"},{"role":"tool","content":"bad","tool_name":"bare","tool_call_id":"c2"}],` +
		`"tools":[{"type":"function","function":{"name":"set_timer","description":"Sets.","parameters":{"type":"object","properties":{"z":{},"a":{}}}}},{"type":"function","function":{"name":"bare","description":"","parameters":{"type":"object","properties":{}}}}],` +
		`"format":{"type":"object"},"think":false,"stream":true,"options":{"num_ctx":8192,"num_predict":9,"temperature":0.5,"stop":["X"]}}`
	if got := string(s.Requests()[0].Body); got != want || s.Requests()[0].Path != "/api/chat" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestThink(t *testing.T) {
	for _, c := range []struct {
		model  string
		effort llm.Effort
		want   string
	}{{"qwen3:8b", "", ""}, {"qwen3:8b", llm.EffortNone, "false"}, {"qwen3:8b", llm.EffortLow, "true"}, {"gpt-oss:20b", llm.EffortHigh, `"high"`}, {"gpt-oss:20b", llm.EffortNone, `"low"`}} {
		s := serve(t, answer(5))
		req := golden.Hello()
		req.Model, req.Effort = c.model, c.effort
		if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req); err != nil {
			t.Fatal(err)
		}
		var raw struct{ Think json.RawMessage }
		if err := s.Requests()[0].JSON(&raw); err != nil || string(raw.Think) != c.want {
			t.Errorf("%s %s: %s", c.model, c.effort, raw.Think)
		}
	}
	s := serve(t, scripted.Refuse(400, `{"error":"\"m\" does not support thinking"}`), answer(5), answer(5))
	m := New(Options{BaseURL: s.Root})
	req := golden.Hello()
	req.Effort = llm.EffortHigh
	for range 2 {
		if _, _, err := golden.Ask(t, m, req); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Requests()) != 3 || sent(t, s, 2).Think != nil {
		t.Error("think was sent again")
	}
}

// TestWindowCoversThePrompt pastes 60 KB.
func TestWindowCoversThePrompt(t *testing.T) {
	paste := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 60<<10/45)
	for _, c := range []struct {
		name      string
		length    int
		read      int
		window    int
		shortened bool
	}{
		{"left open", 0, 14000, 32768, false},
		{"asked for and enough", 32768, 14000, 32768, false},
		{"asked for and too small", 8192, 2051, 8192, true},
		{"the server goes by its own", 32768, 2051, 32768, true},
		{"most was cached", 32768, 900, 32768, false},
	} {
		s := serve(t, answer(c.read))
		req := golden.Hello()
		req.ContextLength = c.length
		req.Messages[0].Text = paste
		reply, heard, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req)
		if err != nil || reply.Shortened != c.shortened || (len(heard.Notes) == 1) != c.shortened || reply.Text != "ok" {
			t.Errorf("%s: %v %+v %q", c.name, err, reply, heard.Notes)
		}
		if got := sent(t, s, 0).Options.NumCtx; got != c.window {
			t.Errorf("%s: num_ctx %d", c.name, got)
		}
	}
}

func TestShortfall(t *testing.T) {
	for _, c := range []struct {
		name                           string
		estimate, read, window, cached int
		want                           bool
	}{
		{"fits", 1000, 1000, 8192, -1, false},
		{"no figure", 5000, 0, 8192, -1, false},
		{"over the window", 10000, 8000, 8192, -1, true},
		{"a little over, by an estimate", 8500, 8100, 8192, -1, false},
		{"full window of another size", 6500, 4096, 8192, -1, false}, // more than 0.6 of it: the estimate may be off
		{"full window of another size, far under", 7500, 4090, 8192, -1, true},
		{"cached by an earlier run", 7000, 300, 8192, -1, false},
		{"cached by us", 7000, 300, 8192, 6500, false},
		{"not cached by us", 7000, 1500, 8192, 500, true},
	} {
		if got := shortfall(c.estimate, c.read, c.window, c.cached); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCachedRoundsAreNoShortfall(t *testing.T) {
	s := serve(t, answer(5000), answer(40), answer(40))
	m := New(Options{BaseURL: s.Root})
	req := golden.Hello()
	req.ContextLength = 16384
	req.Messages[0].Text = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 500)
	for i := range 3 {
		reply, heard, err := golden.Ask(t, m, req)
		if err != nil || reply.Shortened || len(heard.Notes) != 0 {
			t.Fatalf("round %d: %v %+v %q", i, err, reply, heard.Notes)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: reply.Text}, llm.Message{Role: llm.User, Text: "more"})
	}
}

// TestTwoTimers follows two calls without ids through to the next request.
func TestTwoTimers(t *testing.T) {
	b, err := os.ReadFile("testdata/two_calls_one_line.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, scripted.Stream(string(b)), scripted.Stream(string(b)), answer(9))
	m := New(Options{BaseURL: s.Root})
	req := golden.Hello()
	ids := map[string]bool{}
	for range 2 {
		reply, _, err := golden.Ask(t, m, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, ToolCalls: reply.ToolCalls})
		for i, c := range reply.ToolCalls {
			ids[c.ID] = true
			req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Text: fmt.Sprint("result ", i)})
		}
	}
	if len(ids) != 4 {
		t.Errorf("ids %v: they must be unique over rounds too", ids)
	}
	if _, _, err := golden.Ask(t, m, req); err != nil {
		t.Fatal(err)
	}
	got := sent(t, s, 2).Messages
	if got[2].Content != "result 0" || got[3].Content != "result 1" || got[2].CallID != got[1].ToolCalls[0].ID || got[3].CallID != got[1].ToolCalls[1].ID || got[2].ToolName != "set_timer" {
		t.Errorf("%+v", got)
	}
}

func TestStopAndSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		time.AfterFunc(130*time.Second, func() { close(late) })
		l, client := scripted.Network()
		s := scripted.ServeOn(l, scripted.Play{Parts: []scripted.Part{{Until: late, Bytes: fmt.Sprintf(done, 5)}}},
			scripted.Play{Parts: []scripted.Part{{Bytes: `{"message":{"content":"half"},"done":false}` + "\n"}}, Hang: true}, scripted.Play{Hang: true})
		defer s.Close()
		m := New(Options{BaseURL: s.Root, HTTP: client, Idle: 140 * time.Second})
		reply, heard, err := golden.Ask(t, m, golden.Hello())
		if err != nil || reply.Text != "ok" || len(heard.Notes) != 1 {
			t.Errorf("%v %+v %q", err, reply, heard.Notes)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(70*time.Second, stop)
		start := time.Now()
		reply, err = m.Stream(ctx, golden.Hello(), func(llm.Delta) error { return nil })
		if !errors.Is(err, context.Canceled) || time.Since(start) != 70*time.Second || reply.Text != "half" {
			t.Errorf("%v %+v after %v", err, reply, time.Since(start))
		}
		if err := s.AwaitGone(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if _, _, err := golden.Ask(t, m, golden.Hello()); errs.Code(err) != llm.CodeSlow {
			t.Error(err)
		}
	})
}

// FuzzLines holds that no line of Ollama's, however broken, does more than fail.
func FuzzLines(f *testing.F) {
	for _, s := range []string{fmt.Sprintf(done, 5), `{"error":"x"}`, `{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}}`, "<html>", `{"message":{"content":"<think>a</think>b"}}`, `{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]},"done":true}`, "\uFEFF{}\r\n\r\n"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, body []byte, at int) {
		if at %= len(body) + 1; at < 0 {
			at = -at
		}
		ask := func(pieces ...[]byte) (llm.Reply, string) {
			m := New(Options{HTTP: &http.Client{Transport: scripted.Replay("application/x-ndjson", nil, pieces...)}})
			reply, heard, err := golden.Ask(t, m, golden.Hello())
			if err == nil && (reply.Finish == "" || heard.Text != reply.Text) {
				t.Fatalf("%q: %+v, heard %q", body, reply, heard.Text)
			}
			if err != nil && (reply.Finish != "" || errs.Code(err) == "") {
				t.Fatalf("%q: finished and in error: %+v %v", body, reply, err)
			}
			seen := map[string]bool{}
			for i, c := range reply.ToolCalls {
				if c.ID == "" || seen[c.ID] {
					t.Fatalf("%q: id %q", body, c.ID)
				}
				seen[c.ID] = true
				reply.ToolCalls[i].ID = ""
			}
			return reply, errs.Code(err)
		}
		whole, code := ask(body)
		cut, cutCode := ask(body[:at], body[at:])
		if fmt.Sprint(whole) != fmt.Sprint(cut) || code != cutCode {
			t.Fatalf("%q cut at %d: %+v %s, whole %+v %s", body, at, cut, cutCode, whole, code)
		}
	})
}
