package ollama

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

func jsonPlay(body string) scripted.Play {
	return scripted.Play{Header: http.Header{"Content-Type": {"application/json"}}, Parts: []scripted.Part{{Bytes: body}}}
}

func TestLibrary(t *testing.T) {
	s := serve(t,
		jsonPlay(`{"version":"0.14.1"}`),
		jsonPlay(`{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5225388164,"details":{"family":"qwen3","parameter_size":"8.2B","quantization_level":"Q4_K_M"}},{"model":"nomic-embed-text:latest","size":1}]}`),
		jsonPlay(`{"details":{"family":"qwen3","parameter_size":"8.2B"},"parameters":"stop  \"<|im_end|>\"\nnum_ctx                        4096\n","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.embedding_length":4096,"qwen3.rope.freq_base":1e6},"capabilities":["completion","tools","thinking"]}`),
		jsonPlay(`{"models":[{"name":"qwen3:8b","size":6000,"size_vram":5400,"context_length":8192}]}`),
		jsonPlay(`{}`),
	)
	m := New(Options{BaseURL: s.Root + "/"})
	if v, err := m.Version(t.Context()); err != nil || v != "0.14.1" {
		t.Fatal(v, err)
	}
	tags, err := m.Tags(t.Context())
	if err != nil || fmt.Sprint(tags) != "[{qwen3:8b 5225388164 qwen3 8.2B Q4_K_M []} {nomic-embed-text:latest 1    []}]" {
		t.Fatal(tags, err)
	}
	d, err := m.Show(t.Context(), "qwen3:8b")
	if err != nil || d.ContextLength != 40960 || d.NumCtx != 4096 || d.EmbeddingDim != 4096 || fmt.Sprint(d.Capabilities) != "[completion tools thinking]" {
		t.Fatalf("%+v %v", d, err)
	}
	ps, err := m.PS(t.Context())
	if err != nil || fmt.Sprint(ps) != "[{qwen3:8b 6000 5400 8192}]" {
		t.Fatal(ps, err)
	}
	if tags, err := m.Tags(t.Context()); err != nil || len(tags) != 0 {
		t.Fatal(tags, err)
	}
	var paths []string
	for _, r := range s.Requests() {
		paths = append(paths, r.Method+" "+r.Path)
	}
	if got := strings.Join(paths, ", "); got != "GET /api/version, GET /api/tags, POST /api/show, GET /api/ps, GET /api/tags" {
		t.Fatal(got)
	}
}

func TestLibraryRefusals(t *testing.T) {
	for _, c := range []struct {
		play scripted.Play
		code string
	}{
		{scripted.Refuse(404, `{"error":"model 'x' not found"}`), llm.CodeModelUnknown},
		{scripted.Refuse(500, `{"error":"boom"}`), llm.CodeDown},
		{jsonPlay(`<html>router</html>`), llm.CodeBroken},
		{jsonPlay(`{"model_info":`), llm.CodeBroken},
		{scripted.Play{Parts: []scripted.Part{{Bytes: `{"mod`}}, Cut: true}, llm.CodeBroken},
	} {
		s := serve(t, c.play)
		if _, err := New(Options{BaseURL: s.Root}).Show(t.Context(), "x"); errs.Code(err) != c.code {
			t.Errorf("%v, want %s", err, c.code)
		}
	}
}

func TestEmbed(t *testing.T) {
	s := serve(t, jsonPlay(`{"embeddings":[[1,2],[3,4]]}`), jsonPlay(`{"embeddings":[[1,2]]}`), scripted.Refuse(404, `{"error":"model \"e\" not found, try pulling it first"}`))
	m := New(Options{BaseURL: s.Root})
	got, err := m.Embed(t.Context(), "e", []string{"a", "b"})
	if err != nil || fmt.Sprint(got) != "[[1 2] [3 4]]" || string(s.Requests()[0].Body) != `{"input":["a","b"],"model":"e","truncate":true}` {
		t.Fatal(got, err, string(s.Requests()[0].Body))
	}
	if _, err := m.Embed(t.Context(), "e", []string{"a", "b"}); errs.Code(err) != llm.CodeBroken {
		t.Error(err)
	}
	if _, err := m.Embed(t.Context(), "e", []string{"a"}); errs.Code(err) != llm.CodeModelUnknown {
		t.Error(err)
	}
}

func TestPull(t *testing.T) {
	enough := errors.New("enough")
	steps := `{"status":"pulling manifest"}` + "\n" + `{"status":"pulling abc","digest":"sha256:abc","total":100,"completed":40}` + "\n"
	for _, c := range []struct {
		name  string
		play  scripted.Play
		stop  error
		code  string
		says  string
		steps int
	}{
		{"unknown", scripted.Stream(`{"status":"pulling manifest"}` + "\n" + `{"error":"pull model manifest: file does not exist"}` + "\n"), nil, llm.CodeModelUnknown, "Ollama's library has no model called m.", 1},
		{"disk", scripted.Stream(steps + `{"error":"write /x: no space left on device"}` + "\n"), nil, llm.CodeModelRefused, "not enough space on the disk", 2},
		{"offline", scripted.Refuse(500, `{"error":"Get \"https://registry.ollama.ai/v2/\": dial tcp: lookup registry.ollama.ai: no such host"}`), nil, llm.CodeUnreachable, "Check the internet connection", 0},
		{"ends early", scripted.Stream(steps), nil, llm.CodeBroken, "", 2},
		{"rubbish", scripted.Stream("oops\n"), nil, llm.CodeBroken, "", 0},
		{"stopped", scripted.Play{Parts: []scripted.Part{{Bytes: steps}}, Hang: true}, enough, "", "", 1},
		{"whole", scripted.Stream(steps + `{"status":"success"}`), nil, "", "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.play)
			var got []Progress
			err := New(Options{BaseURL: s.Root}).Pull(t.Context(), "m", func(p Progress) error { got = append(got, p); return c.stop })
			if c.stop != nil && !errors.Is(err, c.stop) || c.stop == nil && errs.Code(err) != c.code || c.code == "" && c.stop == nil && err != nil {
				t.Fatal(err)
			}
			if len(got) != c.steps || c.says != "" && !strings.Contains(errs.From(err).Message, c.says) {
				t.Fatalf("%d steps, %v", len(got), err)
			}
			if c.name == "whole" && got[1] != (Progress{"pulling abc", "sha256:abc", 40, 100}) {
				t.Fatalf("%+v", got[1])
			}
			if c.stop != nil {
				if err := s.AwaitGone(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
