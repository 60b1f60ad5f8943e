// Package ask is how a person is asked about a call, and how they answer: the shapes that the gate, the transcript and the
// wire share.
//
// It owns nothing that runs. It is a package of its own because the log keeps these shapes and the gate makes them.
package ask

import (
	"encoding/json"
	"slices"

	"sentient/backend/approval/preview"
)

// Decision is an answer (§2 "Scoped answers").
type Decision string

// The decisions. Allow is once.
const (
	Allow   Decision = "allow"
	Session Decision = "allow_session"
	Task    Decision = "allow_task"
	Timed   Decision = "allow_timed"
	Always  Decision = "allow_always"
	Deny    Decision = "deny"
)

// decisions are all of them.
var decisions = []Decision{Allow, Session, Task, Timed, Always, Deny}

// Known reports whether it is one of the decisions.
func (d Decision) Known() bool { return slices.Contains(decisions, d) }

// Yes reports whether the call may run.
func (d Decision) Yes() bool { return d.Known() && d != Deny }

// Within gives the decision as far as a request offers it: a yes that is wider than what was offered is a yes once.
func (d Decision) Within(choices []Decision) Decision {
	if d.Yes() && !slices.Contains(choices, d) {
		return Allow
	}
	return d
}

// Request is a call that waits for the person's yes (§1 `approval_request`).
type Request struct {
	ApprovalID   string           `json:"approval_id"`
	CallID       string           `json:"call_id"`
	Name         string           `json:"name"`
	Arguments    json.RawMessage  `json:"arguments"`
	Risk         string           `json:"risk" enum:"read,write,send,exec"`
	Reason       string           `json:"reason" doc:"A short label for the card where it says more than the risk itself."`
	RiskLabel    string           `json:"risk_label,omitempty"`
	Target       string           `json:"target,omitempty"`
	Untrusted    string           `json:"untrusted,omitempty" doc:"Why what the chat has read makes it ask: one sentence."`
	Warning      string           `json:"warning,omitempty" doc:"What a second look found: one sentence."`
	Choices      []Decision       `json:"choices" enum:"allow,allow_session,allow_task,allow_timed,allow_always,deny" doc:"The answers offered, in order."`
	GrantMinutes int              `json:"grant_minutes,omitempty" doc:"How long allow_timed lasts."`
	Preview      *preview.Preview `json:"preview,omitempty"`
	App          string           `json:"app,omitempty" doc:"The name of the app whose tool it is."`
	Label        string           `json:"label,omitempty" doc:"The call in a few words: \"Post message\" in Slack."`
	Rule         string           `json:"rule,omitempty" enum:"ask,if_asked" doc:"The lasting rule that makes it ask."`
	Proposal     bool             `json:"proposal,omitempty" doc:"It asks because a rule that was proposed in this chat is undecided."`
	Until        string           `json:"until,omitempty" doc:"When no answer counts as no."`
}

// Window is a mail, message or post that waits before it goes, so that it can be undone (§1 `undo_window`).
type Window struct {
	UndoID  string           `json:"undo_id"`
	CallID  string           `json:"call_id"`
	Name    string           `json:"name"`
	Seconds int              `json:"seconds"`
	Until   string           `json:"until"`
	Preview *preview.Preview `json:"preview,omitempty"`
}

// Answered is how a call's request was answered, as its message keeps it (§2 `approval`). A request that nobody answered
// in time is a deny.
type Answered struct {
	Decision   Decision `json:"decision" enum:"allow,allow_session,allow_task,allow_timed,allow_always,deny"`
	AskedAt    string   `json:"asked_at"`
	AnsweredAt string   `json:"answered_at"`
	Target     *string  `json:"target"`
	RiskLabel  string   `json:"risk_label"`
	Untrusted  *string  `json:"untrusted"`
	Rule       *string  `json:"rule"`
	Warning    *string  `json:"warning"`
}

// Answer is the end of a request. Decision "" is that its turn ended first.
type Answer struct {
	ApprovalID string   `json:"approval_id"`
	CallID     string   `json:"call_id"`
	Decision   Decision `json:"decision"`
	Via        string   `json:"via,omitempty"` // the surface it was answered on: desktop, telegram …
}

// Closed is the end of an undo window.
type Closed struct {
	UndoID string `json:"undo_id"`
	CallID string `json:"call_id"`
	Go     bool   `json:"go,omitempty"` // the call goes
}
