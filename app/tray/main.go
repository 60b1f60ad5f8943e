//go:build tray

package tray

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/getlantern/systray"

	"sentient/backend/clock"
	"sentient/backend/discovery"
	"sentient/backend/obs"
	"sentient/backend/svc"
	"sentient/build/packaging/art"
)

// hostWait is how long the program waits for a tray that is just starting, as after signing in.
const hostWait = 5 * time.Second

// icon is the running program.
type icon struct {
	log    *slog.Logger
	home   string
	parent bool // a program of ours holds our pipes: it does what the person asks for
	tree   *svc.Tree
	quit   func() // may be called often, from anywhere

	mu   sync.Mutex // of standard output
	said string     // the last of shown and hidden
}

// Main runs the tray icon and gives the exit status. Started by hand, without --parent, it opens the window program
// beside it.
func Main() int {
	flags := flag.NewFlagSet("sentient-tray", flag.ContinueOnError)
	home := flags.String("home", "", "the data `folder`; without it, SENTIENT_HOME or ~/.sentient")
	parent := flags.Bool("parent", false, "the program that started this one reads standard output and ends it by closing standard input")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return exitUsage
	}
	t := &icon{log: obs.NewLogger(os.Stderr, slog.LevelInfo), home: *home, parent: *parent, quit: sync.OnceFunc(systray.Quit)}
	if t.home == "" {
		found, err := discovery.Home(os.Getenv)
		if err != nil {
			t.log.Error("find data folder", "error", err)
			return exitFailed
		}
		t.home = found
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The tree ends with the process: reading standard input, which one of its jobs does, cannot be ended before.
	t.tree = svc.NewTree("tray", t.log)
	if err := t.awaitPlace(ctx); err != nil {
		t.log.Info("no tray is available here", "reason", err)
		return exitNoTray
	}
	t.tree.Go("end", func(context.Context) { <-ctx.Done(); t.quit() })
	if t.parent {
		t.tree.Go("parent", func(context.Context) {
			_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it, our parent is gone
			t.quit()
		})
	}
	systray.Run(t.ready, func() {})
	return 0
}

// awaitPlace waits a moment for a tray that shows icons.
func (t *icon) awaitPlace(ctx context.Context) error {
	if err := openDisplay(); err != nil {
		return err
	}
	if oldTray() {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := clock.Real{}.NewTimer(hostWait)
	defer timer.Stop()
	err := svc.Run(ctx,
		func(ctx context.Context) error {
			return watchHost(ctx, func(there bool) {
				if there {
					cancel(errTrayThere)
				}
			})
		},
		func(ctx context.Context) error {
			select {
			case <-timer.C():
				return fmt.Errorf("no tray appeared in %s", hostWait)
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	if errors.Is(context.Cause(ctx), errTrayThere) {
		return nil
	}
	return err
}

// ready fills the icon. The menu never changes afterwards: tray hosts that come and go while it does are where such
// libraries crash.
func (t *icon) ready() {
	systray.SetIcon(art.Tray(runtime.GOOS == "windows"))
	systray.SetTooltip("Sentient")
	open := systray.AddMenuItem("Open Sentient", "Bring Sentient's window to the front")
	systray.AddSeparator()
	quit := systray.AddMenuItem("Quit Sentient", "End Sentient")
	t.tree.Go("menu", func(ctx context.Context) {
		for {
			select {
			case <-open.ClickedCh:
				t.open()
			case <-quit.ClickedCh:
				t.askedToQuit()
			case <-ctx.Done():
				return
			}
		}
	})
	t.tree.Go("host", func(ctx context.Context) {
		err := watchHost(ctx, func(there bool) { t.place(there || oldTray()) })
		if oldTray() {
			t.place(true)
			return
		}
		t.log.Info("the tray's session has ended", "reason", err)
		t.quit()
	})
}

func (t *icon) place(shown bool) {
	word := saysHidden
	if shown {
		word = saysShown
	}
	t.mu.Lock()
	again := t.said == word
	t.said = word
	t.mu.Unlock()
	if !again {
		t.say(word)
	}
}

func (t *icon) open() {
	if t.parent {
		t.say(saysOpen)
		return
	}
	name := "sentient-desktop"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	own, err := os.Executable()
	if err != nil {
		t.log.Error("find the window's program", "error", err)
		return
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(own), name))
	cmd.Env = append(os.Environ(), "SENTIENT_HOME="+t.home)
	if err := cmd.Start(); err != nil {
		t.log.Error("start the window's program", "error", err)
		return
	}
	t.tree.Go("window", func(context.Context) {
		if err := cmd.Wait(); err != nil {
			t.log.Warn("the window's program ended", "error", err)
		}
	})
}

// askedToQuit leaves the decision to the parent, which ends this program too.
func (t *icon) askedToQuit() {
	if t.parent {
		t.say(saysQuit)
		return
	}
	t.quit()
}

func (t *icon) say(word string) {
	if !t.parent {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := fmt.Println(word); err != nil {
		t.log.Warn("tell parent", "word", word, "error", err)
	}
}
