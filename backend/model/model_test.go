package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/model/builtin"
	"sentient/backend/obs"
	"sentient/backend/opt"
	"sentient/backend/secret"
)

// keyring holds keys.
type keyring struct {
	keys map[string]string
	err  error
}

func (k *keyring) Get(_ context.Context, name string) (string, secret.Source, error) {
	if k.keys[name] == "" {
		return "", secret.None, k.err
	}
	return k.keys[name], secret.Keychain, k.err
}

func (k *keyring) List(context.Context) ([]secret.Entry, error) {
	list := []secret.Entry{}
	for _, n := range secret.Names() {
		list = append(list, secret.Entry{Name: n.Name, Kind: n.Kind, Set: k.keys[n.Name] != ""})
	}
	return list, k.err
}

// small is a built-in model that is there or not.
type small struct {
	name  string
	model llm.Model
}

func (b *small) Model() llm.Model        { return b.model }
func (b *small) Present() (string, bool) { return b.name, b.name != "" }
func (b *small) ContextLength() int      { return 4096 }
func (b *small) Status(context.Context) builtin.Status {
	st := builtin.Status{State: builtin.Missing}
	if b.name != "" {
		st = builtin.Status{State: builtin.Ready, Model: &builtin.ModelInfo{Name: b.name, Label: "Small"}, ContextLength: 4096}
	}
	return st
}
func (b *small) Download(_ context.Context, name string, each func(builtin.Progress) error) error {
	return each(builtin.Progress{Status: "success " + name, Completed: 1, Total: 1})
}

// ollamaStub is an Ollama with two models. It counts what it is asked.
type ollamaStub struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	chat  map[string]any // the last request
}

func newOllama(t *testing.T) *ollamaStub {
	o := &ollamaStub{asked: map[string]int{}}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func (o *ollamaStub) count(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[path]
}

func (o *ollamaStub) serve(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	o.mu.Lock()
	o.asked[r.URL.Path]++
	if r.URL.Path == "/api/chat" {
		o.chat = in
	}
	o.mu.Unlock()
	switch r.URL.Path {
	case "/api/tags":
		fmt.Fprint(w, `{"models":[{"name":"qwen3:8b","size":5200000000,"details":{"family":"qwen3","parameter_size":"8.2B"}},`+
			`{"name":"nomic-embed-text:latest","size":274000000,"details":{"family":"nomic-bert","parameter_size":"137M"}}]}`)
	case "/api/show":
		if strings.HasPrefix(fmt.Sprint(in["model"]), "nomic") {
			fmt.Fprint(w, `{"capabilities":["embedding"],"model_info":{"nomic-bert.context_length":2048}}`)
			return
		}
		fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":6000}}`)
	case "/api/chat":
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"ready"},"done":false}`)
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`)
	case "/api/embed":
		fmt.Fprint(w, `{"embeddings":[[0.6,0.8,0]]}`)
	case "/api/pull":
		if in["model"] == "nothing" {
			fmt.Fprintln(w, `{"status":"pulling manifest"}`)
			fmt.Fprintln(w, `{"error":"pull model manifest: file does not exist"}`)
			return
		}
		fmt.Fprintln(w, `{"status":"pulling manifest"}`)
		fmt.Fprintln(w, `{"status":"pulling abc","digest":"abc","total":10,"completed":4}`)
		fmt.Fprintln(w, `{"status":"success"}`)
	default:
		http.NotFound(w, r)
	}
}

// world is a Service over a real settings store.
type world struct {
	*Service
	t     *testing.T
	store *config.Store
	keys  *keyring
	small *small
}

// build makes one whose Ollama is at base ("" for none at all).
func build(t *testing.T, ollama string) *world {
	t.Helper()
	if ollama == "" {
		dead := httptest.NewServer(http.NotFoundHandler())
		ollama = dead.URL
		dead.Close()
	}
	store, err := config.Open(config.Options{Dir: t.TempDir(), Clock: clock.Real{}, Log: obs.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: store, keys: &keyring{keys: map[string]string{}}, small: &small{model: scripted.New()}}
	w.Service = New(Options{Settings: store, Keys: w.keys, Builtin: w.small, HTTP: &http.Client{}, Clock: clock.Real{}, Log: obs.Discard(),
		Getenv: func(name string) string { return "from " + name }})
	w.patch(map[string]any{"providers": map[string]any{"ollama": map[string]any{"api_base": ollama}}})
	return w
}

func (w *world) patch(models map[string]any) {
	w.t.Helper()
	data, err := json.Marshal(map[string]any{"models": models})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.Patch(w.t.Context(), data); err != nil {
		w.t.Fatal(err)
	}
}

func TestChooseRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		role     string
		override string
		set      map[string]any
		kind     errs.Kind
		code     string
		says     string
	}{
		{"no provider", "primary", "qwen3", nil, errs.Invalid, "model_name", "provider/model"},
		{"blank", "primary", "openai/a b", nil, errs.Invalid, "model_name", "provider/model"},
		{"unknown provider", "primary", "nobody/x", nil, errs.Invalid, "provider_unknown", "nobody"},
		{"no key", "primary", "openai/gpt-5", nil, errs.Unavailable, llm.CodeKeyMissing, "No key for OpenAI"},
		{"no built-in model", "primary", "builtin/x", nil, errs.Unavailable, llm.CodeModelUnknown, "Download it in Settings > Models"},
		{"nothing at all", "primary", "", nil, errs.Unavailable, llm.CodeUnreachable, "No model is set up yet"},
		{"local only, cloud", "primary", "openai/gpt-5", map[string]any{"local_only": true}, errs.Unavailable, "local_only", "Local only is on"},
		{"local only, Ollama's cloud", "primary", "ollama_chat/gpt-oss:120b-cloud", map[string]any{"local_only": true}, errs.Unavailable, "local_only", "Local only is on"},
		{"local only, another computer", "primary", "vllm/x",
			map[string]any{"local_only": true, "providers": map[string]any{"vllm": map[string]any{"api_base": "http://192.168.1.9:8000/v1"}}},
			errs.Unavailable, "local_only", "Local only is on"},
		{"no embedding model", "embedding", "", map[string]any{"roles": map[string]any{"embedding": nil}}, errs.Unavailable, llm.CodeModelUnknown, "memory search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := build(t, "")
			if c.set != nil {
				w.patch(c.set)
			}
			_, err := w.Choose(t.Context(), c.role, c.override)
			if !errs.Is(err, c.kind) || errs.Code(err) != c.code || !strings.Contains(errs.From(err).Message, c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestChooseTakesTheRolesSettings(t *testing.T) {
	o := newOllama(t)
	w := build(t, o.URL)
	w.keys.keys["anthropic"], w.keys.keys["openai"] = "sk-one", "sk-two"
	w.patch(map[string]any{
		"roles":                   map[string]any{"vision": "anthropic/claude-sonnet-5", "planner": "openai/unheard-of", "voice": nil},
		"temperature":             map[string]any{"fast": 0.2},
		"reasoning":               map[string]any{"fast": "minimal"},
		"context_length_per_role": map[string]any{"fast": 4096},
	})
	fast := 0.2
	for _, c := range []struct {
		role, override string
		name, id       string
		effort         llm.Effort
		temperature    *float64
		context        int
		local          bool
	}{
		{"primary", "", "ollama_chat/qwen3:8b", "qwen3:8b", "medium", nil, 6000, true}, // 8192, capped at what the model can
		{"", "", "ollama_chat/qwen3:8b", "qwen3:8b", "medium", nil, 6000, true},
		{"fast", "", "ollama_chat/qwen3:8b", "qwen3:8b", "low", &fast, 4096, true},
		{"voice", "", "ollama_chat/qwen3:8b", "qwen3:8b", "none", nil, 6000, true},
		{"vision", "", "anthropic/claude-sonnet-5", "claude-sonnet-5", "medium", nil, 200000, false},
		{"planner", "", "openai/unheard-of", "unheard-of", "none", nil, 0, false},
		{"primary", "ollama_chat/qwen3:8b", "ollama_chat/qwen3:8b", "qwen3:8b", "medium", nil, 6000, true},
		{"primary", "openai/gpt-5-mini", "openai/gpt-5-mini", "gpt-5-mini", "medium", nil, 400000, false},
	} {
		got, err := w.Choose(t.Context(), c.role, c.override)
		if err != nil {
			t.Errorf("%s %s: %v", c.role, c.override, err)
			continue
		}
		if got.Name != c.name || got.ID != c.id || got.Effort != c.effort || got.ContextLength != c.context || got.Local != c.local ||
			(got.Temperature == nil) != (c.temperature == nil) || got.Temperature != nil && *got.Temperature != *c.temperature {
			t.Errorf("%s %s: %+v", c.role, c.override, got)
		}
	}
	if n := o.count("/api/show"); n != 1 {
		t.Errorf("Ollama was asked %d times about one model", n)
	}
}

func TestAnswersThroughTheAdapter(t *testing.T) {
	o := newOllama(t)
	w := build(t, o.URL)
	choice, err := w.Choose(t.Context(), "primary", "")
	if err != nil {
		t.Fatal(err)
	}
	reply, err := choice.Model.Stream(t.Context(), choice.Request([]llm.Message{{Role: llm.User, Text: "hi"}}), func(llm.Delta) error { return nil })
	if err != nil || reply.Text != "ready" {
		t.Fatalf("%q, %v", reply.Text, err)
	}
	if options, _ := o.chat["options"].(map[string]any); options["num_ctx"] != 6000.0 || o.chat["model"] != "qwen3:8b" {
		t.Errorf("sent %v", o.chat)
	}
}

// The one replacement: an untouched default, no Ollama, no key.
func TestFallsToTheBuiltInModel(t *testing.T) {
	ctx := t.Context()
	answering := func(w *world, role, override string) string {
		c, err := w.Choose(ctx, role, override)
		if err != nil {
			return errs.Code(err)
		}
		return c.Name
	}
	w := build(t, "")
	w.small.name = "tiny"
	for _, role := range []string{"primary", "fast", "planner", "voice"} {
		if got := answering(w, role, ""); got != "builtin/tiny" {
			t.Errorf("%s is answered by %s", role, got)
		}
	}
	c, _ := w.Choose(ctx, "primary", "")
	if c.ContextLength != 4096 || !c.Local || c.ID != "tiny" {
		t.Errorf("choice %+v", c)
	}

	t.Run("never for a model that somebody named", func(t *testing.T) {
		if got := answering(w, "primary", "ollama_chat/qwen3:8b"); got != "ollama_chat/qwen3:8b" {
			t.Errorf("answered by %s", got)
		}
		w.patch(map[string]any{"roles": map[string]any{"primary": "ollama_chat/llama3.2", "fast": "openai/gpt-5"}})
		if got := answering(w, "primary", ""); got != "ollama_chat/llama3.2" {
			t.Errorf("answered by %s", got)
		}
		if got := answering(w, "fast", ""); got != llm.CodeKeyMissing {
			t.Errorf("answered by %s", got)
		}
	})
	t.Run("not when a key is set", func(t *testing.T) {
		w := build(t, "")
		w.small.name, w.keys.keys["groq"] = "tiny", "gsk-1"
		if got := answering(w, "primary", ""); got != "ollama_chat/qwen3:8b" {
			t.Errorf("answered by %s", got)
		}
	})
	t.Run("not while Ollama has the model", func(t *testing.T) {
		w := build(t, newOllama(t).URL)
		w.small.name = "tiny"
		if got := answering(w, "primary", ""); got != "ollama_chat/qwen3:8b" {
			t.Errorf("answered by %s", got)
		}
	})
	t.Run("when Ollama has not got it", func(t *testing.T) {
		empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"models":[]}`) }))
		defer empty.Close()
		w := build(t, empty.URL)
		if got := answering(w, "primary", ""); got != "ollama_chat/qwen3:8b" {
			t.Errorf("without a built-in model: %s", got)
		}
		w.small.name = "tiny"
		if got := answering(w, "primary", ""); got != "builtin/tiny" {
			t.Errorf("answered by %s", got)
		}
	})
	t.Run("a saved name follows the model that is there", func(t *testing.T) {
		w := build(t, "")
		w.small.name = "better"
		w.patch(map[string]any{"roles": map[string]any{"primary": "builtin/tiny"}})
		if got := answering(w, "primary", ""); got != "builtin/better" {
			t.Errorf("answered by %s", got)
		}
	})
}

func TestClientsAreKeptUntilTheirKeyChanges(t *testing.T) {
	w := build(t, "")
	w.keys.keys["openai"] = "sk-1"
	one, _ := w.Choose(t.Context(), "primary", "openai/gpt-5")
	two, _ := w.Choose(t.Context(), "fast", "openai/gpt-5-mini")
	w.keys.keys["openai"] = "sk-2"
	three, err := w.Choose(t.Context(), "primary", "openai/gpt-5")
	if err != nil || one.Model != two.Model || one.Model == three.Model {
		t.Errorf("clients %p %p %p, %v", one.Model, two.Model, three.Model, err)
	}
	w.patch(map[string]any{"providers": map[string]any{"vllm": map[string]any{"api_key_env": "MY_VLLM"}}})
	p, _ := providerOf("vllm")
	if key, err := w.key(t.Context(), p, w.store.Get()); err != nil || key != "from MY_VLLM" {
		t.Errorf("a local server's key: %q, %v", key, err)
	}
}

func TestProviders(t *testing.T) {
	w := build(t, "")
	w.keys.keys["anthropic"] = "sk-ant-secret-value"
	list, err := w.Providers(t.Context(), &ProvidersInput{})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(list)
	if strings.Contains(string(data), "secret-value") {
		t.Error("a key is shown")
	}
	var wire []map[string]any
	_ = json.Unmarshal(data, &wire)
	seen := map[string]map[string]any{}
	for _, p := range wire {
		seen[fmt.Sprint(p["id"])] = p
		for _, member := range []string{"id", "label", "kind", "key_required", "key_set", "api_base", "docs_url", "suggested", "sign_in"} {
			if _, ok := p[member]; !ok {
				t.Errorf("%v has no %s", p["id"], member)
			}
		}
		if p["suggested"] == nil || !strings.HasPrefix(fmt.Sprint(p["docs_url"]), "https://") {
			t.Errorf("%v: %v", p["id"], p)
		}
	}
	for _, id := range []string{"builtin", "ollama", "lm_studio", "openai", "anthropic", "gemini", "openrouter", "groq", "mistral", "deepseek", "xai", "nous", "llamafile", "vllm"} {
		if seen[id] == nil {
			t.Errorf("%s is missing", id)
		}
	}
	if a := seen["anthropic"]; a["key_set"] != true || a["key_required"] != true || a["api_base"] != nil || a["kind"] != "cloud" {
		t.Errorf("anthropic: %v", a)
	}
	if o := seen["ollama"]; o["key_set"] != false || o["key_required"] != false || o["api_base"] == nil || o["kind"] != "local" {
		t.Errorf("ollama: %v", o)
	}
	for _, p := range providers() {
		for _, s := range p.suggested {
			if _, _, err := split(s); err != nil {
				t.Errorf("suggested %s: %v", s, err)
			}
		}
	}
	w.keys.err = errors.New("locked")
	if list, err := w.Providers(t.Context(), &ProvidersInput{}); err != nil || len(list) != len(wire) {
		t.Errorf("a locked keychain hides the providers: %v", err)
	}
}

func TestLocal(t *testing.T) {
	w := build(t, "")
	studio := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"some-model"},{"id":"text-embedding-nomic"}]}`)
	}))
	defer studio.Close()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	w.patch(map[string]any{"providers": map[string]any{"lm_studio": map[string]any{"api_base": dead.URL + "/v1"}}})
	out, err := w.Local(t.Context(), &LocalInput{})
	if err != nil || out.Ollama.Reachable || out.LMStudio.Reachable || out.Ollama.Models == nil || out.LMStudio.Models == nil {
		t.Errorf("nothing there: %+v, %v", out, err)
	}
	w = build(t, newOllama(t).URL)
	w.patch(map[string]any{"providers": map[string]any{"lm_studio": map[string]any{"api_base": studio.URL + "/v1"}}})
	out, err = w.Local(t.Context(), &LocalInput{})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(out)
	want := `{"ollama":{"reachable":true,"models":[{"name":"qwen3:8b","size":5200000000,"family":"qwen3","parameter_size":"8.2B","is_embedding":false,"capabilities":["completion","tools"]},` +
		`{"name":"nomic-embed-text:latest","size":274000000,"family":"nomic-bert","parameter_size":"137M","is_embedding":true,"capabilities":["embedding"]}]},` +
		`"lm_studio":{"reachable":true,"models":[{"name":"some-model","size":0,"family":"","parameter_size":"","is_embedding":false,"capabilities":[]},` +
		`{"name":"text-embedding-nomic","size":0,"family":"","parameter_size":"","is_embedding":true,"capabilities":[]}]}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestSetRoles(t *testing.T) {
	w := build(t, "")
	for _, c := range []struct {
		name string
		in   RolesInput
		loc  string
	}{
		{"no provider", RolesInput{Fast: opt.Of("qwen3")}, "fast"},
		{"empty", RolesInput{Primary: opt.Of("")}, "primary"},
		{"unknown provider", RolesInput{Voice: opt.Of("nobody/x")}, "voice"},
		{"no primary", RolesInput{Primary: opt.Null[string]()}, "primary"},
		{"no embeddings there", RolesInput{Embedding: opt.Of("anthropic/claude-sonnet-5")}, "embedding"},
	} {
		before := *w.store.Get()
		_, err := w.SetRoles(t.Context(), &c.in)
		if errs.StatusOf(err) != 422 || len(errs.From(err).Fields) != 1 || errs.From(err).Fields[0].Loc[0] != c.loc {
			t.Errorf("%s: %v", c.name, err)
		}
		if w.store.Get().Models.Roles.Primary != before.Models.Roles.Primary {
			t.Errorf("%s: something was saved", c.name)
		}
	}
	roles, err := w.SetRoles(t.Context(), &RolesInput{Primary: opt.Of(" anthropic/claude-sonnet-5 "), Fast: opt.Null[string](), Planner: opt.Of("builtin/tiny")})
	if err != nil || roles.Primary != "anthropic/claude-sonnet-5" || roles.Fast != nil || *roles.Planner != "builtin/tiny" || roles.Embedding == nil {
		t.Errorf("%+v, %v", roles, err)
	}
	if w.store.Get().Models.Roles.Model("fast") != "anthropic/claude-sonnet-5" {
		t.Error("not saved")
	}
	if _, err := w.SetRoles(t.Context(), &RolesInput{}); err != nil {
		t.Errorf("nothing to change: %v", err)
	}
}

func TestRunsHere(t *testing.T) {
	for _, c := range []struct {
		id, base, model string
		want            bool
	}{
		{"builtin", "", "x", true}, {"ollama_chat", "http://localhost:11434", "qwen3:8b", true}, {"ollama", "http://127.9.9.9:1", "x", true},
		{"vllm", "http://[::1]:8000/v1", "x", true}, {"lm_studio", "http://LOCALHOST:1234/v1", "x", true},
		{"ollama_chat", "http://localhost:11434", "gpt-oss:120b-cloud", false}, {"ollama_chat", "http://localhost:11434", "kimi:cloud", false},
		{"ollama_chat", "http://192.168.0.2:11434", "x", false}, {"vllm", "http://localhost.evil.example/v1", "x", false},
		{"vllm", "http://127.0.0.1.nip.io/v1", "x", false}, {"vllm", "://", "x", false}, {"openai", "http://localhost:1/v1", "x", false},
	} {
		p, _ := providerOf(c.id)
		if got := runsHere(p, c.base, c.model); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
