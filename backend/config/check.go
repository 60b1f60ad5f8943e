package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sentient/backend/errs"
)

// normalize puts values into their one form: rule keys trimmed, rule values lower-cased, lists of addresses split and
// lower-cased. It leaves alone what it does not know.
func normalize(n *node, v any) any {
	switch x := v.(type) {
	case string:
		if n.norm == "lower" {
			return strings.ToLower(strings.TrimSpace(x))
		}
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, k := range sortedKeys(x) { // sorted, so that of two keys that become one always the same wins
			key := k
			if n.keys == "rule" {
				key = strings.TrimSpace(k)
			}
			if child := n.child(k); child != nil {
				out[key] = normalize(child, x[k])
			} else {
				out[key] = x[k]
			}
		}
		return out
	case []any:
		if n.kind != kList {
			return v
		}
		if n.elem.norm == "addresses" {
			return addresses(x)
		}
		out := make([]any, len(x))
		for i, c := range x {
			out[i] = normalize(n.elem, c)
		}
		return out
	}
	return v
}

func addresses(list []any) []any {
	out := []any{}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			out = append(out, v)
			continue
		}
		for _, a := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' }) {
			if a = strings.ToLower(strings.TrimSpace(a)); a != "" && !slices.Contains(out, any(a)) {
				out = append(out, a)
			}
		}
	}
	return out
}

// maxProblems bounds what one answer lists.
const maxProblems = 100

// check gives everything that is wrong with a complete tree: types and sentences as §2 shows them. Values are never
// repeated in a sentence: one might be a key pasted into the wrong place.
func check(tree any) []errs.Field {
	c := &checker{}
	c.value(root(), nil, tree)
	c.rules(tree)
	return c.out
}

type checker struct{ out []errs.Field }

func (c *checker) add(path []string, kind, format string, args ...any) {
	if len(c.out) < maxProblems {
		c.out = append(c.out, errs.Field{Loc: append([]string{}, path...), Type: kind, Msg: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) value(n *node, path []string, v any) {
	if v == nil && (n.nullable || n.optional) {
		return
	}
	switch n.kind {
	case kObject:
		c.object(n, path, v)
	case kMap:
		c.mapping(n, path, v)
	case kList:
		c.list(n, path, v)
	case kString:
		c.text(n, path, v)
	case kBool:
		if _, ok := v.(bool); !ok {
			c.add(path, "bool_type", "This is on or off: use true or false.")
		}
	case kInt, kNumber:
		c.number(n, path, v)
	}
}

func (c *checker) object(n *node, path []string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		c.add(path, "dict_type", "This holds settings of its own: use an object.")
		return
	}
	for _, f := range n.fields {
		x, has := m[f.name]
		if !has {
			if !f.node.optional {
				c.add(append(path, f.name), "missing", "This setting is missing.")
			}
			continue
		}
		c.value(f.node, append(path, f.name), x)
	}
	for _, k := range sortedKeys(m) {
		if n.byName[k] == nil {
			c.add(append(path, k), "extra_forbidden", "There is no setting with this name here.")
		}
	}
}

func (c *checker) mapping(n *node, path []string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		c.add(path, "dict_type", "This is a table of entries: use an object.")
		return
	}
	if len(m) > n.maxItems {
		c.add(path, "too_long", "There can be at most %d entries here.", n.maxItems)
	}
	f, named := formats[n.keys]
	for _, k := range sortedKeys(m) {
		if named && !f.allows(k) {
			c.add(append(path, k), "string_pattern_mismatch", "%s", f.sentence)
			continue
		}
		c.value(n.elem, append(path, k), m[k])
	}
}

func (c *checker) list(n *node, path []string, v any) {
	l, ok := v.([]any)
	if !ok {
		c.add(path, "list_type", "This is a list.")
		return
	}
	if len(l) > n.maxItems {
		c.add(path, "too_long", "There can be at most %d entries here.", n.maxItems)
	}
	for i, x := range l {
		c.value(n.elem, append(path, strconv.Itoa(i)), x)
	}
}

func (c *checker) text(n *node, path []string, v any) {
	s, ok := v.(string)
	if !ok {
		c.add(path, "string_type", "This is text: put it in quotes.")
		return
	}
	if n.enum != nil {
		if !slices.Contains(n.enum, s) {
			c.add(path, "literal_error", "Use %s.", choices(n.enum))
		}
		return
	}
	switch count := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		c.add(path, "string_unicode", "This text holds characters that cannot be kept.")
	case count < n.minLen:
		c.add(path, "string_too_short", "Use at least %d %s.", n.minLen, plural(n.minLen, "character"))
	case count > n.maxLen:
		c.add(path, "string_too_long", "Use at most %d characters.", n.maxLen)
	default:
		if f, ok := formats[n.format]; ok && !f.allows(s) {
			kind := "value_error"
			if f.pattern != nil {
				kind = "string_pattern_mismatch"
			}
			c.add(path, kind, "%s", f.sentence)
		}
	}
}

func (c *checker) number(n *node, path []string, v any) {
	x, ok := v.(json.Number)
	if !ok {
		if n.kind == kInt {
			c.add(path, "int_type", "This is a whole number.")
		} else {
			c.add(path, "float_type", "This is a number.")
		}
		return
	}
	f, err := x.Float64()
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		c.add(path, "finite_number", "This number is too large.")
	case n.kind == kInt && f != math.Trunc(f):
		c.add(path, "int_from_float", "This is a whole number.")
	case n.min != nil && f < *n.min:
		c.add(path, "greater_than_equal", "Use a number of at least %s.", shortNumber(*n.min))
	case n.max != nil && f > *n.max:
		c.add(path, "less_than_equal", "Use a number of at most %s.", shortNumber(*n.max))
	}
}

// rules are what no single field can say.
func (c *checker) rules(tree any) {
	if kind, ok := at(tree, []string{"browser", "profiles", "default", "kind"}); ok && kind == "attach" {
		c.add([]string{"browser", "profiles", "default", "kind"}, "value_error",
			"The default profile always has a browser of its own. Make another profile to attach to a running one.")
	}
	if presets, ok := at(tree, []string{"models", "presets"}); ok {
		m, _ := presets.(map[string]any)
		seen := map[string]bool{}
		for _, k := range sortedKeys(m) {
			if low := strings.ToLower(k); seen[low] {
				c.add([]string{"models", "presets", k}, "value_error", "There is a preset with this name already.")
			} else {
				seen[low] = true
			}
		}
	}
}

func choices(enum []string) string {
	var out []string
	for _, v := range enum {
		if v == "" {
			v = "nothing"
		}
		out = append(out, v)
	}
	if len(out) == 1 {
		return out[0]
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func shortNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// invalid is the refusal of a change (§2: 422 with the fields).
func invalid(fields []errs.Field) *errs.Error {
	message := "One of these settings is not valid, so nothing was saved."
	if len(fields) > 1 {
		message = "Some of these settings are not valid, so nothing was saved."
	}
	return errs.New(errs.Invalid, "config_invalid", message).WithFields(fields...)
}
