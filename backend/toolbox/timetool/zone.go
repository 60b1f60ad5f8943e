package timetool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are known whatever the computer has installed

	"sentient/backend/errs"
)

// areas are where cities are looked for that are named without one.
var areas = []string{"Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic", "Indian", "America/Argentina", "America/Indiana", "America/Kentucky", "America/North_Dakota", "Antarctica", "Arctic", "US", "Canada"}

var offsetForm = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)

// zone finds a zone by its IANA name, a city's name, or an offset such as +05:30; "" is the person's own.
func (d Deps) zone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	switch strings.ToLower(name) {
	case "", "auto", "local", "home", "here":
		return d.home(), nil
	case "utc", "z", "gmt":
		return time.UTC, nil
	}
	if m := offsetForm.FindStringSubmatch(strings.ToUpper(name)); m != nil {
		return fixed(m)
	}
	if len(name) <= 64 {
		if z, err := time.LoadLocation(name); err == nil && name != "Local" {
			return z, nil
		}
		city := titled(name)
		for _, area := range areas {
			if z, err := time.LoadLocation(area + "/" + city); err == nil {
				return z, nil
			}
		}
		if z, err := time.LoadLocation(city); err == nil {
			return z, nil
		}
	}
	return nil, errs.New(errs.Invalid, "zone_unknown", "There is no such time zone. Use a name like Europe/Berlin or America/New_York, or an offset like +05:30.")
}

func fixed(m []string) (*time.Location, error) {
	hours, _ := strconv.Atoi(m[2]) // digits alone
	minutes, _ := strconv.Atoi("0" + m[3])
	if hours > 15 || minutes > 59 {
		return nil, errs.New(errs.Invalid, "zone_unknown", "There is no such time zone: offsets go from -12:00 to +14:00.")
	}
	seconds := hours*3600 + minutes*60
	if m[1] == "-" {
		seconds = -seconds
	}
	return time.FixedZone(fmt.Sprintf("UTC%s%02d:%02d", m[1], hours, minutes), seconds), nil
}

// titled writes a city as zone names do: new york becomes New_York, europe/berlin Europe/Berlin.
func titled(name string) string {
	up := true
	return strings.Map(func(r rune) rune {
		was := up
		up = r == ' ' || r == '_' || r == '/' || r == '-'
		switch {
		case r == ' ':
			return '_'
		case was:
			return []rune(strings.ToUpper(string(r)))[0]
		}
		return []rune(strings.ToLower(string(r)))[0]
	}, name)
}

// wall gives the moment at which clocks in a zone show a time, and what is odd about it: clocks that go forward skip a
// time, which is then counted as if they had not; clocks that go back show one twice, of which the first counts.
func wall(year int, month time.Month, day, hour, minute, second int, z *time.Location) (t time.Time, note string) {
	shown := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	moment := func(at time.Time) time.Time { // by the offset that holds at another moment
		_, offset := at.In(z).Zone()
		return shown.Add(-time.Duration(offset) * time.Second).In(z)
	}
	before, after := moment(shown.Add(-26*time.Hour)), moment(shown.Add(26*time.Hour))
	shows := func(t time.Time) bool { return t.Format(time.DateTime) == shown.Format(time.DateTime) }
	switch {
	case shows(before) && shows(after) && !before.Equal(after):
		if after.Before(before) {
			before = after
		}
		return before, shown.Format("15:04") + " comes twice on this day, as clocks go back; this is the first."
	case shows(before):
		return before, ""
	case shows(after):
		return after, ""
	}
	// Two changes within two days, or a time that is skipped.
	if t := time.Date(year, month, day, hour, minute, second, 0, z); shows(t) {
		return t, ""
	}
	return before, fmt.Sprintf("Clocks go forward and skip %s on this day; this is %s.", shown.Format("15:04"), before.Format("15:04"))
}
