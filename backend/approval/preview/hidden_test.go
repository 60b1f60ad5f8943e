package preview_test

import (
	"fmt"
	"strings"
	"testing"

	"sentient/backend/approval/preview"
	"sentient/backend/tool"
)

func TestKindByTheNamesVerb(t *testing.T) {
	for name, want := range map[string]string{
		"gmail_send": "email", "email_imap_reply": "email", "gmail_forward": "email", "GMAIL_SEND_EMAIL": "email", "slack_post_message": "message", "twilio_send_sms": "message",
		"linkedin_post": "post", "github_create_comment": "post", "wordpress_publish_page": "post", "discord_reply": "message", "gmail_send_draft": "email",
		"gmail_create_draft": "", "gmail_draft_reply": "", "linkedin_get_post": "", "linkedin_delete_post": "", "post_delete": "", "gmail_search": "", "slack_unsend_message": "",
		"tv_send_command": "", "bank_send_payment": "", "notion_create_page": "", "": "",
	} {
		if got := preview.Kind(&tool.Tool{Name: name}, tool.Send); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := preview.Kind(&tool.Tool{Name: "gmail_send"}, tool.Read); got != "" {
		t.Errorf("a look-up is %q", got)
	}
}

func TestWhatCannotHide(t *testing.T) {
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprintf("person%d@example.com", i))
	}
	for _, c := range []struct{ name, args, has string }{
		{"a look-alike letter is named", `{"to":"\u0430rjun@example.com"}`, "not plain letters: U+0430"},
		{"a recipient behind many spaces", `{"to":"sam@example.com` + strings.Repeat(" ", 3000) + `x@evil.example"}`, "sam@example.com x@evil.example"},
		{"recipients behind many others are counted", `{"to":[` + strings.Join(many, ",") + `]}`, " more"},
		{"a blind copy among mail headers", `{"headers":[{"name":"Bcc","value":"x@evil.example"}]}`, "Bcc=x@evil.example"},
		{"the address and not the name beside it", `{"to":[{"name":"Sam","email":"x@evil.example"}]}`, "To=x@evil.example"},
		{"recipients of another app's mail", `{"message":{"subject":"S","body":{"content":"Hi"},"toRecipients":[{"emailAddress":{"address":"x@evil.example"}}]}}`, "To=x@evil.example|Subject=S|Hi"},
	} {
		if got := told(of("gmail_send", "gmail", c.args, tool.Send, "")); !strings.Contains(got, c.has) {
			t.Errorf("%s: %.300s", c.name, got)
		}
	}
}

func TestACallThatRunsOthers(t *testing.T) {
	got := of("composio_multi_execute_tool", "composio", `{"tools":[{"tool_slug":"GMAIL_SEND_EMAIL","arguments":{"recipient_email":"a@b.example","body":"Hi"}},{"tool_slug":"X","arguments":{}}]}`, tool.Send, "")
	if told(got) != "email|To=a@b.example|Hi" || got.Title != "Email (the first of 2 actions)" {
		t.Errorf("%s %+v", told(got), got)
	}
}

func TestTitlesAndBounds(t *testing.T) {
	if p := of("linkedin_post", "linkedin", `{"title":"News","text":"`+strings.Repeat("é", 9000)+`"}`, tool.Send, ""); p.Fields[0] != (preview.Field{Label: "Title", Value: "News"}) || len([]rune(p.Body)) != 4000 {
		t.Errorf("%+v", p.Fields)
	}
	if p := of("notion_create_page", "notion", `{"title":"Plan"}`, tool.Write, ""); p.Kind != "action" || p.Title != "Create page" {
		t.Errorf("%+v", p)
	}
	if got := preview.Details([]byte(`{"command":"ls","loud":true,"empty":"","list":[1,2],"deep":{"a":1}}`)); fmt.Sprint(got) != `[{Command ls} {Deep {"a":1}} {List 1, 2} {Loud Yes}]` {
		t.Errorf("%v", got)
	}
	if got := preview.Details([]byte(`{`)); got == nil || len(got) != 0 {
		t.Errorf("%v", got)
	}
}
