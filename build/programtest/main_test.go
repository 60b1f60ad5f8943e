//go:build program

package programtest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hangLimit is how long anything may take before it counts as hanging.
const hangLimit = 20 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv("SENTIENT_PROGRAM") == "" {
		if err := buildIfStale(); err != nil {
			fmt.Fprintln(os.Stderr, "build the program:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func checkout() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}

// program is the path of what is tested.
func program() string {
	if p := os.Getenv("SENTIENT_PROGRAM"); p != "" {
		return p
	}
	return filepath.Join(checkout(), "build", "bin", "sentient")
}

// buildIfStale builds the program when a source is newer than it.
func buildIfStale() error {
	built, err := os.Stat(program())
	if err == nil {
		newest, err := newestSource()
		if err != nil {
			return err
		}
		if !newest.After(built.ModTime()) {
			return nil
		}
	}
	flags := "-s -w"
	if commit, err := exec.Command("git", "-C", checkout(), "rev-parse", "--short", "HEAD").Output(); err == nil {
		flags += " -X sentient/app/about.commit=" + strings.TrimSpace(string(commit))
	}
	return goBuild([]string{"CGO_ENABLED=0"}, "-trimpath", "-ldflags", flags, "-o", program(), ".")
}

func goBuild(env []string, args ...string) error {
	for _, dir := range []string{"bin", "cache"} {
		if err := os.MkdirAll(filepath.Join(checkout(), "build", dir), 0o755); err != nil {
			return err
		}
	}
	cmd := exec.Command("go", append([]string{"build"}, args...)...)
	cmd.Dir, cmd.Env = checkout(), append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// newestSource looks at what the engine and command line are made of.
func newestSource() (newest time.Time, err error) {
	for _, top := range []string{"main.go", "page_embedded.go", "page_none.go", "go.mod", "app", "backend", "frontend/dist"} {
		err = filepath.WalkDir(filepath.Join(checkout(), top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			return newest, err
		}
	}
	return newest, nil
}

// raceProgram builds the program with the race detector, once.
var raceProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(checkout(), "build", "cache", "sentient-race")
	return path, goBuild([]string{"CGO_ENABLED=1"}, "-race", "-o", path, ".")
})

// eventually waits for a condition by looking again and again.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	if !within(limit, ok) {
		t.Fatalf("%s: not within %s", what, limit)
	}
}

func within(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cannot skips a test for a reason that lies in the machine; in CI that is a failure.
func cannot(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
