package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"sentient/app/about"
	"sentient/backend/client"
	"sentient/backend/engine"
	"sentient/backend/errs"
	"sentient/backend/obs"
)

type askCmd struct {
	Question []string `arg:"" help:"What to ask."`
	Model    string   `help:"Model for this question, as provider/model; the settings' one without it." placeholder:"NAME"`
	Keep     bool     `help:"Keep the chat in the list of chats." negatable:"" default:"true"`
}

// asker is where the question goes: a running engine, or one of our own.
type asker interface {
	Stream(ctx context.Context, id string, input json.RawMessage, each func(any) error) error
	Call(ctx context.Context, id string, input json.RawMessage) (any, error)
}

// Run prints the answer as it comes.
func (c askCmd) Run(p *program) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	var to asker
	if running := client.Find(p.ctx, home); running != nil {
		defer running.Close()
		to = running
	} else {
		e, err := engine.Start(p.ctx, engine.Options{Home: home, Port: 0, Version: about.Version, Page: p.page, Getenv: p.getenv,
			Log: obs.NewLogger(p.err, slog.LevelError)})
		if err != nil {
			return err
		}
		defer e.Close()
		to = e
	}
	return c.ask(p, to)
}

func (c askCmd) ask(p *program, to asker) error {
	in, err := json.Marshal(map[string]any{"text": strings.Join(c.Question, " "), "model": c.Model, "incognito": !c.Keep})
	if err != nil {
		return fmt.Errorf("encode question: %w", err)
	}
	printed, session := false, ""
	var failed error
	err = to.Stream(p.ctx, "chat.run", in, func(line any) error {
		raw, err := json.Marshal(line)
		if err != nil {
			return err
		}
		var e struct {
			Type        string `json:"type"`
			SessionID   string `json:"session_id"`
			Text        string `json:"text"`
			Message     string `json:"message"`
			Recoverable bool   `json:"recoverable"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		if e.SessionID != "" {
			session = e.SessionID
		}
		switch e.Type {
		case "text_delta":
			if !printed {
				e.Text = strings.TrimLeft(e.Text, " \n")
			}
			printed = printed || e.Text != ""
			fmt.Fprint(p.out, e.Text)
		case "notice":
			fmt.Fprintln(p.err, e.Message)
		case "error":
			if !e.Recoverable {
				failed = errs.New(errs.Unavailable, "turn_failed", e.Message)
			}
		}
		return nil
	})
	if printed {
		fmt.Fprintln(p.out)
	}
	if !c.Keep && session != "" {
		err = errors.Join(err, forget(p.ctx, to, session))
	}
	if err != nil {
		return err
	}
	return failed
}

// forget deletes the chat of a question that is not to be kept, also when the question was interrupted.
func forget(ctx context.Context, to asker, session string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetWithin)
	defer cancel()
	in, err := json.Marshal(map[string]string{"id": session})
	if err != nil {
		return fmt.Errorf("encode chat: %w", err)
	}
	_, err = to.Call(ctx, "sessions.delete", in)
	return err
}

const forgetWithin = 5 * time.Second
