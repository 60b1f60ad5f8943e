package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Every field of the schema has a description and a default, and whatever can be bounded has bounds.
func TestSchemaSaysEverything(t *testing.T) {
	var s map[string]any
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	count := 0
	var walk func(path string, f map[string]any, field bool)
	walk = func(path string, f map[string]any, field bool) {
		if field {
			count++
			d, _ := f["description"].(string)
			if !strings.HasSuffix(d, ".") || d != strings.TrimSpace(d) {
				t.Errorf("%s: the description %q is no sentence", path, d)
			}
			if _, ok := f["default"]; !ok {
				t.Errorf("%s has no default", path)
			}
		}
		kind := fmt.Sprint(f["type"])
		if strings.Contains(kind, "integer") || strings.Contains(kind, "number") {
			if f["minimum"] == nil || f["maximum"] == nil {
				t.Errorf("%s has no bounds", path)
			}
		}
		props, _ := f["properties"].(map[string]any)
		for k, v := range props {
			walk(strings.TrimPrefix(path+"."+k, "."), v.(map[string]any), true)
		}
		if e, ok := f["additionalProperties"].(map[string]any); ok {
			walk(path+".*", e, false)
		}
		if e, ok := f["items"].(map[string]any); ok {
			walk(path+"[]", e, false)
		}
	}
	walk("", s, false)
	if count < 250 {
		t.Errorf("only %d fields", count)
	}
}

func TestTagsNameKnownChecks(t *testing.T) {
	var walk func(path string, n *node)
	walk = func(path string, n *node) {
		for _, name := range []string{n.format, n.keys} {
			if _, ok := formats[name]; name != "" && !ok {
				t.Errorf("%s: no format %q", path, name)
			}
		}
		if n.kind == kMap && n.keys == "" {
			t.Errorf("%s: a map without a check of its keys", path)
		}
		if n.elem != nil {
			walk(path+".*", n.elem)
		}
		for _, m := range n.fields {
			walk(path+"."+m.name, m.node)
		}
	}
	walk("", root())
}

func TestDefaultsAreValidAndWhole(t *testing.T) {
	tree := whole(root().def)
	if wrong := check(tree); len(wrong) > 0 {
		t.Fatalf("defaults are not valid: %+v", wrong)
	}
	d := Defaults()
	back, err := encode(&d)
	if err != nil {
		t.Fatal(err)
	}
	if c := diff(root(), tree, back); len(c) > 0 {
		t.Fatalf("defaults change on the way through the struct: %+v", c)
	}
}

// The defaults that the contract and its companion name, one by one.
func TestNamedDefaults(t *testing.T) {
	var have any
	b, err := json.Marshal(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if have, err = parseJSON(b); err != nil {
		t.Fatal(err)
	}
	for path, want := range namedDefaults {
		v, ok := at(have, strings.Split(path, "."))
		if !ok {
			t.Errorf("%s is missing", path)
			continue
		}
		w, err := parseJSON([]byte(want))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if n, ok := v.(json.Number); ok {
			v = plainNumber(n)
		}
		if n, ok := w.(json.Number); ok {
			w = plainNumber(n)
		}
		if !reflect.DeepEqual(v, w) {
			t.Errorf("%s = %v, want %v", path, v, w)
		}
	}
}

func TestRolesModel(t *testing.T) {
	r := Defaults().Models.Roles
	for role, want := range map[string]string{
		"primary": "ollama_chat/qwen3:8b", "fast": "ollama_chat/qwen3:8b", "planner": "ollama_chat/qwen3:8b",
		"embedding": "ollama/nomic-embed-text", "voice": "ollama_chat/qwen3:8b", "nobody": "ollama_chat/qwen3:8b",
	} {
		if got := r.Model(role); got != want {
			t.Errorf("Model(%q) = %q, want %q", role, got, want)
		}
	}
	r.Embedding = nil
	if got := r.Model("embedding"); got != "" {
		t.Errorf("an embedding role without a model uses %q", got)
	}
	if _, ok := Defaults().Channels.Get("signal"); ok {
		t.Error("there is no messaging app signal")
	}
	if c, _ := Defaults().Channels.Get("whatsapp"); c.EditIntervalS != 2 {
		t.Errorf("WhatsApp edits every %v s, want 2", c.EditIntervalS)
	}
}
