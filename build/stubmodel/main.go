// Command stubmodel is a model service on loopback for tests of the whole program from outside: it speaks the
// OpenAI-compatible protocol and answers by what it is asked. It prints its address and serves until its input ends.
//
//	slow …      forty words, an eighth of a second apart
//	hang …      a few words, then silence
//	fail …      503
//	cut …       a few words, then the connection is cut
//	show me …   a page of Markdown
//	tool NAME [ARGUMENTS]     asks for the tool, then says what it gave
//	tools N NAME …            asks for it N times in one round
//	rounds N NAME …           N rounds of one call each, with a few words before each
//	lasting NAME …            as tool, but the answer after it is a slow one
//	                          (# in ARGUMENTS is the number of the call)
//	else        "You said: …"
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
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
	asked := read(r.Body)
	text := asked.lastUser()
	word, rest, _ := strings.Cut(text, " ")
	word = strings.ToLower(word)
	switch {
	case word == "tool", word == "tools", word == "rounds", word == "lasting":
		return useTools(word, rest, asked.resultsSince())
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

// useTools asks for tools until it has what it was told to ask for, then says what came. given is what came so far.
func useTools(word, rest string, given []string) scripted.Play {
	times := 1
	if word == "tools" || word == "rounds" {
		count, after, _ := strings.Cut(rest, " ")
		if n, err := strconv.Atoi(count); err == nil {
			times, rest = n, after
		}
	}
	name, arguments, _ := strings.Cut(rest, " ")
	if !json.Valid([]byte(arguments)) {
		arguments = "{}"
	}
	if len(given) >= times {
		said := "It gave: " + given[len(given)-1]
		if word == "lasting" {
			return slow()
		}
		return whole(said)
	}
	now := 1
	step := scripted.Step{Usage: llm.Usage{Prompt: 40, Completion: 8}}
	if word == "tools" {
		now = times
	} else if word == "rounds" {
		step.Pieces = []scripted.Piece{{Text: fmt.Sprintf("Round %d. ", len(given)+1)}}
	}
	for i := range now {
		step.Calls = append(step.Calls, llm.ToolCall{ID: fmt.Sprintf("call_%d_%d", len(given), i), Name: name, Arguments: numbered(arguments, len(given)+i)})
	}
	return scripted.Answer(step)
}

// numbered writes the number of a call, in two digits, where its arguments have a #: calls that are all the same would
// count as a loop.
func numbered(arguments string, n int) json.RawMessage {
	return json.RawMessage(strings.ReplaceAll(arguments, "#", fmt.Sprintf("%02d", n)))
}

// request is what the stub reads of a request.
type request struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

func read(body []byte) (r request) {
	_ = json.Unmarshal(body, &r) // what is no request has no messages
	return r
}

func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) == nil && len(parts) > 0 {
		return parts[0].Text
	}
	return ""
}

// dated is the line that says when a message was written, before its words.
var dated = regexp.MustCompile(`^\[[^\]\n]*\d\d:\d\d\]\n`)

func (r request) lastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return dated.ReplaceAllString(textOf(r.Messages[i].Content), "")
		}
	}
	return ""
}

// resultsSince gives what tools gave since the person's last message, oldest first.
func (r request) resultsSince() []string {
	var given []string
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "user"; i-- {
		if r.Messages[i].Role == "tool" {
			given = append(given, textOf(r.Messages[i].Content))
		}
	}
	slices.Reverse(given)
	return given
}
