// Package stop is Stop everything (§17): one flag, and the ending of all that runs.
//
// It owns the flag (the key stop.state of the meta table), its event stop.updated, and the order in which the parts of
// Sentient are ended. It promises that the flag stands before anything is ended, so that nothing new begins in between;
// that a stop never depends on its caller, the disk, or one part that does not end; and that a restart stays stopped. No
// model has a part in it.
//
// It does not know what runs: each part brings a function that ends its work, and asks Stopped before it begins some. It
// does not keep a person's own requests from running while stopped, and does not tell devices.
//
// Layer 2; the engine makes it and connects it, and the operation table offers its operations. Parts are given Stopped as
// a function, not this package.
package stop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/svc"
)

// State is whether all is stopped (§17 StopState).
type State struct {
	Stopped   bool    `json:"stopped"`
	StoppedAt *string `json:"stopped_at" doc:"null while it is not stopped"`
	Source    *string `json:"source" enum:"desktop,tray,hotkey,telegram,discord,whatsapp,device" doc:"Where it was last turned on or off; null before the first time."`
}

// TopicUpdated tells every change of the state, after the work has ended.
var TopicUpdated = event.Declare[State]("stop.updated")

// Part is one kind of work.
type Part struct {
	Name string // for the log
	// Halt ends what runs, waits until it has, and gives how many pieces of work that were. Its context ends when it takes
	// too long.
	Halt func(ctx context.Context) int
}

// Options are what a Service needs from outside.
type Options struct {
	DB    *store.DB
	Bus   *event.Bus
	Clock clock.Clock
	Log   *slog.Logger
	Tree  *svc.Tree
	Parts []Part // in the order in which they are ended (§17): replies, task runs, planning, helpers, dreams, upkeep
}

// Service is the flag of one data folder.
type Service struct {
	o     Options
	guard svc.Guard

	// asked counts the stops that have come in and not ended. The flag counts as set from the first moment of one, also
	// while it waits for a resume that is under way.
	asked atomic.Int32
	set   atomic.Bool

	change sync.Mutex // held by one stop or resume at a time; taken before mu
	saved  bool       // what is on the disk is the state; under change

	mu      sync.Mutex // guards the two below, for moments
	state   State
	resumes []func(context.Context)
}

const (
	metaKey = "stop.state"
	// within is how long one part, or the saving, may take before it is told to end. svc.Guarded gives it a second more:
	// five seconds in all.
	within = 4 * time.Second
	// usualSource is the source of a request that names none.
	usualSource = "desktop"
)

var sources = []string{usualSource, "tray", "hotkey", "telegram", "discord", "whatsapp", "device"}

// New reads the flag as it was left. One that can't be read counts as set: starting again is the person's to say.
func New(ctx context.Context, o Options) (*Service, error) {
	s := &Service{o: o, guard: svc.Guard{Tree: o.Tree, Clock: o.Clock, Log: o.Log}, saved: true}
	text, there, err := o.DB.Meta(ctx, metaKey)
	if err != nil {
		return nil, fmt.Errorf("read stop state: %w", err)
	}
	if there {
		s.state = s.read(text)
	}
	s.set.Store(s.state.Stopped)
	return s, nil
}

// read never loosens: only a whole state that says so is "not stopped".
func (s *Service) read(text string) State {
	var kept struct {
		State
		Stopped *bool `json:"stopped"`
	}
	if err := json.Unmarshal([]byte(text), &kept); err != nil || kept.Stopped == nil {
		s.o.Log.Error("stop state not readable: taken as stopped", "error", err)
		return State{Stopped: true}
	}
	state := kept.State
	state.Stopped = *kept.Stopped
	if state.Source != nil && !slices.Contains(sources, *state.Source) {
		state.Source = nil
	}
	if !state.Stopped {
		state.StoppedAt = nil
	}
	return state
}

// Stopped reports whether all is stopped. It never waits: whoever is about to begin work asks it each time.
func (s *Service) Stopped() bool { return s.set.Load() || s.asked.Load() > 0 }

// OnResume names what Resume does once the flag is cleared: taking up work that a restart would take up. f starts it and
// comes back; it is not called when Sentient is stopped again first.
func (s *Service) OnResume(f func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumes = append(s.resumes, f)
}

// GetInput has no members.
type GetInput struct{}

// Get gives the state (GET /api/stop).
func (s *Service) Get(context.Context, *GetInput) (*State, error) {
	state := s.now()
	return &state, nil
}

func (s *Service) now() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *Service) become(state State) {
	s.mu.Lock()
	s.state = state
	s.mu.Unlock()
	s.set.Store(state.Stopped)
}

// StopInput says where it was pressed. The body may be left out.
type StopInput struct {
	Source string `json:"source,omitempty" enum:"desktop,tray,hotkey,telegram,discord,whatsapp,device" default:"desktop"`
}

// Stopped is the state with how many pieces of work were ended.
type Stopped struct {
	State
	Cancelled int `json:"cancelled"`
}

// StopAll sets the flag and ends all that runs (POST /api/stop-all). While stopped it keeps when and where that was, and
// ends what was begun since. It goes on when its caller goes away. 422 for an unknown source; 503 stop_not_saved when all
// was ended and only the flag could not be kept for a restart.
func (s *Service) StopAll(ctx context.Context, in *StopInput) (*Stopped, error) {
	if in == nil {
		in = &StopInput{}
	}
	source, err := sourceOf(in.Source)
	if err != nil {
		return nil, err
	}
	s.asked.Add(1)
	defer s.asked.Add(-1)
	s.change.Lock()
	defer s.change.Unlock()
	ctx = context.WithoutCancel(ctx)

	state, changed := s.now(), false
	if !state.Stopped {
		at := clock.Stamp(s.o.Clock.Now())
		state, changed = State{Stopped: true, StoppedAt: &at, Source: &source}, true
		s.become(state)
		s.saved = false
	}
	var unsaved error
	if !s.saved {
		unsaved = s.save(ctx, state)
	}
	out := &Stopped{State: state, Cancelled: s.halt(ctx)}
	if unsaved != nil { // what held the database may have been the work that has just ended
		unsaved = s.save(ctx, state)
	}
	if changed {
		event.Publish(s.o.Bus, TopicUpdated, state)
	}
	if unsaved != nil {
		return nil, errs.New(errs.Unavailable, "stop_not_saved",
			"Everything was stopped, but this couldn't be saved: after a restart Sentient would work again. Check the space on the disk, then press Stop everything once more.").Because(unsaved)
	}
	return out, nil
}

// halt ends the parts in their order. One that does not end is left behind.
func (s *Service) halt(ctx context.Context) (cancelled int) {
	for _, p := range s.o.Parts {
		n, err := svc.Guarded(ctx, s.guard, "stop "+p.Name, within, func(ctx context.Context) (int, error) { return p.Halt(ctx), nil })
		cancelled += max(n, 0)
		if err != nil {
			s.o.Log.Error("part did not stop", "part", p.Name, "error", err)
		}
	}
	return cancelled
}

// save keeps the state for a restart. A save that is left behind is not committed: its context has ended.
func (s *Service) save(ctx context.Context, state State) error {
	text, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode stop state: %w", err)
	}
	_, err = svc.Guarded(ctx, s.guard, "save stop state", within, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.o.DB.WriteUrgent(ctx, func(tx *store.Tx) error { return s.o.DB.SetMeta(ctx, tx, metaKey, string(text)) })
	})
	if err != nil {
		s.o.Log.Error("stop state not saved", "stopped", state.Stopped, "error", err)
		return fmt.Errorf("save stop state: %w", err)
	}
	s.saved = true
	return nil
}

// ResumeInput says where it was pressed. The body may be left out.
type ResumeInput struct {
	Source string `json:"source,omitempty" enum:"desktop,tray,hotkey,telegram,discord,whatsapp,device" default:"desktop"`
}

// Resume clears the flag and takes work up again (POST /api/resume). When nothing is stopped it changes nothing. It goes
// on when its caller goes away. 422 for an unknown source; while the cleared flag can't be saved all stays stopped, 503
// resume_not_saved: it must never be cleared for this start alone and stand again at the next.
func (s *Service) Resume(ctx context.Context, in *ResumeInput) (*State, error) {
	if in == nil {
		in = &ResumeInput{}
	}
	source, err := sourceOf(in.Source)
	if err != nil {
		return nil, err
	}
	s.change.Lock()
	defer s.change.Unlock()
	ctx = context.WithoutCancel(ctx)

	state := s.now()
	if !state.Stopped {
		return &state, nil
	}
	state = State{Source: &source}
	if err := s.save(ctx, state); err != nil {
		s.saved = false // a write that failed late may still stand
		return nil, errs.New(errs.Unavailable, "resume_not_saved",
			"Sentient is still stopped, because it couldn't save that it goes on. Check the space on the disk and try again.").Because(err)
	}
	s.become(state)
	event.Publish(s.o.Bus, TopicUpdated, state)
	s.takeUp(ctx)
	return &state, nil
}

// takeUp calls what was named with OnResume, until somebody stops again.
func (s *Service) takeUp(ctx context.Context) {
	s.mu.Lock()
	resumes := slices.Clone(s.resumes)
	s.mu.Unlock()
	for _, f := range resumes {
		if s.Stopped() {
			return
		}
		_, err := svc.Guarded(ctx, s.guard, "resume", within, func(ctx context.Context) (struct{}, error) { f(ctx); return struct{}{}, nil })
		if err != nil && !errors.Is(err, svc.ErrClosed) {
			s.o.Log.Error("work not taken up again", "error", err)
		}
	}
}

func sourceOf(source string) (string, error) {
	if source == "" {
		return usualSource, nil
	}
	if !slices.Contains(sources, source) {
		return "", errs.New(errs.Invalid, "stop_source_unknown", "This is not a place where Sentient can be stopped.").
			WithFields(errs.Field{Loc: []string{"source"}, Msg: "Use one of " + strings.Join(sources, ", ") + ".", Type: "enum"})
	}
	return source, nil
}
