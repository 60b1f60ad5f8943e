// Package preview is how an action looks before it runs: what a person would read of it, built in code from the call's own
// name and arguments (§10 "Previews, undo windows and the trash").
//
// It owns the Preview, the reading of what a tool's name says it does (Words, Deletes, Trashes, Kind) and of what an
// argument's key says it holds (Label). It knows no app: the rules are general and work for any tool server's tools. It
// promises that nothing in a preview comes from a model's word about the call, and that no character in it is invisible
// or changes the order of the others. It does not promise that a preview tells everything: it tells the first action of
// a call that runs several, and says so.
//
// Pure. The gate, the log's shapes and the second look import it.
package preview

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sentient/backend/tool"
)

// Preview is an action as a person reads it: an email with its recipients, a post, a purchase.
type Preview struct {
	Kind   string  `json:"kind" enum:"email,message,post,delete,trash,purchase,action"`
	Title  string  `json:"title"`
	Fields []Field `json:"fields"`
	Body   string  `json:"body"`
}

// Field is a line of a preview: To, Cc, Bcc, Where, Subject, Title, Files, Amount, Item.
type Field struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// How much is shown, in characters.
const (
	maxBody  = 4000
	maxField = 2000
	maxTitle = 80
)

// titles are those of the kinds that do not take theirs from the tool's name.
var titles = map[string]string{"email": "Email", "message": "Message", "post": "Post", "trash": "Move to the trash", "purchase": "Purchase"}

// Of gives how a call looks to a person: risk is its effective risk, to are the destinations that its arguments do not
// name. It is nil when there is nothing that a person would read, as in a plain look-up (§10 "Preview").
func Of(t *tool.Tool, p *tool.Plugin, risk tool.Risk, w tool.Wording, args json.RawMessage, to []tool.Destination) *Preview {
	if t == nil {
		return nil
	}
	top, ok := object(args)
	if !ok {
		return nil
	}
	name, values, more := running(t.Name, top)
	words := Words(name)
	kind := kindOf(words, risk, w)
	if kind == "action" && risk <= tool.Read {
		return nil
	}
	f := collect(values, kind == "delete" || kind == "trash" || kind == "purchase")
	for _, d := range to {
		f.add("To", d.Address)
	}
	if kind == "delete" || kind == "trash" || kind == "purchase" {
		f.item(w.Target)
	}
	out := &Preview{Kind: kind, Title: title(kind, words, p), Fields: f.fields(kind), Body: cut(visible(strings.TrimSpace(strings.Join(f.values["Body"], "\n\n")), true), maxBody)}
	if len(out.Fields) == 0 && out.Body == "" {
		return nil
	}
	if more > 1 {
		// Only the first is shown, but that there are others must not be hidden.
		out.Title = fmt.Sprintf("%s (the first of %d actions)", out.Title, more)
	}
	return out
}

// kindOf gives the kind of a preview. A purchase is told by its wording, since any click can be one.
func kindOf(words []string, risk tool.Risk, w tool.Wording) string {
	if w.RiskLabel == "Purchase" {
		return "purchase"
	}
	if kind := sendKind(words, risk); kind != "" {
		return kind
	}
	switch {
	case Trashes(words):
		return "trash"
	case Deletes(words):
		return "delete"
	}
	return "action"
}

func title(kind string, words []string, p *tool.Plugin) string {
	if fixed := titles[kind]; fixed != "" {
		return fixed
	}
	if p != nil {
		words = withoutApp(words, p)
	}
	text := visible(strings.Join(words, " "), false)
	first, size := utf8.DecodeRuneInString(text)
	return cut(string(unicode.ToUpper(first))+text[size:], maxTitle)
}

// withoutApp leaves out the words at the start that only name the app.
func withoutApp(words []string, p *tool.Plugin) []string {
	app := Words(p.ID)
	if len(app) >= len(words) {
		return words
	}
	for i, w := range app {
		if words[i] != w {
			return words
		}
	}
	return words[len(app):]
}

// Details lists a call's plain arguments, for a hand-off that has no preview (§2 HandOff): each member of the object with
// a label in words. It is never nil, so that it encodes as a list.
func Details(args json.RawMessage) []Field {
	const most = 40
	out := []Field{}
	top, ok := object(args)
	if !ok {
		return out
	}
	for _, key := range keysOf(top) {
		value := plainValue(top[key])
		if value == "" {
			continue
		}
		if len(out) == most {
			return append(out, Field{"More", "There are more values than are shown here."})
		}
		out = append(out, Field{title("", Words(key), nil), value})
	}
	return out
}

func plainValue(value any) string {
	text, one := scalar(value)
	if list, isList := value.([]any); isList {
		parts := make([]string, 0, len(list))
		one = true
		for _, v := range list {
			part, ok := scalar(v)
			one = one && ok
			parts = append(parts, part)
		}
		text = strings.Join(parts, ", ")
	}
	if !one {
		raw, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		text = string(raw)
	}
	return cut(visible(strings.TrimSpace(text), true), maxField)
}

// scalar gives a string, number or yes-and-no as text.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return map[bool]string{true: "Yes", false: "No"}[v], true
	}
	return "", false
}

// cut bounds a text to a number of characters, with a mark where something is left out.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s)
	return strings.TrimRightFunc(string(runes[:most-1]), unicode.IsSpace) + "…"
}

// orderOf is the order of a preview's lines.
var orderOf = []string{"To", "Cc", "Bcc", "Where", "Subject", "Item", "Amount", "Files"}

func (f *found) fields(kind string) []Field {
	out := []Field{}
	for _, label := range orderOf {
		value := f.line(label)
		if value == "" {
			continue
		}
		if label == "Subject" && kind != "email" && kind != "message" {
			label = "Title"
		}
		out = append(out, Field{label, value})
	}
	return out
}

// line joins the values of a label. A list that is cut says how many it leaves out, so that a recipient cannot hide
// behind others.
func (f *found) line(label string) string {
	values := f.values[label]
	var b strings.Builder
	for i, v := range values {
		v = oneLine(v)
		if i > 0 && b.Len()+len(v) > maxField {
			fmt.Fprintf(&b, " and %d more", len(values)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		v = cut(v, maxField)
		if label == "To" || label == "Cc" || label == "Bcc" {
			v += strange(v)
		}
		b.WriteString(v)
	}
	if label == "Amount" && b.Len() > 0 && f.currency != "" {
		b.WriteString(" " + cut(oneLine(f.currency), 12))
	}
	return b.String()
}
