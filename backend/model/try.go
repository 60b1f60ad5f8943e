package model

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"sentient/backend/errs"
	"sentient/backend/llm"
)

// What a model is asked in a test. The tool belongs to it.
var (
	//go:embed prompts/test_reply.md
	askReply string
	//go:embed prompts/test_tools.md
	askTools string
)

// TestInput names a model to try (§3 `POST /api/models/test`).
type TestInput struct {
	Model string `json:"model,omitempty" doc:"provider/model; left out: the role's"`
	Role  string `json:"role,omitempty" doc:"Whose settings are used; left out: primary"`
}

// TestResult is what came of it. A model that does not answer is a result, not an error.
type TestResult struct {
	OK            bool    `json:"ok"`
	LatencyMS     int64   `json:"latency_ms" doc:"Until the whole short answer was there"`
	Reply         *string `json:"reply,omitempty"`
	Error         *string `json:"error,omitempty" doc:"A sentence for people"`
	SupportsTools *bool   `json:"supports_tools,omitempty" doc:"Left out when it could not be found out"`
}

const (
	testTokens = 400 // room for a model that thinks first
	testReply  = 300 // of the reply, in characters, are given back
)

// Test asks a model for one short answer, and then whether it calls a tool when it is told to (§3). Each of the two has 60
// seconds.
func (s *Service) Test(ctx context.Context, in *TestInput) (*TestResult, error) {
	choice, err := s.Choose(ctx, in.Role, strings.TrimSpace(in.Model))
	if errs.Is(err, errs.Invalid) {
		return nil, err // the question is wrong, not the model
	}
	if err != nil {
		return failed(0, err), ctx.Err()
	}
	start := s.o.Clock.Now()
	req := choice.Request([]llm.Message{{Role: llm.User, Text: strings.TrimSpace(askReply)}})
	req.MaxTokens = testTokens
	reply, err := s.ask(ctx, choice.Model, req)
	took := s.o.Clock.Now().Sub(start)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return failed(took, err), nil
	}
	text := strings.TrimSpace(reply.Text)
	if r := []rune(text); len(r) > testReply {
		text = string(r[:testReply]) + "…"
	}
	result := &TestResult{OK: true, LatencyMS: took.Milliseconds(), Reply: &text}
	result.SupportsTools = s.tryTools(ctx, choice)
	return result, ctx.Err()
}

func failed(took time.Duration, err error) *TestResult {
	sentence := errs.From(err).Message
	return &TestResult{LatencyMS: took.Milliseconds(), Error: &sentence}
}

// ask has a trial's time. What a timeout of ours means is said by us.
func (s *Service) ask(ctx context.Context, m llm.Model, req llm.Request) (llm.Reply, error) {
	inner, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	reply, err := m.Stream(inner, req, func(llm.Delta) error { return nil })
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		return reply, errs.New(errs.Timeout, llm.CodeSlow,
			"The model did not answer within a minute. Try again, or pick another model in Settings > Models.").Because(err)
	}
	return reply, err
}

// tryTools finds out whether a model calls a tool; nil when the question itself failed for another reason.
func (s *Service) tryTools(ctx context.Context, choice llm.Choice) *bool {
	req := choice.Request([]llm.Message{{Role: llm.User, Text: strings.TrimSpace(askTools)}})
	req.MaxTokens = testTokens
	req.Tools = []llm.Tool{{Name: "find_city", Description: "Gives the country of a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The city"}},"required":["name"]}`)}}
	reply, err := s.ask(ctx, choice.Model, req)
	yes := false
	switch {
	case err == nil:
		for _, call := range reply.ToolCalls {
			yes = yes || call.Name == "find_city" && json.Valid(call.Arguments)
		}
	case errs.Code(err) == llm.CodeNoTools: // "… can't use tools"
	default:
		return nil
	}
	return &yes
}

// TestEmbeddingInput names a model for memory search to try (§3 `POST /api/models/test-embedding`).
type TestEmbeddingInput struct {
	Model string `json:"model,omitempty" doc:"provider/model; left out: the embedding role's"`
}

// TestEmbeddingResult is what came of it.
type TestEmbeddingResult struct {
	OK    bool    `json:"ok"`
	Dim   *int    `json:"dim,omitempty" doc:"How long its vectors are"`
	Error *string `json:"error,omitempty" doc:"A sentence for people"`
}

// TestEmbedding asks a model for one vector (§3).
func (s *Service) TestEmbedding(ctx context.Context, in *TestEmbeddingInput) (*TestEmbeddingResult, error) {
	embedder, choice, err := s.Embedder(ctx, strings.TrimSpace(in.Model))
	if errs.Is(err, errs.Invalid) {
		return nil, err
	}
	var vectors [][]float32
	if err == nil {
		inner, cancel := context.WithTimeout(ctx, trial)
		defer cancel()
		vectors, err = embedder.Embed(inner, choice.ID, []string{"The quick test of a memory search."})
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && (len(vectors) != 1 || len(vectors[0]) == 0) {
		err = errs.New(errs.Unavailable, llm.CodeBroken, "This model gave no vector. Pick another one for memory search in Settings > Models.")
	}
	if err != nil {
		sentence := errs.From(err).Message
		return &TestEmbeddingResult{Error: &sentence}, nil
	}
	dim := len(vectors[0])
	return &TestEmbeddingResult{OK: true, Dim: &dim}, nil
}
