package transcript

import (
	"context"
	"encoding/json"

	"sentient/backend/approval/ask"
	"sentient/backend/event"
)

// ApprovalEvent asks the person about a call.
type ApprovalEvent struct {
	Ref
	ask.Request
}

// UndoEvent says that a call waits.
type UndoEvent struct {
	Ref
	ask.Window
}

// stored gives an answer's column.
func stored(a *ask.Answered) any {
	if a == nil {
		return nil
	}
	text, _ := json.Marshal(a) // plain values always encode
	return string(text)
}

// ApprovalAsked says that a call waits for a yes: until Answered with one, it has had no effect.
type ApprovalAsked struct {
	ask.Request
}

// ApprovalAnswered is the end of a request.
type ApprovalAnswered struct {
	ask.Answer
}

// UndoOpened says that a call waits in its undo window: until UndoClosed with go, it has had no effect.
type UndoOpened struct {
	ask.Window
}

// UndoClosed is the end of an undo window.
type UndoClosed struct {
	ask.Closed
}

func (*ApprovalAsked) kind() string    { return "approval_asked" }
func (*ApprovalAnswered) kind() string { return "approval_answered" }
func (*UndoOpened) kind() string       { return "undo_opened" }
func (*UndoClosed) kind() string       { return "undo_closed" }

func (*ApprovalAsked) project(place) []row    { return nil }
func (*ApprovalAnswered) project(place) []row { return nil }
func (*UndoOpened) project(place) []row       { return nil }
func (*UndoClosed) project(place) []row       { return nil }

// The chat events of the gate (§1).
var (
	TopicApproval = event.DeclareChat[ApprovalEvent]("approval_request")
	TopicUndo     = event.DeclareChat[UndoEvent]("undo_window")
)

// Ask keeps and tells that a call waits for the person's yes.
func (r *Reply) Ask(ctx context.Context, q ask.Request) error {
	if err := r.log.record(ctx, r.ref, &ApprovalAsked{q}); err != nil {
		return err
	}
	event.Publish(r.log.Bus, TopicApproval, ApprovalEvent{Ref: r.ref, Request: q})
	return nil
}

// Answered keeps how a request ended, before anything follows from it: a yes that is not in the log was none.
func (r *Reply) Answered(ctx context.Context, a ask.Answer) error {
	return r.log.record(ctx, r.ref, &ApprovalAnswered{a})
}

// Hold keeps and tells that a call waits in its undo window.
func (r *Reply) Hold(ctx context.Context, w ask.Window) error {
	if err := r.log.record(ctx, r.ref, &UndoOpened{w}); err != nil {
		return err
	}
	event.Publish(r.log.Bus, TopicUndo, UndoEvent{Ref: r.ref, Window: w})
	return nil
}

// Held keeps how an undo window ended, before the call goes.
func (r *Reply) Held(ctx context.Context, c ask.Closed) error {
	return r.log.record(ctx, r.ref, &UndoClosed{c})
}

// What stands where the result of a call should be that waited when everything ended.
const (
	neverAnswered = "Not done: Sentient stopped before you answered."
	neverSent     = "Not sent: Sentient stopped while it could still be undone."
)

// effects follows, through a turn's log, which of its calls may have had an effect.
type effects struct {
	begun, ended map[string]bool
	waits        map[string]string // by call: the sentence of one that was still waiting
}

func newEffects() effects {
	return effects{begun: map[string]bool{}, ended: map[string]bool{}, waits: map[string]string{}}
}

func (e effects) see(r Record) {
	switch r := r.(type) {
	case *CallStarted:
		e.begun[r.ID] = true
	case *CallResult:
		e.ended[r.CallID] = true
	case *ApprovalAsked:
		e.waits[r.CallID] = neverAnswered
	case *ApprovalAnswered:
		if r.Decision.Yes() {
			delete(e.waits, r.CallID)
		}
	case *UndoOpened:
		e.waits[r.CallID] = neverSent
	case *UndoClosed:
		if r.Go {
			delete(e.waits, r.CallID)
		}
	}
}

// missing gives the result of a call that has none.
func (e effects) missing(c Call) *CallResult {
	switch {
	case !e.begun[c.ID]:
		return errorResult(c, neverBegun)
	case e.waits[c.ID] != "":
		return errorResult(c, e.waits[c.ID])
	}
	return errorResult(c, outcomeUnknown)
}
