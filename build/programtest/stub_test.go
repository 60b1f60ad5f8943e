//go:build program

package programtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

// stub is a model service on loopback. What it answers is decided by the first word of the person's last message;
// a word that nobody gave a meaning is answered with "You said: …".
type stub struct {
	*scripted.Server
	mu    sync.Mutex
	means map[string]func(text string) scripted.Play
}

func newStub(t testing.TB) *stub {
	t.Helper()
	s := &stub{means: map[string]func(string) scripted.Play{}}
	server, err := scripted.ServeBy(s.answer)
	must(t, err)
	server.SetModels("stub")
	s.Server = server
	t.Cleanup(server.Close)
	return s
}

// on gives a first word its answer.
func (s *stub) on(word string, play func(text string) scripted.Play) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.means[word] = play
}

func (s *stub) answer(r scripted.Recorded) scripted.Play {
	text := dated.ReplaceAllString(lastUser(r), "")
	word, _, _ := strings.Cut(text, " ")
	s.mu.Lock()
	play := s.means[word]
	s.mu.Unlock()
	if play != nil {
		return play(text)
	}
	return whole("You said: " + text)
}

// dated is the line that says when a message was written, before its words.
var dated = regexp.MustCompile(`(?m)^\[[^\]\n]*\d\d:\d\d\]\n`)

func lastUser(r scripted.Recorded) string {
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if r.JSON(&body) != nil {
		return ""
	}
	for i := len(body.Messages) - 1; i >= 0; i-- {
		if body.Messages[i].Role != "user" {
			continue
		}
		var text string
		if json.Unmarshal(body.Messages[i].Content, &text) == nil {
			return text
		}
		var parts []struct{ Text string }
		if json.Unmarshal(body.Messages[i].Content, &parts) == nil && len(parts) > 0 {
			return parts[len(parts)-1].Text
		}
	}
	return ""
}

func end(n int) string { return scripted.End(llm.FinishStop, llm.Usage{Prompt: 10, Completion: n}) }

// whole answers with a text, a word a piece.
func whole(text string) scripted.Play {
	var parts []string
	for _, word := range strings.SplitAfter(text, " ") {
		parts = append(parts, scripted.Text(word))
	}
	return scripted.Stream(append(parts, end(len(parts)))...)
}

// paced answers with pieces, each so long after the one before.
func paced(pieces []string, every time.Duration) scripted.Play {
	var p scripted.Play
	for i, piece := range pieces {
		p.Parts = append(p.Parts, scripted.Part{Bytes: scripted.Text(piece), Until: in(time.Duration(i) * every)})
	}
	p.Parts = append(p.Parts, scripted.Part{Bytes: end(len(pieces))})
	return p
}

func in(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// numbered is a text whose every part can be told from every other, with characters of one to four bytes.
func numbered(n int) (pieces []string) {
	marks := []string{"a", "é", "漢", "😀"}
	for i := range n {
		pieces = append(pieces, fmt.Sprintf("%d%s ", i, marks[i%len(marks)]))
	}
	return pieces
}
