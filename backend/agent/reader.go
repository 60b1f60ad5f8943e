package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sentient/backend/approval"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/tool"
)

// The reader takes named facts out of what someone else wrote, so that the run which asks for them never reads the rest
// (§10 `read_with_reader`): one model call without tools, whose answer is believed only as far as code can check it.

type readerInput struct {
	Tool      string            `json:"tool" doc:"The look-up to run"`
	Fields    map[string]string `json:"fields" doc:"Name of each field and its kind: text, email, url, date, number, yes_no, id, or choices such as \"a|b|c\""`
	Arguments map[string]any    `json:"arguments,omitempty" doc:"The look-up's arguments"`
}

// Bounds of a reading.
const (
	readerFields   = 12
	readerDocument = 12000 // characters
	readerText     = 300
	readerWithin   = 3 * time.Minute
)

// readerResult is what a run gets to see.
type readerResult struct {
	Outside    string         `json:"outside_content,omitempty"` // first: it marks the run
	Source     string         `json:"source"`
	Fields     map[string]any `json:"fields"`
	SubagentID string         `json:"subagent_id"`
}

func (s *Service) readWith(ctx context.Context, c *tool.Context, in readerInput) (any, error) {
	if c.SessionID == "" {
		return nil, errNoChat
	}
	t, p, args, err := s.readable(ctx, c, in)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(in.Fields))
	h, work, err := s.beginHelper(ctx, c, Subagent{Goal: fmt.Sprintf("Read %s for: %s", p.Name, strings.Join(names, ", ")), Kind: "reader"})
	if err != nil {
		return nil, err
	}
	h.record.step(ProgressMessage{Type: "info", Content: asked(names, in.Fields)})
	fields, err := s.readFields(work, c, t, p, args, in.Fields)
	summary := ""
	if err == nil {
		raw, _ := json.Marshal(fields) // plain values always encode
		summary = string(raw)
		h.record.step(ProgressMessage{Type: "final_answer", Content: summary})
	} else {
		h.record.step(ProgressMessage{Type: "error", Content: errs.From(err).Message, IsError: true})
	}
	a := s.endHelper(work, h, summary, err)
	if err != nil {
		return nil, err
	}
	r := readerResult{Source: p.Name, Fields: fields, SubagentID: a.SubagentID}
	if t.BringsOutside(p) && slices.ContainsFunc(names, func(n string) bool { return fields[n] != nil && freeKind(in.Fields[n]) }) {
		r.Outside = p.Name
	}
	return r, nil
}

func asked(names []string, kinds map[string]string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = n + " (" + kinds[n] + ")"
	}
	return "Fields: " + strings.Join(parts, ", ")
}

// freeKind reports whether a kind can carry somebody's own words.
func freeKind(kind string) bool { return kind == "text" || kind == "email" || kind == "url" }

var (
	fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,39}$`)
	kinds     = []string{"text", "email", "url", "date", "number", "yes_no", "id"}
)

// readable refuses what a reader may not run.
func (s *Service) readable(ctx context.Context, c *tool.Context, in readerInput) (*tool.Tool, *tool.Plugin, json.RawMessage, error) {
	refuse := func(format string, args ...any) (*tool.Tool, *tool.Plugin, json.RawMessage, error) {
		return nil, nil, nil, errs.Newf(errs.Invalid, "reader_refused", format, args...)
	}
	if len(in.Fields) == 0 || len(in.Fields) > readerFields {
		return refuse("Ask for 1 to %d fields.", readerFields)
	}
	for name, kind := range in.Fields {
		if !fieldName.MatchString(name) {
			return refuse("A field's name has letters, digits and underscores, 40 at most.")
		}
		if !slices.Contains(kinds, kind) && len(choices(kind)) < 2 {
			return refuse("The kind of %s is none of text, email, url, date, number, yes_no, id, or choices such as a|b|c.", name)
		}
	}
	t, p, ok := s.Tools.Find(in.Tool)
	if !ok || !s.Tools.Enabled(in.Tool) {
		return refuse("There is no tool called %q.", in.Tool)
	}
	if p.ID == PluginID {
		return refuse("The reader cannot run %s.", in.Tool)
	}
	if in.Arguments == nil {
		in.Arguments = map[string]any{}
	}
	raw, err := json.Marshal(in.Arguments)
	if err != nil {
		return refuse("Invalid arguments for %s.", in.Tool)
	}
	args, err := t.Prepare(raw)
	if err != nil {
		return refuse("Invalid arguments for %s: %s.", in.Tool, strings.TrimSuffix(err.Error(), "."))
	}
	return t, p, args, nil
}

// readFields runs the look-up and has a model read it.
func (s *Service) readFields(ctx context.Context, c *tool.Context, t *tool.Tool, p *tool.Plugin, args json.RawMessage, fields map[string]string) (map[string]any, error) {
	inner := *c
	inner.Progress, inner.ResultLimit = func(tool.Progress) {}, readerDocument
	value, err := s.lookUp(ctx, &inner, t, p, args)
	if err != nil {
		return nil, err
	}
	text, _, failed := s.encode(t.Name, value, false)
	if failed {
		return nil, tool.ErrBroke
	}
	document := firstRunes(text, readerDocument)
	instructions, err := fill(s.prompts.attachments.Lookup("reader.md"), map[string]any{"Fields": fields, "Source": p.Name})
	if err != nil {
		return nil, err
	}
	answer, err := s.askReader(ctx, instructions, document, readerSchema(fields))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, kind := range fields {
		out[name] = checked(kind, answer[name], document)
	}
	return out, nil
}

// lookUp runs the reader's look-up, through the gate: only one that runs without a question.
func (s *Service) lookUp(ctx context.Context, c *tool.Context, t *tool.Tool, p *tool.Plugin, args json.RawMessage) (any, error) {
	parent := approval.RunOf(ctx)
	if parent == nil {
		return nil, errNoChat
	}
	k := parent.Child(readerSurface(), *c).Judge(ctx, approval.Call{Args: args, Tool: t, Plugin: p, Context: c})
	if k.Plain() && k.Leaves(ctx) {
		return nil, errs.Newf(errs.Invalid, "reader_refused", "The reader cannot run %s, because it could send data out.", t.Name)
	}
	o := k.Carry(ctx, nil)
	if o.Ran || o.Err != nil {
		return o.Value, o.Err
	}
	if refused, ok := o.Value.(map[string]any); ok {
		if why, ok := refused["error"].(string); ok {
			return nil, errs.New(errs.Invalid, "reader_refused", why)
		}
	}
	return nil, errs.Newf(errs.Invalid, "reader_refused", "The reader cannot run %s.", t.Name)
}

// askReader has a model read a document, and gives the fields as it wrote them.
func (s *Service) askReader(ctx context.Context, instructions, document string, schema json.RawMessage) (answer map[string]json.RawMessage, err error) {
	ask := quickly{within: readerWithin, what: "reader", request: func(c llm.Choice) llm.Request {
		r := c.Request([]llm.Message{{Role: llm.System, Text: instructions}, {Role: llm.User, Text: document}})
		r.Schema = schema
		return r
	}}
	err = s.askQuickly(ctx, ask, func(text string) error {
		if i, j := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); i >= 0 && j > i {
			text = text[i : j+1]
		}
		if json.Unmarshal([]byte(text), &answer) == nil && answer != nil {
			return nil
		}
		return errs.New(errs.Unavailable, llm.CodeBroken, "The reader's model did not give the fields.")
	})
	return answer, err
}

func readerSchema(fields map[string]string) json.RawMessage {
	properties := map[string]any{}
	for name, kind := range fields {
		p := map[string]any{"type": []string{"string", "null"}}
		switch kind {
		case "number":
			p["type"] = []string{"number", "null"}
		case "yes_no":
			p["type"] = []string{"boolean", "null"}
		}
		properties[name] = p
	}
	raw, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(fields)), "additionalProperties": false})
	return raw
}

var (
	emailForm = regexp.MustCompile(`^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$`)
	urlForm   = regexp.MustCompile(`^https?://[^\s<>"]+$`)
	dateForm  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$`)
	idForm    = regexp.MustCompile(`^\S{1,100}$`)
)

// checked gives a field's value when it is of its kind, and nil when it is not.
func checked(kind string, raw json.RawMessage, document string) any {
	var text string
	isText := json.Unmarshal(raw, &text) == nil
	text = strings.TrimSpace(text)
	switch kind {
	case "number":
		return number(raw, text)
	case "yes_no":
		return yesNo(raw, text)
	}
	if !isText || text == "" {
		return nil
	}
	switch kind {
	case "text":
		return firstRunes(oneSentence(text), readerText)
	case "email":
		if emailForm.MatchString(text) && written(text, document) {
			return text
		}
	case "url":
		if urlForm.MatchString(text) && written(text, document) {
			return text
		}
	case "date":
		if dateForm.MatchString(text) {
			if _, err := time.Parse("2006-01-02", text[:10]); err == nil {
				return text
			}
		}
	case "id":
		if idForm.MatchString(text) && strings.ContainsAny(text, "0123456789") && written(text, document) {
			return text
		}
	default:
		for _, choice := range choices(kind) {
			if strings.EqualFold(choice, text) {
				return choice
			}
		}
	}
	return nil
}

// choices gives the values of a kind such as "a|b|c".
func choices(kind string) []string {
	var list []string
	for _, c := range strings.Split(kind, "|") {
		if c = strings.TrimSpace(c); c != "" && len(c) <= 60 {
			list = append(list, c)
		}
	}
	if !strings.Contains(kind, "|") {
		return nil
	}
	return list
}

func number(raw json.RawMessage, text string) any {
	var n json.Number
	if json.Unmarshal(raw, &n) == nil && n != "" && text == "" {
		return n
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return nil
}

func yesNo(raw json.RawMessage, text string) any {
	var b bool
	if json.Unmarshal(raw, &b) == nil && string(raw) != "null" {
		return b
	}
	switch strings.ToLower(text) {
	case "yes", "true":
		return true
	case "no", "false":
		return false
	}
	return nil
}

// written reports whether a value stands in the document as a whole: the end of a longer address is another one.
func written(value, document string) bool {
	low, want := strings.ToLower(document), strings.ToLower(value)
	for at := 0; ; {
		i := strings.Index(low[at:], want)
		if i < 0 {
			return false
		}
		i += at
		if !partOfWord(low, i-1) && !partOfWord(low, i+len(want)) {
			return true
		}
		at = i + 1
	}
}

func partOfWord(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || c == '-' || c == '_'
}

// oneSentence gives the first sentence of a text, on one line.
func oneSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i, r := range text {
		if (r == '.' || r == '!' || r == '?') && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i+1]
		}
	}
	return text
}
