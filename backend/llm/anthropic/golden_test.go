package anthropic

import (
	"net/http"
	"testing"

	"sentient/backend/llm"
	"sentient/backend/llm/golden"
)

func TestGoldenStreams(t *testing.T) {
	golden.Run(t, 12, func(base string, h *http.Client) llm.Model {
		return New(Options{APIKey: "sk-ant-test", BaseURL: base, HTTP: h})
	})
}
