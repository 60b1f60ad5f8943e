// Package ollama is a small client of Ollama's own API: chat, embeddings, what is downloaded, what is loaded, pulling.
//
// Its compatible endpoint takes no num_ctx, and without one Ollama cuts a long prompt from the front behind a 200. This
// client always sends a window that covers the prompt where it may, and says so (a Note, Reply.Shortened) where the prompt
// was cut. Ollama gives tool calls no ids: they are made up here.
//
// backend/model makes the clients.
package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/wire"
	"sentient/backend/obs"
)

// DefaultBaseURL is where Ollama listens.
const DefaultBaseURL = "http://localhost:11434"

// Options say who is asked.
type Options struct {
	BaseURL string            // without /api; empty is DefaultBaseURL
	Label   string            // for sentences; empty is "Ollama"
	Headers map[string]string // added to every request
	Idle    time.Duration     // silence until it is given up (models.request_timeout_s); 0 is 180 s
	HTTP    *http.Client      // nil is a plain one; its Timeout is not used
	Log     *slog.Logger      // nil discards
	Clock   clock.Clock       // nil is the computer's
}

// Client asks one Ollama. It is safe for concurrent use.
type Client struct {
	opt     Options
	base    string
	doer    *wire.Doer
	service llm.Service
	log     *slog.Logger
	clk     clock.Clock
	refused wire.Refused

	mu   sync.Mutex
	last map[string]int // model → tokens that its newest exchange left in Ollama's cache, at most
}

// New makes a client. It makes no request and never fails.
func New(o Options) *Client {
	if o.Label == "" {
		o.Label = "Ollama"
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	c := &Client{opt: o, base: wire.BaseURL(o.BaseURL), doer: wire.NewDoer(o.HTTP, o.Headers), log: o.Log, clk: o.Clock, last: map[string]int{},
		service: llm.Service{ID: "ollama", Label: o.Label, Local: true}}
	if c.log == nil {
		c.log = obs.Discard()
	}
	if c.clk == nil {
		c.clk = clock.Real{}
	}
	return c
}

// Service says who is asked.
func (c *Client) Service() llm.Service { return c.service }

// droppable are the parameters that a request does without.
var droppable = []wire.Parameter{
	{Name: "think", Words: regexp.MustCompile(`think`)},
	{Name: "format", Words: regexp.MustCompile(`format|schema|grammar`)},
}

// Stream answers a request; see llm.Model.
func (c *Client) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	for {
		reply, err := c.once(ctx, req, each)
		refusal, ok := errors.AsType[*wire.StatusError](err)
		if !ok {
			return reply, err
		}
		if name := c.refused.Learn(req.Model, refusal, droppable, c.optional(req)); name != "" {
			c.log.WarnContext(ctx, "model refused a parameter; it is left out from now on", "provider", "ollama", "model", req.Model, "parameter", name)
			continue
		}
		return reply, c.service.Refused(req.Model, refusal.Status, refusal.Header, refusal.Body)
	}
}

// once makes one exchange. A refusal comes back as *wire.StatusError.
func (c *Client) once(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	body, err := json.Marshal(c.chat(req))
	if err != nil {
		return llm.Reply{}, errs.New(errs.Internal, llm.CodeModelRefused, "This request could not be put into words for the model. The details are in Sentient's log.").Because(err)
	}
	r := &reading{client: c, req: req, draft: llm.NewDraft(each), estimate: llm.EstimateRequest(req), window: window(req)}
	err = wire.Exchange{
		Clock: c.clk,
		Idle:  c.opt.Idle,
		Open: func(ctx context.Context) (*http.Response, error) {
			return c.send(ctx, http.MethodPost, "/api/chat", body)
		},
		Piece: r.piece,
		End:   r.end,
		Quiet: func(begun bool) error { return r.draft.Note(llm.QuietNote(begun)) },
	}.Run(ctx)
	if err == nil {
		err = r.draft.Close()
	}
	if err == nil {
		err = r.tellShortfall(ctx)
	}
	if err != nil {
		r.draft.Abandon()
	}
	reply := r.draft.Reply()
	reply.Shortened = r.shortened
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

func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	return c.doer.Do(req)
}
