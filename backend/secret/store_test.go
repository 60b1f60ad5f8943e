//go:build !darwin && !windows

package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sentient/backend/errs"
	"sentient/backend/svc"
)

const value = "sk-test-0123456789-never-seen"

func mustSet(t *testing.T, s *Store, name, v string) {
	t.Helper()
	if err := s.Set(t.Context(), name, v); err != nil {
		t.Fatalf("set %s: %v", name, err)
	}
}

func wantGet(t *testing.T, s *Store, name, want string, from Source) {
	t.Helper()
	got, source, err := s.Get(t.Context(), name)
	if err != nil || got != want || source != from {
		t.Errorf("get %s: %d bytes from %q, %v; want %d bytes from %q", name, len(got), source, err, len(want), from)
	}
}

func plainSentence(t *testing.T, err error) {
	t.Helper()
	m := errs.From(err).Message
	if m == "" || m[:1] != strings.ToUpper(m[:1]) || !strings.HasSuffix(m, ".") || strings.Contains(m, value) || strings.Contains(m, "dbus") {
		t.Errorf("%q is no sentence for people", m)
	}
}

func TestRefusals(t *testing.T) {
	p := newPlace(t)
	s := p.store(env())
	for _, c := range []struct {
		name, value string
		kind        errs.Kind
	}{
		{"nobody", value, errs.NotFound},
		{"", value, errs.NotFound},
		{"mcp:files", value, errs.NotFound}, // the engine's own: not for the route
		{"openai_api_key", value, errs.NotFound},
		{"chatgpt", value, errs.Malformed},
		{"openai", "", errs.Invalid},
		{"openai", " \t ", errs.Invalid},
		{"openai", "a\nb-" + value, errs.Invalid},
		{"openai", "a\x00b", errs.Invalid},
		{"openai", "a\u0085b", errs.Invalid},
		{"openai", "a\xffb", errs.Invalid},
		{"openai", strings.Repeat("x", maxValue+1), errs.TooLarge},
	} {
		err := s.Put(t.Context(), c.name, c.value)
		if !errs.Is(err, c.kind) {
			t.Errorf("put %q: %v, want %s", c.name, err, c.kind)
			continue
		}
		plainSentence(t, err)
	}
	if errs.StatusOf(s.Put(t.Context(), "chatgpt", value)) != 400 || errs.StatusOf(s.Remove(t.Context(), "nobody")) != 404 {
		t.Error("the statuses are not the contract's")
	}
	if _, _, err := s.Get(t.Context(), "nobody"); !errs.Is(err, errs.NotFound) {
		t.Errorf("get: %v", err)
	}
	if err := s.Delete(t.Context(), "nobody"); !errs.Is(err, errs.NotFound) {
		t.Errorf("delete: %v", err)
	}
	if _, err := os.Stat(p.home); err == nil {
		t.Error("refusals wrote something")
	}
}

func TestNothingIsOpenedBeforeTheFirstCall(t *testing.T) {
	p := newPlace(t)
	asked := map[string]bool{}
	s := p.store(func(name string) string { asked[name] = true; return "" })
	if s.Service() != "sentient" || s.Where() != "keychain" || len(asked) != 1 || !asked[namespaceVar] {
		t.Errorf("service %q, where %q, asked %v", s.Service(), s.Where(), asked)
	}
	for _, dir := range []string{p.home, p.keys} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s was made", dir)
		}
	}
}

func TestRealKeychain(t *testing.T) {
	b := startBus(t, false)
	b.startKeyring(t, true)
	p := newPlace(t)
	s := p.store(b.getenv)
	wantGet(t, s, "openai", "", None)
	mustSet(t, s, "openai", value)
	wantGet(t, s, "openai", value, Keychain)
	wantGet(t, p.store(b.getenv), "openai", value, Keychain)
	mustSet(t, s, "openai", value+"-2")
	wantGet(t, s, "openai", value+"-2", Keychain)

	long := `{"access_token":"` + strings.Repeat("é😀x", 900) + `","refresh_token":"refresh-0123456789"}`
	for _, v := range []string{long, strings.Repeat("y", 1000), strings.Repeat("z", 2001), long, "short-value"} {
		mustSet(t, s, "chatgpt", v)
		wantGet(t, s, "chatgpt", v, Keychain)
	}
	if n := entriesOf(t, b, s.Service()); n != 2 {
		t.Errorf("%d entries: stale pieces stay", n)
	}
	if s.Where() != "keychain" {
		t.Errorf("where = %q", s.Where())
	}
	listed(t, s, map[string]Source{"openai": Keychain, "chatgpt": Keychain})

	other := New(Options{Home: filepath.Join(t.TempDir(), "demo"), DefaultHome: p.home, KeyDir: p.keys, Getenv: b.getenv, Log: s.log})
	wantGet(t, other, "openai", "", None)
	if err := s.Remove(t.Context(), "openai"); err != nil {
		t.Error(err)
	}
	if err := s.Remove(t.Context(), "openai"); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
	wantGet(t, s, "openai", "", None)
	if left, _ := os.ReadDir(p.home); len(left) != 0 {
		t.Errorf("the data folder holds %v", left)
	}
	nowhereInPlain(t, value, p.home, p.keys, b.dir)
	if strings.Contains(p.log.String(), value) {
		t.Error("the log holds the value")
	}
}

// entriesOf counts the entries of a service in the keyring.
func entriesOf(t *testing.T, b *bus, service string) int {
	t.Helper()
	v, err := openBus(t.Context(), b.getenv, service)
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	open, locked, err := v.(*secretService).search(t.Context(), map[string]string{"service": service})
	if err != nil {
		t.Fatal(err)
	}
	return len(open) + len(locked)
}

func listed(t *testing.T, s *Store, set map[string]Source) {
	t.Helper()
	all, err := s.List(t.Context())
	if err != nil || len(all) != len(table) {
		t.Fatalf("list: %d entries, %v", len(all), err)
	}
	for _, e := range all {
		if e.Source != set[e.Name] || e.Set != (set[e.Name] != None) {
			t.Errorf("%s: set %v from %q, want %q", e.Name, e.Set, e.Source, set[e.Name])
		}
	}
}

// What an earlier version wrote, with attributes of its own, is found, and changed in its place.
func TestEntriesOfEarlierVersions(t *testing.T) {
	b := startBus(t, false)
	b.startKeyring(t, true)
	need(t, "dbus-daemon")
	v, err := openBus(t.Context(), b.getenv, "sentient")
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	old := v.(*secretService)
	if err := createAs(t.Context(), old, map[string]string{"service": "sentient", "username": "anthropic", "application": "Python keyring library"}, "old-value-1"); err != nil {
		t.Fatal(err)
	}
	s := newPlace(t).store(b.getenv)
	wantGet(t, s, "anthropic", "old-value-1", Keychain)
	mustSet(t, s, "anthropic", "new-value-1")
	wantGet(t, s, "anthropic", "new-value-1", Keychain)
	if open, _, err := old.search(t.Context(), old.attributes("anthropic")); err != nil || len(open) != 1 {
		t.Errorf("entries: %v %v", open, err)
	}
}

func TestEnvironment(t *testing.T) {
	p := newPlace(t)
	s := p.store(env("OPENAI_API_KEY", " env-openai-key \n", "GROQ_API_KEY", "", "HOME_ASSISTANT_API_KEY", "x"))
	wantGet(t, s, "openai", "env-openai-key", Env)
	wantGet(t, s, "groq", "", None)
	listed(t, s, map[string]Source{"openai": Env})
	mustSet(t, s, "openai", value)
	wantGet(t, s, "openai", value, Keychain)
	listed(t, s, map[string]Source{"openai": Keychain})
	if err := s.Delete(t.Context(), "openai"); err != nil {
		t.Fatal(err)
	}
	wantGet(t, s, "openai", "env-openai-key", Env)
	s.envName = func(provider string) string {
		return map[string]string{"groq": "MY_GROQ"}[provider]
	}
	s.getenv = env("MY_GROQ", "mine-0001")
	wantGet(t, s, "groq", "mine-0001", Env)
	b, err := json.Marshal(Entry{Name: "openai", Kind: Provider})
	if err != nil || string(b) != `{"name":"openai","set":false,"source":null,"kind":"provider"}` {
		t.Errorf("on the wire: %s %v", b, err)
	}
}

// Every way in which a keychain can fail: the call ends in time, the value is kept, encrypted, and found again.
func TestFallback(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "nothing")
	for name, getenv := range map[string]func(t *testing.T) func(string) string{
		"no bus":             func(*testing.T) func(string) string { return env() },
		"an address of none": func(*testing.T) func(string) string { return env("DBUS_SESSION_BUS_ADDRESS", "unix:path="+gone) },
		"an odd address": func(*testing.T) func(string) string {
			return env("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/bin/false;tcp:host=10.255.255.1,port=9;autolaunch:;%zz")
		},
		"a silent bus":  func(t *testing.T) func(string) string { return env("DBUS_SESSION_BUS_ADDRESS", silentBus(t)) },
		"no service":    func(t *testing.T) func(string) string { return startBus(t, false).getenv },
		"no collection": func(t *testing.T) func(string) string { return noCollection(t).getenv },
		"locked":        func(t *testing.T) func(string) string { return lockedKeyring(t).getenv },
		"stopped":       func(t *testing.T) func(string) string { return stoppedKeyring(t).getenv },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, env := newPlace(t), getenv(t)
			s := p.store(env)
			ctx, cancel := context.WithTimeout(t.Context(), 2*opLimit) // only so that a hang ends the test
			defer cancel()
			if err := s.Set(ctx, "openai", value); err != nil {
				t.Fatalf("set: %v", err)
			}
			long := strings.Repeat("long-", 5000)
			mustSet(t, s, "mcp:files", long)
			wantGet(t, s, "openai", value, Keychain)
			wantGet(t, s, "mcp:files", long, Keychain)
			set := map[string]Source{"openai": Keychain}
			if name == "locked" {
				set["groq"] = Keychain // what it holds is known, what that says is not
			}
			listed(t, s, set)
			if s.Where() != "file" || p.store(env).Where() != "file" {
				t.Errorf("where = %q", s.Where())
			}
			wantGet(t, p.store(env), "openai", value, Keychain)
			if ctx.Err() != nil {
				t.Error("a call did not end in time")
			}
			inspectFile(t, p)
			if err := s.Delete(t.Context(), "openai"); err != nil {
				t.Error(err)
			}
			wantGet(t, s, "openai", "", None)
			wantGet(t, s, "mcp:files", long, Keychain)
		})
	}
}

func inspectFile(t *testing.T, p *place) {
	t.Helper()
	nowhereInPlain(t, value, p.home, p.keys)
	nowhereInPlain(t, "openai", p.home, p.keys)
	nowhereInPlain(t, "long-long-", p.home, p.keys)
	if strings.Contains(p.log.String(), value) {
		t.Error("the log holds the value")
	}
	for _, path := range []string{filepath.Join(p.home, "secrets-sentient.enc"), filepath.Join(p.keys, "sentient.key")} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", filepath.Base(path), fi, err)
		}
	}
	if key, _ := filepath.Glob(filepath.Join(p.home, "*.key")); len(key) != 0 {
		t.Errorf("the key stands in the data folder: %v", key)
	}
}

// noCollection: a keyring that was never given a password, so that there is no place to keep anything.
func noCollection(t *testing.T) *bus {
	b := startBus(t, false)
	b.startKeyring(t, false)
	return b
}

// lockedKeyring: a keyring with a collection whose password nobody gave.
func lockedKeyring(t *testing.T) *bus {
	b := startBus(t, false)
	b.startKeyring(t, true)
	p := newPlace(t)
	mustSet(t, p.store(b.getenv), "groq", "kept-in-the-keyring")
	b.stopKeyring()
	b.startKeyring(t, false)
	return b
}

// stoppedKeyring: a keyring that is there and does not answer any more.
func stoppedKeyring(t *testing.T) *bus {
	b := startBus(t, false)
	b.startKeyring(t, true)
	if err := b.keyring.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLockedKeychainIsSaid(t *testing.T) {
	b := lockedKeyring(t)
	p := newPlace(t)
	s := p.store(b.getenv)
	_, _, err := s.Get(t.Context(), "groq")
	if !errs.Is(err, errs.Unavailable) || errs.Code(err) != "secret_locked" {
		t.Errorf("got %v", err)
	}
	plainSentence(t, err)
	listed(t, s, map[string]Source{"groq": Keychain})
	wantGet(t, s, "xai", "", None)
	mustSet(t, s, "groq", value)
	wantGet(t, s, "groq", value, Keychain)
	if err := s.Delete(t.Context(), "groq"); err != nil {
		t.Fatal(err)
	}
	wantGet(t, s, "groq", "", None)

	// Unlocked again, what was deleted meanwhile does not come back, and goes from the keychain too.
	b.stopKeyring()
	b.startKeyring(t, true)
	wantGet(t, s, "groq", "", None)
	listed(t, s, nil)
	wantGet(t, s, "groq", "", None)
	if s.Where() != "keychain" {
		t.Errorf("where = %q", s.Where())
	}
	if n := entriesOf(t, b, s.Service()); n != 0 {
		t.Errorf("the keychain still has %d entries", n)
	}
}

func TestSilentKeychainIsSaidAndLeftAlone(t *testing.T) {
	s := newPlace(t).store(env("DBUS_SESSION_BUS_ADDRESS", silentBus(t)))
	_, _, err := s.Get(t.Context(), "openai")
	if errs.Code(err) != "secret_silent" {
		t.Errorf("got %v", err)
	}
	plainSentence(t, err)
	opened := 0
	s.open = func(context.Context, string) (vault, error) { opened++; return nil, errMissing }
	if _, _, err := s.Get(t.Context(), "openai"); errs.Code(err) != "secret_silent" || opened != 0 {
		t.Errorf("asked again at once (%d), %v", opened, err)
	}
	s.mu.Lock()
	s.silent = s.silent.Add(-silentPause)
	s.mu.Unlock()
	if _, _, err := s.Get(t.Context(), "openai"); err != nil || opened != 1 {
		t.Errorf("not asked again later (%d), %v", opened, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.open = platform(s.getenv)
	if _, _, err := s.Get(ctx, "openai"); !errs.Is(err, errs.Cancelled) {
		t.Errorf("a cancelled call: %v", err)
	}
	if err := s.Set(ctx, "openai", value); !errs.Is(err, errs.Cancelled) {
		t.Errorf("a cancelled call: %v", err)
	}
}

func TestKeychainThatComesAndGoes(t *testing.T) {
	b := startBus(t, false)
	p := newPlace(t)
	s := p.store(b.getenv)
	mustSet(t, s, "openai", value+"-file")
	mustSet(t, s, "xai", value+"-xai")
	b.startKeyring(t, true)
	wantGet(t, s, "openai", value+"-file", Keychain)
	mustSet(t, s, "openai", value+"-keychain")
	wantGet(t, s, "openai", value+"-keychain", Keychain)
	wantGet(t, s, "xai", value+"-xai", Keychain)
	if s.Where() != "file" {
		t.Error("where does not say that a value is in the file")
	}
	b.stopKeyring() // goes away
	mustSet(t, s, "openai", value+"-again")
	wantGet(t, s, "openai", value+"-again", Keychain)
	b.startKeyring(t, true) // the keychain's older value does not win
	wantGet(t, s, "openai", value+"-again", Keychain)
	for _, n := range []string{"openai", "xai"} {
		if err := s.Delete(t.Context(), n); err != nil {
			t.Error(err)
		}
		wantGet(t, s, n, "", None)
	}
	if s.Where() != "keychain" || s.file.exists() {
		t.Error("an empty file stays")
	}
}

// The service dies in the middle of a call: the call ends, and what it was to keep is kept.
func TestServiceDiesInTheMiddle(t *testing.T) {
	b := startBus(t, false)
	b.startKeyring(t, true)
	s := newPlace(t).store(b.getenv)
	mustSet(t, s, "openai", "first-value")
	inner := s.open
	s.open = func(ctx context.Context, service string) (vault, error) {
		v, err := inner(ctx, service)
		b.stopKeyring()
		return v, err
	}
	mustSet(t, s, "openai", strings.Repeat("second", 900))
	s.open = inner
	wantGet(t, s, "openai", strings.Repeat("second", 900), Keychain)
}

// With a bus that may start services nobody is asked for a password: what needs a person counts as not there.
func TestActivation(t *testing.T) {
	b := startBus(t, true)
	need(t, "gnome-keyring-daemon")
	p := newPlace(t)
	s := p.store(b.getenv)
	mustSet(t, s, "openai", value)
	wantGet(t, s, "openai", value, Keychain)
	nowhereInPlain(t, value, p.home, p.keys, b.dir)
}

func TestFileWithoutItsKey(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, p *place){
		"key gone": func(t *testing.T, p *place) { must(t, os.RemoveAll(p.keys)) },
		"another key": func(t *testing.T, p *place) {
			must(t, os.WriteFile(filepath.Join(p.keys, "sentient.key"), []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"), 0o600))
		},
		"damaged key": func(t *testing.T, p *place) {
			must(t, os.WriteFile(filepath.Join(p.keys, "sentient.key"), []byte("x"), 0o600))
		},
		"short file": func(t *testing.T, p *place) { must(t, os.Truncate(filepath.Join(p.home, "secrets-sentient.enc"), 30)) },
		"empty file": func(t *testing.T, p *place) { must(t, os.Truncate(filepath.Join(p.home, "secrets-sentient.enc"), 0)) },
		"a flipped bit": func(t *testing.T, p *place) {
			path := filepath.Join(p.home, "secrets-sentient.enc")
			b, err := os.ReadFile(path)
			must(t, err)
			b[len(b)-3] ^= 1
			must(t, os.WriteFile(path, b, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			mustSet(t, p.store(env()), "openai", value)
			sealed, err := os.ReadFile(filepath.Join(p.home, "secrets-sentient.enc"))
			must(t, err)
			harm(t, p)
			s := p.store(env("GROQ_API_KEY", "from-the-env"))
			_, _, err = s.Get(t.Context(), "openai")
			if errs.Code(err) != "secret_unreadable" {
				t.Errorf("got %v", err)
			}
			plainSentence(t, err)
			wantGet(t, s, "groq", "from-the-env", Env)
			listed(t, s, map[string]Source{"groq": Env})
			mustSet(t, s, "openai", "entered-again")
			wantGet(t, s, "openai", "entered-again", Keychain)
			if aside, _ := filepath.Glob(filepath.Join(p.home, "*.unreadable-*")); len(aside) != 1 {
				t.Errorf("set aside: %v", aside)
			}
			if bytes.Contains(sealed, []byte(value)) {
				t.Error("the file holds the value")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoPlaceToWriteIsSaid(t *testing.T) {
	p := newPlace(t)
	must(t, os.WriteFile(p.home, nil, 0o600)) // a file where the data folder should be
	err := p.store(env()).Set(t.Context(), "openai", value)
	if errs.Code(err) != "secret_not_saved" {
		t.Errorf("got %v", err)
	}
	plainSentence(t, err)
	p = newPlace(t)
	must(t, os.WriteFile(p.keys, nil, 0o600))
	if err := p.store(env()).Set(t.Context(), "openai", value); errs.Code(err) != "secret_not_saved" {
		t.Errorf("got %v", err)
	}
	nowhereInPlain(t, value, p.home)
}

func TestManyWritersLoseNothing(t *testing.T) {
	p := newPlace(t)
	names := []string{"openai", "groq", "xai", "nous", "gemini", "mistral", "mcp:a", "mcp:b"}
	var loops []func(context.Context) error
	for _, n := range names {
		loops = append(loops, func(context.Context) error {
			return p.store(env()).Set(t.Context(), n, "value-of-"+n) // a store each, as other processes have
		})
	}
	if err := svc.Run(t.Context(), loops...); err != nil {
		t.Error(err)
	}
	for _, n := range names {
		wantGet(t, p.store(env()), n, "value-of-"+n, Keychain)
	}
}

// A program that links this package starts at once beside a bus that never answers: nothing may be opened on loading.
func TestStartsBesideASilentBus(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only so that a hang ends the test
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestNamespace$")
	cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+silentBus(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skipf("the go command is not here to list what is linked: %v", err)
	}
	for _, path := range strings.Fields(string(deps)) {
		if path == "github.com/99designs/keyring" || path == "github.com/godbus/dbus" {
			t.Errorf("%s is linked: it connects to the bus while the program is loaded", path)
		}
	}
}

func TestLogsNeverShowAValue(t *testing.T) {
	p := newPlace(t)
	s := p.store(env())
	token := "tok-within-json-998877"
	mustSet(t, s, "integration:home_assistant", `{"url":"http://ha.local:8123","token":"`+token+`"}`)
	mustSet(t, s, "openai", value)
	s.log.Info("a careless line", "with", value, "error", errors.New("refused: "+token))
	if out := p.log.String(); strings.Contains(out, value) || strings.Contains(out, token) || !strings.Contains(out, "careless") {
		t.Errorf("the log says %q", out)
	}
}

func createAs(ctx context.Context, s *secretService, attributes map[string]string, v string) error {
	coll, err := s.collection(ctx)
	if err != nil {
		return err
	}
	return s.create(ctx, coll, "old", attributes, v)
}
