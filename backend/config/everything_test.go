package config

import (
	"encoding/json"
	"testing"
)

// Every single setting changed at once, and back again: what is written reads back, and comments are still there.
func TestEverySettingSavesAndReadsBack(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "# kept\nui:\n  theme: dark # and this\n")
	s := open(t, dir)
	tree := otherwise(root(), whole(root().def))
	body, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(t.Context(), body); err != nil {
		t.Fatalf("%v %+v", err, err)
	}
	now, err := encode(s.Get())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(diff(root(), whole(root().def), now)); n < 220 {
		t.Errorf("only %d settings were changed", n)
	}
	again := open(t, dir)
	if !same(t, again.Get(), s.Get()) || len(again.Notes()) != 0 {
		t.Errorf("does not read back: %q", again.Notes())
	}
	full, err := json.Marshal(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	d := Defaults()
	if !same(t, open(t, dir).Get(), &d) {
		t.Error("the defaults do not read back")
	}
	if got := read(t, dir, fileName); got[:7] != "# kept\n" {
		t.Errorf("the file begins %q", got[:20])
	}
}

// otherwise gives a valid tree that differs from another wherever there is a choice.
func otherwise(n *node, v any) any {
	switch n.kind {
	case kObject:
		out := map[string]any{}
		for _, m := range n.fields {
			if !m.node.optional {
				out[m.name] = otherwise(m.node, v.(map[string]any)[m.name])
			}
		}
		return out
	case kBool:
		return !v.(bool)
	case kInt, kNumber:
		low, high := json.Number(shortNumber(*n.min)), json.Number(shortNumber(*n.max))
		if v == plainNumber(low) {
			return high
		}
		return low
	case kString:
		for _, e := range n.enum {
			if e != v {
				return e
			}
		}
		if n.enum == nil && n.format == "" {
			return "another: one # \"two\""
		}
	}
	return v
}
