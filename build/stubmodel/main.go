// Command stubmodel is a model service on loopback for tests of the whole program from outside: it speaks the
// OpenAI-compatible protocol and answers by what it is asked. It prints its address and serves until its input ends.
//
//	slow …      forty words, an eighth of a second apart
//	hang …      a few words, then silence
//	fail …      503
//	cut …       a few words, then the connection is cut
//	show me …   a page of Markdown
//	else        "You said: …"
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	_ "embed"

	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

//go:embed sample.md
var sample string

func main() {
	s, err := scripted.ServeBy(answer)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer s.Close()
	s.SetModels("stub")
	fmt.Println(s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with whoever started this
}

func answer(r scripted.Recorded) scripted.Play {
	text := lastUser(r.Body)
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	switch {
	case word == "slow":
		return slow()
	case word == "hang":
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("Let me ")}, {Bytes: scripted.Text("think")}}, Hang: true}
	case word == "cut":
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("This is cut ")}}, Cut: true}
	case word == "fail":
		return scripted.Refuse(503, `{"error":{"message":"overloaded"}}`)
	case strings.HasPrefix(strings.ToLower(text), "show me"):
		return whole(sample)
	}
	return whole("You said: " + text)
}

// whole answers with a text in small pieces.
func whole(text string) scripted.Play {
	var parts []string
	for _, word := range strings.SplitAfter(text, " ") {
		parts = append(parts, scripted.Text(word))
	}
	parts = append(parts, scripted.End(llm.FinishStop, llm.Usage{Prompt: 40, Completion: len(parts)}))
	return scripted.Stream(parts...)
}

func slow() scripted.Play {
	var p scripted.Play
	for i := range 40 {
		after := make(chan struct{})
		time.AfterFunc(time.Duration(i)*125*time.Millisecond, func() { close(after) })
		p.Parts = append(p.Parts, scripted.Part{Bytes: scripted.Text(fmt.Sprintf("word%d ", i)), Until: after})
	}
	p.Parts = append(p.Parts, scripted.Part{Bytes: scripted.End(llm.FinishStop, llm.Usage{Prompt: 40, Completion: 40}) + "data: [DONE]\n\n"})
	return p
}

func lastUser(body []byte) string {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role != "user" {
			continue
		}
		var text string
		if json.Unmarshal(r.Messages[i].Content, &text) == nil {
			return text
		}
		var parts []struct{ Text string }
		if json.Unmarshal(r.Messages[i].Content, &parts) == nil && len(parts) > 0 {
			return parts[0].Text
		}
	}
	return ""
}
