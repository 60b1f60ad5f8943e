package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Scalar is how a member that stands in an address is read.
type Scalar string

// The scalars.
const (
	Text   Scalar = "text"
	Number Scalar = "number"
	Bool   Scalar = "bool"
)

// FromText makes JSON of a member in an address. What does not read as its kind stays text, for the schema to refuse.
func FromText(kind Scalar, text string) json.RawMessage {
	switch kind {
	case Number:
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return strconv.AppendBool(nil, b)
		}
	}
	return quote(text)
}

var pathMember = regexp.MustCompile(`\{([a-z_]+)(\.\.\.)?\}`)

// PathMembers names the members of the input that stand in the path.
func (o Op) PathMembers() []string {
	var names []string
	for _, m := range pathMember.FindAllStringSubmatch(o.Path, -1) {
		names = append(names, m[1])
	}
	return names
}

// WholeBody names the member that is the whole body of the request, or "".
func (o Op) WholeBody() string {
	for f := range o.In.Fields() {
		if f.Tag.Get("in") == "body" {
			return jsonName(f)
		}
	}
	return ""
}

// QueryMembers gives the members that stand in the query: all but the path's where a request has no body, else those
// marked `in:"query"`.
func (o Op) QueryMembers() map[string]Scalar {
	members := map[string]Scalar{}
	inPath := map[string]bool{}
	for _, name := range o.PathMembers() {
		inPath[name] = true
	}
	noBody := o.Verb == http.MethodGet || o.Verb == http.MethodDelete || o.Kind == Live
	for f := range o.In.Fields() {
		if name := jsonName(f); name != "-" && !inPath[name] && (noBody || f.Tag.Get("in") == "query") {
			members[name] = scalarOf(f.Type)
		}
	}
	return members
}

func scalarOf(t reflect.Type) Scalar {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.HasSuffix(t.PkgPath(), "backend/opt") {
		value, _ := t.FieldByName("Value")
		return scalarOf(value.Type)
	}
	switch t.Kind() {
	case reflect.Bool:
		return Bool
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint64, reflect.Float64:
		return Number
	}
	return Text
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name
	}
	return name
}

// BodyLimit is how many bytes of a body are taken.
func (o Op) BodyLimit() int64 {
	if o.MaxBody > 0 {
		return o.MaxBody
	}
	return defaultBody
}

// MatchesPath tells whether a request's path is one of this operation, whatever its method.
func (o Op) MatchesPath(path string) bool {
	want := strings.Split(o.Path, "/")
	got := strings.Split(path, "/")
	for i, part := range want {
		if strings.HasSuffix(part, "...}") {
			return len(got) > i
		}
		if i >= len(got) || (!strings.HasPrefix(part, "{") && part != got[i]) || got[i] == "" && part != "" {
			return false
		}
	}
	return len(got) == len(want)
}
