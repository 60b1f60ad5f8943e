package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"sentient/backend/config"
	"sentient/backend/errs"
)

// shapes holds the JSON schemas of the table's Go types. They are made when first needed, so that starting costs nothing.
type shapes struct {
	mu       sync.Mutex
	registry huma.Registry
	made     map[reflect.Type]*huma.Schema
}

// A list is never null unless its field says so with nullable:"true": the engine answers an empty one with []. huma keeps
// this choice in a variable of its package; it is the same for every table.
func init() { huma.DefaultArrayNullable = false }

const refPrefix = "#/components/schemas/"

func newShapes() *shapes {
	s := &shapes{registry: huma.NewMapRegistry(refPrefix, schemaName), made: map[reflect.Type]*huma.Schema{}}
	s.registry.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]())
	// The settings have a schema of their own (config.schema), with tags that huma reads otherwise.
	s.registry.RegisterTypeAlias(reflect.TypeFor[config.Config](), reflect.TypeFor[map[string]any]())
	return s
}

// schemaName names a type in the document and in TypeScript. Inputs and answers are named after their package too,
// because every noun has a ListInput; nouns of the wire are bare. Two types of one name fail when the table is made.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	for _, end := range []string{"Input", "Output", "Result"} {
		if strings.HasSuffix(name, end) && t.PkgPath() != "" {
			pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
			if pkg == "api" {
				return name
			}
			return camel(pkg) + name
		}
	}
	return name
}

// schema gives the schema of a type. Unknown members are allowed everywhere (contract/README, decision 4).
func (s *shapes) schema(t reflect.Type) *huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.schemaLocked(t)
}

func (s *shapes) schemaLocked(t reflect.Type) *huma.Schema {
	if made, ok := s.made[t]; ok {
		return made
	}
	s.aliasOptional(t, map[reflect.Type]bool{})
	made := s.registry.Schema(t, true, "")
	for name, schema := range s.registry.Map() {
		relax(schema)
		allowNull(schema, s.registry.TypeFromRef(refPrefix+name))
	}
	relax(made)
	s.made[t] = made
	return made
}

// aliasOptional tells the registry that an opt.Field is its value or null.
func (s *shapes) aliasOptional(t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	if strings.HasSuffix(t.PkgPath(), "backend/opt") {
		value, _ := t.FieldByName("Value")
		s.registry.RegisterTypeAlias(t, reflect.PointerTo(value.Type))
		s.aliasOptional(value.Type, seen)
		return
	}
	for f := range t.Fields() {
		s.aliasOptional(f.Type, seen)
	}
}

// relax lets unknown members pass.
func relax(s *huma.Schema) {
	if s == nil {
		return
	}
	if closed, ok := s.AdditionalProperties.(bool); ok && !closed {
		s.AdditionalProperties = nil
	}
	relax(s.Items)
	for _, p := range s.Properties {
		relax(p)
	}
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
		relax(of)
	}
}

// allowNull lets a pointer to an object be null, which huma can't say of a reference.
func allowNull(s *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		p := s.Properties[jsonName(f)]
		if p != nil && p.Ref != "" && f.Type.Kind() == reflect.Pointer && !strings.Contains(f.Tag.Get("json"), "omit") {
			s.Properties[jsonName(f)] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Enum: []any{nil}}}, Description: p.Description}
		}
	}
}

// check validates a flat input object against its type.
func (s *shapes) check(t reflect.Type, input json.RawMessage) error {
	var value any
	if err := json.Unmarshal(input, &value); err != nil {
		return errs.New(errs.Malformed, "not_json", "The request's body is not valid JSON.").Because(err)
	}
	if _, ok := value.(map[string]any); !ok {
		return errs.New(errs.Invalid, "invalid", "The request's body must be a JSON object.")
	}
	s.mu.Lock()
	defer s.mu.Unlock() // the registry is not made for concurrent use; a check takes microseconds
	schema := s.schemaLocked(t)
	result := &huma.ValidateResult{}
	huma.Validate(s.registry, schema, huma.NewPathBuffer([]byte(""), 0), huma.ModeWriteToServer, value, result)
	if len(result.Errors) == 0 {
		return nil
	}
	return invalid(result.Errors)
}

// invalid makes one refusal of all that is wrong.
func invalid(problems []error) error {
	fields := make([]errs.Field, 0, len(problems))
	for _, p := range problems {
		f := errs.Field{Msg: sentence(p.Error()), Type: "value_error"}
		if d, ok := p.(*huma.ErrorDetail); ok {
			f.Msg = sentence(d.Message)
			if d.Location != "" {
				f.Loc = strings.FieldsFunc(d.Location, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
			}
		}
		fields = append(fields, f)
	}
	first := fields[0]
	text := "The request is not right: " + strings.TrimSuffix(lowerFirst(first.Msg), ".") + "."
	if len(first.Loc) > 0 {
		text = fmt.Sprintf("The request is not right: “%s”: %s.", strings.Join(first.Loc, "."), strings.TrimSuffix(lowerFirst(first.Msg), "."))
	}
	return errs.New(errs.Invalid, "invalid", text).WithFields(fields...)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
