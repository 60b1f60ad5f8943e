package rules_test

import (
	"context"
	"strings"
	"testing"

	"sentient/backend/tool"
)

type noArgs struct{}

func newTool(name string, risk tool.Risk, outcome tool.Outcome) *tool.Tool {
	return tool.New(tool.Def[noArgs]{Name: name, Description: "It is for a test.", Risk: risk, Outcome: outcome,
		Run: func(context.Context, *tool.Context, noArgs) (any, error) { return "", nil }})
}

// plugin makes an app of "name risk [outcome]" lines.
func plugin(id, name string, tools ...string) *tool.Plugin {
	p := &tool.Plugin{ID: id, Name: name}
	for _, line := range tools {
		parts := strings.Fields(line)
		var risk tool.Risk
		_ = risk.UnmarshalText([]byte(parts[1]))
		outcome := tool.OutcomeNone
		if len(parts) > 2 {
			outcome = tool.Outcome(parts[2])
		}
		p.Tools = append(p.Tools, newTool(parts[0], risk, outcome))
	}
	return p
}

func plugins() []*tool.Plugin {
	return []*tool.Plugin{
		plugin("gmail", "Gmail", "gmail_send_email send email", "gmail_reply send email", "gmail_forward send email", "gmail_create_draft write", "gmail_trash write",
			"gmail_delete_message write", "gmail_archive write", "gmail_search read", "gmail_read_message read"),
		plugin("slack", "Slack", "slack_post_message send message", "slack_reply_in_thread send message", "slack_search_messages read", "slack_delete_message write"),
		plugin("calendar", "Google Calendar", "calendar_create_event write event", "calendar_update_event write event", "calendar_delete_event write", "calendar_list_events read"),
		plugin("notion", "Notion", "notion_create_page write", "notion_update_page write", "notion_delete_page write", "notion_search read"),
		plugin("home_assistant", "Home Assistant", "home_assistant_turn_on write home", "home_assistant_turn_off write home", "home_assistant_unlock send home",
			"home_assistant_lock write home", "home_assistant_open_cover send home", "home_assistant_list_areas read"),
		plugin("code", "Code", "execute_code exec"),
		plugin("terminal", "Terminal", "terminal_run_command exec"),
		plugin("files", "Files", "file_write write file", "file_read read", "file_list read", "file_delete write"),
		plugin("shop", "Shop", "shop_buy_item send", "shop_order_item send", "shop_search_items read"),
		plugin("bank", "Bank", "bank_transfer_money send", "bank_pay_bill send", "bank_list_accounts read"),
		plugin("x", "X", "x_post_tweet send message"),
		plugin("mcp_tracker", "Tracker", "mcp_tracker_create_issue write", "mcp_tracker_close_issue write"),
		plugin("spotify", "Spotify", "spotify_play_track write", "spotify_pause write"),
	}
}

func find(t testing.TB, name string) (*tool.Tool, *tool.Plugin) {
	t.Helper()
	for _, p := range plugins() {
		for _, one := range p.Tools {
			if one.Name == name {
				return one, p
			}
		}
	}
	t.Fatalf("no tool %s", name)
	return nil, nil
}
