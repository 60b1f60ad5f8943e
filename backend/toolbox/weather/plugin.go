// Package weather is the plugin of the weather.
//
// It owns two tools, weather_current and weather_forecast, and the reading of two services: Open-Meteo, which needs no key,
// and AccuWeather. It promises numbers with their units, days in the place's own time, the name of the place that was found
// (so that the wrong Paris is seen), and a stand-in by Open-Meteo, with a note, when AccuWeather fails. A place that is left
// out is the person's own (assistant.location), but never in an incognito chat without memory.
package weather

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/obs"
	"sentient/backend/tool"
	"sentient/backend/toolbox/remote"
)

//go:embed weather_forecast.md
var forecastDescription string

// Settings are read at each call.
type Settings struct {
	Provider string // open_meteo, accuweather (integrations.weather_provider); "" is open_meteo
	Location string // assistant.location
	Language string // assistant.language, for place names
}

// Deps are what the plugin needs from outside. The addresses are those of the services; tests set others.
type Deps struct {
	Net      *netx.Client
	Log      *slog.Logger
	Settings func() Settings
	Secret   func(ctx context.Context, name string) (string, error)

	OpenMeteo, Geocoding, AccuWeather string
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
	d.OpenMeteo = cmp.Or(d.OpenMeteo, "https://api.open-meteo.com")
	d.Geocoding = cmp.Or(d.Geocoding, "https://geocoding-api.open-meteo.com")
	d.AccuWeather = cmp.Or(d.AccuWeather, "https://dataservice.accuweather.com")
	return &tool.Plugin{
		ID: "weather", Name: "Weather", Description: "Tells the weather now and in the next days.", Category: "utilities", Icon: "cloud", Auth: "builtin", Trusted: true, Public: true,
		Hint:  "weather forecast temperature rain snow sun wind cloud storm hot cold umbrella jacket coat degrees celsius fahrenheit humidity sunny warm wetter regen tiempo clima lluvia météo pluie 天气 天気",
		Tools: []*tool.Tool{d.current(), d.forecast()},
	}
}

type currentIn struct {
	Place string `json:"place,omitempty" doc:"A city, such as Paris or Paris, Texas; left out: where the user is."`
	Units string `json:"units,omitempty" doc:"metric when left out." enum:"metric,imperial"`
}

type forecastIn struct {
	Place string `json:"place,omitempty" doc:"A city, such as Paris or Paris, Texas; left out: where the user is."`
	Days  int    `json:"days,omitempty" doc:"How many days, today included; 3 when left out." min:"1" max:"14"`
	Units string `json:"units,omitempty" doc:"metric when left out." enum:"metric,imperial"`
}

// Now is what weather_current gives.
type Now struct {
	Place           string   `json:"place"`
	Time            string   `json:"time"` // there
	Conditions      string   `json:"conditions"`
	Temperature     float64  `json:"temperature"`
	FeelsLike       *float64 `json:"feels_like,omitempty"`
	HumidityPercent *float64 `json:"humidity_percent,omitempty"`
	WindSpeed       *float64 `json:"wind_speed,omitempty"`
	WindFrom        string   `json:"wind_from,omitempty"` // N, NNE …
	WindGusts       *float64 `json:"wind_gusts,omitempty"`
	Precipitation   *float64 `json:"precipitation,omitempty"`
	Units           Units    `json:"units"`
	Provider        string   `json:"provider"`
	Note            string   `json:"note,omitempty"`
}

// Forecast is what weather_forecast gives.
type Forecast struct {
	Place    string `json:"place"`
	Days     []Day  `json:"days"`
	Units    Units  `json:"units"`
	Provider string `json:"provider"`
	Note     string `json:"note,omitempty"`
}

// Day is one day of a forecast.
type Day struct {
	Date              string   `json:"date"`
	Weekday           string   `json:"weekday"`
	Conditions        string   `json:"conditions"`
	High              float64  `json:"high"`
	Low               float64  `json:"low"`
	RainChancePercent *float64 `json:"rain_chance_percent,omitempty"`
	Precipitation     *float64 `json:"precipitation,omitempty"`
	WindMax           *float64 `json:"wind_max,omitempty"`
	Sunrise           string   `json:"sunrise,omitempty"`
	Sunset            string   `json:"sunset,omitempty"`
}

// Units say what the numbers are in.
type Units struct {
	Temperature   string `json:"temperature"`
	Wind          string `json:"wind"`
	Precipitation string `json:"precipitation"`
}

func unitsOf(name string) Units {
	if name == "imperial" {
		return Units{"°F", "mph", "in"}
	}
	return Units{"°C", "km/h", "mm"}
}

func (d Deps) current() *tool.Tool {
	return tool.New(tool.Def[currentIn]{
		Name:        "weather_current",
		Description: "Tell the weather right now in a place: conditions, temperature, wind, rain.",
		Risk:        tool.Read,
		Run: func(ctx context.Context, c *tool.Context, in currentIn) (any, error) {
			place, err := d.place(c, in.Place)
			if err != nil {
				return nil, err
			}
			now, note, err := answer(ctx, d, func(s source) (Now, error) { return s.now(ctx, place, in.Units) })
			now.Note = note
			return now, err
		},
	})
}

func (d Deps) forecast() *tool.Tool {
	return tool.New(tool.Def[forecastIn]{
		Name: "weather_forecast", Description: strings.TrimSpace(forecastDescription), Risk: tool.Read,
		Run: func(ctx context.Context, c *tool.Context, in forecastIn) (any, error) {
			place, err := d.place(c, in.Place)
			if err != nil {
				return nil, err
			}
			if in.Days == 0 {
				in.Days = 3
			}
			days, note, err := answer(ctx, d, func(s source) (Forecast, error) { return s.days(ctx, place, in.Days, in.Units) })
			days.Note = strings.TrimSpace(note + " " + days.Note)
			return days, err
		},
	})
}

// source is a service that knows the weather.
type source interface {
	now(ctx context.Context, place, units string) (Now, error)
	days(ctx context.Context, place string, days int, units string) (Forecast, error)
}

// answer asks the service that the person chose, and Open-Meteo where it fails.
func answer[T any](ctx context.Context, d Deps, ask func(source) (T, error)) (value T, note string, err error) {
	if d.Settings().Provider == "accuweather" {
		key := remote.StoredKey(ctx, d.Log, d.Secret, "accuweather", "api_key")
		if key == "" {
			note = "AccuWeather has no key yet; it can be set in Settings > Integrations. So Open-Meteo answered instead."
		} else if value, err = ask(accuWeather{d, key}); err == nil || ctx.Err() != nil || errs.Code(err) == codePlace {
			return value, "", err
		} else {
			d.Log.Info("weather service failed", "provider", "accuweather", "error", err)
			note = fmt.Sprintf("%s So Open-Meteo answered instead.", errs.From(err).Message)
		}
	}
	value, err = ask(openMeteo{d})
	return value, note, err
}

const codePlace = "place_unknown"

func errPlace() error {
	return errs.New(errs.NotFound, codePlace, "No place of this name was found. Name a city, with its country if there are several.")
}

// place gives the place that is meant.
func (d Deps) place(c *tool.Context, named string) (string, error) {
	named = words(named)
	if named == "" && !(c != nil && c.Incognito && !c.Memory) {
		named = words(d.Settings().Location)
	}
	if named == "" {
		return "", errs.New(errs.Invalid, "place_missing", "It is not known where the user is. Name a place, or ask the user; a location can be set in Settings.")
	}
	if len([]rune(named)) > 100 {
		return "", errPlace()
	}
	return named, nil
}

func words(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", " ")), " ")
}

// compass names where a wind comes from.
func compass(degrees float64) string {
	names := []string{"N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"}
	i := int((degrees+11.25)/22.5) % len(names)
	return names[max(i, 0)]
}
