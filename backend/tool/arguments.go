package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxArguments is how long a call's arguments may be, in bytes.
const maxArguments = 4 << 20

// Prepare reads what a model wrote as a call's arguments and gives the one object that is shown, kept and run: valid JSON
// that fits the schema, compact, a repeated member once. The error is for the model.
//
// It forgives what cannot be misread: nothing at all for no arguments, a code fence around the object, the object as
// a string, a number as a string and the reverse, one value for a list of one. It never guesses an end: half of a mail is
// not a mail.
func (t *Tool) Prepare(raw json.RawMessage) (json.RawMessage, error) {
	object, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	if t.schema == nil {
		return json.Marshal(object)
	}
	coerce(object, t.schema.Schema())
	if err := t.schema.Validate(object); err != nil {
		return nil, errors.New(plainly(err))
	}
	return json.Marshal(object)
}

func readObject(raw json.RawMessage) (map[string]any, error) {
	if len(raw) > maxArguments {
		return nil, fmt.Errorf("the arguments are longer than %d MB", maxArguments>>20)
	}
	text := bytes.TrimSpace(raw)
	if fenced, ok := bytes.CutPrefix(text, []byte("```")); ok {
		fenced, _ = bytes.CutSuffix(bytes.TrimSpace(bytes.TrimPrefix(fenced, []byte("json"))), []byte("```"))
		text = bytes.TrimSpace(fenced)
	}
	if len(text) == 0 || string(text) == "null" {
		return map[string]any{}, nil
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, errors.New("they are not valid JSON")
	}
	if d.More() {
		return nil, errors.New("there is more than one JSON value")
	}
	if !finite(value) {
		return nil, errors.New("a number in them is too large")
	}
	switch v := value.(type) {
	case map[string]any:
		return v, nil
	case string:
		if inner := strings.TrimSpace(v); strings.HasPrefix(inner, "{") && len(inner) < len(text) {
			return readObject(json.RawMessage(inner))
		}
	}
	return nil, errors.New("they are not a JSON object")
}

// finite reports whether every number in a value is one that can be read back.
func finite(value any) bool {
	switch v := value.(type) {
	case json.Number:
		_, err := v.Float64()
		return err == nil
	case map[string]any:
		for _, inner := range v {
			if !finite(inner) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(inner any) bool { return !finite(inner) })
	}
	return true
}

// coerce turns values of an object into the kind that its schema wants, where there is only one way to read them.
func coerce(object map[string]any, s *jsonschema.Schema) {
	for name, value := range object {
		if p := s.Properties[name]; p != nil {
			object[name] = coerced(value, p)
		}
		if object[name] == nil && !slices.Contains(s.Required, name) {
			delete(object, name) // null for what may be left out
		}
	}
}

func coerced(value any, s *jsonschema.Schema) any {
	switch v := value.(type) {
	case json.Number:
		value = coercedNumber(v, s)
	case string:
		return coercedText(v, s)
	case map[string]any:
		coerce(v, s)
	case []any:
		for i := range v {
			if s.Items != nil {
				v[i] = coerced(v[i], s.Items)
			}
		}
	}
	if s.Type == "array" && s.Items != nil && value != nil && reflect.TypeOf(value).Kind() != reflect.Slice {
		return []any{coerced(value, s.Items)}
	}
	return value
}

func coercedNumber(v json.Number, s *jsonschema.Schema) any {
	if s.Type == "string" {
		return v.String()
	}
	if n, err := v.Int64(); err == nil {
		return n
	}
	f, err := v.Float64()
	if err != nil {
		return v
	}
	if s.Type == "integer" && f == float64(int64(f)) {
		return int64(f)
	}
	return f
}

func coercedText(v string, s *jsonschema.Schema) any {
	trimmed := strings.TrimSpace(v)
	switch s.Type {
	case "integer":
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
			return n
		}
	case "number":
		if f, err := strconv.ParseFloat(trimmed, 64); err == nil {
			return f
		}
	case "boolean":
		if b, err := strconv.ParseBool(strings.ToLower(trimmed)); err == nil && len(trimmed) > 1 {
			return b
		}
	case "object", "array":
		var inner any
		d := json.NewDecoder(strings.NewReader(trimmed))
		d.UseNumber()
		if d.Decode(&inner) == nil && !d.More() {
			if _, isText := inner.(string); !isText && finite(inner) {
				return coerced(inner, s)
			}
		}
		if s.Type == "array" && s.Items != nil && trimmed != "" {
			return []any{coerced(v, s.Items)}
		}
	}
	return v
}

// plainly takes the library's path of schemas out of a complaint.
func plainly(err error) string {
	text := err.Error()
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			return text
		}
		place, after, ok := strings.Cut(rest, ": ")
		if !ok {
			return text
		}
		text = after
		if at, ok := strings.CutPrefix(place, "/properties/"); ok && !strings.HasPrefix(after, "validating ") {
			return strings.ReplaceAll(at, "/properties/", ".") + ": " + after
		}
	}
}

// schemaOf makes the schema of an argument struct, in the plain form that every provider takes: no references, no types
// that may also be null.
func schemaOf[In any]() (json.RawMessage, *jsonschema.Resolved, error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, nil, fmt.Errorf("make schema: %w", err)
	}
	plain(s, reflect.TypeFor[In]())
	if s.Type != "object" {
		return nil, nil, errors.New("make schema: arguments are not a struct")
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("make schema: %w", err)
	}
	// A model needs no word about what is not there; each costs it tokens in every prompt.
	brief, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, nil, fmt.Errorf("make schema: %w", err)
	}
	plain(brief, reflect.TypeFor[In]())
	shorten(brief)
	raw, err := json.Marshal(brief)
	return raw, resolved, err
}

// shorten leaves out that an object has no other members, and bounds that no sensible value meets.
func shorten(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Minimum != nil && math.Abs(*s.Minimum) > 1000 {
		s.Minimum = nil
	}
	if s.Maximum != nil && math.Abs(*s.Maximum) > 1000 {
		s.Maximum = nil
	}
	if len(s.Properties) > 0 || s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		shorten(p)
	}
	shorten(s.Items)
}

func plain(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(s.Types, func(kind string) bool { return kind == "null" })
		if len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		}
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			plain(s.Items, t.Elem())
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			plain(s.AdditionalProperties, t.Elem())
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[name]
			if p == nil {
				continue
			}
			plain(p, f.Type)
			described(p, f.Tag)
		}
	}
}

func described(p *jsonschema.Schema, tag reflect.StructTag) {
	p.Description = tag.Get("doc")
	if list := tag.Get("enum"); list != "" {
		target := p
		if p.Type == "array" && p.Items != nil {
			target = p.Items
		}
		for _, v := range strings.Split(list, ",") {
			target.Enum = append(target.Enum, v)
		}
	}
	if v, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil {
		p.Minimum = &v
	}
	if v, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil {
		p.Maximum = &v
	}
}

// FromSchema makes a tool's argument check of a schema that came from outside, such as a tool server's. It gives the tool
// itself; Check says where the schema cannot be used.
func (t *Tool) FromSchema(raw json.RawMessage) *Tool {
	var s jsonschema.Schema
	if t.err = json.Unmarshal(raw, &s); t.err != nil {
		return t
	}
	t.Parameters = raw
	t.schema, t.err = s.Resolve(nil)
	return t
}
