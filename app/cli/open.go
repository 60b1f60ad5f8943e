package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"sentient/backend/api"
	"sentient/backend/client"
	"sentient/backend/sysinfo"
)

type openCmd struct{}

// Run opens the window program beside this one, or serves the page where there is none or no display.
func (openCmd) Run(p *program) error {
	why := "Sentient's window needs a display, and there is none here."
	if sysinfo.HasDisplay(p.getenv) {
		window := beside("sentient-desktop")
		if window != "" {
			return replaceBy(p, window)
		}
		why = "Sentient's window program is not beside this one (build it with ./task build)."
	}
	fmt.Fprintln(p.err, why+" Its page opens in a browser instead.")
	home, err := p.home()
	if err != nil {
		return err
	}
	if running := client.Find(p.ctx, home); running != nil {
		link, err := client.Do[api.LinkResult](p.ctx, running, client.GatewayLink, api.Nothing{})
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "Sentient is already running. Open this link once, within ten minutes:\n\n  %s\n\n", link.URL)
		return nil
	}
	return serve(p, serveOptions{port: -1})
}

// beside gives the path of another of our programs, or "".
func beside(name string) string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(own), name)
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// replaceBy runs the window to its end, as if it were this program.
func replaceBy(p *program, window string) error {
	cmd := exec.CommandContext(p.ctx, window)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, p.out, p.err
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() > 0 {
			return exit(cmd.ProcessState.ExitCode())
		}
		return err
	}
	return nil
}
