package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"sentient/app/about"
	"sentient/backend/api"
	"sentient/backend/client"
	"sentient/backend/engine"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/secret"
	"sentient/backend/sysinfo"
)

type doctorCmd struct {
	CanAnswer bool `help:"Only tell, by the exit status, whether a model is set up that could answer."`
}

// table is where the doctor asks: a running engine, or one of its own.
type table interface {
	Call(ctx context.Context, id string, input json.RawMessage) (any, error)
}

// Run looks at each part and says what to do about what is missing. It changes nothing.
func (c doctorCmd) Run(p *program) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	var to table
	running := client.Find(p.ctx, home)
	if running != nil {
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
	ready, err := ask[api.ReadyResult](p.ctx, to, "models.ready")
	if c.CanAnswer {
		if err != nil || !ready.OK {
			return exit(exitFailed)
		}
		return nil
	}
	return c.report(p, to, home, ready, err, running != nil)
}

func (c doctorCmd) report(p *program, to table, home string, ready api.ReadyResult, readyErr error, running bool) error {
	well := true
	say := func(ok bool, what, detail string) {
		mark := "ok"
		if !ok {
			mark, well = "!!", false
		}
		fmt.Fprintf(p.out, "%s  %-12s %s\n", mark, what, detail)
	}
	state := "not running (looked at with an engine of its own)"
	if running {
		state = "running"
	}
	say(true, "Engine", state)
	b, err := ask[api.Bootstrap](p.ctx, to, "bootstrap.get")
	if err != nil {
		return err
	}
	if b.SafeMode != nil {
		say(false, "Data", b.SafeMode.Sentence)
	} else {
		say(true, "Data", home)
	}
	for _, note := range b.Notes {
		say(false, "Note", note)
	}
	if readyErr != nil {
		ready = api.ReadyResult{Message: errs.From(readyErr).Message}
	}
	if ready.OK {
		say(true, "Model", ready.Model+" answers chats.")
	} else {
		say(false, "Model", ready.Message)
	}
	if b.SafeMode == nil {
		if entries, err := ask[[]secret.Entry](p.ctx, to, "secrets.list"); err != nil {
			say(false, "Keys", errs.From(err).Message)
		} else {
			say(true, "Keys", fmt.Sprintf("%d set", countSet(entries)))
		}
	}
	if sysinfo.HasDisplay(p.getenv) && beside("sentient-desktop") != "" {
		say(true, "Window", "opens with 'sentient'.")
	} else {
		say(true, "Window", "no display or no window program; the page opens in a browser instead.")
	}
	if !well {
		return exit(exitFailed)
	}
	return nil
}

func countSet(entries []secret.Entry) int {
	n := 0
	for _, e := range entries {
		if e.Set {
			n++
		}
	}
	return n
}

// ask calls an operation without input and gives its answer as a value, whichever door it came through.
func ask[O any](ctx context.Context, to table, id string) (O, error) {
	var out O
	answer, err := to.Call(ctx, id, nil)
	if err != nil {
		return out, err
	}
	if v, ok := answer.(O); ok {
		return v, nil
	}
	raw, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}
