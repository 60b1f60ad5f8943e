package phrase_test

import (
	"slices"
	"strings"
	"testing"

	"sentient/backend/approval/rules/phrase"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"lower case", "SEND It", "send it"},
		{"wide letters", "ｓｅｎｄ", "send"},
		{"Cyrillic look-alikes", "ѕеnd", "send"},
		{"Greek look-alikes", "ροst", "post"},
		{"zero-width characters", "s\u200be\u2060n\ufeffd", "send"},
		{"turned text", "\u202esend\u202c", "send"},
		{"soft hyphen", "se\u00adnd", "send"},
		{"every apostrophe", "don’t don‘t don`t", "don't don't don't"},
		{"mathematical letters", "𝐬𝐞𝐧𝐝", "send"},
		{"broken bytes", "se\xffnd", "se nd"},
		{"line separators", "a\u2028b\rc", "a\nb\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := phrase.Fold(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"none", " \n. !", nil},
		{"stops", "One. Two! Three? four", []string{"One.", "Two!", "Three?", "four"}},
		{"addresses keep dots", "Write to a.b@c.example today. Bye", []string{"Write to a.b@c.example today.", "Bye"}},
		{"lines and semicolons", "one\ntwo; three", []string{"one", "two;", "three"}},
		{"a stop inside a quotation", `Say "no." Then go`, []string{`Say "no.`, `" Then go`}},
		{"wide stops", "一。two", []string{"一。", "two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range phrase.Sentences(c.in) {
				got = append(got, s.Text)
				if s.Question != strings.HasSuffix(s.Text, "?") {
					t.Errorf("%q is a question: %v", s.Text, s.Question)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"don't send it, please!":         "don't send it , please",
		"(mail) a.b@c.example, and":      "mail a.b@c.example , and",
		"browser_open now":               "browser_open now",
		"to-do list - and":               "to do list , and",
		"...":                            "",
		"'quoted' words":                 "quoted words",
		"<a@b.example>":                  "a@b.example",
		"send\u00a0it":                   "send it",
		"post:the build":                 "post , the build",
		"light.kitchen and/or bedroom.1": "light kitchen and or bedroom 1",
	} {
		if got := strings.Join(phrase.Words(in), " "); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestVerbs(t *testing.T) {
	for _, c := range []struct {
		words  string
		action phrase.Action // "" for none
	}{
		{"send it", "send"}, {"sent it", ""}, {"sending it", ""}, {"email bob", "send"}, {"turn it on", "turn_on"}, {"turn on it", "turn_on"},
		{"turn off the light on the left", "turn_off"}, {"turn the light on the left off", ""}, {"turn left", ""}, {"turn it , on", ""},
		{"move it to the trash", "trash"}, {"move it to the bin or the trash", "trash"}, {"move it there", "move"}, {"get rid of it", "trash"},
	} {
		v, ok := phrase.VerbAt(strings.Fields(c.words), 0)
		if ok != (c.action != "") || ok && v.Actions[0] != c.action {
			t.Errorf("%q: %v %v", c.words, v.Actions, ok)
		}
	}
	for in, want := range map[string]string{"sending": "send", "sends": "send", "emailed": "email", "running": "run", "deleting": "delete", "replies": "", "bring": "", "s": ""} {
		if got := phrase.Base(in); got != want {
			t.Errorf("base of %s: %q", in, got)
		}
	}
}

func TestActionOfAName(t *testing.T) {
	for in, want := range map[string]string{"post message": "send", "turn on": "turn_on", "trash": "trash", "create draft": "create", "frobnicate it": "frobnicate", "execute code": "run"} {
		got, _, _ := phrase.OfName(strings.Fields(in))
		if len(got) == 0 || string(got[0]) != want {
			t.Errorf("%s: %v", in, got)
		}
	}
	if got, _, _ := phrase.OfName(nil); got != nil {
		t.Errorf("no name: %v", got)
	}
}

func TestSingular(t *testing.T) {
	for in, want := range map[string]string{"emails": "email", "replies": "reply", "boss": "boss", "status": "status", "bob's": "bob", "boxes": "box", "is": "is", "matches": "match"} {
		if got := phrase.Singular(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		words, phrase string
		want          int
	}{
		{"a home assistants b", "home assistant", 1}, {"a home b assistant", "home assistant", -1}, {"a b", "", -1}, {"", "a", -1}, {"emails", "email", 0},
	} {
		if got := phrase.Find(strings.Fields(c.words), c.phrase); got != c.want {
			t.Errorf("%q in %q: %d", c.phrase, c.words, got)
		}
	}
}

func FuzzPhrase(f *testing.F) {
	for _, s := range []string{"a. b? c", "\xff.\xfe", "a@b.example, x", "don’t", ",,,:—", "。！"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded := phrase.Fold(text)
		total := 0
		for _, s := range phrase.Sentences(folded) {
			words := phrase.Words(s.Text)
			for i := range words {
				total += len(words[i])
				phrase.VerbAt(words, i)
			}
		}
		if total > len(folded)*3 {
			t.Errorf("%d bytes of words in %d", total, len(folded))
		}
	})
}
