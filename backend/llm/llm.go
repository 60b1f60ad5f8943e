// Package llm is the engine's view of a language model, whoever runs it.
//
// A Model streams one answer to one Request. Providers live in folders of their own (openai, anthropic, ollama); llm/scripted
// plays a script, for tests and eval. A provider turns its service's refusals into *errs.Error sentences that say what
// to do (§1 "Model errors"); the service's raw words go to the log as the cause. Nothing here knows about chats, roles
// or budgets: that is backend/model.
package llm

import (
	"context"
	"encoding/json"
)

// Role of a message, as the field names them.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of the conversation as the model sees it.
type Message struct {
	Role       Role
	Text       string
	Images     []Image    // user messages only
	Thinking   string     // assistant messages: what it thought, where the service wants it back
	ToolCalls  []ToolCall // assistant messages
	ToolCallID string     // tool messages: which call this answers
	ToolName   string     // tool messages: that call's tool (Ollama needs the name)
}

// Image is a picture in a user message.
type Image struct {
	MIME string
	Data []byte
}

// ToolCall is a call that the model asks for. ID is never empty and is unique in its reply: a provider that is given none
// (or the same one twice) makes one up.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage // as the model wrote them; possibly not valid JSON
}

// Tool is a tool that is offered to the model.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema of an object
}

// Effort is how much a model should think: the config's reasoning values.
type Effort string

// The efforts. The empty Effort leaves it to the service.
const (
	EffortNone   Effort = "none"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Request is one question to a model.
type Request struct {
	Model         string // the provider's own name of the model, without our provider prefix
	Messages      []Message
	Tools         []Tool
	Effort        Effort
	Temperature   *float64        // nil leaves it to the service
	MaxTokens     int             // of the answer; 0 leaves it to the service
	ContextLength int             // tokens the model should read at once (Ollama's num_ctx); 0 leaves it to the service
	Schema        json.RawMessage // the answer must be JSON of this schema; nil for plain text
	Stop          []string
}

// Delta is one piece of a streaming answer. Any of its members may be empty.
type Delta struct {
	Text     string
	Thinking string
	// Note is a calm line about waiting ("The model is still reading."), for the person, never part of the answer.
	Note string
	// Thought says that all Text of this answer so far was thinking: a closing tag came without its opening one. Whoever shows
	// the text moves it; the Reply has it right in any case.
	Thought bool
}

// Finish says why an answer ended.
type Finish string

// The ways an answer ends.
const (
	FinishStop   Finish = "stop"
	FinishTools  Finish = "tool_calls"
	FinishLength Finish = "length" // cut by MaxTokens or by the context
	FinishFilter Finish = "content_filter"
)

// Usage is what an answer took, in tokens; zero where the service does not say.
type Usage struct {
	Prompt     int // all tokens of the prompt, cached ones included
	Completion int
	CacheRead  int
	CacheWrite int
	Reasoning  int
}

// Reply is a whole answer.
type Reply struct {
	Text      string
	Thinking  string
	ToolCalls []ToolCall
	Usage     Usage
	Finish    Finish
	// Shortened says that the service read only a part of the prompt, without turning it down (Ollama cuts the front away).
	// The person was told by a Note.
	Shortened bool
}

// Model answers.
//
// Stream calls each for every piece, on the caller's goroutine and in order, and returns the whole answer. When each
// returns an error, or ctx ends, the connection is closed at once and that error is returned. On an error the Reply
// holds what had arrived (the caller decides what a cut-off answer is worth); it is never both finished and in error: a
// stream that ends without its own end mark, or with an error event in it, is an error.
type Model interface {
	Stream(ctx context.Context, req Request, each func(Delta) error) (Reply, error)
}

// Embedder gives vectors for texts, in order, all of one length.
type Embedder interface {
	Embed(ctx context.Context, model string, texts []string) ([][]float32, error)
}

// Codes of the errors that providers give, for callers that react to one (fallbacks, retries, the check-up).
const (
	CodeKeyMissing    = "model_key_missing"    // no key is set
	CodeKeyRejected   = "model_key_rejected"   // 401, 403
	CodeNoCredits     = "model_no_credits"     // 402
	CodeRateLimited   = "model_rate_limited"   // 429
	CodeModelUnknown  = "model_unknown"        // 404, not downloaded
	CodeModelRefused  = "model_refused"        // the service keeps this model for something else, or turns this request down
	CodeNoTools       = "model_no_tools"       // it cannot use tools; without any it may answer
	CodeUnreachable   = "model_unreachable"    // nothing answers there
	CodeSlow          = "model_slow"           // it did not answer in time
	CodeDown          = "model_down"           // 5xx, overloaded
	CodeBroken        = "model_broken"         // it answered something that cannot be read, or stopped in the middle
	CodeContextTooBig = "model_context_length" // the prompt does not fit
)

// Choice is a model that is ready to be asked: what backend/model hands to the turn.
type Choice struct {
	Model         Model
	Name          string // as config and the window write it: "provider/model"
	ID            string // the provider's own name, for Request.Model
	Effort        Effort
	Temperature   *float64
	ContextLength int  // tokens it reads at once; 0 when unknown (§1 "Context meter")
	Local         bool // runs on this computer: the sentence about a full context differs (§1)
	Weak          bool // answers short questions and nothing else: no job in the background is worth giving it
}

// Request makes a request to the chosen model with the role's settings.
func (c Choice) Request(messages []Message) Request {
	r := Request{Model: c.ID, Messages: messages, Effort: c.Effort, Temperature: c.Temperature}
	if c.Local {
		r.ContextLength = c.ContextLength
	}
	return r
}
