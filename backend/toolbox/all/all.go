// Package all names the plugins that come with Sentient, a line each. It is the only importer of all of them, beside tests.
package all

import (
	"context"
	"log/slog"

	"sentient/backend/clock"
	"sentient/backend/netx"
	"sentient/backend/tool"
	"sentient/backend/toolbox/charts"
	"sentient/backend/toolbox/files"
	"sentient/backend/toolbox/maps"
	"sentient/backend/toolbox/news"
	"sentient/backend/toolbox/search"
	"sentient/backend/toolbox/timetool"
	"sentient/backend/toolbox/weather"
	"sentient/backend/toolbox/web"
)

// Settings are the settings that plugins read, each time anew.
type Settings struct {
	Timezone          string // assistant.timezone
	Location          string // assistant.location
	Language          string // assistant.language
	SearchProvider    string // integrations.search_provider
	SearxngURL        string // integrations.searxng_url
	WeatherProvider   string // integrations.weather_provider
	NewsCountry       string // integrations.news_country
	WebFetchMaxChars  int    // integrations.web_fetch_max_chars
	ToolResultMaxChar int    // chat.tool_result_max_chars
}

// Deps are what the plugins need from outside.
type Deps struct {
	Dir      string // the data folder
	Net      *netx.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Settings func() Settings
	// Secret gives a stored key by its name (integration:brave_search …), "" when there is none.
	Secret func(ctx context.Context, name string) (string, error)
}

// Builtin makes the plugins, in the order in which they are listed and offered.
func Builtin(d Deps) []*tool.Plugin {
	s := d.Settings
	return []*tool.Plugin{
		files.New(files.Deps{Dir: d.Dir, ResultLimit: func() int { return s().ToolResultMaxChar }}),
		timetool.New(timetool.Deps{Clock: d.Clock, Zone: func() string { return s().Timezone }}),
		search.New(search.Deps{Net: d.Net, Log: d.Log, Secret: d.Secret, Settings: func() search.Settings {
			return search.Settings{Provider: s().SearchProvider, SearxngURL: s().SearxngURL}
		}}),
		web.New(web.Deps{Net: d.Net, MaxChars: func() int { return s().WebFetchMaxChars }}),
		news.New(news.Deps{Net: d.Net, Log: d.Log, Secret: d.Secret, Settings: func() news.Settings { return news.Settings{Country: s().NewsCountry, Language: s().Language} }}),
		weather.New(weather.Deps{Net: d.Net, Log: d.Log, Secret: d.Secret, Settings: func() weather.Settings {
			return weather.Settings{Provider: s().WeatherProvider, Location: s().Location, Language: s().Language}
		}}),
		maps.New(),
		charts.New(charts.Deps{Dir: d.Dir}),
	}
}
