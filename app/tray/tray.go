// Package tray is the tray icon, on both of its sides: Main is the small program sentient-tray (build tag tray), Keeper
// is what the window and the engine's command line hold to start it, watch it and end it.
//
// The icon is a process of its own because its library cannot live beside the window's on every system, ends processes
// that have no display, and costs every start its shared libraries. The two sides talk over the program's own pipes, a
// word a line: the icon's program says what happens (Shown, Hidden, Open, Quit), and ends when its standard input does,
// so it never outlives who started it, however that one ended. It holds no data folder open and knows no engine.
//
// Only the files behind the tag link the icon's library; app/desktop and app/cli may import the package.
package tray

import (
	"context"
	"strings"
)

// What the icon's program says on its standard output.
const (
	saysShown  = "shown"  // the icon stands in a tray
	saysHidden = "hidden" // the tray went away; the icon comes back with it
	saysOpen   = "open"   // the person wants the window
	saysQuit   = "quit"   // the person wants Sentient to end
)

// The exit statuses of the icon's program besides 0, done.
const (
	exitFailed = 1 // it is worth another try
	exitUsage  = 2
	exitNoTray = 3 // there is no tray here, or no display: another try changes nothing until one appears
)

// longestWord is how many bytes of a line are looked at. The other side's words are far shorter.
const longestWord = 64

// words turns a byte stream into lines and hands each on. What is longer than a word of ours is left out.
type words struct {
	each func(string)
	line strings.Builder
	over bool
}

// Write takes the next bytes; it never fails.
func (w *words) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			if word := strings.TrimSpace(w.line.String()); word != "" && !w.over {
				w.each(word)
			}
			w.line.Reset()
			w.over = false
		case w.line.Len() >= longestWord:
			w.over = true
		default:
			w.line.WriteByte(b)
		}
	}
	return len(p), nil
}

// host tells whether a tray is there that shows icons, and tells every change until ctx ends. It calls changed at once
// with what it finds. It gives an error where that can't be known on this computer, which then has no tray.
type host func(ctx context.Context, changed func(there bool)) error
