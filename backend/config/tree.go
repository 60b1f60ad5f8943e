package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// A tree is settings as plain JSON values: map[string]any, []any, string, bool, json.Number, nil. Trees are never
// changed once made; what changes one gives a new one.

func parseJSON(b []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// merge lays patch over base. Objects and maps are merged member by member, everything else is replaced. Where nulls
// remove entries of a map they do so; in the file (file true) that holds for every map, and a null for anything that
// has no null of its own says nothing.
func merge(n *node, base, patch any, file bool) any {
	if patch == nil && file && !n.nullable {
		return base
	}
	over, ok := patch.(map[string]any)
	if !ok || (n.kind != kObject && n.kind != kMap) {
		return patch
	}
	was, _ := base.(map[string]any)
	out := make(map[string]any, len(was)+len(over))
	for k, v := range was {
		out[k] = v
	}
	for k, v := range over {
		child := n.child(k)
		switch {
		case n.kind == kMap && v == nil && (n.removes || file && !n.elem.nullable):
			delete(out, k)
		case child == nil:
			out[k] = v // unknown: validation says so
		default:
			out[k] = merge(child, out[k], v, file)
		}
	}
	return out
}

func (n *node) child(name string) *node {
	if n.kind == kMap {
		return n.elem
	}
	return n.byName[name]
}

// complete fills in the defaults of members that are left out, at every depth.
func complete(n *node, v any) any {
	switch x := v.(type) {
	case map[string]any:
		if n.kind != kObject && n.kind != kMap {
			return v
		}
		out := make(map[string]any, len(x))
		for k, c := range x {
			if child := n.child(k); child != nil {
				c = complete(child, c)
			}
			out[k] = c
		}
		for _, m := range n.fields {
			if _, ok := out[m.name]; !ok && m.node.hasDef && !m.node.optional {
				out[m.name] = m.node.def
			}
		}
		return out
	case []any:
		if n.kind != kList {
			return v
		}
		out := make([]any, len(x))
		for i, c := range x {
			out[i] = complete(n.elem, c)
		}
		return out
	}
	return v
}

// canonical writes numbers in one way and leaves out optional members that are null, so that equal settings are equal
// trees.
func canonical(n *node, v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, c := range x {
			child := n.child(k)
			if child == nil {
				out[k] = c
				continue
			}
			if c == nil && child.optional {
				continue
			}
			out[k] = canonical(child, c)
		}
		return out
	case []any:
		if n.elem == nil {
			return v
		}
		out := make([]any, len(x))
		for i, c := range x {
			out[i] = canonical(n.elem, c)
		}
		return out
	case json.Number:
		return plainNumber(x)
	}
	return v
}

// plainNumber writes a number the shortest way: 2 for 2.0 and 2e0.
func plainNumber(x json.Number) json.Number {
	s := x.String()
	if !strings.ContainsAny(s, ".eE") && s != "-0" {
		return x
	}
	f, err := x.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return x
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		i, _ := big.NewFloat(f).Int(nil)
		return json.Number(i.String())
	}
	b, err := json.Marshal(f)
	if err != nil {
		return x
	}
	return json.Number(b)
}

// decode makes the struct of a tree that is complete and valid.
func decode(tree any) (*Config, error) {
	b, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	c := new(Config)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("decode settings: %w", err)
	}
	tidy(reflect.ValueOf(c).Elem())
	return c, nil
}

// encode makes the tree of a struct. Nil lists and maps count as empty ones.
func encode(c *Config) (any, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	v, err := parseJSON(b)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return canonical(root(), emptied(root(), v)), nil
}

// emptied puts an empty list or map in the place of null where null is no value.
func emptied(n *node, v any) any {
	switch x := v.(type) {
	case nil:
		if n.kind == kList && !n.optional {
			return []any{}
		}
		if n.kind == kMap && !n.optional {
			return map[string]any{}
		}
	case map[string]any:
		for k, c := range x {
			if child := n.child(k); child != nil {
				x[k] = emptied(child, c)
			}
		}
	case []any:
		for i, c := range x {
			x[i] = emptied(n.elem, c)
		}
	}
	return v
}

// tidy makes nil lists and maps empty, so that they are [] and {} on the wire. Optional ones (in a preset) stay nil.
func tidy(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !strings.HasSuffix(v.Type().Field(i).Tag.Get("json"), ",omitzero") {
				tidy(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		if v.Type().Elem().Kind() == reflect.Struct || v.Type().Elem().Kind() == reflect.Slice {
			for it := v.MapRange(); it.Next(); {
				e := reflect.New(v.Type().Elem()).Elem()
				e.Set(it.Value())
				tidy(e)
				v.SetMapIndex(it.Key(), e)
			}
		}
	}
}

// change is one place at which two trees differ.
type change struct {
	path   []string
	value  any  // the new value
	remove bool // the entry of a map is gone
}

// diff gives what makes b of a, in a fixed order. Lists are replaced whole.
func diff(n *node, a, b any) []change {
	return diffAt(n, nil, a, b)
}

func diffAt(n *node, path []string, a, b any) []change {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok1 || !ok2 || (n.kind != kObject && n.kind != kMap) {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return []change{{path: slices.Clone(path), value: b}}
	}
	var out []change
	for _, k := range sortedKeys(x, y) {
		at := append(path, k)
		was, had := x[k]
		is, has := y[k]
		child := n.child(k)
		switch {
		case had && !has:
			out = append(out, change{path: slices.Clone(at), remove: true})
		case !had || child == nil:
			if !reflect.DeepEqual(was, is) || !had {
				out = append(out, change{path: slices.Clone(at), value: is})
			}
		default:
			out = append(out, diffAt(child, at, was, is)...)
		}
	}
	return out
}

func sortedKeys(maps ...map[string]any) []string {
	var keys []string
	for _, m := range maps {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// apply gives the tree with the changes made.
func apply(tree any, changes []change) any {
	for _, c := range changes {
		tree = applyOne(tree, c.path, c)
	}
	return tree
}

func applyOne(tree any, path []string, c change) any {
	if len(path) == 0 {
		return c.value
	}
	was, _ := tree.(map[string]any)
	out := make(map[string]any, len(was)+1)
	for k, v := range was {
		out[k] = v
	}
	if len(path) == 1 && c.remove {
		delete(out, path[0])
		return out
	}
	out[path[0]] = applyOne(out[path[0]], path[1:], c)
	return out
}

// at gives the value at a path.
func at(tree any, path []string) (any, bool) {
	for _, k := range path {
		m, ok := tree.(map[string]any)
		if !ok {
			return nil, false
		}
		if tree, ok = m[k]; !ok {
			return nil, false
		}
	}
	return tree, true
}
