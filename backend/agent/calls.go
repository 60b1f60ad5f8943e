package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"sentient/backend/errs"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// Tools are the tools that there are.
type Tools interface {
	// Find gives a tool by its name, also one that is not offered now.
	Find(name string) (*tool.Tool, *tool.Plugin, bool)
	// Enabled reports whether a tool may be used at all: not switched off, its app connected.
	Enabled(name string) bool
	// Select chooses the tools that a run is offered, in a stable order.
	Select(n Need) []*tool.Tool
}

// Need is what tools are chosen by.
type Need struct {
	Text    string   // what the person asked, newest last
	Recent  []string // tools that the chat used lately
	Named   []string // exactly these, scoped ones too; nil: what fits
	All     bool     // everything, whatever was asked
	Max     int
	Exclude func(p *tool.Plugin, t *tool.Tool) bool // nil: nothing
}

// Limits of a round of calls.
const (
	callsARound  = 64 // a model that asks for more gets an error for each that is over
	sideBySide   = 8
	callWithin   = 2 * time.Minute // a tool that does not say otherwise
	resultAtMost = 16 << 20        // bytes of an encoded result
)

// job is one call on its way.
type job struct {
	call   transcript.Call
	tool   *tool.Tool
	plugin *tool.Plugin
	risk   tool.Risk
	ctx    *tool.Context
	refuse *refused // why it is not carried out
}

// refused is the result of a call that was not carried out.
type refused struct {
	sentence string
	schema   json.RawMessage // with arguments that do not fit
}

func (r refused) value() any {
	v := map[string]any{"error": r.sentence}
	if r.schema != nil {
		v["schema"] = r.schema
	}
	return v
}

// carryOut carries out the calls of a round: look-ups that follow each other side by side, everything else in order. It
// gives the results in the order of the calls. An error ends the turn; what a tool does wrong never does.
func (l *loop) carryOut(calls []transcript.Call) ([]result, error) {
	jobs := make([]*job, len(calls))
	for i, c := range calls {
		jobs[i] = l.prepare(c)
		if i >= callsARound {
			jobs[i].refuse = &refused{sentence: fmt.Sprintf("Not done: a round has at most %d calls. Make this one in the next round.", callsARound)}
		}
	}
	var results []result
	for len(jobs) > 0 {
		n := l.group(jobs)
		got, err := l.together(jobs[:n])
		if err != nil {
			return nil, err
		}
		results = append(results, got...)
		jobs = jobs[n:]
	}
	return results, nil
}

// group gives how many of the next calls run side by side.
func (l *loop) group(jobs []*job) int {
	if !l.Settings().ParallelReads {
		return 1
	}
	n := 0
	for n < len(jobs) && n < sideBySide && jobs[n].refuse == nil && jobs[n].risk == tool.Read {
		n++
	}
	return max(n, 1)
}

// prepare finds a call's tool, checks the arguments and decides whether it may run.
func (l *loop) prepare(c transcript.Call) *job {
	j := &job{call: c}
	var ok bool
	if j.tool, j.plugin, ok = l.Tools.Find(c.Name); !ok {
		j.refuse = &refused{sentence: l.noSuchTool(c.Name)}
		return j
	}
	ctx := l.call
	ctx.CallID, ctx.ResultLimit = c.ID, l.resultMx
	j.ctx = &ctx
	if !l.Tools.Enabled(c.Name) {
		j.refuse = &refused{sentence: fmt.Sprintf("Not done: %s is switched off.", c.Name)}
		return j
	}
	if err := l.unread[c.ID]; err != nil {
		j.refuse = &refused{sentence: fmt.Sprintf("Invalid arguments for %s: %s.", c.Name, strings.TrimSuffix(err.Error(), ".")), schema: j.tool.Parameters}
		return j
	}
	j.risk = l.effectiveRisk(l.ctx, j.tool, j.ctx, c.Arguments)
	if why := l.refuse(j.tool, j.plugin, j.risk); why != "" {
		j.refuse = &refused{sentence: why}
	}
	return j
}

// noSuchTool names the tools that there are, so that the model can mend its call.
func (l *loop) noSuchTool(name string) string {
	names := make([]string, len(l.tools))
	for i, t := range l.tools {
		names[i] = t.Name
	}
	if len(names) == 0 {
		return fmt.Sprintf("There is no tool called %q here.", name)
	}
	return fmt.Sprintf("There is no tool called %q. The tools are: %s.", name, strings.Join(names, ", "))
}

// effectiveRisk gives a call's risk (§10). A risk function that fails, panics or does not answer counts as exec.
func (s *Service) effectiveRisk(ctx context.Context, t *tool.Tool, c *tool.Context, args json.RawMessage) tool.Risk {
	if t.RiskOf == nil {
		return t.Risk
	}
	risk, err := guarded(ctx, s, "risk of "+t.Name, judgeWithin, func(ctx context.Context) (tool.Risk, error) { return t.RiskOf(ctx, c, args) })
	if err != nil {
		s.Log.Warn("risk not told", "tool", t.Name, "error", err)
		return tool.Exec
	}
	if risk < tool.Read || risk > tool.Exec {
		return tool.Exec
	}
	return risk
}

// judgeWithin bounds a tool's answer about a call, which is about its arguments and needs no network as a rule.
const judgeWithin = 10 * time.Second

// withoutQuestions is what runs while nobody can be asked: look-ups, and changes to Sentient's own things.
func withoutQuestions(t *tool.Tool, _ *tool.Plugin, risk tool.Risk) string {
	if risk == tool.Read || t.Internal && risk == tool.Write {
		return ""
	}
	return fmt.Sprintf("Not done: %s needs the user's yes, and Sentient can't ask for it yet. Tell the user what you would have done.", t.Name)
}

// together carries out calls side by side: all of them begin, then each result comes in the order of the calls.
func (l *loop) together(jobs []*job) ([]result, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, context.Cause(l.ctx)
	}
	calls := make([]transcript.Call, len(jobs))
	for i, j := range jobs {
		calls[i] = j.call
	}
	if err := l.face.Call(l.ctx, calls...); err != nil {
		return nil, err
	}
	ended := make([]chan done, len(jobs))
	for i, j := range jobs {
		ended[i] = make(chan done, 1)
		l.begin(j, ended[i])
	}
	results := make([]result, len(jobs))
	for i, j := range jobs {
		d, ok := svc.Await(l.ctx, l.Clock, ended[i])
		if !ok || l.ctx.Err() != nil {
			return nil, context.Cause(l.ctx) // its result is written with the turn's end
		}
		var err error
		if results[i], err = l.settle(j, d); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// done is what a tool gave.
type done struct {
	value any
	err   error
	took  time.Duration
}

func (l *loop) begin(j *job, to chan<- done) {
	if j.refuse != nil {
		to <- done{value: j.refuse.value(), err: errors.New(j.refuse.sentence)}
		return
	}
	var over atomic.Bool
	j.ctx.Progress = func(p tool.Progress) {
		if !over.Load() {
			l.face.Progress(j.call, p)
		}
	}
	started := l.Clock.Now()
	end := func(d done) {
		over.Store(true)
		d.took = l.Clock.Now().Sub(started)
		to <- d
	}
	within := j.tool.Within
	if within <= 0 {
		within = callWithin
	}
	ok := l.Tree.Go("tool call", func(context.Context) {
		value, err := guarded(l.ctx, l.Service, j.tool.Name, within, func(ctx context.Context) (any, error) {
			return j.tool.Run(ctx, j.ctx, j.call.Arguments)
		})
		end(done{value: value, err: err})
	})
	if !ok {
		end(done{err: errEngineClosing()})
	}
}

// guarded calls a function of a tool: a panic is an error, one that goes on after its time is left behind.
func guarded[T any](ctx context.Context, s *Service, what string, within time.Duration, f func(ctx context.Context) (T, error)) (T, error) {
	value, err := svc.Guarded(ctx, svc.Guard{Tree: s.Tree, Clock: s.Clock, Log: s.Log}, what, within, f)
	switch {
	case errors.Is(err, svc.ErrTooLong):
		err = errs.Newf(errs.Timeout, "tool_timeout", "This took longer than %s and was given up.", plainDuration(within))
	case errors.Is(err, svc.ErrPanicked):
		err = errToolBroke
	case errors.Is(err, svc.ErrClosed):
		err = errEngineClosing()
	}
	return value, err
}

var errToolBroke = errs.New(errs.Internal, "tool_broke", "This tool ran into a fault of its own and did not finish. Try another way.")

func plainDuration(d time.Duration) string {
	if d >= 2*time.Minute {
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	}
	return fmt.Sprintf("%d seconds", int(d.Seconds()))
}
