package tray

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// The test program plays the icon's program when this names a part.
const partVariable = "TRAY_TEST_PART"

func TestMain(m *testing.M) {
	part := os.Getenv(partVariable)
	if part == "" {
		os.Exit(m.Run())
	}
	os.Exit(play(part))
}

func play(part string) int {
	name, log, _ := strings.Cut(part, " ")
	note(log, strings.Join(os.Args[1:], " "))
	switch name {
	case "crash":
		return 70
	case "no-tray":
		return exitNoTray
	case "talk":
		fmt.Println("shown\nopen\n\nnonsense\n" + strings.Repeat("x", 500) + "\nquit")
	case "deaf": // it does not end with its standard input
		fmt.Println("open")
		<-clock.Real{}.NewTimer(time.Hour).C()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	note(log, "ended")
	return 0
}

func note(path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

func notes(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// quickClock does not make anybody wait, and keeps what was asked of it. After stop pauses it ends the test's context.
type quickClock struct {
	clock.Real
	mu     sync.Mutex
	pauses []time.Duration
	stop   int
	end    func()
}

func (c *quickClock) NewTimer(d time.Duration) clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses = append(c.pauses, d)
	if len(c.pauses) == c.stop {
		c.end()
		return c.Real.NewTimer(time.Hour)
	}
	return c.Real.NewTimer(0)
}

// bench is a Keeper whose icon's program is this test program.
type bench struct {
	*Keeper
	ctx    context.Context
	end    func()
	clock  *quickClock
	log    string
	opened chan struct{}
	quits  chan struct{}
}

func newBench(t *testing.T, part string, pauses int) *bench {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{log: filepath.Join(t.TempDir(), "log"), opened: make(chan struct{}, 8), quits: make(chan struct{}, 8)}
	t.Setenv(partVariable, part+" "+b.log)
	b.ctx, b.end = context.WithCancel(t.Context())
	t.Cleanup(b.end)
	b.clock = &quickClock{stop: pauses, end: b.end}
	b.Keeper = &Keeper{Program: own, Home: "/the home", Clock: b.clock, Log: obs.Discard(),
		Open: func() { b.opened <- struct{}{} }, Quit: func() { b.quits <- struct{}{} }}
	return b
}

func TestADyingProgramIsStartedAgainWithGrowingPauses(t *testing.T) {
	b := newBench(t, "crash", 9)
	if err := b.Serve(b.ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60}
	for i := range want {
		want[i] *= time.Second
	}
	if !slices.Equal(b.clock.pauses, want) {
		t.Errorf("pauses %v, want %v", b.clock.pauses, want)
	}
	if starts := notes(t, b.log); len(starts) != 9 || starts[0] != "--parent --home /the home" {
		t.Errorf("started %d times: %q", len(starts), starts)
	}
}

func TestAMissingProgramIsTriedAgainToo(t *testing.T) {
	b := newBench(t, "crash", 3)
	b.Program = filepath.Join(t.TempDir(), "nothing")
	if err := b.Serve(b.ctx); !errors.Is(err, context.Canceled) || len(b.clock.pauses) != 3 {
		t.Fatalf("%v after %d pauses", err, len(b.clock.pauses))
	}
}

func TestWithoutATrayNothingIsStartedAgain(t *testing.T) {
	b := newBench(t, "no-tray", 100)
	b.watch = func(context.Context, func(bool)) error { return errors.New("no session bus") }
	if err := b.Serve(b.ctx); !errors.Is(err, svc.ErrDone) {
		t.Fatalf("gave %v", err)
	}
	if n := len(notes(t, b.log)); n != 1 {
		t.Errorf("started %d times", n)
	}
}

func TestATrayThatAppearsLaterGetsTheIcon(t *testing.T) {
	b := newBench(t, "no-tray", 4)
	b.watch = func(ctx context.Context, changed func(bool)) error {
		changed(false)
		changed(true)
		<-ctx.Done()
		return ctx.Err()
	}
	if err := b.Serve(b.ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	// A program that does not agree with us about the tray is not started in a tight loop either.
	if want := []time.Duration{1e9, 2e9, 4e9, 8e9}; !slices.Equal(b.clock.pauses, want) || len(notes(t, b.log)) != 4 {
		t.Errorf("pauses %v, starts %q", b.clock.pauses, notes(t, b.log))
	}
}

func TestWordsReachTheWindowAndTheProgramEndsWithUs(t *testing.T) {
	b := newBench(t, "talk", 100)
	err := svc.Run(b.ctx, b.Serve, func(context.Context) error {
		<-b.opened
		<-b.quits
		if !b.Shown() {
			t.Error("the icon is not known to be shown")
		}
		b.end()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if b.Shown() || len(b.opened) > 0 || len(b.quits) > 0 {
		t.Errorf("left over: shown %v, opened %d, quits %d", b.Shown(), len(b.opened), len(b.quits))
	}
	if lines := notes(t, b.log); len(lines) != 2 || lines[1] != "ended" {
		t.Errorf("the program did not end by itself: %q", lines)
	}
}

func TestAProgramThatDoesNotEndIsEnded(t *testing.T) {
	b := newBench(t, "deaf", 100)
	err := svc.Run(b.ctx, b.Serve, func(context.Context) error {
		<-b.opened
		b.end()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestWordsAreLinesOfBoundedLength(t *testing.T) {
	var got []string
	w := &words{each: func(s string) { got = append(got, s) }}
	for _, piece := range []string{"sho", "wn\nopen\r\n", "\n", strings.Repeat("y", 1<<16), "\n", strings.Repeat("a", longestWord), "\nqu", "it"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := []string{"shown", "open", strings.Repeat("a", longestWord)}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
