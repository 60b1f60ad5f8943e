// Package timetool is the plugin of the time: what time it is anywhere, arithmetic with dates, and waiting.
//
// It owns three tools: time_now, time_calculate and time_sleep. It promises that days, weeks, months and years are counted
// on the calendar of the zone (09:00 plus one day is 09:00) and hours, minutes and seconds as they pass, so that a change
// of the clocks is right either way; that a time the clocks skip or show twice is said to be one; and that waiting ends
// with its call. It sets no timers: reminders are elsewhere.
package timetool

import (
	"time"

	"sentient/backend/clock"
	"sentient/backend/tool"
)

// Deps are what the plugin needs from outside.
type Deps struct {
	Clock clock.Clock
	Zone  func() string // the person's zone (assistant.timezone): an IANA name; "" and "auto" are the computer's. nil: the computer's
}

// New makes the plugin.
func New(d Deps) *tool.Plugin {
	if d.Clock == nil {
		d.Clock = clock.Real{}
	}
	if d.Zone == nil {
		d.Zone = func() string { return "" }
	}
	return &tool.Plugin{
		ID: "time", Name: "Time", Description: "Tells the time anywhere and calculates with dates.", Category: "core", Icon: "clock", Auth: "builtin",
		Hint:    "time date day week month year hour minute clock zone today tomorrow yesterday until since between ago age wait uhr zeit datum hora fecha heure",
		Trusted: true, Core: true, Public: true,
		Tools: []*tool.Tool{d.now(), d.calculate(), d.sleep()},
	}
}

// home is the person's zone.
func (d Deps) home() *time.Location {
	if name := d.Zone(); name != "" && name != "auto" {
		if z, err := time.LoadLocation(name); err == nil {
			return z
		}
	}
	return d.Clock.Local()
}
