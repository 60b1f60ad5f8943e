package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

var fine = scripted.Answer(scripted.Say("ok"))

// body gives the body of the n-th request as one line of JSON a member.
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

func TestRefusalsBeforeAnyRequest(t *testing.T) {
	s := serve(t)
	for _, c := range []struct {
		name string
		opt  Options
		code string
	}{
		{"no key", Options{Provider: "openai", Label: "OpenAI", BaseURL: s.URL, KeyRequired: true}, llm.CodeKeyMissing},
		{"no address", Options{Provider: "builtin", Label: "The built-in model"}, llm.CodeUnreachable},
	} {
		_, _, err := golden.Ask(t, New(c.opt), golden.Hello())
		if errs.Code(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := New(c.opt).Embed(t.Context(), "m", []string{"a"}); errs.Code(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := New(c.opt).Models(t.Context()); errs.Code(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if len(s.Requests())+len(s.Others()) != 0 {
		t.Error("asked without a key")
	}
}

func TestErrorsOfTheService(t *testing.T) {
	const key = "sk-test-0123456789abcdef"
	for _, c := range []struct {
		status int
		body   string
		code   string
	}{
		{401, `{"error":{"message":"Incorrect API key provided: ` + key + `","code":"invalid_api_key"}}`, llm.CodeKeyRejected},
		{402, `{"error":{"message":"Insufficient credits"}}`, llm.CodeNoCredits},
		{404, `{"error":{"message":"The model m does not exist","code":"model_not_found"}}`, llm.CodeModelUnknown},
		{429, `{"error":{"message":"Rate limit exceeded: free-models-per-day"}}`, llm.CodeRateLimited},
		{503, strings.Repeat("x", 1<<20), llm.CodeDown},
		{301, ``, llm.CodeUnreachable},
	} {
		s := serve(t, scripted.Refuse(c.status, c.body))
		m := New(Options{Provider: "openrouter", Label: "OpenRouter", BaseURL: s.URL, APIKey: key, KeyRequired: true})
		reply, _, err := golden.Ask(t, m, golden.Hello())
		if errs.Code(err) != c.code || reply.Finish != "" {
			t.Errorf("%d: %v", c.status, err)
		}
		if strings.Contains(fmt.Sprint(err, errors.Unwrap(err)), key) || len(err.Error()) > 4<<10 {
			t.Errorf("%d: the key, or too much, in %.200q", c.status, err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d: asked %d times", c.status, n)
		}
		if got := s.Requests()[0].Header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("authorization %q", got)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	s := serve(t)
	s.Close()
	_, _, err := golden.Ask(t, New(Options{Provider: "lm_studio", Label: "LM Studio", BaseURL: s.URL}), golden.Hello())
	if errs.Code(err) != llm.CodeUnreachable || !strings.Contains(errs.From(err).Message, "LM Studio is not running") {
		t.Fatal(err)
	}
	_, _, err = golden.Ask(t, New(Options{Provider: "x", Label: "X", BaseURL: "http://[::bad"}), golden.Hello())
	if errs.Code(err) != llm.CodeUnreachable {
		t.Fatal(err)
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-environment-key")
	t.Setenv("OPENAI_ORG_ID", "org-x")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	s := serve(t, fine)
	if _, _, err := golden.Ask(t, New(Options{Provider: "vllm", BaseURL: s.URL}), golden.Hello()); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	if h.Get("Authorization") != "" || h.Get("OpenAI-Organization") != "" || h.Get("X-Stainless-Os") != "" {
		t.Fatalf("%v", h)
	}
}

func TestRequestOfEachProvider(t *testing.T) {
	half := 0.5
	full := llm.Request{Effort: llm.EffortHigh, Temperature: &half, MaxTokens: 99, Stop: []string{"X"},
		Messages: []llm.Message{{Role: llm.User, Text: "hi"}}, Schema: json.RawMessage(`{"type":"object"}`)}
	none := full
	none.Effort = llm.EffortNone
	for _, c := range []struct {
		provider, model string
		req             llm.Request
		want            map[string]string // "" means absent
	}{
		{"openai", "gpt-4o", full, map[string]string{"max_completion_tokens": "99", "max_tokens": "", "temperature": "0.5", "reasoning_effort": "", "stream": "true", "stream_options": `{"include_usage":true}`, "stop": `["X"]`}},
		{"openai", "gpt-5", full, map[string]string{"temperature": "", "reasoning_effort": `"high"`}},
		{"openai", "gpt-5", none, map[string]string{"reasoning_effort": `"minimal"`}},
		{"openai", "gpt-5.1", none, map[string]string{"reasoning_effort": `"none"`}},
		{"openai", "o3", none, map[string]string{"reasoning_effort": `"low"`}},
		{"openrouter", "a/b", full, map[string]string{"max_tokens": "99", "reasoning": `{"effort":"high"}`, "reasoning_effort": ""}},
		{"openrouter", "a/b", none, map[string]string{"reasoning": `{"enabled":false}`}},
		{"groq", "openai/gpt-oss-20b", full, map[string]string{"reasoning_effort": `"high"`, "max_completion_tokens": "99"}},
		{"groq", "qwen/qwen3-32b", none, map[string]string{"reasoning_effort": `"none"`}},
		{"groq", "llama-3.1-8b-instant", full, map[string]string{"reasoning_effort": ""}},
		{"mistral", "mistral-large", full, map[string]string{"stream_options": "", "reasoning_effort": "", "max_tokens": "99"}},
		{"deepseek", "deepseek-chat", none, map[string]string{"thinking": `{"type":"disabled"}`, "response_format": `{"type":"json_object"}`}},
		{"xai", "grok-3-mini", full, map[string]string{"reasoning_effort": `"high"`}},
		{"xai", "grok-4", full, map[string]string{"reasoning_effort": ""}},
		{"gemini", "gemini-2.5-flash", none, map[string]string{"reasoning_effort": `"none"`}},
		{"lm_studio", "m", full, map[string]string{"reasoning_effort": "", "chat_template_kwargs": ""}},
		{"builtin", "m", none, map[string]string{"chat_template_kwargs": `{"enable_thinking":false}`, "response_format": `{"json_schema":{"name":"answer","schema":{"type":"object"}},"type":"json_schema"}`}},
		{"vllm", "m", full, map[string]string{"chat_template_kwargs": `{"enable_thinking":true,"reasoning_effort":"high"}`}},
		{"somewhere", "m", full, map[string]string{"reasoning_effort": "", "max_tokens": "99"}},
		{"openai", "gpt-5", llm.Request{Messages: full.Messages}, map[string]string{"reasoning_effort": "", "temperature": "", "max_completion_tokens": "", "tools": "", "stop": "", "response_format": ""}},
	} {
		s := serve(t, fine)
		c.req.Model = c.model
		if _, _, err := golden.Ask(t, New(Options{Provider: c.provider, BaseURL: s.URL}), c.req); err != nil {
			t.Fatal(c.provider, err)
		}
		got := body(t, s, 0)
		for name, want := range c.want {
			if !sameJSON(got[name], want) {
				t.Errorf("%s %s: %s is %s, want %s", c.provider, c.model, name, got[name], want)
			}
		}
	}
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

func conversation() llm.Request {
	return llm.Request{Model: "m", Tools: []llm.Tool{{Name: "set_timer", Description: "Sets a timer.", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"string"}}}`)}, {Name: "bare"}},
		Messages: []llm.Message{
			{Role: llm.System, Text: "Be kind."},
			{Role: llm.System, Text: "Be brief."},
			{Role: llm.User, Text: "look", Images: []llm.Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
			{Role: llm.Assistant, Text: "", Thinking: "hm", ToolCalls: []llm.ToolCall{
				{ID: "toolu_01AbCdEfGhIjKlMnOpQrStUvWxYz-very-long", Name: "set_timer", Arguments: json.RawMessage(`{"z":1}`)},
				{ID: "abcdefghi", Name: "bare", Arguments: json.RawMessage(`{"oops`)}}},
			{Role: llm.ToolRole, ToolCallID: "toolu_01AbCdEfGhIjKlMnOpQrStUvWxYz-very-long", ToolName: "set_timer", Text: "done"},
			{Role: llm.ToolRole, ToolCallID: "abcdefghi", ToolName: "bare", Text: "bad arguments"},
		}}
}

func TestConversationOnTheWire(t *testing.T) {
	for _, c := range []struct{ provider, messages, tools string }{
		{"vllm", `[{"content":"Be kind.\n\nBe brief.","role":"system"},
			{"content":[{"text":"look","type":"text"},{"image_url":{"url":"data:image/png;base64,AQID"},"type":"image_url"}],"role":"user"},
			{"role":"assistant","tool_calls":[{"id":"ID1","function":{"arguments":"{\"z\":1}","name":"set_timer"},"type":"function"},{"id":"abcdefghi","function":{"arguments":"{}","name":"bare"},"type":"function"}]},
			{"content":"done","tool_call_id":"ID1","role":"tool"},{"content":"bad arguments","tool_call_id":"abcdefghi","role":"tool"}]`,
			`[{"type":"function","function":{"name":"set_timer","description":"Sets a timer.","parameters":{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"string"}}}}},{"type":"function","function":{"name":"bare","parameters":{"type":"object","properties":{}}}}]`},
	} {
		s := serve(t, fine)
		m := New(Options{Provider: c.provider, BaseURL: s.URL})
		if _, _, err := golden.Ask(t, m, conversation()); err != nil {
			t.Fatal(err)
		}
		got := body(t, s, 0)
		id := m.quirks.wireID("toolu_01AbCdEfGhIjKlMnOpQrStUvWxYz-very-long")
		if !sameJSON(got["messages"], strings.ReplaceAll(c.messages, "ID1", id)) {
			t.Errorf("messages %s", got["messages"])
		}
		if got["tools"] != c.tools { // byte for byte: the schema's order is its author's
			t.Errorf("tools %s", got["tools"])
		}
	}
}

func TestThinkingGoesBackWhereItIsWanted(t *testing.T) {
	for provider, member := range map[string]string{"deepseek": `"reasoning_content":"hm"`, "openrouter": `"reasoning":"hm"`, "vllm": ""} {
		s := serve(t, fine)
		if _, _, err := golden.Ask(t, New(Options{Provider: provider, BaseURL: s.URL}), conversation()); err != nil {
			t.Fatal(err)
		}
		got := body(t, s, 0)["messages"]
		if member == "" && strings.Contains(got, `"hm"`) || member != "" && !strings.Contains(got, member) {
			t.Errorf("%s: %s", provider, got)
		}
	}
}

func TestMistralGetsIdsItTakes(t *testing.T) {
	s := serve(t, fine)
	if _, _, err := golden.Ask(t, New(Options{Provider: "mistral", BaseURL: s.URL}), conversation()); err != nil {
		t.Fatal(err)
	}
	var messages []struct {
		ID    string                `json:"tool_call_id"`
		Calls []struct{ ID string } `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(body(t, s, 0)["messages"]), &messages); err != nil {
		t.Fatal(err)
	}
	calls := messages[2].Calls
	if !mistralID.MatchString(calls[0].ID) || calls[1].ID != "abcdefghi" || messages[3].ID != calls[0].ID {
		t.Fatalf("%+v", messages)
	}
}

func TestGeminiGetsItsSignaturesBack(t *testing.T) {
	s := serve(t, scripted.Stream(
		scripted.Delta(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "c1", "function": map[string]any{"name": "f", "arguments": "{}"}, "extra_content": map[string]any{"google": map[string]any{"thought_signature": "SIG"}}}}}),
		scripted.End(llm.FinishTools, llm.Usage{})), fine, fine)
	m := New(Options{Provider: "gemini", BaseURL: s.URL})
	reply, _, err := golden.Ask(t, m, golden.Hello())
	if err != nil {
		t.Fatal(err)
	}
	next := golden.Hello()
	next.Messages = append(next.Messages, llm.Message{Role: llm.Assistant, ToolCalls: reply.ToolCalls}, llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Text: "r"})
	if _, _, err := golden.Ask(t, m, next); err != nil {
		t.Fatal(err)
	}
	if got := body(t, s, 1)["messages"]; !strings.Contains(got, `"extra_content":{"google":{"thought_signature":"SIG"}}`) {
		t.Error(got)
	}
	if _, _, err := golden.Ask(t, New(Options{Provider: "gemini", BaseURL: s.URL}), next); err != nil { // after a restart
		t.Fatal(err)
	}
	if got := body(t, s, 2)["messages"]; !strings.Contains(got, "skip_thought_signature_validator") {
		t.Error(got)
	}
}

func TestRefusedParametersAreLeftOut(t *testing.T) {
	half := 0.5
	s := serve(t,
		scripted.Refuse(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`),
		scripted.Refuse(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model.","param":"temperature"}}`),
		scripted.Refuse(422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`),
		scripted.Refuse(400, `{"error":"'response_format.type' must be 'text'; json_schema is not supported"}`),
		fine, fine,
		scripted.Refuse(400, `{"error":{"message":"Unsupported parameter: 'max_completion_tokens'"}}`), fine)
	m := New(Options{Provider: "somewhere", BaseURL: s.URL})
	req := golden.Hello()
	req.MaxTokens, req.Temperature, req.Schema = 9, &half, json.RawMessage(`{"type":"object","title":"T"}`)
	for range 2 {
		if reply, _, err := golden.Ask(t, m, req); err != nil || reply.Text != "ok" {
			t.Fatal(err)
		}
	}
	if n := len(s.Requests()); n != 6 {
		t.Fatalf("%d requests: what was refused must be remembered", n)
	}
	got := body(t, s, 5)
	for _, name := range []string{"max_tokens", "temperature", "stream_options", "response_format"} {
		if got[name] != "" {
			t.Errorf("%s was sent again", name)
		}
	}
	if got["max_completion_tokens"] != "9" || !strings.Contains(got["messages"], "JSON schema") {
		t.Errorf("%v", got)
	}
	req.Model = "other"
	_, _, _ = golden.Ask(t, m, req)
	if body(t, s, 6)["max_tokens"] != "9" {
		t.Error("another model was held to it too")
	}
}

func TestStopMidStreamKeepsWhatCame(t *testing.T) {
	s := serve(t, scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("Par") + scripted.Text("tial")}}, Hang: true})
	ctx, stop := context.WithCancel(t.Context())
	reply, err := New(Options{Provider: "vllm", BaseURL: s.URL}).Stream(ctx, golden.Hello(), func(d llm.Delta) error {
		if d.Text == "tial" {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || reply.Text != "Partial" || reply.Finish != "" {
		t.Fatalf("%v %+v", err, reply)
	}
	if err := s.AwaitGone(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

func TestEachEndsIt(t *testing.T) {
	enough := errors.New("enough")
	s := serve(t, scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("a")}}, Hang: true})
	reply, err := New(Options{Provider: "vllm", BaseURL: s.URL}).Stream(t.Context(), golden.Hello(), func(llm.Delta) error { return enough })
	if !errors.Is(err, enough) || reply.Text != "a" {
		t.Fatalf("%v %+v", err, reply)
	}
	if err := s.AwaitGone(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

func TestConnectionCutMidStream(t *testing.T) {
	s := serve(t, scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("half")}}, Cut: true})
	reply, _, err := golden.Ask(t, New(Options{Provider: "vllm", Label: "vLLM", BaseURL: s.URL}), golden.Hello())
	if errs.Code(err) != llm.CodeBroken || reply.Text != "half" {
		t.Fatalf("%v %+v", err, reply)
	}
}

func TestEndlessBodies(t *testing.T) {
	for name, piece := range map[string]string{"a line": strings.Repeat("x", 1<<20), "an event": "data: " + strings.Repeat("x", 1<<20) + "\n", "comments": ":" + strings.Repeat("x", 1<<20) + "\n\n"} {
		pieces := make([][]byte, 70)
		for i := range pieces {
			pieces[i] = []byte(piece)
		}
		m := New(Options{Provider: "vllm", Label: "vLLM", BaseURL: "http://stub/v1", HTTP: &http.Client{Transport: scripted.Replay("text/event-stream", nil, pieces...)}})
		if _, _, err := golden.Ask(t, m, golden.Hello()); errs.Code(err) != llm.CodeBroken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSilenceOfTheWholeClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		time.AfterFunc(130*time.Second, func() { close(late) })
		l, client := scripted.Network()
		s := scripted.ServeOn(l, scripted.Play{Before: late, Parts: []scripted.Part{{Bytes: scripted.Text("late") + scripted.End(llm.FinishStop, llm.Usage{})}}},
			scripted.Play{Hang: true}, scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Delta(map[string]any{"content": "whole"}) + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"}}, Hang: true})
		defer s.Close()
		m := New(Options{Provider: "builtin", Label: "The built-in model", BaseURL: s.URL, HTTP: client})
		reply, heard, err := golden.Ask(t, m, golden.Hello())
		if err != nil || reply.Text != "late" || len(heard.Notes) != 1 || heard.Notes[0] != "The model is still reading." {
			t.Errorf("%v %+v %q", err, reply, heard.Notes)
		}
		start := time.Now()
		if _, _, err = golden.Ask(t, m, golden.Hello()); errs.Code(err) != llm.CodeSlow || time.Since(start) != 180*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		start = time.Now()
		if reply, _, err = golden.Ask(t, m, golden.Hello()); err != nil || reply.Text != "whole" || time.Since(start) != endGrace {
			t.Errorf("%v %+v after %v", err, reply, time.Since(start))
		}
	})
}

func TestEmbed(t *testing.T) {
	s := serve(t)
	m := New(Options{Provider: "openai", BaseURL: s.URL})
	texts := make([]string, llm.EmbedBatch+3)
	for i := range texts {
		texts[i] = fmt.Sprintf("text number %d", i)
	}
	got, err := m.Embed(t.Context(), "e", texts)
	if err != nil || len(got) != len(texts) || got[66][0] != scripted.Vector(texts[66])[0] || len(s.Others()) != 2 {
		t.Fatalf("%v, %d vectors, %d requests", err, len(got), len(s.Others()))
	}
	if none, err := m.Embed(t.Context(), "e", nil); err != nil || len(none) != 0 {
		t.Fatal(none, err)
	}
}

// replaying is a client that is answered with this JSON.
func replaying(provider, answer string) *Client {
	return New(Options{Provider: provider, Label: "X", BaseURL: "http://stub/v1", HTTP: &http.Client{Transport: scripted.Replay("application/json", nil, []byte(answer))}})
}

func TestEmbedChecksWhatItIsGiven(t *testing.T) {
	for _, c := range []struct{ name, answer, code string }{
		{"out of order", `{"data":[{"index":1,"embedding":[2,2]},{"index":0,"embedding":[1,1]}]}`, ""},
		{"no index", `{"data":[{"embedding":[1,1]},{"embedding":[2,2]}]}`, ""},
		{"too few", `{"data":[{"index":0,"embedding":[1,1]}]}`, llm.CodeBroken},
		{"twice", `{"data":[{"index":0,"embedding":[1,1]},{"index":0,"embedding":[1,1]}]}`, llm.CodeBroken},
		{"beyond", `{"data":[{"index":5,"embedding":[1,1]},{"index":0,"embedding":[1,1]}]}`, llm.CodeBroken},
		{"other length", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,1]}]}`, llm.CodeBroken},
		{"empty", `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, llm.CodeBroken},
		{"page", `<html></html>`, llm.CodeBroken},
		{"rubbish", `hello`, llm.CodeBroken},
	} {
		got, err := replaying("openai", c.answer).Embed(t.Context(), "e", []string{"a", "b"})
		if errs.Code(err) != c.code || err == nil && (got[0][0] != 1 || got[1][0] != 2) {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
}

func TestModels(t *testing.T) {
	got, err := replaying("openrouter", `{"object":"list","data":[
		{"id":"a/b","name":"A: B","context_length":131072},{"id":"groq","context_window":8192},{"id":"mistral","name":"mistral","max_context_length":32768},
		{"id":"vllm","max_model_len":4096},{"id":"llama","meta":{"n_ctx":4096,"n_ctx_train":40960}},{"id":"models/gemini-2.5-flash","display_name":"Gemini 2.5 Flash"}]}`).Models(t.Context())
	want := "[{a/b A: B 131072} {groq  8192} {mistral  32768} {vllm  4096} {llama  4096} {gemini-2.5-flash Gemini 2.5 Flash 0}]"
	if err != nil || fmt.Sprint(got) != want {
		t.Fatalf("%v\n%v\n%v", err, got, want)
	}
	if _, err := replaying("openrouter", `<html>`).Models(t.Context()); errs.Code(err) != llm.CodeBroken {
		t.Fatal(err)
	}
}
