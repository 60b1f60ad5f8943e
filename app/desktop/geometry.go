package desktop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sentient/backend/wholefile"
)

const (
	stateFile = "window.json"

	minWidth, minHeight         = 380, 420
	defaultWidth, defaultHeight = 1180, 780
	longestSide                 = 16384 // pixels; more is no window but a damaged file
)

// geometry is how the window was left: kept in the data folder, so each folder's window is its own.
type geometry struct {
	X         int  `json:"x"`
	Y         int  `json:"y"`
	Placed    bool `json:"placed"` // X and Y were measured
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	Maximised bool `json:"maximised"`
	// Theme is the page's theme, dark, light or system, so that the next start has its colour before the page has.
	Theme string `json:"theme"`
}

// loadGeometry reads how the window was left. What is missing or damaged is the default.
func loadGeometry(home string) geometry {
	var g geometry
	raw, err := os.ReadFile(filepath.Join(home, stateFile))
	if err != nil || json.Unmarshal(raw, &g) != nil {
		g = geometry{}
	}
	return g.sane()
}

// sane puts what cannot be right to the default.
func (g geometry) sane() geometry {
	if g.Width <= 0 || g.Height <= 0 || g.Width > longestSide || g.Height > longestSide {
		g.Width, g.Height = defaultWidth, defaultHeight
	}
	g.Width, g.Height = max(g.Width, minWidth), max(g.Height, minHeight)
	if max(g.X, -g.X, g.Y, -g.Y) > longestSide {
		g.X, g.Y, g.Placed = 0, 0, false
	}
	switch g.Theme {
	case "dark", "light", "system":
	default:
		g.Theme = "dark" // the settings' default
	}
	return g
}

// after gives what is kept when the window is left as now. The size of a maximised window is the screen's, so the one
// before stays.
func (g geometry) after(now geometry) geometry {
	if now.Theme == "" {
		now.Theme = g.Theme
	}
	if now.Maximised {
		g.Maximised, g.Theme = true, now.Theme
		return g.sane()
	}
	return now.sane()
}

// save keeps it.
func (g geometry) save(home string) error {
	raw, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("encode window state: %w", err)
	}
	if err := wholefile.Write(filepath.Join(home, stateFile), raw); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep window state: %w", err)
	}
	return nil
}

// colour is the page's background in a theme (the tokens --bg), red, green, blue: shown before the page is.
func colour(dark bool) [3]uint8 {
	if dark {
		return [3]uint8{12, 17, 18}
	}
	return [3]uint8{243, 247, 247}
}
