// Package engine puts the parts together into one running engine: folder lock, settings, database, secrets, services,
// operation table, gateway. It is the only place where parts of the product layer meet each other's concrete types.
//
// It promises: Start gives a listening engine or an error with a sentence, and leaves nothing behind on an error; a
// database that cannot be used makes a safe mode, never an empty start; Close ends everything in the opposite order,
// and what was being written is kept. Programs in app/ and tests through testkit start engines; nothing else does.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"sentient/backend/agent"
	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/gateway"
	"sentient/backend/gateway/v1"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// Options are what an engine is made of.
type Options struct {
	Home    string // the data folder; made when it is not there
	Port    int    // -1: the one in the settings, else another; 0: any free one; else exactly this one
	Version string
	Page    fs.FS // the built page
	Getenv  func(string) string
	Log     *slog.Logger
	Clock   clock.Clock    // nil: the computer's
	Models  agent.Models   // nil: those of the settings; tests and measures put a scripted one here
	Plugins []*tool.Plugin // tools besides Sentient's own, for tests and measures; one with the id of an own takes its place
}

// Engine is one running engine. Its table is its door for the window in the same process.
type Engine struct {
	*api.Table
	o       Options
	bus     *event.Bus
	hub     *api.Hub
	tree    *svc.Tree
	lock    *store.FolderLock
	config  *config.Store
	db      *store.DB // nil in safe mode
	gateway *gateway.Gateway
	parts   *parts // nil in safe mode
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan error // the gateway's end

	mu    sync.Mutex
	safe  *api.SafeMode
	notes []string

	closeOnce sync.Once
}

// Start starts an engine. Its work does not end with ctx, only its start does: Close ends it.
func Start(ctx context.Context, o Options) (_ *Engine, err error) {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Page == nil {
		o.Page = noPage{}
	}
	if err := os.MkdirAll(o.Home, 0o700); err != nil {
		return nil, errs.New(errs.Unavailable, "folder_unusable", "Sentient can't make its data folder. Check the folder's permissions and the space on the disk.").Because(err)
	}
	e := &Engine{o: o, ended: make(chan error, 1)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			if errs.From(err).Kind == errs.Internal { // its sentence says that the log has the details
				o.Log.Error("engine did not start", "error", err)
			}
			e.Close()
		}
	}()
	if e.lock, err = store.Lock(o.Home); err != nil {
		return nil, err
	}
	e.bus = event.NewBus(o.Clock)
	e.tree = svc.NewTree("engine", o.Log)
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	return e, e.listen()
}

// open opens settings and database and makes the services of them.
func (e *Engine) open(ctx context.Context) (err error) {
	e.db, err = store.Open(ctx, store.Options{Dir: e.o.Home, Clock: e.o.Clock, Log: e.o.Log, Version: e.o.Version})
	if unusable, ok := errors.AsType[*store.Unusable](err); ok {
		e.enterSafeMode(unusable)
	} else if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	e.config, err = config.Open(config.Options{Dir: e.o.Home, Clock: e.o.Clock, Log: e.o.Log, Bus: e.bus})
	if err != nil {
		return fmt.Errorf("open settings: %w", err)
	}
	e.notes = append(e.notes, e.config.Notes()...)
	e.hub = api.NewHub(e.bus, e.o.Version, func() string { return e.config.Get().Assistant.Name })
	services := api.Services{System: e.system(), Settings: &api.Settings{Store: e.config}}
	if e.db != nil {
		e.parts, err = e.assemble(ctx, &services)
		if unfit := store.Unfit(e.o.Home, err); unfit != nil {
			e.leaveDatabase(unfit)
		} else if err != nil {
			return err
		}
	}
	e.Table = api.NewTable(services, e.refusal)
	e.tree.Add(e.config.Watch())
	return nil
}

func (e *Engine) listen() (err error) {
	port, exact := e.o.Port, e.o.Port >= 0
	if !exact {
		port = e.config.Get().Gateway.Port
	}
	e.gateway, err = gateway.Open(gateway.Options{Dir: e.o.Home, Port: port, Exact: exact, Version: e.o.Version, Table: e.Table, Hub: e.hub,
		Page: e.o.Page, Clock: e.o.Clock, Log: e.o.Log, V1: e.v1()})
	if err != nil {
		return err
	}
	e.tree.Add(svc.Func{Name: "gateway", Run: func(ctx context.Context) error {
		err := e.gateway.Serve(ctx)
		if ctx.Err() == nil {
			e.ended <- err
			return errors.Join(svc.ErrDone, err) // a listener that is gone does not come back by trying
		}
		return ctx.Err()
	}})
	return nil
}

// v1 is the API of other apps; off in safe mode.
func (e *Engine) v1() v1.Options {
	if e.parts == nil {
		return v1.Options{}
	}
	return e.parts.apps
}

// system gives the operations about the engine itself.
func (e *Engine) system() *api.System {
	return &api.System{
		Version: e.o.Version, Name: "Sentient", Home: e.o.Home,
		Config:   e.config.Get,
		SafeMode: e.safeMode,
		Notes:    e.Notes,
		Link:     func() (string, error) { return e.gateway.Link() },
		Restore:  e.restore,
		Unread: func(ctx context.Context) (int, error) {
			if e.parts == nil {
				return 0, nil
			}
			return e.parts.notify.Unread(ctx)
		},
	}
}

// Context lives as long as the engine.
func (e *Engine) Context() context.Context { return e.ctx }

// Live serves a live connection, for a window in the same process.
func (e *Engine) Live(ctx context.Context, in api.LiveInput, to api.Transport) error {
	return e.Table.Serve(ctx, e.hub, in, to)
}

// URL is the gateway's base address.
func (e *Engine) URL() string { return e.gateway.URL() }

// Token is the data folder's bearer token.
func (e *Engine) Token() string { return e.gateway.Token() }

// Link makes a one-time link to the page.
func (e *Engine) Link() (string, error) { return e.gateway.Link() }

// Bus is the engine's event bus, for tests and measures.
func (e *Engine) Bus() *event.Bus { return e.bus }

// Notes are what the person should know about this start, a sentence each.
func (e *Engine) Notes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	notes := append([]string{}, e.notes...)
	if e.db != nil {
		if h := e.db.Health(); !h.OK {
			notes = append(notes, h.Sentence)
		}
	}
	return notes
}

// Wait waits until ctx ends (nil) or the engine can no longer be reached.
func (e *Engine) Wait(ctx context.Context) error {
	select {
	case err := <-e.ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// Close ends the engine: turns are ended and what they had written is kept, services stop, the database is left with
// the mark of a clean stop, the folder is free.
func (e *Engine) Close() {
	e.closeOnce.Do(func() {
		if e.parts != nil {
			e.parts.close(e.o.Log)
		}
		e.cancel()
		if e.tree != nil {
			e.tree.Close()
		}
		if e.db != nil {
			if err := e.db.Close(); err != nil {
				e.o.Log.Error("close database", "error", err)
			}
		}
		if e.lock != nil {
			if err := e.lock.Release(); err != nil {
				e.o.Log.Error("release folder", "error", err)
			}
		}
	})
}

// noPage is a page that was not built.
type noPage struct{}

func (noPage) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// InApp tells whether any window says that it is in front (§1 `presence`).
func (e *Engine) InApp() bool { return e.hub.InApp() }
