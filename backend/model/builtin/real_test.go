//go:build realmodel && unix

package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// real is the built-in model of this checkout, the true one.
func real(t *testing.T) (*Service, *svc.Tree) {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	checkout := FindCheckout("", wd)
	if checkout == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("the model is missing: ./task model brings it")
		}
		t.Skip("the model is not here: ./task model brings it")
	}
	s := New(Options{Home: t.TempDir(), Checkout: checkout, HTTP: &http.Client{}, Clock: clock.Real{}, Log: obs.NewLogger(t.Output(), 0)})
	tree := svc.NewTree("test", obs.Discard())
	tree.Add(s)
	return s, tree
}

func (s *Service) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return 0
	}
	return s.server.cmd.Process.Pid
}

func TestRealModel(t *testing.T) {
	s, tree := real(t)
	closed := sync.OnceFunc(tree.Close)
	defer closed()
	if st := s.Status(t.Context()); st.State != Ready || st.Model == nil || !st.Model.Weak {
		t.Fatalf("status %+v", st)
	}

	t.Run("streams", func(t *testing.T) {
		var pieces int
		var text strings.Builder
		reply, err := s.Model().Stream(t.Context(), question("What is the capital of France?"), func(d llm.Delta) error {
			if d.Text != "" {
				pieces++
				text.WriteString(d.Text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%q in %d pieces, %+v", reply.Text, pieces, reply.Usage)
		if pieces < 2 || text.String() != reply.Text || reply.Text == "" || reply.Text[0] == ' ' || strings.Contains(reply.Text, "User:") {
			t.Errorf("%d pieces %q, reply %q", pieces, text.String(), reply.Text)
		}
		if reply.Usage.Prompt == 0 || reply.Usage.Completion == 0 || reply.Finish != llm.FinishStop {
			t.Errorf("reply %+v", reply)
		}
	})
	t.Run("cancelled in the middle", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		reply, err := s.Model().Stream(ctx, question("Tell me a long story about a dragon and a castle."), func(d llm.Delta) error {
			if d.Text != "" {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %q, %v", reply.Text, err)
		}
	})
	t.Run("JSON of a schema", func(t *testing.T) {
		req := question("Which colour has the sky? Answer in JSON.")
		req.Schema = json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string","enum":["red","green","blue"]},"sure":{"type":"boolean"}},"required":["colour","sure"],"additionalProperties":false}`)
		reply, err := s.Model().Stream(t.Context(), req, func(llm.Delta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Colour string
			Sure   *bool
		}
		if err := json.Unmarshal([]byte(reply.Text), &got); err != nil || got.Colour == "" || got.Sure == nil {
			t.Errorf("%q: %v", reply.Text, err)
		}
	})
	t.Run("survives its server's death", func(t *testing.T) { survives(t, s) })
	t.Run("nothing left", func(t *testing.T) {
		pid := s.pid()
		closed()
		if alive(pid) {
			t.Error("the server is still there")
		}
	})
}

// survives kills the server in the middle of an answer.
func survives(t *testing.T, s *Service) {
	pid := s.pid()
	_, err := s.Model().Stream(t.Context(), question("Tell me a long story about the sea."), func(d llm.Delta) error {
		if d.Text != "" {
			return syscall.Kill(pid, syscall.SIGKILL)
		}
		return nil
	})
	if errs.From(err).Message != errDied.Message {
		t.Errorf("the one in flight: %v", err)
	}
	reply, err := s.Model().Stream(t.Context(), question("Say hello."), func(llm.Delta) error { return nil })
	if err != nil || reply.Text == "" || s.pid() == pid {
		t.Errorf("the next one: %q, %v", reply.Text, err)
	}
}

func TestRealModelDiesWithTheEngine(t *testing.T) {
	s, tree := real(t)
	tree.Close()
	pid := killedEngine(t, s.o.Home, s.o.Checkout)
	eventually(t, "the killed engine's server is gone", func() bool { return !alive(pid) })
}
