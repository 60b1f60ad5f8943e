package engine

import (
	"context"

	"sentient/backend/approval"
	"sentient/backend/config"
	"sentient/backend/toolbox"
)

// gate makes what stands in front of every tool call.
func (e *Engine) gate(p *parts, tools *toolbox.Registry) *approval.Service {
	return approval.New(approval.Options{DB: e.db, Bus: e.bus, Clock: e.o.Clock, Log: e.o.Log, Tree: e.tree, Settings: e.gateSettings,
		Modify: func(ctx context.Context, change func(*config.Approvals)) error {
			return e.config.Modify(ctx, func(c *config.Config) { change(&c.Tools.Approvals) })
		},
		Tools: tools, Chats: p.sessions,
		Ask: func(ctx context.Context, session, prompt string) (string, error) {
			return p.agent.AskQuickly(ctx, session, prompt)
		}})
}

func (e *Engine) gateSettings() approval.Settings {
	c := e.config.Get()
	return approval.Settings{Approvals: c.Tools.Approvals, ConfirmPurchases: c.Browser.ConfirmPurchases, MarkOutside: c.Chat.MarkOutsideContent,
		UserName: c.Assistant.UserName, ReadOnly: c.Integrations.ReadOnly}
}
