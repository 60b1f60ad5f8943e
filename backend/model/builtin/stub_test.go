//go:build unix

package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// TestMain lets the test binary be the programs that the tests start: a stand-in for llama-server ("stub") and an engine
// that is going to be killed ("engine").
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stub":
			stub(os.Args[2:])
			return
		case "engine":
			engine(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

// stub serves what the engine needs of llama-server. Its chat is one word a line; the question says how it behaves.
func stub(args []string) {
	set := flag.NewFlagSet("stub", flag.ExitOnError)
	var (
		ledger   = set.String("ledger", "", "file that gets a line for each start")
		broken   = set.String("broken", "", "end while loading, with these words")
		deaf     = set.Bool("deaf", false, "ignore SIGTERM")
		alias    = set.String("alias", "", "")
		port     = set.String("port", "", "")
		size     = set.String("ctx-size", "", "")
		lifeline = set.Bool("stdin-lifeline", false, "")
	)
	for _, name := range []string{"model", "host", "threads", "parallel", "cache-ram", "chat-template-file", "reverse-prompt"} {
		set.String(name, "", "")
	}
	set.Bool("jinja", false, "")
	_ = set.Parse(args)
	if *deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	if *lifeline {
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	}
	if *ledger != "" {
		f, err := os.OpenFile(*ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, os.Getpid(), *size)
			f.Close()
		}
	}
	if *broken != "" {
		fmt.Fprintln(os.Stderr, *broken)
		os.Exit(3)
	}
	key := os.Getenv("LLAMA_API_KEY")
	var looks atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		if looks.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	guard := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+key || key == "" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h(w, r)
		}
	}
	mux.HandleFunc("/v1/models", guard(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"data":[{"id":%q}]}`, *alias)
	}))
	mux.HandleFunc("/v1/chat", guard(func(w http.ResponseWriter, r *http.Request) {
		var req llm.Request
		_ = json.NewDecoder(r.Body).Decode(&req)
		say := func(words ...string) {
			for _, word := range words {
				fmt.Fprintln(w, word)
			}
			w.(http.Flusher).Flush()
		}
		switch req.Messages[0].Text {
		case "die":
			say(" one")
			os.Exit(9)
		case "hang":
			say(" one")
			<-r.Context().Done()
		case "echo":
			data, _ := json.Marshal(req)
			say(string(data), "END")
		default:
			say(" one", " two", "END")
		}
	}))
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+*port, mux))
	os.Exit(1)
}

// plain is the adapter of the stub.
type plain struct {
	url, key string
	http     *http.Client
}

func (p plain) Stream(ctx context.Context, req llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	var reply llm.Reply
	body, _ := json.Marshal(req)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/chat", bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	r.Header.Set("Authorization", "Bearer "+p.key)
	res, err := p.http.Do(r)
	if err != nil {
		return reply, errs.New(errs.Unavailable, llm.CodeUnreachable, "Nothing answers.").Because(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if lines.Text() == "END" {
			return reply, nil
		}
		reply.Text += lines.Text()
		if err := each(llm.Delta{Text: lines.Text()}); err != nil {
			return reply, err
		}
	}
	if ctx.Err() != nil {
		return reply, ctx.Err()
	}
	return reply, errs.New(errs.Unavailable, llm.CodeBroken, "It stopped.").Because(lines.Err())
}

// world is one engine's built-in model over the stub.
type world struct {
	t      *testing.T
	home   string
	ledger string
	svc    *Service
	tree   *svc.Tree
	opts   Options
}

func build(t *testing.T, stubArgs []string, change func(*Options, *indexModel)) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir()}
	w.ledger = filepath.Join(w.home, "ledger")
	m := indexModel{Name: "tiny", Label: "Tiny", File: "tiny.gguf", SizeBytes: 4, License: "MIT", Template: "chat.jinja",
		Stops: []string{"\nUser:"}, Weak: true}
	w.opts = Options{Home: w.home, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Clock: clock.Real{},
		Log: obs.Discard(), Cores: 3}
	w.opts.Adapter = func(url, key string) llm.Model { return plain{url, key, w.opts.HTTP} }
	if change != nil {
		change(&w.opts, &m)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.writeIndex(index{Program: []string{self}, Args: append([]string{"stub", "--ledger", w.ledger}, stubArgs...), Models: []indexModel{m}})
	for _, name := range []string{"tiny.gguf", "chat.jinja"} {
		w.write(name, "GGUF")
	}
	w.start()
	return w
}

func (w *world) start() {
	w.svc = New(w.opts)
	w.tree = svc.NewTree("test", obs.Discard())
	w.tree.Add(w.svc)
	w.t.Cleanup(w.close)
}

// restart starts a service anew and waits until it looked at what an earlier one left behind.
func (w *world) restart() {
	w.start()
	eventually(w.t, "the record was looked at", func() bool { _, err := os.Stat(w.svc.recordPath()); return err != nil })
}

func (w *world) close() {
	if w.tree != nil {
		w.tree.Close()
		w.tree = nil
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	dir := filepath.Join(w.home, "models")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) writeIndex(ix index) {
	data, err := json.Marshal(ix)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(indexName, string(data))
}

// starts gives the ledger: the lines of all stubs that were started.
func (w *world) starts() []string {
	data, err := os.ReadFile(w.ledger)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func (w *world) lastPID() int {
	var pid int
	starts := w.starts()
	if len(starts) > 0 {
		fmt.Sscan(starts[len(starts)-1], &pid)
	}
	return pid
}

func (w *world) ask(ctx context.Context, text string) (llm.Reply, []llm.Delta, error) {
	var deltas []llm.Delta
	reply, err := w.svc.Model().Stream(ctx, question(text), func(d llm.Delta) error {
		deltas = append(deltas, d)
		return nil
	})
	return reply, deltas, err
}

func question(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}, Tools: []llm.Tool{{Name: "look"}}}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.NewTimer(time.Minute)
	defer tick.Stop()
	defer limit.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("never: %s", what)
		}
	}
}

// alive says whether a process runs; one that is dead and not yet collected does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	rest := string(stat[bytes.LastIndexByte(stat, ')')+1:])
	return !slices.Contains([]string{"Z", "X"}, strings.Fields(rest)[0])
}
