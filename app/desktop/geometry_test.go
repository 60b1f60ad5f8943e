package desktop

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAWindowStateThatCannotBeRightIsTheDefault(t *testing.T) {
	fresh := geometry{Width: defaultWidth, Height: defaultHeight, Theme: "dark"}
	for name, c := range map[string]struct {
		file string
		want geometry
	}{
		"none":           {"", fresh},
		"damaged":        {`{"width": 900, "hei`, fresh},
		"another type":   {`{"width": "wide"}`, fresh},
		"no size":        {`{"x": 5, "y": 6, "placed": true}`, geometry{X: 5, Y: 6, Placed: true, Width: defaultWidth, Height: defaultHeight, Theme: "dark"}},
		"too small":      {`{"width": 3, "height": 4}`, geometry{Width: minWidth, Height: minHeight, Theme: "dark"}},
		"too large":      {`{"width": 99999, "height": 700}`, fresh},
		"out of reach":   {`{"x": -99999, "y": 3, "placed": true, "width": 700, "height": 700}`, geometry{Width: 700, Height: 700, Theme: "dark"}},
		"unknown theme":  {`{"width": 700, "height": 700, "theme": "pink"}`, geometry{Width: 700, Height: 700, Theme: "dark"}},
		"left of screen": {`{"x": -1200, "y": 3, "placed": true, "width": 700, "height": 700, "theme": "light"}`, geometry{X: -1200, Y: 3, Placed: true, Width: 700, Height: 700, Theme: "light"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(home, stateFile), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := loadGeometry(home); got != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAWindowComesBackAsItWasLeft(t *testing.T) {
	home := t.TempDir()
	left := loadGeometry(home).after(geometry{X: 30, Y: 40, Placed: true, Width: 800, Height: 600, Theme: "light"})
	if err := left.save(home); err != nil {
		t.Fatal(err)
	}
	if got := loadGeometry(home); got != left {
		t.Fatalf("got %+v, left %+v", got, left)
	}
	// Maximised, it remembers the size before; the theme stays where the engine could not say it.
	maximised := left.after(geometry{Width: 2560, Height: 1440, Placed: true, Maximised: true})
	if want := (geometry{X: 30, Y: 40, Placed: true, Width: 800, Height: 600, Maximised: true, Theme: "light"}); maximised != want {
		t.Errorf("got %+v", maximised)
	}
	if normal := maximised.after(geometry{X: 1, Y: 2, Placed: true, Width: 900, Height: 700, Theme: "dark"}); normal.Maximised {
		t.Errorf("still maximised: %+v", normal)
	}
}

func TestAFolderThatIsGoneIsNotMadeAgain(t *testing.T) {
	home := filepath.Join(t.TempDir(), "gone")
	if err := (geometry{}).save(home); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("it was made")
	}
}
