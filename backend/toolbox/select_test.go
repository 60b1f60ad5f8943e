package toolbox_test

import (
	"slices"
	"strings"
	"testing"

	"sentient/backend/tool"
	"sentient/backend/toolbox"
)

// house is what comes with Sentient and a dozen connected apps, with far more tools than a small model can be offered.
func house(t testing.TB) []*tool.Plugin {
	return append(builtin(t),
		app("memory", "Memory", "What Sentient remembers about you.", "remember forget know about me preference fact recall", "memory_recall: Recall what is known.", "memory_store: Remember a fact.", "memory_forget: Forget a fact."),
		app("reminders", "Timers & reminders", "Timers, alarms and reminders.", "remind reminder timer alarm wake minutes later", "reminder_set: Set a reminder.", "timer_set: Set a timer.", "alarm_set: Set an alarm.", "reminder_list: List reminders.", "reminder_cancel: Cancel one."),
		app("tasks", "Tasks", "Longer work and routines.", "task routine every day schedule plan background automatically", "task_create: Create a task.", "task_list: List tasks.", "task_cancel: Cancel a task."),
		app("gmail", "Gmail", "Email with Gmail.", "email mail inbox unread reply message send draft", "gmail_search: Search emails.", "gmail_read: Read an email.", "gmail_send: Send an email.", "gmail_reply: Reply to an email.", "gmail_forward: Forward an email.", "gmail_trash: Move an email to the trash.", "gmail_create_draft: Write a draft.", "gmail_labels: List labels.", "gmail_archive: Archive an email."),
		app("gcalendar", "Google Calendar", "Events in Google Calendar.", "calendar event meeting appointment schedule agenda free busy invite", "gcal_list_events: List events.", "gcal_create_event: Create an event.", "gcal_update_event: Change an event.", "gcal_delete_event: Delete an event.", "gcal_free_busy: When people are free."),
		app("gdrive", "Google Drive", "Files in Google Drive.", "drive document share shared sheet slides google doc", "gdrive_search: Search files.", "gdrive_read: Read a file.", "gdrive_upload: Upload a file.", "gdrive_share: Share a file."),
		app("github", "GitHub", "Repositories, issues and pull requests.", "github repository repo issue pull request commit branch code review bug", "github_search: Search code.", "github_list_issues: List issues.", "github_create_issue: Create an issue.", "github_update_issue: Change an issue.", "github_list_prs: List pull requests.", "github_read_file: Read a file."),
		app("slack", "Slack", "Messages in Slack.", "slack channel message post thread team dm", "slack_search: Search messages.", "slack_post_message: Post a message.", "slack_list_channels: List channels.", "slack_reply_in_thread: Reply."),
		app("notion", "Notion", "Pages and databases in Notion.", "notion page database workspace wiki note notes", "notion_search: Search pages.", "notion_read_page: Read a page.", "notion_create_page: Create a page.", "notion_append: Add to a page."),
		app("home_assistant", "Home Assistant", "Devices at home.", "home light lights lamp switch thermostat heating door lock blind cover scene turn on off dim room kitchen bedroom living", "home_assistant_list: List devices.", "home_assistant_turn_on: Turn a device on.", "home_assistant_turn_off: Turn a device off.", "home_assistant_set_temperature: Set a thermostat.", "home_assistant_lock: Lock a door.", "home_assistant_open_cover: Open a cover."),
		app("spotify", "Spotify", "Music with Spotify.", "music song play pause album artist playlist listen skip volume", "spotify_play: Play music.", "spotify_pause: Pause.", "spotify_search: Search music.", "spotify_next: Skip."),
		app("browser", "Browser", "Uses web pages like a person.", "browser click form fill log in login sign book order buy website checkout", "browser_open: Open a page.", "browser_click: Click.", "browser_type: Type.", "browser_screenshot: Take a picture."),
		app("terminal", "Terminal", "Runs commands.", "terminal command shell run install git folder script build", "terminal_run: Run a command."),
		app("sandbox", "Code", "Runs Python code.", "python code calculate compute script data csv analyze math", "execute_code: Run Python code."),
	)
}

// Messages, and the plugin whose tools must be among twelve.
func TestSelect(t *testing.T) {
	r := newRegistry(t, toolbox.Options{Plugins: house(t)})
	found, n := 0, 0
	for _, c := range []struct{ text, plugin string }{
		{"What's the weather like in Paris?", "weather"},
		{"do I need an umbrella tomorrow", "weather"},
		{"will it be raining on Saturday?", "weather"},
		{"Wie wird das Wetter morgen?", "weather"},
		{"¿Hará lluvia en Madrid?", "weather"},
		{"明天天气怎么样", "weather"},
		{"any news about the election?", "news"},
		{"what are today's headlines", "news"},
		{"search the web for a good pasta recipe", "internet_search"},
		{"google who won the match last night", "internet_search"},
		{"look up reviews of the new phone online", "internet_search"},
		{"summarize https://example.com/article for me", "web"},
		{"read this page: www.example.org/x", "web"},
		{"what does the website of the museum say", "web"},
		{"make a bar chart of my spending", "charts"},
		{"plot these numbers", "charts"},
		{"how do I get from Berlin to Munich by train? directions please", "maps"},
		{"show me that address on a map", "maps"},
		{"save that as a file", "files"},
		{"what is in the pdf I attached", "files"},
		{"what day is it in Tokyo", "time"},
		{"how many days until christmas", "time"},
		{"read my unread emails", "gmail"},
		{"reply to Priya's mail that I am late", "gmail"},
		{"draft a message to the landlord and email it", "gmail"},
		{"do I have meetings on Thursday?", "gcalendar"},
		{"put the dentist appointment in my calendar", "gcalendar"},
		{"find the shared budget sheet in Drive", "gdrive"},
		{"open an issue in the repo about the crash", "github"},
		{"which pull requests wait for my review", "github"},
		{"post in the team channel that the build is done", "slack"},
		{"add this to my Notion page", "notion"},
		{"turn off the lights in the kitchen", "home_assistant"},
		{"set the heating to 20 degrees", "home_assistant"},
		{"play some jazz music", "spotify"},
		{"skip this song", "spotify"},
		{"remind me in ten minutes to take out the pizza", "reminders"},
		{"set an alarm for 7", "reminders"},
		{"what do you remember about my sister", "memory"},
		{"every day at 9 check the price, as a routine", "tasks"},
		{"fill in the form and book a table", "browser"},
		{"run git status in my project folder", "terminal"},
		{"analyze this csv with python", "sandbox"},
		{"thanks!\nand now turn the lamp on", "home_assistant"},
	} {
		tools := r.Select(toolbox.Need{Text: c.text, Max: 12})
		if len(tools) != 12 {
			t.Errorf("%q: %d tools", c.text, len(tools))
		}
		n++
		if slices.ContainsFunc(tools, func(x *tool.Tool) bool { _, p, _ := r.Find(x.Name); return p.ID == c.plugin }) {
			found++
		} else {
			t.Errorf("%q lacks %s: %s", c.text, c.plugin, names(tools))
		}
	}
	t.Logf("%d of %d", found, n)
}

// The same need gives the same tools in the order of the registry, and what fits is offered whatever is asked: a
// provider's cache of the prompt depends on both.
func TestSelectionIsStable(t *testing.T) {
	r := newRegistry(t, toolbox.Options{Plugins: house(t)})
	all := r.Select(toolbox.Need{})
	place := map[string]int{}
	for i, x := range all {
		place[x.Name] = i
	}
	for _, text := range []string{"", "weather", "email about the news", strings.Repeat("turn on the lights ", 5000), "\xff\xfe\x00", "мама мыла раму"} {
		for most := range len(all) + 2 {
			got := r.Select(toolbox.Need{Text: text, Max: most, Recent: []string{"gmail_send", "nothing", "gmail_send", ""}})
			want := min(most, len(all))
			if most == 0 {
				want = len(all)
			}
			if len(got) != want || !slices.IsSortedFunc(got, func(a, b *tool.Tool) int { return place[a.Name] - place[b.Name] }) {
				t.Fatalf("%.20q, at most %d: %s", text, most, names(got))
			}
			if again := names(r.Select(toolbox.Need{Text: text, Max: most, Recent: []string{"gmail_send", "nothing", "gmail_send", ""}})); again != names(got) {
				t.Fatalf("%.20q, at most %d: %s, then %s", text, most, names(got), again)
			}
		}
		if got := names(r.Select(toolbox.Need{Text: text, Max: 10_000})); got != names(all) {
			t.Errorf("%.20q: not all, or not in order", text)
		}
	}
}

func TestSelectionPrefers(t *testing.T) {
	r := newRegistry(t, toolbox.Options{Plugins: house(t)})
	offered := func(n toolbox.Need, want ...string) {
		t.Helper()
		got := names(r.Select(n))
		for _, w := range want {
			if !strings.Contains(" "+got+" ", " "+w+" ") {
				t.Errorf("%.40q lacks %s: %s", n.Text, w, got)
			}
		}
	}
	// The core, whatever is asked.
	offered(toolbox.Need{Text: "turn on the lights", Max: 12}, "file_list", "file_read", "file_write", "time_now")
	// What was used lately, and still what is asked now.
	offered(toolbox.Need{Text: "yes, do that", Max: 12, Recent: []string{"gmail_search", "gmail_reply"}}, "gmail_search", "gmail_reply")
	offered(toolbox.Need{Text: "and the weather?", Max: 12, Recent: []string{"gmail_search", "gmail_read", "gmail_reply", "slack_search", "slack_post_message", "github_search", "notion_search"}}, "weather_current", "notion_search", "github_search")
	// A plugin that matches goes in whole while there is room, else its best tools.
	offered(toolbox.Need{Text: "archive the email from Priya", Max: 9}, "gmail_archive")
	// Two things at once.
	offered(toolbox.Need{Text: "email me the weather forecast", Max: 12}, "gmail_send", "weather_forecast")
	offered(toolbox.Need{Text: "put the meeting in my calendar and post it in slack", Max: 12}, "gcal_create_event", "slack_post_message")
}

func BenchmarkSelect(b *testing.B) {
	r := newRegistry(b, toolbox.Options{Plugins: house(b)})
	text := strings.Repeat("put the meeting in my calendar and post it in slack, then tell me the weather. ", 20)
	for b.Loop() {
		r.Select(toolbox.Need{Text: text, Max: 12, Recent: []string{"gmail_send"}})
	}
}
