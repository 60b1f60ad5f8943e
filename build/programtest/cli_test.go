//go:build program

package programtest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sentient/backend/llm/scripted"
)

// What each command line prints and how it ends, where no engine runs.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args     []string
		status   int
		out, err string // what is in them; "-" for nothing at all
	}{
		{[]string{"nonsense"}, 2, "-", "sentient --help"},
		{[]string{"serve", "--nonsense"}, 2, "-", "sentient --help"},
		{[]string{"serve", "--port", "many"}, 2, "-", "sentient --help"},
		{[]string{"ask"}, 2, "-", "sentient --help"},
		{[]string{"--help"}, 0, "contract", "-"},
		{[]string{"serve", "--help"}, 0, "--port", "-"},
		{[]string{"version"}, 0, "sentient ", "-"},
		{[]string{"status"}, 3, "Sentient is not running.", "-"},
		{[]string{"eval"}, 0, "No measures yet.", "-"},
		{[]string{"eval", "nonsense"}, 1, "-", "There is no measure named “nonsense”."},
	} {
		p := newPerson(t)
		r := p.run(c.args...)
		t.Logf("%-24s status %d", strings.Join(c.args, " "), r.status)
		if r.status != c.status || !says(r.out, c.out) || !says(r.err, c.err) {
			t.Errorf("sentient %s: status %d, out %q, err %q; want %d, %q, %q", strings.Join(c.args, " "), r.status, r.out, r.err, c.status, c.out, c.err)
		}
		if _, err := os.Stat(p.home); !os.IsNotExist(err) {
			t.Errorf("sentient %s made the data folder", strings.Join(c.args, " "))
		}
	}
}

func says(got, want string) bool {
	if want == "-" {
		return got == ""
	}
	return strings.Contains(got, want)
}

// `contract` prints what is served, from the table alone.
func TestContractOpensNothing(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	r := p.run("contract")
	var c map[string]json.RawMessage
	if r.status != 0 || r.err != "" || json.Unmarshal([]byte(r.out), &c) != nil || len(c) == 0 {
		t.Fatalf("status %d, err %q, out %s", r.status, r.err, tail(r.out, 300))
	}
	for _, part := range []string{"/api/health", "/ws", "text_delta", "config.updated", "serve"} {
		if !strings.Contains(r.out, `"`+part) && !strings.Contains(r.out, part) {
			t.Errorf("%s is missing", part)
		}
	}
	if _, err := os.Stat(p.home); !os.IsNotExist(err) {
		t.Error("it made the data folder")
	}
}

// `status`, `ask` and `doctor` beside a running engine, and with none.
func TestAskStatusDoctor(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.on("fail", func(string) scripted.Play { return scripted.Refuse(503, `{"error":{"message":"overloaded"}}`) })
	p := newPerson(t)
	p.configure(s, "")
	check := func(when, running string) {
		t.Helper()
		for _, c := range []struct {
			args     []string
			status   int
			out, err string
		}{
			{[]string{"ask", "good", "morning"}, 0, "You said: good morning\n", "-"},
			{[]string{"ask", "--no-keep", "secretly"}, 0, "You said: secretly\n", "-"},
			{[]string{"ask", "fail"}, 1, "-", "."},
			{[]string{"ask", "--model", "nonsense", "hi"}, 1, "-", "provider/model"},
			{[]string{"doctor"}, 0, "lm_studio/stub answers chats.", "-"},
			{[]string{"doctor"}, 0, running, "-"},
			{[]string{"doctor", "--can-answer"}, 0, "-", "-"},
		} {
			r := p.run(c.args...)
			t.Logf("%-12s %-28s status %d", when, strings.Join(c.args, " "), r.status)
			if r.status != c.status || !says(r.out, c.out) || !says(r.err, c.err) {
				t.Errorf("%s: sentient %s: status %d, out %q, err %q; want %d, %q, %q", when, strings.Join(c.args, " "), r.status, r.out, r.err, c.status, c.out, c.err)
			}
			if line := strings.TrimSpace(r.err); c.status == 1 && !isSentence(line) {
				t.Errorf("%s: sentient %s: %q is no sentence", when, strings.Join(c.args, " "), line)
			}
		}
	}
	check("alone", "not running")
	e := p.serve()
	check("attached", "  running")
	if r := p.run("status"); r.status != 0 || !strings.Contains(r.out, e.url) || !strings.Contains(r.out, p.home) {
		t.Errorf("status: %+v", r)
	}
	chats := get[[]chat](e, "/api/sessions")
	kept := 0
	for _, c := range chats {
		for _, m := range e.messages(c.ID) {
			if m.Role == "user" && m.Content == "good morning" {
				kept++
			}
			if m.Content == "secretly" {
				t.Error("a question that was not to be kept is in the list")
			}
		}
	}
	if kept != 2 {
		t.Errorf("%d of 2 questions were kept", kept)
	}
	e.stop()
	if r := p.run("status"); r.status != 3 {
		t.Errorf("status after the end: %+v", r)
	}
}

// Without any model the answer is a sentence and status 1, not an endless wait.
func TestAskWithoutModel(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	must(t, os.MkdirAll(p.home, 0o700))
	must(t, os.WriteFile(p.home+"/config.yaml", []byte("models:\n  roles:\n    primary: lm_studio/none\n  providers:\n    lm_studio:\n      api_base: http://127.0.0.1:9/v1\n"), 0o600))
	r := p.run("ask", "hello")
	t.Logf("status %d: %s", r.status, strings.TrimSpace(r.err))
	if r.status != 1 || r.out != "" || !isSentence(strings.TrimSpace(r.err)) {
		t.Errorf("%+v", r)
	}
	if r := p.run("doctor", "--can-answer"); r.out != "" || r.status > 1 {
		t.Errorf("doctor --can-answer: %+v", r)
	}
}
