package doors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"sentient/app/bound"
	"sentient/backend/api"
	"sentient/backend/event"
	"sentient/backend/testkit"
)

// scenario is one request and what must come of it.
type scenario struct {
	name   string
	op     string                               // the operation that it is a scenario of
	who    string                               // "" the folder's token, "none", "wrong"
	method string                               //
	path   string                               // {x} stands for vars["x"]
	body   string                               // the same
	before func(*testkit.Kit) map[string]string // prepares the world and gives vars
	status int
	has    []string       // what the answer holds
	lacks  []string       // what it does not hold
	events map[string]int // exactly these domain events, by name; nothing else
	after  func(*testkit.Kit, map[string]string)
}

// with are the options of the engines of the scenarios that are running.
var with []testkit.Option

// covered notes which operations have scenarios, for the test that all have.
var covered = map[string]int{}

func run(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		if s.op == "" {
			t.Fatalf("scenario %q names no operation", s.name)
		}
		covered[s.op]++
		for _, door := range []string{"http", "window"} {
			if door == "window" && !s.fitsTheWindow() {
				continue
			}
			t.Run(s.op+"/"+s.name+"/"+door, func(t *testing.T) {
				k := testkit.Start(t, with...)
				s.play(t, k, door)
			})
		}
	}
}

// fitsTheWindow tells whether the scenario can happen at the window's door: it carries unary calls of the window itself,
// and passes objects, never text that is none.
func (s scenario) fitsTheWindow() bool {
	op, ok := api.NewTable(api.Services{}, nil).Op(s.op)
	var object map[string]any
	return ok && op.Kind == api.Unary && s.who == "" && (s.body == "" || json.Unmarshal([]byte(s.body), &object) == nil)
}

func (s scenario) play(t *testing.T, k *testkit.Kit, door string) {
	vars := map[string]string{}
	if s.before != nil {
		vars = s.before(k)
	}
	op, ok := k.Op(s.op)
	if !ok {
		t.Fatalf("there is no operation %s", s.op)
	}
	path, body := fill(s.path, vars), fill(s.body, vars)
	if !op.MatchesPath(strings.SplitN(path, "?", 2)[0]) || s.method != op.Verb {
		t.Fatalf("%s %s is not a request of %s", s.method, path, s.op)
	}
	events := k.Bus().Subscribe(nil, func(e *event.Event) bool { return !e.Topic.Chat })
	defer events.Close()
	var status int
	var answer string
	if door == "http" {
		status, answer = s.overHTTP(k, path, body)
	} else {
		status, answer = throughWindow(t, k, op, path, body)
	}
	if status != s.status {
		t.Fatalf("status %d, want %d: %s", status, s.status, answer)
	}
	for _, part := range s.has {
		if part = fill(part, vars); !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %s: %s", part, answer)
		}
	}
	for _, part := range s.lacks {
		if part = fill(part, vars); strings.Contains(answer, part) {
			t.Errorf("the answer holds %s: %s", part, answer)
		}
	}
	checkShape(t, k, op, status, answer)
	checkEvents(t, s.events, events)
	if s.after != nil {
		s.after(k, vars)
	}
}

func fill(text string, vars map[string]string) string {
	for name, value := range vars {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (s scenario) overHTTP(k *testkit.Kit, path, body string) (int, string) {
	r := k.Request(s.method, path, body)
	switch s.who {
	case "none":
		r.Header.Del("Authorization")
	case "wrong":
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 43))
	}
	return k.Do(r)
}

// door is an engine as the window's door. The engine's own context would do; the test's ends earlier.
type door struct{ *testkit.Kit }

func (d door) Context() context.Context { return d.T.Context() }

// throughWindow calls the bound method with the flat input, as the page would.
func throughWindow(t *testing.T, k *testkit.Kit, op api.Op, path, body string) (int, string) {
	t.Helper()
	input := flatInput(t, op, path, body)
	for _, noun := range bound.Nouns(door{k}) {
		v := reflect.ValueOf(noun)
		if v.Elem().Type().Name() != op.Noun() {
			continue
		}
		method := v.MethodByName(op.Method())
		if !method.IsValid() {
			t.Fatalf("%s has no method %s", op.Noun(), op.Method())
		}
		in := reflect.New(method.Type().In(0))
		if err := json.Unmarshal(input, in.Interface()); err != nil {
			// The window's library refuses what does not fit the parameter before it reaches us.
			return http.StatusUnprocessableEntity, err.Error()
		}
		out := method.Call([]reflect.Value{in.Elem()})
		if err, _ := out[1].Interface().(error); err != nil {
			f, ok := errors.AsType[*bound.Failure](err)
			if !ok {
				t.Fatalf("the bound method gave a %T", err)
			}
			return f.Status, f.Error()
		}
		raw, err := json.Marshal(out[0].Interface())
		if err != nil {
			t.Fatal(err)
		}
		return http.StatusOK, string(raw)
	}
	t.Fatalf("nothing is bound for %s", op.Noun())
	return 0, ""
}

// flatInput puts path, query and body into one object, the way the page's client does before it picks a transport.
func flatInput(t *testing.T, op api.Op, path, body string) json.RawMessage {
	t.Helper()
	members := map[string]json.RawMessage{}
	if name := op.WholeBody(); name != "" {
		members[name] = json.RawMessage(body)
	} else if body != "" {
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			t.Fatal(err)
		}
	}
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range op.QueryMembers() {
		if v := values[name]; len(v) > 0 {
			members[name] = api.FromText(kind, v[0])
		}
	}
	want, got := strings.Split(op.Path, "/"), strings.Split(path, "/")
	for i, part := range want {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			value := got[i]
			if strings.HasSuffix(part, "...}") {
				value = strings.Join(got[i:], "/")
			}
			value, err := url.PathUnescape(value)
			if err != nil {
				t.Fatal(err)
			}
			members[strings.TrimSuffix(strings.TrimSuffix(name, "}"), "...")] = api.FromText(api.Text, value)
		}
	}
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// checkShape holds every answer against its schema, and every refusal against the shape of errors.
func checkShape(t *testing.T, k *testkit.Kit, op api.Op, status int, answer string) {
	t.Helper()
	if op.Kind != api.Unary {
		return
	}
	var value any
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		if status < 400 {
			t.Errorf("the answer is not JSON: %v", err)
		}
		return
	}
	if status >= 400 {
		object, _ := value.(map[string]any)
		sentence, isText := object["detail"].(string)
		if object["code"] == "" || object["detail"] == nil || isText && !looksLikeASentence(sentence) {
			t.Errorf("not the shape of an error: %s", answer)
		}
		return
	}
	result := &huma.ValidateResult{}
	k.Validate(op.Out, value, result)
	for _, err := range result.Errors {
		t.Errorf("the answer does not have its shape: %v", err)
	}
}

func looksLikeASentence(s string) bool {
	return s != "" && strings.ToUpper(s[:1]) == s[:1] && strings.ContainsAny(s[len(s)-1:], ".?!”")
}

// checkEvents wants exactly these domain events. Those of a request are published before its answer is sent.
func checkEvents(t *testing.T, want map[string]int, events *event.Subscription) {
	t.Helper()
	got := map[string]int{}
	for {
		e, ok := events.Try()
		if !ok {
			break
		}
		got[e.Topic.Name]++
	}
	if want == nil {
		want = map[string]int{}
	}
	if !maps.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// refusals are the scenarios that every operation behind the token begins with.
func refusals(op, method, path string) []scenario {
	return []scenario{
		{name: "without a token", op: op, who: "none", method: method, path: path, status: 401, has: []string{`"code":"unauthorized"`, `"request_id"`}},
		{name: "with a wrong token", op: op, who: "wrong", method: method, path: path, status: 401, has: []string{`"code":"unauthorized"`}},
	}
}

// Every operation with a route has scenarios, and among them a success and a refusal. It runs last in this package.
func checkAllCovered(t *testing.T, table *api.Table) {
	t.Helper()
	var missing []string
	for _, o := range table.Operations() {
		if o.Path != "" && covered[o.ID] == 0 {
			missing = append(missing, fmt.Sprintf("%s (%s %s)", o.ID, o.Verb, o.Path))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("operations without a scenario:\n%s", strings.Join(missing, "\n"))
	}
}
