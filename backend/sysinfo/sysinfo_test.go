package sysinfo

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestHasDisplay(t *testing.T) {
	for _, c := range []struct {
		system string
		env    func(string) string
		want   bool
	}{
		{"linux", env(), false},
		{"linux", env("DISPLAY", ""), false},
		{"freebsd", env(), false},
		{"linux", env("DISPLAY", ":0"), true},
		{"linux", env("WAYLAND_DISPLAY", "wayland-0"), true},
		{"linux", env("WAYLAND_SOCKET", "3"), true},
		{"windows", env(), true},
		{"macos", env(), true},
	} {
		if got := hasDisplay(c.system, c.env); got != c.want {
			t.Errorf("%s: %v", c.system, got)
		}
	}
	if got := HasDisplay(env("DISPLAY", ":0")); !got {
		t.Error("a display is not seen")
	}
}

func TestLocale(t *testing.T) {
	for _, c := range []struct {
		env  func(string) string
		want string
	}{
		{env(), ""},
		{env("LANG", "C"), ""},
		{env("LANG", "C.UTF-8"), ""},
		{env("LANG", "POSIX"), ""},
		{env("LC_ALL", "C", "LANG", "de_DE.UTF-8"), ""},
		{env("LC_ALL", "", "LANG", "de_DE.UTF-8"), "de-DE"},
		{env("LC_MESSAGES", "pt_BR.UTF-8", "LANG", "de_DE.UTF-8"), "pt-BR"},
		{env("LANG", "ca_ES.UTF-8@valencia"), "ca-ES"},
		{env("LANG", "sr_RS@latin"), "sr-RS"},
		{env("LANG", "en"), "en"},
	} {
		if got := Locale(c.env); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestThisComputer(t *testing.T) {
	total, available := Memory()
	if total == 0 || available == 0 || available > total {
		t.Errorf("memory %v of %v", available, total)
	}
	free, known := DiskFree(filepath.Join(t.TempDir(), "not", "there", "yet"))
	if !known || free == 0 {
		t.Errorf("disk: %v %v", free, known)
	}
	if CPUs() < 1 {
		t.Error("no processor")
	}
	m := Describe()
	if m.CPU == "" || m.Cores < 1 || m.Memory != total || !strings.Contains(m.System, runtime.GOARCH) || strings.Contains(m.String(), "\n") {
		t.Errorf("%+v", m)
	}
	if o := OS(); o == "darwin" || o == "" {
		t.Error(o)
	}
}

func TestBytes(t *testing.T) {
	for b, want := range map[Bytes]string{0: "0 MB", 5 << 20: "5 MB", 1 << 30: "1.0 GB", 16_700_000_000: "15.6 GB"} {
		if b.String() != want {
			t.Errorf("%d: %s", uint64(b), b)
		}
	}
}
