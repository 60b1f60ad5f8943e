package timetool

import (
	"context"
	"fmt"
	"time"

	"sentient/backend/tool"
)

// longest is how long a call may wait.
const longest = 300 * time.Second

type sleepIn struct {
	Seconds float64 `json:"seconds" doc:"How long to wait, in seconds." min:"0" max:"300"`
}

func (d Deps) sleep() *tool.Tool {
	return tool.New(tool.Def[sleepIn]{
		Name:        "time_sleep",
		Description: "Wait up to 300 seconds within this reply, such as before looking again whether something is ready. For later, use a reminder instead.",
		Risk:        tool.Read,
		Within:      longest + 10*time.Second,
		Run: func(ctx context.Context, c *tool.Context, in sleepIn) (any, error) {
			wait := min(max(time.Duration(in.Seconds*float64(time.Second)), 0), longest)
			c.Tell(tool.Progress{Kind: "status", Text: fmt.Sprintf("Waiting %s", wait.Round(time.Second))})
			timer := d.Clock.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-timer.C():
			}
			return map[string]any{"waited_seconds": wait.Seconds(), "now": tell(d.Clock.Now().In(d.home())).DateTime}, nil
		},
	})
}
