package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

type kind uint8

const (
	kObject kind = iota // a struct: fixed members
	kMap                // free-form: any key that passes keys
	kList
	kString
	kInt
	kNumber
	kBool
)

// node is what the tags of a field say, once per field. A list or map hands format, enum and bounds on to its elements.
type node struct {
	kind     kind
	doc      string
	def      any // the default as a JSON value
	hasDef   bool
	nullable bool // null is a value of its own
	optional bool // may be absent altogether (omitzero)
	removes  bool // a null in a PATCH removes an entry
	fields   []*member
	byName   map[string]*node
	elem     *node
	keys     string // name of the check for keys
	min, max *float64
	minLen   int
	maxLen   int // characters of a string
	maxItems int // entries of a list or map
	enum     []string
	format   string
	norm     string
}

type member struct {
	name string
	node *node
}

// Lengths without a tag of their own: far beyond use, there so that nothing grows without end.
const (
	anyString = 10_000
	anyItems  = 1_000
)

// root describes Config. It is built once and never changed.
var root = sync.OnceValue(func() *node {
	n, err := describe(reflect.TypeFor[Config](), "")
	if err != nil {
		panic("config: " + err.Error()) // a tag that does not parse; the tests read every tag
	}
	n.doc = "All settings of Sentient."
	return n
})

func describe(t reflect.Type, tag reflect.StructTag) (*node, error) {
	n := &node{doc: tag.Get("doc"), format: tag.Get("format"), norm: tag.Get("norm"), keys: tag.Get("keys"),
		removes: tag.Get("nulls") == "remove", maxLen: anyString, maxItems: anyItems}
	if t.Kind() == reflect.Pointer {
		n.nullable = true
		t = t.Elem()
	}
	if err := n.bounds(tag); err != nil {
		return nil, err
	}
	var err error
	switch t.Kind() {
	case reflect.Struct:
		n.kind = kObject
		err = n.members(t)
	case reflect.Map, reflect.Slice:
		n.kind = kMap
		if t.Kind() == reflect.Slice {
			n.kind = kList
		}
		// The element takes over the tags that speak of single values.
		n.elem, err = describe(t.Elem(), tag)
		if err == nil {
			n.elem.doc, n.elem.keys, n.elem.removes = "", "", false
			if n.elem.kind == kList || n.elem.kind == kMap {
				n.elem.doc = n.doc
			}
			n.enum, n.min, n.max, n.minLen, n.format, n.norm = nil, nil, nil, 0, "", ""
		}
	case reflect.String:
		n.kind = kString
	case reflect.Bool:
		n.kind = kBool
	case reflect.Int:
		n.kind = kInt
	case reflect.Float64:
		n.kind = kNumber
	default:
		err = fmt.Errorf("no settings of type %s", t)
	}
	return n, err
}

func (n *node) members(t reflect.Type) error {
	n.byName = map[string]*node{}
	obj := map[string]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		child, err := describe(f.Type, f.Tag)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		child.optional = opts == "omitzero"
		if err := child.defaults(f.Tag); err != nil {
			return fmt.Errorf("default of %s: %w", name, err)
		}
		n.fields = append(n.fields, &member{name, child})
		n.byName[name] = child
		if child.hasDef && !child.optional {
			obj[name] = child.def
		}
	}
	n.def, n.hasDef = obj, true
	return nil
}

func (n *node) bounds(tag reflect.StructTag) error {
	for name, to := range map[string]**float64{"min": &n.min, "max": &n.max} {
		if s, ok := tag.Lookup(name); ok {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return err
			}
			*to = &v
		}
	}
	for name, to := range map[string]*int{"minlen": &n.minLen, "maxlen": &n.maxLen, "maxitems": &n.maxItems} {
		if s, ok := tag.Lookup(name); ok {
			v, err := strconv.Atoi(s)
			if err != nil {
				return err
			}
			*to = v
		}
	}
	if s := tag.Get("enum"); s != "" {
		n.enum = strings.Split(s, ",")
		for i, v := range n.enum {
			if v == "-" {
				n.enum[i] = ""
			}
		}
	}
	return nil
}

// defaults reads the default tag. For a struct it is laid over the defaults of its fields, for maps and lists of
// structs each entry is filled up with the defaults of its fields.
func (n *node) defaults(tag reflect.StructTag) error {
	s, ok := tag.Lookup("default")
	if n.kind == kString && ok && !(n.nullable && s == "null") {
		n.def, n.hasDef = s, true
		return nil
	}
	if !ok {
		return nil
	}
	v, err := parseJSON([]byte(s))
	if err != nil {
		return err
	}
	if n.kind == kObject {
		v = merge(n, n.def, v, false)
	}
	n.def, n.hasDef = canonical(n, complete(n, v)), true
	return nil
}

// Schema is the JSON Schema (2020-12) of all settings. Every field has a description and a default, and its bounds.
func Schema() json.RawMessage {
	s := root().schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Settings"
	b, err := json.Marshal(s)
	if err != nil {
		panic("config: schema: " + err.Error()) // maps of plain values only
	}
	return b
}

func (n *node) schema() map[string]any {
	s := map[string]any{}
	if n.doc != "" {
		s["description"] = n.doc
	}
	if n.hasDef && !(n.optional && n.def == nil) {
		s["default"] = n.def
	} else if n.optional {
		s["default"] = nil
	}
	name := map[kind]string{kObject: "object", kMap: "object", kList: "array", kString: "string", kInt: "integer",
		kNumber: "number", kBool: "boolean"}[n.kind]
	s["type"] = name
	if n.nullable || n.optional {
		s["type"] = []string{name, "null"}
	}
	switch n.kind {
	case kObject:
		props, order := map[string]any{}, []string{}
		for _, m := range n.fields {
			props[m.name] = m.node.schema()
			order = append(order, m.name)
		}
		s["properties"], s["additionalProperties"], s["x-order"] = props, false, order
	case kMap:
		s["additionalProperties"], s["maxProperties"] = n.elem.schema(), n.maxItems
		if f, ok := formats[n.keys]; ok {
			s["propertyNames"] = map[string]any{"description": f.sentence}
			if f.enum != nil {
				s["propertyNames"] = map[string]any{"enum": f.enum}
			}
		}
	case kList:
		s["items"], s["maxItems"] = n.elem.schema(), n.maxItems
	case kString:
		n.stringSchema(s)
	}
	if n.min != nil {
		s["minimum"] = *n.min
	}
	if n.max != nil {
		s["maximum"] = *n.max
	}
	return s
}

func (n *node) stringSchema(s map[string]any) {
	if n.enum != nil {
		enum := make([]any, 0, len(n.enum)+1)
		for _, v := range n.enum {
			enum = append(enum, v)
		}
		if n.nullable {
			enum = append(enum, nil)
		}
		s["enum"] = enum
		return
	}
	s["maxLength"] = n.maxLen
	if n.minLen > 0 {
		s["minLength"] = n.minLen
	}
	if f, ok := formats[n.format]; ok && f.pattern != nil {
		s["pattern"] = f.pattern.String()
	}
	if n.format != "" {
		s["format"] = "sentient-" + n.format
	}
}
