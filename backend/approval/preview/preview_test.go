package preview_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"sentient/backend/approval/preview"
	"sentient/backend/tool"
)

func of(name, plugin, args string, risk tool.Risk, label string, to ...tool.Destination) *preview.Preview {
	t := tool.New(tool.Def[struct{}]{Name: name, Description: "x", Risk: risk, Run: func(context.Context, *tool.Context, struct{}) (any, error) { return nil, nil }})
	return preview.Of(t, &tool.Plugin{ID: plugin, Name: plugin}, risk, tool.Wording{RiskLabel: label}, json.RawMessage(args), to)
}

func told(p *preview.Preview) string {
	if p == nil {
		return "nothing"
	}
	lines := []string{p.Kind}
	for _, f := range p.Fields {
		lines = append(lines, f.Label+"="+f.Value)
	}
	return strings.Join(append(lines, p.Body), "|")
}

func TestWhatAPersonReads(t *testing.T) {
	for _, c := range []struct {
		name string
		got  *preview.Preview
		want string
	}{
		{"an email", of("gmail_send", "gmail", `{"to":"sam@example.com","subject":"Lunch","body":"Friday at 1?"}`, tool.Send, ""), "email|To=sam@example.com|Subject=Lunch|Friday at 1?"},
		{"recipients in a list of an object", of("gmail_send", "gmail", `{"to":{"emails":["a@b.example"],"x@evil.example":"X"},"body":"Yes"}`, tool.Send, ""), "email|To=a@b.example, x@evil.example|Yes"},
		{"a message", of("slack_post_message", "slack", `{"channel":"#news","text":"Hi"}`, tool.Send, ""), "message|Where=#news|Hi"},
		{"a reply shows whom it reaches", of("gmail_reply", "gmail", `{"message_id":"1","body":"Yes"}`, tool.Send, "", tool.Destination{Address: "arjun@example.com"}), "email|To=arjun@example.com|Where=1|Yes"},
		{"a delete", of("delete_note", "notes", `{"id":"n-1"}`, tool.Write, ""), "delete|Item=n-1|"},
		{"a plain look-up", of("gmail_search", "gmail", `{}`, tool.Read, ""), "nothing"},
	} {
		if got := told(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := of("shop_buy", "shop", `{"item":"Tea","amount":12}`, tool.Send, "Purchase"); got == nil || got.Kind != "purchase" {
		t.Errorf("a purchase is %s", told(got))
	}
}

// What cannot be seen is shown: no hidden sign may make another address look like a known one.
func TestNothingHides(t *testing.T) {
	for _, hidden := range []string{"\u200b", "\u202e", "\u2066", "\x07", "\ufeff"} {
		p := of("gmail_send", "gmail", `{"to":"sam`+strings.ReplaceAll(hidden, "\x07", `\u0007`)+`@example.com"}`, tool.Send, "")
		if got := told(p); strings.Contains(got, hidden) || strings.Contains(got, "To=sam@example.com") {
			t.Errorf("%q is shown as %q", hidden, got)
		}
	}
}

func TestWhatWaits(t *testing.T) {
	for _, c := range []struct {
		name  string
		risk  tool.Risk
		label string
		waits bool
	}{
		{"gmail_send", tool.Send, "", true}, {"gmail_reply", tool.Send, "", true}, {"slack_post_message", tool.Write, "", true}, {"github_comment", tool.Send, "", true},
		{"gmail_search", tool.Read, "", false}, {"gmail_label", tool.Write, "", false}, {"shop_send_order", tool.Send, "Purchase", false}, {"send_code", tool.Exec, "", false},
	} {
		x := tool.New(tool.Def[struct{}]{Name: c.name, Description: "x", Risk: c.risk, Run: func(context.Context, *tool.Context, struct{}) (any, error) { return nil, nil }})
		if got := preview.Waits(x, c.risk, tool.Wording{RiskLabel: c.label}); got != c.waits {
			t.Errorf("%s waits: %v", c.name, got)
		}
	}
}

func FuzzPreview(f *testing.F) {
	f.Add("gmail_send", `{"to":["a@b.example"],"body":"x"}`)
	f.Add("multi", `{"tools":[{"tool_slug":"GMAIL_SEND","arguments":{"to":"x"}}]}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		if json.Valid([]byte(args)) {
			told(of(name, "x", args, tool.Send, ""))
		}
	})
}
