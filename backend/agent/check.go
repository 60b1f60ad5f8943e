package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// verifyWithin bounds a read-back (§4).
const verifyWithin = 15 * time.Second

// outcomeWords are how a kind of outcome is told: as done, as tried, and as a model claims it.
var outcomeWords = map[tool.Outcome]struct {
	action, said, tried string
	claims              *regexp.Regexp
}{
	tool.OutcomeEmail:   {"email sent", "sent the email", "send the email", regexp.MustCompile(`(?i)\b(sent|emailed|mailed|replied|forwarded)\b`)},
	tool.OutcomeMessage: {"message sent", "sent the message", "send the message", regexp.MustCompile(`(?i)\b(sent|posted|messaged|replied)\b`)},
	tool.OutcomeFile:    {"file written", "wrote the file", "write the file", regexp.MustCompile(`(?i)\b(wrote|written|saved|created|updated|stored|put)\b`)},
	tool.OutcomeEvent:   {"event saved", "saved the event", "save the event", regexp.MustCompile(`(?i)\b(created|added|scheduled|booked|saved|updated|put)\b`)},
	tool.OutcomeHome:    {"home changed", "did it", "do it", regexp.MustCompile(`(?i)\b(turned|set|opened|closed|locked|unlocked|armed|disarmed|switched|activated|ran|done)\b`)},
	tool.OutcomeNone:    {"done", "did it", "do it", regexp.MustCompile(`(?i)\b(done|did|added|created|sent|updated|changed|set|saved|removed|deleted)\b`)},
}

// notClaimed are words with which an answer says that something did not work.
var notClaimed = regexp.MustCompile(`(?i)\b(could ?n[o']t|couldn’t|cannot|can't|can’t|did ?n[o']t|didn’t|not able|unable|failed|was not|wasn't|wasn’t|problem|error)\b`)

// check gives what a call really did (§4 "Checking the outcome"); nil for calls that are not checked.
func (l *loop) check(j *job, whole json.RawMessage, failed bool) *transcript.Check {
	if j.tool.Outcome == tool.OutcomeNone && j.tool.Verify == nil || j.gate.Risk() == tool.Read {
		return nil
	}
	words := outcomeWords[j.tool.Outcome]
	c := &transcript.Check{Tool: j.call.Name, App: j.plugin.ID, Action: words.action, How: "result", Targets: []string{}, Missed: []string{}}
	if j.tool.Outcome != tool.OutcomeNone {
		kind := string(j.tool.Outcome)
		c.Kind = &kind
	}
	if j.tool.Targets != nil {
		c.Targets = append(c.Targets, j.tool.Targets(j.call.Arguments)...)
	}
	problem, missed := saysFailed(whole)
	c.OK = problem == "" && !failed
	c.Missed = append(c.Missed, missed...)
	if !c.OK {
		c.Detail = fmt.Sprintf("%s reported a problem: %s", j.plugin.Name, cmp.Or(problem, "it did not work"))
		return c
	}
	if j.tool.Verify != nil {
		l.readBack(j, whole, c)
	}
	return c
}

func (l *loop) readBack(j *job, whole json.RawMessage, c *transcript.Check) {
	v, err := svc.Guarded(l.ctx, l.guard(), "check of "+j.tool.Name, verifyWithin, func(ctx context.Context) (tool.Verified, error) {
		return j.tool.Verify(ctx, j.ctx, j.call.Arguments, whole)
	})
	if err != nil { // it could not be read back: the result's own word stands
		l.Log.Info("outcome not read back", "tool", j.call.Name, "error", err)
		return
	}
	c.How, c.OK, c.Detail = "read_back", v.OK, v.Detail
	c.Targets = append(c.Targets, v.Targets...)
	if !v.OK {
		c.Missed = append(c.Missed, v.Missed...)
		c.Detail = cmp.Or(v.Detail, "it is not there")
	}
}

// saysFailed reads a result for a sign that the call did not work, one level down as well. problem is "" when there is none.
func saysFailed(whole json.RawMessage) (problem string, missed []string) {
	var text string
	if json.Unmarshal(whole, &text) == nil {
		return textFailed(text), nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(whole, &object) != nil {
		return "", nil
	}
	if problem, missed = objectFailed(object); problem != "" {
		return problem, missed
	}
	for name, inner := range object {
		var below map[string]json.RawMessage
		if json.Unmarshal(inner, &below) == nil {
			if problem, missed = objectFailed(below); problem != "" {
				return problem, missed
			}
		}
		if name != "content" || json.Unmarshal(inner, &text) != nil {
			continue
		}
		if json.Unmarshal([]byte(text), &below) == nil {
			if problem, missed = objectFailed(below); problem != "" {
				return problem, missed
			}
		} else if problem = textFailed(text); problem != "" {
			return problem, nil
		}
	}
	return "", nil
}

func textFailed(text string) string {
	text = strings.TrimSpace(text)
	for _, sign := range []string{"error", "failed"} {
		if len(text) >= len(sign) && strings.EqualFold(text[:len(sign)], sign) {
			return firstRunes(strings.Join(strings.Fields(text), " "), 200)
		}
	}
	return ""
}

var failedStatus = []string{"failed", "failure", "error", "rejected", "bounced", "cancelled", "canceled", "denied", "not_sent", "undelivered"}

func objectFailed(o map[string]json.RawMessage) (problem string, missed []string) {
	if e, ok := o["error"]; ok && !isEmpty(e) {
		return plainValue(e), nil
	}
	for _, name := range []string{"failed", "errors", "rejected", "bounced", "not_sent"} {
		if list := listed(o[name]); len(list) > 0 {
			return "it couldn't do it for " + strings.Join(list, ", "), list
		}
	}
	for _, name := range []string{"ok", "success", "sent", "created"} {
		if string(bytes.TrimSpace(o[name])) == "false" {
			return "it says that it did not work", nil
		}
	}
	var status string
	if json.Unmarshal(o["status"], &status) == nil && slices.Contains(failedStatus, strings.ToLower(status)) {
		return "its status is " + status, nil
	}
	return "", nil
}

func isEmpty(v json.RawMessage) bool {
	switch string(bytes.TrimSpace(v)) {
	case "", "null", `""`, "false", "0", "[]", "{}":
		return true
	}
	return false
}

// plainValue gives a problem's words: a text, or an object's message.
func plainValue(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) != nil {
		var o struct{ Message, Detail, Reason string }
		if json.Unmarshal(v, &o) == nil {
			text = cmp.Or(o.Message, o.Detail, o.Reason)
		}
	}
	return firstRunes(strings.TrimSuffix(cmp.Or(strings.Join(strings.Fields(text), " "), "an error"), "."), 200)
}

// listed gives what a list of failures names: "bad@example.com (mailbox not found)".
func listed(v json.RawMessage) []string {
	var items []json.RawMessage
	if json.Unmarshal(v, &items) != nil {
		var byName map[string]json.RawMessage
		if json.Unmarshal(v, &byName) != nil {
			return nil
		}
		names := []string{}
		for name := range byName {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	list := []string{}
	for _, item := range items {
		var text string
		var o struct{ Email, To, Recipient, Name, ID, Reason, Error, Message string }
		switch {
		case json.Unmarshal(item, &text) == nil:
		case json.Unmarshal(item, &o) == nil:
			text = cmp.Or(o.Email, o.To, o.Recipient, o.Name, o.ID)
			if why := cmp.Or(o.Reason, o.Error, o.Message); why != "" {
				text = strings.TrimSpace(text + " (" + why + ")")
			}
		}
		list = append(list, firstRunes(cmp.Or(text, "one of them"), 120))
	}
	return list
}

// settleChecks says at the end of a reply which failures still stand, in words that fit what the reply claims (§4).
func settleChecks(checks []transcript.Check, reply string) []transcript.Check {
	for i := range checks {
		c := &checks[i]
		if c.OK {
			continue
		}
		if coveredLater(*c, checks[i+1:]) {
			c.Settled = true
			continue
		}
		words := outcomeWords[tool.OutcomeNone]
		if c.Kind != nil {
			words = outcomeWords[tool.Outcome(*c.Kind)]
		}
		began := "Sentient tried to " + words.tried + ", but "
		if words.claims.MatchString(reply) && !notClaimed.MatchString(reply) {
			began = "Sentient said it " + words.said + ", but "
		}
		c.Message = began + strings.TrimSuffix(c.Detail, ".") + "."
	}
	return checks
}

// coveredLater reports whether a later call of the same tool did what this one missed. One that names nothing it acted on
// is covered by the very next call of that tool only.
func coveredLater(c transcript.Check, later []transcript.Check) bool {
	need := c.Missed
	if len(need) == 0 {
		need = c.Targets
	}
	for _, o := range later {
		if o.Tool != c.Tool {
			continue
		}
		if len(need) == 0 {
			return o.OK
		}
		if o.OK && !slices.ContainsFunc(need, func(want string) bool { return !names(o.Targets, want) }) {
			return true
		}
	}
	return false
}

// names reports whether one of the targets is what was missed, which may carry a reason behind it.
func names(targets []string, missed string) bool {
	return slices.ContainsFunc(targets, func(t string) bool { return t != "" && (t == missed || strings.HasPrefix(missed, t+" (")) })
}
