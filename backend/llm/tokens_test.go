package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

// The bounds lie around what cl100k_base and o200k_base make of these texts.
func TestEstimateTokens(t *testing.T) {
	for _, c := range []struct {
		name     string
		text     string
		from, to int
	}{
		{"empty", "", 0, 0},
		{"word", "hello", 1, 1},
		{"sentence", "The quick brown fox jumps over the lazy dog.", 9, 12},
		{"prose", strings.Repeat("It was the best of times, it was the worst of times, it was the age of wisdom. ", 10), 190, 240},
		{"long word", "internationalization", 2, 6},
		{"number", "1234567", 3, 4},
		{"indent", "if x {\n\t\treturn nil\n}\n", 7, 13},
		{"blanks", "a" + strings.Repeat(" ", 64) + "b", 3, 8},
		{"german", "Die Straßenbahn fährt heute nicht wegen Bauarbeiten.", 11, 22},
		{"russian", "Привет, как дела? Сегодня хорошая погода.", 10, 30},
		{"chinese", "今天天气很好，我们去公园吧。", 10, 22},
		{"emoji", "🙂🙂", 2, 8},
		{"json", `{"name":"list_reminders","arguments":{"limit":10}}`, 12, 22},
	} {
		if n := EstimateTokens(c.text); n < c.from || n > c.to {
			t.Errorf("%s: %d, want %d to %d", c.name, n, c.from, c.to)
		}
	}
}

func TestEstimateRequest(t *testing.T) {
	r := Request{Messages: []Message{{Role: User, Text: "hello"}}}
	plain := EstimateRequest(r)
	r.Messages[0].Images = []Image{{MIME: "image/png", Data: []byte{1}}}
	r.Tools = []Tool{{Name: "x", Parameters: json.RawMessage(`{"type":"object"}`)}}
	r.Schema = json.RawMessage(`{"type":"object"}`)
	r.Messages = append(r.Messages, Message{Role: Assistant, ToolCalls: []ToolCall{{Name: "x", Arguments: json.RawMessage("{}")}}})
	if plain < 5 || plain > 12 || EstimateRequest(r) < plain+perImage+perTool {
		t.Fatalf("%d, %d", plain, EstimateRequest(r))
	}
}

func FuzzEstimateTokens(f *testing.F) {
	f.Add("hello world")
	f.Add("日本語 \xff\xfe")
	f.Add(strings.Repeat(" ", 100))
	f.Fuzz(func(t *testing.T, s string) {
		n := EstimateTokens(s)
		if n < 0 || n > len(s)*3+1 {
			t.Fatalf("%d tokens of %d bytes", n, len(s))
		}
		if more := EstimateTokens(s + "\nmore"); more < n {
			t.Fatalf("%d with more, %d without", more, n)
		}
	})
}
