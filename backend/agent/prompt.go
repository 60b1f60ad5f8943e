package agent

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"sentient/backend/approval/outside"
	"sentient/backend/clock"
	"sentient/backend/llm"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// prompts are the parsed prompt files.
type prompts struct {
	system, title, attachments *template.Template
}

func loadPrompts() (prompts, error) {
	all, err := template.ParseFS(promptFiles, "prompts/*.md")
	if err != nil {
		return prompts{}, fmt.Errorf("read prompts: %w", err)
	}
	return prompts{all.Lookup("system.md"), all.Lookup("title.md"), all}, nil
}

func fill(t *template.Template, data any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("fill prompt: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}

// note fills one of the short notes for a model, and of the sentences that stand where a model gave none (notes.md).
func (p prompts) note(name string, data any) string {
	text, err := fill(p.attachments.Lookup(name), data)
	if err != nil {
		panic(err) // a file of ours and plain values: the tests fill each
	}
	return text
}

// system is what the system prompt is filled with.
type system struct {
	Assistant, User, Soul, Profile, Memory, Language string
	Zone, Location                                   string
	Incognito, NoMemory, Tools                       bool
	Guidance                                         string // for the surface the reply is shown or spoken on
	Blocks                                           []string
}

// systemPrompt is the same for every turn of a chat unless the person changes something, so that services can keep it in
// their cache: what changes by the minute stands with the messages.
func (s *Service) systemPrompt(t *turn, set Settings, known Recalled) (string, error) {
	data := system{
		Assistant: cmp.Or(set.AssistantName, "Sentient"), User: set.UserName, Location: set.Location, Language: set.Language, Incognito: t.incognito,
		Soul: s.workspace("SOUL.md"), Profile: s.workspace("USER.md"), Memory: s.workspace("MEMORY.md"),
		Zone: s.zoneName(set), Tools: true, Guidance: s.prompts.guidance(t.channel), Blocks: known.Blocks,
	}
	if !t.mayRemember(set) {
		data.User, data.Location, data.Profile, data.Memory, data.Blocks, data.NoMemory = "", "", "", "", nil, true
	}
	return fill(s.prompts.system, data)
}

// mayRemember reports whether a turn may use what Sentient knows (§10 "Turns without memory").
func (t *turn) mayRemember(set Settings) bool {
	return t.memory && !(t.incognito && !set.IncognitoUsesMemory)
}

// guidance gives how to answer on a surface; "" for the window.
func (p prompts) guidance(channel string) string {
	name := map[string]string{"voice": "spoken", "glasses": "spoken", "phone": "spoken", "telegram": "phone", "discord": "phone", "whatsapp": "phone"}[channel]
	if name == "" {
		return ""
	}
	return p.note("guidance-"+name, nil)
}

// zone is the person's time zone.
func (s *Service) zone(set Settings) *time.Location {
	if set.Timezone != "" && set.Timezone != "auto" {
		if z, err := time.LoadLocation(set.Timezone); err == nil {
			return z
		}
	}
	return s.Clock.Local()
}

// zoneName is the zone as a model knows it: its IANA name where there is one.
func (s *Service) zoneName(set Settings) string {
	zone := s.zone(set)
	if name := zone.String(); name != "Local" {
		return name
	}
	short, _ := s.Clock.Now().In(zone).Zone()
	return short
}

// dated puts in front of a message when it was written.
func (s *Service) dated(text string, at time.Time, set Settings) string {
	return s.prompts.note("now", at.In(s.zone(set)).Format("Monday, 2 January 2006, 15:04")) + "\n" + text
}

// workspaceLimit is how much of a workspace file a prompt takes, in bytes.
const workspaceLimit = 6000

// workspace gives the text of a file that the person may edit; "" when there is none. Comments are not for the model.
func (s *Service) workspace(name string) string {
	f, err := os.Open(filepath.Join(s.Dir, "workspace", name))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4*workspaceLimit))
	if err != nil {
		s.Log.Warn("workspace file not read", "file", name, "error", err)
		return ""
	}
	return cut(strings.TrimSpace(withoutComments(string(text))), workspaceLimit)
}

func withoutComments(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for {
		before, rest, ok := strings.Cut(text, "<!--")
		if !ok {
			return text
		}
		_, after, _ := strings.Cut(rest, "-->")
		text = before + strings.TrimPrefix(after, "\n")
	}
}

// cut gives at most n bytes of a text, whole characters only.
func cut(text string, n int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// prompt is what a turn's model reads, and what its tools are chosen by.
type prompt struct {
	messages []llm.Message
	pictures bool // the newest message brings one
	need     Need
	memories []tool.MemorySource
}

// recallWithin is how long a prompt waits for what is known about the person (contract facts, part 2).
const recallWithin = 2 * time.Second

// olderResult is how much of a tool result an earlier turn keeps in the prompt, in characters: always the same, so that the
// prompt's beginning does not change from turn to turn.
const olderResult = 2000

// compose builds what the model reads: the system prompt, a summary of what is long ago, and the path's messages since.
func (s *Service) compose(t *turn) (p prompt, err error) {
	set := s.Settings()
	known := s.recall(t, set)
	p.memories = known.Memories
	instructions, err := s.systemPrompt(t, set, known)
	if err != nil {
		return p, err
	}
	window := set.HistoryWindow
	if window <= 0 {
		window = 30
	}
	window += set.CompressAfter // so many may stand after a summary before the next one is made
	past, summary, err := s.Transcript.History(t.ctx, t.TurnID, window)
	if err != nil {
		return p, err
	}
	if summary != "" {
		instructions += "\n\n" + s.prompts.note("summary", summary)
	}
	p.messages = append(p.messages, llm.Message{Role: llm.System, Text: instructions})
	for i, m := range past {
		if m.Role == "user" && i+1 < len(past) && past[i+1].Role == "user" && past[i+1].Text == m.Text {
			continue // tried again after a failure: once is enough
		}
		if err := s.addPast(t, set, &p, m); err != nil {
			return p, err
		}
	}
	for len(p.messages) > 2 && p.messages[1].Role != llm.User {
		p.messages = append(p.messages[:1], p.messages[2:]...) // the window began in the middle of a turn
	}
	p.messages = s.paired(p.messages)
	p.pictures = len(p.messages[len(p.messages)-1].Images) > 0
	return p, nil
}

// recall asks for what is known about the person. What fails or takes too long is left out: the message matters more.
func (s *Service) recall(t *turn, set Settings) Recalled {
	if s.Knowledge == nil || !t.mayRemember(set) {
		return Recalled{}
	}
	known, err := svc.Guarded(t.ctx, s.guard(), "recall", recallWithin, func(ctx context.Context) (Recalled, error) {
		return s.Knowledge.Recall(ctx, RecallInput{SessionID: t.SessionID, Channel: t.channel, Text: t.Text})
	})
	if err != nil {
		s.Log.Info("nothing recalled", "session", t.SessionID, "error", err)
		return Recalled{}
	}
	return known
}

// addPast adds one message of the past to a prompt.
func (s *Service) addPast(t *turn, set Settings, p *prompt, past transcript.Past) error {
	switch past.Role {
	case "user", "other":
		m, err := s.userMessage(t, set, past)
		if err != nil {
			return err
		}
		p.messages = joinUser(p.messages, m)
		p.need.Text += "\n" + cut(past.Text, 2000)
	case "resumed":
		p.messages = joinUser(p.messages, llm.Message{Role: llm.User, Text: s.prompts.note("resume", nil)})
	case "assistant":
		m := llm.Message{Role: llm.Assistant, Text: past.Text, Thinking: past.Thinking}
		for _, c := range past.Calls {
			m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
			p.need.Recent = append(p.need.Recent, c.Name)
		}
		p.messages = append(p.messages, m)
	case "tool":
		text := past.Text
		if short := firstRunes(text, olderResult); past.TurnID != t.TurnID && len(short) < len(text) {
			text = short + s.prompts.note("older", nil)
		}
		text = s.Gate.Shown(text, s.sourceOf(past))
		p.messages = append(p.messages, llm.Message{Role: llm.ToolRole, Text: text, ToolCallID: past.CallID, ToolName: past.Name})
	}
	return nil
}

// sourceOf gives where a stored result was read from. One from before that was kept is judged by its tool.
func (s *Service) sourceOf(past transcript.Past) string {
	if t, p, ok := s.Tools.Find(past.Name); past.Outside == "" && ok && t.BringsOutside(p) {
		return p.Name
	}
	return past.Outside
}

// paired gives every call its result and every result its call, in order: services refuse a prompt where one is missing.
func (s *Service) paired(in []llm.Message) []llm.Message {
	results := map[string]llm.Message{}
	for _, m := range in {
		if m.Role == llm.ToolRole {
			results[m.ToolCallID] = m
		}
	}
	out := make([]llm.Message, 0, len(in))
	for _, m := range in {
		if m.Role == llm.ToolRole {
			continue
		}
		out = append(out, m)
		for _, c := range m.ToolCalls {
			r, ok := results[c.ID]
			if !ok {
				r = llm.Message{Role: llm.ToolRole, Text: s.prompts.note("lost", nil), ToolCallID: c.ID, ToolName: c.Name}
			}
			out = append(out, r)
		}
	}
	return out
}

// joinUser appends a message. Two messages of the person in a row become one, because many models insist on turns.
func joinUser(messages []llm.Message, m llm.Message) []llm.Message {
	last := &messages[len(messages)-1]
	if m.Role != llm.User || last.Role != llm.User {
		return append(messages, m)
	}
	last.Text += "\n\n" + m.Text
	last.Images = append(last.Images, m.Images...)
	return messages
}

// userMessage is a message of the person with what is attached: in full for the message that is being answered, by name
// for older ones.
func (s *Service) userMessage(t *turn, set Settings, p transcript.Past) (llm.Message, error) {
	m := llm.Message{Role: llm.User, Text: p.Text}
	switch {
	case p.Role == "other":
		m.Text = s.Gate.Marker().Mark(s.prompts.note("other", p), outside.GroupSource(p.Name))
	case p.Name != "" && t.From == "": // here the person is the one who speaks
		m.Text = s.Gate.Marker().Mark(p.Text, p.Name)
	case p.Name != "":
		m.Text = s.prompts.note("api", p.Text)
	}
	if at, err := clock.Parse(p.At); err == nil {
		m.Text = s.dated(m.Text, at, set)
	}
	if len(p.Attachments) == 0 {
		return m, nil
	}
	if p.TurnID != t.TurnID {
		note, err := s.attachmentText("earlier", attachment{Name: strings.Join(p.Attachments, ", ")})
		m.Text = joinText(m.Text, note)
		return m, err
	}
	for _, name := range p.Attachments {
		text, image, err := s.attach(t.ctx, name)
		if err != nil {
			return m, err
		}
		m.Text = joinText(m.Text, text)
		if image != nil {
			m.Images = append(m.Images, *image)
		}
	}
	return m, nil
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}
