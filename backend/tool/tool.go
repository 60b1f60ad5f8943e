// Package tool is the contract of a tool: what a model may ask for, and all that the engine must know to let it happen.
//
// It owns the types that a plugin fills in (Plugin, Def, Tool), the ones a call carries (Context, Progress, Source), and
// the reading of arguments: a model's almost-JSON becomes one canonical object that fits the tool's schema, or an error
// for the model. What is shown to a person, written down and run is that object, never the model's own text.
//
// It promises that a Tool's functions only ever see arguments that fit its schema. It does not run anything, does not
// decide what may run (the gate does) and knows no tool: those are in backend/toolbox/<plugin>.
//
// Layer 1; plugins and everything that handles calls import it.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Risk is how much a call can do, from looking something up to running code.
type Risk uint8

// The risks, least first. The zero Risk is none: a tool without one is refused by the registry.
const (
	Read  Risk = iota + 1 // looks something up
	Write                 // changes something of the person's
	Send                  // something leaves: a mail, a message, a payment
	Exec                  // runs code or commands
)

var riskNames = [...]string{Read: "read", Write: "write", Send: "send", Exec: "exec"}

// String is the wire form.
func (r Risk) String() string {
	if r < Read || r > Exec {
		return "exec" // what cannot be told is treated as the worst
	}
	return riskNames[r]
}

// MarshalText writes the wire form.
func (r Risk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the wire form.
func (r *Risk) UnmarshalText(text []byte) error {
	for i := Read; i <= Exec; i++ {
		if riskNames[i] == string(text) {
			*r = i
			return nil
		}
	}
	return fmt.Errorf("read risk: unknown %q", text)
}

// Outcome is what a call changes, for the check of what it really did (§4 "Checking the outcome").
type Outcome string

// The outcomes.
const (
	OutcomeNone    Outcome = ""
	OutcomeEmail   Outcome = "email"
	OutcomeMessage Outcome = "message"
	OutcomeFile    Outcome = "file"
	OutcomeEvent   Outcome = "event"
	OutcomeHome    Outcome = "home"
)

// Outside says whether a tool's results can carry what someone else wrote (§10 "Outside content").
type Outside uint8

// The answers. ByRule: look-ups of every plugin that is not trusted do.
const (
	ByRule Outside = iota
	Always
	Never
)

// Wording is how a call is told to the person before it runs (§10 `describe_fn`).
type Wording struct {
	RiskLabel string // "Purchase", "Deletes"; "" by the risk
	Target    string // what is acted on: "Place order"; "" where nothing says it
}

// Label gives the label to show for a call of an effective risk.
func (w Wording) Label(r Risk) string {
	if w.RiskLabel != "" {
		return w.RiskLabel
	}
	return [...]string{Read: "Looks something up", Write: "Changes something", Send: "Sends", Exec: "Runs code"}[min(max(r, Read), Exec)]
}

// Destination is one that a reply goes to, as the app's own record of the message says (§5 "Replies and forwards").
type Destination struct {
	Address string
	Why     string // sender, reply_to, yours (the recipients of the person's own message), thread (the others of a reply to all)
	Sender  string // who sent the message that is answered
}

// Touched are files that a call may change.
type Touched struct {
	Source string   // files, terminal, code
	What   string   // the command, the script or the file's name, for people
	Paths  []string // files and folders: absolute, or under the data folder's files/ with / between the parts
}

// Verified is what a read-back found: whether what the call should have done is there.
type Verified struct {
	OK      bool
	Detail  string   // why not, in plain words
	Missed  []string // of the targets, those that were not reached
	Targets []string // what the call acted on, where the arguments do not say it
}

// Tool is one tool. Make it with New. Its functions get arguments that Prepare has checked; those that are nil have the
// meaning that their comment in Def gives.
type Tool struct {
	Name        string
	Description string // for the model
	Parameters  json.RawMessage
	Risk        Risk
	Internal    bool
	NoChatGrant bool
	Outside     Outside
	Outcome     Outcome
	Within      time.Duration

	Run          func(ctx context.Context, c *Context, args json.RawMessage) (any, error)
	RiskOf       func(ctx context.Context, c *Context, args json.RawMessage) (Risk, error)
	Describe     func(ctx context.Context, c *Context, args json.RawMessage) (Wording, error)
	SendsOut     func(ctx context.Context, c *Context, args json.RawMessage) (bool, error)
	Address      func(ctx context.Context, c *Context, args json.RawMessage) (string, error)
	Destinations func(ctx context.Context, c *Context, args json.RawMessage) ([]Destination, error)
	OutsideFrom  func(args json.RawMessage) string
	Verify       func(ctx context.Context, c *Context, args, result json.RawMessage) (Verified, error)
	Targets      func(args json.RawMessage) []string
	Touches      func(args json.RawMessage) *Touched
	Shorten      func(result json.RawMessage) json.RawMessage
	Sources      func(args, result json.RawMessage) []Source
	Memories     func(args, result json.RawMessage) []MemorySource
	Files        func(args, result json.RawMessage) []string

	schema *jsonschema.Resolved
	err    error // why it cannot be used
}

// Def is what a plugin writes down about a tool whose arguments are In, a struct: its json tags name the arguments
// (omitempty: may be left out), doc describes one, enum lists its values ("a,b"), min and max bound a number.
type Def[In any] struct {
	Name        string
	Description string // for the model: what it does and when to use it, in one to three short sentences
	Risk        Risk
	Internal    bool          // it only touches Sentient's own things: Write does not ask in mode "ask"
	NoChatGrant bool          // "Allow for this chat" is never offered
	Outside     Outside       // the results can carry what someone else wrote
	Outcome     Outcome       // what code checks after a call
	Within      time.Duration // how long a call may take; 0: two minutes

	Run func(ctx context.Context, c *Context, in In) (any, error) // the result encodes to JSON; a string is text
	// RiskOf overrides Risk for a call; nil: never. One that fails counts as Exec.
	RiskOf func(ctx context.Context, c *Context, in In) (Risk, error)
	// Describe words a call; nil: by its risk.
	Describe func(ctx context.Context, c *Context, in In) (Wording, error)
	// SendsOut says that a call below Send can move data out (`exfiltrates`); nil: no. One that fails counts as yes.
	SendsOut func(ctx context.Context, c *Context, in In) (bool, error)
	// Address is the web address that a call loads (`url_fn`); nil: none.
	Address func(ctx context.Context, c *Context, in In) (string, error)
	// Destinations are whom a call reaches where its arguments do not name them (a reply's recipients), within 20 s; nil: none.
	Destinations func(ctx context.Context, c *Context, in In) ([]Destination, error)
	// OutsideFrom names where the outside content of this call comes from, when it is not the app; nil or "": the app.
	OutsideFrom func(in In) string
	// Touches are the files that a call may change, so that copies of them can be kept first (§10 "File snapshots"); nil: none.
	Touches func(in In) *Touched
	// Verify reads back what a call did, within 15 s; nil: the result's own word is taken.
	Verify func(ctx context.Context, c *Context, in In, result json.RawMessage) (Verified, error)
	// Targets are what a call acts on (recipients, a file's name), for its check; nil: none.
	Targets func(in In) []string
	// Shorten gives a shorter version of a long result; nil: it is cut.
	Shorten func(result json.RawMessage) json.RawMessage
	// Sources are the pages, mails and files that a result shows; nil: none.
	Sources func(in In, result json.RawMessage) []Source
	// Memories are the memories that a result shows; nil: none.
	Memories func(in In, result json.RawMessage) []MemorySource
	// Files are the files that a call saved, by their names under files/; nil: none.
	Files func(in In, result json.RawMessage) []string
}

// New makes a tool of its definition. A definition that cannot work (no schema, no Run) is found by Check.
func New[In any](d Def[In]) *Tool {
	t := &Tool{Name: d.Name, Description: d.Description, Risk: d.Risk, Internal: d.Internal, NoChatGrant: d.NoChatGrant, Outside: d.Outside, Outcome: d.Outcome, Within: d.Within}
	t.Parameters, t.schema, t.err = schemaOf[In]()
	if d.Run == nil {
		t.err = fmt.Errorf("tool %s has no Run", d.Name)
		return t
	}
	t.Run = func(ctx context.Context, c *Context, args json.RawMessage) (any, error) {
		in, err := decode[In](args)
		if err != nil {
			return nil, err
		}
		return d.Run(ctx, c, in)
	}
	t.RiskOf = called(d.RiskOf)
	t.Describe = called(d.Describe)
	t.SendsOut = called(d.SendsOut)
	t.Address = called(d.Address)
	t.Destinations = called(d.Destinations)
	t.Shorten = d.Shorten
	t.OutsideFrom = told(d.OutsideFrom)
	t.Targets = told(d.Targets)
	t.Touches = told(d.Touches)
	t.Sources = shown(d.Sources)
	t.Memories = shown(d.Memories)
	t.Files = shown(d.Files)
	if d.Verify != nil {
		t.Verify = func(ctx context.Context, c *Context, args, result json.RawMessage) (Verified, error) {
			in, err := decode[In](args)
			if err != nil {
				return Verified{}, err
			}
			return d.Verify(ctx, c, in, result)
		}
	}
	return t
}

func decode[In any](args json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(args, &in); err != nil {
		return in, fmt.Errorf("read arguments: %w", err)
	}
	return in, nil
}

func called[In, Out any](f func(context.Context, *Context, In) (Out, error)) func(context.Context, *Context, json.RawMessage) (Out, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, c *Context, args json.RawMessage) (out Out, err error) {
		in, err := decode[In](args)
		if err != nil {
			return out, err
		}
		return f(ctx, c, in)
	}
}

func told[In, Out any](f func(In) Out) func(json.RawMessage) Out {
	if f == nil {
		return nil
	}
	return func(args json.RawMessage) (out Out) {
		in, err := decode[In](args)
		if err != nil {
			return out
		}
		return f(in)
	}
}

func shown[In, Out any](f func(In, json.RawMessage) []Out) func(args, result json.RawMessage) []Out {
	if f == nil {
		return nil
	}
	return func(args, result json.RawMessage) []Out {
		in, err := decode[In](args)
		if err != nil {
			return nil
		}
		return f(in, result)
	}
}

// Plugin is a set of tools that belong together: a connected app, or a part of Sentient (§2 "Tools").
type Plugin struct {
	ID          string // "web"; lasting rules can name it
	Name        string // "Web", for people
	Description string // one line for people
	Category    string // core, productivity, communication, knowledge, development, home, utilities
	Icon        string // a name of the Tabler icons
	Auth        string // builtin, oauth, api_key, manual, mcp
	Hint        string // words that show a message needs it, for the choice of tools
	Scoped      bool   // never offered unless a run names its tools
	Trusted     bool   // its look-ups bring nothing that someone else wrote
	Public      bool   // its look-ups hold nothing of the person's: pages, news, the weather (decision 5)
	Core        bool   // always offered, also to small models
	Connected   func() bool
	Tools       []*Tool
}

// BringsOutside reports whether a tool's results can carry what someone else wrote (§10 "Outside content").
func (t *Tool) BringsOutside(p *Plugin) bool {
	switch t.Outside {
	case Always:
		return true
	case Never:
		return false
	}
	return t.Risk == Read && !t.Internal && !p.Trusted
}
