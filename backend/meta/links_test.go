package meta

import (
	"strings"
	"testing"
)

// What each program may link (architecture, "One module, three programs"). Linking the window's libraries costs every
// start of the command line; the shortcut library ends a process that has no display.
func TestProgramsLinkOnlyTheirOwn(t *testing.T) {
	const (
		window   = "github.com/wailsapp/wails"
		icon     = "github.com/getlantern/systray"
		shortcut = "golang.design/x/hotkey"
		database = "modernc.org/sqlite"
		// Its start-up on Linux waits without end for a session bus that does not answer.
		keyring = "github.com/99designs/keyring"
	)
	for _, c := range []struct {
		name  string
		args  []string
		has   []string
		lacks []string
	}{
		{"sentient", []string{"."}, []string{database}, []string{window, icon, shortcut, keyring}},
		{"sentient-desktop", []string{"-tags", "desktop,production,webkit2_41", "."}, []string{window, database}, []string{icon, shortcut, keyring}},
		{"sentient-tray", []string{"-tags", "tray", "."}, []string{icon}, []string{window, database, keyring, module + "/backend/engine", module + "/backend/api"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			deps := list(t, append([]string{"-deps"}, c.args...)...)
			linked := func(prefix string) bool {
				for _, p := range deps {
					if p.ImportPath == prefix || strings.HasPrefix(p.ImportPath, prefix+"/") {
						return true
					}
				}
				return false
			}
			for _, path := range c.has {
				if !linked(path) {
					t.Errorf("%s does not link %s: the test looks at the wrong program", c.name, path)
				}
			}
			for _, path := range c.lacks {
				if linked(path) {
					t.Errorf("%s links %s", c.name, path)
				}
			}
		})
	}
}

// Only app/desktop imports the window's library and only app/tray the icon's.
func TestOneImporterOfEachDesktopLibrary(t *testing.T) {
	for _, p := range list(t, "-tags", "desktop,production,webkit2_41", "./...") {
		for _, path := range p.Imports {
			if strings.HasPrefix(path, "github.com/wailsapp/wails") && p.ImportPath != module+"/app/desktop" {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
	for _, p := range list(t, "-tags", "tray", "./...") {
		for _, path := range p.Imports {
			if strings.HasPrefix(path, "github.com/getlantern/systray") && p.ImportPath != module+"/app/tray" {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
}
