// Package conform holds what every plugin must keep to, whatever it does: what the rest of Sentient takes for granted
// about a tool. Each plugin's tests call Plugin with a few calls that work.
//
// Only tests import it.
package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// Case is a call that works.
type Case struct {
	Tool    string
	Args    string // a JSON object
	Context *tool.Context
	Within  func(ctx context.Context) context.Context // gives the context of the call; nil: the test's own
}

// patience is how long a call may go on after it was stopped. It tells a call that ends from one that does not.
const patience = 2 * time.Second

// maxDescription is how long a tool's description may be, in bytes: all of them are in every prompt.
const maxDescription = 300

// Plugin tests a plugin: what it says about itself, that the cases work, that bad arguments are refused, that nothing
// panics whatever it is given, and that every call ends when it is stopped. The plugin's outside world is the caller's
// stand-in; its clock must not make a call wait.
func Plugin(t *testing.T, p *tool.Plugin, cases ...Case) {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	byName := map[string]*tool.Tool{}
	for _, x := range p.Tools {
		byName[x.Name] = x
		t.Run(x.Name+" says what it is", func(t *testing.T) { describes(t, p, x) })
		t.Run(x.Name+" takes anything", func(t *testing.T) { takesAnything(t, x) })
	}
	tried := map[string]bool{}
	for _, c := range cases {
		x := byName[c.Tool]
		if x == nil {
			t.Errorf("a case is for %s, which the plugin does not have", c.Tool)
			continue
		}
		tried[c.Tool] = true
		t.Run(c.Tool+" works", func(t *testing.T) { works(t, x, c) })
		t.Run(c.Tool+" stops", func(t *testing.T) { stops(t, x, c) })
	}
	for name := range byName {
		if !tried[name] {
			t.Errorf("no case tries %s", name)
		}
	}
}

func describes(t *testing.T, p *tool.Plugin, x *tool.Tool) {
	if len(x.Description) > maxDescription {
		t.Errorf("the description has %d bytes (at most %d)", len(x.Description), maxDescription)
	}
	if d := strings.TrimSpace(x.Description); d != x.Description || !strings.HasSuffix(d, ".") || !unicode.IsUpper([]rune(d)[0]) {
		t.Errorf("the description is no sentence: %q", x.Description)
	}
	if x.Outcome != tool.OutcomeNone && x.Verify == nil && x.Targets == nil {
		t.Error("it has an outcome, but neither Verify nor Targets")
	}
	if x.Risk == tool.Read && x.Outcome != tool.OutcomeNone {
		t.Error("it only reads, but has an outcome")
	}
	if p.Auth == "builtin" && p.Hint == "" && !p.Core {
		t.Error("the plugin has no hint, so no text finds it")
	}
	var s schema
	if err := json.Unmarshal(x.Parameters, &s); err != nil || s.Type != "object" {
		t.Fatalf("the parameters are no object: %s (%v)", x.Parameters, err)
	}
	described(t, "", s)
	for _, bad := range []string{`[]`, `7`, `"x"`, `{"a":`, `{}{}`, "\x00", strings.Repeat("[", 10_000)} {
		if got, err := x.Prepare(json.RawMessage(bad)); err == nil && string(got) != "{}" {
			t.Errorf("%.20q became %s", bad, got)
		} else if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "jsonschema")) {
			t.Errorf("%.20q is refused with %q", bad, err)
		}
	}
	if _, err := x.Prepare(json.RawMessage(`{"no such argument": 1}`)); err == nil {
		t.Error("an unknown argument is taken")
	}
	for _, name := range s.Required {
		if _, err := x.Prepare(json.RawMessage(`{}`)); err == nil {
			t.Errorf("it needs %s and does not miss it", name)
		}
	}
}

// schema is the part of a JSON schema that is looked at.
type schema struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	Required    []string          `json:"required"`
	Enum        []any             `json:"enum"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
}

func described(t *testing.T, at string, s schema) {
	if s.Items != nil {
		described(t, at+"[]", *s.Items)
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("argument %s%s is not described", at, name)
		}
		if p.Type == "" {
			t.Errorf("argument %s%s has no type", at, name)
		}
		described(t, at+name+".", p)
	}
}

func works(t *testing.T, x *tool.Tool, c Case) {
	args, err := x.Prepare(json.RawMessage(c.Args))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if c.Within != nil {
		ctx = c.Within(ctx)
	}
	value, err := run(t, ctx, x, contextOf(c), args)
	if err != nil {
		t.Fatal(err)
	}
	result := encode(t, value)
	if len(result) == 0 || string(result) == "null" {
		t.Error("it gave nothing")
	}
	look(t, x, contextOf(c), args, result)
	if x.Verify != nil {
		v, err := x.Verify(t.Context(), contextOf(c), args, result)
		if err != nil || !v.OK {
			t.Errorf("what it did is not found again: %+v (%v)", v, err)
		}
	}
}

func contextOf(c Case) *tool.Context {
	if c.Context == nil {
		return &tool.Context{SessionID: "s1", TurnID: "t1", CallID: "c1", Channel: "desktop", Origin: "user", ResultLimit: 16000}
	}
	one := *c.Context
	return &one
}

// stops tries a call that is stopped before it begins, and one that is stopped while it runs.
func stops(t *testing.T, x *tool.Tool, c Case) {
	args, err := x.Prepare(json.RawMessage(c.Args))
	if err != nil {
		t.Fatal(err)
	}
	tree := svc.NewTree("conformance", obs.Discard())
	for _, late := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if !late {
			cancel()
		}
		ended := make(chan struct{})
		tree.Go(x.Name, func(context.Context) {
			defer close(ended)
			run(t, ctx, x, contextOf(c), args)
		})
		cancel()
		limit := clock.Real{}.NewTimer(patience)
		select {
		case <-ended:
		case <-limit.C():
			t.Fatalf("it goes on after it was stopped (late: %v)", late)
		}
		limit.Stop()
	}
	tree.Close()
}

// takesAnything calls a tool with arguments of every kind that fits its schema. Errors are fine, if they are for people;
// a panic is not.
func takesAnything(t *testing.T, x *tool.Tool) {
	var s schema
	if err := json.Unmarshal(x.Parameters, &s); err != nil {
		t.Fatal(err)
	}
	for _, args := range variants(s) {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := x.Prepare(raw)
		if err != nil {
			continue
		}
		short := string(prepared[:min(len(prepared), 80)])
		value, err := run(t, t.Context(), x, &tool.Context{ResultLimit: 1500}, prepared)
		result := json.RawMessage(`{"error":"x"}`)
		if err == nil {
			result = encode(t, value)
		} else if e, ok := errors.AsType[*errs.Error](err); !ok {
			t.Errorf("%s gives an error that nobody can read: %v", short, err)
		} else if len(e.Message) < 10 || !strings.HasSuffix(e.Message, ".") { // it may begin with a host's name
			t.Errorf("%s gives no sentence: %q", short, e.Message)
		}
		for _, r := range []json.RawMessage{result, nil, json.RawMessage(`null`), json.RawMessage(`[]`), json.RawMessage(`"text"`), json.RawMessage(`{"results":7,"url":[],"name":{}}`)} {
			look(t, x, &tool.Context{}, prepared, r)
		}
	}
}

// texts are texts that no tool expects.
func texts() []string {
	return []string{"", " ", "a", "\x00", "a\x00b", "\xff\xfe\xfa", "../../etc/passwd", `..\..\x`, "/etc/passwd", "C:\\x", "CON", "file:///etc/passwd",
		"http://", "http://[::1", "javascript:alert(1)", strings.Repeat("x", 4000), strings.Repeat("ж", 1<<19), strings.Repeat("\n", 3000),
		"\u202egnp.exe", "😀", "' OR 1=1 --", "<script>alert(1)</script>", "{{.}}", "%s%n%d", "-1", "NaN"}
}

// variants makes objects that fit a schema's types: each text for all of its texts, each number for all of its numbers.
func variants(s schema) []map[string]any {
	list := []map[string]any{{}}
	for _, text := range texts() {
		list = append(list, object(s, text, 1, false))
	}
	for _, n := range []float64{0, 1, -1, 2, 1e9, -1e9, math.MaxInt64, 0.5} {
		list = append(list, object(s, "a", n, false), object(s, "a", n, true))
	}
	return list
}

func object(s schema, text string, number float64, required bool) map[string]any {
	o := map[string]any{}
	for name, p := range s.Properties {
		if !required || strings.Contains(" "+strings.Join(s.Required, " ")+" ", " "+name+" ") {
			o[name] = value(p, text, number)
		}
	}
	return o
}

func value(s schema, text string, number float64) any {
	switch s.Type {
	case "string":
		if len(s.Enum) > 0 {
			return s.Enum[len(text)%len(s.Enum)]
		}
		return text
	case "integer", "number":
		if s.Minimum != nil {
			number = max(number, *s.Minimum)
		}
		if s.Maximum != nil {
			number = min(number, *s.Maximum)
		}
		if s.Type == "integer" {
			return int64(min(number, 1<<53))
		}
		return number
	case "boolean":
		return number > 0
	case "array":
		if s.Items == nil || text == "" {
			return []any{}
		}
		return []any{value(*s.Items, text, number), value(*s.Items, "a", number)}
	case "object":
		return object(s, text, number, false)
	}
	return nil
}

// look asks a tool all that it says about a call.
func look(t *testing.T, x *tool.Tool, c *tool.Context, args, result json.RawMessage) {
	t.Helper()
	guard(t, "a question about a call", func() {
		ctx := t.Context()
		if x.RiskOf != nil {
			x.RiskOf(ctx, c, args)
		}
		if x.Describe != nil {
			if w, err := x.Describe(ctx, c, args); err == nil && len(w.Target) > 400 {
				t.Errorf("a call's target has %d bytes", len(w.Target))
			}
		}
		if x.SendsOut != nil {
			x.SendsOut(ctx, c, args)
		}
		if x.Address != nil {
			x.Address(ctx, c, args)
		}
		if x.Destinations != nil {
			x.Destinations(ctx, c, args)
		}
		if x.OutsideFrom != nil {
			x.OutsideFrom(args)
		}
		if x.Targets != nil {
			x.Targets(args)
		}
		if x.Shorten != nil {
			x.Shorten(result)
		}
		if x.Verify != nil {
			x.Verify(ctx, c, args, result)
		}
		if x.Memories != nil {
			x.Memories(args, result)
		}
		if x.Sources == nil {
			return
		}
		for _, s := range x.Sources(args, result) {
			if s.Kind == "" || s.Shown != "" && !bytes.Contains(result, []byte(s.Shown)) {
				t.Errorf("a source without a kind, or of what was not shown: %+v", s)
			}
		}
	})
}

func run(t *testing.T, ctx context.Context, x *tool.Tool, c *tool.Context, args json.RawMessage) (value any, err error) {
	guard(t, "Run", func() { value, err = x.Run(ctx, c, args) })
	return value, err
}

func guard(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s panicked: %v", what, p)
		}
	}()
	f()
}

// encode writes a result as the loop does.
func encode(t *testing.T, value any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Error(fmt.Errorf("encode result: %w", err))
	}
	return bytes.TrimSpace(b.Bytes())
}
