package ollama

import (
	"net/http"
	"testing"

	"sentient/backend/llm"
	"sentient/backend/llm/golden"
)

func TestGoldenStreams(t *testing.T) {
	golden.Run(t, 14, func(base string, h *http.Client) llm.Model {
		return New(Options{BaseURL: base, HTTP: h})
	})
}
