package look_test

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"sentient/backend/approval/look"
	"sentient/backend/tool"
)

var update = flag.Bool("update", false, "write golden files")

// prompted gives what the model is asked about a call, and the warning that its answer makes.
func prompted(t *testing.T, a look.Action, words, answer string) (prompt, warning string) {
	t.Helper()
	warning = look.Model(t.Context(), a, said(words), func(_ context.Context, p string) (string, error) {
		prompt = p
		return answer, nil
	})
	return prompt, warning
}

func TestTheMatchPrompt(t *testing.T) {
	a := rawAction(`{"body":"Friday at 1?","to":"sam@example.com"}`)
	a.Wording = tool.Wording{RiskLabel: "Sends an email", Target: "sam@example.com"}
	got, _ := prompted(t, a, "Email Sam about lunch on Friday", `{"match":true}`)
	if *update {
		if err := os.WriteFile("testdata/match.golden", []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/match.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("the prompt differs (go test -update writes it):\n%s", got)
	}
}

func TestTheMatchPromptIsBounded(t *testing.T) {
	a := rawAction(`{"to":"sam@example.com` + "\u202e" + `","body":"` + strings.Repeat("y", 50000) + `the end"}`)
	got, _ := prompted(t, a, strings.Repeat("z", 5000)+" last words", `{"match":true}`)
	for part, there := range map[string]bool{"last words": true, "the end": true, "left out": true, "⟨U+202E⟩": true, "\u202e": false} {
		if strings.Contains(got, part) != there {
			t.Errorf("%q in the prompt: %v", part, !there)
		}
	}
	if n := strings.Count(got, "z"); n > 1500 {
		t.Errorf("%d characters of the words", n)
	}
}

func TestTheReasonIsOneCleanLine(t *testing.T) {
	_, got := prompted(t, rawAction(`{}`), "x", `{"match":false,"reason":"Line\n\u202etwo `+strings.Repeat("w", 1000)+`"}`)
	reason, ok := strings.CutPrefix(got, "A second look found this may not match what you asked: ")
	if !ok || strings.ContainsAny(got, "\n\u202e") || utf8.RuneCountInString(reason) > 201 || !strings.HasSuffix(got, ".") {
		t.Errorf("%q", got)
	}
}

func TestWhatTheModelIsAskedAbout(t *testing.T) {
	inside := *send
	inside.Internal = true
	for _, c := range []struct {
		name string
		a    look.Action
		want bool
	}{
		{"a send", look.Action{Tool: send, Risk: tool.Send}, true},
		{"code", look.Action{Tool: send, Risk: tool.Exec}, true},
		{"a change", look.Action{Tool: send, Risk: tool.Write}, false},
		{"a look-up", look.Action{Tool: send, Risk: tool.Read}, false},
		{"inside Sentient", look.Action{Tool: &inside, Risk: tool.Send}, false},
		{"no tool", look.Action{Risk: tool.Send}, false},
	} {
		if got := look.Applies(c.a); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if got := look.Model(t.Context(), rawAction(`{}`), nil, nil); got != look.Unchecked {
		t.Error(got)
	}
}

func FuzzTheModelsAnswer(f *testing.F) {
	f.Add(`{"match": true}`)
	f.Add(strings.Repeat("{", 100))
	f.Add(`<think>{"match":true}</think>{"match":false,"reason":"no"}`)
	f.Fuzz(func(t *testing.T, answer string) {
		_, got := prompted(t, rawAction(`{}`), "x", answer)
		if got == "" && !strings.Contains(answer, "true") {
			t.Errorf("%q passed", answer)
		}
	})
}
