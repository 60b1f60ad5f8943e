// Package golden plays recorded streams to an adapter: over loopback, and cut in every way, with every line end, with a
// byte order mark. A case is NAME.txt, the bytes of the body, beside NAME.json, the Want. Only tests of adapters import it.
package golden

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

// Want is what an adapter makes of a stream.
type Want struct {
	Text      string     `json:"text"`
	Thinking  string     `json:"thinking"`
	Calls     []Call     `json:"calls"`
	IDs       []string   `json:"ids"` // of the first calls, when the service gave usable ones
	Usage     llm.Usage  `json:"usage"`
	Finish    llm.Finish `json:"finish"`
	Code      string     `json:"code"`  // of the error; empty for none
	Notes     int        `json:"notes"` // how many lines for the person
	Says      string     `json:"says"`  // a part of the error's sentence
	Shortened bool       `json:"shortened"`
}

// Call is a tool call without its id.
type Call struct{ Name, Arguments string }

// Heard is what each was told, put together the way a window does it.
type Heard struct {
	Text, Thinking string
	Notes          []string
}

// Ask streams one request.
func Ask(t *testing.T, m llm.Model, req llm.Request) (llm.Reply, Heard, error) {
	t.Helper()
	var h Heard
	reply, err := m.Stream(t.Context(), req, func(d llm.Delta) error {
		if d.Thought {
			h.Thinking, h.Text = h.Thinking+h.Text, ""
		}
		h.Text += d.Text
		h.Thinking += d.Thinking
		if d.Note != "" {
			h.Notes = append(h.Notes, d.Note)
		}
		return nil
	})
	return reply, h, err
}

// Check holds an answer against what is wanted.
func (w Want) Check(t *testing.T, r llm.Reply, h Heard, err error) {
	t.Helper()
	if code := errs.Code(err); code != w.Code || w.Code == "" && err != nil {
		t.Errorf("error %v, want code %q", err, w.Code)
	}
	if w.Says != "" && (err == nil || !strings.Contains(errs.From(err).Message, w.Says)) {
		t.Errorf("error %v, want %q", err, w.Says)
	}
	if r.Text != w.Text || r.Thinking != w.Thinking || r.Finish != w.Finish || r.Usage != w.Usage || r.Shortened != w.Shortened || len(h.Notes) != w.Notes {
		t.Errorf("got  %+v, notes %q\nwant %+v", r, h.Notes, w)
	}
	if err == nil && (h.Text != r.Text || strings.TrimSpace(h.Thinking) != r.Thinking) {
		t.Errorf("heard %q / %q, reply %q / %q", h.Text, h.Thinking, r.Text, r.Thinking)
	}
	var calls []Call
	seen := map[string]bool{}
	for i, c := range r.ToolCalls {
		calls = append(calls, Call{c.Name, string(c.Arguments)})
		if c.ID == "" || seen[c.ID] {
			t.Errorf("call %d has id %q, empty or twice", i, c.ID)
		}
		seen[c.ID] = true
		if i < len(w.IDs) && c.ID != w.IDs[i] {
			t.Errorf("call %d has id %q, want %q", i, c.ID, w.IDs[i])
		}
	}
	got, _ := json.Marshal(calls)
	want, _ := json.Marshal(w.Calls)
	if !bytes.Equal(got, want) {
		t.Errorf("calls %s\nwant  %s", got, want)
	}
}

// Hello is the request of every case.
func Hello() llm.Request {
	return llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Text: "hi"}}}
}

// Run plays every case of testdata. client makes the adapter; http is nil for real sockets.
func Run(t *testing.T, atLeast int, client func(base string, http *http.Client) llm.Model) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < atLeast {
		t.Fatalf("%d recorded streams, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			stream, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(strings.TrimSuffix(file, ".txt") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want Want
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			overLoopback(t, stream, want, client)
			inPieces(t, stream, want, client)
		})
	}
}

func overLoopback(t *testing.T, stream []byte, want Want, client func(string, *http.Client) llm.Model) {
	t.Helper()
	for _, chunk := range []int{0, 7} {
		s, err := scripted.Serve(scripted.Play{Parts: []scripted.Part{{Bytes: string(stream), Chunk: chunk}}})
		if err != nil {
			t.Fatal(err)
		}
		reply, heard, err := Ask(t, client(s.Root, nil), Hello())
		s.Close()
		want.Check(t, reply, heard, err)
	}
}

// most is at how many boundaries a stream is cut in two as it was recorded; its disguises are cut at fewer.
const most = 60

func inPieces(t *testing.T, stream []byte, want Want, client func(string, *http.Client) llm.Model) {
	t.Helper()
	for _, dress := range []struct {
		name string
		most int
		body []byte
	}{
		{"as it is", most, stream},
		{"crlf", most / 5, bytes.ReplaceAll(stream, []byte("\n"), []byte("\r\n"))},
		{"cr", most / 5, bytes.ReplaceAll(stream, []byte("\n"), []byte("\r"))},
		{"bom", most / 5, append([]byte("\uFEFF"), stream...)},
	} {
		for i, pieces := range scripted.Cuts(dress.body, dress.most, uint64(len(dress.body))) {
			m := client("http://stub", &http.Client{Transport: scripted.Replay("text/event-stream", nil, pieces...)})
			reply, heard, err := Ask(t, m, Hello())
			want.Check(t, reply, heard, err)
			if t.Failed() {
				t.Fatalf("%s, cut %d", dress.name, i)
			}
		}
	}
}
