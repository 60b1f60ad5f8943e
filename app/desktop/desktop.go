// Package desktop is Sentient's window: a native window around the same page that the gateway serves, whose calls enter
// the engine without a network. It owns the window (size, place, colours, one at a time), what the page may ask of the
// computer itself (Desktop), and the life of the engine behind it.
//
// The engine is another process's where one holds the data folder, and runs inside this one otherwise. It can fail, end
// and start again under an open window: the page is told, its calls are refused with a sentence meanwhile, and its
// streams end so that it connects anew. Nothing that the page does leaves the page: it cannot navigate elsewhere, and a
// link opens only through Desktop.OpenExternal.
//
// Only the files behind the build tag desktop use the window library; app alone imports the package.
package desktop

import (
	"context"
	"net/http"
	"time"

	"sentient/app/bound"
	"sentient/backend/clock"
)

// Door is an engine as the window uses it: the operations, and stored files for the page's pictures.
type Door interface {
	bound.Door
	// ServeFile answers a GET for the bytes of a stored file.
	ServeFile(w http.ResponseWriter, r *http.Request, name string)
}

// appTitle is the name on the window.
const appTitle = "Sentient"

// The states of the engine that the page is told of.
const (
	stateStarting = "starting"
	stateReady    = "ready"
	stateFailed   = "failed"
)

// State is how the engine behind the window is. The page gets it as the event "engine", and from Desktop.Engine.
type State struct {
	State  string `json:"state"`  // starting, ready or failed
	Detail string `json:"detail"` // a sentence for people where it failed, else ""
}

// rest waits, or gives the context's error when that ends first.
func rest(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
