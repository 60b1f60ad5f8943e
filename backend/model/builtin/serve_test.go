//go:build unix

package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

func TestRefusesWithoutAModel(t *testing.T) {
	w := build(t, nil, nil)
	if err := os.Remove(filepath.Join(w.home, "models", "tiny.gguf")); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.ask(t.Context(), "hi")
	if !errs.Is(err, errs.Unavailable) || errs.Code(err) != llm.CodeModelUnknown {
		t.Errorf("got %v, want a plain refusal", err)
	}
	if st := w.svc.Status(t.Context()); st.State != Missing || st.Model != nil || st.Program.Present || len(w.starts()) != 0 {
		t.Errorf("status %+v, %d starts", st, len(w.starts()))
	}
	if name, ok := w.svc.Present(); ok || w.svc.ContextLength() != 0 {
		t.Errorf("present %q", name)
	}
}

func TestRefusesWhenNotServing(t *testing.T) {
	w := build(t, nil, nil)
	w.close()
	if _, _, err := w.ask(t.Context(), "hi"); errs.From(err).Message != errStopping.Message {
		t.Errorf("got %v", err)
	}
}

func TestAnswersAndLeavesNothingBehind(t *testing.T) {
	w := build(t, []string{"--stdin-lifeline"}, nil)
	if st := w.svc.Status(t.Context()); st.State != Ready || !st.Model.Weak || len(w.starts()) != 0 {
		t.Errorf("before the first question: %+v, %d starts", st, len(w.starts()))
	}
	reply, deltas, err := w.ask(t.Context(), "hi")
	if err != nil || reply.Text != "one two" {
		t.Fatalf("got %q, %v", reply.Text, err)
	}
	if len(deltas) != 3 || deltas[0].Note == "" || deltas[1].Text != "one" || deltas[2].Text != " two" {
		t.Errorf("deltas %+v", deltas)
	}
	if st := w.svc.Status(t.Context()); st.State != Running {
		t.Errorf("status %+v", st)
	}
	if _, deltas, _ := w.ask(t.Context(), "hi"); deltas[0].Note != "" {
		t.Error("a loaded model says that it starts")
	}
	pid := w.lastPID()
	if _, err := os.Stat(w.svc.recordPath()); err != nil || len(w.starts()) != 1 || !alive(pid) {
		t.Errorf("record %v, starts %v", err, w.starts())
	}
	w.close()
	if _, err := os.Stat(w.svc.recordPath()); err == nil || alive(pid) {
		t.Error("something is left after Close")
	}
}

func TestKeyIsNotOnTheCommandLine(t *testing.T) {
	w := build(t, nil, nil)
	if _, _, err := w.ask(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	w.svc.mu.Lock()
	key, args := w.svc.server.key, w.svc.server.cmd.Args
	w.svc.mu.Unlock()
	if strings.Contains(strings.Join(args, " "), key) {
		t.Error("every program of this computer can read the key")
	}
	env := environment([]string{"LLAMA_ARG_HOST=0.0.0.0", "LLAMA_API_KEY=mine", "HOME=/h"}, "k", "/lib")
	if got := strings.Join(env, " "); strings.Contains(got, "0.0.0.0") || strings.Contains(got, "mine") || !strings.Contains(got, "HOME=/h") {
		t.Errorf("environment %q", got)
	}
}

func TestRequestFitsTheModel(t *testing.T) {
	w := build(t, nil, nil)
	req := question("echo")
	req.Model, req.Stop = "builtin/whatever", []string{"mine"}
	reply, err := w.svc.Model().Stream(t.Context(), req, func(llm.Delta) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var got llm.Request
	if err := json.Unmarshal([]byte(reply.Text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Model != "tiny" || got.Tools != nil || strings.Join(got.Stop, "|") != "mine|\nUser:" || got.MaxTokens != weakTokens || got.Temperature == nil {
		t.Errorf("asked %+v", got)
	}
	strong := fit(req, &found{indexModel: indexModel{Name: "s", Tools: true}})
	if len(strong.Tools) != 1 || strong.MaxTokens != 0 || strong.Temperature != nil {
		t.Errorf("a strong model was asked %+v", strong)
	}
}

func TestNeverTwoAtOnce(t *testing.T) {
	w := build(t, nil, nil)
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			if _, _, err := w.ask(t.Context(), "hi"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(w.starts()) != 1 {
		t.Errorf("starts %v", w.starts())
	}
}

func TestDiesInTheMiddleAndComesBack(t *testing.T) {
	w := build(t, nil, nil)
	for range 2 { // the second death waits a moment before the third start
		reply, _, err := w.ask(t.Context(), "die")
		if errs.From(err).Message != errDied.Message || errs.Code(err) != llm.CodeBroken || reply.Text != "one" {
			t.Fatalf("got %q, %v", reply.Text, err)
		}
	}
	eventually(t, "the status says so", func() bool {
		st := w.svc.Status(t.Context())
		return st.State == Failed && st.Message == errDied.Message
	})
	if reply, _, err := w.ask(t.Context(), "hi"); err != nil || reply.Text != "one two" {
		t.Errorf("the next question: %q, %v", reply.Text, err)
	}
}

func TestDoesNotStart(t *testing.T) {
	w := build(t, []string{"--broken", "no such model"}, nil)
	for i := range 2 { // each question is its own try
		if _, _, err := w.ask(t.Context(), "hi"); errs.From(err).Message != notStarted {
			t.Fatalf("got %v", err)
		}
		if len(w.starts()) != i+1 {
			t.Errorf("starts %v", w.starts())
		}
	}
	if st := w.svc.Status(t.Context()); st.State != Failed || st.Message != notStarted {
		t.Errorf("status %+v", st)
	}
}

func TestNamesWhatTheSystemLacks(t *testing.T) {
	w := build(t, []string{"--broken", "llama-server: error while loading shared libraries: libgomp.so.1: cannot open shared object file: No such file or directory"}, nil)
	if _, _, err := w.ask(t.Context(), "hi"); !strings.Contains(errs.From(err).Message, "not installed: libgomp.so.1. Install it") {
		t.Errorf("got %v", err)
	}
}

func TestQuestionsWaitForTheService(t *testing.T) {
	w := build(t, nil, nil)
	w.close()
	w.svc = New(w.opts)
	result := make(chan error, 1)
	noted := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_, err := w.svc.Model().Stream(t.Context(), question("hi"), func(d llm.Delta) error {
			if d.Note != "" {
				close(noted)
			}
			return nil
		})
		result <- err
	})
	<-noted
	w.tree = svc.NewTree("late", obs.Discard())
	w.tree.Add(w.svc)
	if err := <-result; err != nil {
		t.Error(err)
	}
	group.Wait()
}

func TestCannotRun(t *testing.T) {
	w := build(t, nil, nil)
	w.write("not-a-program", "?")
	w.writeIndex(index{Program: []string{"not-a-program"}, Models: []indexModel{{Name: "x", File: "tiny.gguf"}}})
	if _, _, err := w.ask(t.Context(), "hi"); errs.From(err).Message != cannotRun {
		t.Errorf("got %v", err)
	}
}

func TestCancelLeavesTheServerUp(t *testing.T) {
	w := build(t, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.svc.Model().Stream(ctx, question("hang"), func(d llm.Delta) error {
		if d.Text != "" {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	mine := errors.New("enough")
	_, err = w.svc.Model().Stream(t.Context(), question("hi"), func(llm.Delta) error { return mine })
	if !errors.Is(err, mine) {
		t.Errorf("each's own error came out as %v", err)
	}
	if _, _, err := w.ask(t.Context(), "hi"); err != nil || len(w.starts()) != 1 {
		t.Errorf("next: %v, starts %v", err, w.starts())
	}
}

func TestCloseEndsAnOpenStream(t *testing.T) {
	w := build(t, []string{"--deaf"}, nil) // not even a server that ignores the signal stays
	begun := make(chan struct{})
	result := make(chan error, 1)
	var group sync.WaitGroup
	group.Go(func() {
		_, err := w.svc.Model().Stream(t.Context(), question("hang"), func(d llm.Delta) error {
			if d.Text != "" {
				close(begun)
			}
			return nil
		})
		result <- err
	})
	<-begun
	pid := w.lastPID()
	w.close()
	if err := <-result; errs.From(err).Message != errStopping.Message {
		t.Errorf("the open stream ended with %v", err)
	}
	if alive(pid) {
		t.Error("the server is left")
	}
	group.Wait()
}

func TestIdleServerIsUnloaded(t *testing.T) {
	w := build(t, nil, func(o *Options, _ *indexModel) { o.Idle = 20 * time.Millisecond })
	if _, _, err := w.ask(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	pid := w.lastPID()
	eventually(t, "the idle server is gone", func() bool {
		return !alive(pid) && w.svc.Status(t.Context()).State == Ready
	})
	if _, _, err := w.ask(t.Context(), "hi"); err != nil || len(w.starts()) != 2 {
		t.Errorf("next: %v, starts %v", err, w.starts())
	}
}

func TestContextLengthChangeTakesANewServer(t *testing.T) {
	var mu sync.Mutex
	length := 1 << 20
	w := build(t, nil, func(o *Options, m *indexModel) {
		m.MaxContext = 4096
		o.ContextLength = func() int { mu.Lock(); defer mu.Unlock(); return length }
	})
	if _, _, err := w.ask(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	if w.svc.ContextLength() != 4096 {
		t.Errorf("not capped: %d", w.svc.ContextLength())
	}
	mu.Lock()
	length = 2048
	mu.Unlock()
	if _, _, err := w.ask(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	if s := w.starts(); len(s) != 2 || !strings.HasSuffix(s[0], " 4096") || !strings.HasSuffix(s[1], " 2048") {
		t.Errorf("starts %v", s)
	}
}

func TestLeftoverIsEndedWhenItIsOurs(t *testing.T) {
	w := build(t, nil, nil)
	if _, _, err := w.ask(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	args := w.svc.server.cmd.Args[1:]
	w.close()

	left := func() *exec.Cmd {
		cmd := exec.Command(w.svc.server0(t), args...)
		cmd.Env = append(os.Environ(), "LLAMA_API_KEY=x")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // not tied to us, as after an engine's death
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { kill(cmd); _ = cmd.Wait() })
		return cmd
	}
	record := func(pid int, args []string) {
		data, _ := json.Marshal(record{PID: pid, Args: args})
		w.write(recordName, string(data))
	}

	stranger := left()
	record(stranger.Process.Pid, append([]string{"stub"}, "--port", "1"))
	w.restart()
	if !alive(stranger.Process.Pid) {
		t.Error("a process that is not beyond doubt ours was killed")
	}
	w.close()

	ours := left()
	record(ours.Process.Pid, args)
	w.restart()
	if alive(ours.Process.Pid) {
		t.Error("the leftover is still there")
	}
	if _, err := os.Stat(w.svc.recordPath()); err == nil {
		t.Error("its record is still there")
	}
	w.close()
	w.write(recordName, `{"pid":`)
	w.restart() // a damaged record stops nothing
}

// server0 gives the program of the index.
func (s *Service) server0(t *testing.T) string {
	f, err := s.find()
	if f == nil {
		t.Fatal(err)
	}
	return f.program[0]
}

// engine is an engine that starts its model, says which server it has and then never ends by itself.
func engine(args []string) {
	o := Options{Home: args[0], HTTP: &http.Client{}, Clock: clock.Real{}, Log: obs.Discard()}
	if o.Checkout = args[1]; o.Checkout == "" {
		o.Adapter = func(url, key string) llm.Model { return plain{url, key, o.HTTP} }
	}
	s := New(o)
	tree := svc.NewTree("engine", obs.Discard())
	tree.Add(s)
	_, _ = s.Model().Stream(context.Background(), question("hang"), func(d llm.Delta) error {
		if d.Note != "" {
			return nil
		}
		_, err := os.Stdout.WriteString(strconv.Itoa(s.server.cmd.Process.Pid) + "\n")
		return err
	})
	select {}
}

// killedEngine starts an engine, kills it in the middle of an answer and gives the process number of its server.
func killedEngine(t *testing.T, home, checkout string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "engine", home, checkout)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if !alive(pid) {
		t.Error("the server is not there at all")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return pid
}

func TestNothingIsLeftWhenTheEngineIsKilled(t *testing.T) {
	// Once with a program that watches its lifeline, once with one that does not, as the real llama-server.
	for _, stubArgs := range [][]string{{"--stdin-lifeline"}, {}} {
		w := build(t, stubArgs, nil)
		w.close()
		for range 3 {
			pid := killedEngine(t, w.home, "")
			eventually(t, "the killed engine's server is gone", func() bool { return !alive(pid) })
		}
	}
}

func TestLifeline(t *testing.T) {
	start := func() *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", "sleep 600 & wait")
		ownGroup(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { kill(cmd); _ = cmd.Wait() })
		return cmd
	}
	let := start()
	untie, err := lifeline(let.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	untie()
	if !alive(let.Process.Pid) {
		t.Error("letting go killed the server")
	}

	// A shell that is killed closes its end of the watcher's input as an engine does.
	tied := start()
	watcher := exec.Command("/bin/sh", "-c", `cat >/dev/null; kill -9 "-$1" 2>/dev/null`, "sh", strconv.Itoa(tied.Process.Pid))
	in, err := watcher.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watcher.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	_ = watcher.Wait()
	eventually(t, "the watcher killed the group", func() bool { return !alive(tied.Process.Pid) })
}
