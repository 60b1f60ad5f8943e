package store

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sentient/backend/errs"
)

// holdLock takes the lock of a folder and keeps it until its input ends.
func holdLock(dir string) error {
	l, err := Lock(dir)
	if err != nil {
		return err
	}
	fmt.Println("locked")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return l.Release()
}

func TestLockNamesTheProcessThatHasIt(t *testing.T) {
	for _, end := range []string{"released", "killed"} {
		t.Run(end, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, LockName), "\n123456789 some program with a long name that was here before\n")
			c := child(t, "hold the lock", dir)
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
				t.Fatal(line, err)
			}
			_, err = Lock(dir)
			if errs.Code(err) != "folder_locked" || errs.StatusOf(err) != 409 {
				t.Fatalf("got %v", err)
			}
			wantSentence(t, err)
			if m := errs.From(err).Message; !strings.Contains(m, fmt.Sprintf("process %d, store.test", c.Process.Pid)) {
				t.Errorf("does not name process %d: %s", c.Process.Pid, m)
			}
			if o, ok := LockOwner(dir); !ok || o.PID != c.Process.Pid {
				t.Errorf("owner %+v %v", o, ok)
			}
			if end == "killed" {
				err = c.Process.Kill()
			} else {
				err = in.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			l, err := Lock(dir)
			if err != nil {
				t.Fatalf("after it ended: %v", err)
			}
			if _, err := Lock(dir); errs.Code(err) != "folder_locked" || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
				t.Errorf("twice in one process: %v", err)
			}
			if err := l.Release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLockWhereItCannotBe(t *testing.T) {
	for name, dir := range map[string]string{
		"no folder":      filepath.Join(t.TempDir(), "nowhere"),
		"folder as lock": func() string { d := t.TempDir(); write(t, filepath.Join(d, LockName, "x"), ""); return d }(),
	} {
		_, err := Lock(dir)
		if errs.Code(err) != "folder_unusable" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantSentence(t, err)
	}
}
