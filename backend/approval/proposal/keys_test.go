package proposal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sentient/backend/approval/rules"
	"sentient/backend/tool"
)

func app(id, name string, tools ...string) *tool.Plugin {
	p := &tool.Plugin{ID: id, Name: name, Description: name + " for a test."}
	for _, line := range tools {
		n, about, _ := strings.Cut(line, " ")
		p.Tools = append(p.Tools, &tool.Tool{Name: n, Description: about, Risk: tool.Write})
	}
	return p
}

func apps() []*tool.Plugin {
	return []*tool.Plugin{
		app("gmail", "Gmail", "gmail_search Find emails.", "gmail_send Send an email.", "gmail_reply Reply to an email.", "gmail_forward Forward an email.", "gmail_trash Move an email to the trash.", "gmail_archive Archive an email."),
		app("slack", "Slack", "slack_post_message Post a message to a channel.", "slack_search Find messages.", "slack_reply_in_thread Reply in a thread."),
		app("notion", "Notion", "notion_create_page Create a page.", "notion_delete_page Delete a page.", "notion_search Find pages."),
		app("browser", "Browser", "browser_open Open a web page.", "browser_click Click on a page."),
		app("bank", "Bank", "bank_transfer_money Transfer money to somebody.", "bank_list_accounts List accounts."),
		app("weather", "Weather", "weather_forecast The forecast for a place."),
	}
}

func keysOf(keys []Key) (list []string) {
	for _, k := range keys {
		list = append(list, k.Key)
	}
	return list
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		text         string
		with, wanted string // keys that are and that are not among them
	}{
		{"never delete my emails", "gmail_trash gmail notion_delete_page", "weather slack_post_message bank"},
		{"don't post to Slack", "slack slack_post_message slack_search", "gmail_trash weather"},
		{"always ask before sending money", "bank_transfer_money bank", "weather notion"},
		{"don't call browser_open", "browser_open browser", "weather bank"},
		{"never be late", "", "gmail slack notion browser bank weather"},
		{"never use slaсk", "slack", "gmail"},
	} {
		got := keysOf(Candidates(c.text, apps()))
		for _, k := range strings.Fields(c.with) {
			if !slices.Contains(got, k) {
				t.Errorf("%q: no %s in %v", c.text, k, got)
			}
		}
		for _, k := range strings.Fields(c.wanted) {
			if slices.Contains(got, k) {
				t.Errorf("%q: %s in %v", c.text, k, got)
			}
		}
	}
	big := app("big", "Big")
	for i := range 500 {
		big.Tools = append(big.Tools, &tool.Tool{Name: fmt.Sprintf("big_delete_%d", i), Description: strings.Repeat("delete ", 10_000)})
	}
	got := Candidates("never delete my emails", append(apps(), big))
	if len(got) != mostCandidates {
		t.Error(len(got), "candidates")
	}
	for _, want := range []Key{{"gmail_trash", "gmail", "Gmail", "Trash", "Gmail > Trash"}, {"gmail", "gmail", "Gmail", "", "Gmail"}} {
		if list := Candidates("never delete my emails", apps()); !slices.Contains(list, want) {
			t.Errorf("no %+v in %+v", want, list)
		}
	}
}

// chosen writes what choose gives as "key:level" of every line.
func chosen(text string, keys []string, level rules.Level) string {
	sentences := Detect(text)
	var list []Key
	for _, k := range keys {
		for _, c := range allKeys() {
			if c.Key == k {
				list = append(list, c)
			}
		}
	}
	var out []string
	for _, p := range choose(instructions(sentences, apps()), list, apps(), level) {
		out = append(out, p.Key.Key+":"+string(p.level))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func allKeys() (list []Key) {
	for _, p := range apps() {
		list = append(list, appKey(p))
		for _, one := range p.Tools {
			list = append(list, toolKey(one, p))
		}
	}
	return list
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name, text, keys, want string
	}{
		{"a whole app where no action is named", "never use Slack", "slack", "slack:never"},
		{"touching names no action", "don't touch my Notion", "notion", "notion:never"},
		{"an app is replaced by the tools of the action", "never delete my emails", "gmail", "gmail_trash:never"},
		{"an app without such a tool is dropped", "never delete my forecasts", "weather", ""},
		{"each app by the instruction that mentions it", "Never delete my emails. Never use Slack.", "gmail slack", "gmail_trash:never slack:never"},
		{"two instructions in a sentence", "never delete my emails and never use Slack", "gmail slack", "gmail_trash:never slack:never"},
		{"or use", "never delete my emails or use Slack", "gmail slack", "gmail_trash:never slack:never"},
		{"a word after my is a thing", "don't touch my email messages", "gmail", "gmail:never"},
		{"a word after a noun is a thing", "never use Slack messages", "slack", "slack:never"},
		{"exact name", "don't call browser_open", "browser", "browser_open:never"},
		{"exact name beside another pick", "don't call browser_open", "browser browser_click", "browser_open:never"},
		{"opening an app is using it", "never open Slack", "slack", "slack:never"},
		{"a tool that was picked stays", "never delete my emails", "gmail_trash", "gmail_trash:never"},
		{"sending covers what sends", "never send emails", "gmail", "gmail_forward:never gmail_reply:never gmail_send:never"},
		{"posting", "don't post to Slack without asking me", "slack", "slack_post_message:ask slack_reply_in_thread:ask"},
		{"sending money", "always ask before sending money", "bank", "bank_transfer_money:ask"},
		{"each level by its instruction", "Never delete my emails. Always ask before posting to Slack.", "gmail slack_post_message", "gmail_trash:never slack_post_message:ask"},
		{"a condition in the next part", "don't post to Slack, and always ask me before", "slack_post_message", "slack_post_message:ask"},
		{"handing over in the next sentence", "Never send emails. Just draft them.", "gmail_send", "gmail_send:hand_off"},
		{"a tool of a proposed app goes", "never use Slack", "slack slack_search", "slack:never"},
		{"nothing picked", "never use Slack", "", ""},
		{"archive", "never archive my emails", "gmail", "gmail_archive:never"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := chosen(c.text, strings.Fields(c.keys), rules.Never); got != c.want {
				t.Errorf("%q: %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestWhatACheckWeighs(t *testing.T) {
	set := func(text string) map[string]bool {
		s := Detect(text)
		return weighed(instructions(s, apps()), Candidates(text, apps()), apps())
	}
	if got := set("never delete my emails"); !got["gmail_trash"] || got["gmail"] {
		t.Errorf("%v", got)
	}
	if got := set("never use Slack"); !got["slack"] || got["gmail"] {
		t.Errorf("%v", got)
	}
}

func TestAnswers(t *testing.T) {
	candidates := []Key{{Key: "gmail_trash"}, {Key: "slack"}}
	for _, c := range []struct {
		name, said, keys string
		level            rules.Level
	}{
		{"plain", `{"keys":["gmail_trash"],"rule":"never"}`, "gmail_trash", rules.Never},
		{"in a fence", "Sure!\n```json\n{\"keys\": [\"slack\"], \"rule\": \"ask\"}\n```\nDone.", "slack", rules.Ask},
		{"braces in front", `{thinking} {"a":1} {"keys":["slack"],"rule":"Never "}`, "slack", rules.Never},
		{"unknown keys", `{"keys":["rm","gmail_trash",7,"*"],"rule":"never"}`, "gmail_trash", rules.Never},
		{"another case", `{"keys":[" GMAIL_Trash "],"rule":"never"}`, "gmail_trash", rules.Never},
		{"one string", `{"keys":"slack","rule":"never"}`, "slack", rules.Never},
		{"twice", `{"keys":["slack","slack"],"rule":"never"}`, "slack", rules.Never},
		{"a level that loosens", `{"keys":["slack"],"rule":"allow"}`, "slack", rules.Ask},
		{"no level", `{"keys":["slack"]}`, "slack", rules.Ask},
		{"none", `{"keys":[],"rule":"never"}`, "", rules.Never},
		{"no object", "I cannot tell.", "", rules.None},
		{"cut off", `{"keys":["slack"`, "", rules.None},
		{"endless", strings.Repeat("{", 1<<20), "", rules.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys, level := answerOf(c.said, candidates)
			if got := strings.Join(keysOf(keys), " "); got != c.keys || level != c.level {
				t.Errorf("%q %s", got, level)
			}
		})
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"keys":["slack"],"rule":"never"}`)
	f.Fuzz(func(t *testing.T, said string) {
		candidates := []Key{{Key: "slack"}, {Key: "gmail_trash"}}
		keys, level := answerOf(said, candidates)
		for _, k := range keys {
			if !slices.Contains(candidates, k) {
				t.Fatal(k)
			}
		}
		if len(keys) > 0 && level != rules.Never && level != rules.Ask {
			t.Fatal(level)
		}
	})
}
