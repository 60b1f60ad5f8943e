package agent

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"sentient/backend/llm"
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

// system is what the system prompt is filled with.
type system struct {
	Assistant, User, Soul, Profile, Language string
	Date, Time, Zone, Location               string
	Incognito                                bool
}

// timeStep is how exact the prompt's time is. A prompt that changes every minute can never be served from a model's
// cache, which keeps a prompt for about as long as this.
const timeStep = 5 * time.Minute

func (s *Service) systemPrompt(t *turn, set Settings) (string, error) {
	zone := s.Clock.Local()
	if set.Timezone != "" && set.Timezone != "auto" {
		if z, err := time.LoadLocation(set.Timezone); err == nil {
			zone = z
		}
	}
	now := s.Clock.Now().In(zone).Truncate(timeStep)
	data := system{
		Assistant: orElse(set.AssistantName, "Sentient"), User: set.UserName, Location: set.Location, Language: set.Language, Incognito: t.incognito,
		Soul: s.workspace("SOUL.md"), Profile: s.workspace("USER.md"),
		Date: now.Format("Monday, 2 January 2006"), Time: now.Format("15:04"), Zone: zoneName(now),
	}
	if t.incognito && !set.IncognitoUsesMemory {
		data.User, data.Location, data.Profile = "", "", ""
	}
	return fill(s.prompts.system, data)
}

// zoneName names a zone the way a model knows it: its IANA name, with the distance to UTC.
func zoneName(t time.Time) string {
	name := t.Location().String()
	if name == "Local" {
		name, _ = t.Zone()
	}
	return name + ", UTC" + t.Format("-07:00")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
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

// compose builds what the model reads: the system prompt and the newest messages of the path. pictures reports whether
// the newest one brings a picture.
func (s *Service) compose(t *turn) (messages []llm.Message, pictures bool, err error) {
	set := s.Settings()
	instructions, err := s.systemPrompt(t, set)
	if err != nil {
		return nil, false, err
	}
	window := set.HistoryWindow
	if window <= 0 {
		window = 30
	}
	past, err := s.Transcript.History(t.ctx, t.TurnID, window)
	if err != nil {
		return nil, false, err
	}
	messages = append(messages, llm.Message{Role: llm.System, Text: instructions})
	for i, p := range past {
		if p.Role == "user" && i+1 < len(past) && past[i+1].Role == "user" && past[i+1].Text == p.Text {
			continue // tried again after a failure: once is enough
		}
		m := llm.Message{Role: llm.Role(p.Role), Text: p.Text}
		if m.Role == llm.User {
			if m, err = s.userMessage(t, p); err != nil {
				return nil, false, err
			}
		}
		messages = joinUser(messages, m)
	}
	for len(messages) > 2 && messages[1].Role != llm.User {
		messages = append(messages[:1], messages[2:]...) // the window began in the middle of a turn
	}
	return messages, len(messages[len(messages)-1].Images) > 0, nil
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
func (s *Service) userMessage(t *turn, p transcript.Past) (llm.Message, error) {
	m := llm.Message{Role: llm.User, Text: p.Text}
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
