package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

// world is a stand-in for all search services, which keeps what it was sent.
type world struct {
	t        *testing.T
	asked    []string
	answer   map[string]http.HandlerFunc // by path
	settings Settings
	secrets  map[string]string
	p        *tool.Plugin
	url      string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, answer: map[string]http.HandlerFunc{}, secrets: map[string]string{}}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked = append(w.asked, r.Method+" "+r.URL.String())
		if h := w.answer[r.URL.Path]; h != nil {
			h(rw, r)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(s.Close)
	n := netx.New(netx.Options{Internet: netip.Addr.IsLoopback})
	t.Cleanup(n.Close)
	w.url = s.URL
	w.p = New(Deps{Net: n, Settings: func() Settings { return w.settings }, DuckDuckGo: s.URL, Brave: s.URL, Google: s.URL,
		Secret: func(_ context.Context, name string) (string, error) {
			if v := w.secrets[name]; v == "broken" {
				return "", errors.New("keychain is gone")
			}
			return w.secrets[name], nil
		}})
	return w
}

func says(status int, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status); io.WriteString(rw, body) }
}

func (w *world) search(args string) (found, json.RawMessage, error) {
	w.t.Helper()
	prepared, err := w.p.Tools[0].Prepare(json.RawMessage(args))
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := w.p.Tools[0].Run(w.t.Context(), &tool.Context{}, prepared)
	if err != nil {
		return found{}, nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		w.t.Fatal(err)
	}
	return v.(found), bytes.TrimSpace(b.Bytes()), nil
}

// ddg is a page like DuckDuckGo's.
const ddg = `<html><body><div class="serp__results"><div id="links" class="results">
<div class="result results_links result--ad"><h2><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">An ad</a></h2><a class="result__snippet">Buy</a></div>
<div class="result results_links web-result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1%26c%3D2&amp;rut=abc">First <b>page</b></a></h2>
<a class="result__url" href="x">example.com</a><a class="result__snippet" href="x">The <b>first</b>
 page &amp; more.</a></div>
<div class="result"><a class="result__a" href="https://example.org/">Second</a><div class="result__snippet">Two</div></div>
<div class="result"><a class="result__a" href="https://example.org/">Second again</a></div>
<div class="result"><a class="result__a" href="javascript:alert(1)">Bad</a><a class="result__a" href="https://example.net/3">Third</a></div>
<div class="result"><a class="result__a" href="/l/?uddg=https%3A%2F%2Fexample.net%2F4">Fourth</a></div>
</div></div></body></html>`

const lite = `<table><tr><td>1.</td><td><a rel="nofollow" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2F" class='result-link'>Lite</a></td></tr><tr><td class='result-snippet'>Small <b>form</b></td></tr></table>`

func TestConform(t *testing.T) {
	w := newWorld(t)
	w.answer["/html/"] = says(200, ddg)
	conform.Plugin(t, w.p, conform.Case{Tool: "web_search", Args: `{"query":"x"}`})
}

func TestDuckDuckGo(t *testing.T) {
	w := newWorld(t)
	w.answer["/html/"] = says(200, ddg)
	_, raw, err := w.search(`{"query":" first  page & \n more ","max_results":3}`)
	want := `{"query":"first page & more","provider":"duckduckgo","results":[{"title":"First page","url":"https://example.com/a?b=1&c=2","snippet":"The first page & more."},{"title":"Second","url":"https://example.org/","snippet":"Two"},{"title":"Third","url":"https://example.net/3","snippet":""}]}`
	if string(raw) != want || err != nil {
		t.Errorf("%s, %v", raw, err)
	}
	if got := strings.Join(w.asked, "\n"); got != "GET /html/?q=first+page+%26+more" {
		t.Errorf("it was asked %s", got)
	}
	sources := w.p.Tools[0].Sources(json.RawMessage(`{"query":"x"}`), raw)
	if len(sources) != 3 || sources[0].URL != "https://example.com/a?b=1&c=2" || sources[0].Title != "First page" || sources[0].Kind != "web" {
		t.Fatalf("%+v", sources)
	}
	for _, s := range sources {
		if !strings.Contains(string(raw), s.Shown) || s.Shown == "" {
			t.Errorf("%q is not in the result", s.Shown)
		}
	}
	w.answer["/html/"] = says(200, lite)
	if got, _, err := w.search(`{"query":"x"}`); err != nil || len(got.Results) != 1 || got.Results[0] != (result{"Lite", "https://example.com/", "Small form"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDuckDuckGoThatGivesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		body, code string
	}{
		"nothing found":       {200, `<div class="no-results">No results.</div>`, ""},
		"turned away":         {202, `<form id="challenge-form">`, "search_refused"},
		"a challenge":         {200, `<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>`, "search_refused"},
		"forbidden":           {403, "", "search_refused"},
		"too often":           {429, "", "search_refused"},
		"down":                {503, "", "service_failed"},
		"another page":        {200, "<p>Welcome", "service_unreadable"},
		"nothing at all":      {200, "", "service_unreadable"},
		"a page that is deep": {200, strings.Repeat("<div>", 5000), "service_unreadable"},
	} {
		w := newWorld(t)
		w.answer["/html/"] = says(c.status, c.body)
		got, raw, err := w.search(`{"query":"x"}`)
		if errs.Code(err) != c.code || c.code == "" && (err != nil || got.Note != "Nothing was found. Try other words." || !strings.Contains(string(raw), `"results":[]`)) {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
	w := newWorld(t)
	for _, q := range []string{`{"query":""}`, `{"query":" \n"}`} {
		if _, _, err := w.search(q); errs.Code(err) != "query_empty" || len(w.asked) > 0 {
			t.Errorf("%s: %v", q, err)
		}
	}
	w.answer["/html/"] = says(200, ddg)
	if got, _, err := w.search(`{"query":"` + strings.Repeat("ж", 9000) + `"}`); err != nil || len([]rune(got.Query)) != maxQuery {
		t.Errorf("%d, %v", len(got.Query), err)
	}
}

func TestProviders(t *testing.T) {
	for _, c := range []struct {
		provider, secret, stored, path, body, asked string
	}{
		{"brave", "integration:brave_search", "k1", "/res/v1/web/search", `{"web":{"results":[{"title":"A <strong>b</strong>","url":"https://a.example/","description":"C &amp; d"}]}}`, "GET /res/v1/web/search?count=5&q=x+y"},
		{"brave", "integration:brave_search", `{"api_key":"k1"}`, "/res/v1/web/search", `{"web":{"results":[{"title":"A b","url":"https://a.example/","description":"C & d"}]}}`, "GET /res/v1/web/search?count=5&q=x+y"},
		{"google_cse", "integration:google_cse", `{"api_key":"k1","cx":"c1"}`, "/customsearch/v1", `{"items":[{"title":"A b","link":"https://a.example/","snippet":"C & d"}]}`, "GET /customsearch/v1?cx=c1&key=k1&num=5&q=x+y"},
		{"searxng", "", "", "/search", `{"results":[{"title":"A b","url":"https://a.example/","content":"C & d"}]}`, "GET /search?format=json&q=x+y"},
	} {
		w := newWorld(t)
		w.settings = Settings{Provider: c.provider, SearxngURL: w.url + "/"}
		w.secrets[c.secret] = c.stored
		w.answer[c.path] = func(rw http.ResponseWriter, r *http.Request) {
			if c.provider == "brave" && r.Header.Get("X-Subscription-Token") != "k1" {
				t.Errorf("%s was asked with %v", c.provider, r.Header)
			}
			io.WriteString(rw, c.body)
		}
		got, _, err := w.search(`{"query":"x y"}`)
		if err != nil || got.Provider != c.provider || got.Note != "" || len(got.Results) != 1 || got.Results[0] != (result{"A b", "https://a.example/", "C & d"}) {
			t.Errorf("%s: %+v, %v", c.provider, got, err)
		}
		if len(w.asked) != 1 || w.asked[0] != c.asked {
			t.Errorf("%s was asked %v", c.provider, w.asked)
		}
	}
}

// A service that fails, or has no key, is stood in for, and that is said.
func TestStandIn(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings Settings
		secrets  map[string]string
		h        http.HandlerFunc
		note     string
	}{
		{"no key", Settings{Provider: "brave"}, nil, nil, "Brave Search has no key yet"},
		{"a keychain that fails", Settings{Provider: "brave"}, map[string]string{"integration:brave_search": "broken"}, nil, "Brave Search has no key yet"},
		{"half a key", Settings{Provider: "google_cse"}, map[string]string{"integration:google_cse": "k"}, nil, "Google Search has no key yet"},
		{"no address", Settings{Provider: "searxng"}, nil, nil, "SearXNG has no address yet"},
		{"a wrong key", Settings{Provider: "brave"}, map[string]string{"integration:brave_search": "k"}, says(401, ""), "Brave Search did not let Sentient in."},
		{"too often", Settings{Provider: "brave"}, map[string]string{"integration:brave_search": "k"}, says(429, ""), "Brave Search was asked too often"},
		{"nonsense", Settings{Provider: "brave"}, map[string]string{"integration:brave_search": "k"}, says(200, "<html>"), "Brave Search gave an answer that Sentient can't read."},
		{"SearXNG without JSON", Settings{Provider: "searxng", SearxngURL: "URL"}, nil, says(403, ""), "SearXNG did not let Sentient in."},
	} {
		w := newWorld(t)
		w.settings = c.settings
		if w.settings.SearxngURL != "" {
			w.settings.SearxngURL = w.url
		}
		if c.secrets != nil {
			w.secrets = c.secrets
		}
		w.answer["/html/"] = says(200, ddg)
		w.answer["/res/v1/web/search"], w.answer["/search"] = c.h, c.h
		got, _, err := w.search(`{"query":"x"}`)
		if err != nil || got.Provider != "duckduckgo" || len(got.Results) == 0 || !strings.HasPrefix(got.Note, c.note) || !strings.HasSuffix(got.Note, "So DuckDuckGo searched instead.") {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		w.answer["/html/"] = says(403, "")
		if _, _, err := w.search(`{"query":"x"}`); errs.Code(err) != "search_refused" {
			t.Errorf("%s, then turned away: %v", c.name, err)
		}
	}
	w := newWorld(t)
	w.settings.Provider = "unheard of"
	w.answer["/html/"] = says(200, ddg)
	if got, _, err := w.search(`{"query":"x"}`); err != nil || got.Provider != "duckduckgo" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLongResults(t *testing.T) {
	w := newWorld(t)
	var page strings.Builder
	for i := range 50 {
		fmt.Fprintf(&page, `<a class="result__a" href="https://example.com/%d%s">%s</a><a class="result__snippet">%s</a>`, i, strings.Repeat("x", i*100), strings.Repeat("T", 5000), strings.Repeat("ж", 9000))
	}
	w.answer["/html/"] = says(200, page.String())
	got, raw, err := w.search(`{"query":"x","max_results":10}`)
	if err != nil || len(got.Results) != 10 || len([]rune(string(raw))) > 16_000 {
		t.Errorf("%d results, %d bytes, %v", len(got.Results), len(raw), err)
	}
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(ddg))
	f.Add([]byte(lite))
	f.Fuzz(func(t *testing.T, page []byte) {
		w := found{}
		if root, err := parse(page); err == nil {
			w.Results, _ = readResults(root)
		}
		for _, r := range w.finished(10).Results {
			if !strings.HasPrefix(r.URL, "http") || r.Title == "" {
				t.Fatalf("%+v", r)
			}
		}
	})
}
