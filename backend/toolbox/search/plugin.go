// Package search is the plugin that searches the web.
//
// It owns one tool, web_search, and the reading of each search service's answers: DuckDuckGo's page, which needs no key,
// Brave Search, Google's programmable search and a SearXNG of the person's own. It promises that a service that fails or
// lacks its key is stood in for by DuckDuckGo, with a note that says so, and that being turned away is said plainly and is
// never told as "nothing found".
package search

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/obs"
	"sentient/backend/tool"
	"sentient/backend/toolbox/remote"
)

//go:embed web_search.md
var description string

// Settings are read at each search.
type Settings struct {
	Provider   string // duckduckgo, brave, google_cse, searxng (integrations.search_provider); "" is duckduckgo
	SearxngURL string
}

// Deps are what the plugin needs from outside. The addresses are those of the services; tests set others.
type Deps struct {
	Net      *netx.Client
	Log      *slog.Logger
	Settings func() Settings
	Secret   func(ctx context.Context, name string) (string, error)

	DuckDuckGo, Brave, Google string
}

// New makes the plugin.
func New(d Deps) *tool.Plugin {
	if d.Log == nil {
		d.Log = obs.Discard()
	}
	if d.Settings == nil {
		d.Settings = func() Settings { return Settings{} }
	}
	if d.Secret == nil {
		d.Secret = func(context.Context, string) (string, error) { return "", nil }
	}
	d.DuckDuckGo = cmp.Or(d.DuckDuckGo, "https://html.duckduckgo.com")
	d.Brave = cmp.Or(d.Brave, "https://api.search.brave.com")
	d.Google = cmp.Or(d.Google, "https://www.googleapis.com")
	return &tool.Plugin{
		ID: "internet_search", Name: "Web search", Description: "Searches the web.", Category: "knowledge", Icon: "search", Auth: "builtin", Public: true,
		Hint:  "search internet web google look up find online latest current who what price review buy information research suche busca recherche 検索 搜索",
		Tools: []*tool.Tool{d.search()},
	}
}

type searchIn struct {
	Query      string `json:"query" doc:"What to search for."`
	MaxResults int    `json:"max_results,omitempty" doc:"How many results; 5 when left out." min:"1" max:"10"`
}

// found is what web_search gives (§16).
type found struct {
	Query    string   `json:"query"`
	Provider string   `json:"provider"`
	Results  []result `json:"results"`
	Note     string   `json:"note,omitempty"`
}

type result struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// Limits of a search and of one result, in characters.
const (
	maxQuery   = 400
	maxTitle   = 200
	maxSnippet = 400
	maxAddress = 1000
)

func (d Deps) search() *tool.Tool {
	return tool.New(tool.Def[searchIn]{
		Name: "web_search", Description: strings.TrimSpace(description), Risk: tool.Read,
		Run:     d.run,
		Sources: sources,
	})
}

// sources are the first three results (§2 "Answer sources"), each shown where the model has read its address.
func sources(_ searchIn, raw json.RawMessage) []tool.Source {
	var out struct{ Results []remote.Found }
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return remote.Sources(out.Results)
}

func (d Deps) run(ctx context.Context, _ *tool.Context, in searchIn) (any, error) {
	query := strings.Join(strings.Fields(in.Query), " ")
	if query == "" {
		return nil, errs.New(errs.Invalid, "query_empty", "There is nothing to search for. Give a few words.")
	}
	if in.MaxResults == 0 {
		in.MaxResults = 5
	}
	if runes := []rune(query); len(runes) > maxQuery {
		query = string(runes[:maxQuery])
	}
	s := d.Settings()
	out := found{Query: query, Provider: s.Provider}
	p, ok := providers[s.Provider]
	var err error
	if ok && s.Provider != standard {
		out.Results, err = p.search(ctx, d, s, query, in.MaxResults)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			return out.finished(in.MaxResults), nil
		}
		d.Log.Info("search service failed", "provider", s.Provider, "error", err)
		out.Note = fmt.Sprintf("%s So DuckDuckGo searched instead.", errs.From(err).Message)
	}
	out.Provider = standard
	if out.Results, err = duckDuckGo(ctx, d, query); err != nil {
		return nil, err
	}
	return out.finished(in.MaxResults), nil
}

// finished cuts what was found to what was asked for, each address once.
func (f found) finished(most int) found {
	seen := map[string]bool{}
	list := []result{}
	for _, r := range f.Results {
		r.Title, r.Snippet = short(r.Title, maxTitle), short(r.Snippet, maxSnippet)
		if len(list) >= most || seen[r.URL] || r.Title == "" || len(r.URL) > maxAddress || !strings.HasPrefix(r.URL, "http://") && !strings.HasPrefix(r.URL, "https://") {
			continue
		}
		seen[r.URL] = true
		list = append(list, r)
	}
	f.Results = list
	if len(list) == 0 {
		f.Note = strings.TrimSpace(f.Note + " Nothing was found. Try other words.")
	}
	return f
}

func short(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// key gives the key that is stored for an app, or one field of it.
func (d Deps) key(ctx context.Context, app, field string) string {
	return remote.StoredKey(ctx, d.Log, d.Secret, app, field)
}
