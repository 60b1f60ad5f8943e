package outside

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCallsThatDestroyOrOpen(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       bool
	}{
		{"gmail_delete_email", `{}`, true},
		{"GMAIL_DELETE_EMAIL", `{}`, true},
		{"gmail_deleteEmail", `{}`, true},
		{"drive_trash_file", `{}`, true},
		{"drive_share_file", `{"file_id":"1"}`, true},
		{"notion_update_permissions", `{}`, true},
		{"github_add_collaborator", `{}`, true},
		{"slack_invite_user", `{}`, true},
		{"revoke-token", `{}`, true},
		{"transfer_ownership", `{}`, true},
		{"sheets_clear_values", `{}`, true},
		{"mcp_fs_overwrite", `{}`, true},
		{"files_removes", `{}`, true},
		{"file_write", `{"name":"a","overwrite":true}`, true},
		{"file_write", `{"name":"a","mode":"w"}`, true},
		{"file_write", `{"name":"a","mode":"a"}`, false},
		{"file_write", `{"name":"a","overwrite":false}`, false},
		{"rename_file", `{"from":"a","to":"b"}`, false},
		{"rename_file", `{"from":"a","to":"b","overwrite":"yes"}`, true},
		{"create_page", `{"title":"x","permissions":[]}`, false},
		{"create_page", `{"title":"x","permissions":["bob"]}`, true},
		{"create_doc", `{"visibility":"private"}`, false},
		{"create_doc", `{"visibility":"public"}`, true},
		{"http_request", `{"method":"DELETE"}`, true},
		{"http_request", `{"method":"GET"}`, false},
		{"composio_multi_execute", `{"tools":[{"tool_slug":"GMAIL_FETCH"},{"tool_slug":"GMAIL_DELETE_MESSAGE"}]}`, true},
		{"composio_multi_execute", `{"tools":[{"tool_slug":"GMAIL_FETCH"}]}`, false},
		{"run_query", `{"sql":"DROP TABLE users"}`, true},
		{"run_query", `{"sql":"select 1"}`, false},
		{"broken", `{"a":`, true},
		{"get_file", `{"name":"deleted.txt"}`, false},
		{"list_permissions", `{}`, false},
		{"search_trash", `{"public":true}`, false},
		{"drive_get_shared_files", `{}`, false},
		{"delete_then_get", `{}`, true},
		{"restore_deleted_file", `{}`, false},
		{"undelete_email", `{}`, false},
		{"gmail_send_email", `{"body":"please delete this"}`, false},
		{"create_event", `{"title":"Share the news"}`, false},
		{"web_fetch", ``, false},
		{"deep", strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50), true},
	} {
		if got := Destructive(c.name, json.RawMessage(c.args)); got != c.want {
			t.Errorf("Destructive(%s, %s) = %v", c.name, c.args, got)
		}
	}
}

func TestWhatThePersonNamed(t *testing.T) {
	for _, c := range []struct {
		words, target string
		want          bool
	}{
		{"delete report.pdf please", "report.pdf", true},
		{"Delete REPORT.PDF.", "report.pdf", true},
		{"delete the report", "report.pdf", true},
		{"delete report.pdf", "Documents/report.pdf", true},
		{"delete Documents/report.pdf", `Documents\report.pdf`, true},
		{`delete "Meeting notes"`, "meeting notes", true},
		{"delete the meeting notes", "meeting_notes.md", true},
		{"remove bob@example.com from it", "bob@example.com", true},
		{"delete event 88213", "88213", true},
		{"delete event #5", "5", true},
		{`delete "5"`, "5", true},
		{"see https://docs.example/d/12, delete it", "https://docs.example/d/12", true},
		{"share plans with Anna", "plans", true},
		{"delete report.pdf", "report.docx", false},
		{"delete old-report.pdf", "report.pdf", false},
		{"delete report.pdf.bak", "report.pdf", false},
		{"delete the reports", "report.pdf", false},
		{"delete 5 files", "5", false},
		{"tidy up my files", "report.pdf", false},
		{"delete bob@example.com.evil.example", "bob@example.com", false},
		{"remove bob@example.com", "rob.bob@example.com", false},
		{"delete report.pdf", "rеport.pdf", false}, // with a Cyrillic letter
		{"delete report.pdf", "", false},
		{"", "report.pdf", false},
		{"delete document 12 and 3", "123", false},
	} {
		if got := Names([]string{"hello", c.words}, []string{c.target}); got != c.want {
			t.Errorf("Names(%q, %q) = %v", c.words, c.target, got)
		}
	}
	if Names([]string{"delete a.txt"}, []string{"a.txt", "b.txt"}) {
		t.Error("one of two is enough")
	}
	if !Names([]string{"delete a.txt", "and b.txt"}, []string{"a.txt", "b.txt"}) {
		t.Error("both are named, in two messages")
	}
	if Names([]string{"delete everything"}, nil) {
		t.Error("nothing is named")
	}
}
