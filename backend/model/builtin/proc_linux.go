package builtin

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own, so that it can be ended with all it starts, and has the kernel kill it
// when the thread that starts it ends: with the engine, or with Serve, which holds that thread (a Go thread may
// otherwise end at any time and would take the server along).
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// tie has nothing to add on Linux.
func tie(*exec.Cmd) (untie func(), err error) { return func() {}, nil }
