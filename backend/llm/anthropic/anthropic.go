// Package anthropic asks Anthropic's Messages API, or a server that speaks it.
//
// Requests are built with the types of the official SDK and sent by it, without retries; streams are read by our own
// reader. System text, tools and the newest message carry marks for the prompt cache. Thinking is asked for by effort:
// adaptive for models that know it, a budget for older ones. The signed thoughts of a round with tool calls are kept in
// memory and go back with their results, as the API wants; after a restart that round goes on without thinking.
//
// backend/model makes the clients. The environment is never read.
package anthropic

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/wire"
	"sentient/backend/obs"
)

// DefaultBaseURL is Anthropic's own address.
const DefaultBaseURL = "https://api.anthropic.com"

// Options say who is asked.
type Options struct {
	Provider    string // our id; empty is "anthropic"
	Label       string // for sentences; empty is "Anthropic"
	BaseURL     string // without /v1; empty is DefaultBaseURL
	APIKey      string
	KeyRequired bool              // without a key no request is made
	Headers     map[string]string // added to every request
	Idle        time.Duration     // silence until it is given up (models.request_timeout_s); 0 is 180 s
	HTTP        *http.Client      // nil is a plain one; its Timeout is not used
	Log         *slog.Logger      // nil discards
	Clock       clock.Clock       // nil is the computer's
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	opt      Options
	service  llm.Service
	sdk      []option.RequestOption
	log      *slog.Logger
	clk      clock.Clock
	thoughts wire.Keep[[]sdk.ContentBlockParamUnion] // signed thoughts by the id of a round's first tool call
	refused  wire.Refused
}

// New makes a client. It makes no request and never fails: what is wrong with the options shows in the first call.
func New(o Options) *Client {
	if o.Provider == "" {
		o.Provider = "anthropic"
	}
	if o.Label == "" {
		o.Label = "Anthropic"
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	c := &Client{opt: o, log: o.Log, clk: o.Clock, service: llm.Service{ID: o.Provider, Label: o.Label}}
	if o.Provider == "anthropic" {
		c.service.Site = "console.anthropic.com"
	}
	if c.log == nil {
		c.log = obs.Discard()
	}
	if c.clk == nil {
		c.clk = clock.Real{}
	}
	obs.Hide(o.APIKey)
	c.sdk = []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(wire.BaseURL(o.BaseURL), "/v1")),
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

// Stream answers a request; see llm.Model.
func (c *Client) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	if c.opt.KeyRequired && c.opt.APIKey == "" {
		return llm.Reply{}, c.service.KeyMissing()
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

// droppable are the parameters that a request does without.
var droppable = []wire.Parameter{
	{Name: "format", Words: regexp.MustCompile(`output_config\.format|output_format|output format|json_schema|schema|structured output`)},
	{Name: "effort", Words: regexp.MustCompile(`effort`)},
	{Name: "thinking", Words: regexp.MustCompile(`thinking`)},
	{Name: "temperature", Words: regexp.MustCompile(`temperature`)},
}

// once makes one exchange. A refusal comes back as *wire.StatusError.
func (c *Client) once(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	params, err := c.params(req)
	if err != nil {
		return llm.Reply{}, errs.New(errs.Internal, llm.CodeModelRefused, "This request could not be put into words for the model. The details are in Sentient's log.").Because(err)
	}
	r := &reading{service: c.service, model: req.Model, draft: llm.NewDraft(each)}
	err = wire.Exchange{
		Clock: c.clk,
		Idle:  c.opt.Idle,
		Open: func(ctx context.Context) (*http.Response, error) {
			var res *http.Response
			err := c.client().Post(ctx, "v1/messages", params, &res, option.WithHeader("Accept", "text/event-stream"), option.WithJSONSet("stream", true))
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
	if err != nil {
		reply.Finish = ""
		return reply, wire.Fault(ctx, c.service, r.draft, err)
	}
	if len(reply.ToolCalls) > 0 && len(r.thoughts) > 0 {
		c.thoughts.Put(reply.ToolCalls[0].ID, r.thoughts)
	}
	if r.draft.Empty() && reply.Finish == llm.FinishStop {
		reply.Finish = ""
		return reply, c.service.Empty(req.Model)
	}
	return reply, nil
}
