//go:build unix && !linux

package builtin

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own, so that it can be ended with all it starts.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// tie has the process killed when the engine ends, however it ends: this system's kernel cannot.
func tie(cmd *exec.Cmd) (untie func(), err error) { return lifeline(cmd.Process.Pid) }
