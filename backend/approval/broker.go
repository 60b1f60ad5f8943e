package approval

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sentient/backend/approval/ask"
	"sentient/backend/errs"
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// Waiting is a request that waits for an answer.
type Waiting struct {
	ask.Request
	SessionID string
	Channel   string
	Mark      string // what the run had read
}

// waiting is one of this engine's own requests: it ends with its turn.
type waiting struct {
	choices []ask.Decision
	answer  chan ask.Answer // holds one; whoever takes the request out of the list sends it
}

// Holder keeps requests that outlive the engine, such as a task's (§4 "Tasks that ask you a question"). It answers for the
// ones it made.
type Holder interface {
	// Settle answers the waiting request of this id, exactly once however often and from wherever it is called: settled is
	// true for one call only. A yes wider than the request offers counts as once.
	Settle(ctx context.Context, id string, d ask.Decision, via string) (settled bool, err error)
}

// Hold lets a surface answer for requests of its own. It is called while the engine is put together.
func (s *Service) Hold(h Holder) {
	s.mu.Lock()
	s.holders = append(s.holders, h)
	s.mu.Unlock()
}

// RespondInput answers a request (POST /api/approvals, `approval.respond`).
type RespondInput struct {
	ApprovalID string       `json:"approval_id" minLength:"1" maxLength:"64"`
	Decision   ask.Decision `json:"decision" maxLength:"40" doc:"One of the request's choices; a wider yes counts as allow."`
}

// RespondResult says that the answer settled the request.
type RespondResult struct {
	Resolved bool `json:"resolved"`
}

// Respond answers a request of any chat from the window. 404 when nothing waits with that id, or the decision is unknown.
func (s *Service) Respond(ctx context.Context, in *RespondInput) (*RespondResult, error) {
	settled, err := s.Answer(ctx, in.ApprovalID, in.Decision, "desktop")
	if err != nil {
		return nil, err
	}
	if !settled {
		return nil, errs.New(errs.NotFound, "approval_unknown", "Nothing is waiting for this answer any more.")
	}
	return &RespondResult{Resolved: true}, nil
}

// Answer answers a request from a surface (via: desktop, telegram …). The first answer settles it; false for every other.
func (s *Service) Answer(ctx context.Context, id string, d ask.Decision, via string) (settled bool, err error) {
	if !d.Known() {
		return false, nil
	}
	if w := s.take(id); w != nil {
		w.answer <- ask.Answer{ApprovalID: id, Decision: d.Within(w.choices), Via: via}
		return true, nil
	}
	s.mu.Lock()
	holders := slices.Clone(s.holders)
	s.mu.Unlock()
	for _, h := range holders {
		if settled, err = h.Settle(ctx, id, d, via); settled || err != nil {
			return settled, err
		}
	}
	return false, nil
}

// take takes a request out of the list: who gets it settles it.
func (s *Service) take(id string) *waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[id]
	delete(s.waiting, id)
	return w
}

// await waits for the answer to a request that was shown: no answer in time is a no (Via ""), the end of ctx no answer at
// all (Decision "").
func (s *Service) await(ctx context.Context, q Waiting, w *waiting, within time.Duration) ask.Answer {
	settled := func(string) {}
	if s.Unseen != nil && otherApps[q.Channel] {
		settled = s.Unseen.Asked(ctx, q)
	}
	limit := s.Clock.NewTimer(within)
	defer limit.Stop()
	a := ask.Answer{ApprovalID: q.ApprovalID}
	select {
	case a = <-w.answer:
	case <-limit.C():
		if s.take(q.ApprovalID) == nil {
			a = <-w.answer // it came in the same moment, and whoever sent it was told that it counts
		} else {
			a.Decision = ask.Deny
		}
	case <-ctx.Done():
		s.take(q.ApprovalID) // an answer that came in the same moment has nothing left to settle
	}
	a.CallID = q.CallID
	status := string(a.Decision)
	if a.Via == "" {
		status = "expired"
	}
	settled(status)
	return a
}

// wait puts a request on the list before it is shown, so that an answer as fast as can be finds it.
func (s *Service) wait(q ask.Request) *waiting {
	w := &waiting{choices: q.Choices, answer: make(chan ask.Answer, 1)}
	s.mu.Lock()
	s.waiting[q.ApprovalID] = w
	s.mu.Unlock()
	return w
}

// heldCall is a call in its undo window.
type heldCall struct {
	end chan string // holds one: undo or send_now
}

// UndoInput ends an undo window early (POST /api/undo, `undo.respond`).
type UndoInput struct {
	UndoID string `json:"undo_id" minLength:"1" maxLength:"64"`
	Action string `json:"action" enum:"undo,send_now"`
}

// UndoResult says that it did.
type UndoResult struct {
	Done   bool   `json:"done"`
	Action string `json:"action"`
}

// Undo takes a waiting email, message or post back, or lets it go now. 404 when nothing waits with that id.
func (s *Service) Undo(_ context.Context, in *UndoInput) (*UndoResult, error) {
	if !s.EndWindow(in.UndoID, in.Action) {
		return nil, errs.New(errs.NotFound, "undo_over", "Nothing is waiting with that id. Its time to undo is over.")
	}
	return &UndoResult{Done: true, Action: in.Action}, nil
}

// EndWindow ends an undo window with undo or send_now; false when it has ended.
func (s *Service) EndWindow(id, action string) bool {
	h := s.release(id)
	if h == nil {
		return false
	}
	h.end <- action
	return true
}

// release takes a call out of the list: who gets it decides whether it goes.
func (s *Service) release(id string) *heldCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[id]
	delete(s.held, id)
	return h
}

func (s *Service) holdBack(w ask.Window) *heldCall {
	h := &heldCall{end: make(chan string, 1)}
	s.mu.Lock()
	s.held[w.UndoID] = h
	s.mu.Unlock()
	return h
}

// awaitWindow waits for the end of an undo window. goes is false when the person took the call back (undone), or when ctx
// ended first.
func (s *Service) awaitWindow(ctx context.Context, w ask.Window, h *heldCall) (goes, undone bool) {
	limit := s.Clock.NewTimer(time.Duration(w.Seconds) * time.Second)
	defer limit.Stop()
	action := ""
	select {
	case action = <-h.end:
	case <-limit.C():
		if s.release(w.UndoID) == nil {
			action = <-h.end // it came in the same moment, and whoever sent it was told that it counts
		}
	case <-ctx.Done():
		s.release(w.UndoID)
		return false, false
	}
	undone = action == "undo"
	return !undone && ctx.Err() == nil, undone
}
