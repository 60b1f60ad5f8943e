package engine

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"sentient/backend/agent"
	"sentient/backend/api"
	"sentient/backend/config"
	"sentient/backend/gateway/v1"
	"sentient/backend/model"
	"sentient/backend/model/builtin"
	"sentient/backend/netx"
	"sentient/backend/notify"
	"sentient/backend/onboarding"
	"sentient/backend/secret"
	"sentient/backend/session"
	"sentient/backend/svc"
	"sentient/backend/transcript"
)

// closeTimeout is how long turns may take to end at Close: their replies have to be kept.
const closeTimeout = 8 * time.Second

// parts are the services that need the database.
type parts struct {
	sessions   *session.Service
	transcript *transcript.Log
	agent      *agent.Service
	notify     *notify.Service
	builtin    *builtin.Service
	apps       v1.Options // the API of other apps
}

// assemble makes the services, connects them and starts what runs on. The order is that of what needs what.
func (e *Engine) assemble(ctx context.Context, s *api.Services) (*parts, error) {
	p := &parts{}
	secrets, err := e.secrets()
	if err != nil {
		return nil, err
	}
	net := netx.New(netx.Options{Clock: e.o.Clock, Log: e.o.Log, UserAgent: "Sentient/" + e.o.Version})
	p.builtin = e.builtinModel(net)
	models := model.New(model.Options{Settings: e.config, Keys: secrets, Builtin: p.builtin,
		Getenv: e.o.Getenv, HTTP: net.HTTP(modelPolicy), Clock: e.o.Clock, Log: e.o.Log})
	p.transcript = transcript.New(transcript.Options{DB: e.db, Bus: e.bus, Clock: e.o.Clock, Log: e.o.Log})
	p.sessions, err = session.New(session.Options{DB: e.db, Bus: e.bus, Clock: e.o.Clock, Log: e.o.Log, Dir: e.o.Home, Settings: e.chatSettings, Paths: p.transcript})
	if err != nil {
		return nil, err
	}
	var chosen agent.Models = models
	if e.o.Models != nil {
		chosen = e.o.Models
	}
	tools, err := e.toolRegistry(net, secrets)
	if err != nil {
		return nil, err
	}
	p.notify = notify.New(notify.Options{DB: e.db, Bus: e.bus, Clock: e.o.Clock})
	p.agent, err = agent.New(agent.Options{Tools: turnTools{tools}, Gate: e.gate(p, tools), OnHelper: e.helperEnded(p.notify),
		DB: e.db, Bus: e.bus, Clock: e.o.Clock, Log: e.o.Log, Tree: e.tree, Transcript: p.transcript,
		Models: chosen, Chats: p.sessions, Files: p.sessions, Settings: e.turnSettings, Dir: e.o.Home})
	if err != nil {
		return nil, err
	}
	p.sessions.UseTurns(p.agent)
	if err := tools.Add(p.agent.Plugin()); err != nil {
		return nil, err
	}
	p.apps, s.OpenAI = e.apps(p, secrets)
	s.Tools = tools
	s.Sessions, s.Agent, s.Notifications, s.Models, s.Secrets = p.sessions, p.agent, p.notify, models, &api.Secrets{Store: secrets}
	s.Onboarding = onboarding.New(onboarding.Options{Dir: e.o.Home, Clock: e.o.Clock, Save: e.saveAssistant})
	if err := p.agent.Start(ctx); err != nil {
		return nil, err
	}
	if err := p.sessions.Start(ctx); err != nil {
		return nil, err
	}
	for _, service := range []svc.Service{p.transcript, p.sessions, p.builtin, e.db.Upkeep()} {
		e.tree.Add(service)
	}
	return p, nil
}

// close ends the turns while the database is open, then what they used.
func (p *parts) close(log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := p.agent.Close(ctx); err != nil {
		log.Error("end turns", "error", err)
	}
	if err := p.sessions.Close(ctx); err != nil {
		log.Error("close chats", "error", err)
	}
}

func (e *Engine) secrets() (*secret.Store, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		user = e.o.Home // no home folder: the data folder is then the only one there is
	}
	keyDir, err := os.UserConfigDir()
	if err != nil {
		keyDir = filepath.Join(user, ".config")
	}
	s := secret.New(secret.Options{Home: e.o.Home, DefaultHome: filepath.Join(user, ".sentient"), KeyDir: filepath.Join(keyDir, "sentient", "keys"),
		Getenv: e.o.Getenv, Log: e.o.Log, Clock: e.o.Clock,
		EnvName: func(provider string) string { return e.config.Get().Models.Providers[provider].APIKeyEnv }})
	e.o.Log.Info("keychain service", "service", s.Service())
	return s, nil
}

func (e *Engine) chatSettings() session.Settings {
	return session.Settings{IncognitoDeleteAfter: time.Duration(e.config.Get().Chat.IncognitoDeleteAfterMinutes) * time.Minute}
}

func (e *Engine) turnSettings() agent.Settings {
	c := e.config.Get()
	return agent.Settings{
		AssistantName: c.Assistant.Name, UserName: c.Assistant.UserName, Timezone: c.Assistant.Timezone, Location: c.Assistant.Location,
		Language: c.Assistant.Language, HistoryWindow: c.Chat.HistoryWindow, AutoTitle: c.Chat.AutoTitle, IncognitoUsesMemory: c.Chat.IncognitoUsesMemory,
		CompressAfter: c.Chat.CompressAfterMessages, AllTools: c.Chat.ToolSelection == "all", MaxToolsLocal: c.Chat.MaxToolsLocal, MaxToolsCloud: c.Chat.MaxToolsCloud,
		ResultMaxChars: c.Chat.ToolResultMaxChars, ResultShare: c.Chat.ToolResultContextShare, ParallelReads: c.Chat.ParallelReadTools, RepeatLimit: c.Tools.RepeatedCallLimit,
		Subagents: agent.SubagentSettings{Enabled: c.Subagents.Enabled, MaxConcurrent: c.Subagents.MaxConcurrent, MaxRounds: c.Subagents.MaxRounds, Role: c.Subagents.Role,
			Timeout: time.Duration(c.Subagents.TimeoutMinutes) * time.Minute, MaxTokens: c.Subagents.MaxTokens},
	}
}

// saveAssistant writes what the first-run setup asked for.
func (e *Engine) saveAssistant(ctx context.Context, a onboarding.Assistant) error {
	return e.config.Modify(ctx, func(c *config.Config) {
		c.Assistant.Name, c.Assistant.UserName = a.Name, a.UserName
		c.Assistant.Timezone, c.Assistant.Location = a.Timezone, a.Location
		c.Assistant.OnboardingComplete = true
	})
}
