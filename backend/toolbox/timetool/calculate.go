package timetool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"sentient/backend/tool"
)

//go:embed time_calculate.md
var calculateDescription string

type calculateIn struct {
	Operation string  `json:"operation" doc:"difference: from and to apart; add: the amounts to from; convert: from into to_zone." enum:"difference,add,convert"`
	From      string  `json:"from,omitempty" doc:"Such as 2027-03-28, 2027-03-28 09:00, 18:30; now when left out."`
	To        string  `json:"to,omitempty" doc:"Like from."`
	Zone      string  `json:"zone,omitempty" doc:"Of from and to; the user's when left out."`
	ToZone    string  `json:"to_zone,omitempty" doc:"Such as Asia/Tokyo."`
	Years     int     `json:"years,omitempty" doc:"May be negative, like all amounts." min:"-9999" max:"9999"`
	Months    int     `json:"months,omitempty" doc:"Calendar months." min:"-99999" max:"99999"`
	Days      int     `json:"days,omitempty" doc:"Calendar days." min:"-9999999" max:"9999999"`
	Workdays  int     `json:"workdays,omitempty" doc:"Mondays to Fridays." min:"-99999" max:"99999"`
	Hours     float64 `json:"hours,omitempty" doc:"Hours that pass." min:"-9999999" max:"9999999"`
	Minutes   float64 `json:"minutes,omitempty" doc:"Minutes that pass." min:"-999999999" max:"999999999"`
}

// calculated is what time_calculate gives.
type calculated struct {
	From   told   `json:"from"`
	To     *told  `json:"to,omitempty"`     // difference
	Result *told  `json:"result,omitempty"` // add, convert
	Span   *span  `json:"difference,omitempty"`
	Note   string `json:"note,omitempty"`
}

// span is how far two moments are apart. The amounts are never negative; Sign says which came first.
type span struct {
	Sign         int     `json:"sign"`          // -1: to is before from
	Text         string  `json:"text"`          // "2 years, 1 month, 3 days"
	CalendarDays int     `json:"calendar_days"` // midnights between them
	Workdays     int     `json:"workdays"`      // Mondays to Fridays, of the days from the first to before the second
	Weeks        float64 `json:"weeks"`
	Hours        float64 `json:"hours"` // that pass
	Minutes      float64 `json:"minutes"`
	Seconds      float64 `json:"seconds"`
}

func (d Deps) calculate() *tool.Tool {
	return tool.New(tool.Def[calculateIn]{Name: "time_calculate", Description: strings.TrimSpace(calculateDescription), Risk: tool.Read, Run: d.runCalculate})
}

func (d Deps) runCalculate(ctx context.Context, _ *tool.Context, in calculateIn) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z, err := d.zone(in.Zone)
	if err != nil {
		return nil, err
	}
	from, note, err := d.moment(in.From, z)
	if err != nil {
		return nil, err
	}
	out := calculated{From: tell(from), Note: note}
	switch in.Operation {
	case "difference":
		to, note, err := d.moment(in.To, z)
		if err != nil {
			return nil, err
		}
		between := apart(from, to)
		at := tell(to)
		out.To, out.Span, out.Note = &at, &between, joined(out.Note, note)
	case "convert":
		other, err := d.zone(in.ToZone)
		if err != nil {
			return nil, err
		}
		at := tell(from.In(other))
		out.Result = &at
	default:
		t, note, err := add(from, in)
		if err != nil {
			return nil, err
		}
		at := tell(t)
		out.Result, out.Note = &at, joined(out.Note, note)
	}
	return out, nil
}

func joined(a, b string) string { return strings.TrimSpace(a + " " + b) }

// add goes forward on the calendar first, then by the hours that pass. A month without the day ends on its last.
func add(t time.Time, in calculateIn) (time.Time, string, error) {
	note := ""
	if in.Years|in.Months|in.Days|in.Workdays != 0 {
		year, month, day := t.Date()
		months := year*12 + int(month) - 1 + in.Years*12 + in.Months
		year, month = floorDiv(months, 12), time.Month(months-floorDiv(months, 12)*12+1)
		if last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day(); day > last {
			day, note = last, "That month is shorter, so its last day counts."
		}
		date := time.Date(year, month, day+in.Days, 0, 0, 0, 0, time.UTC)
		date = addWorkdays(date, in.Workdays)
		if _, _, err := inYears(date, ""); err != nil {
			return t, "", err
		}
		at, odd := wall(date.Year(), date.Month(), date.Day(), t.Hour(), t.Minute(), t.Second(), t.Location())
		t, note = at, joined(note, odd)
	}
	seconds := in.Hours*3600 + in.Minutes*60
	const century = 100 * 366 * 24 * 3600
	for ; seconds > century; seconds -= century {
		t = t.Add(century * time.Second)
	}
	for ; seconds < -century; seconds += century {
		t = t.Add(-century * time.Second)
	}
	return inYears(t.Add(time.Duration(seconds*float64(time.Second))), note)
}

func floorDiv(a, b int) int {
	if q := a / b; a%b >= 0 {
		return q
	}
	return a/b - 1
}

// addWorkdays counts Mondays to Fridays; whole weeks at once.
func addWorkdays(date time.Time, n int) time.Time {
	step := 1
	if n < 0 {
		step = -1
	}
	date = date.AddDate(0, 0, n/5*7)
	for left := n % 5; left != 0; {
		date = date.AddDate(0, 0, step)
		if isWorkday(date) {
			left -= step
		}
	}
	for n != 0 && !isWorkday(date) { // whole weeks from a weekend
		date = date.AddDate(0, 0, -step)
	}
	return date
}

func isWorkday(t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday }

// apart tells how far two moments are apart, by the calendar of the first one's zone and by what passes.
func apart(from, to time.Time) span {
	s := span{Sign: 1}
	to = to.In(from.Location())
	if to.Before(from) {
		from, to, s.Sign = to, from, -1
	}
	if from.Equal(to) {
		s.Sign = 0
	}
	first, second := dateOf(from), dateOf(to)
	s.CalendarDays = int((second.Unix() - first.Unix()) / 86400)
	s.Workdays = workdaysBetween(first, s.CalendarDays)
	passed := float64(to.Unix()-from.Unix()) + float64(to.Nanosecond()-from.Nanosecond())/1e9
	s.Seconds, s.Minutes, s.Hours, s.Weeks = rounded(passed), rounded(passed/60), rounded(passed/3600), rounded(float64(s.CalendarDays)/7)
	s.Text = inWords(from, to)
	return s
}

// dateOf is a day as a number that no change of the clocks disturbs.
func dateOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func rounded(f float64) float64 {
	return float64(int64(f*100+0.5)) / 100
}

func workdaysBetween(first time.Time, days int) int {
	count := days / 7 * 5
	for i := range days % 7 {
		if isWorkday(first.AddDate(0, 0, i)) {
			count++
		}
	}
	return count
}

// inWords counts years, months and days on the calendar, and what is left as it passes.
func inWords(from, to time.Time) string {
	months := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	at := func(months, days int) time.Time {
		t, _, err := add(from, calculateIn{Months: months, Days: days})
		if err != nil {
			return to.Add(time.Hour) // beyond the calendar
		}
		return t
	}
	for months > 0 && at(months, 0).After(to) {
		months--
	}
	days := max(int((dateOf(to).Unix()-dateOf(at(months, 0)).Unix())/86400), 0)
	for days > 0 && at(months, days).After(to) {
		days--
	}
	rest := from
	if months|days != 0 {
		rest = at(months, days)
	}
	left := to.Sub(rest)
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{months / 12, "year"}, {months % 12, "month"}, {days, "day"}, {int(left / time.Hour), "hour"}, {int(left / time.Minute % 60), "minute"}, {int(left / time.Second % 60), "second"}} {
		if p.n == 1 {
			parts = append(parts, "1 "+p.name)
		} else if p.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.name))
		}
	}
	if len(parts) == 0 {
		return "no time"
	}
	return strings.Join(parts, ", ")
}
