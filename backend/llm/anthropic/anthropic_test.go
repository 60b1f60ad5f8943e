package anthropic

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

func recorded(t *testing.T, name string) scripted.Play {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return scripted.Stream(string(b))
}

func body(t *testing.T, s *scripted.Server, n int) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := s.Requests()[n].JSON(&raw); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for k, v := range raw {
		out[k] = string(v)
	}
	return out
}

func sameJSON(a, b string) bool {
	var x, y any
	if a == "" || b == "" {
		return a == b
	}
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	ra, _ := json.Marshal(x)
	rb, _ := json.Marshal(y)
	return string(ra) == string(rb)
}

func TestRefusals(t *testing.T) {
	s := serve(t)
	none := New(Options{BaseURL: s.Root, KeyRequired: true})
	if _, _, err := golden.Ask(t, none, golden.Hello()); errs.Code(err) != llm.CodeKeyMissing {
		t.Error(err)
	}
	if _, err := none.Models(t.Context()); errs.Code(err) != llm.CodeKeyMissing || len(s.Requests())+len(s.Others()) != 0 {
		t.Error(err)
	}
	const key = "sk-ant-0123456789abcdef"
	for _, c := range []struct {
		status int
		body   string
		code   string
	}{
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key ` + key + `"}}`, llm.CodeKeyRejected},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`, llm.CodeContextTooBig},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, llm.CodeNoCredits},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`, llm.CodeModelUnknown},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, llm.CodeRateLimited},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.CodeDown},
	} {
		s := serve(t, scripted.Refuse(c.status, c.body))
		_, _, err := golden.Ask(t, New(Options{BaseURL: s.Root, APIKey: key, KeyRequired: true}), golden.Hello())
		if errs.Code(err) != c.code || strings.Contains(fmt.Sprint(err), key) || len(s.Requests()) != 1 {
			t.Errorf("%d: %v, %d requests", c.status, err, len(s.Requests()))
		}
	}
	s.Close()
	if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), golden.Hello()); errs.Code(err) != llm.CodeUnreachable {
		t.Error(err)
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/")
	s := serve(t, recorded(t, "text"))
	if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root + "/v1/", APIKey: "mine-mine"}), golden.Hello()); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	if r.Path != "/v1/messages" || r.Header.Get("x-api-key") != "mine-mine" || r.Header.Get("Authorization") != "" || r.Header.Get("anthropic-version") == "" || r.Header.Get("X-Stainless-Os") != "" {
		t.Fatalf("%s %v", r.Path, r.Header)
	}
}

func TestParameters(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		model  string
		effort llm.Effort
		tokens int
		want   map[string]string
	}{
		{"claude-sonnet-5", "", 0, map[string]string{"thinking": "", "output_config": "", "max_tokens": "16000", "temperature": "0.5", "stream": "true"}},
		{"claude-sonnet-5", llm.EffortHigh, 100, map[string]string{"thinking": `{"type":"adaptive","display":"summarized"}`, "output_config": `{"effort":"high"}`, "max_tokens": "15100", "temperature": ""}},
		{"claude-sonnet-5", llm.EffortNone, 100, map[string]string{"thinking": `{"type":"disabled"}`, "output_config": "", "max_tokens": "100", "temperature": "0.5"}},
		{"claude-opus-4-6", llm.EffortLow, 100, map[string]string{"thinking": `{"type":"adaptive","display":"summarized"}`}},
		{"claude-sonnet-4-5-20250929", llm.EffortMedium, 100, map[string]string{"thinking": `{"type":"enabled","budget_tokens":8192}`, "output_config": "", "max_tokens": "8292", "temperature": ""}},
		{"claude-haiku-4-5", llm.EffortNone, 100, map[string]string{"thinking": "", "max_tokens": "100", "temperature": "0.5"}},
		{"claude-3-5-haiku-latest", llm.EffortHigh, 0, map[string]string{"thinking": "", "output_config": "", "max_tokens": "8192"}},
		{"claude-3-haiku-20240307", llm.EffortHigh, 0, map[string]string{"thinking": "", "max_tokens": "4096"}},
	} {
		s := serve(t, recorded(t, "text"))
		req := golden.Hello()
		req.Model, req.Effort, req.MaxTokens, req.Temperature = c.model, c.effort, c.tokens, &half
		if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req); err != nil {
			t.Fatal(err)
		}
		got := body(t, s, 0)
		for name, want := range c.want {
			if !sameJSON(got[name], want) {
				t.Errorf("%s %s: %s is %s, want %s", c.model, c.effort, name, got[name], want)
			}
		}
	}
}

func TestConversationOnTheWire(t *testing.T) {
	s := serve(t, recorded(t, "text"))
	req := llm.Request{Model: "claude-sonnet-5", Stop: []string{"X"}, Schema: json.RawMessage(`{"type":"object"}`),
		Tools: []llm.Tool{{Name: "bare"}, {Name: "set_timer", Description: "Sets a timer.", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{}}}`)}},
		Messages: []llm.Message{
			{Role: llm.System, Text: "Be kind."}, {Role: llm.System, Text: "Be brief."},
			{Role: llm.Assistant, Text: "Welcome. \n"},
			{Role: llm.User, Text: "look", Images: []llm.Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
			{Role: llm.User, Text: " "},
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "a.b", Name: "set_timer", Arguments: json.RawMessage(`{"z":1}`)}, {ID: "ok", Name: "bare", Arguments: json.RawMessage(`oops`)}}},
			{Role: llm.ToolRole, ToolCallID: "a.b", Text: "done"},
			{Role: llm.ToolRole, ToolCallID: "ok", Text: "bad arguments"},
			{Role: llm.User, Text: "and?"},
		}}
	if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req); err != nil {
		t.Fatal(err)
	}
	got := body(t, s, 0)
	for name, want := range map[string]string{
		"system":         `[{"type":"text","text":"Be kind."},{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]`,
		"stop_sequences": `["X"]`,
		"output_config":  `{"format":{"type":"json_schema","schema":{"type":"object"}}}`,
		"messages": strings.ReplaceAll(`[{"role":"user","content":[{"type":"text","text":"…"}]},
			{"role":"assistant","content":[{"type":"text","text":"Welcome."}]},
			{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},{"type":"text","text":"look"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"ID1","name":"set_timer","input":{"z":1}},{"type":"tool_use","id":"ok","name":"bare","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID1","is_error":false,"content":[{"type":"text","text":"done"}]},{"type":"tool_result","tool_use_id":"ok","is_error":false,"content":[{"type":"text","text":"bad arguments"}]},{"type":"text","text":"and?","cache_control":{"type":"ephemeral"}}]}]`, "ID1", callID("a.b")),
	} {
		if !sameJSON(got[name], want) {
			t.Errorf("%s is %s", name, got[name])
		}
	}
	if want := `[{"name":"bare","input_schema":{"type":"object","properties":{}}},{"name":"set_timer","description":"Sets a timer.","input_schema":{"type":"object","properties":{"z":{"type":"integer"},"a":{}}},"cache_control":{"type":"ephemeral"}}]`; got["tools"] != want {
		t.Errorf("tools is %s", got["tools"])
	}
}

// TestThoughtsGoBackSigned plays a round with tool calls: the next request must carry the thought and its signature before the
// calls, and a client that lost them must not ask a model with a budget to think.
func TestThoughtsGoBackSigned(t *testing.T) {
	for model, thinksWithout := range map[string]bool{"claude-sonnet-4-5": false, "claude-sonnet-5": true} {
		s := serve(t, recorded(t, "thinking_tools"), recorded(t, "text"), recorded(t, "text"))
		m := New(Options{BaseURL: s.Root})
		req := golden.Hello()
		req.Model, req.Effort = model, llm.EffortMedium
		reply, _, err := golden.Ask(t, m, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: reply.Text, Thinking: reply.Thinking, ToolCalls: reply.ToolCalls},
			llm.Message{Role: llm.ToolRole, ToolCallID: "toolu_1", Text: "r1"}, llm.Message{Role: llm.ToolRole, ToolCallID: "toolu_2", Text: "r2"})
		if _, _, err := golden.Ask(t, m, req); err != nil {
			t.Fatal(err)
		}
		got := body(t, s, 1)
		if !strings.Contains(got["messages"], `{"role":"assistant"`) && !strings.Contains(got["messages"], `"signature":"EqQB"`) || got["thinking"] == "" {
			t.Errorf("%s: %s", model, got["messages"])
		}
		var messages []struct {
			Role    string
			Content []struct{ Type, Thinking, Signature string }
		}
		if err := json.Unmarshal([]byte(got["messages"]), &messages); err != nil {
			t.Fatal(err)
		}
		if first := messages[1].Content[0]; first.Type != "thinking" || first.Thinking != "let me see" || first.Signature != "EqQB" {
			t.Errorf("%s: %+v", model, messages[1])
		}
		if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req); err != nil { // after a restart
			t.Fatal(err)
		}
		got = body(t, s, 2)
		if strings.Contains(got["messages"], "let me see") || (got["thinking"] != "") != thinksWithout {
			t.Errorf("%s after a restart: thinking %s, %s", model, got["thinking"], got["messages"])
		}
	}
}

func TestRefusedParametersAreLeftOut(t *testing.T) {
	s := serve(t,
		scripted.Refuse(400, `{"type":"error","error":{"type":"invalid_request_error","message":"output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"}}`),
		scripted.Refuse(400, `{"type":"error","error":{"type":"invalid_request_error","message":"adaptive thinking is not supported on this model"}}`),
		recorded(t, "text"))
	req := golden.Hello()
	req.Model, req.Effort, req.Schema = "claude-new", llm.EffortLow, json.RawMessage(`{"type":"object"}`)
	if _, _, err := golden.Ask(t, New(Options{BaseURL: s.Root}), req); err != nil {
		t.Fatal(err)
	}
	got := body(t, s, 2)
	if got["thinking"] != "" || !sameJSON(got["output_config"], `{"effort":"low"}`) || !strings.Contains(got["system"], "JSON schema") {
		t.Errorf("%v", got)
	}
}

func TestOverloadedMidStreamThenRetryDoublesNothing(t *testing.T) {
	s := serve(t, recorded(t, "overloaded_midway"), recorded(t, "text"))
	m := New(Options{BaseURL: s.Root})
	cut, _, err := golden.Ask(t, m, golden.Hello())
	if errs.Code(err) != llm.CodeDown || cut.Text != "Partial" {
		t.Fatalf("%v %+v", err, cut)
	}
	whole, heard, err := golden.Ask(t, m, golden.Hello())
	if err != nil || whole.Text != "Héllo 🙂" || heard.Text != whole.Text || len(s.Requests()) != 2 {
		t.Fatalf("%v %+v", err, whole)
	}
}

func TestStopAndSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		time.AfterFunc(130*time.Second, func() { close(late) })
		play := recorded(t, "text")
		play.Before = late
		l, client := scripted.Network()
		s := scripted.ServeOn(l, play, scripted.Play{Hang: true})
		defer s.Close()
		m := New(Options{BaseURL: s.Root, HTTP: client})
		reply, heard, err := golden.Ask(t, m, golden.Hello())
		if err != nil || reply.Text == "" || len(heard.Notes) != 1 {
			t.Errorf("%v %+v %q", err, reply, heard.Notes)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(70*time.Second, stop)
		start := time.Now()
		if _, err := m.Stream(ctx, golden.Hello(), func(llm.Delta) error { return nil }); !errors.Is(err, context.Canceled) || time.Since(start) != 70*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := s.AwaitGone(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
}

func TestModels(t *testing.T) {
	replay := func(answer string) *Client {
		return New(Options{HTTP: &http.Client{Transport: scripted.Replay("application/json", nil, []byte(answer))}})
	}
	got, err := replay(`{"data":[{"id":"claude-sonnet-5","display_name":"Claude Sonnet 5","max_input_tokens":200000}],"has_more":false}`).Models(t.Context())
	if err != nil || fmt.Sprint(got) != "[{claude-sonnet-5 Claude Sonnet 5 200000}]" {
		t.Fatal(got, err)
	}
	if _, err := replay(`oops`).Models(t.Context()); errs.Code(err) != llm.CodeBroken {
		t.Fatal(err)
	}
}
