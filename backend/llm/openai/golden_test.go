package openai

import (
	"net/http"
	"testing"

	"sentient/backend/llm"
	"sentient/backend/llm/golden"
)

func TestGoldenStreams(t *testing.T) {
	golden.Run(t, 50, func(base string, h *http.Client) llm.Model {
		return New(Options{Provider: "vllm", Label: "vLLM", BaseURL: base + "/v1", HTTP: h})
	})
}
