package config

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"sentient/backend/errs"
)

const (
	childDir   = "SENTIENT_CONFIG_TEST_DIR"
	childLimit = "SENTIENT_CONFIG_TEST_LIMIT"
)

// TestSavingChild is no test of its own: TestKilledWhileSaving runs it in a process that it kills.
func TestSavingChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs only as the child of the other tests of this file")
	}
	s := open(t, dir)
	if os.Getenv(childLimit) != "" {
		limitedChild(t, s)
		return
	}
	fmt.Println("notes", len(s.Notes()))
	for i := 0; ; i++ {
		// Two settings that belong together: whoever reads the file must see both or neither.
		body := fmt.Sprintf(`{"assistant":{"name":"n%d","user_name":"n%d"},"terminal":{"allowed_folders":["/%s"]}}`, i, i, strings.Repeat("x", i%400))
		if _, err := s.Patch(context.Background(), json.RawMessage(body)); err != nil {
			fmt.Println("failed", err)
			return
		}
		fmt.Println("saved", i)
	}
}

// Killed at any moment of a save, the file is the old or the new one, whole, and what was acknowledged is there.
func TestKilledWhileSaving(t *testing.T) {
	dir := started(t, goodFile)
	kills := 60
	if testing.Short() {
		kills = 50
	}
	for k := range kills {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSavingChild$", "-test.v")
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := -1
		for lines := bufio.NewScanner(out); lines.Scan(); {
			line := lines.Text()
			if strings.HasPrefix(line, "failed") || line != "notes 0" && strings.HasPrefix(line, "notes") {
				t.Errorf("kill %d: %s", k, line)
			}
			if n, ok := strings.CutPrefix(line, "saved "); ok {
				if last, err = strconv.Atoi(n); err != nil {
					t.Fatal(err)
				}
				if last >= k%7 { // a different place in the loop each time
					_ = cmd.Process.Kill()
				}
			}
		}
		_ = cmd.Wait()
		s := open(t, dir)
		c := s.Get()
		if len(s.Notes()) != 0 || c.Assistant.Name != c.Assistant.UserName || c.UI.Theme != "light" {
			t.Fatalf("kill %d: %q %+v", k, s.Notes(), c.Assistant)
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(c.Assistant.Name, "n")); err != nil || n < last {
			t.Fatalf("kill %d: %d was acknowledged, %q is there", k, last, c.Assistant.Name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, tempPattern)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*.damaged-*")); len(aside) != 0 {
		t.Errorf("set aside: %v", aside)
	}
}

// A disk that takes only the beginning of the new file: the old one stays, memory stays, the person gets a sentence.
func TestWriteThatStopsHalfWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no limit of the size of files on Windows")
	}
	dir := started(t, goodFile)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestSavingChild$", "-test.v")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childLimit+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if read(t, dir, fileName) != goodFile || read(t, dir, lastGoodName) != goodFile {
		t.Error("a file was changed")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func limitedChild(t *testing.T, s *Store) {
	limitFiles(t, 100)
	before := s.Get()
	_, err := s.Patch(context.Background(), json.RawMessage(`{"ui":{"theme":"dark"}}`))
	if !errs.Is(err, errs.Unavailable) || s.Get() != before {
		t.Errorf("got %v", err)
	}
	plainSentence(t, errs.From(err).Message)
}
