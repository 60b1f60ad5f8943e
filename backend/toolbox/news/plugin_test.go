package news

import (
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

// world is a stand-in for both services, which keeps what it was sent.
type world struct {
	t        *testing.T
	asked    []string
	rss, api string // answers; "401" and the like are statuses
	settings Settings
	key      string
	p        *tool.Plugin
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, rss: rss, api: api}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked = append(w.asked, r.URL.String())
		body := w.rss
		if strings.HasPrefix(r.URL.Path, "/v2/") {
			body = w.api
			if r.Header.Get("X-Api-Key") != "topsecret" || strings.Contains(r.URL.String(), "topsecret") {
				t.Errorf("asked with %v", r.Header)
			}
		}
		if status := map[string]int{"401": 401, "429": 429, "500": 500}[body]; status != 0 {
			rw.WriteHeader(status)
			return
		}
		io.WriteString(rw, body)
	}))
	t.Cleanup(s.Close)
	n := netx.New(netx.Options{Internet: netip.Addr.IsLoopback})
	t.Cleanup(n.Close)
	w.p = New(Deps{Net: n, Settings: func() Settings { return w.settings }, GoogleNews: s.URL, NewsAPI: s.URL,
		Secret: func(_ context.Context, name string) (string, error) {
			if name != "integration:newsapi" || w.key == "broken" {
				return "", errors.New("keychain is gone")
			}
			return w.key, nil
		}})
	return w
}

func (w *world) call(name, args string) (string, *tool.Tool, error) {
	w.t.Helper()
	w.asked = nil
	for _, x := range w.p.Tools {
		if x.Name != name {
			continue
		}
		prepared, err := x.Prepare(json.RawMessage(args))
		if err != nil {
			w.t.Fatal(err)
		}
		v, err := x.Run(w.t.Context(), &tool.Context{}, prepared)
		if err != nil {
			return "", x, err
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			w.t.Fatal(err)
		}
		return strings.TrimSpace(b.String()), x, nil
	}
	w.t.Fatalf("no tool %s", name)
	return "", nil, nil
}

const (
	rss = `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:media="m"><channel><title>Google News</title>
<item><title>Storm reaches the coast - The Paper</title><link>https://news.google.com/rss/articles/abc?oc=5&amp;x=1</link><pubDate>Fri, 26 Mar 2027 09:30:00 GMT</pubDate><description>&lt;a href="x"&gt;Storm reaches the coast&lt;/a&gt;&amp;nbsp;&lt;font&gt;The Paper&lt;/font&gt;</description><source url="https://paper.example">The Paper</source></item>
<item><title>Second</title><link>https://example.com/2</link><pubDate>nonsense</pubDate><description>What &lt;b&gt;happened&lt;/b&gt; &amp; why</description></item>
<item><title>Second</title><link>https://example.com/2b</link></item>
<item><title>Bad</title><link>javascript:alert(1)</link></item><item/></channel></rss>`
	api = `{"status":"ok","articles":[{"source":{"name":"Wire"},"title":"A title","description":"A <i>summary</i>","url":"https://example.com/a","publishedAt":"2027-03-26T09:30:00Z"},{"source":{},"title":"[Removed]","url":"https://removed.com"},{"title":null,"description":null,"url":null}]}`
)

func TestConform(t *testing.T) {
	conform.Plugin(t, newWorld(t).p, conform.Case{Tool: "news_search", Args: `{"query":"storm"}`}, conform.Case{Tool: "news_top_headlines", Args: `{}`})
}

func TestGoogleNews(t *testing.T) {
	w := newWorld(t)
	got, x, err := w.call("news_search", `{"query":" storm \n coast "}`)
	articles := `"articles":[{"title":"Storm reaches the coast","source":"The Paper","url":"https://news.google.com/rss/articles/abc?oc=5&x=1","published_at":"2027-03-26T09:30:00.000000Z","summary":""},{"title":"Second","source":"","url":"https://example.com/2","published_at":"","summary":"What happened & why"}]}`
	if got != `{"provider":"google_news","query":"storm coast",`+articles || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	sources := x.Sources(json.RawMessage(`{"query":"x"}`), json.RawMessage(got))
	if len(sources) != 2 || sources[0].URL != "https://news.google.com/rss/articles/abc?oc=5&x=1" || !strings.Contains(got, sources[0].Shown) || sources[0].Shown == "" {
		t.Errorf("%+v", sources)
	}
	for _, c := range []struct {
		settings    Settings
		tool, args  string
		asked, head string
	}{
		{Settings{}, "news_search", `{"query":"a b"}`, "/rss/search?ceid=US%3Aen&gl=US&hl=en&q=a+b", `"query":"a b"`},
		{Settings{"de", "de"}, "news_search", `{"query":"x"}`, "/rss/search?ceid=DE%3Ade&gl=DE&hl=de&q=x", `"query":"x"`},
		{Settings{}, "news_top_headlines", `{}`, "/rss/headlines/section/topic/WORLD?ceid=US%3Aen&gl=US&hl=en", `"country":"","category":""`},
		{Settings{"in", "en"}, "news_top_headlines", `{}`, "/rss?ceid=IN%3Aen&gl=IN&hl=en", `"country":"in","category":""`},
		{Settings{"in", "en"}, "news_top_headlines", `{"country":"GB","category":"science"}`, "/rss/headlines/section/topic/SCIENCE?ceid=GB%3Aen&gl=GB&hl=en", `"country":"gb","category":"science"`},
	} {
		w.settings = c.settings
		got, _, err := w.call(c.tool, c.args)
		if err != nil || len(w.asked) != 1 || w.asked[0] != c.asked || !strings.HasPrefix(got, `{"provider":"google_news",`+c.head+`,`+articles[:20]) {
			t.Errorf("%s %s: asked %v: %s, %v", c.tool, c.args, w.asked, got, err)
		}
	}
}

func TestNewsAPI(t *testing.T) {
	w := newWorld(t)
	w.key, w.settings = `{"api_key":"topsecret"}`, Settings{Language: "en"}
	got, _, err := w.call("news_search", `{"query":"x y"}`)
	want := `{"provider":"newsapi","query":"x y","articles":[{"title":"A title","source":"Wire","url":"https://example.com/a","published_at":"2027-03-26T09:30:00.000000Z","summary":"A summary"}]}`
	if got != want || err != nil || len(w.asked) != 1 || w.asked[0] != "/v2/everything?language=en&pageSize=20&q=x+y&sortBy=publishedAt" {
		t.Errorf("asked %v: %s, %v", w.asked, got, err)
	}
	for args, asked := range map[string]string{`{}`: "/v2/top-headlines?category=general&pageSize=20", `{"country":"us","category":"world"}`: "/v2/top-headlines?category=general&country=us&pageSize=20", `{"category":"health"}`: "/v2/top-headlines?category=health&pageSize=20"} {
		if got, _, err := w.call("news_top_headlines", args); err != nil || w.asked[0] != asked {
			t.Errorf("%s: asked %v: %s, %v", args, w.asked, got, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	for args, code := range map[string]string{`{"query":""}`: "query_empty", `{"query":" \u0000 "}`: "query_empty"} {
		if _, _, err := w.call("news_search", args); errs.Code(err) != code || len(w.asked) > 0 {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, country := range []string{"germany", "1x", "../", "é"} {
		if _, _, err := w.call("news_top_headlines", fmt.Sprintf(`{"country":%q}`, country)); errs.Code(err) != "country_unknown" || len(w.asked) > 0 {
			t.Errorf("%s: %v", country, err)
		}
	}
	for body, code := range map[string]string{"500": "service_failed", "429": "service_busy", "": "service_unreadable", "<html><p>x</html>": "service_unreadable", "{}": "service_unreadable",
		`<rss><channel><item><title>` + strings.Repeat("<a>", 200_000): "service_unreadable", `<!DOCTYPE x [<!ENTITY a "b">]><rss><channel><item><title>&a;</title></item></channel>`: "service_unreadable"} {
		w.rss = body
		if got, _, err := w.call("news_search", `{"query":"x"}`); errs.Code(err) != code {
			t.Errorf("%.40s: %s, %v", body, got, err)
		}
	}
	w.rss = `<rss><channel></channel></rss>`
	if got, _, err := w.call("news_search", `{"query":"x"}`); err != nil || got != `{"provider":"google_news","query":"x","articles":[],"note":"There are no such news."}` {
		t.Errorf("%s, %v", got, err)
	}
	w.rss = "<?xml version='1.0' encoding='iso-8859-1'?><rss><channel><item><title>Gr\xfc\xdfe &nbsp; x</title><link>https://example.com</link></item></channel></rss>"
	if got, _, err := w.call("news_search", `{"query":"x"}`); err != nil || !strings.Contains(got, `"title":"Grüße x"`) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestStandIn(t *testing.T) {
	for body, note := range map[string]string{"401": "NewsAPI did not let Sentient in.", "429": "NewsAPI was asked too often", "500": "NewsAPI can't answer", "<html>": "NewsAPI gave an answer"} {
		w := newWorld(t)
		w.key, w.api = "topsecret", body
		got, _, err := w.call("news_search", `{"query":"x"}`)
		if err != nil || !strings.Contains(got, `"provider":"google_news"`) || !strings.Contains(got, `"note":"`+note) || !strings.Contains(got, "So Google News answered instead.") {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
	w := newWorld(t)
	w.key = "broken"
	if got, _, err := w.call("news_search", `{"query":"x"}`); err != nil || strings.Contains(got, `"note"`) {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte(rss))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := parse(body); err != nil {
			return
		}
	})
}
