package search

import (
	"context"
	"net/url"
	"strconv"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/textkit"
	"sentient/backend/toolbox/remote"
)

// standard is the service that needs no key, and stands in for the others.
const standard = "duckduckgo"

// provider is a search service that the person chose.
type provider struct {
	search func(ctx context.Context, d Deps, s Settings, query string, most int) ([]result, error)
}

var providers = map[string]provider{"brave": {brave}, "google_cse": {google}, "searxng": {searxng}}

func errNoKey(name string) error {
	return errs.Newf(errs.Unavailable, "service_key_missing", "%s has no key yet; it can be set in Settings > Integrations.", name)
}

func brave(ctx context.Context, d Deps, _ Settings, query string, most int) ([]result, error) {
	key := d.key(ctx, "brave_search", "api_key")
	if key == "" {
		return nil, errNoKey("Brave Search")
	}
	var answer struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	s := remote.Service{Name: "Brave Search", Base: d.Brave, Net: d.Net}
	err := s.JSON(ctx, "/res/v1/web/search", url.Values{"q": {query}, "count": {strconv.Itoa(most)}}, map[string]string{"X-Subscription-Token": key, "Accept": "application/json"}, &answer)
	var list []result
	for _, r := range answer.Web.Results {
		list = append(list, result{plain(r.Title), r.URL, plain(r.Description)})
	}
	return list, err
}

func google(ctx context.Context, d Deps, _ Settings, query string, most int) ([]result, error) {
	key, engine := d.key(ctx, "google_cse", "api_key"), d.key(ctx, "google_cse", "cx")
	if key == "" || engine == "" {
		return nil, errNoKey("Google Search")
	}
	var answer struct {
		Items []struct{ Title, Link, Snippet string }
	}
	s := remote.Service{Name: "Google Search", Base: d.Google, Net: d.Net}
	err := s.JSON(ctx, "/customsearch/v1", url.Values{"key": {key}, "cx": {engine}, "q": {query}, "num": {strconv.Itoa(most)}}, nil, &answer)
	var list []result
	for _, r := range answer.Items {
		list = append(list, result{plain(r.Title), r.Link, plain(r.Snippet)})
	}
	return list, err
}

// searxng asks the person's own SearXNG, which may stand in the house.
func searxng(ctx context.Context, d Deps, settings Settings, query string, _ int) ([]result, error) {
	if settings.SearxngURL == "" {
		return nil, errs.New(errs.Unavailable, "service_key_missing", "SearXNG has no address yet; it can be set in Settings > Integrations.")
	}
	var answer struct {
		Results []struct{ Title, URL, Content string }
	}
	s := remote.Service{Name: "SearXNG", Base: settings.SearxngURL, Net: d.Net, Addresses: netx.Any}
	err := s.JSON(ctx, "/search", url.Values{"q": {query}, "format": {"json"}}, nil, &answer)
	var list []result
	for _, r := range answer.Results {
		list = append(list, result{plain(r.Title), r.URL, plain(r.Content)})
	}
	return list, err
}

// plain takes the marks that services put around what they found out of a text.
func plain(s string) string { return textkit.PlainHTML(s, 2*maxSnippet) }
