package config

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sentient/backend/errs"
)

const goodFile = `# My settings
version: 1
assistant:
  name: Sam # short
  user_name: Maya
ui:
  theme: light
  accent: sea
models:
  roles:
    primary: anthropic/claude-sonnet-5
  fallbacks:
    primary: [openai/gpt-6, "ollama_chat/qwen3:8b"]
tools:
  approvals:
    mode: always
    rules:
      gmail: never
      slack: if_asked
chat:
  alarm_snooze_minutes: 12
`

// started gives a data folder whose settings were read once, so that there is a last good copy.
func started(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, text)
	if n := open(t, dir).Notes(); len(n) > 0 {
		t.Fatalf("a good file gives notes: %q", n)
	}
	if got := read(t, dir, lastGoodName); got != text {
		t.Fatalf("the last good copy is %q", got)
	}
	return dir
}

func TestDamagedFileIsSetAside(t *testing.T) {
	for name, damaged := range map[string][]byte{
		"nothing":                {},
		"spaces":                 []byte(" \n\n"),
		"half":                   []byte(goodFile[:len(goodFile)/2]),
		"cut in a word":          []byte(goodFile[:len(goodFile)-4]),
		"zero bytes":             make([]byte, len(goodFile)),
		"zero bytes at the end":  append([]byte(goodFile[:200]), make([]byte, 100)...),
		"not YAML":               []byte("ui: [dark\nassistant: }\n"),
		"a list":                 []byte("- a\n- b\n"),
		"a word":                 []byte("hello\n"),
		"not text":               {0x80, 0x81, 0xfe, 0x00, 0x12},
		"half a UTF-16 file":     []byte("\xff\xfeu\x00i"),
		"a table in itself":      []byte("ui: &a\n  theme: *a\n"),
		"unfolds without end":    bomb(),
		"a key that is a table":  []byte("{a: 1}: b\n"),
		"larger than any":        bytes.Repeat([]byte("# x\n"), maxFile/4+1),
		"a reference to nothing": []byte("ui: *a\n"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := started(t, goodFile)
			write(t, dir, string(damaged))
			s := open(t, dir)
			checkLastGood(t, dir, s, damaged)
			if n := open(t, dir).Notes(); len(n) != 0 {
				t.Errorf("the start after that says %q", n)
			}
		})
	}
}

func checkLastGood(t *testing.T, dir string, s *Store, damaged []byte) {
	t.Helper()
	if c := s.Get(); c.UI.Theme != "light" || c.Tools.Approvals.Rules["gmail"] != "never" || c.Chat.AlarmSnoozeMinutes != 12 {
		t.Errorf("the last good settings are not used: %+v", c.UI)
	}
	notes := s.Notes()
	if len(notes) != 1 || !strings.Contains(notes[0], "damaged") {
		t.Errorf("notes are %q", notes)
	}
	for _, n := range notes {
		plainSentence(t, n)
	}
	aside, err := filepath.Glob(filepath.Join(dir, fileName+".damaged-*"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("set aside: %v %v", aside, err)
	}
	if b, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(b, damaged) {
		t.Errorf("what was set aside is not what stood there: %v", err)
	}
	if got := read(t, dir, fileName); got != goodFile {
		t.Errorf("the last good copy was not put back: %q", got)
	}
}

// bomb is a small file that unfolds to millions of values.
func bomb() []byte {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		n, p := string(rune('0'+i)), string(rune('0'+i-1))
		b.WriteString("a" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+p+", ", 10), ", ") + "]\n")
	}
	return []byte(b.String())
}

func TestDamageTwiceInASecondLosesNothing(t *testing.T) {
	dir := started(t, goodFile)
	for _, bad := range []string{"[1", "[2", "[3"} {
		write(t, dir, bad)
		open(t, dir)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, fileName+".damaged-*"))
	if len(aside) != 3 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestDamageWithoutAGoodCopyIsSaid(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "")
	s := open(t, dir)
	d := Defaults()
	if !same(t, s.Get(), &d) || len(s.Notes()) != 1 {
		t.Errorf("notes: %q", s.Notes())
	}
	patch(t, s, `{"ui":{"theme":"light"}}`)

	dir = started(t, goodFile)
	write(t, dir, "[")
	if err := os.WriteFile(filepath.Join(dir, lastGoodName), []byte{0}, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := open(t, dir).Notes(); len(n) != 1 || !strings.Contains(n[0], "default") {
		t.Errorf("notes: %q", n)
	}

	dir = started(t, goodFile)
	if err := os.Remove(filepath.Join(dir, fileName)); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if s.Get().UI.Theme != "light" || len(s.Notes()) != 1 || read(t, dir, fileName) != goodFile {
		t.Errorf("a missing file: %q", s.Notes())
	}
	if err := os.Remove(filepath.Join(dir, fileName)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, lastGoodName), []byte{0}, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := open(t, dir).Notes(); len(n) != 1 {
		t.Errorf("notes: %q", n)
	}
}

func TestFirstStartIsQuiet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := open(t, dir)
	d := Defaults()
	if len(s.Notes()) != 0 || !same(t, s.Get(), &d) {
		t.Errorf("notes: %q", s.Notes())
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("a start without changes wrote %v", left)
	}
	if _, err := Open(options(filepath.Join(writeFile(t), "below"))); !errs.Is(err, errs.Unavailable) {
		t.Errorf("a folder that cannot be: %v", err)
	}
}

func writeFile(t *testing.T) string {
	p := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(p, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSingleValuesThatAreWrongCostOnlyThemselves(t *testing.T) {
	dir := started(t, goodFile)
	bad := strings.NewReplacer("theme: light", "theme: lihgt", "slack: if_asked", "slack: perhaps",
		"[openai/gpt-6, \"ollama_chat/qwen3:8b\"]", "[gpt, \"ollama_chat/qwen3:8b\"]", "alarm_snooze_minutes: 12", "alarm_snooze_minutes: 99").Replace(goodFile)
	write(t, dir, bad)
	s := open(t, dir)
	c := s.Get()
	if c.UI.Theme != "dark" || c.UI.Accent != "sea" || c.Chat.AlarmSnoozeMinutes != 9 || len(c.Models.Fallbacks) != 0 {
		t.Errorf("settings: %+v", c.UI)
	}
	if r := c.Tools.Approvals.Rules; len(r) != 1 || r["gmail"] != "never" {
		t.Errorf("rules: %v", r)
	}
	notes := strings.Join(s.Notes(), "\n")
	for _, key := range []string{"ui.theme", "tools.approvals.rules.slack", "models.fallbacks.primary.0", "chat.alarm_snooze_minutes"} {
		if !strings.Contains(notes, key) {
			t.Errorf("no note names %s: %s", key, notes)
		}
	}
	if read(t, dir, fileName) != bad || read(t, dir, lastGoodName) != goodFile {
		t.Error("a file was changed")
	}
	patch(t, s, `{"ui":{"theme":"system"}}`)
	if got := read(t, dir, fileName); got != strings.Replace(bad, "lihgt", "system", 1) {
		t.Errorf("saving gives %q", got)
	}
	if n := strings.Join(s.Notes(), "\n"); strings.Contains(n, "ui.theme") || !strings.Contains(n, "slack") {
		t.Errorf("notes after one was put right: %s", n)
	}
}

func TestWholeSectionsThatAreWrong(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ui: [1]\nchat: 5\nmemory:\nassistant: {name: Sam, user_name: 42, timezone: no, onboarding_complete: yes}\ngateway: {port: \"1\"}\ndreaming: {time: 04:30, notify: off}\nversion: one\n")
	s := open(t, dir)
	c := s.Get()
	if c.Assistant.Name != "Sam" || c.Assistant.UserName != "42" || !c.Assistant.OnboardingComplete || c.UI.Theme != "dark" || c.Dreaming.Time != "04:30" || c.Dreaming.Notify {
		t.Errorf("settings: %+v %+v", c.Assistant, c.Dreaming)
	}
	if n := s.Notes(); len(n) != 5 {
		t.Errorf("notes: %q", n)
	}
}

func TestNewerFileIsLeftAlone(t *testing.T) {
	dir := started(t, goodFile)
	newer := strings.Replace(goodFile, "version: 1", "version: 7", 1) + "glow: true\n"
	write(t, dir, newer)
	s := open(t, dir)
	if s.Get().UI.Theme != "light" || len(s.Notes()) != 1 || !strings.Contains(s.Notes()[0], "newer") {
		t.Errorf("notes: %q", s.Notes())
	}
	_, err := s.Patch(t.Context(), json.RawMessage(`{"ui":{"theme":"dark"}}`))
	if !errs.Is(err, errs.Conflict) || errs.Code(err) != "config_newer" {
		t.Errorf("a write: %v", err)
	}
	if read(t, dir, fileName) != newer || read(t, dir, lastGoodName) != goodFile {
		t.Error("a file was changed")
	}
}

func TestWhatVanishedIsSaid(t *testing.T) {
	dir := started(t, goodFile)
	cut := goodFile[:strings.Index(goodFile, "tools:")] // the end is missing, cut between two lines
	write(t, dir, cut)
	checkLastGood(t, dir, open(t, dir), []byte(cut))
	write(t, dir, cut) // again: meant
	s := open(t, dir)
	if n := strings.Join(s.Notes(), " "); !strings.Contains(n, "tools.approvals.mode") || !strings.Contains(n, previousName) {
		t.Errorf("notes: %q", n)
	}
	if read(t, dir, previousName) != goodFile {
		t.Error("the file as it was before is not kept")
	}
	if n := open(t, dir).Notes(); len(n) != 0 {
		t.Errorf("said twice: %q", n)
	}
}

// 300 times a byte of the file is turned into another one. What that makes of the settings may never be a start with
// default settings that nobody is told about, and never the loss of a value without a word.
func TestFlippedBytesAreNeverSilent(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 300))
	defaults := Defaults()
	small := "# mine\nui:\n  theme: light\n"
	for i := range 300 {
		text := goodFile
		if i%3 == 0 {
			text = small
		}
		dir := t.TempDir()
		write(t, dir, text)
		good := open(t, dir).Get() // leaves the last good copy
		raw := []byte(text)
		at := rng.IntN(len(raw))
		for old := raw[at]; raw[at] == old; {
			if i%2 == 0 {
				raw[at] ^= 1 << rng.IntN(8)
			} else {
				raw[at] = byte(rng.UintN(256))
			}
		}
		write(t, dir, string(raw))
		s := open(t, dir)
		if len(s.Notes()) == 0 && !same(t, s.Get(), good) {
			if same(t, s.Get(), &defaults) {
				t.Errorf("flip %d at %d (%q): a silent start with defaults", i, at, raw)
			}
			silentLoss(t, s.Get(), good, &defaults, raw)
		}
		if left, err := os.ReadFile(filepath.Join(dir, fileName)); err != nil || len(left) == 0 {
			t.Errorf("flip %d: the file is gone: %v", i, err)
		}
	}
}

// silentLoss: without a note a value may have become another one (a digit, a letter of a name), never its default.
func silentLoss(t *testing.T, is, was, def *Config, raw []byte) {
	t.Helper()
	a, err1 := encode(was)
	b, err2 := encode(is)
	d, err3 := encode(def)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	for _, c := range diff(root(), a, b) {
		if v, ok := at(d, c.path); ok && !c.remove && flow(v) == flow(c.value) && flow(v) != "{}" {
			t.Errorf("%q: %v went back to its default without a word", raw, c.path)
		}
	}
}
