package weather

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sentient/backend/toolbox/remote"
)

// openMeteo is the service that needs no key.
type openMeteo struct{ d Deps }

func (o openMeteo) service() remote.Service {
	return remote.Service{Name: "Open-Meteo", Base: o.d.OpenMeteo, Net: o.d.Net}
}

// spot is a place that was found.
type spot struct {
	Name, Country, Admin1 string
	CountryCode           string `json:"country_code"`
	Latitude, Longitude   float64
}

func (s spot) String() string {
	parts := []string{s.Name}
	if s.Admin1 != "" && s.Admin1 != s.Name {
		parts = append(parts, s.Admin1)
	}
	if s.Country != "" {
		parts = append(parts, s.Country)
	}
	return strings.Join(parts, ", ")
}

// find looks a place up. The service knows names alone: what stands behind a comma chooses among those of the same name.
func (o openMeteo) find(ctx context.Context, place string) (spot, error) {
	name, rest, _ := strings.Cut(place, ",")
	language := o.d.Settings().Language
	if language == "" {
		language = "en"
	}
	var answer struct{ Results []spot }
	s := remote.Service{Name: "Open-Meteo", Base: o.d.Geocoding, Net: o.d.Net}
	err := s.JSON(ctx, "/v1/search", url.Values{"name": {strings.TrimSpace(name)}, "count": {"20"}, "language": {language}, "format": {"json"}}, nil, &answer)
	if err != nil {
		return spot{}, err
	}
	if len(answer.Results) == 0 {
		return spot{}, errPlace()
	}
	best, most := answer.Results[0], -1
	for _, r := range answer.Results {
		if n := fits(r, rest); n > most {
			best, most = r, n
		}
	}
	return best, nil
}

// fits counts the words behind a place's name that are about a place.
func fits(s spot, rest string) int {
	n := 0
	about := strings.ToLower(s.Admin1 + " " + s.Country + " ")
	for _, w := range strings.FieldsFunc(strings.ToLower(rest), func(r rune) bool { return r == ',' || r == ' ' }) {
		if strings.Contains(about, w) && len(w) > 2 || w == strings.ToLower(s.CountryCode) {
			n++
		}
	}
	return n
}

func (o openMeteo) query(s spot, units string) url.Values {
	q := url.Values{"latitude": {strconv.FormatFloat(s.Latitude, 'f', 4, 64)}, "longitude": {strconv.FormatFloat(s.Longitude, 'f', 4, 64)}, "timezone": {"auto"}}
	if units == "imperial" {
		q.Set("temperature_unit", "fahrenheit")
		q.Set("wind_speed_unit", "mph")
		q.Set("precipitation_unit", "inch")
	}
	return q
}

func (o openMeteo) now(ctx context.Context, place, units string) (Now, error) {
	s, err := o.find(ctx, place)
	if err != nil {
		return Now{}, err
	}
	q := o.query(s, units)
	q.Set("current", "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m,wind_direction_10m,wind_gusts_10m")
	var answer struct {
		Current *struct {
			Time          string
			Temperature   *float64 `json:"temperature_2m"`
			FeelsLike     *float64 `json:"apparent_temperature"`
			Humidity      *float64 `json:"relative_humidity_2m"`
			Precipitation *float64
			Code          int      `json:"weather_code"`
			WindSpeed     *float64 `json:"wind_speed_10m"`
			WindFrom      *float64 `json:"wind_direction_10m"`
			WindGusts     *float64 `json:"wind_gusts_10m"`
		}
	}
	if err := o.service().JSON(ctx, "/v1/forecast", q, nil, &answer); err != nil {
		return Now{}, err
	}
	c := answer.Current
	if c == nil || c.Temperature == nil {
		return Now{}, o.service().Unreadable(errors.New("no current weather"))
	}
	now := Now{Place: s.String(), Time: c.Time, Conditions: conditions(c.Code), Temperature: *c.Temperature, FeelsLike: c.FeelsLike, HumidityPercent: c.Humidity,
		WindSpeed: c.WindSpeed, WindGusts: c.WindGusts, Precipitation: c.Precipitation, Units: unitsOf(units), Provider: "open_meteo"}
	if c.WindFrom != nil {
		now.WindFrom = compass(*c.WindFrom)
	}
	return now, nil
}

func (o openMeteo) days(ctx context.Context, place string, days int, units string) (Forecast, error) {
	s, err := o.find(ctx, place)
	if err != nil {
		return Forecast{}, err
	}
	q := o.query(s, units)
	q.Set("daily", "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max,sunrise,sunset")
	q.Set("forecast_days", strconv.Itoa(days))
	var answer struct {
		Daily struct {
			Time            []string
			Code            []*float64 `json:"weather_code"`
			High            []*float64 `json:"temperature_2m_max"`
			Low             []*float64 `json:"temperature_2m_min"`
			Precipitation   []*float64 `json:"precipitation_sum"`
			RainChance      []*float64 `json:"precipitation_probability_max"`
			WindMax         []*float64 `json:"wind_speed_10m_max"`
			Sunrise, Sunset []string
		}
	}
	if err := o.service().JSON(ctx, "/v1/forecast", q, nil, &answer); err != nil {
		return Forecast{}, err
	}
	f := Forecast{Place: s.String(), Days: []Day{}, Units: unitsOf(units), Provider: "open_meteo"}
	a := answer.Daily
	for i, date := range a.Time {
		high, low := at(a.High, i), at(a.Low, i)
		if high == nil || low == nil || i >= days {
			continue // beyond what is known
		}
		day := Day{Date: date, Weekday: weekday(date), High: *high, Low: *low, Precipitation: at(a.Precipitation, i), RainChancePercent: at(a.RainChance, i), WindMax: at(a.WindMax, i),
			Sunrise: timeOf(a.Sunrise, i), Sunset: timeOf(a.Sunset, i)}
		if code := at(a.Code, i); code != nil {
			day.Conditions = conditions(int(*code))
		}
		f.Days = append(f.Days, day)
	}
	if len(f.Days) == 0 {
		return Forecast{}, o.service().Unreadable(errors.New("no days"))
	}
	return f, nil
}

func at(list []*float64, i int) *float64 {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func timeOf(list []string, i int) string {
	if i >= len(list) {
		return ""
	}
	_, clock, _ := strings.Cut(list[i], "T")
	return clock
}

func weekday(date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return ""
	}
	return t.Weekday().String()
}

// conditions words a code of the World Meteorological Organization (table 4677, as Open-Meteo uses it).
func conditions(code int) string {
	if words, ok := wmo[code]; ok {
		return words
	}
	return "unknown"
}

var wmo = map[int]string{
	0: "clear", 1: "mostly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "freezing fog", 51: "light drizzle", 53: "drizzle", 55: "heavy drizzle",
	56: "light freezing drizzle", 57: "freezing drizzle", 61: "light rain", 63: "rain", 65: "heavy rain", 66: "light freezing rain", 67: "freezing rain",
	71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains", 80: "light showers", 81: "showers", 82: "violent showers", 85: "light snow showers", 86: "heavy snow showers",
	95: "thunderstorm", 96: "thunderstorm with light hail", 99: "thunderstorm with heavy hail",
}
