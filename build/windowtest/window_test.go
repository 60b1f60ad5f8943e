//go:build windowsmoke

package windowtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sentient/backend/discovery"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/store"
)

// The window opens, its bound calls answer, a reply streams into it, the tray's entries work, and it closes clean.
func TestWindow(t *testing.T) {
	rest := make(chan struct{})
	model, err := scripted.ServeBy(func(r scripted.Recorded) scripted.Play {
		play := scripted.Stream(scripted.Text("The harbour light is on, "), scripted.Text("and the boats are home."), scripted.End(llm.FinishStop, llm.Usage{}))
		play.Parts[1].Until = rest
		return play
	})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	h := startHost(t)
	home := t.TempDir()
	configure(t, home, model.URL)
	w := start(t, home)
	w.awaitReady()

	eventually(t, "a visible window named Sentient", visible)
	eventually(t, "the engine inside answers", func() bool {
		var b struct{ Version string }
		return w.api("/api/bootstrap", &b) == nil && b.Version != ""
	})
	empty := 0
	eventually(t, "the page is drawn", func() bool {
		img := still(t, "window-opened")
		empty = ink(img)
		return colours(img) > 50
	})
	run(t, "xdotool", "type", "--delay", "30", "Is the light on?")
	run(t, "xdotool", "key", "Return")
	// The question and half of the answer are some 40 letters; their place was blank before.
	const letter = 8
	half := 0
	eventually(t, "the first half of the reply while the model still works on the rest", func() bool {
		half = ink(still(t, "window-streams"))
		return half > empty+30*letter
	})
	close(rest)
	eventually(t, "the message and its reply are in the chat", func() bool {
		var chats []struct{ ID string }
		if w.api("/api/sessions", &chats) != nil || len(chats) != 1 {
			return false
		}
		var rows []struct{ Role, Content string }
		if w.api("/api/sessions/"+chats[0].ID+"/messages", &rows) != nil || len(rows) != 2 {
			return false
		}
		return rows[0].Content == "Is the light on?" && rows[1].Content == "The harbour light is on, and the boats are home."
	})
	eventually(t, "the whole reply is drawn", func() bool { return ink(still(t, "window-replied")) > half+15*letter })

	eventually(t, "the icon in the tray", func() bool { return h.icon() != "" })
	onWindow(t, "windowminimize")
	eventually(t, "the window is minimised", func() bool { return !visible() })
	h.click(t, "Open")
	eventually(t, "Open brings the window back", visible)
	h.click(t, "Quit")
	w.awaitEnd()
	eventually(t, "no process is left", func() bool { return !childOfOurs(home) })
	if _, err := discovery.Read(home); err == nil {
		t.Error("the discovery file is still there")
	}
}

// A window that is asked to end by the system ends with status 0 and leaves nothing.
func TestWindowEndsOnSignal(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	w := start(t, home)
	w.awaitReady()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.awaitEnd()
}

// A second window of the same folder brings the first one forward and ends at once.
func TestSecondWindow(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	first := start(t, home)
	first.awaitReady()
	second := start(t, home)
	second.awaitEnd()
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	first.awaitEnd()
}

// A window beside a running engine uses that engine.
func TestWindowAttaches(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	serve := exec.CommandContext(ctx, filepath.Join(os.Getenv("SENTIENT_BUILD"), "sentient"), "serve", "--port", "0")
	serve.Env = append(os.Environ(), "SENTIENT_HOME="+home)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine listens", func() bool { _, err := discovery.Read(home); return err == nil })
	before, err := discovery.Read(home)
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, home)
	w.awaitReady()
	if after, err := discovery.Read(home); err != nil || after != before {
		t.Errorf("another engine took over: %v, %v", after, err)
	}
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.awaitEnd()
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("the engine: %v", err)
	}
}

// Closing the window leaves Sentient in the tray where there is one; the icon or a second start bring it back.
func TestClosingLeavesItInTheTray(t *testing.T) {
	h := startHost(t)
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	w := start(t, home)
	w.awaitReady()
	eventually(t, "the icon in the tray", func() bool { return w.said("the tray icon is shown") })
	at := place(t)
	closeWindow(t)
	eventually(t, "the window is hidden", func() bool { return !visible() })
	var b struct{ Version string }
	if err := w.api("/api/bootstrap", &b); err != nil {
		t.Errorf("the engine does not answer any more: %v", err)
	}
	h.click(t, "Open")
	eventually(t, "Open shows the window where it was", func() bool { return visible() && place(t) == at })
	closeWindow(t)
	eventually(t, "the window is hidden again", func() bool { return !visible() })
	start(t, home).awaitEnd()
	eventually(t, "a second start shows the window", visible)
	// Without its tray the window must not hide where nobody finds it.
	h.close()
	eventually(t, "the tray is known to be gone", func() bool { return w.said("the tray went away") })
	closeWindow(t)
	w.awaitEnd()
}

// The window comes back where and as large as it was left.
func TestTheWindowIsRemembered(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	first := start(t, home)
	first.awaitReady()
	eventually(t, "the window", visible)
	onWindow(t, "windowsize", "900", "640")
	onWindow(t, "windowmove", "210", "120")
	left := place(t)
	closeWindow(t)
	first.awaitEnd()
	second := start(t, home)
	second.awaitReady()
	eventually(t, "the window as it was left", func() bool { return visible() && place(t) == left })
	// A size below the least is not taken.
	run(t, "xdotool", "windowsize", find(), "200", "200")
	eventually(t, "the least size", func() bool { return strings.HasSuffix(place(t), "380x420") })
	closeWindow(t)
	second.awaitEnd()
}

// A window whose engine was another process's runs one itself when that ends.
func TestTheWindowOutlivesAnotherProcessesEngine(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	serve := exec.Command(filepath.Join(os.Getenv("SENTIENT_BUILD"), "sentient"), "serve", "--port", "0")
	serve.Env = append(os.Environ(), "SENTIENT_HOME="+home)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine listens", func() bool { _, err := discovery.Read(home); return err == nil })
	w := start(t, home)
	w.awaitReady()
	if err := serve.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait() // it was killed
	eventually(t, "the window's own engine answers", func() bool {
		at, err := discovery.Read(home)
		var b struct{ Version string }
		return err == nil && at.PID == w.cmd.Process.Pid && w.api("/api/bootstrap", &b) == nil
	})
	closeWindow(t)
	w.awaitEnd()
}

// A folder whose holder does not answer is said in a dialog, and the window ends with status 1.
func TestALockedFolderIsSaid(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "http://127.0.0.1:9/v1")
	lock, err := store.Lock(home)
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, home)
	eventually(t, "the dialog", func() bool { return w.said("Another Sentient is using this data folder") })
	time.Sleep(time.Second) // until the dialog has the keyboard
	shot(t, "window-locked")
	run(t, "xdotool", "key", "Return")
	select {
	case err := <-w.ended:
		if code := w.cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("exit: %v", err)
		}
	case <-time.After(patience):
		t.Error("the window did not end")
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
