//go:build windowsmoke

package windowtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"sentient/backend/discovery"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

const patience = 60 * time.Second // a busy machine starts WebKit slowly

// eventually polls until ok gives true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if ok() {
			t.Log("seen:", what)
			return
		}
	}
	t.Fatalf("not seen within %s: %s", patience, what)
}

// tray is a stand-in for the part of a desktop that shows tray icons.
type tray struct {
	mu    sync.Mutex
	items []string // "sender/path" of registered icons
}

// RegisterStatusNotifierItem is the watcher's method that icons call.
func (w *tray) RegisterStatusNotifierItem(item string, sender dbus.Sender) *dbus.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(item, "/") {
		item = string(sender) + item
	}
	w.items = append(w.items, item)
	return nil
}

func (w *tray) first() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.items) == 0 {
		return ""
	}
	return w.items[len(w.items)-1]
}

// properties answers what icons ask of the watcher.
type properties struct{}

// Get gives a property.
func (properties) Get(_, name string) (dbus.Variant, *dbus.Error) {
	switch name {
	case "IsStatusNotifierHostRegistered":
		return dbus.MakeVariant(true), nil
	case "ProtocolVersion":
		return dbus.MakeVariant(int32(0)), nil
	}
	return dbus.MakeVariant([]string{}), nil
}

// GetAll gives all properties.
func (p properties) GetAll(string) (map[string]dbus.Variant, *dbus.Error) {
	host, _ := p.Get("", "IsStatusNotifierHostRegistered")
	version, _ := p.Get("", "ProtocolVersion")
	return map[string]dbus.Variant{"IsStatusNotifierHostRegistered": host, "ProtocolVersion": version}, nil
}

func startTray(t *testing.T) (*dbus.Conn, *tray) {
	t.Helper()
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	w := &tray{}
	const name, path = "org.kde.StatusNotifierWatcher", dbus.ObjectPath("/StatusNotifierWatcher")
	if err := bus.Export(w, path, name); err != nil {
		t.Fatal(err)
	}
	if err := bus.Export(properties{}, path, "org.freedesktop.DBus.Properties"); err != nil {
		t.Fatal(err)
	}
	if reply, err := bus.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return bus, w
}

// window is the running program.
type window struct {
	t     *testing.T
	cmd   *exec.Cmd
	home  string
	ready chan struct{}
	ended chan error
	mu    sync.Mutex
	log   strings.Builder
}

func start(t *testing.T, home string) *window {
	t.Helper()
	w := &window{t: t, home: home, ready: make(chan struct{}), ended: make(chan error, 1)}
	w.cmd = exec.Command(filepath.Join(os.Getenv("SENTIENT_BUILD"), "sentient-desktop"))
	w.cmd.Env = append(os.Environ(), "SENTIENT_HOME="+home, "SENTIENT_WINDOW_TEST=1")
	out, err := w.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		once := sync.OnceFunc(func() { close(w.ready) })
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			w.mu.Lock()
			w.log.WriteString(lines.Text() + "\n")
			w.mu.Unlock()
			if strings.HasPrefix(lines.Text(), "window ready") {
				once()
			}
		}
		w.ended <- w.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // it has usually ended already
		if t.Failed() {
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Logf("the window's output:\n%s", w.log.String())
		}
	})
	return w
}

func (w *window) awaitReady() {
	w.t.Helper()
	select {
	case <-w.ready:
	case err := <-w.ended:
		w.t.Fatalf("the window ended: %v", err)
	case <-time.After(patience):
		w.t.Fatal("the page was not loaded")
	}
}

func (w *window) awaitEnd() {
	w.t.Helper()
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Fatalf("exit: %v", err)
		}
	case <-time.After(patience):
		w.t.Fatal("the window did not end")
	}
}

// api asks the engine inside the window over its gateway.
func (w *window) api(path string, into any) error {
	engine, err := discovery.Read(w.home)
	if err != nil {
		return err
	}
	token, err := discovery.ReadToken(w.home)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodGet, engine.URL+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := (&http.Client{Timeout: 5 * time.Second}).Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// shot takes a picture of the screen.
func shot(t *testing.T, name string) image.Image {
	t.Helper()
	path := filepath.Join(os.Getenv("SENTIENT_PICTURES"), name+".png")
	run(t, "import", "-window", "root", path)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// differs counts the pixels that changed between two pictures.
func differs(a, b image.Image) int {
	n := 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				n++
			}
		}
	}
	return n
}

func configure(t *testing.T, home, model string) {
	t.Helper()
	text := fmt.Sprintf("assistant:\n  user_name: Maya\n  onboarding_complete: true\nui:\n  theme: light\nmodels:\n  roles:\n    primary: lm_studio/stub\n    fast: lm_studio/stub\n  providers:\n    lm_studio:\n      api_base: %s\n", model)
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// click presses an entry of the icon's menu by its words.
func click(t *testing.T, bus *dbus.Conn, item, words string) {
	t.Helper()
	sender, path, _ := strings.Cut(item, "/")
	object := bus.Object(sender, dbus.ObjectPath("/"+path))
	v, err := object.GetProperty("org.kde.StatusNotifierItem.Menu")
	if err != nil {
		t.Fatal(err)
	}
	menu := bus.Object(sender, v.Value().(dbus.ObjectPath))
	type layout struct {
		ID         int32
		Properties map[string]dbus.Variant
		Children   []dbus.Variant
	}
	var revision uint32
	var root layout
	if err := menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, child := range root.Children {
		var c layout
		if err := dbus.Store([]any{child.Value()}, &c); err != nil {
			t.Fatal(err)
		}
		label, _ := c.Properties["label"].Value().(string)
		labels = append(labels, label)
		if strings.Contains(strings.ReplaceAll(label, "_", ""), words) {
			if call := menu.Call("com.canonical.dbusmenu.Event", 0, c.ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0)); call.Err != nil {
				t.Fatal(call.Err)
			}
			return
		}
	}
	t.Fatalf("the menu has no %q: %v", words, labels)
}

// The window opens, its bound calls answer, a reply streams into it, the tray's entries work, and it closes clean.
func TestWindow(t *testing.T) {
	model, err := scripted.ServeBy(func(scripted.Recorded) scripted.Play {
		return scripted.Stream(scripted.Text("The harbour "), scripted.Text("light is on, and the boats are home."), scripted.End(llm.FinishStop, llm.Usage{}))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	bus, icons := startTray(t)
	home := t.TempDir()
	configure(t, home, model.URL)
	w := start(t, home)
	w.awaitReady()

	eventually(t, "a visible window named Sentient", func() bool {
		out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Sentient").Output()
		return err == nil && len(strings.TrimSpace(string(out))) > 0
	})
	eventually(t, "the engine inside answers", func() bool {
		var b struct{ Version string }
		return w.api("/api/bootstrap", &b) == nil && b.Version != ""
	})
	// The page has drawn itself when two pictures in a row are alike and not of one colour.
	var before image.Image
	eventually(t, "the page is drawn", func() bool {
		before = shot(t, "window-opened")
		time.Sleep(500 * time.Millisecond)
		return differs(before, shot(t, "window-opened")) < 500 && colours(before) > 50
	})

	run(t, "xdotool", "type", "--delay", "30", "Is the light on?")
	run(t, "xdotool", "key", "Return")
	eventually(t, "the message and its reply are in the chat", func() bool {
		var chats []struct{ ID string }
		if w.api("/api/sessions", &chats) != nil || len(chats) != 1 {
			return false
		}
		var rows []struct{ Role, Content string }
		if w.api("/api/sessions/"+chats[0].ID+"/messages", &rows) != nil || len(rows) != 2 {
			return false
		}
		return rows[0].Content == "Is the light on?" && strings.HasSuffix(rows[1].Content, "the boats are home.")
	})
	eventually(t, "the reply is drawn", func() bool { return differs(before, shot(t, "window-replied")) > 4000 })

	eventually(t, "the icon in the tray", func() bool { return icons.first() != "" })
	run(t, "xdotool", "search", "--onlyvisible", "--name", "^Sentient", "windowminimize")
	click(t, bus, icons.first(), "Open")
	eventually(t, "Open brings the window back", func() bool {
		out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Sentient").Output()
		return err == nil && len(strings.TrimSpace(string(out))) > 0
	})
	click(t, bus, icons.first(), "Quit")
	w.awaitEnd()
	eventually(t, "no process is left", func() bool {
		out, _ := exec.Command("pgrep", "-f", home).Output()
		return len(strings.TrimSpace(string(out))) == 0
	})
	if _, err := discovery.Read(home); err == nil {
		t.Error("the discovery file is still there")
	}
}

// A window that is asked to end by the system ends with status 0 and leaves nothing.
func TestWindowEndsOnSignal(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	w := start(t, home)
	w.awaitReady()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.awaitEnd()
}

// A second window of the same folder brings the first one forward and ends at once.
func TestSecondWindow(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	first := start(t, home)
	first.awaitReady()
	second := start(t, home)
	second.awaitEnd()
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	first.awaitEnd()
}

// A window beside a running engine uses that engine.
func TestWindowAttaches(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	serve := exec.CommandContext(ctx, filepath.Join(os.Getenv("SENTIENT_BUILD"), "sentient"), "serve", "--port", "0")
	serve.Env = append(os.Environ(), "SENTIENT_HOME="+home)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine listens", func() bool { _, err := discovery.Read(home); return err == nil })
	before, err := discovery.Read(home)
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, home)
	w.awaitReady()
	if after, err := discovery.Read(home); err != nil || after != before {
		t.Errorf("another engine took over: %v, %v", after, err)
	}
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.awaitEnd()
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("the engine: %v", err)
	}
}

func colours(img image.Image) int {
	seen := map[[3]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}
