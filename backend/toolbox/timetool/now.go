package timetool

import (
	"context"
	"time"

	"sentient/backend/tool"
)

type nowIn struct {
	Zone string `json:"zone,omitempty" doc:"A time zone, city or offset, such as Asia/Tokyo, Tokyo or +05:30; left out: the user's."`
}

// told is a moment as a model reads it.
type told struct {
	DateTime  string `json:"datetime"` // RFC 3339
	Date      string `json:"date"`
	Time      string `json:"time"`
	Weekday   string `json:"weekday"`
	Zone      string `json:"zone"`
	UTCOffset string `json:"utc_offset"`
	Week      int    `json:"week,omitempty"` // ISO week
}

func tell(t time.Time) told {
	_, week := t.ISOWeek()
	zone := t.Location().String()
	if zone == "Local" || zone == "" {
		zone, _ = t.Zone()
	}
	return told{DateTime: t.Format(time.RFC3339), Date: t.Format(time.DateOnly), Time: t.Format("15:04:05"), Weekday: t.Weekday().String(), Zone: zone, UTCOffset: t.Format("-07:00"), Week: week}
}

func (d Deps) now() *tool.Tool {
	return tool.New(tool.Def[nowIn]{
		Name:        "time_now",
		Description: "Tell the current date, time, weekday and time zone, for the user or anywhere in the world.",
		Risk:        tool.Read,
		Run: func(ctx context.Context, _ *tool.Context, in nowIn) (any, error) {
			z, err := d.zone(in.Zone)
			if err != nil {
				return nil, err
			}
			return tell(d.Clock.Now().In(z)), nil
		},
	})
}
