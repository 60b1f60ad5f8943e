package v1

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/secret"
)

// secrets opens a real secret store on a computer without a keychain.
func secrets(home, keys string, log *lockedBuffer) *secret.Store {
	return secret.New(secret.Options{Home: home, DefaultHome: home, KeyDir: keys, Log: obs.NewLogger(log, -8), Getenv: func(name string) string {
		return map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "OPENAI_API_KEY": "sk-of-another-matter"}[name]
	}})
}

func TestMakeKey(t *testing.T) {
	var log lockedBuffer
	home, keys := t.TempDir(), t.TempDir()
	store := secrets(home, keys, &log)
	entry := &KeyEntry{Store: store, Clock: realClock}
	service := &KeyService{Key: entry, BaseURL: func() string { return "http://127.0.0.1:7777" }}
	r := newRig(t)
	r.o.Key, r.o.Log = entry, obs.NewLogger(&log, -8)
	r.server.Config.Handler = New(r.o)
	try := func(key string, want int) {
		t.Helper()
		if a := r.call("GET", "/v1/models", "", "Authorization", "Bearer "+key); a.status != want {
			t.Errorf("%d %s; want %d", a.status, a.body, want)
		}
	}
	try("sk-of-another-matter", 401) // a provider's key is none of ours
	var made []string
	for range 3 {
		m, err := service.Make(t.Context(), &MakeKeyInput{})
		if err != nil {
			t.Fatal(err)
		}
		if random, ok := strings.CutPrefix(m.Key, "sk-sentient-"); !ok || len(random) < 40 || m.BaseURL != "http://127.0.0.1:7777/v1" {
			t.Errorf("%+v", m)
		}
		made = append(made, m.Key)
		try(m.Key, 200)
		for _, old := range made[:len(made)-1] {
			try(old, 401)
		}
	}
	// Another start of the engine knows the same key.
	again := &KeyEntry{Store: secrets(home, keys, &log), Clock: realClock}
	if key, err := again.Get(t.Context()); err != nil || key != made[2] || made[0] == made[1] {
		t.Errorf("%v", err)
	}
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), made[2]) {
			t.Errorf("the key stands in %s", d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range made {
		if strings.Contains(log.String(), strings.TrimPrefix(key, keyPrefix)) {
			t.Error("a key was logged")
		}
	}
}

// A key that can't be saved is not handed out, and the old one still counts.
func TestKeyThatCannotBeSaved(t *testing.T) {
	var log lockedBuffer
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := secrets(filepath.Join(file, "home"), filepath.Join(file, "keys"), &log)
	for name, k := range map[string]Key{
		"no keychain, no folder": &KeyEntry{Store: store, Clock: realClock},
		"another failure":        &fixedKey{key: "old", err: errors.New("write /home/someone/keys: input/output error")},
	} {
		made, err := (&KeyService{Key: k, BaseURL: func() string { return "" }}).Make(t.Context(), &MakeKeyInput{})
		if made != nil || errs.StatusOf(err) != 503 || !strings.HasSuffix(errs.From(err).Message, ".") || strings.Contains(errs.From(err).Message, "/") {
			t.Errorf("%s: %+v %v", name, made, err)
		}
	}
}

// slowKeychain counts how often it is asked.
type slowKeychain struct {
	mu    sync.Mutex
	value string
	err   error
	asked int
}

func (s *slowKeychain) Get(ctx context.Context, name string) (string, secret.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; name != "openai_api_key" {
		return "", secret.None, errors.New("another name")
	}
	if err := ctx.Err(); err != nil {
		return "", secret.None, err
	}
	return s.value, secret.Keychain, s.err
}

func (s *slowKeychain) Set(_ context.Context, name, value string) error {
	if s.err == nil && name == "openai_api_key" {
		s.value = value
	}
	return s.err
}

func TestKeychainIsAskedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain := &slowKeychain{err: errors.New("locked")}
		k := &KeyEntry{Store: chain, Clock: realClock}
		want := func(step, key string, asked int, fails bool) {
			t.Helper()
			got, err := k.Get(t.Context())
			if got != key || chain.asked != asked || (err != nil) != fails {
				t.Errorf("%s: %q %v, asked %d times; want %q, %d", step, got, err, chain.asked, key, asked)
			}
		}
		want("locked", "", 1, true)
		want("still locked", "", 2, true)
		chain.err = nil
		want("none was made", "", 3, false)
		want("and that is believed", "", 3, false)
		if err := k.Put(t.Context(), "new"); err != nil {
			t.Fatal(err)
		}
		want("made", "new", 3, false)
		time.Sleep(keyFresh)
		want("asked again", "new", 4, false)
		chain.value = "by another engine"
		time.Sleep(keyFresh)
		want("changed", "by another engine", 5, false)
		chain.err = errors.New("locked")
		time.Sleep(keyFresh)
		want("locked since", "by another engine", 6, false)
		want("not asked again at once", "by another engine", 6, false)
		if k.Put(t.Context(), "lost") == nil {
			t.Error("a key that was not saved counts")
		}
		want("after a failed write nothing is believed", "", 7, true)
		chain.err = nil
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := k.Get(gone); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		want("read again", "by another engine", 9, false)
		var together sync.WaitGroup
		time.Sleep(keyFresh)
		for range 20 {
			together.Go(func() { _, _ = k.Get(t.Context()) })
		}
		together.Wait()
		want("many at once ask once", "by another engine", 10, false)
	})
}
