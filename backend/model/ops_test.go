package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/model/builtin"
	"sentient/backend/obs"
)

func TestTest(t *testing.T) {
	tool := func(name, args string) scripted.Step { return scripted.Call(name, args) }
	for _, c := range []struct {
		name  string
		steps []scripted.Step
		want  string
	}{
		{"says why not", []scripted.Step{scripted.Fail(errs.New(errs.Unavailable, llm.CodeNoCredits, "There are no credits left."))},
			`{"ok":false,"latency_ms":0,"error":"There are no credits left."}`},
		{"answers and calls", []scripted.Step{scripted.Say(" ready\n"), tool("find_city", `{"name":"Lisbon"}`)},
			`{"ok":true,"latency_ms":0,"reply":"ready","supports_tools":true}`},
		{"talks instead of calling", []scripted.Step{scripted.Say("ready"), scripted.Say("Lisbon is nice.")},
			`{"ok":true,"latency_ms":0,"reply":"ready","supports_tools":false}`},
		{"calls what is not there", []scripted.Step{scripted.Say("ready"), tool("search", `{}`)},
			`{"ok":true,"latency_ms":0,"reply":"ready","supports_tools":false}`},
		{"cannot use tools", []scripted.Step{scripted.Say("ready"), scripted.Fail(errs.New(errs.Unavailable, llm.CodeNoTools, "It can't use tools."))},
			`{"ok":true,"latency_ms":0,"reply":"ready","supports_tools":false}`},
		{"not found out", []scripted.Step{scripted.Say("ready"), scripted.Fail(errs.New(errs.Limited, llm.CodeRateLimited, "Wait."))},
			`{"ok":true,"latency_ms":0,"reply":"ready"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := build(t, "")
			m := scripted.New(c.steps...)
			w.small.name, w.small.model = "tiny", m
			out, err := w.Test(t.Context(), &TestInput{Model: "builtin/tiny"})
			if err != nil {
				t.Fatal(err)
			}
			out.LatencyMS = 0
			if data, _ := json.Marshal(out); string(data) != c.want {
				t.Errorf("got  %s\nwant %s", data, c.want)
			}
			if got := m.Requests(); len(got[0].Tools) != 0 || got[0].MaxTokens == 0 {
				t.Errorf("asked %+v", got[0])
			}
		})
	}
	w := build(t, "")
	if _, err := w.Test(t.Context(), &TestInput{Model: "nonsense"}); errs.StatusOf(err) != 422 {
		t.Errorf("nonsense: %v", err)
	}
	if out, err := w.Test(t.Context(), &TestInput{Model: "openai/gpt-5"}); err != nil || out.OK || !strings.Contains(*out.Error, "No key") {
		t.Errorf("no key: %+v, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := scripted.By(func(llm.Request) scripted.Step { cancel(); return scripted.Hang() })
	w.small.name, w.small.model = "tiny", m
	if _, err := w.Test(ctx, &TestInput{Model: "builtin/tiny"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTestEmbedding(t *testing.T) {
	w := build(t, newOllama(t).URL)
	out, err := w.TestEmbedding(t.Context(), &TestEmbeddingInput{})
	if err != nil || !out.OK || *out.Dim != 3 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := w.TestEmbedding(t.Context(), &TestEmbeddingInput{Model: "builtin/x"}); err != nil {
		t.Errorf("not there is an answer: %v", err)
	}
	w.keys.keys["anthropic"] = "sk-1"
	if _, err := w.TestEmbedding(t.Context(), &TestEmbeddingInput{Model: "anthropic/claude-sonnet-5"}); errs.StatusOf(err) != 422 {
		t.Errorf("a provider without: %v", err)
	}
	w = build(t, "")
	if out, err := w.TestEmbedding(t.Context(), &TestEmbeddingInput{}); err != nil || out.OK || out.Error == nil {
		t.Errorf("no Ollama: %+v, %v", out, err)
	}
}

func TestPull(t *testing.T) {
	w := build(t, newOllama(t).URL)
	var lines []PullProgress
	keep := func(p PullProgress) error { lines = append(lines, p); return nil }
	for _, bad := range []string{"", "a b", "../x", "x;rm", "http://h/x y"} {
		if err := w.Pull(t.Context(), &PullInput{Name: bad}, keep); errs.StatusOf(err) != 422 {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := w.Pull(t.Context(), &PullInput{Name: "nothing"}, keep); !errs.Is(err, errs.NotFound) {
		t.Errorf("unknown: %v", err)
	}
	lines = nil
	if err := w.Pull(t.Context(), &PullInput{Name: "ollama_chat/qwen3:8b"}, keep); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 3 || lines[1].Completed != 4 || lines[1].Total != 10 || lines[2].Status != "success" {
		t.Errorf("lines %+v", lines)
	}
	enough := errors.New("enough")
	if err := w.Pull(t.Context(), &PullInput{Name: "qwen3:8b"}, func(PullProgress) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	w = build(t, "")
	if err := w.Pull(t.Context(), &PullInput{Name: "qwen3:8b"}, keep); errs.Code(err) != llm.CodeUnreachable {
		t.Errorf("no Ollama: %v", err)
	}
}

func TestCatalog(t *testing.T) {
	var asked int
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "Bearer or-key" && r.Header.Get("X-Api-Key") != "ant-key" {
			w.WriteHeader(401)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":"a/free:free","name":"Free","context_length":1000,"pricing":{"prompt":"0","completion":"0"},"supported_parameters":["tools"]},`+
			`{"id":"a/paid","name":"Paid","pricing":{"prompt":"0.001","completion":"0"},"supported_parameters":[]},{"id":"bare","display_name":"Bare"}]}`)
	}))
	defer service.Close()
	w := build(t, "")
	w.patch(map[string]any{"providers": map[string]any{"openrouter": map[string]any{"api_base": service.URL}, "anthropic": map[string]any{"api_base": service.URL}}})
	if _, err := w.Catalog(t.Context(), &CatalogInput{Provider: "nobody"}); errs.StatusOf(err) != 404 {
		t.Errorf("unknown: %v", err)
	}
	if _, err := w.Catalog(t.Context(), &CatalogInput{Provider: "anthropic"}); errs.StatusOf(err) != 502 || asked != 0 {
		t.Errorf("without a key: %v, asked %d", err, asked)
	}
	if _, err := w.Catalog(t.Context(), &CatalogInput{Provider: "openrouter"}); errs.StatusOf(err) != 502 {
		t.Errorf("refused: %v", err)
	}
	w.keys.keys["openrouter"], w.keys.keys["anthropic"] = "or-key", "ant-key"
	asked = 0
	for range 2 {
		list, err := w.Catalog(t.Context(), &CatalogInput{Provider: "openrouter"})
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(list)
		want := `[{"id":"openrouter/a/free:free","label":"Free","free":true,"tools":true,"context_length":1000},` +
			`{"id":"openrouter/a/paid","label":"Paid","free":false,"tools":false,"context_length":null},` +
			`{"id":"openrouter/bare","label":"Bare","free":false,"tools":null,"context_length":null}]`
		if string(data) != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times within ten minutes", asked)
	}
	if list, err := w.Catalog(t.Context(), &CatalogInput{Provider: "anthropic"}); err != nil || len(list) != 3 {
		t.Errorf("anthropic: %v, %v", list, err)
	}
	w.small.name = "tiny"
	if list, err := w.Catalog(t.Context(), &CatalogInput{Provider: "builtin"}); err != nil || len(list) != 1 || list[0].ID != "builtin/tiny" {
		t.Errorf("builtin: %v, %v", list, err)
	}
}

func TestBuiltinOperations(t *testing.T) {
	w := build(t, "")
	if st, err := w.Builtin(t.Context(), &BuiltinInput{}); err != nil || st.State != builtin.Missing {
		t.Errorf("%+v, %v", st, err)
	}
	var lines []PullProgress
	err := w.BuiltinDownload(t.Context(), &BuiltinDownloadInput{Name: "x"}, func(p PullProgress) error { lines = append(lines, p); return nil })
	if err != nil || len(lines) != 1 || lines[0].Status != "success x" {
		t.Errorf("%+v, %v", lines, err)
	}
	none := New(Options{Settings: w.store, Keys: w.keys, HTTP: &http.Client{}, Clock: clock.Real{}, Log: obs.Discard()})
	if err := none.BuiltinDownload(t.Context(), &BuiltinDownloadInput{}, nil); !errs.Is(err, errs.Unavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := none.Choose(t.Context(), "primary", "builtin/x"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("got %v", err)
	}
}
