// Package agent answers messages: it owns the turn.
//
// A turn is one message of a person and what answers it. The package owns the order of turns in a chat (one at a time;
// what is sent meanwhile waits and becomes the next turn), the prompt, the call of the model, the context meter, the end
// of the turn, and the chat's automatic title. The transcript keeps what happens, the chats keep themselves, models
// choose themselves: see the interfaces below.
//
// It promises: every turn that was opened ends with exactly one done, whatever happens (an error or a panic of the
// model, a model that hangs, Stop at any step, a database that fails, the end of the engine); a message is in the
// database before Send returns; a client_id that is sent again starts nothing; what a person sees of a reply is what is
// kept of it. It does not promise that a message which waits when the engine ends is answered later: it is kept, and
// marked as not sent (transcript.Recover says why).
//
// It imports transcript, because a turn's vocabulary is its log; no other package of its layer. app connects it.
package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sentient/backend/approval"
	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// Models chooses who answers.
type Models interface {
	// Choose gives a model for a role ("primary", "fast", "vision"). model, where not empty, is the one to use instead
	// of the role's ("provider/model"). A model that cannot answer now is an *errs.Error that says why.
	Choose(ctx context.Context, role, model string) (llm.Choice, error)
}

// Chats is what a turn needs of the chats.
type Chats interface {
	// Add makes a chat inside the transaction.
	Add(tx *store.Tx, id, channel string, incognito bool) error
	// Enter begins a turn in a chat inside the transaction; told is called after the commit. 404 for an unknown chat.
	Enter(tx *store.Tx, id string, attachments []string) (model string, incognito bool, told func(), err error)
	// WantsTitle reports whether nobody has named the chat.
	WantsTitle(ctx context.Context, id string) (bool, error)
	// SetAutoTitle names it, for good or (final false) until a better title comes.
	SetAutoTitle(ctx context.Context, id, title string, final bool) error
	// About gives what a turn must know of a chat outside a transaction.
	About(ctx context.Context, id string) (model, channel string, incognito bool, err error)
}

// Files is what a turn needs of attachments.
type Files interface {
	// ReadFile gives the start of a file, at most max bytes, its MIME type and its whole size. 404 when it is gone.
	ReadFile(ctx context.Context, name string, max int64) (data []byte, mime string, size int64, err error)
	// SaveOutput keeps a long tool result and gives its name, which no other file has. An incognito chat's goes with it.
	SaveOutput(ctx context.Context, session string, incognito bool, name string, data []byte) (string, error)
}

// Knowledge is what other parts know about the person: memories, the user model, the index of skills.
type Knowledge interface {
	// Recall gives what a prompt should say for a message. It is given two seconds; what takes longer is left out.
	Recall(ctx context.Context, in RecallInput) (Recalled, error)
	// Flush takes durable facts out of messages that are about to be summarized (§10 "Hooks").
	Flush(ctx context.Context, session, conversation string) error
}

// RecallInput is what is recalled for.
type RecallInput struct {
	SessionID, Channel, Text string
}

// Recalled is what a prompt says of what is known.
type Recalled struct {
	Blocks   []string // Markdown, each with its heading
	Memories []tool.MemorySource
}

// Settings are the parts of the config that turns follow. They are asked for at every turn.
type Settings struct {
	AssistantName       string // "" is Sentient
	UserName            string
	Timezone            string // IANA name; "auto" or "" is the computer's
	Location            string
	Language            string
	HistoryWindow       int  // messages that a model reads; 0 is 30
	AutoTitle           bool // a model names chats
	IncognitoUsesMemory bool // incognito chats read the profile
	CompressAfter       int  // messages after which the older part of a chat is summarized; 0: never

	AllTools       bool // offer every tool, whatever was asked
	MaxToolsLocal  int
	MaxToolsCloud  int
	ResultMaxChars int     // of a tool result that a model reads; 0 is 16,000
	ResultShare    float64 // of the model's context length that a result may fill
	ParallelReads  bool
	RepeatLimit    int // the same call with the same result; 0: no limit

	Subagents SubagentSettings
}

// Options are what a Service needs from outside.
type Options struct {
	DB         *store.DB
	Bus        *event.Bus
	Clock      clock.Clock
	Log        *slog.Logger
	Tree       *svc.Tree // turns run in it
	Transcript *transcript.Log
	Models     Models
	Chats      Chats
	Files      Files
	Tools      Tools             // nil: none
	Gate       *approval.Service // stands in front of every call
	Knowledge  Knowledge         // nil: nothing is known
	Settings   func() Settings
	// OnCompleted hears of each turn that ended well and that may be learned from.
	OnCompleted func(ctx context.Context, c Completed)
	// OnHelper hears of each background helper that ended, after its report is in the chat.
	OnHelper func(ctx context.Context, a Subagent)
	Dir      string // the data folder; workspace/ in it holds SOUL.md and USER.md
}

// Service runs the turns of one engine.
type Service struct {
	Options
	prompts prompts

	mu      sync.Mutex
	lanes   map[string]*lane // by chat; only those with something to do
	closing bool
	sending sync.WaitGroup      // sends that were let in
	unended map[string]struct{} // chats with a turn whose end could not be written
	titles  map[*turn]context.CancelFunc
	helpers map[string]*helper // those at work
	summing map[string]*turn   // chats that are being summarized, each with the newest turn since
	halts   uint64             // how often everything was stopped
}

// New makes the service.
func New(o Options) (*Service, error) {
	if o.Tools == nil {
		o.Tools = noTools{}
	}
	p, err := loadPrompts()
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, prompts: p, lanes: map[string]*lane{}, unended: map[string]struct{}{}, titles: map[*turn]context.CancelFunc{}, helpers: map[string]*helper{}, summing: map[string]*turn{}}, nil
}

// noTools is an assistant that only talks.
type noTools struct{}

func (noTools) Find(string) (*tool.Tool, *tool.Plugin, bool) { return nil, nil, false }
func (noTools) Enabled(string) bool                          { return false }
func (noTools) Select(Need) []*tool.Tool                     { return nil }

// Start ends what the last run left open, and carries on what nobody watches. It is called before anything is sent;
// transcript.Recover says what becomes of what.
func (s *Service) Start(ctx context.Context) error {
	found, err := s.Transcript.Recover(ctx, unattended)
	if err != nil {
		return err
	}
	if found.Ended+found.Unsent+len(found.Waiting) > 0 {
		s.Log.Info("unfinished turns ended", "ended", found.Ended, "not_sent", found.Unsent, "carried_on", len(found.CutOff), "waiting", len(found.Waiting))
	}
	if err := s.endHelpers(ctx); err != nil {
		return err
	}
	return s.carryOn(ctx, found)
}

// Why a turn is stopped: the causes of its context.
var (
	errStopped = errors.New("stopped by the person")
	errHalted  = errors.New("stopped with everything")
	errDeleted = errors.New("its chat is being deleted")
	errClosing = errors.New("the engine is closing")
)

// Why a message that waited was not sent.
var (
	unsentStopped = errs.New(errs.Cancelled, "not_sent", "Stopped. Your queued message wasn't sent.")
	unsentDeleted = errs.New(errs.Cancelled, "not_sent", "This chat was deleted before your message was sent.")
	unsentClosing = errs.New(errs.Cancelled, "not_sent", "Sentient closed before your message was sent. Send it again.")
)

// guard is what calls of others' code are made with.
func (s *Service) guard() svc.Guard { return svc.Guard{Tree: s.Tree, Clock: s.Clock, Log: s.Log} }

// Halt stops every turn and drops every message that waits ("Stop everything", §17), and waits until all have ended. A
// model that is just naming a chat is stopped as well.
// It gives how many turns it stopped. What is sent afterwards is answered as usual.
func (s *Service) Halt(ctx context.Context) (int, error) {
	s.mu.Lock()
	s.halts++
	running, waiting := s.takeAllLocked()
	for _, cancel := range s.titles {
		cancel()
	}
	s.mu.Unlock()
	err := s.stop(ctx, running, waiting, errHalted, unsentStopped)
	return len(running), errors.Join(err, s.haltHelpers(ctx, "", errHalted))
}

// Halts tells how often everything was stopped. A request that began before one and comes to its turn after it can tell.
func (s *Service) Halts() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.halts
}

// Close lets no more messages in, stops every turn and waits until all have ended. The database must be open until it
// returns.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.sending.Wait()
	s.mu.Lock()
	running, waiting := s.takeAllLocked()
	s.mu.Unlock()
	err := s.stop(ctx, running, waiting, errClosing, unsentClosing)
	return errors.Join(err, s.haltHelpers(ctx, "", errClosing))
}

// takeAllLocked empties every queue. The running turns stay where they are; they leave by themselves.
func (s *Service) takeAllLocked() (running, waiting []*turn) {
	for _, l := range s.lanes {
		if l.current != nil {
			running = append(running, l.current)
		}
		waiting = append(waiting, l.emptyLocked()...)
	}
	return running, waiting
}

// stop stops running turns and ends those that wait (which nobody else holds any more), then waits for all.
func (s *Service) stop(ctx context.Context, running, waiting []*turn, cause error, unsent *errs.Error) error {
	for _, t := range running {
		t.cancel(cause)
	}
	s.drop(waiting, unsent)
	for _, t := range running {
		select {
		case <-t.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// moveWithin bounds the write that makes a turn of what was said into a reply too late.
const moveWithin = 15 * time.Second
