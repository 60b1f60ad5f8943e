package desktop

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/svc"
)

func TestASecondWindowBringsTheFirstToTheFront(t *testing.T) {
	home := t.TempDir()
	var shown atomic.Int32
	first, second, err := becomeOnly(home, clock.Real{}, func() { shown.Add(1) })
	if err != nil || second {
		t.Fatal(second, err)
	}
	if _, second, err := becomeOnly(home, clock.Real{}, nil); !second || err != nil {
		t.Fatalf("a second window opened: %v %v", second, err)
	}
	if other, second, err := becomeOnly(t.TempDir(), clock.Real{}, nil); second || err != nil {
		t.Errorf("another folder's window did not open: %v %v", second, err)
	} else {
		other.Close()
	}
	ctx, end := context.WithCancel(t.Context())
	err = svc.Run(ctx, first.Serve, func(context.Context) error {
		defer end()
		for range 3 {
			if err := callOnly(home, clock.Real{}); err != nil {
				t.Error(err)
			}
		}
		strangers(t, first.listener.Addr().String())
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if shown.Load() != 3 {
		t.Errorf("shown %d times", shown.Load())
	}
	first.Close()
	if err := callOnly(home, clock.Real{}); err == nil {
		t.Error("a closed window answers")
	}
	again, second, err := becomeOnly(home, clock.Real{}, nil)
	if err != nil || second {
		t.Fatalf("the place was not freed: %v %v", second, err)
	}
	again.Close()
}

// strangers know the address, not the secret.
func strangers(t *testing.T, address string) {
	t.Helper()
	for _, line := range []string{"\n", "guess\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("x", 4096)} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, line) // the window may have hung up already
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("%.20q was answered with %q", line, answer)
		}
		conn.Close()
	}
}

func TestTheWindowsAddressIsItsOwnersAlone(t *testing.T) {
	home := t.TempDir()
	o, _, err := becomeOnly(home, clock.Real{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, name := range []string{windowLock, windowAddress} {
		info, err := os.Stat(filepath.Join(home, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestAWindowThatDoesNotAnswerIsAnError(t *testing.T) {
	home := t.TempDir()
	for _, content := range []string{"", "{", `{"address":"127.0.0.1:1","secret":"x"}`} {
		if content != "" {
			if err := os.WriteFile(filepath.Join(home, windowAddress), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := callOnly(home, clock.Real{}); err == nil {
			t.Errorf("%q was answered", content)
		}
	}
}
