package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStamp(t *testing.T) {
	berlin := time.FixedZone("", 2*60*60)
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), "2027-01-02T03:04:05.000000Z"},
		{time.Date(2027, 1, 2, 3, 4, 5, 123456789, time.UTC), "2027-01-02T03:04:05.123456Z"},
		{time.Date(2027, 1, 1, 1, 4, 5, 1000, berlin), "2026-12-31T23:04:05.000001Z"},
	} {
		got := Stamp(c.t)
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		back, err := Parse(got)
		if err != nil || !back.Equal(c.t.Truncate(time.Microsecond)) {
			t.Errorf("%s read back as %v (%v)", got, back, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "yesterday", "2027-01-02", "2027-01-02T03:04:05", "2027-13-02T03:04:05Z", "2027-01-02 03:04:05Z"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
	want := time.Date(2026, 10, 11, 10, 0, 12, 0, time.UTC)
	for _, good := range []string{"2026-10-11T10:00:12Z", "2026-10-11T10:00:12+00:00", "2026-10-11T12:00:12.000+02:00", "2026-10-11T10:00:12.000000000Z"} {
		if got, err := Parse(good); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v (%v)", good, got, err)
		}
	}
}

func TestRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock = Real{}
		start := c.Now()
		timer := c.NewTimer(time.Hour)
		<-timer.C()
		if got := c.Now().Sub(start); got != time.Hour {
			t.Errorf("fired after %v", got)
		}
		timer.Reset(time.Minute)
		if !timer.Stop() || timer.Stop() {
			t.Error("Stop")
		}
		if c.Local() != time.Local {
			t.Error("Local")
		}
	})
}
