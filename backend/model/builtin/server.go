package builtin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sentient/backend/llm"
)

// server is one llama-server process. ready, users and lastUse belong to Service.mu; the rest is set once.
type server struct {
	model   *found
	context int
	url     string // http://127.0.0.1:port
	key     string
	ask     llm.Model
	cmd     *exec.Cmd
	out     *tail
	untie   func() // lets go of what ends the process with the engine; called when it is gone
	// life ends when the process has ended or is about to be ended; its cause says why. Every request to the server
	// hangs on it, so that streams are closed first: the server takes up to 30 s to stop around an open one.
	life context.Context
	end  context.CancelCauseFunc
	// exited is closed when the process is gone; exit is its error, readable after that.
	exited chan struct{}
	exit   error

	ready   bool
	users   int
	lastUse time.Time
}

// Why a server's life ends.
var (
	errExited   = errors.New("the server ended by itself")
	errIdle     = errors.New("the server was not used")
	errReplaced = errors.New("the server makes way for another one")
	errClosing  = errors.New("the engine stops")
)

// The times of a server's life.
const (
	// loadLimit is for a large model from a slow disk; a small one takes seconds.
	loadLimit = 5 * time.Minute
	// streamGrace is how long requests get to notice that their server is about to end.
	streamGrace = time.Second
	// termGrace is how long the server gets to end on its own once its streams are closed.
	termGrace = 4 * time.Second
	// firstPoll and lastPoll are the gaps between two looks at /health while it loads.
	firstPoll = 50 * time.Millisecond
	lastPoll  = 500 * time.Millisecond
	// oneLook caps one answer of /health or /v1/models.
	oneLook = 5 * time.Second
)

// cacheRAM is how much memory, in MiB, the server may use for earlier prompts. Its own default of 8 GiB has brought whole
// computers down.
const cacheRAM = 512

// start launches the program on a free loopback port. It must be called on the locked thread of Serve.
func (s *Service) start(f *found) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	sv := &server{model: f, context: s.contextFor(f), key: rand.Text(), out: &tail{}, exited: make(chan struct{}),
		url: "http://127.0.0.1:" + strconv.Itoa(port)}
	sv.ask = s.o.Adapter(sv.url+"/v1", sv.key)
	sv.cmd = exec.Command(f.program[0], arguments(f, port, sv.context, s.threads())...)
	sv.cmd.Env = environment(os.Environ(), sv.key, filepath.Dir(f.program[0]))
	sv.cmd.Dir = filepath.Dir(f.program[0]) // it looks for parts of itself there
	sv.cmd.Stdout, sv.cmd.Stderr = sv.out, sv.out
	sv.cmd.WaitDelay = termGrace
	// The lifeline: its other end closes with the engine, in whatever way that ends. Our launcher watches it; the real
	// llama-server does not, so tie does the same by the system's means.
	if _, err := sv.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("make the lifeline: %w", err)
	}
	ownGroup(sv.cmd)
	if err := sv.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the model's program: %w", err)
	}
	if sv.untie, err = tie(sv.cmd); err != nil {
		s.o.Log.Warn("built-in model is not tied to the engine", "error", err)
		sv.untie = func() {}
	}
	sv.life, sv.end = context.WithCancelCause(context.Background())
	s.writeRecord(sv)
	return sv, nil
}

// arguments are those of llama-server, which our launcher takes too. The key is not among them: every program of the
// computer can read them.
func arguments(f *found, port, contextLength, threads int) []string {
	args := append([]string{}, f.program[1:]...)
	args = append(args, f.args...)
	args = append(args, "--model", f.File, "--alias", f.Name, "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--ctx-size", strconv.Itoa(contextLength), "--threads", strconv.Itoa(threads), "--parallel", "1",
		"--cache-ram", strconv.Itoa(cacheRAM), "--jinja")
	if f.Template != "" {
		args = append(args, "--chat-template-file", f.Template)
	}
	for _, stop := range f.Stops {
		args = append(args, "--reverse-prompt", stop)
	}
	return args
}

// environment is ours without what would configure another llama-server, plus the key and the folder of its libraries.
func environment(ours []string, key, libraries string) []string {
	var env []string
	for _, e := range ours {
		name, value, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "LLAMA_") {
			continue
		}
		if name == "LD_LIBRARY_PATH" {
			libraries += string(os.PathListSeparator) + value
			continue
		}
		env = append(env, e)
	}
	if runtime.GOOS == "linux" {
		env = append(env, "LD_LIBRARY_PATH="+libraries)
	}
	return append(env, "LLAMA_API_KEY="+key, "LLAMA_ARG_UI=0")
}

// threads leaves a core free: they spin, and all of them wait when one has to wait for a core.
func (s *Service) threads() int { return max(1, s.o.Cores-1) }

// freePort asks the system for a port. Somebody may take it before the server does; then the server ends at once and
// the start is tried again.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// load waits until the server has its model and is proven to be the one we started.
func (s *Service) load(ctx context.Context, sv *server) error {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	for gap := firstPoll; ; gap = min(2*gap, lastPoll) {
		status, _, err := s.look(ctx, sv, "/health")
		if err == nil && status == http.StatusOK {
			break
		}
		timer := s.o.Clock.NewTimer(gap)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("wait for the model: %w", context.Cause(ctx))
		case <-timer.C():
		}
	}
	// Another program may have got the port. Only ours knows the key and the model's name.
	status, body, err := s.look(ctx, sv, "/v1/models")
	if err != nil {
		return fmt.Errorf("ask which model it is: %w", err)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if status != http.StatusOK || json.Unmarshal(body, &list) != nil || len(list.Data) == 0 || list.Data[0].ID != sv.model.Name {
		return fmt.Errorf("ask which model it is: status %d, not our server", status)
	}
	return nil
}

// look asks the server one thing, with a time and a size limit.
func (s *Service) look(ctx context.Context, sv *server, path string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, oneLook)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, sv.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+sv.key)
	res, err := s.o.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, body, err
}

// stop ends the process: streams first, then a request, then by force. It comes back when the process is gone.
func (s *Service) stop(sv *server, why error) {
	sv.end(why)
	s.waitUnused(sv, streamGrace)
	if gone(sv.exited) {
		return
	}
	terminate(sv.cmd)
	if s.waitExit(sv, termGrace) {
		return
	}
	s.o.Log.Warn("built-in model does not stop, killing it")
	kill(sv.cmd)
	<-sv.exited
}

func (s *Service) waitExit(sv *server, d time.Duration) bool {
	timer := s.o.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-sv.exited:
		return true
	case <-timer.C():
		return false
	}
}

func (s *Service) waitUnused(sv *server, d time.Duration) {
	timer := s.o.Clock.NewTimer(d)
	defer timer.Stop()
	for {
		s.mu.Lock()
		users, changed := sv.users, s.changed
		s.mu.Unlock()
		if users == 0 {
			return
		}
		select {
		case <-changed:
		case <-sv.exited:
			return
		case <-timer.C():
			return
		}
	}
}

func gone(exited <-chan struct{}) bool {
	select {
	case <-exited:
		return true
	default:
		return false
	}
}
