package search

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"sentient/backend/errs"
	"sentient/backend/toolbox/remote"
)

// duckDuckGo searches by the page that DuckDuckGo makes for browsers without scripts.
func duckDuckGo(ctx context.Context, d Deps, query string) ([]result, error) {
	s := remote.Service{Name: "DuckDuckGo", Base: d.DuckDuckGo, Net: d.Net}
	page, _, err := s.Get(ctx, "/html/", url.Values{"q": {query}}, map[string]string{
		"User-Agent": "Mozilla/5.0 (compatible; Sentient)", "Accept": "text/html", "Accept-Language": "en;q=0.8,*;q=0.5",
	})
	switch errs.Code(err) {
	case remote.CodeKey, remote.CodeBusy:
		return nil, turnedAway(err)
	}
	if err != nil {
		return nil, err
	}
	root, err := parse(page)
	if err != nil {
		return nil, s.Unreadable(err)
	}
	list, says := readResults(root)
	switch {
	case len(list) > 0 || says == saysNothing:
		return list, nil
	case says == saysNo:
		return nil, turnedAway(errors.New("challenge"))
	}
	return nil, s.Unreadable(errors.New("no results and no word about them"))
}

func parse(page []byte) (*html.Node, error) { return html.Parse(bytes.NewReader(page)) }

func turnedAway(cause error) error {
	return errs.New(errs.Limited, "search_refused", "DuckDuckGo turned Sentient away for now, as it does after many searches. Try again in some minutes, or choose another search service in Settings > Integrations.").Because(cause)
}

// What a page without results says.
type word uint8

const (
	saysNeither word = iota
	saysNothing      // nothing was found
	saysNo           // prove that you are a person first
)

// readResults reads a page of results, of the larger and of the smaller form. Advertisements are left out.
func readResults(root *html.Node) (list []result, says word) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		class := classes(n)
		switch {
		case slices.Contains(class, "result--ad"):
			n.Data = "ad" // what is in it is met later
		case n.Data == "a" && (slices.Contains(class, "result__a") || slices.Contains(class, "result-link")):
			if address := target(attribute(n, "href")); address != "" && !inAd(n) {
				list = append(list, result{Title: oneLine(n), URL: address})
			}
		case slices.Contains(class, "result__snippet") || slices.Contains(class, "result-snippet"):
			if len(list) > 0 && list[len(list)-1].Snippet == "" && !inAd(n) {
				list[len(list)-1].Snippet = oneLine(n)
			}
		case slices.Contains(class, "no-results") || slices.Contains(class, "result--no-result"):
			says = saysNothing
		case strings.HasPrefix(attribute(n, "id"), "challenge") || slices.ContainsFunc(class, func(c string) bool { return strings.HasPrefix(c, "anomaly") }):
			says = saysNo
		}
	}
	return list, says
}

func inAd(n *html.Node) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Data == "ad" {
			return true
		}
	}
	return false
}

// target gives the address that a result leads to; the links lead there by way of DuckDuckGo.
func target(href string) string {
	if strings.HasPrefix(href, "//") {
		href = "https:" + href
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if u.Hostname() == "duckduckgo.com" || u.Hostname() == "" && strings.HasPrefix(u.Path, "/l/") {
		if strings.HasSuffix(u.Path, "/y.js") {
			return "" // an advertisement
		}
		return u.Query().Get("uddg")
	}
	return href
}

func classes(n *html.Node) []string { return strings.Fields(attribute(n, "class")) }

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func oneLine(n *html.Node) string {
	var b strings.Builder
	for inner := range n.Descendants() {
		if inner.Type == html.TextNode {
			b.WriteString(inner.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
