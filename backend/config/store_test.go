package config

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/obs"
)

// refusals are patches that must be refused, with the one fault each has.
var refusals = []struct {
	body, loc, kind string
	errKind         errs.Kind
}{
	{`{`, "", "", errs.Malformed},
	{``, "", "", errs.Malformed},
	{`{} {}`, "", "", errs.Malformed},
	{`[1]`, "", "dict_type", errs.Invalid},
	{`null`, "", "dict_type", errs.Invalid},
	{`{"nope":1}`, "nope", "extra_forbidden", errs.Invalid},
	{`{"ui":{"nope":1}}`, "ui.nope", "extra_forbidden", errs.Invalid},
	{`{"version":2}`, "version", "extra_forbidden", errs.Invalid},
	{`{"ui":5}`, "ui", "dict_type", errs.Invalid},
	{`{"ui":null}`, "ui", "dict_type", errs.Invalid},
	{`{"ui":{"theme":null}}`, "ui.theme", "string_type", errs.Invalid},
	{`{"ui":{"theme":"blue"}}`, "ui.theme", "literal_error", errs.Invalid},
	{`{"ui":{"launch_at_login":"yes"}}`, "ui.launch_at_login", "bool_type", errs.Invalid},
	{`{"chat":{"alarm_snooze_minutes":0}}`, "chat.alarm_snooze_minutes", "greater_than_equal", errs.Invalid},
	{`{"chat":{"alarm_snooze_minutes":61}}`, "chat.alarm_snooze_minutes", "less_than_equal", errs.Invalid},
	{`{"chat":{"alarm_snooze_minutes":9.5}}`, "chat.alarm_snooze_minutes", "int_from_float", errs.Invalid},
	{`{"chat":{"alarm_snooze_minutes":"9"}}`, "chat.alarm_snooze_minutes", "int_type", errs.Invalid},
	{`{"memory":{"min_similarity":"0.5"}}`, "memory.min_similarity", "float_type", errs.Invalid},
	{`{"memory":{"min_similarity":1e999}}`, "memory.min_similarity", "finite_number", errs.Invalid},
	{`{"tools":{"approvals":{"undo_seconds":61}}}`, "tools.approvals.undo_seconds", "less_than_equal", errs.Invalid},
	{`{"tools":{"approvals":{"rules":{"gmail":"sometimes"}}}}`, "tools.approvals.rules.gmail", "literal_error", errs.Invalid},
	{`{"tools":{"approvals":{"rules":{"  ":"ask"}}}}`, "tools.approvals.rules.", "string_pattern_mismatch", errs.Invalid},
	{`{"tools":{"approvals":{"rules":{"a b":"ask"}}}}`, "tools.approvals.rules.a b", "string_pattern_mismatch", errs.Invalid},
	{`{"tools":{"approvals":{"rules":["ask"]}}}`, "tools.approvals.rules", "dict_type", errs.Invalid},
	{`{"tools":{"disabled":"x"}}`, "tools.disabled", "list_type", errs.Invalid},
	{`{"tools":{"disabled":[1]}}`, "tools.disabled.0", "string_type", errs.Invalid},
	{`{"tools":{"disabled":[null]}}`, "tools.disabled.0", "string_type", errs.Invalid},
	{`{"assistant":{"timezone":"Mars/Base"}}`, "assistant.timezone", "value_error", errs.Invalid},
	{`{"assistant":{"timezone":"Local"}}`, "assistant.timezone", "value_error", errs.Invalid},
	{`{"assistant":{"timezone":"../etc/passwd"}}`, "assistant.timezone", "value_error", errs.Invalid},
	{`{"assistant":{"name":""}}`, "assistant.name", "string_too_short", errs.Invalid},
	{`{"assistant":{"user_name":"a\u0000b"}}`, "assistant.user_name", "string_unicode", errs.Invalid},
	{`{"models":{"roles":{"primary":null}}}`, "models.roles.primary", "string_type", errs.Invalid},
	{`{"models":{"roles":{"primary":"qwen"}}}`, "models.roles.primary", "string_pattern_mismatch", errs.Invalid},
	{`{"models":{"reasoning":{"boss":"low"}}}`, "models.reasoning.boss", "string_pattern_mismatch", errs.Invalid},
	{`{"models":{"fallbacks":{"primary":"a/b"}}}`, "models.fallbacks.primary", "list_type", errs.Invalid},
	{`{"models":{"fallbacks":{"primary":["a"]}}}`, "models.fallbacks.primary.0", "string_pattern_mismatch", errs.Invalid},
	{`{"models":{"context_length_per_role":{"fast":100}}}`, "models.context_length_per_role.fast", "greater_than_equal", errs.Invalid},
	{`{"models":{"presets":{"cloud":{}}}}`, "models.presets.cloud", "string_pattern_mismatch", errs.Invalid},
	{`{"models":{"presets":{"Mine":null}}}`, "models.presets.Mine", "dict_type", errs.Invalid},
	{`{"models":{"presets":{"Mine":{},"mine":{}}}}`, "models.presets.mine", "value_error", errs.Invalid},
	{`{"models":{"presets":{"Mine":{"x":1}}}}`, "models.presets.Mine.x", "extra_forbidden", errs.Invalid},
	{`{"browser":{"profiles":{"default":{"kind":"attach"}}}}`, "browser.profiles.default.kind", "value_error", errs.Invalid},
	{`{"browser":{"profiles":{"default":null}}}`, "browser.profiles.default", "dict_type", errs.Invalid},
	{`{"browser":{"profiles":{"Big Name":{}}}}`, "browser.profiles.Big Name", "string_pattern_mismatch", errs.Invalid},
	{`{"channels":{"telegram":{"memory_scope":"Always"}}}`, "channels.telegram.memory_scope", "value_error", errs.Invalid},
	{`{"channels":{"signal":{}}}`, "channels.signal", "extra_forbidden", errs.Invalid},
	{`{"proactivity":{"brief":{"news_topics":["a","b","c","d","e","f"]}}}`, "proactivity.brief.news_topics", "too_long", errs.Invalid},
	{`{"proactivity":{"quiet_hours":"25:00-07:00"}}`, "proactivity.quiet_hours", "string_pattern_mismatch", errs.Invalid},
	{`{"dreaming":{"time":"3am"}}`, "dreaming.time", "string_pattern_mismatch", errs.Invalid},
	{`{"backups":{"folder":"Backups"}}`, "backups.folder", "value_error", errs.Invalid},
	{`{"integrations":{"mcp_servers":{"x":{"env":{"K":"v"}}}}}`, "integrations.mcp_servers.x.env", "extra_forbidden", errs.Invalid},
	{`{"integrations":{"searxng_url":"ftp://x"}}`, "integrations.searxng_url", "value_error", errs.Invalid},
	{`{"terminal":{"timeout_s":4}}`, "terminal.timeout_s", "greater_than_equal", errs.Invalid},
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ui:\n  theme: light\n")
	s := open(t, dir)
	for _, c := range refusals {
		_, err := s.Patch(context.Background(), json.RawMessage(c.body))
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != c.errKind {
			t.Errorf("%s: got %v, want %s", c.body, err, c.errKind)
			continue
		}
		plainSentence(t, e.Message)
		if c.kind == "" {
			continue
		}
		if len(e.Fields) != 1 || strings.Join(e.Fields[0].Loc, ".") != c.loc || e.Fields[0].Type != c.kind {
			t.Errorf("%s: fields are %+v, want %s %s", c.body, e.Fields, c.loc, c.kind)
		}
		for _, f := range e.Fields {
			plainSentence(t, f.Msg)
		}
	}
	if _, err := s.Patch(context.Background(), json.RawMessage(`{"ui":"`+strings.Repeat("x", maxBody)+`"}`)); !errs.Is(err, errs.TooLarge) {
		t.Errorf("a huge patch: %v", err)
	}
	if got := read(t, dir, fileName); got != "ui:\n  theme: light\n" {
		t.Errorf("a refusal changed the file: %q", got)
	}
	var e *errs.Error
	_, err := s.Patch(context.Background(), json.RawMessage(`{"ui":{"theme":"x","accent":""},"nope":1}`))
	if !errors.As(err, &e) || len(e.Fields) != 3 || errs.StatusOf(err) != 422 {
		t.Errorf("three faults give %v", err)
	}
}

func plainSentence(t *testing.T, s string) {
	t.Helper()
	if s == "" || !strings.HasSuffix(s, ".") || s[:1] != strings.ToUpper(s[:1]) && !strings.HasPrefix(s, "auto") {
		t.Errorf("%q is no sentence", s)
	}
}

func TestPatchMerges(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	patch(t, s, `{"tools":{"approvals":{"rules":{" Gmail ":" NEVER ","slack":"ask"},"rule_origins":{"slack":{"rule":"ask","said":"ask me"}}}}}`)
	c := patch(t, s, `{"models":{"providers":{"nous":{"api_base":"https://mine/v1"}}}}`)
	if got := c.Tools.Approvals.Rules; !reflect.DeepEqual(got, map[string]string{"Gmail": "never", "slack": "ask"}) {
		t.Errorf("rules = %v", got)
	}
	if got := c.Models.Providers["nous"]; got.APIBase != "https://mine/v1" || got.APIKeyEnv != "NOUS_API_KEY" {
		t.Errorf("nous = %+v", got)
	}
	if len(c.Models.Providers) < 15 || c.Models.Providers["builtin"] != (ProviderEntry{}) {
		t.Errorf("providers = %v", c.Models.Providers)
	}
	c = patch(t, s, `{"tools":{"approvals":{"rules":{"slack":"never"}}}}`)
	if len(c.Tools.Approvals.RuleOrigins) != 0 {
		t.Error("the origin of a changed rule stays")
	}
	c = patch(t, s, `{"tools":{"approvals":{"rules":{" slack ":null}}},"models":{"reasoning":{"primary":null,"vision":"low"},"providers":{"groq":null}}}`)
	if _, ok := c.Tools.Approvals.Rules["slack"]; ok {
		t.Error("null did not remove the rule")
	}
	if want := map[string]string{"fast": "none", "planner": "none", "executor": "none", "voice": "none", "vision": "low"}; !reflect.DeepEqual(c.Models.Reasoning, want) {
		t.Errorf("reasoning = %v", c.Models.Reasoning)
	}
	if _, ok := c.Models.Providers["groq"]; ok {
		t.Error("null did not remove a provider of the defaults")
	}
	c = patch(t, s, `{"tasks":{"email":{"allowed_senders":["A@x.org; b@y.org,","a@X.org"]}},"models":{"roles":{"fast":null}}}`)
	if !reflect.DeepEqual(c.Tasks.Email.AllowedSenders, []string{"a@x.org", "b@y.org"}) || c.Models.Roles.Fast != nil {
		t.Errorf("senders = %v, fast = %v", c.Tasks.Email.AllowedSenders, c.Models.Roles.Fast)
	}
	if !same(t, open(t, dir).Get(), c) {
		t.Error("does not read back")
	}
	if fi, err := os.Stat(filepath.Join(dir, fileName)); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("a new file: %v %v", fi.Mode(), err)
	}
}

func TestReplaceTakesTheWholeObject(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "# mine\nfuture: 1\nui:\n  theme: light\nmodels:\n  providers:\n    mine: {api_base: \"http://x\"}\n")
	s := open(t, dir)
	full, err := json.Marshal(s.Get())
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, dir, fileName)
	if err := s.Replace(context.Background(), full); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, fileName); got != before {
		t.Errorf("putting back what was got changed the file: %q", got)
	}
	if err := s.Replace(context.Background(), json.RawMessage(`{"ui":{"accent":"sea"}}`)); err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.UI.Accent = "sea"
	if !same(t, s.Get(), &want) || !same(t, open(t, dir).Get(), &want) {
		t.Error("what is left out is not back at its default")
	}
	if got := read(t, dir, fileName); !strings.Contains(got, "# mine\nfuture: 1\n") {
		t.Errorf("lost what it does not know: %q", got)
	}
	if err := s.Replace(context.Background(), json.RawMessage(`{"nope":{}}`)); !errs.Is(err, errs.Invalid) {
		t.Errorf("unknown section: %v", err)
	}
}

func TestHandEditBetweenLoadAndSaveIsKept(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ui:\n  theme: dark\nassistant:\n  name: Sam\n")
	s := open(t, dir)
	write(t, dir, "# by hand\nui:\n  theme: dark\nassistant:\n  name: Kim # new\n  future: 1\n")
	c := patch(t, s, `{"ui":{"theme":"light"}}`)
	if got := read(t, dir, fileName); got != "# by hand\nui:\n  theme: light\nassistant:\n  name: Kim # new\n  future: 1\n" {
		t.Errorf("file is %q", got)
	}
	if c.Assistant.Name != "Kim" {
		t.Errorf("the edit is not applied: %q", c.Assistant.Name)
	}
	write(t, dir, "ui: [")
	_, err := s.Patch(context.Background(), json.RawMessage(`{"ui":{"theme":"dark"}}`))
	if errs.Code(err) != "config_hand_edit" {
		t.Errorf("saving over a broken hand edit: %v", err)
	}
	if got := read(t, dir, fileName); got != "ui: [" || s.Get().UI.Theme != "light" {
		t.Errorf("the refused save left %q", got)
	}
	if err := os.Remove(filepath.Join(dir, fileName)); err != nil {
		t.Fatal(err)
	}
	patch(t, s, `{"ui":{"accent":"sea"}}`)
	if c := open(t, dir).Get(); c.UI.Theme != "light" || c.UI.Accent != "sea" || c.Assistant.Name != "Kim" {
		t.Errorf("after the file was removed: %+v %q", c.UI, c.Assistant.Name)
	}
}

// recorder is a subscriber that writes down what it is asked.
type recorder struct {
	refuse error
	log    *[]string
	name   string
}

func (r recorder) Verify(_ context.Context, from, to *Config) error {
	*r.log = append(*r.log, r.name+" verify "+from.UI.Theme+">"+to.UI.Theme)
	return r.refuse
}

func (r recorder) Commit(_ context.Context, from, to *Config) {
	*r.log = append(*r.log, r.name+" commit "+from.UI.Theme+">"+to.UI.Theme)
}

func TestVerifyThenWriteThenCommit(t *testing.T) {
	dir := t.TempDir()
	bus := event.NewBus(clock.Real{})
	sub := bus.Subscribe(nil, nil)
	defer sub.Close()
	s, err := Open(Options{Dir: dir, Clock: clock.Real{}, Log: obs.Discard(), Bus: bus})
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	s.Subscribe("a", recorder{log: &log, name: "a"})
	no := errs.New(errs.Conflict, "port_taken", "Another program uses this port.")
	cancel := s.Subscribe("b", recorder{log: &log, name: "b", refuse: no})
	before := s.Get()
	if _, err := s.Patch(context.Background(), json.RawMessage(`{"ui":{"theme":"light"}}`)); !errors.Is(err, no) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, fileName)); err == nil || s.Get() != before {
		t.Error("a refused change was made")
	}
	cancel()
	patch(t, s, `{"ui":{"theme":"light"},"chat":{"auto_title":false}}`)
	patch(t, s, `{"ui":{"theme":"light"}}`)
	patch(t, s, `{}`)
	if want := []string{"a verify dark>light", "b verify dark>light", "a verify dark>light", "a commit dark>light"}; !slices.Equal(log, want) {
		t.Errorf("asked %q, want %q", log, want)
	}
	e, ok := sub.Try()
	if !ok {
		t.Fatal("nothing was published")
	}
	if u, ok := event.Is(Updated, e); !ok || !slices.Equal(u.Sections, []string{"chat", "ui"}) {
		t.Errorf("published %+v", e.Payload)
	}
	if e, ok := sub.Try(); ok {
		t.Errorf("published more: %+v", e.Payload)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := s.Modify(ctx, func(c *Config) { c.UI.Theme = "dark" }); !errs.Is(err, errs.Cancelled) || s.Get().UI.Theme != "light" {
		t.Errorf("a cancelled change: %v, theme %s", err, s.Get().UI.Theme)
	}
}

func TestModifyWorksOnACopy(t *testing.T) {
	s := open(t, t.TempDir())
	old := s.Get()
	err := s.Modify(context.Background(), func(c *Config) {
		c.Models.Providers["mine"] = ProviderEntry{APIBase: "http://x"}
		c.Tools.Disabled = append(c.Tools.Disabled, "terminal_run")
		c.Terminal.AllowedFolders = nil
		c.Models.Fallbacks = nil
		c.Models.Presets["Mine"] = Preset{Fallbacks: map[string][]string{}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := old.Models.Providers["mine"]; ok {
		t.Error("the old settings changed")
	}
	c := s.Get()
	if c.Terminal.AllowedFolders == nil || c.Models.Fallbacks == nil || c.Models.Presets["Mine"].Roles == nil {
		t.Error("a nil list or map is left")
	}
	if p := c.Models.Presets["Mine"]; p.Fallbacks == nil || p.Reasoning != nil || p.ContextLength != nil {
		t.Errorf("an optional member came or went: %+v", p)
	}
	if err := s.Modify(context.Background(), func(c *Config) { c.UI.Theme = "pink" }); !errs.Is(err, errs.Invalid) {
		t.Errorf("an invalid change in code: %v", err)
	}
}

func TestFailedWriteChangesNothing(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("running as root: permissions are tried with a folder in the file's place only")
	}
	dir := t.TempDir()
	write(t, dir, "ui:\n  theme: light\n")
	s := open(t, dir)
	// The data folder goes: nothing can be written.
	if err := os.Rename(dir, dir+"-gone"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Patch(context.Background(), json.RawMessage(`{"ui":{"theme":"dark"}}`))
	if !errs.Is(err, errs.Unavailable) {
		t.Fatalf("got %v", err)
	}
	plainSentence(t, errs.From(err).Message)
	if s.Get().UI.Theme != "light" {
		t.Error("memory changed")
	}
	if err := os.Rename(dir+"-gone", dir); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, fileName); got != "ui:\n  theme: light\n" {
		t.Errorf("file changed: %q", got)
	}
	patch(t, s, `{"ui":{"theme":"dark"}}`)
}

// The error of a really full device gives the sentence about a full disk.
func TestFullDiskSentence(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("/dev/full cannot be opened: %v", err)
	}
	defer f.Close()
	_, err = f.Write([]byte("x"))
	e := unsaved(err)
	if e.Code != "config_disk_full" {
		t.Errorf("a full disk gives %q (%v)", e.Code, err)
	}
	plainSentence(t, e.Message)
}

func TestPermissionsAndLinksAreKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and links are another matter on Windows")
	}
	dir, real := t.TempDir(), filepath.Join(t.TempDir(), "dotfiles.yaml")
	if err := os.WriteFile(real, []byte("ui:\n  theme: light\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, fileName)); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	patch(t, s, `{"ui":{"theme":"dark"}}`)
	fi, err := os.Lstat(filepath.Join(dir, fileName))
	if err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", fi.Mode(), err)
	}
	if fi, err = os.Stat(real); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("permissions are %v, %v", fi.Mode(), err)
	}
}
