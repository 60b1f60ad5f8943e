package approval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sentient/backend/approval/ask"
	"sentient/backend/approval/outside"
	"sentient/backend/approval/preview"
	"sentient/backend/approval/rules"
	"sentient/backend/clock"
	"sentient/backend/tool"
)

// What stands in the place of a call's result that did not run.
const (
	declined   = "The user said no to this, so it was not done. Do not try it again or in another way; go on without it or ask them."
	unanswered = "Nobody answered in time, so this was not done. Tell the user what needs their OK."
	notSent    = "NOT SENT. The user pressed Undo, so nothing was sent. Do not send it again unless they ask for it."
)

// approval asks the person, where anything is left to ask.
func (c *Case) approval(ctx context.Context) {
	if len(c.questions) == 0 {
		return
	}
	if !c.of.surface.Asks {
		c.hold()
		return
	}
	q := c.request(ctx)
	w := c.of.s.wait(q)
	if err := c.face.Ask(ctx, q); err != nil {
		c.of.s.take(q.ApprovalID)
		c.fail(err)
		return
	}
	asked := clock.Stamp(c.of.s.Clock.Now())
	waits := Waiting{Request: q, SessionID: c.of.call.SessionID, Channel: c.of.call.Channel, Mark: c.marked()}
	answer := c.of.s.await(ctx, waits, w, time.Duration(c.set.TimeoutS)*time.Second)
	// A yes that is not kept was none.
	if err := c.face.Answered(context.WithoutCancel(ctx), answer); err != nil {
		c.fail(err)
		return
	}
	if answer.Decision == "" { // the turn ended first
		c.fail(context.Cause(ctx))
		return
	}
	c.outcome.Answered = answered(q, answer, asked, clock.Stamp(c.of.s.Clock.Now()))
	if !answer.Decision.Yes() {
		why := declined
		if answer.Via == "" {
			why = unanswered
		}
		c.end(Outcome{Value: map[string]any{"error": why, "declined": true}, Failed: true})
		return
	}
	c.yes = true
	c.of.s.remember(ctx, c, answer)
}

// hold ends a call that needs a yes where nobody can be asked.
func (c *Case) hold() {
	sentence := fmt.Sprintf(c.of.surface.Unanswered, c.Tool.Name)
	if _, flagged := c.asksFor(byWarning); flagged {
		sentence = fmt.Sprintf("Not done: a second look found a problem, so %s needs the user's OK first. Say what you would have done.", c.Tool.Name)
	}
	if _, marked := c.asksFor(byOutside); marked {
		sentence = outside.Held(c.marked(), c.Tool.Name)
	}
	c.refuse(sentence)
	c.outcome.Held = true
}

// request words the question.
func (c *Case) request(ctx context.Context) ask.Request {
	w := c.words(ctx)
	q := ask.Request{ApprovalID: newID(), CallID: c.Context.CallID, Name: c.Tool.Name, Arguments: c.Args, Risk: c.risk.String(),
		Reason: w.RiskLabel, RiskLabel: w.Label(c.risk), Target: w.Target, Choices: c.choices(), Preview: c.preview(ctx),
		App: c.Plugin.Name, Label: rules.Name(rules.Rule{}, c.Tool, c.Plugin),
		Until: clock.Stamp(c.of.s.Clock.Now().Add(time.Duration(c.set.TimeoutS) * time.Second))}
	if w.RiskLabel == (tool.Wording{}).Label(c.risk) {
		q.Reason = ""
	}
	q.Untrusted, _ = c.asksFor(byOutside)
	q.Warning, _ = c.asksFor(byWarning)
	q.Rule, _ = c.asksFor(byRule)
	_, q.Proposal = c.asksFor(byProposal)
	if slices.Contains(q.Choices, ask.Timed) {
		q.GrantMinutes = c.set.GrantMinutes
	}
	return q
}

// choices are the answers offered (§2 "Scoped answers"): only yes and no for what no earlier yes may cover.
func (c *Case) choices() []ask.Decision {
	narrow := c.raised || c.risk == tool.Exec || c.Tool.NoChatGrant || slices.ContainsFunc(c.questions, func(q question) bool { return q.because >= byProposal })
	if narrow {
		return []ask.Decision{ask.Allow, ask.Deny}
	}
	choices := []ask.Decision{ask.Allow}
	_, byRule := c.asksFor(byRule)
	if c.set.RememberSession && !byRule {
		choices = append(choices, ask.Session)
	}
	choices = append(choices, ask.Timed)
	if !byRule {
		choices = append(choices, ask.Always)
	}
	return append(choices, ask.Deny)
}

func answered(q ask.Request, a ask.Answer, askedAt, at string) *ask.Answered {
	return &ask.Answered{Decision: a.Decision, AskedAt: askedAt, AnsweredAt: at, RiskLabel: q.RiskLabel,
		Target: orNil(q.Target), Untrusted: orNil(q.Untrusted), Rule: orNil(q.Rule), Warning: orNil(q.Warning)}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// undoWindow lets an email, message or post wait where somebody can still take it back (§10 "Undo window").
func (c *Case) undoWindow(ctx context.Context) {
	seconds := c.of.s.Settings().UndoSeconds
	if seconds <= 0 || !c.of.surface.Asks || !undoable[c.of.call.Channel] || unprompted[c.of.call.Origin] || !preview.Waits(c.Tool, c.risk, c.words(ctx)) {
		return
	}
	until := c.of.s.Clock.Now().Add(time.Duration(seconds) * time.Second)
	w := ask.Window{UndoID: newID(), CallID: c.Context.CallID, Name: c.Tool.Name, Seconds: seconds, Until: clock.Stamp(until), Preview: c.preview(ctx)}
	end := c.of.s.holdBack(w)
	if err := c.face.Hold(ctx, w); err != nil {
		c.of.s.release(w.UndoID)
		c.fail(err)
		return
	}
	goes, undone := c.of.s.awaitWindow(ctx, w, end)
	if err := c.face.Held(context.WithoutCancel(ctx), ask.Closed{UndoID: w.UndoID, CallID: w.CallID, Go: goes}); err != nil {
		c.fail(err)
		return
	}
	switch {
	case undone:
		c.end(Outcome{Value: map[string]any{"error": notSent, "undone": true}, Failed: true})
	case !goes:
		c.fail(context.Cause(ctx))
	}
}

// rulesAgain reads the rules once more, since the person may have changed them while the call waited (§2, §10). A call that
// they said yes to is not asked again.
func (c *Case) rulesAgain(ctx context.Context) {
	for {
		c.set = c.of.s.Settings()
		for _, again := range []stage{{"never", (*Case).never}, {"read only", (*Case).readOnly}, {"hand over", (*Case).handOver}} {
			if again.do(c, ctx); c.ended {
				return
			}
		}
		if c.yes || c.applied(c.set) != rules.Ask {
			return
		}
		c.questions = []question{{byRule, string(c.rule(c.set).Level)}}
		if c.grants(ctx); len(c.questions) == 0 {
			return
		}
		if c.approval(ctx); c.ended {
			return
		}
	}
}

// fileCopies keeps the files that the call may change (§10 "File snapshots"). Where that fails the call still runs: that is
// what was asked for.
func (c *Case) fileCopies(ctx context.Context) {
	s := c.of.s
	if s.Copies == nil || c.Tool.Touches == nil || c.of.call.Incognito {
		return
	}
	touched := c.Tool.Touches(c.Args)
	if touched == nil {
		return
	}
	end, err := s.Copies.Keep(ctx, c.Context, *touched)
	if err != nil {
		s.Log.Warn("no copies kept before a call", "tool", c.Tool.Name, "error", err)
		return
	}
	c.after = func(ctx context.Context) {
		if err := end(ctx); err != nil {
			s.Log.Error("copies of a call not settled", "tool", c.Tool.Name, "error", err)
		}
	}
}

// run runs the call.
func (c *Case) run(ctx context.Context) {
	if address := c.loaded(ctx); address != "" && len(c.questions) > 0 {
		c.of.load(address) // the others were counted when they were judged
	}
	began := c.of.s.Clock.Now()
	value, err := c.call(ctx)
	if c.after != nil {
		c.after(context.WithoutCancel(ctx))
	}
	c.end(Outcome{Ran: true, Value: value, Err: err, Failed: err != nil, Took: c.of.s.Clock.Now().Sub(began)})
}
