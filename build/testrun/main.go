// Command testrun runs everything that tests Sentient, says what goes on, and ends with one line of totals. It is what
// ./task test and CI run. Arguments choose suites by name; without any, all run.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// suite is one kind of test. run adds to the total what it found.
type suite struct {
	name string
	run  func(t *total) error
}

// total counts single tests.
type total struct {
	passed, failed, skipped int
	failures                []string
	skips                   []string
}

func (t *total) fail(name string) {
	t.failed++
	t.failures = append(t.failures, name)
}

var suites = []suite{
	{"lint", commandSuite("lint", "build/scripts/lint.sh")},
	{"go", goSuite("-race", "-timeout", "20m", "./...")},
	{"page", vitestSuite},
	{"build", commandSuite("build", "./task", "build:page", "build:engine", "build:desktop", "build:tray")},
	{"fuzz", commandSuite("fuzz", "build/scripts/fuzz.sh", "4000x")},
	{"model", modelSuite},
	{"program", goSuite("-tags", "program", "-count=1", "-timeout", "20m", "./build/programtest/...")},
	{"clients", goSuite("-tags", "clients", "-count=1", "-timeout", "10m", "./build/clienttest/...", "-args", "-engine")},
	{"e2e", playwrightSuite},
	{"window", windowSuite},
}

func main() {
	start := time.Now()
	// Children get the signal too; this one only has to end in an orderly way.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	var t total
	for _, s := range suites {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], s.name) {
			continue
		}
		began := time.Now()
		fmt.Printf("── %s\n", s.name)
		before := t
		if err := s.run(&t); err != nil {
			fmt.Printf("%s: %v\n", s.name, err)
			if t.failed == before.failed { // it failed without a test to blame
				t.fail(s.name)
			}
		}
		fmt.Printf("   %s: %d passed, %d failed, %d skipped, %s\n", s.name, t.passed-before.passed, t.failed-before.failed, t.skipped-before.skipped,
			time.Since(began).Round(time.Second))
		select {
		case <-stop:
			os.Exit(130)
		default:
		}
	}
	report(&t, time.Since(start))
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}

func report(t *total, took time.Duration) {
	for _, s := range t.skips {
		fmt.Println("skipped:", s)
	}
	for _, f := range t.failures {
		fmt.Println("FAILED:", f)
	}
	fmt.Printf("Took %s.\n%d passed, %d failed, %d skipped\n", took.Round(time.Second), t.passed, t.failed, t.skipped)
}

// commandSuite is a command that counts as one test.
func commandSuite(name string, argv ...string) func(*total) error {
	return func(t *total) error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			t.fail(name)
			return err
		}
		t.passed++
		return nil
	}
}

// goSuite runs go test and counts single tests, subtests included.
func goSuite(args ...string) func(*total) error {
	return func(t *total) error {
		return countGo(t, "go", append([]string{"test", "-json"}, args...)...)
	}
}

// goEvent is a line of go test -json.
type goEvent struct {
	Action, Package, Test, Output string
}

// countGo runs a command that prints what go test -json prints, and counts. Other lines are shown when it fails.
func countGo(t *total, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	var other bytes.Buffer
	cmd.Stderr = &other
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	output := map[string][]string{}
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e goEvent
			if json.Unmarshal(line, &e) != nil {
				other.Write(line)
			} else {
				e.count(t, output)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if err := cmd.Wait(); err != nil {
		fmt.Print(other.String())
		return err
	}
	return nil
}

func (e goEvent) count(t *total, output map[string][]string) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		output[name] = append(output[name], e.Output)
		if e.Action == "build-output" {
			fmt.Print(e.Output)
		}
		return
	case "pass":
		if e.Test != "" {
			t.passed++
		}
	case "skip":
		if e.Test != "" {
			t.skipped++
			t.skips = append(t.skips, name+": "+reason(output[name]))
		}
	case "fail":
		fmt.Print(strings.Join(output[name], ""))
		if e.Test != "" {
			t.fail(name)
		} else if !slices.ContainsFunc(t.failures, func(f string) bool { return strings.HasPrefix(f, e.Package+" ") }) {
			t.fail(e.Package) // it did not build, or ended outside of a test
		}
	default:
		return
	}
	delete(output, name)
}

// reason finds what a skipped test printed.
func reason(lines []string) string {
	for _, l := range lines {
		if !strings.HasPrefix(strings.TrimSpace(l), "---") && !strings.HasPrefix(strings.TrimSpace(l), "===") {
			return strings.TrimSpace(l)
		}
	}
	return "no reason printed"
}

// vitestSuite runs the page's own tests.
func vitestSuite(t *total) error {
	raw, err := inFrontend("npx", "vitest", "run", "--reporter=json", "--outputFile=test-results/vitest.json")
	var r struct {
		NumPassedTests  int `json:"numPassedTests"`
		NumFailedTests  int `json:"numFailedTests"`
		NumPendingTests int `json:"numPendingTests"`
	}
	if readErr := readJSON("frontend/test-results/vitest.json", &r); readErr != nil {
		fmt.Println(raw)
		return errors.Join(err, readErr)
	}
	t.passed += r.NumPassedTests
	t.skipped += r.NumPendingTests
	for range r.NumFailedTests {
		t.fail("page test (see above)")
	}
	if err != nil {
		fmt.Println(raw)
	}
	return err
}

// playwrightSuite drives the served page of the built program in Chromium.
func playwrightSuite(t *total) error {
	cmd := exec.Command("build/scripts/e2e-page.sh")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	var r struct {
		Stats struct {
			Expected, Unexpected, Flaky, Skipped int
		} `json:"stats"`
	}
	if readErr := readJSON("frontend/test-results/playwright.json", &r); readErr != nil {
		return errors.Join(err, readErr)
	}
	t.passed += r.Stats.Expected
	t.skipped += r.Stats.Skipped
	for range r.Stats.Unexpected + r.Stats.Flaky {
		t.fail("page in Chromium (see above)")
	}
	return err
}

// modelSuite brings the small real model and runs what is marked for it.
func modelSuite(t *total) error {
	if err := commandSuite("model fetched", "build/models/fetch.sh")(t); err != nil {
		return err
	}
	return countGo(t, "go", "test", "-json", "-tags", "realmodel", "-count=1", "-timeout", "15m", "-run", "RealModel", "./backend/model/...")
}

func windowSuite(t *total) error {
	return countGo(t, "build/scripts/window-smoke.sh", "-json")
}

func inFrontend(argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = "frontend"
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}

func readJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}
