//go:build clients

package clienttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hangLimit is how long a client may take for all its cases.
const hangLimit = 3 * time.Minute

func engineFlag() func() bool {
	on := flag.Bool("engine", false, "drive the built program, not the API over scripted turns")
	return func() bool { return *on }
}

var ofEngine = engineFlag()

// target is what the clients talk to.
type target struct {
	base, off string // addresses of the API, and of one that is switched off
	key       string
	gates     *gates
	stop      func() error                        // Stop everything
	replies   func(user string) ([]string, error) // the whole replies in the chat of a user
}

// cases are what each client has to print a line for.
var cases = []string{"models", "chat", "stream", "parts", "no text", "wrong key", "off", "busy", "error", "error in a stream", "cut off", "quiet", "stop", "hang up"}

// verdict is a line that a client prints.
type verdict struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Skip   string `json:"skip"`
}

func TestOfficialClients(t *testing.T) {
	t.Parallel()
	to := scriptedTarget
	if ofEngine() {
		to = engineTarget
	}
	tools := tools()
	for _, c := range []struct {
		name, program string
		args          []string
	}{
		{"node", "node", []string{"cases.cjs"}},
		{"python", filepath.Join(tools, "venv", "bin", "python"), []string{"cases.py"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(filepath.Join(tools, "ready")); err != nil {
				cannot(t, "OpenAI's clients are not there: run ./task setup first")
			}
			target := to(t)
			got := run(t, target, c.name, exec.Command(c.program, c.args...), tools)
			for _, name := range cases {
				t.Run(name, func(t *testing.T) {
					i := slices.IndexFunc(got, func(v verdict) bool { return v.Name == name })
					switch {
					case i < 0:
						t.Error("the client did not come to it")
					case got[i].Skip != "":
						t.Skip(got[i].Skip)
					case !got[i].OK:
						t.Error(got[i].Detail)
					}
				})
			}
			for _, v := range got {
				if !slices.Contains(cases, v.Name) {
					t.Errorf("%q is in no list", v.Name)
				}
			}
		})
	}
}

// tools is where the clients are.
func tools() string {
	dir, err := filepath.Abs(filepath.Join("..", "cache", "clienttest"))
	if err != nil {
		panic(err)
	}
	return dir
}

// cannot skips a test for a reason that lies in the machine; in CI that is a failure.
func cannot(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// run runs a client to its end.
func run(t *testing.T, to target, name string, cmd *exec.Cmd, tools string) []verdict {
	t.Helper()
	control := httptest.NewServer(to.control())
	defer control.Close()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "API_BASE="+to.base, "API_OFF="+to.off, "API_KEY="+to.key, "API_CONTROL="+control.URL, "API_CLIENT="+name,
		"NODE_PATH="+filepath.Join(tools, "node_modules"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(hangLimit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !timer.Stop() {
		t.Errorf("the client hangs")
	}
	var all []verdict
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var v verdict
		if json.Unmarshal(lines.Bytes(), &v) != nil || v.Name == "" {
			t.Errorf("the client printed %q", lines.Text())
			continue
		}
		all = append(all, v)
	}
	if err != nil {
		t.Errorf("the client ended with %v\n%s", err, errs.String())
	}
	return all
}

// control lets the clients do what is not of the API: open a gate, stop everything, look at what a chat was told.
func (to target) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /open/{gate}", func(_ http.ResponseWriter, r *http.Request) { to.gates.open(r.PathValue("gate")) })
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		if err := to.stop(); err != nil {
			http.Error(w, err.Error(), http.StatusNotImplemented)
		}
	})
	mux.HandleFunc("GET /replies/{user}", func(w http.ResponseWriter, r *http.Request) {
		all, err := to.replies(r.PathValue("user"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(all) // the client is on this computer and waits for it
	})
	return mux
}

// gates are what held replies wait for, by name.
type gates struct {
	mu sync.Mutex
	m  map[string]chan struct{}
}

func newGates() *gates { return &gates{m: map[string]chan struct{}{}} }

func (g *gates) of(name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.m[name] == nil {
		g.m[name] = make(chan struct{})
	}
	return g.m[name]
}

func (g *gates) open(name string) { close(g.of(name)) }
