package weather

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"sentient/backend/toolbox/remote"
)

// accuWeather is the service of people who have a key for it.
type accuWeather struct {
	d   Deps
	key string
}

func (a accuWeather) service() remote.Service {
	return remote.Service{Name: "AccuWeather", Base: a.d.AccuWeather, Net: a.d.Net}
}

// location is a place that was found.
type location struct {
	Key                string
	LocalizedName      string
	Country            struct{ LocalizedName string }
	AdministrativeArea struct{ LocalizedName string }
}

func (l location) String() string {
	return spot{Name: l.LocalizedName, Admin1: l.AdministrativeArea.LocalizedName, Country: l.Country.LocalizedName}.String()
}

func (a accuWeather) find(ctx context.Context, place string) (location, error) {
	var list []location
	if err := a.service().JSON(ctx, "/locations/v1/cities/search", a.query("q", place), nil, &list); err != nil {
		return location{}, err
	}
	if len(list) == 0 {
		return location{}, errPlace()
	}
	if list[0].Key == "" || strings.ContainsAny(list[0].Key, "/?#") {
		return location{}, a.service().Unreadable(errors.New("no key of a place"))
	}
	return list[0], nil
}

func (a accuWeather) query(pairs ...string) url.Values {
	q := url.Values{"apikey": {a.key}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// measure is a number in both systems.
type measure struct{ Metric, Imperial struct{ Value *float64 } }

func (m measure) in(units string) *float64 {
	if units == "imperial" {
		return m.Imperial.Value
	}
	return m.Metric.Value
}

func (a accuWeather) now(ctx context.Context, place, units string) (Now, error) {
	l, err := a.find(ctx, place)
	if err != nil {
		return Now{}, err
	}
	var list []struct {
		LocalObservationDateTime string
		WeatherText              string
		Temperature              measure
		RealFeelTemperature      measure
		RelativeHumidity         *float64
		Wind                     struct {
			Speed     measure
			Direction struct{ English string }
		}
		WindGust struct{ Speed measure }
		Precip1h measure `json:"Precip1hr"`
	}
	if err := a.service().JSON(ctx, "/currentconditions/v1/"+l.Key, a.query("details", "true"), nil, &list); err != nil {
		return Now{}, err
	}
	if len(list) == 0 || list[0].Temperature.in(units) == nil {
		return Now{}, a.service().Unreadable(errors.New("no current weather"))
	}
	n := list[0]
	return Now{Place: l.String(), Time: n.LocalObservationDateTime, Conditions: strings.ToLower(n.WeatherText), Temperature: *n.Temperature.in(units), FeelsLike: n.RealFeelTemperature.in(units),
		HumidityPercent: n.RelativeHumidity, WindSpeed: n.Wind.Speed.in(units), WindFrom: n.Wind.Direction.English, WindGusts: n.WindGust.Speed.in(units), Precipitation: n.Precip1h.in(units),
		Units: unitsOf(units), Provider: "accuweather"}, nil
}

// mostDays is how far AccuWeather's free forecast goes.
const mostDays = 5

func (a accuWeather) days(ctx context.Context, place string, days int, units string) (Forecast, error) {
	l, err := a.find(ctx, place)
	if err != nil {
		return Forecast{}, err
	}
	type half struct {
		IconPhrase               string
		PrecipitationProbability *float64
		TotalLiquid              struct{ Value *float64 }
		Wind                     struct{ Speed struct{ Value *float64 } }
	}
	var answer struct {
		DailyForecasts []struct {
			Date        string
			Temperature struct{ Minimum, Maximum struct{ Value *float64 } }
			Day         half
			Sun         struct{ Rise, Set string }
		}
	}
	if err := a.service().JSON(ctx, "/forecasts/v1/daily/5day/"+l.Key, a.query("details", "true", "metric", fmt.Sprint(units != "imperial")), nil, &answer); err != nil {
		return Forecast{}, err
	}
	f := Forecast{Place: l.String(), Days: []Day{}, Units: unitsOf(units), Provider: "accuweather"}
	for _, d := range answer.DailyForecasts {
		if d.Temperature.Maximum.Value == nil || d.Temperature.Minimum.Value == nil || len(f.Days) >= days {
			continue
		}
		date, _, _ := strings.Cut(d.Date, "T")
		f.Days = append(f.Days, Day{Date: date, Weekday: weekday(date), Conditions: strings.ToLower(d.Day.IconPhrase), High: *d.Temperature.Maximum.Value, Low: *d.Temperature.Minimum.Value,
			RainChancePercent: d.Day.PrecipitationProbability, Precipitation: d.Day.TotalLiquid.Value, WindMax: d.Day.Wind.Speed.Value, Sunrise: minuteOf(d.Sun.Rise), Sunset: minuteOf(d.Sun.Set)})
	}
	if len(f.Days) == 0 {
		return Forecast{}, a.service().Unreadable(errors.New("no days"))
	}
	if days > mostDays {
		f.Note = fmt.Sprintf("AccuWeather tells %d days ahead.", mostDays)
	}
	return f, nil
}

// minuteOf gives hours and minutes of a moment.
func minuteOf(moment string) string {
	_, clock, _ := strings.Cut(moment, "T")
	return clock[:min(len(clock), 5)]
}
