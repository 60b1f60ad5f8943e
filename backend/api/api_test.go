package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"sentient/backend/errs"
	"sentient/backend/event"
)

func TestEveryTopicEncodes(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range Topics() {
		if seen[info.Name] {
			t.Errorf("%s is listed twice", info.Name)
		}
		seen[info.Name] = true
		if info.Chat == strings.Contains(info.Name, ".") {
			t.Errorf("%s: chat events have no dot, domain events have one (§1)", info.Name)
		}
		raw := Encode(&event.Event{Seq: 7, At: time.Unix(1, 0), Topic: info, Payload: info.Zero})
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Errorf("%s: %v: %s", info.Name, err, raw)
			continue
		}
		if m["type"] != info.Name || m["seq"] != float64(7) {
			t.Errorf("%s: %s", info.Name, raw)
		}
		if !info.Chat && (m["data"] == nil || m["ts"] != "1970-01-01T00:00:01.000000Z") {
			t.Errorf("%s lacks data or ts: %s", info.Name, raw)
		}
	}
}

func TestPlaces(t *testing.T) {
	if parsePlace("") != nil {
		t.Error("no place is no place")
	}
	for text, want := range map[string]event.Place{"b.7": {Boot: "b", Seq: 7}, "b": {}, "b.x": {}, ".": {}, "b.-1": {}, "b.99999999999999999999999": {}} {
		if got := parsePlace(text); got == nil || *got != want {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func TestMembersOfAddresses(t *testing.T) {
	for _, c := range []struct {
		kind Scalar
		text string
		want string
	}{{Number, "10", "10"}, {Number, "ten", `"ten"`}, {Number, "0x10", `"0x10"`}, {Number, "1e2", "1e2"}, {Number, "NaN", `"NaN"`}, {Bool, "true", "true"}, {Bool, "1", "true"}, {Bool, "maybe", `"maybe"`}, {Text, `a"b`, `"a\"b"`}} {
		if got := string(FromText(c.kind, c.text)); got != c.want {
			t.Errorf("%s %q gave %s", c.kind, c.text, got)
		}
	}
	o := Op{Path: "/api/files/content/{name...}"}
	for path, want := range map[string]bool{"/api/files/content/a": true, "/api/files/content/a/b.png": true, "/api/files/content": false, "/api/files": false} {
		if o.MatchesPath(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	o = Op{Path: "/api/sessions/{id}/messages"}
	for path, want := range map[string]bool{"/api/sessions/x/messages": true, "/api/sessions//messages": false, "/api/sessions/x": false, "/api/sessions/x/messages/y": false} {
		if o.MatchesPath(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

func TestInputsAreChecked(t *testing.T) {
	type input struct {
		Name  string `json:"name" minLength:"1"`
		Limit int    `json:"limit,omitempty" maximum:"10"`
	}
	s := newShapes()
	for body, want := range map[string]int{`{"name":"a"}`: 0, `{"name":"a","other":1}`: 0, `{"name":"a","limit":3}`: 0,
		`{}`: 422, `{"name":""}`: 422, `{"name":7}`: 422, `{"name":"a","limit":11}`: 422, `{"name":null}`: 422, `[]`: 422, `7`: 422, `{`: 400, ``: 400} {
		err := s.check(reflect.TypeFor[input](), json.RawMessage(body))
		if want == 0 && err != nil || want != 0 && errs.StatusOf(err) != want {
			t.Errorf("%s: %v, want %d", body, err, want)
		}
	}
}

// The document names every route, and every reference in it leads somewhere.
func TestDocumentIsWhole(t *testing.T) {
	table := NewTable(Services{}, nil)
	raw, err := table.Document()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OpenAPI    string                    `json:"openapi"`
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatal(err, doc.OpenAPI)
	}
	for _, o := range table.Operations() {
		if o.Path == "" {
			continue
		}
		verb := strings.ToLower(o.Verb)
		if o.Kind == Live {
			verb = strings.ToLower(http.MethodGet)
		}
		if doc.Paths[strings.ReplaceAll(o.Path, "...}", "}")][verb] == nil {
			t.Errorf("the document lacks %s %s", o.Verb, o.Path)
		}
	}
	for _, ref := range bytes.Split(raw, []byte(`"$ref": "`))[1:] {
		name := strings.TrimPrefix(string(ref[:bytes.IndexByte(ref, '"')]), refPrefix)
		if doc.Components.Schemas[name] == nil {
			t.Errorf("the document refers to %s, which it does not have", name)
		}
	}
}
