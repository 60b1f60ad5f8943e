package desktop

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"time"

	"sentient/app/tray"
	"sentient/backend/clock"
	"sentient/backend/svc"
)

// startedWell is how long a program may take to say that it can't open a link; one that still runs then has opened it.
const startedWell = 2 * time.Second

// opener opens addresses with the system's own programs. Its tree ends with the process: a browser that it started may
// well stay open longer than the window.
type opener struct {
	clock   clock.Clock
	tree    *svc.Tree
	command []string // program and what stands before the address
}

func newOpener(c clock.Clock, log *slog.Logger) *opener {
	o := &opener{clock: c, tree: svc.NewTree("links", log), command: []string{"xdg-open"}}
	switch runtime.GOOS {
	case "darwin":
		o.command = []string{"open"}
	case "windows":
		o.command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return o
}

// open opens an address that mayOpen allowed. No shell sees it.
func (o *opener) open(address string) error {
	cmd := exec.Command(o.command[0], append(o.command[1:len(o.command):len(o.command)], address)...)
	tray.KeepFilesOut()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open link: %w", err)
	}
	ended := make(chan error, 1)
	o.tree.Go("link", func(context.Context) { ended <- cmd.Wait() })
	timer := o.clock.NewTimer(startedWell)
	defer timer.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("open link: %w", err)
		}
	case <-timer.C():
	}
	return nil
}
