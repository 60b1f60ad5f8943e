//go:build program

package programtest

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// filler is the file that takes a small disk's space.
type filler struct {
	t    *testing.T
	path string
}

func (f filler) fill(leave int) {
	f.t.Helper()
	f.empty()
	var s syscall.Statfs_t
	must(f.t, syscall.Statfs(filepath.Dir(f.path), &s))
	if n := int(s.Bavail)*int(s.Bsize) - leave; n > 0 {
		must(f.t, os.WriteFile(f.path, make([]byte, n), 0o600))
	}
}

func (f filler) empty() {
	f.t.Helper()
	if err := os.Remove(f.path); err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
}

// form is a file as a page uploads it.
func form(t *testing.T, name string, content []byte) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	part, err := w.CreateFormFile("file", name)
	must(t, err)
	_, err = part.Write(content)
	must(t, err)
	must(t, w.Close())
	return body, w.FormDataContentType()
}

// writes are all requests that write, one of each kind. what was acknowledged is counted by the caller.
func writes(t *testing.T, e *engine, n int, chatID string) map[string]answer {
	t.Helper()
	body, kind := form(t, fmt.Sprintf("file%d.txt", n), bytes.Repeat([]byte("file "), 20_000))
	all := map[string]answer{
		"create": e.call("POST", "/api/sessions", map[string]any{}),
		"rename": e.call("PATCH", "/api/sessions/"+chatID, map[string]any{"title": fmt.Sprintf("%d %s", n, strings.Repeat("t", 90))}),
		"note":   e.call("POST", "/api/notifications", map[string]any{"message": fmt.Sprintf("note %d %s", n, strings.Repeat("n", 4000))}),
		"config": e.call("PATCH", "/api/config", map[string]any{"assistant": map[string]any{"user_name": fmt.Sprintf("name %d", n)}}),
		"secret": e.call("PUT", "/api/secrets/openai", map[string]any{"value": fmt.Sprintf("sk-%d", n)}),
		"upload": e.request("POST", "/api/files", body, map[string]string{"Authorization": "Bearer " + e.token, "Content-Type": kind}),
		"chat":   e.call("POST", "/api/chat", map[string]any{"session_id": chatID, "text": fmt.Sprintf("say %d %s", n, strings.Repeat("x", 3000)), "client_id": fmt.Sprintf("disk-%d", n)}),
		"read":   e.call("POST", "/api/notifications/read-all", nil),
	}
	return all
}

// plainly wants what did not work to say so: 503 and a sentence about space, never our own fault and never silence.
func plainly(t *testing.T, what string, a answer) (ok bool) {
	t.Helper()
	if a.err != nil {
		t.Errorf("%s: %v", what, a.err)
		return false
	}
	if what == "chat" && a.status == http.StatusOK {
		lines := strings.Split(strings.TrimSpace(string(a.body)), "\n")
		if n := strings.Count(string(a.body), `"type":"done"`); n != 1 || !strings.Contains(lines[len(lines)-1], `"type":"done"`) {
			t.Errorf("chat: %d ends: %s", n, tail(string(a.body), 300))
		}
		if !strings.Contains(string(a.body), `"type":"error"`) {
			return true
		}
		if !strings.Contains(string(a.body), "space") {
			t.Errorf("chat: the failure does not speak of space: %s", tail(string(a.body), 600))
		}
		return false
	}
	if a.status == http.StatusOK {
		return true
	}
	if a.status != http.StatusServiceUnavailable || !isSentence(a.sentence()) || !strings.Contains(a.sentence(), "space") && !strings.Contains(a.sentence(), "room on the disk") {
		t.Errorf("%s on a full disk: %s", what, a)
	}
	return false
}

// The disk fills up while the engine works, with every amount of space left: each request gets a plain sentence, and
// once there is space again everything works without a restart, and everything acknowledged is there (R2).
func TestDiskFull(t *testing.T) {
	disk := smallDisk(t, 12<<20)
	s := newStub(t)
	p := personAt(t, t.TempDir(), filepath.Join(disk, "data"))
	p.configure(s, "")
	f := filler{t, filepath.Join(disk, "filler")}
	e := p.serve()
	n, notes := 0, map[string]bool{}
	id := want[struct {
		SessionID string `json:"session_id"`
	}](e, "POST", "/api/sessions", map[string]any{}).SessionID
	l := e.open(t)
	refusals, said := map[string]int{}, map[string]bool{}
	for leave := 0; leave <= 96<<10 && !t.Failed(); leave += 8 << 10 {
		f.fill(leave)
		for range 3 {
			n++
			for what, a := range writes(t, e, n, id) {
				if plainly(t, what, a) {
					if what == "note" {
						notes[decoded[notification](t, a).ID] = true
					}
				} else {
					refusals[what]++
					said[a.sentence()] = true
				}
			}
			client := fmt.Sprintf("socket-%d", n)
			must(t, l.say(map[string]any{"type": "chat.send", "session_id": id, "text": "over the socket " + strings.Repeat("y", 3000), "client_id": client}))
			turn := ""
			all := l.await(t, "an answer over the socket", func(h happening) bool {
				if h.Type == "session" && h.ClientID == client {
					turn = h.TurnID
				}
				return h.Type == "error" && h.ClientID == client && turn == "" || h.Type == "done" && turn != "" && h.TurnID == turn
			})
			if last := all[len(all)-1]; last.Type == "error" {
				refusals["socket"]++
				if !strings.Contains(last.Message, "space") {
					t.Errorf("socket: %s %s", last.Code, last.Message)
				}
			} else if last.Error != "" && !strings.Contains(last.Error, "space") {
				t.Errorf("socket: %s", last.Error)
			}
		}
		for _, path := range []string{"/api/health", "/api/bootstrap", "/api/sessions", "/api/sessions/" + id + "/messages", "/api/config", "/api/notifications"} {
			if a := e.call("GET", path, nil); a.err != nil || a.status != 200 {
				t.Errorf("reading on a full disk: %s: %s", path, a)
			}
		}
		f.empty()
		n++
		for what, a := range writes(t, e, n, id) {
			if !plainly(t, what, a) {
				t.Errorf("%s does not work after space is back: %s", what, a)
			}
		}
		if b := get[bootstrap](e, "/api/bootstrap"); len(b.Notes) != 0 {
			t.Errorf("notes after space is back: %q", b.Notes)
		}
	}
	t.Logf("refused on a full disk: %v", refusals)
	for text := range said {
		t.Logf("said: %s", text)
	}
	if refusals["note"] == 0 || refusals["chat"] == 0 || refusals["upload"] == 0 {
		t.Error("the disk was never full")
	}
	have := map[string]bool{}
	for _, x := range e.notifications() {
		have[x.ID] = true
	}
	for x := range notes {
		if !have[x] {
			t.Errorf("note %s was acknowledged and is lost", x)
		}
	}
	if name := get[bootstrap](e, "/api/bootstrap").Assistant.UserName; name != fmt.Sprintf("name %d", n) {
		t.Errorf("the setting is %q", name)
	}
	l.close()
	e.stop()
	looked(t, p.home, true)
	fullAtStart(t, p, f, id)
}

// fullAtStart: with no space at all an old folder starts, or says why it cannot; it works again when there is space.
func fullAtStart(t *testing.T, p *person, f filler, id string) {
	t.Helper()
	for _, leave := range []int{0, 4 << 10, 64 << 10} {
		f.fill(leave)
		e := p.begin("--port", "0")
		if e.hasEnded() {
			refused(t, e, "space")
			f.empty()
			continue
		}
		b := get[bootstrap](e, "/api/bootstrap")
		if b.SafeMode != nil {
			t.Logf("start with %d bytes: safe mode: %s", leave, b.SafeMode.Sentence)
			if !strings.Contains(b.SafeMode.Sentence, "space") {
				t.Errorf("safe mode says %q", b.SafeMode.Sentence)
			}
			e.stop()
			f.empty()
			continue
		}
		t.Logf("start with %d bytes: works, notes %q", leave, b.Notes)
		if len(e.messages(id)) == 0 {
			t.Error("the messages are gone")
		}
		plainly(t, "note", e.call("POST", "/api/notifications", map[string]any{"message": strings.Repeat("n", 15000)}))
		f.empty()
		for what, a := range writes(t, e, 1_000_000+leave, id) {
			if !plainly(t, what, a) {
				t.Errorf("%s does not work after space is back: %s", what, a)
			}
		}
		e.stop()
		looked(t, p.home, true)
	}
	e := p.serve()
	if len(e.messages(id)) == 0 {
		t.Error("the messages are gone")
	}
	e.stop()
	fresh := personAt(t, t.TempDir(), filepath.Join(filepath.Dir(f.path), "fresh"))
	f.fill(0)
	first := fresh.begin("--port", "0")
	if first.hasEnded() {
		refused(t, first, "space")
	} else if b := get[bootstrap](first, "/api/bootstrap"); b.SafeMode == nil || !strings.Contains(b.SafeMode.Sentence, "space") {
		t.Errorf("a first start on a full disk: %+v", b)
	} else {
		first.stop()
	}
	f.empty()
	e = fresh.serve()
	if b := get[bootstrap](e, "/api/bootstrap"); b.SafeMode != nil {
		t.Errorf("the first start after it: %+v", b.SafeMode)
	}
	e.stop()
}
