package agent

import (
	"context"
	"fmt"
	"sync/atomic"

	"sentient/backend/errs"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// PluginID is the plugin of helpers.
const PluginID = "subagents"

// Plugin gives the tools that start helpers (§10 "Subagents").
func (s *Service) Plugin() *tool.Plugin {
	return &tool.Plugin{
		ID: PluginID, Name: "Helpers", Description: "Hands parts of the work to helpers that work side by side.",
		Category: "core", Icon: "users", Auth: "builtin", Trusted: true,
		Hint:      "helper helpers delegate parallel side by side background research compare several in the background meanwhile extract fields read",
		Connected: func() bool { return s.Settings().Subagents.Enabled },
		Tools: []*tool.Tool{
			tool.New(tool.Def[delegateInput]{Name: "delegate_task", Risk: tool.Write, Internal: true, Outside: tool.Always, Within: helperWithin,
				Description: s.prompts.note("tool-delegate_task", nil), Run: s.delegate}),
			tool.New(tool.Def[delegateAllInput]{Name: "delegate_tasks", Risk: tool.Write, Internal: true, Outside: tool.Always, Within: helperWithin,
				Description: s.prompts.note("tool-delegate_tasks", nil), Run: s.delegateAll}),
			tool.New(tool.Def[readerInput]{Name: "read_with_reader", Risk: tool.Read, Internal: true, Outside: tool.Never, Within: helperWithin,
				Description: s.prompts.note("tool-read_with_reader", nil), Run: s.readWith}),
		},
	}
}

// helperWithin is over every limit that a helper may be given.
const helperWithin = 5 * 60 * 60 * 1e9

type helperTask struct {
	Goal    string   `json:"goal" doc:"What the helper should find out or do, complete in itself: it sees nothing of this chat"`
	Context string   `json:"context,omitempty" doc:"What it must know"`
	Tools   []string `json:"-"`
}

type delegateInput struct {
	Goal       string   `json:"goal" doc:"What the helper should find out or do, complete in itself: it sees nothing of this chat"`
	Context    string   `json:"context,omitempty" doc:"What it must know"`
	Tools      []string `json:"tools,omitempty" doc:"Names of the tools it may use; left out: what fits"`
	Background bool     `json:"background,omitempty" doc:"Do not wait: what it finds comes into the chat later"`
}

type delegateAllInput struct {
	Tasks []helperTask `json:"tasks" doc:"The parts, each complete in itself"`
}

// delegated is a helper's result as the model reads it.
type delegated struct {
	SubagentID   string   `json:"subagent_id"`
	Status       string   `json:"status"`
	Summary      *string  `json:"summary,omitempty"`
	Error        *string  `json:"error,omitempty"`
	FilesCreated []string `json:"files_created,omitempty"`
}

var errNoChat = errs.New(errs.Invalid, "no_chat", "Helpers can only be started from a chat.")

func (s *Service) delegate(ctx context.Context, c *tool.Context, in delegateInput) (any, error) {
	if c.SessionID == "" {
		return nil, errNoChat
	}
	task := helperTask{Goal: in.Goal, Context: in.Context, Tools: in.Tools}
	if !in.Background {
		return s.helpOut(ctx, c, task)
	}
	own := *c
	own.Progress = nil
	// It goes on when the reply has ended, until it is stopped by itself, with its chat, or with everything.
	h, work, err := s.beginHelper(context.WithoutCancel(ctx), &own, Subagent{Goal: in.Goal, Kind: "worker", Background: true})
	if err != nil {
		return nil, err
	}
	started := s.Tree.Go("helper", func(ctx context.Context) {
		defer context.AfterFunc(ctx, func() { h.cancel(errClosing) })()
		summary, err := s.helperWork(work, h, &own, task)
		s.announce(work, s.endHelper(work, h, summary, err))
	})
	if !started {
		s.endHelper(work, h, "", tool.ErrClosing)
		return nil, tool.ErrClosing
	}
	return delegated{SubagentID: h.about.SubagentID, Status: "running"}, nil
}

// announce brings what a background helper found into its chat. One that was cancelled says nothing: whoever stopped it
// knows.
func (s *Service) announce(ctx context.Context, a Subagent) {
	if a.Status == "cancelled" {
		return
	}
	text := s.prompts.note("helper-failed", a)
	if a.Summary != nil {
		text = s.prompts.note("helper-found", a)
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.report(ctx, a, text); err != nil && !errs.Is(err, errs.NotFound) {
		s.Log.Error("helper's report not kept", "helper", a.SubagentID, "error", err)
		return
	}
	if s.OnHelper != nil {
		s.OnHelper(ctx, a)
	}
}

// helpOut runs one helper and waits for it.
func (s *Service) helpOut(ctx context.Context, c *tool.Context, task helperTask) (delegated, error) {
	h, work, err := s.beginHelper(ctx, c, Subagent{Goal: task.Goal, Kind: "worker"})
	if err != nil {
		return delegated{}, err
	}
	summary, err := s.helperWork(work, h, c, task)
	a := s.endHelper(work, h, summary, err)
	return delegated{SubagentID: a.SubagentID, Status: a.Status, Summary: a.Summary, Error: a.Error, FilesCreated: h.record.files}, nil
}

// mostTasks bounds one call's helpers.
const mostTasks = 20

func (s *Service) delegateAll(ctx context.Context, c *tool.Context, in delegateAllInput) (any, error) {
	if c.SessionID == "" {
		return nil, errNoChat
	}
	if len(in.Tasks) == 0 || len(in.Tasks) > mostTasks {
		return nil, errs.Newf(errs.Invalid, "tasks_count", "Give 1 to %d tasks.", mostTasks)
	}
	results := make([]delegated, len(in.Tasks))
	var next atomic.Int64
	work := func(ctx context.Context) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(in.Tasks) || ctx.Err() != nil {
				return ctx.Err()
			}
			r, err := s.helpOut(ctx, c, in.Tasks[i])
			if err != nil {
				return err
			}
			results[i] = r
		}
	}
	side := make([]func(context.Context) error, min(max(1, s.Settings().Subagents.MaxConcurrent), len(in.Tasks)))
	for i := range side {
		side[i] = work
	}
	if err := svc.Run(ctx, side...); err != nil {
		return nil, fmt.Errorf("run helpers: %w", err)
	}
	return map[string]any{"results": results}, nil
}
