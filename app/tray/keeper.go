package tray

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"sentient/backend/clock"
	"sentient/backend/svc"
)

// Keeper runs the icon's program beside the program that holds it: it starts it, starts it again with growing pauses
// when it dies, waits for a tray where there is none, and ends it with its own end. It is a svc.Service.
type Keeper struct {
	Program string // path of sentient-tray; see Beside
	Home    string // the data folder
	Clock   clock.Clock
	Log     *slog.Logger
	Open    func() // the person wants the window; called in order with Quit, it should return soon
	Quit    func() // the person wants Sentient to end

	shown atomic.Bool
	watch host // nil: the computer's own; tests give theirs
}

const (
	firstPause   = time.Second
	longestPause = time.Minute
	longLife     = time.Minute     // a program that ran this long had started well: the pauses begin anew
	endGrace     = 3 * time.Second // from the end of its standard input; the program needs a moment to take its icon away
)

// Beside gives the path of the icon's program beside this one, or "" where it is not installed.
func Beside() string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	name := "sentient-tray"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(own), name)
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// Shown tells whether an icon stands in a tray now, so that a hidden window can be found again.
func (k *Keeper) Shown() bool { return k.shown.Load() }

// String names the service in logs.
func (k *Keeper) String() string { return "tray icon" }

// Serve keeps the icon until ctx ends. Where there can be no tray it says so in the log once and is done.
func (k *Keeper) Serve(ctx context.Context) error {
	pause := firstPause
	for {
		began := k.Clock.Now()
		status, err := k.run(ctx)
		k.shown.Store(false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if status == exitNoTray {
			k.Log.Info("no tray is available: Sentient runs without an icon until one appears")
			if err := k.awaitTray(ctx); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				k.Log.Info("no tray is available on this computer: Sentient runs without an icon", "reason", err)
				return svc.ErrDone
			}
		} else {
			k.Log.Warn("tray program ended by itself; it is started again", "status", status, "pause", pause, "error", err)
		}
		if k.Clock.Now().Sub(began) >= longLife {
			pause = firstPause
		}
		if err := k.rest(ctx, pause); err != nil {
			return err
		}
		pause = min(pause*2, longestPause)
	}
}

func (k *Keeper) rest(ctx context.Context, d time.Duration) error {
	timer := k.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs the icon's program once, to its end, and gives its exit status.
func (k *Keeper) run(ctx context.Context) (status int, err error) {
	// The icon's library puts its picture into a temporary file and leaves it there when it is killed.
	files, err := os.MkdirTemp("", "sentient-tray-")
	if err != nil {
		return exitFailed, fmt.Errorf("make folder for the icon: %w", err)
	}
	defer os.RemoveAll(files)
	cmd := exec.CommandContext(ctx, k.Program, "--parent", "--home", k.Home)
	cmd.Env = append(os.Environ(), "TMPDIR="+files)
	cmd.Stdout = &words{each: k.heard}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return exitFailed, fmt.Errorf("make pipe: %w", err)
	}
	defer in.Close()
	cmd.Cancel = func() error { return endOf(in) }
	cmd.WaitDelay = endGrace
	KeepFilesOut()
	if err := cmd.Start(); err != nil {
		return exitFailed, fmt.Errorf("start tray program: %w", err)
	}
	k.Log.Debug("tray program started", "pid", cmd.Process.Pid)
	err = cmd.Wait()
	return cmd.ProcessState.ExitCode(), err
}

// endOf tells the program to end. It has ended by itself where its pipe is closed already.
func endOf(in io.Closer) error {
	if err := in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func (k *Keeper) heard(word string) {
	switch word {
	case saysShown:
		k.shown.Store(true)
		k.Log.Info("the tray icon is shown")
	case saysHidden:
		k.shown.Store(false)
		k.Log.Info("the tray went away; the icon comes back with it")
	case saysOpen:
		k.Open()
	case saysQuit:
		k.Quit()
	default:
		k.Log.Warn("tray program said something unknown", "word", word)
	}
}

var errTrayThere = errors.New("a tray is there")

// awaitTray waits until a tray appears. An error says that none ever will.
func (k *Keeper) awaitTray(ctx context.Context) error {
	watch := k.watch
	if watch == nil {
		watch = watchHost
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := watch(ctx, func(there bool) {
		if there {
			cancel(errTrayThere)
		}
	})
	if errors.Is(context.Cause(ctx), errTrayThere) {
		return nil
	}
	return err
}
