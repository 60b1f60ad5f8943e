package config

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
)

// UpdatedEvent is what config.updated tells (§1): the top-level sections that changed.
type UpdatedEvent struct {
	Sections []string `json:"sections"`
}

// Updated is published after a change was applied, never when nothing changed.
var Updated = event.Declare[UpdatedEvent]("config.updated")

// Subscriber takes part in a change. Verify may refuse it (with an *errs.Error a person can read) and changes nothing;
// Commit applies it and cannot fail. Neither may change settings itself.
type Subscriber interface {
	Verify(ctx context.Context, from, to *Config) error
	Commit(ctx context.Context, from, to *Config)
}

// Options of a Store. Only Dir is needed.
type Options struct {
	Dir   string       // the data folder
	Clock clock.Clock  // nil: the computer's
	Log   *slog.Logger // nil: nothing is logged
	Bus   *event.Bus   // nil: nothing is published
}

// Store is the settings of one data folder.
type Store struct {
	path  string
	clock clock.Clock
	log   *slog.Logger
	bus   *event.Bus

	now atomic.Pointer[settled]

	mu     sync.Mutex // one change at a time; guards what follows
	frozen *errs.Error
	seen   stamp           // the file as it was last read or written
	logged map[string]bool // unknown keys that were logged

	subsMu sync.Mutex
	subs   []*subscription

	notesMu  sync.Mutex
	notes    []string // since the start
	fileNote []string // about the file as it is now
}

// settled is one state of the settings, never changed.
type settled struct {
	config *Config
	tree   any
}

type subscription struct {
	name string
	Subscriber
}

// Defaults gives the settings as they are before anybody changed one.
func Defaults() Config {
	c, err := decode(whole(root().def))
	if err != nil {
		panic("config: defaults: " + err.Error()) // the tests decode every default
	}
	return *c
}

// Open reads the settings of a data folder and makes the folder where it is missing. It fails only when there can be
// no such folder: whatever is wrong with the file, there are settings, and Notes says what was done.
func Open(o Options) (*Store, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, errs.New(errs.Unavailable, "config_no_folder",
			"Sentient's data folder cannot be made. Check that there is room and that you may write there.").
			Because(fmt.Errorf("make data folder: %w", err))
	}
	s := &Store{path: filepath.Join(o.Dir, fileName), clock: o.Clock, log: o.Log, bus: o.Bus, logged: map[string]bool{}}
	if s.clock == nil {
		s.clock = clock.Real{}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sweep(o.Dir)
	s.start()
	return s, nil
}

// Get gives the settings as they are now. What it gives must not be changed.
func (s *Store) Get() *Config { return s.now.Load().config }

// Notes are sentences that a person should be told about the settings file: what was damaged, missing or not valid and
// what was done about it. The order is that of their cause.
func (s *Store) Notes() []string {
	s.notesMu.Lock()
	defer s.notesMu.Unlock()
	return append(slices.Clone(s.notes), s.fileNote...)
}

func (s *Store) note(sentence string) {
	s.notesMu.Lock()
	defer s.notesMu.Unlock()
	s.notes = append(s.notes, sentence)
}

// use makes a whole and valid tree the settings of now. It is for the start: nobody is told.
func (s *Store) use(tree any) {
	tree = whole(tree)
	c, err := decode(tree)
	if err != nil { // a valid tree always decodes; the defaults then do no harm
		s.log.Error("cannot use the settings", "error", err)
		d := Defaults()
		c, tree = &d, whole(root().def)
	}
	s.now.Store(&settled{c, tree})
}

// Subscribe lets a part of the engine take part in changes, after those that came before it. cancel ends that.
func (s *Store) Subscribe(name string, sub Subscriber) (cancel func()) {
	own := &subscription{name, sub}
	s.subsMu.Lock()
	defer s.subsMu.Unlock()
	s.subs = append(s.subs, own)
	return func() {
		s.subsMu.Lock()
		defer s.subsMu.Unlock()
		s.subs = slices.DeleteFunc(slices.Clone(s.subs), func(x *subscription) bool { return x == own })
	}
}

func (s *Store) subscribers() []*subscription {
	s.subsMu.Lock()
	defer s.subsMu.Unlock()
	return slices.Clone(s.subs)
}

func jsonInt(n int) json.Number { return json.Number(strconv.Itoa(n)) }
