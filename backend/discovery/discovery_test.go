package discovery

import (
	"os"
	"path/filepath"
	"testing"

	"sentient/backend/errs"
)

func TestHome(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
		code string
	}{
		{"no home at all", nil, "", "folder_unusable"},
		{"set", map[string]string{"SENTIENT_HOME": "/data/a b", "HOME": "/home/me"}, "/data/a b", ""},
		{"not set", map[string]string{"HOME": "/home/me"}, "/home/me/.sentient", ""},
	} {
		got, err := Home(func(k string) string { return c.env[k] })
		if got != filepath.FromSlash(c.want) || errs.Code(err) != c.code {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestTokenIsMadeOnceForItsOwnerAlone(t *testing.T) {
	home := t.TempDir()
	if _, err := ReadToken(home); err == nil {
		t.Fatal("a token was read that is not there")
	}
	first, err := Token(home)
	if err != nil || len(first) < 43 {
		t.Fatal(first, err)
	}
	again, err := Token(home)
	if err != nil || again != first {
		t.Fatal("another token at the second call", err)
	}
	info, err := os.Stat(filepath.Join(home, tokenFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	// A file that was cut off holds no token worth keeping.
	if err := os.WriteFile(filepath.Join(home, tokenFile), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fresh, err := Token(home); err != nil || fresh == "short" || fresh == first {
		t.Fatal(fresh, err)
	}
	if _, err := Token(filepath.Join(home, "nowhere")); errs.Code(err) != "folder_readonly" {
		t.Fatal(err)
	}
}

func TestDiscoveryFile(t *testing.T) {
	home := t.TempDir()
	if _, err := Read(home); err == nil {
		t.Fatal("an engine was found that is not there")
	}
	want := Engine{URL: "http://127.0.0.1:7777", PID: 7, Version: "1"}
	if err := Write(home, want); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(home); err != nil || got != want {
		t.Fatal(got, err)
	}
	if err := os.WriteFile(filepath.Join(home, fileName), []byte(`{"url":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(home); err == nil {
		t.Fatal("half a file was read")
	}
	Remove(home)
	if _, err := Read(home); err == nil {
		t.Fatal("it is still there")
	}
}
