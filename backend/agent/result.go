package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sentient/backend/approval"
	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// result is a call's result as the model reads it.
type result struct {
	read string
}

// finding is a result in short, for a reply that never came.
type finding struct{ Tool, Text string }

// settle makes a call's result: what the model reads of it, what it shows, what it did. It keeps and tells it.
func (l *loop) settle(j *job, o approval.Outcome) (result, error) {
	value := o.Value
	if o.Err != nil && !o.Ran {
		return result{}, o.Err // its request could not be kept, or the turn is ending
	}
	if o.Err != nil {
		value = map[string]any{"error": l.sentence(j, o.Err)}
	}
	text, whole, failed := l.encode(j.call.Name, value, o.Failed)
	if j.note != "" && !failed {
		text, whole = l.noted(text, whole, j.note)
	}
	l.Calls++
	shown, note := l.shorten(j, text, whole, failed)
	var check *transcript.Check
	if o.Ran {
		check = l.check(j, whole, o.Err != nil)
	}
	if check != nil {
		l.Checks = append(l.Checks, *check)
	}
	if check != nil && !check.OK && check.How == "read_back" {
		note += "\n" + l.prompts.note("checked", check)
	}
	if failed || check != nil && !check.OK {
		l.Errors++
	}
	if !failed && j.tool != nil && o.Ran {
		l.used(j, whole, shown)
		l.findings = append(l.findings, finding{j.call.Name, cut(shown, findingLength)})
	}
	if again := l.repeats.see(j.call, text, l.Settings().RepeatLimit, l.nudges); again != "" {
		note += "\n" + l.prompts.note(again, l.repeats)
	}
	source := ""
	if j.gate != nil {
		var err error
		if source, err = j.gate.Settle(l.ctx, shown, whole); err != nil {
			return result{}, err
		}
	}
	r := result{read: strings.TrimSpace(l.Gate.Shown(shown, source) + note)}
	return r, l.face.Result(l.ctx, transcript.CallResult{CallID: j.call.ID, Name: j.call.Name, Content: strings.TrimSpace(shown + note), Result: whole, IsError: failed,
		DurationMS: o.Took.Milliseconds(), Check: check, Outside: source, Approval: o.Answered})
}

// noted adds a note to a result that is an object.
func (l *loop) noted(text string, whole json.RawMessage, note string) (string, json.RawMessage) {
	var object map[string]any
	if json.Unmarshal(whole, &object) != nil || object == nil {
		return text, whole
	}
	object["note"] = note
	text, whole, _ = l.encode("note", object, false)
	return text, whole
}

// encode gives a tool's result as the model reads it (a text as it is, all else as compact JSON) and as JSON. One that
// cannot be encoded, or is too large, has failed.
func (s *Service) encode(name string, value any, hasFailed bool) (text string, whole json.RawMessage, failed bool) {
	if said, ok := value.(string); ok {
		if len(said) > resultAtMost {
			return tooLarge()
		}
		value = strings.ReplaceAll(strings.ToValidUTF8(said, "\uFFFD"), "\x00", "\uFFFD")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := encodeInto(e, value); err != nil {
		s.Log.Error("result not encoded", "tool", name, "error", err)
		value, hasFailed = map[string]any{"error": tool.ErrBroke.Message}, true
		b.Reset()
		_ = encodeInto(e, value) // a map of strings always encodes
	}
	if b.Len() > resultAtMost {
		return tooLarge()
	}
	whole = bytes.ToValidUTF8(bytes.TrimSpace(b.Bytes()), []byte("\uFFFD"))
	if said, ok := value.(string); ok {
		return said, whole, hasFailed
	}
	return string(whole), whole, hasFailed
}

// encodeInto encodes a value whose own encoder may panic.
func encodeInto(e *json.Encoder, value any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode result: panic: %v", p)
		}
	}()
	if value == nil {
		value = struct{}{}
	}
	return e.Encode(value)
}

func tooLarge() (string, json.RawMessage, bool) {
	whole := json.RawMessage(fmt.Sprintf(`{"error":"The result is larger than %d MB, so none of it was kept. Ask for less of it."}`, resultAtMost>>20))
	return string(whole), whole, true
}

// sentence is what a failed call says. What is no sentence for people is for the log.
func (l *loop) sentence(j *job, err error) string {
	if known, ok := errors.AsType[*errs.Error](err); ok {
		if known.Cause != nil {
			l.Log.Info("tool failed", "tool", j.call.Name, "error", err)
		}
		return known.Message
	}
	l.Log.Warn("tool failed", "tool", j.call.Name, "error", err)
	return fmt.Sprintf("%s did not work. Try another way, or tell the user.", j.call.Name)
}

// shorten gives what a model reads of a result, and the note that says what it does not (§10).
func (l *loop) shorten(j *job, text string, whole json.RawMessage, failed bool) (shown, note string) {
	total := utf8.RuneCountInString(text)
	if l.resultMx <= 0 || total <= l.resultMx {
		return text, ""
	}
	shown = text
	short := false
	if j.tool != nil && j.tool.Shorten != nil && !failed {
		if s := j.tool.Shorten(whole); len(s) > 0 && len(s) < len(text) {
			shown, short = string(s), true
		}
	}
	shownTotal := utf8.RuneCountInString(shown)
	part := firstRunes(shown, l.resultMx)
	about := cutNote{Shown: utf8.RuneCountInString(part), Of: shownTotal, Total: total, Offset: utf8.RuneCountInString(part), Short: short, Cut: len(part) < len(shown)}
	if short {
		about.Offset = 0 // what was shown is other text
	}
	if name, err := l.Files.SaveOutput(l.ctx, l.call.SessionID, l.call.Incognito, "tool-"+fileName(j.call.ID)+".txt", []byte(text)); err != nil {
		l.Log.Warn("long result not saved", "tool", j.call.Name, "error", err)
	} else {
		about.File = name
	}
	return part, "\n" + l.prompts.note("cut", about)
}

// cutNote fills the note of a result that was cut or shortened.
type cutNote struct {
	Shown, Of, Total, Offset int
	Short, Cut               bool
	File                     string
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// fileName is a call's id as a part of a file's name: a service may have chosen it.
func fileName(id string) string {
	return cut(notInNames.ReplaceAllString(id, "_"), 80)
}

// How much of the sources a reply keeps (§2).
const (
	mostSources   = 12
	mostMemories  = 40
	snippetLength = 280
	findingLength = 600
)

// used records the pages, mails, files, apps and memories that a result showed to the model: in code, never by asking it.
func (l *loop) used(j *job, whole json.RawMessage, shown string) {
	l.Memories = addMemories(l.Memories, l.memoriesOf(j, whole), shown)
	if j.tool.Files != nil {
		for _, name := range j.tool.Files(j.call.Arguments, whole) {
			if !slices.Contains(l.Written, name) {
				l.Written = append(l.Written, name)
			}
		}
	}
	var found []tool.Source
	if j.tool.Sources != nil {
		found = j.tool.Sources(j.call.Arguments, whole)
	} else if j.plugin.Auth != "builtin" {
		found = []tool.Source{{Kind: "app", Title: j.plugin.Name, Tools: []string{j.call.Name}}}
	}
	for _, s := range found {
		if s.Shown != "" && !strings.Contains(shown, s.Shown) {
			continue // the model never read it
		}
		s.App, s.Tool = j.plugin.ID, j.call.Name
		s.Snippet = firstRunes(strings.TrimSpace(s.Snippet), snippetLength)
		l.Sources = addSource(l.Sources, s)
	}
}

func (l *loop) memoriesOf(j *job, whole json.RawMessage) []tool.MemorySource {
	if j.tool.Memories == nil {
		return nil
	}
	return j.tool.Memories(j.call.Arguments, whole)
}

func addMemories(all, more []tool.MemorySource, shown string) []tool.MemorySource {
	for _, m := range more {
		same := func(o tool.MemorySource) bool { return o.Kind == m.Kind && fmt.Sprint(o.ID) == fmt.Sprint(m.ID) }
		if len(all) < mostMemories && (m.Shown == "" || strings.Contains(shown, m.Shown)) && !slices.ContainsFunc(all, same) {
			all = append(all, m)
		}
	}
	return all
}

// addSource adds a source; the first mention of the same thing wins. Of an app, every tool that was used is named.
func addSource(all []tool.Source, s tool.Source) []tool.Source {
	for i, o := range all {
		switch {
		case s.Kind == "app" && o.Kind == "app" && o.App == s.App:
			for _, name := range s.Tools {
				if !slices.Contains(o.Tools, name) {
					all[i].Tools = append(all[i].Tools, name)
				}
			}
			return all
		case s.Kind == o.Kind && s.Kind != "app" && s.URL == o.URL && s.File == o.File && s.Path == o.Path && s.ID == o.ID:
			return all
		}
	}
	if len(all) >= mostSources {
		return all
	}
	return append(all, s)
}

// repeats is the loop breaker (§10): how often the same call gave the same result.
type repeats struct {
	Tool  string // the one that repeats
	Count int

	seen   map[string]repeated
	nudged bool
	over   bool // the loop ends
}

type repeated struct {
	result [sha256.Size]byte
	count  int
}

// see counts a call's result and gives the note that the model is told, if any. A different result starts the count again.
func (r *repeats) see(c transcript.Call, text string, limit int, nudges bool) (note string) {
	if limit <= 0 {
		return ""
	}
	if r.seen == nil {
		r.seen = map[string]repeated{}
	}
	// Blanks do not make another call.
	key := c.Name + "\x00" + strings.Join(strings.Fields(string(c.Arguments)), "")
	sum := sha256.Sum256([]byte(text))
	before := r.seen[key]
	if before.result != sum {
		before = repeated{result: sum}
	}
	before.count++
	r.seen[key] = before
	if before.count < limit {
		return ""
	}
	r.Tool, r.Count = c.Name, before.count
	if nudges && !r.nudged {
		r.nudged = true
		return "nudge"
	}
	r.over = true
	return ""
}

// foundSoFar is the reply of a model that used tools and then answered nothing, twice asked: what its calls gave, a line a
// tool (§4).
func (l *loop) foundSoFar() string {
	var last []finding
	for _, f := range l.findings {
		f.Text = strings.Join(strings.Fields(f.Text), " ")
		if i := slices.IndexFunc(last, func(o finding) bool { return o.Tool == f.Tool }); i >= 0 {
			last[i] = f
			continue
		}
		last = append(last, f)
	}
	if len(last) == 0 {
		return ""
	}
	return l.prompts.note("findings", last)
}
