//go:build windowsmoke

package windowtest

import (
	"bufio"
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

	"sentient/backend/discovery"
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

// said tells whether the window has logged these words.
func (w *window) said(words string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.log.String(), words)
}

// find gives the id of our window on the screen, or "". Other windows come and go while it looks, which ends xdotool.
func find() string {
	for range 5 {
		out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Sentient").CombinedOutput()
		if err == nil {
			return firstWord(string(out))
		}
		if len(out) == 0 {
			return ""
		}
	}
	return ""
}

func visible() bool { return find() != "" }

// onWindow runs an xdotool command on our window.
func onWindow(t *testing.T, command string, args ...string) string {
	t.Helper()
	id := find()
	if id == "" {
		t.Fatalf("there is no window to %s", command)
	}
	switch command {
	case "windowsize", "windowmove", "windowactivate":
		args = append([]string{"--sync", id}, args...)
	default:
		args = append(args, id)
	}
	return run(t, "xdotool", append([]string{command}, args...)...)
}

// place gives where the window is and how large, in one line.
func place(t *testing.T) string {
	t.Helper()
	at := map[string]string{}
	for line := range strings.Lines(onWindow(t, "getwindowgeometry", "--shell")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		at[name] = value
	}
	return at["X"] + "," + at["Y"] + " " + at["WIDTH"] + "x" + at["HEIGHT"]
}

// closeWindow closes the window as its button does.
func closeWindow(t *testing.T) {
	t.Helper()
	onWindow(t, "windowactivate")
	run(t, "xdotool", "key", "--clearmodifiers", "alt+F4") // not to the window: the window manager takes it
}

// childOfOurs tells whether a process runs for the data folder: it names it, or was given it.
func childOfOurs(home string) bool {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a good one
	for _, p := range processes {
		for _, name := range []string{"cmdline", "environ"} {
			raw, err := os.ReadFile(filepath.Join(p, name)) // it may have ended in between
			if err == nil && strings.Contains(string(raw), home) {
				return true
			}
		}
	}
	return false
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

// still waits until two pictures in a row are alike but for a blinking cursor, and gives the last.
func still(t *testing.T, name string) image.Image {
	t.Helper()
	before := shot(t, name)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		time.Sleep(400 * time.Millisecond)
		now := shot(t, name)
		if differs(before, now) < 200 {
			return now
		}
		before = now
	}
	t.Fatal("the screen does not come to rest")
	return nil
}

// ink counts the dark pixels where a light page shows the first messages of a chat: above the greeting of an empty one.
func ink(img image.Image) int {
	b := img.Bounds()
	n := 0
	for y := b.Dy() / 6; y < b.Dy()*3/8; y++ {
		for x := b.Dx() / 3; x < b.Dx()*9/10; x++ {
			if r, g, _, _ := img.At(x, y).RGBA(); r < 0x7000 && g < 0x7000 {
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

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return word
}
