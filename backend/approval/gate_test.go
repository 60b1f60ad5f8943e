package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sentient/backend/approval"
	"sentient/backend/approval/ask"
	"sentient/backend/session"
	"sentient/backend/tool"
)

// The order of the checks is the contract's (§2, §10): whoever moves one must change it here too, and say why.
func TestOrderOfChecks(t *testing.T) {
	want := []string{"arguments", "switched off", "effective risk", "surface policy", "without memory", "never", "read only", "try run", "unprompted",
		"hand over", "rule proposals", "outside content", "address", "value check", "unnamed changes", "another app's delete", "second look", "hard stops",
		"mode and rules", "grants", "second look by a model", "approval", "undo window", "rules again", "file copies", "run"}
	if got := approval.Order(); !slices.Equal(got, want) {
		t.Errorf("the order is\n%s\nwant\n%s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// what tells how a call ended: ran, asked (and ran), refused: …, handed over.
func what(o approval.Outcome, f *face) string {
	text, _ := json.Marshal(o.Value)
	said := ""
	for range f.asks {
		said += "asked "
	}
	switch {
	case o.HandedOff != nil:
		return said + "handed over"
	case o.Ran && !o.Failed:
		return said + "ran"
	case o.Ran:
		return said + "broke"
	case strings.Contains(string(text), `"declined":true`):
		return said + "declined"
	case strings.Contains(string(text), `"undone":true`):
		return said + "undone"
	case o.Err != nil:
		return said + "ended"
	}
	return said + "refused"
}

func TestWhatRunsWhatAsksAndWhatIsRefused(t *testing.T) {
	const send = `{"to":"sam@example.com","body":"Hi"}`
	toSam := saying("Send sam@example.com a mail that says Hi")
	type begin = []func(*approval.Begin)
	cases := []struct {
		name  string
		mode  string
		rules []string
		tool  string
		args  string
		begin begin
		want  string
		grows string // what is left in the ledger
	}{
		{"a look-up runs", "ask", nil, "gmail_search", `{"query":"x"}`, nil, "ran", "search:x"},
		{"a look-up asks in mode always", "always", nil, "gmail_search", `{"query":"x"}`, nil, "asked ran", "search:x"},
		{"a change asks", "ask", nil, "gmail_label", `{"id":"1"}`, nil, "asked ran", "label:1"},
		{"Sentient's own thing does not", "ask", nil, "own_note", `{"id":"1"}`, nil, "ran", "note:1"},
		{"it does in mode always", "always", nil, "own_note", `{"id":"1"}`, nil, "asked ran", "note:1"},
		{"a change runs in mode off", "off", nil, "gmail_label", `{"id":"1"}`, nil, "ran", "label:1"},
		{"code runs in mode off", "off", nil, "own_run", `{"id":"1"}`, nil, "ran", "run:1"},
		{"code asks in mode ask", "ask", nil, "own_run", `{"id":"1"}`, nil, "asked ran", "run:1"},
		{"arguments that do not fit", "off", nil, "gmail_send", `{"subject":"x"}`, nil, "refused", ""},

		{"never by tool", "off", []string{"gmail_send", "never"}, "gmail_send", send, begin{toSam}, "refused", ""},
		{"never by app", "off", []string{"gmail", "never"}, "gmail_search", `{"query":"x"}`, nil, "refused", ""},
		{"a tool's rule beats its app's", "ask", []string{"gmail", "never", "gmail_search", "allow"}, "gmail_search", `{"query":"x"}`, nil, "ran", "search:x"},
		{"allow", "ask", []string{"gmail_label", "allow"}, "gmail_label", `{"id":"1"}`, nil, "ran", "label:1"},
		{"ask in mode off, for a look-up too", "off", []string{"gmail", "ask"}, "gmail_search", `{"query":"x"}`, nil, "asked ran", "search:x"},
		{"if asked, and it was", "ask", []string{"gmail_send", "if_asked"}, "gmail_send", send, begin{toSam}, "ran", "send:sam@example.com"},
		{"if asked, and it was not", "off", []string{"gmail_label", "if_asked"}, "gmail_label", `{"id":"1"}`, begin{saying("What is new?")}, "asked ran", "label:1"},
		{"hand over", "off", []string{"gmail_send", "hand_off"}, "gmail_send", send, begin{toSam}, "handed over", ""},
		{"hand over leaves look-ups", "ask", []string{"gmail", "hand_off"}, "gmail_search", `{"query":"x"}`, nil, "ran", "search:x"},

		{"a purchase asks in mode off", "off", nil, "shop_buy", `{"id":"1"}`, begin{saying("Buy 1")}, "asked ran", "buy:1"},
		{"a purchase asks under allow", "ask", []string{"shop_buy", "allow"}, "shop_buy", `{"id":"1"}`, begin{saying("Buy 1")}, "asked ran", "buy:1"},
		{"a door asks in mode off under allow", "off", []string{"home", "allow"}, "home_unlock", `{"id":"door"}`, begin{saying("Unlock the door")}, "asked ran", "unlock:door"},
		{"a door that is handed over", "off", []string{"home_unlock", "hand_off"}, "home_unlock", `{"id":"door"}`, nil, "handed over", ""},

		{"a risk that rises asks", "ask", []string{"home_switch", "ask"}, "home_switch", `{"id":"vault"}`, nil, "asked ran", "switch:vault"},
		{"a risk that is not told is the worst", "ask", nil, "home_switch", `{"id":"unknown"}`, nil, "asked ran", "switch:unknown"},
		{"a risk function that panics too", "ask", nil, "home_switch", `{"id":"odd"}`, nil, "asked ran", "switch:odd"},

		{"a marked chat asks before sending, in mode off", "off", nil, "gmail_send", send, begin{toSam, marked("Web")}, "asked ran", "send:sam@example.com"},
		{"also under allow", "ask", []string{"gmail_send", "allow"}, "gmail_send", send, begin{toSam, marked("Web")}, "asked ran", "send:sam@example.com"},
		{"a clean one does not, in mode off", "off", nil, "gmail_send", send, begin{toSam}, "ran", "send:sam@example.com"},
		{"a marked chat loads a short address", "ask", nil, "web_fetch", `{"url":"https://a.example/"}`, begin{marked("Web")}, "ran", "fetch:https://a.example/"},
		{"it asks for one that can carry data", "off", nil, "web_fetch", `{"url":"https://a.example/?d=1"}`, begin{marked("Web")}, "asked ran", "fetch:https://a.example/?d=1"},
		{"a clean one does not", "off", nil, "web_fetch", `{"url":"https://a.example/?d=1"}`, nil, "ran", "fetch:https://a.example/?d=1"},
		{"an unnamed delete in a marked chat", "off", nil, "gmail_delete_mail", `{"id":"m-17"}`, begin{saying("Tidy up"), marked("Web")}, "asked ran", "delete:m-17"},
		{"a named one", "off", nil, "gmail_delete_mail", `{"id":"m-17"}`, begin{saying("Delete m-17"), marked("Web")}, "ran", "delete:m-17"},
		{"another app's delete, in mode off", "off", nil, "gmail_delete_mail", `{"id":"1"}`, begin{on("api"), saying("Delete 1")}, "asked ran", "delete:1"},
		{"its look-up", "off", nil, "gmail_search", `{"query":"x"}`, begin{on("api")}, "ran", "search:x"},

		{"an address that nobody named", "off", nil, "gmail_send", `{"to":"x@evil.example"}`, begin{saying("Mail Sam that I am late")}, "asked ran", "send:x@evil.example"},

		{"unprompted work looks up", "off", nil, "gmail_search", `{"query":"x"}`, begin{of("proactive")}, "ran", "search:x"},
		{"unprompted work changes nothing, whatever is allowed", "off", []string{"gmail", "allow"}, "gmail_label", `{"id":"1"}`, begin{of("heartbeat")}, "refused", ""},
		{"it may note something", "ask", nil, "own_note", `{"id":"1"}`, begin{of("dreaming")}, "ran", "note:1"},
		{"it makes no tasks", "off", nil, "tasks_create", `{"id":"1"}`, begin{of("background")}, "refused", ""},

		{"a helper changes in mode off", "off", nil, "gmail_label", `{"id":"1"}`, begin{helper}, "ran", "label:1"},
		{"a helper cannot ask", "ask", nil, "gmail_label", `{"id":"1"}`, begin{helper}, "refused", ""},
		{"a helper sends nothing, whatever is allowed", "off", []string{"gmail", "allow"}, "gmail_send", send, begin{helper, toSam}, "refused", ""},
		{"a turn without memory", "off", nil, "memory_recall", `{"id":"1"}`, begin{func(b *approval.Begin) { b.Context.Memory = false }}, "refused", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.settings.Mode = c.mode
			r.rules(c.rules...)
			f := &face{r: r, say: ask.Allow}
			k := r.run(c.begin...).Judge(t.Context(), r.call(c.tool, c.args))
			o := k.Carry(t.Context(), f)
			if got := what(o, f); got != c.want || r.done() != c.grows {
				text, _ := json.Marshal(o.Value)
				t.Errorf("%s, ledger %q; want %s, %q (%s %v)", got, r.done(), c.want, c.grows, text, f.asks)
			}
		})
	}
}

func TestReadOnlyConnections(t *testing.T) {
	r := newRig(t)
	r.settings.Mode, r.settings.ReadOnly = "off", []string{"gmail"}
	r.rules("gmail", "allow")
	f := &face{r: r}
	run := r.run(saying("Label 1"))
	if o := run.Judge(t.Context(), r.call("gmail_label", `{"id":"1"}`)).Carry(t.Context(), f); what(o, f) != "refused" ||
		!strings.HasPrefix(o.Value.(map[string]any)["error"].(string), "Gmail is set to Read only, so Sentient can look things up there") {
		t.Errorf("a read only app was changed: %v", o.Value)
	}
	if o := run.Judge(t.Context(), r.call("gmail_search", `{"query":"x"}`)).Carry(t.Context(), f); what(o, f) != "ran" {
		t.Error("a read only app was not read")
	}
	for name, want := range map[string]bool{"gmail_send": true, "gmail_label": true, "gmail_search": false, "home_switch": false} {
		tl, p, _ := r.registry.Find(name)
		if got := r.Hidden(tl, p); got != want {
			t.Errorf("%s hidden: %v", name, got)
		}
	}
}

// A try run takes note of what would change something, behind the rules that nothing lifts.
func TestATryRunTakesTheCallsPlace(t *testing.T) {
	for _, c := range []struct{ tool, args, rule, want, ledger string }{
		{"gmail_label", `{"id":"1"}`, "allow", "noted", ""},
		{"gmail_search", `{"query":"x"}`, "allow", "ran", "search:x"},
		{"gmail_label", `{"id":"1"}`, "never", "refused", ""},
	} {
		r := newRig(t)
		r.rules("gmail", c.rule)
		f := &face{r: r}
		run := r.run(func(b *approval.Begin) {
			b.Surface.Rehearse = func(_ context.Context, k *approval.Case) (any, bool) { return "noted", k.Risk() > tool.Read }
		})
		o := run.Judge(t.Context(), r.call(c.tool, c.args)).Carry(t.Context(), f)
		got := what(o, f)
		if o.Value == any("noted") && !o.Ran && !o.Failed {
			got = "noted"
		}
		if got != c.want || r.done() != c.ledger {
			t.Errorf("%s under %s: %s, ledger %q", c.tool, c.rule, got, r.done())
		}
	}
}

func TestANoIsANo(t *testing.T) {
	r := newRig(t)
	f := &face{r: r, say: ask.Deny}
	o := r.run().Judge(t.Context(), r.call("gmail_label", `{"id":"1"}`)).Carry(t.Context(), f)
	if what(o, f) != "asked declined" || r.done() != "" || o.Answered == nil || o.Answered.Decision != ask.Deny {
		t.Errorf("%s, ledger %q, %+v", what(o, f), r.done(), o.Answered)
	}
}

func TestTheRequestTellsWhatRuns(t *testing.T) {
	r := newRig(t)
	f := &face{r: r, say: ask.Allow}
	r.run(saying("hello"), marked("Web")).Judge(t.Context(), r.call("gmail_send", `{"to":"x@evil.example","subject":"Hi","body":"All"}`)).Carry(t.Context(), f)
	if len(f.asks) != 1 {
		t.Fatalf("asked %d times for one call", len(f.asks))
	}
	q := f.asks[0]
	if q.Risk != "send" || q.App != "Gmail" || q.Untrusted != "Sentient read content from Web in this chat, so it checks with you before sending anything." ||
		!strings.Contains(q.Warning, "x@evil.example") || !slices.Equal(q.Choices, []ask.Decision{ask.Allow, ask.Deny}) || q.Preview == nil || q.Preview.Kind != "email" {
		t.Errorf("%+v %+v", q, q.Preview)
	}
}

func TestChoices(t *testing.T) {
	wide := []ask.Decision{ask.Allow, ask.Session, ask.Timed, ask.Always, ask.Deny}
	narrow := []ask.Decision{ask.Allow, ask.Deny}
	for _, c := range []struct {
		name  string
		rules []string
		tool  string
		args  string
		begin []func(*approval.Begin)
		want  []ask.Decision
	}{
		{"a change", nil, "gmail_label", `{"id":"1"}`, nil, wide},
		{"a tool set to ask", []string{"gmail", "ask"}, "gmail_label", `{"id":"1"}`, nil, []ask.Decision{ask.Allow, ask.Timed, ask.Deny}},
		{"code", nil, "own_run", `{"id":"1"}`, nil, narrow},
		{"a purchase", nil, "shop_buy", `{"id":"1"}`, []func(*approval.Begin){saying("Buy 1")}, narrow},
		{"a risk that rose", nil, "home_switch", `{"id":"vault"}`, nil, narrow},
		{"one that did not", nil, "home_switch", `{"id":"lamp"}`, nil, wide},
		{"after outside content", nil, "gmail_send", `{"to":"a@b.example"}`, []func(*approval.Begin){saying("Mail a@b.example"), marked("Web")}, narrow},
	} {
		r := newRig(t)
		r.rules(c.rules...)
		f := &face{r: r, say: ask.Allow}
		r.run(c.begin...).Judge(t.Context(), r.call(c.tool, c.args)).Carry(t.Context(), f)
		if len(f.asks) != 1 || !slices.Equal(f.asks[0].Choices, c.want) {
			t.Errorf("%s: %v", c.name, f.asks)
		}
	}
}

func TestWiderAnswersAndWhatTheyCover(t *testing.T) {
	for _, c := range []struct {
		say   ask.Decision
		again string // the same call once more
		other string // in another chat
		rule  string // the same call, once its tool is set to ask
	}{
		{ask.Allow, "asked ran", "asked ran", "asked ran"},
		{ask.Session, "ran", "asked ran", "asked ran"},
		{ask.Timed, "ran", "ran", "ran"},
		{ask.Always, "ran", "ran", "asked ran"},
		{ask.Task, "asked ran", "asked ran", "asked ran"}, // not offered: once
	} {
		t.Run(string(c.say), func(t *testing.T) {
			r := newRig(t)
			try := func(begin ...func(*approval.Begin)) string {
				f := &face{r: r, say: c.say}
				return what(r.run(begin...).Judge(t.Context(), r.call("gmail_label", `{"id":"1"}`)).Carry(t.Context(), f), f)
			}
			if got := try(); got != "asked ran" {
				t.Fatal(got)
			}
			if got := try(); got != c.again {
				t.Errorf("again: %s", got)
			}
			made, err := r.chats.Create(t.Context(), &session.CreateInput{})
			if err != nil {
				t.Fatal(err)
			}
			if got := try(func(b *approval.Begin) { b.Context.SessionID = made.SessionID }); got != c.other {
				t.Errorf("in another chat: %s", got)
			}
			r.rules("gmail_label", "ask")
			if got := try(); got != c.rule {
				t.Errorf("once it is set to ask: %s", got)
			}
		})
	}
}

func TestNoGrantCoversWhatComesFirst(t *testing.T) {
	r := newRig(t)
	try := func(say ask.Decision, name, args string, begin ...func(*approval.Begin)) string {
		f := &face{r: r, say: say}
		return what(r.run(begin...).Judge(t.Context(), r.call(name, args)).Carry(t.Context(), f), f)
	}
	const mail = `{"to":"a@b.example"}`
	words := saying("Mail a@b.example")
	if got := try(ask.Timed, "gmail_send", mail, words); got != "asked ran" {
		t.Fatal(got)
	}
	if got := try(ask.Deny, "gmail_send", mail, words); got != "ran" {
		t.Errorf("the grant did not hold: %s", got)
	}
	if got := try(ask.Deny, "gmail_send", `{"to":"x@evil.example"}`, words); got != "asked declined" {
		t.Errorf("a flagged call under a grant: %s", got)
	}
	if got := try(ask.Deny, "gmail_send", mail, words, marked("Web")); got != "asked declined" {
		t.Errorf("a marked chat under a grant: %s", got)
	}
	grants, err := r.List(t.Context(), nil)
	if err != nil || len(grants.Grants) != 1 || grants.Grants[0].Tool != "gmail_send" || grants.Grants[0].Risk != tool.Send {
		t.Fatalf("%+v %v", grants, err)
	}
	if _, err := r.Revoke(t.Context(), &approval.RevokeInput{ID: grants.Grants[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := try(ask.Deny, "gmail_send", mail, saying("Mail a@b.example")); got != "asked declined" {
		t.Errorf("after it was revoked: %s", got)
	}
	if _, err := r.Revoke(t.Context(), &approval.RevokeInput{ID: grants.Grants[0].ID}); err == nil {
		t.Error("a grant was revoked twice")
	}
}

func TestRulesThatChangeWhileACallWaits(t *testing.T) {
	for _, c := range []struct {
		rule, want string
	}{
		{"never", "asked refused"}, {"hand_off", "asked handed over"}, {"ask", "asked ran"}, {"allow", "asked ran"},
	} {
		r := newRig(t)
		f := &face{r: r, say: ask.Allow, before: func() { r.rules("gmail_label", c.rule) }}
		o := r.run().Judge(t.Context(), r.call("gmail_label", `{"id":"1"}`)).Carry(t.Context(), f)
		if got := what(o, f); got != c.want {
			t.Errorf("set to %s while it waited: %s", c.rule, got)
		}
	}
}

func TestUndoWindow(t *testing.T) {
	begin := []func(*approval.Begin){saying("Mail a@b.example"), on("desktop")}
	for _, c := range []struct {
		name, action string
		rule         string // set while it waits
		say          ask.Decision
		want, ledger string
		goes         bool
	}{
		{"undo", "undo", "", "", "undone", "", false},
		{"send now", "send_now", "", "", "ran", "send:a@b.example", true},
		{"set to never", "send_now", "never", "", "refused", "", true},
		{"handed over", "send_now", "hand_off", "", "handed over", "", true},
		{"set to ask, and no", "send_now", "ask", ask.Deny, "asked declined", "", true},
		{"set to ask, and yes", "send_now", "ask", ask.Allow, "asked ran", "send:a@b.example", true},
		{"set to if asked, and it was", "send_now", "if_asked", ask.Deny, "ran", "send:a@b.example", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.settings.Mode, r.settings.UndoSeconds = "off", 10
			f := &face{r: r, say: c.say, action: c.action}
			if c.rule != "" {
				f.before = func() { r.rules("gmail_send", c.rule) }
			}
			o := r.run(begin...).Judge(t.Context(), r.call("gmail_send", `{"to":"a@b.example"}`)).Carry(t.Context(), f)
			if got := what(o, f); got != c.want || r.done() != c.ledger || len(f.windows) != 1 || len(f.closed) != 1 || f.closed[0].Go != c.goes {
				t.Errorf("%s, ledger %q, windows %v, closed %v", got, r.done(), f.windows, f.closed)
			}
		})
	}
}

func TestOneAnswerSettles(t *testing.T) {
	r := newRig(t)
	f := &face{r: r}
	settled := 0
	f.before = func() {
		id := f.asks[0].ApprovalID
		for _, d := range []ask.Decision{"sure", ask.Deny, ask.Allow, ask.Allow} {
			if ok, err := r.Answer(t.Context(), id, d, "telegram"); ok && err == nil {
				settled++
			}
		}
	}
	o := r.run().Judge(t.Context(), r.call("gmail_label", `{"id":"1"}`)).Carry(t.Context(), f)
	if settled != 1 || what(o, f) != "asked declined" || f.answers[0].Via != "telegram" {
		t.Errorf("%d answers settled it, %s, %+v", settled, what(o, f), f.answers)
	}
	if _, err := r.Respond(t.Context(), &approval.RespondInput{ApprovalID: f.asks[0].ApprovalID, Decision: ask.Allow}); err == nil {
		t.Error("an answer after the end was taken")
	}
}

func TestAQuestionThatCannotBeKeptIsNoYes(t *testing.T) {
	r := newRig(t)
	f := &face{r: r, say: ask.Allow, broken: errors.New("disk full")}
	o := r.run().Judge(t.Context(), r.call("gmail_label", `{"id":"1"}`)).Carry(t.Context(), f)
	if what(o, f) != "ended" || r.done() != "" {
		t.Errorf("%s, ledger %q", what(o, f), r.done())
	}
}

func TestTheModelOnlyAddsQuestions(t *testing.T) {
	for _, c := range []struct {
		name, says, want string
	}{
		{"a match", `{"match": true, "reason": ""}`, "ran"},
		{"none", `{"match": false, "reason": "it goes to somebody else"}`, "asked ran"},
		{"no answer", "", "asked ran"},
		{"no JSON", "Sure!", "asked ran"},
	} {
		r := newRig(t)
		r.settings.Mode, r.matches = "off", c.says
		f := &face{r: r, say: ask.Allow}
		o := r.run(saying("Mail a@b.example")).Judge(t.Context(), r.call("gmail_send", `{"to":"a@b.example"}`)).Carry(t.Context(), f)
		if got := what(o, f); got != c.want || r.asked == 0 {
			t.Errorf("%s: %s, the model was asked %d times", c.name, got, r.asked)
		}
	}
}

func TestWhatOneRoundReadsMarksTheNext(t *testing.T) {
	r := newRig(t)
	r.settings.Mode = "off"
	run := r.run(saying("Mail a@b.example what is on https://a.example/"))
	f := &face{r: r, say: ask.Allow}
	read := run.Judge(t.Context(), r.call("web_fetch", `{"url":"https://a.example/"}`))
	same := run.Judge(t.Context(), r.call("gmail_send", `{"to":"a@b.example"}`))
	if !read.Plain() || same.Plain() {
		t.Fatal("what may run side by side is told wrongly")
	}
	read.Carry(t.Context(), f)
	if source, err := read.Settle(t.Context(), "the page", json.RawMessage(`"the page"`)); source != "Web" || err != nil {
		t.Fatal(source, err)
	}
	if o := same.Carry(t.Context(), f); what(o, f) != "ran" {
		t.Errorf("a call of the same round: %s", what(o, f))
	}
	run.Round()
	if o := run.Judge(t.Context(), r.call("gmail_send", `{"to":"a@b.example"}`)).Carry(t.Context(), f); what(o, f) != "asked ran" {
		t.Errorf("a call of the next round: %s", what(o, f))
	}
	mark, _, visited, err := r.chats.Mark(t.Context(), r.chat)
	if mark != "Web" || !slices.Equal(visited, []string{"a.example"}) || err != nil {
		t.Errorf("the chat is marked %q, visited %v, %v", mark, visited, err)
	}
}

func TestOldChatsAreClassified(t *testing.T) {
	for _, c := range []struct {
		name string
		past []approval.Passed
		want string
	}{
		{"nothing", nil, ""},
		{"a page", []approval.Passed{{Role: "tool", Tool: "web_fetch", Text: "page", Args: []byte(`{"url":"https://a.example"}`)}}, "Web"},
		{"Sentient's own things", []approval.Passed{{Role: "tool", Tool: "own_note", Text: "{}", Args: []byte(`{"id":"1"}`)}}, ""},
		{"a tool that is gone", []approval.Passed{{Role: "tool", Tool: "old_tool", Text: "x"}}, "a tool that is no longer available"},
		{"a tool that never was", []approval.Passed{{Role: "tool", Tool: "made_up", Text: `{"error":"There is no tool called \"made_up\"."}`}}, ""},
		{"somebody else in the group", []approval.Passed{{Role: "other", From: "Priya", Text: "hi"}}, "another group member (Priya)"},
		{"another app", []approval.Passed{{Role: "user", From: "another app (API)", Text: "hi"}}, "another app (API)"},
	} {
		r := newRig(t)
		run := r.run(func(b *approval.Begin) { b.Past = past(c.past) })
		if mark, known, _, err := r.chats.Mark(t.Context(), r.chat); run.Untrusted() != c.want || mark != c.want || !known || err != nil {
			t.Errorf("%s: %q, kept %q %v %v", c.name, run.Untrusted(), mark, known, err)
		}
	}
}
