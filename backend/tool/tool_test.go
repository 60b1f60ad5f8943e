package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"sentient/backend/tool"
)

type inner struct {
	Name string `json:"name"`
}

type arguments struct {
	To    string         `json:"to" doc:"who"`
	Count int            `json:"count,omitempty" min:"1" max:"9"`
	Share float64        `json:"share,omitempty"`
	Yes   bool           `json:"yes,omitempty"`
	Tags  []string       `json:"tags,omitempty" enum:"a,b"`
	Nums  []int          `json:"nums,omitempty"`
	Kind  string         `json:"kind,omitempty" enum:"x,y"`
	Part  *inner         `json:"part,omitempty"`
	Map   map[string]any `json:"map,omitempty"`
}

func sample() *tool.Tool {
	return tool.New(tool.Def[arguments]{Name: "sample", Description: "Does.", Risk: tool.Read,
		Run: func(_ context.Context, _ *tool.Context, in arguments) (any, error) { return in, nil }})
}

// What cannot be misread is put right; everything else is an error, and half of anything is never made whole.
func TestPrepare(t *testing.T) {
	for raw, want := range map[string]string{
		`{"to":"a"}`:                           `{"to":"a"}`,
		" \n{\"to\": \"a\"}\t":                 `{"to":"a"}`,
		"```json\n{\"to\":\"a\"}\n```":         `{"to":"a"}`,
		"```\n{\"to\":\"a\"}```":               `{"to":"a"}`,
		`"{\"to\":\"a\"}"`:                     `{"to":"a"}`,
		`{"to":"a","to":"b"}`:                  `{"to":"b"}`,
		`{"to":5}`:                             `{"to":"5"}`,
		`{"to":"a","count":"3"}`:               `{"count":3,"to":"a"}`,
		`{"to":"a","count":3.0}`:               `{"count":3,"to":"a"}`,
		`{"to":"a","share":"0.5"}`:             `{"share":0.5,"to":"a"}`,
		`{"to":"a","yes":"True"}`:              `{"to":"a","yes":true}`,
		`{"to":"a","tags":"a"}`:                `{"tags":["a"],"to":"a"}`,
		`{"to":"a","tags":"[\"a\",\"b\"]"}`:    `{"tags":["a","b"],"to":"a"}`,
		`{"to":"a","nums":"7"}`:                `{"nums":[7],"to":"a"}`,
		`{"to":"a","nums":7}`:                  `{"nums":[7],"to":"a"}`,
		`{"to":"a","part":"{\"name\":\"n\"}"}`: `{"part":{"name":"n"},"to":"a"}`,
		`{"to":"a","count":null,"part":null}`:  `{"to":"a"}`,
		`{"to":"a","map":{"b":{"c":[1,2.5]}}}`: `{"map":{"b":{"c":[1,2.5]}},"to":"a"}`,
	} {
		got, err := sample().Prepare(json.RawMessage(raw))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v", raw, got, err)
		}
	}
	for raw, want := range map[string]string{
		``:                           "to",
		`null`:                       "to",
		`{}`:                         "to",
		`{"to":"a`:                   "not valid JSON",
		`{"to":"a"`:                  "not valid JSON",
		`{"to":"a"} {"to":"b"}`:      "more than one",
		`[{"to":"a"}]`:               "not a JSON object",
		`"a"`:                        "not a JSON object",
		`7`:                          "not a JSON object",
		`{"to":"a","bcc":"b"}`:       "bcc",
		`{"to":"a","count":"three"}`: "count",
		`{"to":"a","count":10}`:      "count",
		`{"to":"a","count":0}`:       "count",
		`{"to":"a","count":2.5}`:     "count",
		`{"to":"a","kind":"z"}`:      "kind",
		`{"to":"a","tags":["c"]}`:    "tags",
		`{"to":"a","yes":"1"}`:       "yes",
		`{"to":["a"]}`:               "to",
		`{"to":{"a":1}}`:             "to",
		`{'to':'a'}`:                 "not valid JSON",
		`{"to":"` + strings.Repeat("a", 5<<20) + `"}`: "longer than 4 MB",
	} {
		got, err := sample().Prepare(json.RawMessage(raw))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %s %v", raw, got, err)
		}
	}
}

// The schema is in the plain form that every provider takes.
func TestSchema(t *testing.T) {
	var s struct {
		Type       string
		Required   []string
		Properties map[string]map[string]any
	}
	if err := json.Unmarshal(sample().Parameters, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || len(s.Required) != 1 || s.Required[0] != "to" || s.Properties["to"]["description"] != "who" {
		t.Errorf("%+v", s)
	}
	text := string(sample().Parameters)
	for _, odd := range []string{"null", "$ref", "$defs", "anyOf"} {
		if strings.Contains(text, odd) {
			t.Errorf("%s in %s", odd, text)
		}
	}
}

func TestCheck(t *testing.T) {
	run := func(context.Context, *tool.Context, struct{}) (any, error) { return nil, nil }
	for want, d := range map[string]tool.Def[struct{}]{
		"snake_case":     {Name: "No Name", Description: "d", Risk: tool.Read, Run: run},
		"no description": {Name: "name", Risk: tool.Read, Run: run},
		"no risk":        {Name: "name", Description: "d", Run: run},
		"no Run":         {Name: "name", Description: "d", Risk: tool.Read},
	} {
		if err := tool.New(d).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := sample().Check(); err != nil {
		t.Error(err)
	}
	p := tool.Plugin{ID: "p", Name: "P", Description: "d", Icon: "i", Category: "home", Auth: "builtin", Tools: []*tool.Tool{sample()}}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Category = "somewhere"
	if p.Check() == nil {
		t.Error("an unknown category")
	}
}

// A schema from outside is used as it is, and one that cannot be used is said so.
func TestFromSchema(t *testing.T) {
	x := (&tool.Tool{Name: "far", Description: "d", Risk: tool.Send, Run: sample().Run}).FromSchema(json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
	if got, err := x.Prepare(json.RawMessage(`{"n":"4","more":1}`)); err != nil || string(got) != `{"more":1,"n":4}` {
		t.Error(string(got), err)
	}
	if _, err := x.Prepare(json.RawMessage(`{}`)); err == nil {
		t.Error("a member is missing")
	}
	for _, bad := range []string{`{`, `{"type":7}`, `{"$ref":"#/nothing"}`} {
		if (&tool.Tool{Name: "far", Description: "d", Risk: tool.Send, Run: sample().Run}).FromSchema(json.RawMessage(bad)).Check() == nil {
			t.Error(bad)
		}
	}
}

func TestRisk(t *testing.T) {
	for r, want := range map[tool.Risk]string{tool.Read: "read", tool.Write: "write", tool.Send: "send", tool.Exec: "exec", 0: "exec", 99: "exec"} {
		if r.String() != want {
			t.Error(r, want)
		}
	}
	var r tool.Risk
	if err := r.UnmarshalText([]byte("send")); err != nil || r != tool.Send || r.UnmarshalText([]byte("x")) == nil {
		t.Error(r, err)
	}
	if got := (tool.Wording{}).Label(tool.Send); got != "Sends" {
		t.Error(got)
	}
}

// Whatever a model writes, what comes out fits the schema, is one object, and comes out the same when it is read again.
func FuzzPrepare(f *testing.F) {
	for _, s := range []string{`{"to":"a"}`, "```json\n{\"to\":\"a\"}\n```", `"{\"to\":\"a\"}"`, `{"to":"a","count":"3","tags":"a"}`, `{"to":"a`, `{"to":"\ud800"}`, "{\"to\":\"\xff\"}", `{"to":1e999}`, `{"to":"a","map":{"x":1e400}}`, `[[[[[[`} {
		f.Add([]byte(s))
	}
	x := sample()
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := x.Prepare(raw)
		if err != nil {
			return
		}
		if _, err := x.Run(context.Background(), &tool.Context{}, got); err != nil {
			t.Fatalf("%q became %s, which cannot be read: %v", raw, got, err)
		}
		again, err := x.Prepare(got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%q became %s, and then %s %v", raw, got, again, err)
		}
	})
}
