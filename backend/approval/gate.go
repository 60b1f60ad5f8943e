package approval

import "context"

// stage is one step on the way of a call. It may end the call (Case.end), or leave a question for the person (Case.ask).
type stage struct {
	name string
	do   func(c *Case, ctx context.Context)
}

// The way of every call, in order. A stage that ends the call ends the way. What deleting for good becomes a move to the
// trash of is settled before the first of them (Service.Swap), so that what is shown, kept and checked is the call that runs.

// judging needs nobody: it is done when a call's turn comes, and says whether it may run beside others.
var judging = []stage{
	{"arguments", (*Case).arguments},
	{"switched off", (*Case).switchedOff},
	{"effective risk", (*Case).effectiveRisk},
	{"surface policy", (*Case).surfacePolicy},
	{"without memory", (*Case).withoutMemory},
	{"never", (*Case).never},
	{"read only", (*Case).readOnly},
	{"try run", (*Case).tryRun},
	{"unprompted", (*Case).unprompted},
	{"hand over", (*Case).handOver},
	{"rule proposals", (*Case).ruleProposals},
	{"outside content", (*Case).outsideContent},
	{"address", (*Case).address},
	{"value check", (*Case).valueCheck},
	{"unnamed changes", (*Case).unnamedChanges},
	{"another app's delete", (*Case).anotherAppsDelete},
	{"second look", (*Case).secondLook},
	{"hard stops", (*Case).hardStops},
	{"mode and rules", (*Case).modeAndRules},
	{"grants", (*Case).grants},
	{"second look by a model", (*Case).secondLookByModel},
}

// carrying may wait for the person, and then runs the call.
var carrying = []stage{
	{"approval", (*Case).approval},
	{"undo window", (*Case).undoWindow},
	{"rules again", (*Case).rulesAgain},
	{"file copies", (*Case).fileCopies},
	{"run", (*Case).run},
}

// Judge judges a call that a model asks for. The case is then carried out with Carry, or not at all.
func (r *Run) Judge(ctx context.Context, call Call) *Case {
	c := &Case{Call: call, of: r, set: r.s.Settings()}
	c.through(ctx, judging)
	return c
}

// Carry takes a judged call the rest of its way and gives how it ended. face keeps and shows what is asked. Calls that are
// Plain may be carried out side by side.
func (c *Case) Carry(ctx context.Context, face Face) Outcome {
	c.face = face
	c.through(ctx, carrying)
	return c.outcome
}

func (c *Case) through(ctx context.Context, stages []stage) {
	for _, s := range stages {
		if c.ended {
			return
		}
		if ctx.Err() != nil {
			c.fail(context.Cause(ctx))
			return
		}
		s.do(c, ctx)
	}
}

// Plain reports whether a call is a look-up that runs without a question: such calls may run side by side (§10).
func (c *Case) Plain() bool { return !c.ended && len(c.questions) == 0 && c.isLookUp() }
