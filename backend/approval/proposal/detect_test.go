package proposal

import (
	"slices"
	"strings"
	"testing"

	"sentient/backend/approval/rules"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		// never, don't
		{"never delete my emails", true}, {"Never, ever post to Slack", true}, {"NEVER DELETE MY EMAILS!", true}, {"please don't send emails for me", true},
		{"Don’t touch my Notion", true}, {"dont use Slack", true}, {"do not buy anything", true}, {"You must not unlock the door", true}, {"you mustn't delete files", true},
		{"You should never forward my mail", true}, {"stop deleting my emails", true}, {"under no circumstances send money", true}, {"You're not allowed to post", true},
		{"no posting to Slack", true}, {"Slack is off limits", true}, {"I don't want you to send emails", true}, {"I never want you to delete files", true}, {"from now on never archive anything", true},
		{"nevеr delete my emails", true}, {"ne\u200bver delete my emails", true}, {"ｎｅｖｅｒ delete my emails", true}, {"don't call browser_open", true}, {"you can't use Slack", true},
		// ask first
		{"always ask before sending money", true}, {"ask me first before you post", true}, {"don't post to Slack without asking me", true}, {"check with me before you delete a file", true},
		{"ask before you send", true}, {"Get my approval before you buy", true}, {"Never send without my permission", true}, {"you always ask before posting, please", true}, {"confirm with me before sending", true},
		// hand it to me, only if asked
		{"I'll send them myself", true}, {"hand it to me", true}, {"let me press send", true}, {"just draft it", true}, {"for emails, only draft", true}, {"I'd rather post to Slack myself", true},
		{"send emails only when I tell you to", true}, {"no Slack posts unless I ask", true}, {"only if I explicitly ask", true},
		// fewer questions
		{"don't ask me", false}, {"stop asking", false}, {"Don't always ask me before sending", false}, {"do not ask me again", false}, {"never ask me first", false}, {"no need to ask me first", false},
		{"don't keep asking me before you post", false}, {"you can send emails without asking me", false}, {"feel free to post without asking", false}, {"do\u200bn't ask me first", false},
		{"never delete my emails and don't ask me about it", true}, {"don't ask me, but never delete files", true}, {"stop asking me, and never use Slack", true},
		// this request
		{"don't send it this time", false}, {"just this once, don't ask first", false}, {"don't send it for now", false}, {"in part A do not use Slack", false}, {"In step 2, never delete files", false},
		{"don't send it yet", false}, {"never use Slack for this", false}, {"don't post in this chat", false}, {"not right now, don't send it", false}, {"don't delete it in phase 3", false},
		// no instruction
		{"I don't know", false}, {"why don't you like it?", false}, {"don't worry about it", false}, {"never mind", false}, {"I never got the email", false}, {"we don't use Slack", false},
		{"they never reply", false}, {"don't forget to send the email", false}, {"send an email to Priya", false}, {"I always ask my boss", false}, {"", false}, {"hello", false},
		{"I can do it", false}, {"the never-ending story", true}, {"it doesn't work", false}, {"only when it rains", false}, {"I made it myself", false},
	} {
		t.Run(c.text, func(t *testing.T) {
			if got := len(Detect(c.text)) > 0; got != c.want {
				t.Errorf("%q: %v", c.text, got)
			}
		})
	}
}

func TestDetectGivesTheSentencesAsWritten(t *testing.T) {
	got := Detect("Hello there. Never delete my Emails! How are you?\nALWAYS ask before sending money. Don't send it this time.")
	if want := []string{"Never delete my Emails!", "ALWAYS ask before sending money."}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Detect(strings.Repeat("Never do it. ", 100)); len(got) != mostSentences {
		t.Error(len(got), "sentences")
	}
	if got := Detect("never " + strings.Repeat("delete ", 1000)); got != nil {
		t.Error("an endless sentence is an instruction")
	}
}

func TestLevelFor(t *testing.T) {
	for _, c := range []struct {
		words        string
		picked, want rules.Level
	}{
		{"never delete my emails", rules.Never, rules.Never}, {"never delete my emails", rules.Ask, rules.Ask}, {"never delete my emails", "nonsense", rules.Ask}, {"never delete my emails", rules.Allow, rules.Ask},
		{"never send emails, I'll send them myself", rules.Never, rules.HandOff}, {"hand it to me", rules.Ask, rules.HandOff}, {"let me press send", rules.Never, rules.HandOff}, {"just draft it", rules.Never, rules.HandOff},
		{"don't post unless I ask", rules.Never, rules.IfAsked}, {"only when I tell you to", rules.Ask, rules.IfAsked},
		{"don't post to Slack without asking me", rules.Never, rules.Ask}, {"always ask before sending money", rules.Never, rules.Ask}, {"Аlways ask before sending", rules.Never, rules.Ask},
		{"unless I ask, and never without asking me", rules.Never, rules.Ask}, {"always ask me, I'll send it myself", rules.Never, rules.HandOff},
		{"never delete emails, and don't ask me first", rules.Never, rules.Never},
	} {
		if got := LevelFor(c.words, c.picked); got != c.want {
			t.Errorf("%q, picked %s: %s", c.words, c.picked, got)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("Never delete my emails. don't ask me")
	f.Add("\xff do not, never! I'll send it myself")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Detect(text) {
			if !strings.Contains(text, s) {
				t.Fatalf("%q was not said", s)
			}
			if l := LevelFor(s, rules.Allow); !l.Stricter(rules.None) {
				t.Fatalf("%q loosens: %s", s, l)
			}
		}
		choose(instructions([]string{text}, apps()), Candidates(text, apps()), apps(), rules.Never)
	})
}
