//go:build program

package programtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// person is a made-up person's computer: a home folder and a data folder.
type person struct {
	t    testing.TB
	user string // HOME
	home string // SENTIENT_HOME
	env  []string
	as   *syscall.Credential // whom the program runs as; nil: as we do
	bin  string
	last *engine // the newest one
}

func newPerson(t testing.TB) *person {
	t.Helper()
	dir := t.TempDir()
	return personAt(t, dir, filepath.Join(dir, "data"))
}

func personAt(t testing.TB, user, home string) *person {
	return &person{t: t, user: user, home: home, bin: program(), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + user, "SENTIENT_HOME=" + home, "TZ=UTC",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent", // no keychain
	}}
}

// configure writes config.yaml so that the stub answers.
func (p *person) configure(s *stub, more string) {
	p.t.Helper()
	must(p.t, os.MkdirAll(p.home, 0o700))
	must(p.t, os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(settings(s)+more), 0o600))
}

func settings(s *stub) string {
	return fmt.Sprintf("version: 1\nchat:\n  auto_title: false\nmodels:\n  roles:\n    primary: lm_studio/stub\n    fast: lm_studio/stub\n  providers:\n    lm_studio:\n      api_base: %s\n", s.URL)
}

// file reads a file of the data folder; nil when it is not there.
func (p *person) file(name string) []byte {
	raw, err := os.ReadFile(filepath.Join(p.home, name))
	if err != nil && !os.IsNotExist(err) {
		p.t.Error(err)
	}
	return raw
}

func (p *person) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.bin, args...)
	cmd.Env, cmd.Dir = p.env, p.user
	// A test that is interrupted leaves no engine behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// ran is what a command line said and how it ended.
type ran struct {
	out, err string
	status   int
}

// run runs a command to its end.
func (p *person) run(args ...string) ran {
	p.t.Helper()
	cmd := p.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	must(p.t, cmd.Start())
	timer := time.AfterFunc(hangLimit, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // its exit status tells
	if !timer.Stop() {
		p.t.Fatalf("sentient %s hangs\n%s%s", strings.Join(args, " "), out.String(), errs.String())
	}
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// engine is a running `sentient serve`.
type engine struct {
	*person
	cmd   *exec.Cmd
	out   *buffer
	log   *buffer
	ended chan struct{}
	took  time.Duration // from its start until it said that it is ready
	url   string
	link  string
	token string
	http  *http.Client
}

// buffer is what a process has said so far.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

var (
	readyLine = regexp.MustCompile(`Sentient is ready at (http://\S+)`)
	linkLine  = regexp.MustCompile(`(http://\S+/open\?code=\S+)`)
)

// serve starts an engine on any free port and waits until it is ready.
func (p *person) serve(args ...string) *engine {
	p.t.Helper()
	if len(args) == 0 {
		args = []string{"--port", "0"}
	}
	e := p.begin(args...)
	if !e.ready() {
		p.t.Fatalf("the engine did not start (status %d)\n%s%s", e.cmd.ProcessState.ExitCode(), e.out, e.log)
	}
	return e
}

// begin starts an engine and does not wait.
func (p *person) begin(args ...string) *engine {
	p.t.Helper()
	e := &engine{person: p, cmd: p.command(append([]string{"serve"}, args...)...), out: &buffer{}, log: &buffer{}, ended: make(chan struct{}),
		http: &http.Client{Timeout: hangLimit, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	e.cmd.Stdout, e.cmd.Stderr = e.out, e.log
	p.last = e
	start := time.Now()
	must(p.t, e.cmd.Start())
	var wait sync.WaitGroup
	wait.Go(func() {
		_ = e.cmd.Wait() // its exit status tells
		close(e.ended)
	})
	p.t.Cleanup(func() {
		_ = e.cmd.Process.Kill() // usually it has ended
		wait.Wait()
		e.http.CloseIdleConnections()
		if p.t.Failed() && p.last == e {
			p.t.Logf("the engine's log:\n%s", tail(e.log.String(), 4000))
		}
	})
	within(hangLimit, func() bool { return e.isReady() || e.hasEnded() })
	e.took = time.Since(start)
	return e
}

func (e *engine) isReady() bool {
	m := readyLine.FindStringSubmatch(e.out.String())
	l := linkLine.FindStringSubmatch(e.out.String())
	if m == nil || l == nil {
		return false
	}
	e.url, e.link = m[1], l[1]
	raw, err := os.ReadFile(filepath.Join(e.home, "gateway.token"))
	e.token = strings.TrimSpace(string(raw))
	return err == nil
}

func (e *engine) ready() bool { return e.url != "" && e.token != "" }

func (e *engine) hasEnded() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// kill ends the process as a crash would.
func (e *engine) kill() {
	e.t.Helper()
	must(e.t, e.cmd.Process.Signal(syscall.SIGKILL))
	<-e.ended
	e.http.CloseIdleConnections()
}

// stop ends the engine in order and wants status 0.
func (e *engine) stop() {
	e.t.Helper()
	e.signal(syscall.SIGTERM)
	if code := e.cmd.ProcessState.ExitCode(); code != 0 {
		e.t.Errorf("status %d after a stop in order\n%s", code, tail(e.log.String(), 4000))
	}
}

func (e *engine) signal(s os.Signal) {
	e.t.Helper()
	must(e.t, e.cmd.Process.Signal(s))
	select {
	case <-e.ended:
	case <-time.After(hangLimit):
		e.t.Fatalf("the engine does not stop\n%s", tail(e.log.String(), 4000))
	}
	e.http.CloseIdleConnections()
}

func (e *engine) host() string { return strings.TrimPrefix(e.url, "http://") }

func (e *engine) pid() int { return e.cmd.Process.Pid }

// openFiles counts the process's file descriptors.
func (e *engine) openFiles() int {
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(e.pid()), "fd"))
	must(e.t, err)
	return len(entries)
}

var rssLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// memory is the process's resident memory in MB.
func (e *engine) memory() float64 {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(e.pid()), "status"))
	must(e.t, err)
	m := rssLine.FindSubmatch(raw)
	if m == nil {
		return 0
	}
	kb, _ := strconv.ParseFloat(string(m[1]), 64) // digits, by the pattern
	return kb / 1024
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // it got no answer
}

// problem is the shape of every refusal.
type problem struct {
	Detail    json.RawMessage `json:"detail"`
	Code      string          `json:"code"`
	RequestID string          `json:"request_id"`
}

func (a answer) problem() (p problem) {
	_ = json.Unmarshal(a.body, &p) // an answer of another shape has no code
	return p
}

// sentence is the refusal's detail, where it is one sentence.
func (a answer) sentence() (s string) {
	_ = json.Unmarshal(a.problem().Detail, &s) // a list of fields is none
	return s
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %s", a.status, tail(string(a.body), 300))
}

// isSentence tells whether a text is what a person may read: a capital, a full stop, nothing of Go.
func isSentence(s string) bool {
	return len(s) > 10 && strings.ToUpper(s[:1]) == s[:1] && strings.HasSuffix(s, ".") &&
		!strings.Contains(s, "0x") && !strings.Contains(s, "goroutine") && !strings.Contains(s, ".go:") && !strings.Contains(s, "SQLITE")
}

// call sends a request with the folder's token.
func (e *engine) call(method, path string, body any) answer {
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		must(e.t, err)
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, e.url+path, r)
	must(e.t, err)
	req.Header.Set("Authorization", "Bearer "+e.token)
	return e.send(req)
}

func (e *engine) send(req *http.Request) answer {
	res, err := e.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: raw, err: err}
}

// get calls and decodes; the test ends when the answer is no 200.
func get[T any](e *engine, path string) T {
	e.t.Helper()
	return want[T](e, "GET", path, nil)
}

func want[T any](e *engine, method, path string, body any) (v T) {
	e.t.Helper()
	a := e.call(method, path, body)
	if a.err != nil || a.status != http.StatusOK {
		e.t.Fatalf("%s %s: %s", method, path, a)
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		e.t.Fatalf("%s %s: %v in %s", method, path, err, a)
	}
	return v
}

// What the tests read of answers.
type (
	chat struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	message struct {
		ID        string  `json:"id"`
		Role      string  `json:"role"`
		Name      *string `json:"name"`
		Content   string  `json:"content"`
		Cancelled bool    `json:"cancelled"`
	}
	notification struct {
		ID      string `json:"id"`
		Message string `json:"message"`
	}
	safeMode struct {
		Reason   string `json:"reason"`
		Sentence string `json:"sentence"`
	}
	bootstrap struct {
		Version   string `json:"version"`
		Assistant struct {
			UserName string `json:"user_name"`
		} `json:"assistant"`
		Notes    []string  `json:"notes"`
		SafeMode *safeMode `json:"safe_mode"`
	}
)

func (e *engine) messages(chat string) []message {
	e.t.Helper()
	return get[[]message](e, "/api/sessions/"+chat+"/messages?limit=5000")
}

func (e *engine) notifications() []notification {
	e.t.Helper()
	return get[struct {
		Notifications []notification `json:"notifications"`
	}](e, "/api/notifications?limit=500").Notifications
}

// decoded reads an answer's body.
func decoded[T any](t testing.TB, a answer) (v T) {
	t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Errorf("decode %s: %v", a, err)
	}
	return v
}
