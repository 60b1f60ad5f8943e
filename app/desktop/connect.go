//go:build desktop

package desktop

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"time"

	"sentient/app/about"
	"sentient/app/attach"
	"sentient/backend/client"
	"sentient/backend/engine"
)

// aliveTimeout is how long a running engine may take to say that it is there.
const aliveTimeout = 2 * time.Second

// newRunner connects the window with engines: a running one of its data folder, or one that it starts.
func newRunner(w *window, page fs.FS) *runner {
	return &runner{
		clock: w.clock, log: w.log, door: w.door, again: make(chan struct{}, 1),
		find: func(ctx context.Context) foundEngine {
			c := client.Find(ctx, w.home)
			if c == nil {
				return nil
			}
			return running{remoteDoor{attach.Door{Client: c, Alive: w.door.alive}}}
		},
		start: func(ctx context.Context) (localEngine, error) {
			e, err := engine.Start(ctx, engine.Options{Home: w.home, Port: -1, Version: about.Version, Page: page, Getenv: os.Getenv, Log: w.log})
			if err != nil {
				return nil, err
			}
			return e, nil
		},
		told:   func(s State) { w.emit("engine", s) },
		locked: w.folderLocked,
	}
}

// running is an engine of another process.
type running struct{ remoteDoor }

// Alive asks it for an answer.
func (r running) Alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	_, err := client.Do[json.RawMessage](ctx, r.Client, client.BootstrapGet, struct{}{})
	return err == nil
}

// Close gives its connections back.
func (r running) Close() { r.Client.Close() }
