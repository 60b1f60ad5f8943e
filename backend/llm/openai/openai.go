// Package openai asks any server that speaks OpenAI's chat completions: OpenAI itself, OpenRouter, Groq, Mistral, DeepSeek,
// xAI, Gemini's compatible endpoint, Nous, LM Studio, llamafile, vLLM, the built-in llama.cpp server, any address of a
// person's own.
//
// Requests are built with the types of the official SDK and sent by it, without retries. Streams are read by our own
// reader, because real servers send keep-alives, tool calls and errors that the SDK's reader does not take. What
// providers do otherwise stands in one table (quirks.go); a parameter that a server refuses by name is left out, once and
// for all for that model, and the request is made again before anything was streamed.
//
// backend/model makes the clients. The environment is never read.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/wire"
	"sentient/backend/obs"
)

// Options say who is asked.
type Options struct {
	Provider    string // our id; decides the quirks and the default address
	Label       string // for sentences, e.g. "OpenRouter"
	BaseURL     string // with /v1; empty is the provider's own
	APIKey      string
	KeyRequired bool              // without a key no request is made
	Local       bool              // on this computer or in the house; implied by the local providers
	Headers     map[string]string // added to every request
	Idle        time.Duration     // silence until it is given up (models.request_timeout_s); 0 is 180 s
	HTTP        *http.Client      // nil is a plain one; its Timeout is not used
	Log         *slog.Logger      // nil discards
	Clock       clock.Clock       // nil is the computer's
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	opt     Options
	quirks  quirks
	service llm.Service
	sdk     []option.RequestOption
	log     *slog.Logger
	clk     clock.Clock

	signs   wire.Keep[json.RawMessage] // extra_content by tool call id
	refused wire.Refused
}

// New makes a client. It makes no request and never fails: what is wrong with the options shows in the first call.
func New(o Options) *Client {
	q := table[o.Provider]
	if o.BaseURL == "" {
		o.BaseURL = q.base
	}
	if o.Label == "" {
		o.Label = o.Provider
	}
	c := &Client{opt: o, quirks: q, log: o.Log, clk: o.Clock}
	c.service = llm.Service{ID: o.Provider, Label: o.Label, Site: q.site, Local: o.Local || q.local}
	if c.log == nil {
		c.log = obs.Discard()
	}
	if c.clk == nil {
		c.clk = clock.Real{}
	}
	obs.Hide(o.APIKey)
	c.sdk = []option.RequestOption{
		option.WithBaseURL(wire.BaseURL(o.BaseURL)),
		option.WithHTTPClient(wire.NewDoer(o.HTTP, o.Headers)),
		option.WithMaxRetries(0),
	}
	if o.APIKey != "" {
		c.sdk = append(c.sdk, option.WithAPIKey(o.APIKey))
	}
	return c
}

// Service says who is asked.
func (c *Client) Service() llm.Service { return c.service }

func (c *Client) client() *sdk.Client { return &sdk.Client{Options: c.sdk} }

func (c *Client) ready() error {
	if c.opt.KeyRequired && c.opt.APIKey == "" {
		return c.service.KeyMissing()
	}
	if c.opt.BaseURL == "" {
		return c.service.Unreachable(errors.New("ask model: no address"))
	}
	return nil
}

// Stream answers a request; see llm.Model.
func (c *Client) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	if err := c.ready(); err != nil {
		return llm.Reply{}, err
	}
	for {
		reply, err := c.once(ctx, req, each)
		refusal, ok := errors.AsType[*wire.StatusError](err)
		if !ok {
			return reply, err
		}
		if name := c.refused.Learn(req.Model, refusal, droppable, c.optional(req)); name != "" {
			c.log.WarnContext(ctx, "model refused a parameter; it is left out from now on", "provider", c.opt.Provider, "model", req.Model, "parameter", name)
			continue
		}
		return reply, c.service.Refused(req.Model, refusal.Status, refusal.Header, refusal.Body)
	}
}

// once makes one exchange. A refusal comes back as *wire.StatusError.
func (c *Client) once(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	params, err := c.params(req)
	if err != nil {
		return llm.Reply{}, errs.New(errs.Internal, llm.CodeModelRefused, "This request could not be put into words for the model. The details are in Sentient's log.").Because(err)
	}
	r := &reading{client: c, model: req.Model, draft: llm.NewDraft(each)}
	err = wire.Exchange{
		Clock: c.clk,
		Idle:  c.opt.Idle,
		Open: func(ctx context.Context) (*http.Response, error) {
			var res *http.Response
			err := c.client().Post(ctx, "chat/completions", params, &res, option.WithHeader("Accept", "text/event-stream"))
			return res, err
		},
		Piece: r.piece,
		End:   r.end,
		Grace: r.grace,
		Quiet: func(begun bool) error { return r.draft.Note(llm.QuietNote(begun)) },
	}.Run(ctx)
	if err == nil {
		err = r.draft.Close()
	} else {
		r.draft.Abandon()
	}
	reply := r.draft.Reply()
	r.keepSigns(reply.ToolCalls)
	if err != nil {
		reply.Finish = ""
		return reply, wire.Fault(ctx, c.service, r.draft, err)
	}
	if r.draft.Empty() && reply.Finish == llm.FinishStop {
		reply.Finish = ""
		return reply, c.service.Empty(req.Model)
	}
	return reply, nil
}

// droppable are the parameters that a request does without. max_tokens and its newer name replace each other.
var droppable = []wire.Parameter{
	{Name: "stream_options", Words: regexp.MustCompile(`stream_options`)},
	{Name: "max_tokens", Words: regexp.MustCompile(`max_tokens`)},
	{Name: "max_completion_tokens", Words: regexp.MustCompile(`max_completion_tokens`)},
	{Name: "effort", Words: regexp.MustCompile(`reasoning|chat_template_kwargs|enable_thinking|\bthinking\b`)},
	{Name: "temperature", Words: regexp.MustCompile(`temperature`)},
	{Name: "response_format", Words: regexp.MustCompile(`response_format|json_schema|structured output`)},
}
