package approval

import (
	"context"
	"encoding/json"
	"time"

	"sentient/backend/approval/rules"
	"sentient/backend/approval/trash"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// How long a tool may take.
const (
	callWithin  = 2 * time.Minute  // a call of a tool that does not say otherwise
	judgeWithin = 10 * time.Second // what it says about a call, which needs no network as a rule
	replyWithin = 20 * time.Second // whom a reply goes to, which is read in the app (§10 "Reply destinations")
	modelWithin = 45 * time.Second // the model's second look
)

// judged asks a tool about a call.
func judged[T any](ctx context.Context, c *Case, what string, f func(context.Context, *tool.Context, json.RawMessage) (T, error)) (T, error) {
	value, err := svc.Guarded(ctx, c.of.s.guard(), what+" of "+c.Tool.Name, judgeWithin, func(ctx context.Context) (T, error) { return f(ctx, c.Context, c.Args) })
	if err != nil {
		c.of.s.Log.Warn("tool could not tell about a call", "tool", c.Tool.Name, "what", what, "error", err)
	}
	return value, err
}

// call runs a tool, once everything has said that it may. It is the only place that does.
func (c *Case) call(ctx context.Context) (any, error) {
	within := c.Tool.Within
	if within <= 0 {
		within = callWithin
	}
	ctx = Within(ctx, c.of)
	value, err := svc.Guarded(ctx, c.of.s.guard(), c.Tool.Name, within, func(ctx context.Context) (any, error) { return c.Tool.Run(ctx, c.Context, c.Args) })
	return value, tool.Fault(err, within)
}

type runKey struct{}

// Within gives the context of a call of a run.
func Within(ctx context.Context, r *Run) context.Context { return context.WithValue(ctx, runKey{}, r) }

// RunOf gives the run whose call a tool is carrying out, for what the tool starts; nil outside one.
func RunOf(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// Swap gives the tool to call in the place of one that deletes for good, where its app has a trash (§10 "Trash instead of
// delete"). It is settled before the call is shown, kept or checked.
func (r *Run) Swap(name string, args json.RawMessage) (to string, note string) {
	set := r.s.Settings()
	if !set.PreferTrash {
		return name, ""
	}
	t, p, ok := r.s.Tools.Find(name)
	if !ok || rules.HandsOff(rules.For(set.Rules, t, p), t.Risk) { // what is handed over is what was asked for
		return name, ""
	}
	hidden := func(t *tool.Tool) bool { return r.s.Hidden(t, p) || !r.s.Tools.Enabled(t.Name) }
	if swapped, ok := trash.Swap(name, args, p, trash.Options{Words: r.words(), Hidden: hidden}); ok {
		return swapped.Name, trash.Note
	}
	return name, ""
}
