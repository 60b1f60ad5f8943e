// Package news is the plugin of the news.
//
// It owns two tools, news_search and news_top_headlines, and the reading of two services: Google News' feeds, which need no
// key, and NewsAPI where a key for it is stored. It promises the same members from both, summaries as plain text, times in
// UTC, and a stand-in by Google News, with a note, when NewsAPI fails.
package news

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/obs"
	"sentient/backend/textkit"
	"sentient/backend/tool"
	"sentient/backend/toolbox/remote"
)

// Settings are read at each call.
type Settings struct {
	Country  string // integrations.news_country: two letters, "" for the world
	Language string // assistant.language
}

// Deps are what the plugin needs from outside. The addresses are those of the services; tests set others.
type Deps struct {
	Net      *netx.Client
	Log      *slog.Logger
	Settings func() Settings
	Secret   func(ctx context.Context, name string) (string, error)

	GoogleNews, NewsAPI string
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
	d.GoogleNews = cmp.Or(d.GoogleNews, "https://news.google.com")
	d.NewsAPI = cmp.Or(d.NewsAPI, "https://newsapi.org")
	return &tool.Plugin{
		ID: "news", Name: "News", Description: "Finds news and headlines.", Category: "knowledge", Icon: "news", Auth: "builtin", Public: true,
		Hint:  "news headline headlines press newspaper politics election breaking story stories happened happening nachrichten schlagzeilen noticias actualités ニュース 新闻",
		Tools: []*tool.Tool{d.search(), d.headlines()},
	}
}

type searchIn struct {
	Query      string `json:"query" doc:"What the news are about."`
	MaxResults int    `json:"max_results,omitempty" doc:"How many articles; 8 when left out." min:"1" max:"20"`
}

type headlinesIn struct {
	Country    string `json:"country,omitempty" doc:"Two letters, such as us or in; left out: the user's setting."`
	Category   string `json:"category,omitempty" doc:"Left out: all." enum:"world,nation,business,technology,entertainment,sports,science,health"`
	MaxResults int    `json:"max_results,omitempty" doc:"How many articles; 8 when left out." min:"1" max:"20"`
}

// searched is what news_search gives (§16).
type searched struct {
	Provider string    `json:"provider"`
	Query    string    `json:"query"`
	Articles []article `json:"articles"`
	Note     string    `json:"note,omitempty"`
}

// topped is what news_top_headlines gives (§16).
type topped struct {
	Provider string    `json:"provider"`
	Country  string    `json:"country"`
	Category string    `json:"category"`
	Articles []article `json:"articles"`
	Note     string    `json:"note,omitempty"`
}

type article struct {
	Title       string `json:"title"`
	Source      string `json:"source"`
	URL         string `json:"url"`
	PublishedAt string `json:"published_at"`
	Summary     string `json:"summary"`
}

// Limits of a question and of one article, in characters.
const (
	maxQuery   = 300
	maxTitle   = 250
	maxSummary = 400
	maxAddress = 1500
	standard   = 8 // articles
)

func (d Deps) search() *tool.Tool {
	return tool.New(tool.Def[searchIn]{
		Name:        "news_search",
		Description: "Find recent news articles about something: titles, papers, times and short summaries. For what is not news use web_search.",
		Risk:        tool.Read,
		Run: func(ctx context.Context, _ *tool.Context, in searchIn) (any, error) {
			query := strings.Join(strings.Fields(strings.ReplaceAll(in.Query, "\x00", " ")), " ")
			if query == "" {
				return nil, errs.New(errs.Invalid, "query_empty", "There is nothing to search for. Give a few words.")
			}
			query, _ = textkit.First(query, maxQuery)
			provider, list, note, err := d.ask(ctx, in.MaxResults, func(s source) ([]article, error) { return s.about(ctx, query) })
			return searched{provider, query, list, note}, err
		},
		Sources: func(_ searchIn, result json.RawMessage) []tool.Source { return sources(result) },
	})
}

func (d Deps) headlines() *tool.Tool {
	return tool.New(tool.Def[headlinesIn]{
		Name:        "news_top_headlines",
		Description: "Tell the top headlines now, of a country or the world, all or of one category.",
		Risk:        tool.Read,
		Run: func(ctx context.Context, _ *tool.Context, in headlinesIn) (any, error) {
			country := strings.ToLower(strings.TrimSpace(in.Country))
			if country == "" {
				country = strings.ToLower(d.Settings().Country)
			}
			if country != "" && !isCountry(country) {
				return nil, errs.New(errs.Invalid, "country_unknown", "A country is named by two letters here, such as us, in or de.")
			}
			provider, list, note, err := d.ask(ctx, in.MaxResults, func(s source) ([]article, error) { return s.top(ctx, country, in.Category) })
			return topped{provider, country, in.Category, list, note}, err
		},
		Sources: func(_ headlinesIn, result json.RawMessage) []tool.Source { return sources(result) },
	})
}

func isCountry(s string) bool {
	return len(s) == 2 && s[0] >= 'a' && s[0] <= 'z' && s[1] >= 'a' && s[1] <= 'z'
}

// sources are the first three articles, each shown where the model has read its address.
func sources(result json.RawMessage) []tool.Source {
	var out struct {
		Articles []struct {
			Title, Summary string
			URL            json.RawMessage
		}
	}
	if json.Unmarshal(result, &out) != nil {
		return nil
	}
	var found []remote.Found
	for _, a := range out.Articles {
		found = append(found, remote.Found{Title: a.Title, Snippet: a.Summary, URL: a.URL})
	}
	return remote.Sources(found)
}

// source is a service that knows the news.
type source interface {
	about(ctx context.Context, query string) ([]article, error)
	top(ctx context.Context, country, category string) ([]article, error)
}

// ask asks NewsAPI where there is a key for it, and Google News where there is none, or it fails.
func (d Deps) ask(ctx context.Context, most int, question func(source) ([]article, error)) (provider string, list []article, note string, err error) {
	if most == 0 {
		most = standard
	}
	if key := remote.StoredKey(ctx, d.Log, d.Secret, "newsapi", "api_key"); key != "" {
		list, err = question(newsAPI{d, key})
		if ctx.Err() != nil {
			return "", nil, "", ctx.Err()
		}
		if err == nil {
			return "newsapi", finished(list, most), empty(list), nil
		}
		d.Log.Info("news service failed", "provider", "newsapi", "error", err)
		note = fmt.Sprintf("%s So Google News answered instead. ", errs.From(err).Message)
	}
	if list, err = question(googleNews{d}); err != nil {
		return "", nil, "", err
	}
	return "google_news", finished(list, most), strings.TrimSpace(note + empty(list)), nil
}

func empty(list []article) string {
	if len(list) == 0 {
		return "There are no such news."
	}
	return ""
}

// finished cuts articles to what was asked for, each once.
func finished(list []article, most int) []article {
	seen := map[string]bool{}
	out := []article{}
	for _, a := range list {
		a.Title, a.Summary, a.Source = textkit.PlainHTML(a.Title, maxTitle), textkit.PlainHTML(a.Summary, maxSummary), textkit.PlainHTML(a.Source, 100)
		if len(out) >= most || a.Title == "" || seen[a.Title] || len(a.URL) > maxAddress || !strings.HasPrefix(a.URL, "http://") && !strings.HasPrefix(a.URL, "https://") {
			continue
		}
		if strings.HasPrefix(a.Summary, a.Title) {
			a.Summary = "" // Google's summaries are the title again
		}
		seen[a.Title] = true
		out = append(out, a)
	}
	return out
}
