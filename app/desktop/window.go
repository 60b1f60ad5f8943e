//go:build desktop

package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	wailsruntime "github.com/wailsapp/wails/v2/pkg/runtime"

	"sentient/app/about"
	"sentient/app/bound"
	"sentient/app/tray"
	"sentient/backend/clock"
	"sentient/backend/discovery"
	"sentient/backend/obs"
	"sentient/backend/svc"
	"sentient/build/packaging/art"
)

// window is the running program.
type window struct {
	home    string
	log     *slog.Logger
	clock   clock.Clock
	began   time.Time
	test    bool // say on standard error when the page is there
	tree    *svc.Tree
	door    *switchDoor
	runner  *runner
	streams *bound.Streams
	tray    *tray.Keeper // nil where its program is not installed

	started chan struct{} // closed when ctx is there
	ctx     context.Context
	shown   sync.Once

	quitting atomic.Bool
	ended    atomic.Bool // the window is gone: nothing may be sent to it
	failed   atomic.Bool // the exit status is 1

	mu     sync.Mutex
	left   geometry // how the window was left last
	hidden bool
	open   map[string]bool // events of streams that the page has open
}

// Main runs the window and gives the exit status: 0 when it was closed, also when another window of the data folder
// was brought to the front instead.
//
// Where SENTIENT_WINDOW_TEST is set, the line "window ready after N ms" goes to standard error when the page is
// loaded. It changes nothing else.
func Main(page fs.FS) int {
	runtime.LockOSThread() // the window's library wants all its calls on one thread
	c := clock.Real{}
	began := c.Now()
	log := obs.NewLogger(os.Stderr, slog.LevelInfo)
	home, err := discovery.Home(os.Getenv)
	if err == nil {
		err = os.MkdirAll(home, 0o700)
	}
	if err != nil {
		log.Error("find data folder", "error", err)
		return complain("Sentient can't use its data folder. Check the folder's permissions and the space on the disk.")
	}
	w := newWindow(home, c, log)
	w.began, w.test = began, os.Getenv("SENTIENT_WINDOW_TEST") != ""
	only, second, err := becomeOnly(home, c, w.toFront)
	switch {
	case second:
		if err := callOnly(home, c); err != nil {
			log.Error("bring the open window to the front", "error", err)
			return complain("Sentient's window is open already, but it does not answer. End it, then try again.")
		}
		return 0
	case err != nil:
		log.Warn("a second window will not be noticed", "error", err)
	default:
		defer only.Close()
		w.tree.Add(only)
	}
	if err := openDisplay(); err != nil {
		fmt.Fprintln(os.Stderr, "Sentient's window needs a display, and there is none here. Run “sentient serve” to open its page in a browser.")
		w.tree.Close()
		return 1
	}
	return w.run(page)
}

// complain shows a sentence, in a dialog where there is a display.
func complain(sentence string) int {
	fmt.Fprintln(os.Stderr, sentence)
	if openDisplay() == nil {
		alert(sentence)
	}
	return 1
}

func newWindow(home string, c clock.Clock, log *slog.Logger) *window {
	w := &window{home: home, log: log, clock: c, tree: svc.NewTree("window", log), started: make(chan struct{}),
		left: loadGeometry(home), open: map[string]bool{}}
	return w
}

// run opens the window and gives the exit status after its end.
func (w *window) run(page fs.FS) int {
	alive, end := context.WithCancel(context.Background())
	defer end()
	w.door = newSwitchDoor(alive, w.clock)
	w.runner = newRunner(w, page)
	w.streams = bound.NewStreams(w.door, w.emitBatch, w.tree, w.clock, w.log)
	w.tree.Add(w.runner)
	w.tree.Add(svc.Func{Name: "signals", Run: w.awaitSignal})
	if program := tray.Beside(); program != "" {
		w.tray = &tray.Keeper{Program: program, Home: w.home, Clock: w.clock, Log: w.log, Open: w.toFront, Quit: w.quit}
	}
	err := wails.Run(w.options(page))
	w.ended.Store(true)
	end()
	w.tree.Close()
	if err != nil {
		w.log.Error("window failed", "error", err)
		return 1
	}
	if w.failed.Load() {
		return 1
	}
	return 0
}

func (w *window) options(page fs.FS) *options.App {
	dark := w.left.Theme == "dark" || w.left.Theme == "system" && systemDark()
	back := colour(dark)
	state := options.Normal
	if w.left.Maximised {
		state = options.Maximised
	}
	desktop := &Desktop{log: w.log, version: about.Version, open: newOpener(w.clock, w.log).open, title: w.setTitle, engine: w.runner, tray: w.trayShown}
	return &options.App{
		Title: appTitle, Width: w.left.Width, Height: w.left.Height, MinWidth: minWidth, MinHeight: minHeight,
		WindowStartState: state,
		BackgroundColour: options.NewRGB(back[0], back[1], back[2]),
		// No Assets: the library ends the program when they have no index.html, and its own page says nothing.
		AssetServer:              &assetserver.Options{Handler: newAssets(page, w.door)},
		Bind:                     append(bound.Nouns(w.door), w.streams, desktop),
		ErrorFormatter:           formatAny,
		EnableDefaultContextMenu: true, // for text; the library hides it elsewhere, and settle leaves only what belongs to text
		Logger:                   libraryLog{w.log},
		LogLevelProduction:       logger.WARNING,
		OnStartup:                w.onStartup,
		OnDomReady:               w.onPage,
		OnBeforeClose:            w.beforeClose,
		Linux: &linux.Options{Icon: art.Window(), ProgramName: "sentient",
			// With hardware drawing some graphics drivers show an empty window, and it takes more memory.
			WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
		Windows: &windows.Options{IsZoomControlEnabled: false, DisablePinchZoom: true},
	}
}

func (w *window) onStartup(ctx context.Context) {
	w.ctx = ctx
	close(w.started)
	settle(w.left, &heard{
		keptHere:    func(address string) { w.log.Warn("the page was kept from leaving", "address", shorten(address)) },
		newPage:     w.forgetStreams,
		pageCrashed: func(reason int) { w.log.Error("the page's process ended; the page is shown again", "reason", reason) },
		settled: func(ok bool) {
			if !ok {
				w.log.Error("the window's rules could not be set; it is closed")
				w.failed.Store(true)
				w.quit()
			}
		},
	})
}

// onPage is called each time a page is loaded.
func (w *window) onPage(context.Context) {
	w.shown.Do(func() {
		if w.test {
			fmt.Fprintf(os.Stderr, "window ready after %d ms\n", w.clock.Now().Sub(w.began).Milliseconds())
		}
		if w.tray == nil {
			w.log.Info("the tray program is not installed: Sentient runs without an icon")
			return
		}
		w.tree.Add(w.tray)
	})
}

// beforeClose keeps how the window is, and leaves Sentient in the tray where the settings say so and an icon is there
// to bring it back.
func (w *window) beforeClose(ctx context.Context) (prevent bool) {
	ui := w.settings(ctx)
	w.keep(ctx, ui.Theme)
	if w.quitting.Load() || !ui.MinimizeToTray || !w.trayShown() {
		return false
	}
	w.mu.Lock()
	w.hidden = true
	w.mu.Unlock()
	wailsruntime.WindowHide(ctx)
	w.log.Info("the window is hidden; Sentient stays in the tray")
	return true
}

type uiSettings struct {
	Theme          string `json:"theme"`
	MinimizeToTray bool   `json:"minimize_to_tray"`
}

// settingsTimeout bounds what closing the window waits for the engine.
const settingsTimeout = time.Second

// settings asks the engine for the settings of the window. What it does not say is empty and false.
func (w *window) settings(ctx context.Context) uiSettings {
	var config struct {
		UI uiSettings `json:"ui"`
	}
	ctx, cancel := context.WithTimeout(ctx, settingsTimeout)
	defer cancel()
	answer, err := w.door.Call(ctx, "config.get", nil)
	if err != nil {
		return config.UI
	}
	raw, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(raw, &config)
	}
	if err != nil {
		w.log.Warn("read settings of the window", "error", err)
	}
	return config.UI
}

// keep saves how the window is.
func (w *window) keep(ctx context.Context, theme string) {
	w.mu.Lock()
	hidden := w.hidden
	w.mu.Unlock()
	now := geometry{Theme: theme}
	if hidden || wailsruntime.WindowIsMinimised(ctx) || wailsruntime.WindowIsFullscreen(ctx) {
		now = w.leftNow()
		now.Theme = theme
	} else {
		now.Width, now.Height = wailsruntime.WindowGetSize(ctx)
		now.X, now.Y = wailsruntime.WindowGetPosition(ctx)
		now.Maximised, now.Placed = wailsruntime.WindowIsMaximised(ctx), true
	}
	w.mu.Lock()
	w.left = w.left.after(now)
	left := w.left
	w.mu.Unlock()
	if err := left.save(w.home); err != nil {
		w.log.Warn("window state is not kept", "error", err)
	}
}

func (w *window) leftNow() geometry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left
}

func (w *window) trayShown() bool { return w.tray != nil && w.tray.Shown() }

func (w *window) toFront() {
	<-w.started
	w.mu.Lock()
	w.hidden = false
	left := w.left
	w.mu.Unlock()
	if !w.ended.Load() {
		toFront(w.ctx, left)
	}
}

func (w *window) setTitle(title string) {
	<-w.started
	wailsruntime.WindowSetTitle(w.ctx, title)
}

// quit ends the window and with it the program.
func (w *window) quit() {
	<-w.started
	if w.quitting.Swap(true) || w.ended.Load() {
		return
	}
	w.keep(w.ctx, w.settings(w.ctx).Theme)
	quitWindow(w.ctx)
}

func (w *window) awaitSignal(ctx context.Context) error {
	asked, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-asked.Done()
	if ctx.Err() == nil {
		w.log.Info("asked to end")
		w.quit()
	}
	return svc.ErrDone
}

// emitBatch sends what came down a stream to the page.
func (w *window) emitBatch(name string, batch bound.Batch) {
	w.mu.Lock()
	if batch.Done {
		delete(w.open, name)
	} else {
		w.open[name] = true
	}
	w.mu.Unlock()
	w.emit(name, batch)
}

func (w *window) emit(name string, value any) {
	<-w.started
	if !w.ended.Load() {
		wailsruntime.EventsEmit(w.ctx, name, value)
	}
}

// forgetStreams ends the streams of a page that is there no more. It is called before the new page runs.
func (w *window) forgetStreams() {
	w.mu.Lock()
	open := w.open
	w.open = map[string]bool{}
	w.mu.Unlock()
	for name := range open {
		w.streams.Cancel(strings.TrimPrefix(name, "stream:"))
	}
}

// folderLocked is the end of a window whose data folder another process holds without answering.
func (w *window) folderLocked(sentence string) {
	<-w.started
	fmt.Fprintln(os.Stderr, sentence)
	if runtime.GOOS == "linux" {
		sentence = strings.ReplaceAll(sentence, "%", "%%") // the library prints it by a format there
	}
	if _, err := wailsruntime.MessageDialog(w.ctx, wailsruntime.MessageDialogOptions{Type: wailsruntime.WarningDialog, Title: appTitle, Message: sentence}); err != nil {
		w.log.Warn("show dialog", "error", err)
	}
	w.failed.Store(true)
	w.quit()
}

// shorten gives enough of an address for the log; what stands behind its host may be private.
func shorten(address string) string {
	scheme, rest, whole := strings.Cut(address, "://")
	if !whole {
		scheme, _, _ = strings.Cut(address, ":")
		return scheme + ":"
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return scheme + "://" + host
}

// libraryLog takes the window library's log lines.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Print(m string)   { l.log.Info(m, "from", "window library") }
func (l libraryLog) Trace(m string)   { l.log.Debug(m, "from", "window library") }
func (l libraryLog) Debug(m string)   { l.log.Debug(m, "from", "window library") }
func (l libraryLog) Info(m string)    { l.log.Info(m, "from", "window library") }
func (l libraryLog) Warning(m string) { l.log.Warn(m, "from", "window library") }
func (l libraryLog) Error(m string)   { l.log.Error(m, "from", "window library") }
func (l libraryLog) Fatal(m string)   { l.log.Error(m, "from", "window library") }
