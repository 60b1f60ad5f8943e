package agent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"sentient/backend/approval"
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
	resultAtMost = 16 << 20 // bytes of an encoded result
)

// job is one call on its way.
type job struct {
	call   transcript.Call
	tool   *tool.Tool
	plugin *tool.Plugin
	ctx    *tool.Context
	note   string         // what its result says besides
	gate   *approval.Case // nil: it never came to the gate
	refuse string         // why it did not
}

// plain reports whether a call may run beside others.
func (j *job) plain() bool { return j.gate != nil && j.gate.Plain() }

// carryOut carries out the calls of a round: look-ups that follow each other side by side, everything else in order. It
// gives the results in the order of the calls. An error ends the turn; what a tool does wrong never does.
func (l *loop) carryOut(calls []transcript.Call) ([]result, error) {
	l.gate.Round()
	var results []result
	var ahead *job // judged, and not beside what came before it
	for i := 0; i < len(calls); {
		var group []*job
		for i+len(group) < len(calls) && len(group) < l.most(group) {
			j := ahead
			if ahead = nil; j == nil {
				j = l.prepare(calls[i+len(group)], i+len(group))
			}
			if len(group) > 0 && !j.plain() {
				ahead = j
				break
			}
			group = append(group, j)
		}
		got, err := l.together(group)
		if err != nil {
			return nil, err
		}
		results = append(results, got...)
		i += len(group)
	}
	return results, nil
}

// most is how many calls a group may have.
func (l *loop) most(group []*job) int {
	if !l.Settings().ParallelReads || len(group) > 0 && !group[0].plain() {
		return 1
	}
	return sideBySide
}

// prepare finds a call's tool and has the gate judge it.
func (l *loop) prepare(c transcript.Call, n int) *job {
	j := &job{call: c, note: l.swapped[c.ID]}
	var ok bool
	if j.tool, j.plugin, ok = l.Tools.Find(c.Name); !ok {
		j.refuse = l.noSuchTool(c.Name)
		return j
	}
	if n >= callsARound {
		j.refuse = fmt.Sprintf("Not done: a round has at most %d calls. Make this one in the next round.", callsARound)
		return j
	}
	ctx := l.call
	ctx.CallID, ctx.ResultLimit = c.ID, l.resultMx
	j.ctx = &ctx
	j.gate = l.gate.Judge(l.ctx, approval.Call{Args: c.Arguments, Unfit: l.unread[c.ID], Tool: j.tool, Plugin: j.plugin, Context: j.ctx})
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
	ended := make([]chan approval.Outcome, len(jobs))
	for i, j := range jobs {
		ended[i] = make(chan approval.Outcome, 1)
		l.begin(j, ended[i])
	}
	results := make([]result, len(jobs))
	for i, j := range jobs {
		o, ok := svc.Await(l.ctx, l.Clock, ended[i])
		if !ok || l.ctx.Err() != nil {
			return nil, context.Cause(l.ctx) // its result is written with the turn's end
		}
		var err error
		if results[i], err = l.settle(j, o); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (l *loop) begin(j *job, to chan<- approval.Outcome) {
	if j.gate == nil {
		to <- approval.Outcome{Value: map[string]any{"error": j.refuse}, Failed: true}
		return
	}
	var over atomic.Bool
	j.ctx.Progress = func(p tool.Progress) {
		if !over.Load() {
			l.face.Progress(j.call, p)
		}
	}
	ok := l.Tree.Go("tool call", func(context.Context) {
		o := j.gate.Carry(l.ctx, nil) // nothing is asked: turnSurface
		over.Store(true)
		to <- o
	})
	if !ok {
		to <- approval.Outcome{Ran: true, Err: tool.ErrClosing, Failed: true}
	}
}
