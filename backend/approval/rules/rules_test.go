package rules_test

import (
	"testing"

	"sentient/backend/approval/rules"
	"sentient/backend/tool"
)

func TestStrictness(t *testing.T) {
	order := []rules.Level{rules.Allow, rules.None, rules.IfAsked, rules.Ask, rules.HandOff, rules.Never}
	for i, a := range order {
		for j, b := range order {
			if got := a.Stricter(b); got != (i > j) {
				t.Errorf("%q stricter than %q: %v", a, b, got)
			}
		}
	}
	if !rules.Level("nonsense").Stricter(rules.HandOff) {
		t.Error("a level that cannot be read is loose")
	}
}

func TestAToolsOwnRuleBeatsItsApps(t *testing.T) {
	post, p := find(t, "slack_post_message")
	for _, c := range []struct {
		name  string
		rules map[string]string
		want  rules.Rule
		said  string
	}{
		{"no rule", nil, rules.Rule{}, `"Post message" in Slack`},
		{"another tool's rule", map[string]string{"slack_reply_in_thread": "never"}, rules.Rule{}, `"Post message" in Slack`},
		{"the app's", map[string]string{"slack": "never"}, rules.Rule{Level: rules.Never, Key: "slack", App: true}, "Slack"},
		{"its own", map[string]string{"slack": "never", "slack_post_message": "allow"}, rules.Rule{Level: rules.Allow, Key: "slack_post_message"}, `"Post message" in Slack`},
		{"one that cannot be read", map[string]string{"slack": "perhaps"}, rules.Rule{Level: rules.Never, Key: "slack", App: true}, "Slack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rules.For(c.rules, post, p)
			if r != c.want {
				t.Errorf("%+v", r)
			}
			if got, want := rules.Refusal(r, post, p), "You've set Sentient to never use "+c.said+". Change this in Settings > Approvals & safety."; got != want {
				t.Error(got)
			}
		})
	}
}

func TestPlainNames(t *testing.T) {
	_, slack := find(t, "slack_post_message")
	_, gmail := find(t, "gmail_trash")
	_, mcp := find(t, "mcp_tracker_create_issue")
	_, files := find(t, "file_read")
	_, code := find(t, "execute_code")
	shared := plugin("google_calendar", "Google Calendar", "gcal_create_event write", "gcal_list_events read")
	verb := plugin("things", "Things", "send_a write", "send_b write")
	for _, c := range []struct {
		tool string
		p    *tool.Plugin
		want string
	}{
		{"slack_post_message", slack, "Post message"},
		{"gmail_trash", gmail, "Trash"},
		{"gcal_create_event", shared, "Create event"},
		{"mcp_tracker_create_issue", mcp, "Create issue"},
		{"file_read", files, "Read"},
		{"execute_code", code, "Execute code"},
		{"send_a", verb, "Send a"},
		{"web_search", nil, "Web search"},
		{"_", nil, "_"},
	} {
		if got := rules.PlainName(c.tool, c.p); got != c.want {
			t.Errorf("%s: %q", c.tool, got)
		}
	}
}

func TestApplied(t *testing.T) {
	for _, c := range []struct {
		level rules.Level
		asked bool
		want  rules.Level
	}{
		{rules.IfAsked, true, rules.Allow}, {rules.IfAsked, false, rules.Ask},
		{rules.Never, true, rules.Never}, {rules.Ask, true, rules.Ask}, {rules.HandOff, true, rules.HandOff}, {rules.None, true, rules.None}, {rules.Allow, false, rules.Allow},
	} {
		if got := rules.Applied(rules.Rule{Level: c.level}, c.asked); got != c.want {
			t.Errorf("%s, asked %v: %s", c.level, c.asked, got)
		}
	}
}

func TestHandingOver(t *testing.T) {
	hand := rules.Rule{Level: rules.HandOff}
	if rules.HandsOff(hand, tool.Read) || !rules.HandsOff(hand, tool.Write) || rules.HandsOff(rules.Rule{Level: rules.Never}, tool.Send) {
		t.Error("the wrong calls are handed over")
	}
	send, gmail := find(t, "gmail_send_email")
	want := `NOT DONE by Sentient: "Send email" in Gmail is set to "Hand it to me", so Sentient did not do it. What you prepared is shown to the user in Sentient, with a copy button, for them to finish themselves. Do not try it again and do not do it another way. Tell the user in plain words what is ready for them, and that it has not been done yet.`
	if got := rules.HandOffMessage(rules.Name(hand, send, gmail)); got != want {
		t.Error(got)
	}
}

func TestLabelsThatOpenTheHome(t *testing.T) {
	for _, l := range []string{"Unlocks a door", "Turns off your alarm", "Opens a garage door or gate", "Controls a door, lock or alarm", " unlocks a door"} {
		if !rules.OpensHome(l) {
			t.Error(l)
		}
	}
	for _, l := range []string{"", rules.Purchase, "Locks a door", "Unlocks a door now"} {
		if rules.OpensHome(l) {
			t.Error(l)
		}
	}
}
