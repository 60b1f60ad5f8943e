//go:build windowsmoke && windowpicture

package windowtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sentient/backend/llm/scripted"
)

const (
	question = "When is the next high tide, and is it worth going out?"
	answer   = "High tide is at **18:40**, a little under four metres.\n\n| Time | Tide | Wind |\n|---|---|---|\n| 16:00 | rising | light, west |\n| 18:40 | high | fresh, west |\n| 21:00 | falling | strong, north-west |\n\n" +
		"Go out by five and be back by eight: the wind turns after that, and the harbour mouth gets rough on the ebb."
)

// TestPicture takes the picture of the docs: SENTIENT_PICTURE names the file, SENTIENT_THEME the theme.
func TestPicture(t *testing.T) {
	model, err := scripted.ServeBy(func(r scripted.Recorded) scripted.Play {
		if bytes.Contains(r.Body, []byte("Go out by five")) { // asked about the answer: for the chat's title
			return scripted.Answer(scripted.Say("Tonight's high tide"))
		}
		return scripted.Answer(scripted.Say(answer))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	home := t.TempDir()
	configure(t, home, model.URL)
	path := filepath.Join(home, "config.yaml")
	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(config), "theme: light", "theme: "+os.Getenv("SENTIENT_THEME"), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, home)
	w.awaitReady()
	eventually(t, "the window", visible)
	onWindow(t, "windowsize", "1180", "760")
	eventually(t, "the page", func() bool { return colours(still(t, "picture")) > 50 })
	run(t, "xdotool", "type", "--delay", "20", question)
	run(t, "xdotool", "key", "Return")
	eventually(t, "the answer", func() bool {
		var chats []struct{ ID string }
		if w.api("/api/sessions", &chats) != nil || len(chats) != 1 {
			return false
		}
		var rows []struct{ Role, Content string }
		return w.api("/api/sessions/"+chats[0].ID+"/messages", &rows) == nil && len(rows) == 2
	})
	still(t, "picture")
	run(t, "import", "-window", find(), "+repage", os.Getenv("SENTIENT_PICTURE"))
	closeWindow(t)
	w.awaitEnd()
}
