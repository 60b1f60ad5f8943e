// Package approval is the gate: it stands in front of every tool call, on every surface, and is the only caller of a tool.
//
// It owns the order of checks (gate.go), the modes and lasting rules, the questions to the person and their answers, the
// grants that an answer may leave behind, the undo window, the marks of outside content, and the run of the call itself.
// Packages below it hold the checks that need only text: rules, proposal, outside, look, trash, preview.
//
// It promises: no check reads a model's word about itself; what cannot be told (a risk, where a reply goes, whether the
// words fit) is treated as the worst; a call that waits for a yes, or in its undo window, has had no effect, whatever
// happens meanwhile; an answer settles its call once, from whichever surface it comes first; a yes is in the chat's log
// before the call runs; rules are read again just before it runs.
//
// It does not decide which tools a model is offered (it says which are hidden), keeps no transcript and words no prompt.
//
// Layer 2. The turn's loop enters it with a Run a turn, and the surfaces that answer enter it with Respond and Undo.
package approval

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"

	"sentient/backend/approval/evidence"
	"sentient/backend/approval/outside"
	"sentient/backend/approval/proposal"
	"sentient/backend/clock"
	"sentient/backend/config"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// Settings are the parts of the config that the gate follows. They are asked for at every check.
type Settings struct {
	config.Approvals
	ConfirmPurchases bool // browser.confirm_purchases
	MarkOutside      bool // chat.mark_outside_content
	UserName         string
	ReadOnly         []string // integrations.read_only: ids of apps
}

// Tools are the tools that there are.
type Tools interface {
	Find(name string) (*tool.Tool, *tool.Plugin, bool)
	Enabled(name string) bool
	Plugins() []*tool.Plugin
}

// Chats keeps what a chat has read (§10 "Outside content").
type Chats interface {
	// Mark gives what a chat has read that someone else wrote; known is false for one that was never looked at. visited
	// are the web hosts that it loaded.
	Mark(ctx context.Context, id string) (source string, known bool, visited []string, err error)
	// SetMark marks a chat that is not marked; "" says that it was looked at and is clean.
	SetMark(ctx context.Context, id, source string) error
	Visit(ctx context.Context, id string, hosts []string) error
	// WroteFile keeps that a marked run wrote a file, by its name under files/; FileSource gives what it had read, or "".
	WroteFile(ctx context.Context, name, source string) error
	FileSource(ctx context.Context, name string) (string, error)
}

// Copies keeps files as they were before a call (§10 "File snapshots").
type Copies interface {
	// Keep copies what a call may change; end is called when the call has ended, however it ended.
	Keep(ctx context.Context, c *tool.Context, t tool.Touched) (end func(ctx context.Context) error, err error)
}

// Unseen tells of requests that no chat surface shows: those of other apps' turns (§6 "Approval payload").
type Unseen interface {
	// Asked posts a request; settled is called once with how it ended: a decision, or "expired".
	Asked(ctx context.Context, w Waiting) (settled func(status string))
}

// Options are what the gate needs from outside.
type Options struct {
	DB        *store.DB
	Bus       *event.Bus
	Clock     clock.Clock
	Log       *slog.Logger
	Tree      *svc.Tree
	Settings  func() Settings
	Modify    func(ctx context.Context, change func(*config.Approvals)) error
	Tools     Tools
	Chats     Chats
	Proposals *proposal.Service // nil: none
	Copies    Copies            // nil: no copies
	Unseen    Unseen            // nil: nobody is told
	Records   evidence.Records  // nil: there are no memories and contacts
	// Ask asks a small model that has no tools. session is the chat it is for; its model answers where the small one cannot.
	Ask func(ctx context.Context, session, prompt string) (string, error)
}

// Service is the gate of one engine.
type Service struct {
	Options
	marker *outside.Marker

	mu      sync.Mutex
	waiting map[string]*waiting             // requests that are not answered, by id
	held    map[string]*heldCall            // calls in their undo window, by id
	chats   map[string]map[string]tool.Risk // "Allow for this chat": by chat and tool, up to which risk
	holders []Holder
}

// New makes the gate. The marks' secret lives as long as it does.
func New(o Options) *Service {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return &Service{Options: o, marker: outside.NewMarker(secret), waiting: map[string]*waiting{}, held: map[string]*heldCall{}, chats: map[string]map[string]tool.Risk{}}
}

// Marker marks outside content for the model, with this engine's secret.
func (s *Service) Marker() *outside.Marker { return s.marker }

// Forget drops what is remembered of a chat that goes.
func (s *Service) Forget(session string) {
	s.mu.Lock()
	delete(s.chats, session)
	s.mu.Unlock()
	if s.Proposals != nil {
		s.Proposals.Forget(session)
	}
}

// Halt cancels the checks of proposed rules that are running, and gives how many (§17).
func (s *Service) Halt(context.Context) int {
	if s.Proposals == nil {
		return 0
	}
	return s.Proposals.Halt()
}

func (s *Service) guard() svc.Guard { return svc.Guard{Tree: s.Tree, Clock: s.Clock, Log: s.Log} }
