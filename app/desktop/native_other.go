//go:build desktop && !linux

package desktop

import (
	"context"
	"fmt"
	"os"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// heard is what the native window tells; here the window library tells nothing of it.
type heard struct {
	keptHere    func(address string)
	newPage     func()
	pageCrashed func(reason int)
	settled     func(ok bool)
}

// openDisplay: these systems have one wherever a person is signed in.
func openDisplay() error { return nil }

// systemDark is not known before the window is there.
func systemDark() bool { return false }

// alert says a sentence where it can be found.
func alert(sentence string) { fmt.Fprintln(os.Stderr, sentence) }

// settle leaves place and size to the system.
func settle(_ geometry, h *heard) { h.settled(true) }

// toFront shows the window above the others.
func toFront(ctx context.Context, _ geometry) {
	wails.WindowShow(ctx)
	wails.WindowUnminimise(ctx)
	wails.Show(ctx)
}

// quitWindow ends the window.
func quitWindow(ctx context.Context) { wails.Quit(ctx) }
