package approval

import (
	"context"
	"encoding/json"
	"time"

	"sentient/backend/approval/ask"
	"sentient/backend/approval/evidence"
	"sentient/backend/approval/preview"
	"sentient/backend/approval/rules"
	"sentient/backend/tool"
)

// Call is a call that a model asks for.
type Call struct {
	Args    json.RawMessage // as tool.Prepare gives them
	Unfit   error           // why the arguments do not fit the tool; nil: they do
	Tool    *tool.Tool
	Plugin  *tool.Plugin
	Context *tool.Context // CallID is the call's
}

// Face keeps and shows what a call waits for. What it cannot keep is an error, and the call does not run.
type Face interface {
	Ask(ctx context.Context, q ask.Request) error
	Answered(ctx context.Context, a ask.Answer) error
	Hold(ctx context.Context, w ask.Window) error
	Held(ctx context.Context, c ask.Closed) error
}

// Outcome is how a call ended.
type Outcome struct {
	Ran      bool
	Value    any   // what the tool gave, or what stands in its place
	Err      error // why the tool gave nothing
	Failed   bool  // the call is told as failed
	Took     time.Duration
	Answered *ask.Answered // how the person answered, where they were asked
	// Held says that the call needs a person's yes, or that nobody asked for the work, where nobody can be asked.
	Held      bool
	HandedOff *HandOff
}

// HandOff is a call that was prepared for the person to do themselves (§2 "hand_off").
type HandOff struct {
	HandedOff bool             `json:"handed_off"`
	Message   string           `json:"message"`
	Label     string           `json:"label"`
	Title     string           `json:"title"`
	Preview   *preview.Preview `json:"preview"`
	Details   []preview.Field  `json:"details,omitempty"`
}

// Case is a call on its way through the gate.
type Case struct {
	Call
	of      *Run
	set     Settings
	face    Face
	outcome Outcome
	ended   bool

	risk       tool.Risk
	raised     bool // the call's own risk is send or exec, and more than its tool's
	wording    *tool.Wording
	sendsOut   *bool
	loads      *string // the web address that it loads
	unreadable bool    // that address could not be told
	to         []tool.Destination
	toErr      error

	questions []question
	yes       bool                      // the person said yes to this call
	after     func(ctx context.Context) // what follows the run, however it ended
}

// Risk is the call's effective risk (§10).
func (c *Case) Risk() tool.Risk { return c.risk }

func (c *Case) isLookUp() bool { return c.risk == tool.Read }

// question is a reason to ask the person.
type question struct {
	because because
	text    string // for the card: a warning, or what the chat has read
}

// because is why a call asks. What an earlier yes covers depends on it.
type because uint8

const (
	byMode     because = iota // the approvals mode: every grant covers it
	byRule                    // a lasting rule: "Allow for this task" and "Allow for 1 hour" cover it
	byProposal                // from here on nothing covers it
	byOutside
	byWarning
	byHardStop
)

func (c *Case) ask(why because, text string) { c.questions = append(c.questions, question{why, text}) }

// asksFor gives the text of the first question of a kind.
func (c *Case) asksFor(why because) (text string, ok bool) {
	for _, q := range c.questions {
		if q.because == why {
			return q.text, true
		}
	}
	return "", false
}

func (c *Case) dropQuestions(covered func(because) bool) {
	kept := c.questions[:0]
	for _, q := range c.questions {
		if !covered(q.because) {
			kept = append(kept, q)
		}
	}
	c.questions = kept
}

// refuse ends a call that does not run, with a sentence for the model.
func (c *Case) refuse(sentence string) {
	c.end(Outcome{Value: map[string]any{"error": sentence}, Failed: true})
}

// fail ends a call whose run is ending.
func (c *Case) fail(err error) { c.end(Outcome{Err: err, Failed: true}) }

func (c *Case) end(o Outcome) {
	o.Answered = c.outcome.Answered
	c.outcome, c.ended = o, true
}

// rule gives the lasting rule of the call, as it is now.
func (c *Case) rule(set Settings) rules.Rule { return rules.For(set.Rules, c.Tool, c.Plugin) }

// evidence gives what the run knows; without it nothing can be checked, and the call ends.
func (c *Case) evidence(ctx context.Context) *evidence.Evidence {
	e, err := c.of.read(ctx)
	if err != nil {
		c.fail(err)
		return nil
	}
	return e
}

// marked reports what the run had read when the model chose this call.
func (c *Case) marked() string { return c.of.round.mark }

// words gives how the call is told to the person. One that cannot be worded is worded by its risk.
func (c *Case) words(ctx context.Context) tool.Wording {
	if c.wording == nil {
		w := tool.Wording{}
		if c.Tool.Describe != nil {
			if told, err := judged(ctx, c, "wording", c.Tool.Describe); err == nil {
				w = told
			}
		}
		c.wording = &w
	}
	return *c.wording
}

// Leaves reports whether the call can move data out (§10 `sends_out`). What cannot be told can.
func (c *Case) Leaves(ctx context.Context) bool {
	if c.risk >= tool.Send {
		return true
	}
	if c.sendsOut == nil {
		out := false
		if c.Tool.SendsOut != nil {
			told, err := judged(ctx, c, "sending", c.Tool.SendsOut)
			out = told || err != nil
		}
		c.sendsOut = &out
	}
	return *c.sendsOut
}

// loaded gives the web address that the call loads, "" for none.
func (c *Case) loaded(ctx context.Context) string {
	if c.loads == nil {
		address := ""
		if c.Tool.Address != nil {
			told, err := judged(ctx, c, "address", c.Tool.Address)
			address, c.unreadable = told, err != nil
		}
		c.loads = &address
	}
	return *c.loads
}
