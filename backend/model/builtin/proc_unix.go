//go:build unix

package builtin

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// terminate asks the process and everything it started to end.
func terminate(cmd *exec.Cmd) { send(cmd, syscall.SIGTERM) }

// kill ends the process and everything it started.
func kill(cmd *exec.Cmd) { send(cmd, syscall.SIGKILL) }

func send(cmd *exec.Cmd, sig syscall.Signal) {
	// The process leads its own group (ownGroup), whose number is its own. ESRCH means that it is gone, which is fine.
	_ = syscall.Kill(-cmd.Process.Pid, sig)
}

// killed says whether somebody else ended the process by force: usually the system, out of memory.
func killed(cmd *exec.Cmd) bool {
	if cmd.ProcessState == nil {
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// killLeftover ends a process of an earlier engine and its group, when it leads one.
func killLeftover(pid int) error {
	if group, err := syscall.Getpgid(pid); err == nil && group == pid {
		pid = -pid
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// lifeline starts a watcher that kills the process group when we end, however we end: a shell that waits for the end of
// its standard input, whose other side is ours. untie ends the watcher without a kill.
func lifeline(group int) (untie func(), err error) {
	watcher := exec.Command("/bin/sh", "-c", `cat >/dev/null; kill -9 "-$1" 2>/dev/null`, "sh", strconv.Itoa(group))
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C in a terminal must not end the watcher
	ours, err := watcher.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make the lifeline: %w", err)
	}
	if err := watcher.Start(); err != nil {
		return nil, fmt.Errorf("start the lifeline: %w", err)
	}
	return func() {
		// The shell and its cat die before they see the end of their input.
		_ = syscall.Kill(-watcher.Process.Pid, syscall.SIGKILL)
		_ = watcher.Wait()
		_ = ours.Close()
	}, nil
}
