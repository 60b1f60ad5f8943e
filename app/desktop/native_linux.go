//go:build desktop

package desktop

/*
#cgo !webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.0
#cgo webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.1
#cgo CFLAGS: -Wno-deprecated-declarations
#include <stdlib.h>
#include "native_linux.h"
*/
import "C"

import (
	"context"
	"errors"
	"runtime/cgo"
	"unsafe"
)

// heard is what the native window tells. Its functions are called on the window's own thread and return soon.
type heard struct {
	keptHere    func(address string) // a navigation away from the page was refused
	newPage     func()               // a page is there anew: what the one before had open is nobody's
	pageCrashed func(reason int)     // the page's process ended; it is shown again
	settled     func(ok bool)        // the window has its rules and its place
}

// openDisplay connects to the display. It must be called on the thread that the window then runs on.
func openDisplay() error {
	if C.sentient_display() == 0 {
		return errors.New("no display")
	}
	return nil
}

// systemDark tells whether the system's theme is dark.
func systemDark() bool { return C.sentient_dark() != 0 }

// alert shows a sentence and waits until it is read. Only before the window.
func alert(sentence string) {
	title, text := C.CString(appTitle), C.CString(sentence)
	defer C.free(unsafe.Pointer(title))
	defer C.free(unsafe.Pointer(text))
	C.sentient_alert(title, text)
}

func placeOf(g geometry) C.sentient_place {
	p := C.sentient_place{x: C.int(g.X), y: C.int(g.Y), min_width: minWidth, min_height: minHeight}
	if g.Placed && !g.Maximised {
		p.placed = 1
	}
	return p
}

// settle gives the window its place and its rules: it keeps the page in, shows it again after a crash.
func settle(g geometry, h *heard) {
	C.sentient_settle_later(C.uintptr_t(cgo.NewHandle(h)), placeOf(g)) // the handle lives as long as the window
}

// toFront shows the window above the others.
func toFront(_ context.Context, g geometry) { C.sentient_front_later(placeOf(g)) }

// quitWindow ends the window's loop, also when it has not begun yet.
func quitWindow(context.Context) { C.sentient_quit_later() }

func heardOf(handle C.uintptr_t) *heard { return cgo.Handle(handle).Value().(*heard) }

//export sentientKeptHere
func sentientKeptHere(handle C.uintptr_t, address *C.char) {
	heardOf(handle).keptHere(C.GoString(address))
}

//export sentientNewPage
func sentientNewPage(handle C.uintptr_t) { heardOf(handle).newPage() }

//export sentientPageCrashed
func sentientPageCrashed(handle C.uintptr_t, reason C.int) { heardOf(handle).pageCrashed(int(reason)) }

//export sentientSettled
func sentientSettled(handle C.uintptr_t, ok C.int) { heardOf(handle).settled(ok != 0) }
