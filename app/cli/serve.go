package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"sentient/app/about"
	"sentient/backend/engine"
	"sentient/backend/obs"
)

type serveCmd struct {
	Port    int  `help:"Port to listen on; 0 takes any that is free. Without it: the one in the settings (7777), or another where that is taken." default:"-1" placeholder:"N"`
	Verbose bool `help:"Log more." short:"v"`
}

// Run serves until it is interrupted.
func (c serveCmd) Run(p *program) error {
	return serve(p, serveOptions{port: c.Port, verbose: c.Verbose})
}

type serveOptions struct {
	port    int // -1: the configured one
	verbose bool
}

func serve(p *program, o serveOptions) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	e, err := engine.Start(p.ctx, engine.Options{
		Home: home, Port: o.port, Version: about.Version, Page: p.page, Getenv: p.getenv,
		Log: obs.NewLogger(p.err, level),
	})
	if err != nil {
		return err
	}
	defer e.Close()
	if err := announce(p, e); err != nil {
		return err
	}
	if err := e.Wait(p.ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func announce(p *program, e *engine.Engine) error {
	link, err := e.Link()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "Sentient is ready at %s\nOpen this link once, within ten minutes:\n\n  %s\n\n", e.URL(), link)
	for _, note := range e.Notes() {
		fmt.Fprintln(p.err, note)
	}
	return nil
}
