package timetool

import (
	"strings"
	"time"

	"sentient/backend/errs"
)

// layouts are how a moment may be written, those with a zone of their own first.
var (
	zoned    = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00", time.RFC1123Z, time.RFC1123}
	unzoned  = []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly, "2006/01/02", "2 January 2006", "January 2, 2006", "2 Jan 2006", "Jan 2, 2006"}
	timeOnly = []string{"15:04", "15:04:05", "3:04pm", "3pm"}
)

// moment reads a moment: a date, a time of today, both, or a word.
func (d Deps) moment(text string, z *time.Location) (t time.Time, note string, err error) {
	text = strings.TrimSpace(text)
	now := d.Clock.Now().In(z)
	midnight := func(days int) (time.Time, string, error) {
		t, note := wall(now.Year(), now.Month(), now.Day()+days, 0, 0, 0, z)
		return t, note, nil
	}
	switch strings.ToLower(text) {
	case "", "now":
		return now, "", nil
	case "today":
		return midnight(0)
	case "tomorrow":
		return midnight(1)
	case "yesterday":
		return midnight(-1)
	}
	if len(text) <= 64 {
		for _, l := range zoned {
			if t, err := time.Parse(l, text); err == nil {
				return inYears(t.In(z), "")
			}
		}
		for _, l := range unzoned {
			if t, err := time.Parse(l, text); err == nil {
				return inYears(wall(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), z))
			}
		}
		for _, l := range timeOnly {
			if t, err := time.Parse(l, strings.ToLower(strings.ReplaceAll(text, " ", ""))); err == nil {
				return inYears(wall(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), z))
			}
		}
	}
	return time.Time{}, "", errs.New(errs.Invalid, "time_unreadable", "This is no date or time that can be read. Write it like 2027-03-28, 2027-03-28 09:00 or now.")
}

// inYears keeps to the years that calendars have.
func inYears(t time.Time, note string) (time.Time, string, error) {
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, "", errs.New(errs.Invalid, "time_unreadable", "Sentient knows the years 1 to 9999 only.")
	}
	return t, note, nil
}
