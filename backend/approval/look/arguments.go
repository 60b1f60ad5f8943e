package look

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sentient/backend/approval/preview"
)

// argument is one plain value of a call, with what its key, or one above it, says that it is.
type argument struct {
	label    string // as preview.Label gives it
	key      string // the words of its own key
	text     string
	number   bool
	currency string // what the object it stands in says about its money
}

// maxNested bounds how many layers of JSON written as text are opened.
const maxNested = 4

// readArguments gives every plain value of a call's arguments, in the keys' order. What is no JSON is one value.
func readArguments(raw json.RawMessage) []argument {
	value, ok := readJSON(raw)
	if !ok {
		return []argument{{text: string(raw)}}
	}
	w := &walk{}
	w.value(argument{}, value, 0)
	return w.out
}

func readJSON(raw []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value, d.Decode(&value) == nil && !d.More()
}

type walk struct{ out []argument }

// value adds what is below at; nested counts the layers of text that were opened.
func (w *walk) value(at argument, value any, nested int) {
	switch v := value.(type) {
	case string:
		at.text = v
		if t := strings.TrimSpace(v); nested < maxNested && (strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[")) {
			if inner, ok := readJSON([]byte(t)); ok {
				w.value(at, inner, nested+1)
				return
			}
		}
		w.out = append(w.out, at)
	case json.Number:
		at.text, at.number = v.String(), true
		w.out = append(w.out, at)
	case []any:
		for _, inner := range v {
			w.value(at, inner, nested)
		}
	case map[string]any:
		w.object(at, v, nested)
	}
}

func (w *walk) object(at argument, o map[string]any, nested int) {
	keys := make([]string, 0, len(o))
	for key := range o {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if c, ok := o[key].(string); ok && isCurrencyKey(key) {
			at.currency = c
		}
	}
	// A header or a field as a pair: {"name": "To", "value": "…"}.
	for _, key := range []string{"name", "key", "field", "header"} {
		if name, ok := o[key].(string); ok && preview.Label(fold(name)) != "" && o["value"] != nil {
			inner := at
			inner.label, inner.key = preview.Label(fold(name)), name
			w.value(inner, o["value"], nested)
		}
	}
	_, isRange := o["from"].(json.Number) // "from" and "to" as numbers are the ends of something
	for _, key := range keys {
		inner := at
		inner.key = strings.Join(preview.Words(fold(key)), "_")
		label := preview.Label(fold(key))
		switch {
		case isRange && inner.key == "to":
			label = ""
		case recipient(at.label):
			label = at.label // whatever stands below a recipient's key is part of the recipient
		case label == "" || label == "Body" && at.label != "":
			label = at.label
		}
		inner.label = label
		w.value(inner, o[key], nested)
		if strings.Contains(key, "@") && recipient(label) {
			inner.text = key // {"to": {"x@evil.example": "X"}}
			w.out = append(w.out, inner)
		}
	}
}

func isCurrencyKey(key string) bool {
	words := preview.Words(key)
	return len(words) > 0 && words[0] == "currency" || len(words) > 1 && words[len(words)-1] == "currency"
}

func recipient(label string) bool { return label == "To" || label == "Cc" || label == "Bcc" }
