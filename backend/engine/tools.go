package engine

import (
	"context"
	"slices"

	"sentient/backend/agent"
	"sentient/backend/gateway/v1"
	"sentient/backend/netx"
	"sentient/backend/notify"
	"sentient/backend/secret"
	"sentient/backend/tool"
	"sentient/backend/toolbox"
	"sentient/backend/toolbox/all"
	"sentient/backend/transcript"
)

// toolRegistry makes the tools that come with Sentient. The helpers' are added once the turns are there.
func (e *Engine) toolRegistry(net *netx.Client, secrets *secret.Store) (*toolbox.Registry, error) {
	own := all.Builtin(all.Deps{Dir: e.o.Home, Net: net, Clock: e.o.Clock, Log: e.o.Log, Settings: e.pluginSettings,
		Secret: func(ctx context.Context, name string) (string, error) {
			value, _, err := secrets.Get(ctx, name)
			return value, err
		}})
	own = slices.DeleteFunc(own, func(p *tool.Plugin) bool {
		return slices.ContainsFunc(e.o.Plugins, func(given *tool.Plugin) bool { return given.ID == p.ID })
	})
	return toolbox.New(toolbox.Options{Disabled: func() []string { return e.config.Get().Tools.Disabled }, Plugins: append(own, e.o.Plugins...)})
}

// ToolNames lists the tools that come with Sentient, for `sentient contract`. It opens nothing.
func ToolNames() ([]string, error) {
	turns, err := agent.New(agent.Options{})
	if err != nil {
		return nil, err
	}
	plugins := append(all.Builtin(all.Deps{Settings: func() all.Settings { return all.Settings{} }}), turns.Plugin())
	var names []string
	for _, p := range plugins {
		for _, t := range p.Tools {
			names = append(names, t.Name)
		}
	}
	return names, nil
}

func (e *Engine) pluginSettings() all.Settings {
	c := e.config.Get()
	return all.Settings{Timezone: c.Assistant.Timezone, Location: c.Assistant.Location, Language: c.Assistant.Language,
		SearchProvider: c.Integrations.SearchProvider, SearxngURL: c.Integrations.SearxngURL, WeatherProvider: c.Integrations.WeatherProvider,
		NewsCountry: c.Integrations.NewsCountry, WebFetchMaxChars: c.Integrations.WebFetchMaxChars, ToolResultMaxChar: c.Chat.ToolResultMaxChars}
}

// turnTools are the registry as turns see it.
type turnTools struct{ *toolbox.Registry }

// Select chooses tools.
func (t turnTools) Select(n agent.Need) []*tool.Tool {
	return t.Registry.Select(toolbox.Need{Text: n.Text, Recent: n.Recent, Named: n.Named, All: n.All, Max: n.Max, Exclude: n.Exclude})
}

// otherApps are the turns of programs that talk through the OpenAI-compatible API.
type otherApps struct{ turns *agent.Service }

// Ask runs a turn.
func (a otherApps) Ask(ctx context.Context, q v1.Question, each func(transcript.Line) error) error {
	return a.turns.Ask(ctx, agent.Asked{SessionID: q.SessionID, Text: q.Text, Channel: q.Channel, From: q.From, Memory: q.Memory, Halts: q.Stops}, each)
}

// apps connects the OpenAI-compatible API.
func (e *Engine) apps(p *parts, secrets *secret.Store) (v1.Options, *v1.KeyService) {
	key := &v1.KeyEntry{Store: secrets, Clock: e.o.Clock}
	return v1.Options{
		Settings: func() (enabled, memory bool) {
			c := e.config.Get().OpenAIAPI
			return c.Enabled, c.AllowMemory
		},
		Key: key, Turns: otherApps{p.agent}, Chats: &v1.ChatNames{DB: e.db, Chats: p.sessions, Log: e.o.Log},
		Stops: p.agent.Halts,
	}, &v1.KeyService{Key: key, BaseURL: func() string { return e.gateway.URL() }}
}

// helperEnded posts that a helper in the background has ended (§10).
func (e *Engine) helperEnded(n *notify.Service) func(ctx context.Context, a agent.Subagent) {
	return func(ctx context.Context, a agent.Subagent) {
		title, message := "A helper has finished", a.Goal
		if a.Error != nil {
			title, message = "A helper did not finish", a.Goal+": "+*a.Error
		}
		_, err := n.Post(ctx, notify.Notification{Kind: notify.Info, Title: title, Message: message,
			Payload: map[string]any{"event": "subagent", "subagent_id": a.SubagentID, "session_id": a.SessionID, "status": a.Status}})
		if err != nil {
			e.o.Log.Warn("helper's end not notified", "error", err)
		}
	}
}
