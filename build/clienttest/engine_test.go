//go:build clients

package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

// startLimit is how long the program may take until it is ready.
const startLimit = 30 * time.Second

// quietFor is longer than a stream is silent without showing that it lives.
const quietFor = 20 * time.Second

// engineTarget starts the built program beside a model service on loopback: one with the API on, one with it off.
func engineTarget(t *testing.T) target {
	g := newGates()
	stub, err := scripted.ServeBy(func(r scripted.Recorded) scripted.Play { return play(r, g) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stub.Close)
	stub.SetModels("stub")
	on, off := serve(t, stub.URL, true), serve(t, stub.URL, false)
	var made struct {
		Key     string `json:"key"`
		BaseURL string `json:"base_url"`
	}
	if err := on.call("POST", "/api/openai-api/key", "{}", &made); err != nil {
		t.Fatal(err)
	}
	if made.BaseURL != on.url+"/v1" {
		t.Errorf("base_url is %q; want %q", made.BaseURL, on.url+"/v1")
	}
	return target{base: made.BaseURL, off: off.url + "/v1", key: made.Key, gates: g,
		stop:    func() error { return on.call("POST", "/api/stop-all", "{}", nil) },
		replies: on.replies}
}

// play answers a request for a chat's reply.
func play(r scripted.Recorded, g *gates) scripted.Play {
	text := lastUser(r.Body)
	last := scripted.End(llm.FinishStop, llm.Usage{Prompt: 40, Completion: 7})
	m := order.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		m = []string{"", "", ""}
	}
	switch m[1] {
	case "fail":
		return scripted.Refuse(http.StatusServiceUnavailable, `{"error":{"message":"overloaded"}}`)
	case "cut":
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("This is cut ")}}, Cut: true}
	case "hold":
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("Before ")}, {Bytes: scripted.Text("and after.") + last + "data: [DONE]\n\n", Until: g.of(m[2])}}}
	case "quiet":
		after := make(chan struct{})
		time.AfterFunc(quietFor, func() { close(after) })
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("Let me see.")}, {Bytes: scripted.Text("Here ") + scripted.Text("it is.") + last + "data: [DONE]\n\n", Until: after}}}
	}
	var parts []string
	for _, word := range strings.SplitAfter("You said: "+text, " ") {
		parts = append(parts, scripted.Text(word))
	}
	return scripted.Stream(append(parts, last)...)
}

// lastUser gives the text of the last message of the user in a request to the model.
func lastUser(body []byte) string {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role != "user" {
			continue
		}
		var text string
		var parts []struct{ Text string }
		if json.Unmarshal(r.Messages[i].Content, &text) != nil && json.Unmarshal(r.Messages[i].Content, &parts) == nil && len(parts) > 0 {
			text = parts[len(parts)-1].Text
		}
		return text
	}
	return ""
}

// engine is a running program.
type engine struct{ url, token string }

var readyLine = regexp.MustCompile(`Sentient is ready at (http://\S+)`)

func serve(t *testing.T, model string, on bool) engine {
	t.Helper()
	user := t.TempDir()
	home := filepath.Join(user, "data")
	config := fmt.Sprintf("version: 1\nchat:\n  auto_title: false\nopenai_api:\n  enabled: %t\nmodels:\n  roles:\n    primary: lm_studio/stub\n    fast: lm_studio/stub\n  providers:\n    lm_studio:\n      api_base: %s\n", on, model)
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(filepath.Join("..", "bin", "sentient"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--port", "0")
	cmd.Dir, cmd.Env = user, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + user, "SENTIENT_HOME=" + home, "TZ=UTC", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out := &output{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // Wait tells
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("the program ended with %v and said\n%s", err, out)
		}
	})
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		m := readyLine.FindStringSubmatch(out.String())
		token, err := os.ReadFile(filepath.Join(home, "gateway.token"))
		if m != nil && err == nil {
			return engine{m[1], strings.TrimSpace(string(token))}
		}
	}
	t.Fatalf("the program did not start\n%s", out)
	return engine{}
}

// call sends a request with the folder's token.
func (e engine) call(method, path, body string, into any) error {
	req, err := http.NewRequest(method, e.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+e.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s %w", method, path, res.StatusCode, raw, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// replies gives the saved replies of the chat that is named after a user.
func (e engine) replies(user string) ([]string, error) {
	var chats []struct{ ID, Title, Channel string }
	if err := e.call("GET", "/api/sessions?limit=1000", "", &chats); err != nil {
		return nil, err
	}
	all := []string{}
	for _, c := range chats {
		if c.Title != user || c.Channel != "api" {
			continue
		}
		var messages []struct{ Role, Content string }
		if err := e.call("GET", "/api/sessions/"+url.PathEscape(c.ID)+"/messages?limit=100", "", &messages); err != nil {
			return nil, err
		}
		for _, m := range messages {
			if m.Role == "assistant" {
				all = append(all, m.Content)
			}
		}
	}
	return all, nil
}

// output is what a program has said so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
