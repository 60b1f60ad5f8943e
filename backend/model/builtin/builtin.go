// Package builtin is the built-in model: a small language model that Sentient runs by itself (contract/README, decision 8).
//
// It owns the model folder of the data folder, the download of a model and of the llama.cpp server that runs it, and that
// server's process. It promises: at most one server at a time; none before the first question and none ten minutes
// after the last one; none that outlives the engine, however the engine ends; a server that dies costs the answer it was
// writing and nothing else. It does not promise that the model is good: Status says when it is weak. It does not
// queue: who may ask when is backend/model's business.
//
// Where the model comes from, the first that is there:
//
//   - the data folder's models/, filled by Download on the person's word;
//   - build/cache/models of a source checkout, filled by build/models/fetch.sh.
//
// Both are described by an index.json of the same form. Only backend/model and app may import this package.
package builtin

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/llm"
	"sentient/backend/llm/openai"
	"sentient/backend/sysinfo"
)

// Provider is the name of this provider in "provider/model".
const Provider = "builtin"

// State says how the built-in model stands.
type State string

// The states.
const (
	Missing     State = "missing"     // no model, no program: Offer says what could be downloaded
	Downloading State = "downloading" // a download is on its way
	Ready       State = "ready"       // there, not loaded
	Starting    State = "starting"    // being loaded into memory
	Running     State = "running"     // loaded, answers at once
	Failed      State = "failed"      // did not start or stopped by itself; the next question tries again
)

// ModelInfo describes the model that is there.
type ModelInfo struct {
	Name       string `json:"name"`  // as in "builtin/name"
	Label      string `json:"label"` // for people
	SizeBytes  int64  `json:"size_bytes"`
	License    string `json:"license"`
	LicenseURL string `json:"license_url"`
	Weak       bool   `json:"weak"` // answers short questions only: say so wherever it is offered
}

// Offer describes a model that could be downloaded for this computer.
type Offer struct {
	Name       string `json:"name"`
	Label      string `json:"label"`
	SizeBytes  int64  `json:"size_bytes"` // of the whole download, the program included
	License    string `json:"license"`
	LicenseURL string `json:"license_url"`
	MemoryGB   int    `json:"memory_gb"` // memory a computer should have for it
}

// Program says whether the server that runs models is there.
type Program struct {
	Present bool `json:"present"`
}

// Status is what the window shows about the built-in model.
type Status struct {
	State         State      `json:"state"`
	Model         *ModelInfo `json:"model"` // null while missing
	Offer         *Offer     `json:"offer"` // null where nothing (better) is offered for this computer
	Program       Program    `json:"program"`
	ContextLength int        `json:"context_length"` // tokens it reads at once; 0 while missing
	Message       string     `json:"message"`        // a sentence for people
}

// Options are what a Service needs. Home, HTTP, Clock and Log are required.
type Options struct {
	Home     string // the data folder
	Checkout string // index folder of a source checkout, or "" (see FindCheckout)
	// HTTP reaches loopback only. It must have no overall timeout: an answer may take minutes.
	HTTP *http.Client
	// Adapter speaks to the server, whose address ends in "/v1"; nil is the openai adapter.
	Adapter func(baseURL, apiKey string) llm.Model
	Fetcher Fetcher // downloads; nil where nothing can be downloaded
	Clock   clock.Clock
	Log     *slog.Logger
	// ContextLength is what a person wants the model to read at once, in tokens; asked anew at each start.
	ContextLength func() int
	MemoryBytes   func() uint64 // chooses the offer, 0 when unknown; nil: this computer's
	Cores         int           // 0: as many as there are
	Idle          time.Duration // unused for so long it is unloaded; 0: ten minutes
	Silence       time.Duration // of an answer until it is given up (models.request_timeout_s); 0: the adapter's

	// What is offered; nil for catalogue and archives. Tests put files of their own there.
	offers  []offered
	program *archive
}

// Service runs the built-in model. Add it to a svc.Tree: until then questions wait, and when the tree is closed they are refused.
type Service struct {
	o Options

	mu           sync.Mutex
	changed      chan struct{} // closed and replaced when anything below changes
	closed       bool          // Serve ran and ended
	wanted       bool          // somebody waits for a server
	server       *server       // the one that is loaded or loading
	failure      string        // a sentence, until a start succeeds
	crashes      int           // in a row
	failedStarts int           // ever: tells a waiting question that the start it waits for failed
	notBefore    time.Time     // a server that keeps dying is not started again before this
	downloading  bool
	wake         chan struct{} // tells Serve that wanted is set
}

// idleAfter is how long an unused model stays in memory: long enough for a pause for thought, short enough to give a
// small computer its memory back.
const idleAfter = 10 * time.Minute

// defaultContext is the contract's default for models.context_length.
const defaultContext = 8192

// New makes the service. It starts nothing and reads nothing.
func New(o Options) *Service {
	if o.Cores == 0 {
		o.Cores = sysinfo.CPUs()
	}
	if o.Idle == 0 {
		o.Idle = idleAfter
	}
	if o.ContextLength == nil {
		o.ContextLength = func() int { return defaultContext }
	}
	if o.MemoryBytes == nil {
		o.MemoryBytes = func() uint64 { total, _ := sysinfo.Memory(); return uint64(total) }
	}
	if o.Adapter == nil {
		o.Adapter = func(baseURL, apiKey string) llm.Model {
			return openai.New(openai.Options{Provider: Provider, Label: "Sentient's built-in model", BaseURL: baseURL,
				APIKey: apiKey, KeyRequired: true, Local: true, Idle: o.Silence, HTTP: o.HTTP, Log: o.Log, Clock: o.Clock})
		}
	}
	return &Service{o: o, changed: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// String names the service in logs.
func (s *Service) String() string { return "built-in model" }

func (s *Service) catalogue() []offered {
	if s.o.offers != nil {
		return s.o.offers
	}
	return catalogue()
}

func (s *Service) archive() (archive, bool) {
	if s.o.program != nil {
		return *s.o.program, true
	}
	return thisArchive()
}

func (s *Service) folder() string { return filepath.Join(s.o.Home, "models") }

// touchLocked tells everyone who waits that something changed. s.mu is held.
func (s *Service) touchLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Status says how the built-in model stands. It reads the index files and starts nothing.
func (s *Service) Status(ctx context.Context) Status {
	found, _ := s.find()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{State: Missing, Offer: s.offer(found)}
	if found != nil {
		st.State = Ready
		st.Program.Present = true
		st.Model = &ModelInfo{Name: found.Name, Label: found.Label, SizeBytes: found.SizeBytes, License: found.License,
			LicenseURL: found.LicenseURL, Weak: found.Weak}
		st.ContextLength = s.contextFor(found)
	}
	switch {
	case s.downloading:
		st.State = Downloading
	case found == nil:
	case s.server != nil && s.server.ready:
		st.State, st.ContextLength = Running, s.server.context
	case s.server != nil:
		st.State = Starting
	case s.failure != "":
		st.State = Failed
	}
	st.Message = s.sentence(st)
	return st
}

func (s *Service) sentence(st Status) string {
	switch st.State {
	case Downloading:
		return "The built-in model is being downloaded."
	case Missing:
		if st.Offer == nil {
			return "There is no built-in model for this computer."
		}
		return "The built-in model is not downloaded yet."
	case Starting:
		return "The built-in model is starting."
	case Running:
		return "The built-in model is loaded."
	case Failed:
		return s.failure
	}
	if st.Model.Weak {
		return "The built-in model is ready. It is very small: it answers short questions and cannot use tools."
	}
	return "The built-in model is ready."
}

// Present says whether a model and its program are there, and the model's name. It starts nothing.
func (s *Service) Present() (name string, ok bool) {
	found, err := s.find()
	if err != nil || found == nil {
		return "", false
	}
	return found.Name, true
}

// ContextLength is how many tokens the model reads at once: what the running server has, else what the next one gets, 0
// when there is no model (§1 "Context meter").
func (s *Service) ContextLength() int {
	s.mu.Lock()
	if s.server != nil {
		defer s.mu.Unlock()
		return s.server.context
	}
	s.mu.Unlock()
	found, err := s.find()
	if err != nil || found == nil {
		return 0
	}
	return s.contextFor(found)
}

// contextFor caps what the person wants at what the model can.
func (s *Service) contextFor(f *found) int {
	n := s.o.ContextLength()
	if n <= 0 {
		n = defaultContext
	}
	if f.MaxContext > 0 && n > f.MaxContext {
		n = f.MaxContext
	}
	return n
}
