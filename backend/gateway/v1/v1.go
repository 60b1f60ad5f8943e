// Package v1 is the OpenAI-compatible API (§2): other apps on this computer chat with Sentient through any OpenAI client.
//
// It owns the routes under /v1, the order of their checks, OpenAI's wire shapes, the key of other apps (KeyService,
// KeyEntry) and which chat belongs to which name (ChatNames). It promises: nothing of a request is read before off,
// locality and key were checked; whether a connection is local is decided by its two socket addresses alone; a request
// runs at most one turn, and one that is refused runs none; what is streamed and what is answered whole is the same
// text; each stream that began ends with [DONE]; an app that hangs up ends nothing. It does not run turns and knows no
// tool, approval or memory: that is Turns. It keeps no key in a log.
//
// The gateway mounts it and checks Host and Origin before it, for every path alike; the engine connects it.
package v1

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/transcript"
)

// Options are what the API is made of. The zero value is an API that is off.
type Options struct {
	Settings func() (enabled, allowMemory bool) // openai_api.enabled and .allow_memory as they are now; nil: off
	Key      Key                                // nil: nobody can come in
	Turns    Turns
	Chats    Chats
	Stops    func() uint64 // how often Stop everything was pressed so far; nil: it is not known here
	Ready    func() error  // why nothing can be answered now (safe mode), or nil; nil: always ready
	Clock    clock.Clock
	Log      *slog.Logger
}

// Key keeps the one key of other apps.
type Key interface {
	// Get gives the key, "" when none was made. An error means that there may be one that can't be read now.
	Get(ctx context.Context) (string, error)
	// Put replaces the key. After it Get gives the new one.
	Put(ctx context.Context, key string) error
}

// Turns runs what other apps ask.
type Turns interface {
	// Ask runs one turn in a chat from start to end and gives its chat events, a session first and a done last. The turn
	// goes on when ctx ends or each fails; Ask then gives that error. While the chat is answering: errs code "chat_busy"
	// (Conflict), and nothing started. Ended by Stop everything, or asked before one (Question.Stops) and not begun: errs
	// code "stopped". A turn that failed, or was stopped in its chat alone, says so in its done, and Ask gives nil.
	Ask(ctx context.Context, q Question, each func(transcript.Line) error) error
}

// Question is one request of another app.
type Question struct {
	SessionID string
	Text      string
	Channel   string // "api"
	From      string // who is speaking, as the chat shows it: "another app (API)"
	Memory    bool   // openai_api.allow_memory as it was when the request came
	Stops     uint64 // Options.Stops when the request came: a turn is not begun when it has grown since
}

// Chats knows the chats of other apps by name.
type Chats interface {
	// Named gives the chat of a name, made on first use with channel "api" and the name as its title. Concurrent first
	// requests share it, and no name gets another one's.
	Named(ctx context.Context, name string) (sessionID string, err error)
}

// The words of the wire.
const (
	model     = "sentient"          // the one model, whatever a request names
	channel   = "api"               // of a chat
	sender    = "another app (API)" // of a message
	usualName = "API"               // of the chat of requests that name no user
)

// codeStopped is the code of what Stop everything ended.
const codeStopped = "stopped"

type handler struct {
	Options
	routes map[string]http.HandlerFunc // by method and path
	made   time.Time                   // when the model counts as made
}

// New makes the handler of /v1 and everything under it.
func New(o Options) http.Handler {
	h := &handler{Options: o, made: o.Clock.Now()}
	h.routes = map[string]http.HandlerFunc{routeModels: h.models, routeChat: h.chat}
	return h
}

// The routes.
const (
	routeModels = "GET /v1/models"
	routeChat   = "POST /v1/chat/completions"
)

// Routes lists what is served: method and path.
func Routes() []string { return []string{routeModels, routeChat} }

// ServeHTTP checks who asks, and only then looks at what is asked.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.admit(r); err != nil {
		h.refuse(w, r, err)
		return
	}
	serve := h.routes[r.Method+" "+r.URL.Path]
	if serve == nil {
		h.refuse(w, r, errs.New(errs.NotFound, "unknown_url", "Sentient has nothing at this address. It answers GET /v1/models and POST /v1/chat/completions."))
		return
	}
	serve(w, r)
}

// admit makes the contract's checks in the contract's order. Reading the key may open the keychain, so a request that
// shows none is refused before that.
func (h *handler) admit(r *http.Request) error {
	if !h.enabled() {
		return errs.New(errs.NotFound, "api_off", "Other apps can't use Sentient: its API is off. Turn it on in Sentient's settings.")
	}
	if !local(r) {
		return errs.New(errs.Forbidden, "local_only", "Sentient's API answers only apps on the same computer.")
	}
	shown := bearer(r)
	if shown == "" {
		return errNoKey()
	}
	if h.Key != nil {
		key, err := h.Key.Get(r.Context())
		if err != nil {
			return err
		}
		if !same(shown, key) {
			return errNoKey()
		}
	}
	if h.Ready != nil {
		if err := h.Ready(); err != nil {
			return err
		}
	}
	if h.Key == nil {
		return errNoKey()
	}
	return nil
}

func (h *handler) enabled() bool {
	if h.Settings == nil {
		return false
	}
	on, _ := h.Settings()
	return on
}

func errNoKey() *errs.Error {
	return errs.New(errs.Unauthorized, "invalid_api_key", "This is not the key that Sentient made for other apps. Copy it again, or make a new one in Sentient's settings.")
}

// models lists the one model (GET /v1/models).
func (h *handler) models(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	h.write(w, r, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []entry `json:"data"`
	}{"list", []entry{{ID: model, Object: "model", Created: h.made.Unix(), OwnedBy: model}}})
}

// chat answers one request with one turn (POST /v1/chat/completions).
func (h *handler) chat(w http.ResponseWriter, r *http.Request) {
	q, want, err := h.question(w, r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	a := &answer{w: newWriter(w, h.Clock), created: h.Clock.Now().Unix(), want: want}
	defer a.w.close()
	err = a.outcome(h.follow(r.Context(), q, a))
	if err == nil {
		err = a.finish()
	}
	switch {
	case err == nil:
	case a.w.broken(): // there is nobody to tell
		h.Log.DebugContext(r.Context(), "app left before the end of its answer", "cause", err)
	case a.began:
		h.note(r, err)
		_ = a.fail(faultOf(err).Fault) // the app may have left in this moment
	default:
		h.refuse(w, r, err)
	}
}

// question reads a request into what is asked of Turns.
func (h *handler) question(w http.ResponseWriter, r *http.Request) (q Question, want wanted, err error) {
	if h.Stops != nil {
		q.Stops = h.Stops() // before anything that takes time
	}
	raw, err := h.body(w, r)
	if err != nil {
		return q, want, err
	}
	asked, err := parse(raw)
	if err != nil {
		return q, want, err
	}
	if q.SessionID, err = h.Chats.Named(r.Context(), asked.user); err != nil {
		return q, want, turnFailed(err)
	}
	q.Text, q.Channel, q.From = asked.text, channel, sender
	_, q.Memory = h.Settings()
	return q, asked.wanted, nil
}
