package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"sentient/app/about"
	"sentient/backend/api"
	"sentient/backend/client"
	"sentient/backend/engine"
	"sentient/backend/errs"
)

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(p *program) error {
	fmt.Fprintf(p.out, "sentient %s (commit %s, %s/%s)\n", about.Version, about.Commit(), runtime.GOOS, runtime.GOARCH)
	return nil
}

type contractCmd struct{}

// Run prints what is served. It opens no data folder.
func (contractCmd) Run(p *program) error {
	c := api.NewTable(api.Services{}, nil).Contract()
	for _, name := range []string{"serve", "doctor"} {
		c.Surface = append(c.Surface, api.ContractName{Kind: "command", Name: name})
	}
	tools, err := engine.ToolNames()
	if err != nil {
		return err
	}
	for _, name := range tools {
		c.Surface = append(c.Surface, api.ContractName{Kind: "tool", Name: name})
	}
	raw, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return fmt.Errorf("encode contract: %w", err)
	}
	fmt.Fprintln(p.out, string(raw))
	return nil
}

type statusCmd struct{}

// Run says whether an engine runs for the data folder.
func (statusCmd) Run(p *program) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	running := client.Find(p.ctx, home)
	if running == nil {
		fmt.Fprintln(p.out, "Sentient is not running.")
		return exit(exitNotRunning)
	}
	defer running.Close()
	b, err := client.Do[api.Bootstrap](p.ctx, running, client.BootstrapGet, api.Nothing{})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "Sentient %s is running at %s\nData folder: %s\n", b.Version, running.URL(), b.Home)
	if b.SafeMode != nil {
		fmt.Fprintln(p.out, "Safe mode: "+b.SafeMode.Sentence)
	}
	for _, note := range b.Notes {
		fmt.Fprintln(p.out, note)
	}
	return nil
}

type evalCmd struct {
	Name  string   `arg:"" optional:"" help:"The measure."`
	Files []string `arg:"" optional:"" help:"Files of cases." type:"existingfile"`
}

// Run lists the measures. Each joins with the part that it measures; none of those parts exists yet.
func (c evalCmd) Run(p *program) error {
	if c.Name == "" {
		fmt.Fprintln(p.out, "No measures yet.")
		return nil
	}
	return errs.Newf(errs.NotFound, "measure_unknown", "There is no measure named “%.40s”. Run 'sentient eval' for the list.", c.Name)
}
