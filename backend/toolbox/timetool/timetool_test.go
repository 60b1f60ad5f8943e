package timetool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

// stopped stands at a moment; its timers fire at once.
type stopped struct {
	at   time.Time
	zone *time.Location
}

func (s stopped) Now() time.Time        { return s.at }
func (s stopped) Local() *time.Location { return s.zone }
func (s stopped) NewTimer(time.Duration) clock.Timer {
	return clock.Real{}.NewTimer(0)
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// at makes the plugin at a moment of Berlin's clocks.
func at(t *testing.T, moment string) *tool.Plugin {
	t.Helper()
	z := zoneOf(t, "Europe/Berlin")
	m, err := time.ParseInLocation("2006-01-02 15:04", moment, z)
	if err != nil {
		t.Fatal(err)
	}
	return New(Deps{Clock: stopped{m, z}})
}

func call(t *testing.T, p *tool.Plugin, name, args string) (string, error) {
	t.Helper()
	for _, x := range p.Tools {
		if x.Name != name {
			continue
		}
		prepared, err := x.Prepare(json.RawMessage(args))
		if err != nil {
			return "", err
		}
		v, err := x.Run(t.Context(), &tool.Context{}, prepared)
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw), nil
	}
	t.Fatalf("no tool %s", name)
	return "", nil
}

func TestConform(t *testing.T) {
	conform.Plugin(t, at(t, "2027-03-26 10:00"),
		conform.Case{Tool: "time_now", Args: `{}`},
		conform.Case{Tool: "time_calculate", Args: `{"operation":"difference","to":"2027-12-24"}`},
		conform.Case{Tool: "time_sleep", Args: `{"seconds":1}`},
	)
}

func TestNow(t *testing.T) {
	p := at(t, "2027-03-26 10:00")
	for zone, want := range map[string]string{
		"":                 `{"datetime":"2027-03-26T10:00:00+01:00","date":"2027-03-26","time":"10:00:00","weekday":"Friday","zone":"Europe/Berlin","utc_offset":"+01:00","week":12}`,
		"Asia/Tokyo":       `{"datetime":"2027-03-26T18:00:00+09:00","date":"2027-03-26","time":"18:00:00","weekday":"Friday","zone":"Asia/Tokyo","utc_offset":"+09:00","week":12}`,
		"new york":         `"datetime":"2027-03-26T05:00:00-04:00"`,
		"BUENOS AIRES":     `"zone":"America/Buenos_Aires"`,
		"europe/london":    `"zone":"Europe/London"`,
		"Kathmandu":        `"utc_offset":"+05:45"`,
		"+05:30":           `"datetime":"2027-03-26T14:30:00+05:30"`,
		"UTC-3":            `"datetime":"2027-03-26T06:00:00-03:00"`,
		"gmt+0530":         `"zone":"UTC+05:30"`,
		"UTC":              `"datetime":"2027-03-26T09:00:00Z"`,
		"EST":              `"utc_offset":"-05:00"`,
		"Port-au-Prince":   "",
		"Indiana/Knox":     `"zone":"America/Indiana/Knox"`,
		"america/new_york": `"zone":"America/New_York"`,
	} {
		got, err := call(t, p, "time_now", `{"zone":"`+zone+`"}`)
		if want != "" && (err != nil || !strings.Contains(got, want)) {
			t.Errorf("%q: %s, %v", zone, got, err)
		}
	}
	for _, zone := range []string{"Atlantis", "../../etc/passwd", "/etc/localtime", "Local/x", "+25:00", "+05:99", "Mars", "\u0000", strings.Repeat("a", 5000), "ж"} {
		raw, _ := json.Marshal(map[string]string{"zone": zone})
		if got, err := call(t, p, "time_now", string(raw)); errs.Code(err) != "zone_unknown" {
			t.Errorf("%.40q: %s, %v", zone, got, err)
		}
	}
	// The person's zone, and one that no computer knows.
	for set, want := range map[string]string{"Asia/Kolkata": "+05:30", "auto": "+01:00", "No/Such": "+01:00"} {
		p := New(Deps{Clock: stopped{time.Date(2027, 3, 26, 9, 0, 0, 0, time.UTC), zoneOf(t, "Europe/Berlin")}, Zone: func() string { return set }})
		if got, err := call(t, p, "time_now", `{}`); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, %v", set, got, err)
		}
	}
}

func TestCalculate(t *testing.T) {
	p := at(t, "2027-03-26 10:00")
	for _, c := range []struct{ args, want string }{
		// The clocks go forward on 28 March 2027 and back on 31 October.
		{`{"operation":"add","from":"2027-03-27 09:00","days":2}`, `"datetime":"2027-03-29T09:00:00+02:00"`},
		{`{"operation":"add","from":"2027-03-26 10:00","hours":72}`, `"datetime":"2027-03-29T11:00:00+02:00"`},
		{`{"operation":"add","from":"2027-03-27 02:30","days":1}`, `skip 02:30 on this day; this is 03:30`},
		{`{"operation":"add","from":"2027-03-28 02:30","hours":0}`, `"result":{"datetime":"2027-03-28T03:30:00+02:00"`},
		{`{"operation":"add","from":"2027-10-31 02:30","hours":0}`, `"result":{"datetime":"2027-10-31T02:30:00+02:00"`},
		{`{"operation":"add","from":"2027-10-31 02:30","hours":1}`, `"result":{"datetime":"2027-10-31T02:30:00+01:00"`},
		{`{"operation":"add","from":"2027-10-31 02:30","hours":1}`, `comes twice on this day`},
		{`{"operation":"add","from":"2027-04-04 02:15","zone":"Australia/Lord_Howe","days":0}`, `"result":{"datetime":"2027-04-04T02:15:00+10:30"`},
		{`{"operation":"add","from":"2027-10-03 02:15","zone":"Australia/Lord_Howe","days":0}`, `"result":{"datetime":"2027-10-03T02:45:00+11:00"`},
		{`{"operation":"add","from":"2011-12-30 12:00","zone":"Pacific/Apia","days":0}`, `skip 12:00`},
		{`{"operation":"add","from":"2027-01-31","months":1}`, `"date":"2027-02-28"`},
		{`{"operation":"add","from":"2028-02-29","years":1}`, `"date":"2029-02-28"`},
		{`{"operation":"add","from":"2027-03-31","months":-1}`, `"date":"2027-02-28"`},
		{`{"operation":"add","from":"2027-01-15","months":-1}`, `"result":{"datetime":"2026-12-15T`},
		{`{"operation":"add","from":"2027-01-15","months":-13}`, `"result":{"datetime":"2025-12-15T`},
		{`{"operation":"add","days":14}`, `"result":{"datetime":"2027-04-09T10:00:00+02:00"`},
		{`{"operation":"add","from":"2027-03-26","workdays":1}`, `"result":{"datetime":"2027-03-29T`},
		{`{"operation":"add","from":"2027-03-27","workdays":5}`, `"result":{"datetime":"2027-04-02T`},
		{`{"operation":"add","from":"2027-03-27","workdays":-5}`, `"result":{"datetime":"2027-03-22T`},
		{`{"operation":"add","from":"2027-03-29","workdays":-1}`, `"result":{"datetime":"2027-03-26T`},
		{`{"operation":"add","from":"18:30","minutes":45}`, `"result":{"datetime":"2027-03-26T19:15:00+01:00"`},
		{`{"operation":"add","from":"6:30 PM","minutes":-45.5}`, `"result":{"datetime":"2027-03-26T17:44:30+01:00"`},
		{`{"operation":"add","from":"tomorrow","hours":"8"}`, `"result":{"datetime":"2027-03-27T08:00:00+01:00"`},
		{`{"operation":"convert","from":"2027-03-26 09:00","to_zone":"Tokyo"}`, `"result":{"datetime":"2027-03-26T17:00:00+09:00"`},
		{`{"operation":"convert","from":"2027-03-26T09:00:00Z","to_zone":"Asia/Kathmandu"}`, `"result":{"datetime":"2027-03-26T14:45:00+05:45"`},
		{`{"operation":"convert","from":"15:00","zone":"New York"}`, `"result":{"datetime":"2027-03-26T20:00:00+01:00"`},
		{`{"operation":"difference","from":"2027-03-26","to":"2027-12-24"}`, `"difference":{"sign":1,"text":"8 months, 28 days","calendar_days":273,"workdays":195,"weeks":39,"hours":6552,"minutes":393120,"seconds":23587200}`},
		{`{"operation":"difference","from":"2027-12-24","to":"2027-03-26"}`, `"difference":{"sign":-1,"text":"8 months, 28 days","calendar_days":273`},
		{`{"operation":"difference","from":"1990-02-28 00:00","to":"now"}`, `"text":"37 years, 26 days, 10 hours"`},
		{`{"operation":"difference","from":"2027-03-27 12:00","to":"2027-03-28 12:00"}`, `"text":"1 day","calendar_days":1,"workdays":0,"weeks":0.14,"hours":23,`},
		{`{"operation":"difference","from":"2027-03-28 00:00","to":"2027-03-28 12:00"}`, `"text":"11 hours"`},
		{`{"operation":"difference","from":"2027-01-31","to":"2027-03-01"}`, `"text":"1 month, 1 day"`},
		{`{"operation":"difference"}`, `"sign":0,"text":"no time"`},
		{`{"operation":"difference","from":"0001-01-01","to":"9999-12-31"}`, `"text":"9998 years, 11 months, 30 days"`},
		{`{"operation":"difference","from":"1 January 2027","to":"Jan 2, 2027"}`, `"calendar_days":1`},
	} {
		got, err := call(t, p, "time_calculate", c.args)
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n  got  %s, %v\n  want %s", c.args, got, err, c.want)
		}
	}
	for _, args := range []string{`{"operation":"add","from":"some day"}`, `{"operation":"add","from":"2027-02-30"}`, `{"operation":"add","from":"25:00"}`, `{"operation":"add","years":9999}`, `{"operation":"add","years":-9999}`,
		`{"operation":"add","days":9999999}`, `{"operation":"add","hours":9999999,"minutes":999999999,"years":7000}`, `{"operation":"difference","to":"x"}`, `{"operation":"convert","to_zone":"nowhere"}`, `{"operation":"convert","zone":"nowhere"}`} {
		if got, err := call(t, p, "time_calculate", args); errs.Code(err) != "time_unreadable" && errs.Code(err) != "zone_unknown" {
			t.Errorf("%s: %s, %v", args, got, err)
		}
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Deps{})
		begun := time.Now()
		got, err := call(t, p, "time_sleep", `{"seconds":300}`)
		if waited := time.Since(begun); err != nil || waited != 300*time.Second || !strings.Contains(got, `"waited_seconds":300`) {
			t.Errorf("%s after %v, %v", got, waited, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		var told []tool.Progress
		c := &tool.Context{Progress: func(p tool.Progress) { told = append(told, p) }}
		for _, x := range p.Tools {
			if x.Name == "time_sleep" {
				_, err = x.Run(ctx, c, json.RawMessage(`{"seconds":100}`))
			}
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second || len(told) != 1 || told[0].Text != "Waiting 1m40s" {
			t.Errorf("%v after %v: %v", err, time.Since(begun), told)
		}
	})
	for _, args := range []string{`{"seconds":301}`, `{"seconds":-1}`, `{}`, `{"seconds":"long"}`} {
		if got, err := call(t, New(Deps{}), "time_sleep", args); err == nil {
			t.Errorf("%s: %s", args, got)
		}
	}
}
