package news

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"sentient/backend/clock"
	"sentient/backend/toolbox/remote"
)

// googleNews reads the feeds of Google News.
type googleNews struct{ d Deps }

// edition says in which language and of which country the news are.
func (g googleNews) edition(country string) url.Values {
	language := g.d.Settings().Language
	if language == "" {
		language = "en"
	}
	if country == "" {
		country = strings.ToLower(g.d.Settings().Country)
	}
	if country == "" {
		country = "us"
	}
	country = strings.ToUpper(country)
	return url.Values{"hl": {language}, "gl": {country}, "ceid": {country + ":" + language}}
}

func (g googleNews) about(ctx context.Context, query string) ([]article, error) {
	q := g.edition("")
	q.Set("q", query)
	return g.feed(ctx, "/rss/search", q)
}

func (g googleNews) top(ctx context.Context, country, category string) ([]article, error) {
	path := "/rss"
	if category == "" && country == "" {
		category = "world"
	}
	if category != "" {
		path = "/rss/headlines/section/topic/" + strings.ToUpper(category)
	}
	return g.feed(ctx, path, g.edition(country))
}

// feed is an RSS feed as far as it is read.
type feed struct {
	XMLName xml.Name
	Items   []struct {
		Title       string `xml:"title"`
		Link        string `xml:"link"`
		Published   string `xml:"pubDate"`
		Description string `xml:"description"`
		Source      string `xml:"source"`
	} `xml:"channel>item"`
}

func (g googleNews) feed(ctx context.Context, path string, query url.Values) ([]article, error) {
	s := remote.Service{Name: "Google News", Base: g.d.GoogleNews, Net: g.d.Net}
	body, _, err := s.Get(ctx, path, query, map[string]string{"Accept": "application/rss+xml, application/xml"})
	if err != nil {
		return nil, err
	}
	f, err := parse(body)
	if err != nil {
		return nil, s.Unreadable(err)
	}
	var list []article
	for _, i := range f.Items {
		title := strings.TrimSpace(i.Title)
		if source := strings.TrimSpace(i.Source); source != "" {
			title = strings.TrimSuffix(title, " - "+source)
		}
		list = append(list, article{Title: title, Source: i.Source, URL: strings.TrimSpace(i.Link), PublishedAt: stamp(i.Published), Summary: i.Description})
	}
	return list, nil
}

// parse reads a feed. The standard decoder knows no entities but those of the language, and bounds how deep a feed nests.
func parse(body []byte) (feed, error) {
	var f feed
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict, d.Entity, d.CharsetReader = false, xml.HTMLEntity, charset.NewReaderLabel
	if err := d.Decode(&f); err != nil {
		return feed{}, err
	}
	if f.XMLName.Local != "rss" {
		return feed{}, &xml.SyntaxError{Msg: "no feed", Line: 1}
	}
	return f, nil
}

// stamp writes a time of a feed, or of NewsAPI, as Sentient does; "" when it cannot be read.
func stamp(text string) string {
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, time.RFC3339, time.RFC822, time.RFC822Z} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return clock.Stamp(t)
		}
	}
	return ""
}

// newsAPI is the service of people who have a key for it.
type newsAPI struct {
	d   Deps
	key string
}

func (n newsAPI) about(ctx context.Context, query string) ([]article, error) {
	q := url.Values{"q": {query}, "sortBy": {"publishedAt"}, "pageSize": {"20"}}
	if language := n.d.Settings().Language; len(language) == 2 {
		q.Set("language", language)
	}
	return n.get(ctx, "/v2/everything", q)
}

// categories are NewsAPI's names of what it has no other words for.
var categories = map[string]string{"world": "general", "nation": "general"}

func (n newsAPI) top(ctx context.Context, country, category string) ([]article, error) {
	q := url.Values{"pageSize": {"20"}}
	if country != "" {
		q.Set("country", country)
	}
	if name := categories[category]; name != "" {
		category = name
	}
	if category == "" && country == "" {
		category = "general"
	}
	if category != "" {
		q.Set("category", category)
	}
	return n.get(ctx, "/v2/top-headlines", q)
}

func (n newsAPI) get(ctx context.Context, path string, query url.Values) ([]article, error) {
	s := remote.Service{Name: "NewsAPI", Base: n.d.NewsAPI, Net: n.d.Net}
	var answer struct {
		Articles []struct {
			Source                               struct{ Name string }
			Title, Description, URL, PublishedAt string
		}
	}
	if err := s.JSON(ctx, path, query, map[string]string{"X-Api-Key": n.key}, &answer); err != nil {
		return nil, err
	}
	var list []article
	for _, a := range answer.Articles {
		if a.Title != "[Removed]" {
			list = append(list, article{Title: a.Title, Source: a.Source.Name, URL: a.URL, PublishedAt: stamp(a.PublishedAt), Summary: a.Description})
		}
	}
	return list, nil
}
