package builtin

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ownGroup keeps a Ctrl-C of our console, and a console window, away from the process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// tie puts the process into a job that Windows ends when its last handle closes: with the engine, however that ends.
func tie(cmd *exec.Cmd) (untie func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, cmd.Process.Pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("set up a job: %w", err)
	}
	return func() { _ = windows.CloseHandle(job) }, nil
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(job, process)
}

// terminate ends the process: Windows has no gentler way for a program without a window, and it has nothing to save.
func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill ends the process.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// killed cannot be told on Windows.
func killed(*exec.Cmd) bool { return false }

func killLeftover(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
