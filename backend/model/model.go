// Package model decides which model answers, and makes it ready to be asked.
//
// It owns the roles (§3), the table of providers, the clients that speak to them, and what can be asked about models
// without a chat: which are there, whether one answers, downloading one. The built-in model is its subpackage. It makes no
// rounds, keeps no chats and counts no money.
//
// It promises: no model is asked that the person or the defaults did not name, with one exception. A role whose model
// is still the default of a fresh installation (a model of Ollama's) is answered by the built-in model while Ollama is not there
// or has not got that model, and no provider's key is set (contract/README, decision 8). Choice.Name says who answers. A
// model that a person named, for a role, a chat or one message, is never replaced.
//
// A key leaves this package only towards its provider. Siblings do not import it; each declares what it needs.
package model

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/llm"
	"sentient/backend/llm/ollama"
	"sentient/backend/model/builtin"
	"sentient/backend/secret"
)

// Settings is what is needed of the config store.
type Settings interface {
	// Get gives the settings of now, which must not be changed.
	Get() *config.Config
	// Modify changes them; what it refuses is an *errs.Error.
	Modify(ctx context.Context, change func(*config.Config)) error
}

// Keys gives providers' keys: secret.Store.
type Keys interface {
	// Get gives the key that is kept under a provider's id, else in its environment variable, "" when there is none.
	Get(ctx context.Context, name string) (value string, source secret.Source, err error)
	// List says of every name whether it is set.
	List(ctx context.Context) ([]secret.Entry, error)
}

// Builtin is what is needed of the built-in model.
type Builtin interface {
	Model() llm.Model
	Present() (name string, ok bool)
	ContextLength() int
	Status(ctx context.Context) builtin.Status
	Download(ctx context.Context, name string, each func(builtin.Progress) error) error
}

// Options are what a Service needs; all are required unless said.
type Options struct {
	Settings Settings
	Keys     Keys
	Builtin  Builtin // nil where there is none
	// HTTP reaches the services, on this computer, in the house and in the world: the person sets their addresses. It has
	// no overall timeout, since an answer may take minutes.
	HTTP *http.Client
	// Getenv reads the environment, for keys of local servers (models.providers.<id>.api_key_env).
	Getenv func(string) string
	Clock  clock.Clock
	Log    *slog.Logger
}

// Service chooses models. It is safe for concurrent use.
type Service struct {
	o Options

	mu       sync.Mutex
	clients  map[string]kept     // by provider
	catalogs map[string]keptList // by provider
	tags     keptTags
	shown    map[shownKey]ollama.Details
}

// New makes the service. It asks nobody anything.
func New(o Options) *Service {
	return &Service{o: o, clients: map[string]kept{}, catalogs: map[string]keptList{}, shown: map[shownKey]ollama.Details{}}
}

// Times of questions that somebody waits for.
const (
	// glance is for a service on this computer that only has to say what it has.
	glance = 3 * time.Second
	// lookup is for a list from the internet.
	lookup = 20 * time.Second
	// trial is for one short answer of a model (§3 "Each step has a short timeout (60 s)").
	trial = 60 * time.Second
)
