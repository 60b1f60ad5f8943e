package weather

import (
	"context"
	"encoding/json"
	"errors"
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
	answer   map[string]string // by path; "500" and the like are statuses
	settings Settings
	key      string
	p        *tool.Plugin
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, answer: map[string]string{"/v1/search": places, "/v1/forecast": sky, "/locations/v1/cities/search": cities, "/currentconditions/v1/178087": current, "/forecasts/v1/daily/5day/178087": fiveDays}}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked = append(w.asked, r.URL.String())
		body, ok := w.answer[r.URL.Path]
		if status := map[string]int{"401": 401, "429": 429, "500": 500}[body]; status != 0 {
			rw.WriteHeader(status)
			return
		} else if !ok {
			http.NotFound(rw, r)
			return
		}
		io.WriteString(rw, body)
	}))
	t.Cleanup(s.Close)
	n := netx.New(netx.Options{Internet: netip.Addr.IsLoopback})
	t.Cleanup(n.Close)
	w.p = New(Deps{Net: n, Settings: func() Settings { return w.settings }, OpenMeteo: s.URL, Geocoding: s.URL, AccuWeather: s.URL,
		Secret: func(_ context.Context, name string) (string, error) {
			if name != "integration:accuweather" || w.key == "broken" {
				return "", errors.New("keychain is gone")
			}
			return w.key, nil
		}})
	return w
}

func (w *world) call(name, args string, c *tool.Context) (string, error) {
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
		if c == nil {
			c = &tool.Context{}
		}
		v, err := x.Run(w.t.Context(), c, prepared)
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			w.t.Fatal(err)
		}
		return string(raw), nil
	}
	w.t.Fatalf("no tool %s", name)
	return "", nil
}

const (
	places = `{"results":[{"name":"Paris","latitude":48.85341,"longitude":2.3488,"country":"France","country_code":"FR","admin1":"Île-de-France"},{"name":"Paris","latitude":33.66094,"longitude":-95.55551,"country":"United States","country_code":"US","admin1":"Texas"}]}`
	sky    = `{"current":{"time":"2027-03-26T10:15","temperature_2m":11.4,"apparent_temperature":9.8,"relative_humidity_2m":71,"precipitation":0.2,"weather_code":61,"wind_speed_10m":14.8,"wind_direction_10m":231,"wind_gusts_10m":33.1},
"daily":{"time":["2027-03-26","2027-03-27","2027-03-28"],"weather_code":[61,3,null],"temperature_2m_max":[13.1,15.0,null],"temperature_2m_min":[6.2,7.1,null],"precipitation_sum":[2.4,0,null],"precipitation_probability_max":[83,10,null],"wind_speed_10m_max":[22.1,18.0,null],"sunrise":["2027-03-26T06:38","2027-03-27T06:36","2027-03-28T07:34"],"sunset":["2027-03-26T19:10","2027-03-27T19:11"]}}`
	cities   = `[{"Key":"178087","LocalizedName":"Berlin","Country":{"LocalizedName":"Germany"},"AdministrativeArea":{"LocalizedName":"Berlin"}}]`
	current  = `[{"LocalObservationDateTime":"2027-03-26T10:15:00+01:00","WeatherText":"Mostly cloudy","Temperature":{"Metric":{"Value":8.1},"Imperial":{"Value":47}},"RelativeHumidity":60,"Wind":{"Direction":{"English":"WSW"},"Speed":{"Metric":{"Value":12},"Imperial":{"Value":7.5}}}}]`
	fiveDays = `{"DailyForecasts":[{"Date":"2027-03-26T07:00:00+01:00","Sun":{"Rise":"2027-03-26T05:58:00+01:00","Set":"2027-03-26T18:29:00+01:00"},"Temperature":{"Minimum":{"Value":2.1},"Maximum":{"Value":9.4}},"Day":{"IconPhrase":"Showers","PrecipitationProbability":55,"TotalLiquid":{"Value":1.2},"Wind":{"Speed":{"Value":20}}}}]}`
)

func TestConform(t *testing.T) {
	w := newWorld(t)
	conform.Plugin(t, w.p, conform.Case{Tool: "weather_current", Args: `{"place":"Paris"}`}, conform.Case{Tool: "weather_forecast", Args: `{"place":"Paris"}`})
}

func TestPlaces(t *testing.T) {
	w := newWorld(t)
	if _, err := w.call("weather_current", `{}`, nil); errs.Code(err) != "place_missing" || len(w.asked) > 0 {
		t.Errorf("%v, %v", err, w.asked)
	}
	w.settings.Location = "Paris, France"
	for _, c := range []struct {
		args  string
		ctx   *tool.Context
		place string
	}{
		{`{}`, nil, "Paris, Île-de-France, France"},
		{`{"place":"  Paris,   Texas "}`, nil, "Paris, Texas, United States"},
		{`{"place":"Paris, US"}`, nil, "Paris, Texas, United States"},
		{`{"place":"Paris, Nowhere"}`, nil, "Paris, Île-de-France, France"},
		{`{}`, &tool.Context{Incognito: true, Memory: true}, "Paris, Île-de-France, France"},
		{`{"place":"Paris"}`, &tool.Context{Incognito: true}, "Paris, Île-de-France, France"},
	} {
		got, err := w.call("weather_current", c.args, c.ctx)
		if err != nil || !strings.Contains(got, `"place":"`+c.place+`"`) {
			t.Errorf("%s: %s, %v", c.args, got, err)
		}
	}
	if _, err := w.call("weather_current", `{}`, &tool.Context{Incognito: true}); errs.Code(err) != "place_missing" {
		t.Error(err)
	}
	if _, err := w.call("weather_current", `{"place":"`+strings.Repeat("x", 101)+`"}`, nil); errs.Code(err) != codePlace || len(w.asked) > 0 {
		t.Error(err)
	}
	w.answer["/v1/search"] = `{"generationtime_ms":0.5}`
	if _, err := w.call("weather_current", `{"place":"Atlantis"}`, nil); errs.Code(err) != codePlace {
		t.Error(err)
	}
}

func TestOpenMeteo(t *testing.T) {
	w := newWorld(t)
	got, err := w.call("weather_current", `{"place":"Paris"}`, nil)
	want := `{"place":"Paris, Île-de-France, France","time":"2027-03-26T10:15","conditions":"light rain","temperature":11.4,"feels_like":9.8,"humidity_percent":71,"wind_speed":14.8,"wind_from":"SW","wind_gusts":33.1,"precipitation":0.2,"units":{"temperature":"°C","wind":"km/h","precipitation":"mm"},"provider":"open_meteo"}`
	if got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if len(w.asked) != 2 || w.asked[0] != "/v1/search?count=20&format=json&language=en&name=Paris" || !strings.Contains(w.asked[1], "latitude=48.8534&longitude=2.3488") || !strings.Contains(w.asked[1], "timezone=auto") {
		t.Errorf("it was asked %v", w.asked)
	}
	got, err = w.call("weather_forecast", `{"place":"Paris, Texas","days":3,"units":"imperial"}`, nil)
	want = `{"place":"Paris, Texas, United States","days":[{"date":"2027-03-26","weekday":"Friday","conditions":"light rain","high":13.1,"low":6.2,"rain_chance_percent":83,"precipitation":2.4,"wind_max":22.1,"sunrise":"06:38","sunset":"19:10"},{"date":"2027-03-27","weekday":"Saturday","conditions":"overcast","high":15,"low":7.1,"rain_chance_percent":10,"precipitation":0,"wind_max":18,"sunrise":"06:36","sunset":"19:11"}],"units":{"temperature":"°F","wind":"mph","precipitation":"in"},"provider":"open_meteo"}`
	if got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	for _, part := range []string{"temperature_unit=fahrenheit", "wind_speed_unit=mph", "precipitation_unit=inch", "forecast_days=3"} {
		if !strings.Contains(w.asked[1], part) {
			t.Errorf("it was asked %s", w.asked[1])
		}
	}
	if got, _ := w.call("weather_forecast", `{"place":"Paris","days":1}`, nil); strings.Count(got, `"date"`) != 1 {
		t.Error(got)
	}
}

func TestOpenMeteoThatFails(t *testing.T) {
	for body, code := range map[string]string{"500": "service_failed", "429": "service_busy", "<html>": "service_unreadable", "{}": "service_unreadable", `{"current":{},"daily":{"time":["x"]}}`: "service_unreadable", `[]`: "service_unreadable"} {
		for _, name := range []string{"weather_current", "weather_forecast"} {
			w := newWorld(t)
			w.answer["/v1/forecast"] = body
			if got, err := w.call(name, `{"place":"Paris"}`, nil); errs.Code(err) != code {
				t.Errorf("%s of %s: %s, %v", name, body, got, err)
			}
		}
	}
	w := newWorld(t)
	w.answer["/v1/search"] = "500"
	if _, err := w.call("weather_forecast", `{"place":"Paris"}`, nil); errs.Code(err) != "service_failed" {
		t.Error(err)
	}
}

func TestAccuWeather(t *testing.T) {
	w := newWorld(t)
	w.settings.Provider, w.key = "accuweather", `{"api_key":"k1"}`
	got, err := w.call("weather_current", `{"place":"Berlin","units":"imperial"}`, nil)
	want := `{"place":"Berlin, Germany","time":"2027-03-26T10:15:00+01:00","conditions":"mostly cloudy","temperature":47,"humidity_percent":60,"wind_speed":7.5,"wind_from":"WSW","units":{"temperature":"°F","wind":"mph","precipitation":"in"},"provider":"accuweather"}`
	if got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if strings.Join(w.asked, " ") != "/locations/v1/cities/search?apikey=k1&q=Berlin /currentconditions/v1/178087?apikey=k1&details=true" {
		t.Errorf("it was asked %v", w.asked)
	}
	got, err = w.call("weather_forecast", `{"place":"Berlin","days":7}`, nil)
	want = `{"place":"Berlin, Germany","days":[{"date":"2027-03-26","weekday":"Friday","conditions":"showers","high":9.4,"low":2.1,"rain_chance_percent":55,"precipitation":1.2,"wind_max":20,"sunrise":"05:58","sunset":"18:29"}],"units":{"temperature":"°C","wind":"km/h","precipitation":"mm"},"provider":"accuweather","note":"AccuWeather tells 5 days ahead."}`
	if got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	w.answer["/locations/v1/cities/search"] = `[]`
	if _, err := w.call("weather_current", `{"place":"Atlantis"}`, nil); errs.Code(err) != codePlace {
		t.Error(err)
	}
}

// What fails is stood in for, and that is said; the key is never in what is said.
func TestStandIn(t *testing.T) {
	for _, c := range []struct{ name, key, path, body, note string }{
		{"no key", "", "", "", "AccuWeather has no key yet"},
		{"a keychain that fails", "broken", "", "", "AccuWeather has no key yet"},
		{"a wrong key", "topsecret", "/locations/v1/cities/search", "401", "AccuWeather did not let Sentient in."},
		{"too often", "topsecret", "/currentconditions/v1/178087", "429", "AccuWeather was asked too often"},
		{"nonsense", "topsecret", "/currentconditions/v1/178087", "[{}]", "AccuWeather gave an answer"},
		{"an odd key of a place", "topsecret", "/locations/v1/cities/search", `[{"Key":"../x"}]`, "AccuWeather gave an answer"},
	} {
		w := newWorld(t)
		w.settings.Provider, w.key = "accuweather", c.key
		if c.path != "" {
			w.answer[c.path] = c.body
		}
		got, err := w.call("weather_current", `{"place":"Paris"}`, nil)
		if err != nil || !strings.Contains(got, `"provider":"open_meteo","note":"`+c.note) || !strings.Contains(got, "So Open-Meteo answered instead.") || strings.Contains(got, "topsecret") {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

func TestCompass(t *testing.T) {
	for degrees, want := range map[float64]string{0: "N", 11: "N", 12: "NNE", 90: "E", 231: "SW", 349: "N", 360: "N", -5: "N"} {
		if got := compass(degrees); got != want {
			t.Errorf("%v: %s", degrees, got)
		}
	}
}
