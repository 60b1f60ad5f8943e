package look

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"text/template"

	"sentient/backend/approval/evidence"
	"sentient/backend/approval/preview"
)

// How much the model is shown and may say, in characters.
const (
	maxWords  = 1500 // the last of the person's own words
	maxAction = 6000 // of the arguments
	maxReason = 200
	maxAnswer = 20000
	maxTries  = 64 // places in an answer where an object may start
)

// Unchecked is the warning when the model gave no usable answer, or none in time.
const Unchecked = "Sentient couldn't double-check this against what you asked, so it checks with you first."

//go:embed prompts/match.md
var matchText string

var matchPrompt = template.Must(template.New("match").Parse(matchText))

// Model asks a small model whether a call matches what the person asked for. It sees only the person's own words and the
// action: nothing from outside can speak to it except through the action's own arguments. The warning is "" when it says
// that they match. An error of ask, or an answer that cannot be read, is a warning of its own: it fails closed. How long
// it may take is ctx's to say; whether a call is to be asked about, Applies' and the gate's.
func Model(ctx context.Context, a Action, e *evidence.Evidence, ask func(ctx context.Context, prompt string) (string, error)) (warning string) {
	if ask == nil {
		return Unchecked
	}
	prompt, err := matchPromptFor(a, e)
	if err != nil {
		return Unchecked
	}
	answer, err := ask(ctx, prompt)
	if err != nil || ctx.Err() != nil {
		return Unchecked
	}
	match, reason, ok := readAnswer(answer)
	switch {
	case !ok:
		return Unchecked
	case match:
		return ""
	case reason == "":
		return "A second look found this may not match what you asked."
	}
	return "A second look found this may not match what you asked: " + reason + "."
}

func matchPromptFor(a Action, e *evidence.Evidence) (string, error) {
	if e == nil {
		e = &evidence.Evidence{}
	}
	in := struct{ Words, Name, App, Label, Target, Arguments string }{
		Words: lastOf(preview.Visible(strings.Join(own(e), "\n")), maxWords), Label: a.Wording.Label(a.Risk), Target: oneLine(a.Wording.Target, maxReason),
		Arguments: middleOut(preview.Visible(string(a.Args)), maxAction)}
	if a.Tool != nil {
		in.Name = a.Tool.Name
	}
	if a.Plugin != nil {
		in.App = a.Plugin.Name
	}
	var b strings.Builder
	err := matchPrompt.Execute(&b, in)
	return strings.TrimSpace(b.String()), err
}

func lastOf(s string, most int) string {
	runes := []rune(s)
	return string(runes[max(0, len(runes)-most):])
}

// middleOut bounds a text from the middle, and says so: what is at the end of a long one is not to be missed.
func middleOut(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most/2]) + "\n[… left out …]\n" + string(runes[len(runes)-most/2:])
}

// readAnswer finds the one answer in what a model wrote, whatever stands around it. An answer is an object whose match is
// true or false. Two are none: one of them may be a piece of the action that was written to look like a yes.
func readAnswer(text string) (match bool, reason string, ok bool) {
	if len(text) > maxAnswer {
		return false, "", false
	}
	for range maxTries {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			return match, reason, ok
		}
		text = text[start:]
		d := json.NewDecoder(strings.NewReader(text))
		var said struct {
			Match  *bool `json:"match"`
			Reason any   `json:"reason"`
		}
		if d.Decode(&said) != nil {
			text = text[1:]
			continue
		}
		text = text[d.InputOffset():]
		switch {
		case said.Match == nil:
		case ok:
			return false, "", false
		default:
			why, _ := said.Reason.(string)
			match, reason, ok = *said.Match, strings.TrimRight(oneLine(why, maxReason), ".!… "), true
		}
	}
	return false, "", false
}
