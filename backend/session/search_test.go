package session_test

import (
	"strings"
	"testing"

	"sentient/backend/session"
)

func (r *rig) found(q string) string {
	r.t.Helper()
	list, err := r.Search(r.t.Context(), &session.SearchInput{Q: q})
	if err != nil {
		r.t.Fatalf("%q: %v", q, err)
	}
	var b []string
	for _, f := range list {
		b = append(b, f.Snippet)
	}
	return strings.Join(b, "|")
}

func TestSearch(t *testing.T) {
	r := newRig(t)
	chat, gone, secret := r.create(session.CreateInput{}), r.create(session.CreateInput{}), r.create(session.CreateInput{Incognito: true})
	r.says(chat, "Crème brûlée for Łukasz", "Burn the sugar.")
	r.says(gone, "Burning sugar, deleted", "Deleted sugar")
	r.says(secret, "Secret sugar", "Hidden sugar")
	r.says(chat, "What is C++ and don't AND/OR mean?", "It is a\nlanguage.")
	r.says(chat, "日本語の文章", "ok")
	if _, err := r.Delete(t.Context(), &session.DeleteInput{ID: gone}); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]string{
		"":                  "",
		"   ":               "",
		"?!":                "",
		"creme brulee":      "Crème brûlée for Łukasz",
		"CRÈME":             "Crème brûlée for Łukasz",
		"cre":               "Crème brûlée for Łukasz", // the last word may be unfinished
		"cre brulee":        "",                        // the others not
		"cre ":              "",
		"c":                 "What is C++ and don't AND/OR mean?", // one letter is no start of a word
		"sugar":             "Burn the sugar.",                    // neither the deleted nor the hidden
		"burning":           "Burn the sugar.",                    // the stem counts
		"sugar burn":        "Burn the sugar.",
		"sugar missing":     "",
		"C++ AND":           "What is C++ and don't AND/OR mean?",
		"don't":             "What is C++ and don't AND/OR mean?",
		"language":          "It is a language.",
		`"`:                 "",
		`"burn`:             "Burn the sugar.",
		"content:burn":      "",
		"burn NOT sugar":    "",
		"burn*":             "Burn the sugar.",
		"NEAR(burn sugar)":  "",
		"日本":                "日本語の文章",
		"(":                 "",
		"a OR":              "",
		"\x00burn\xff":      "Burn the sugar.",
		"\u0301":            "",
		"\u0301 burn":       "Burn the sugar.",
		"-burn":             "Burn the sugar.",
		"^burn":             "Burn the sugar.",
		"{content}: burn":   "",
		"burn + the sugar.": "Burn the sugar.",
	} {
		if got := r.found(q); got != want {
			t.Errorf("%q found %q", q, got)
		}
	}
	list, err := r.Search(t.Context(), &session.SearchInput{Q: "brulee"})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	f := list[0]
	m := r.messages(chat, 0)[0]
	if f.SessionID != chat || f.MessageID != m.ID || f.CreatedAt != m.CreatedAt || f.Role != "user" {
		t.Error(f)
	}
}

func TestSearchGivesTheNewest(t *testing.T) {
	r := newRig(t)
	a, b := r.create(session.CreateInput{}), r.create(session.CreateInput{})
	r.says(a, "tea one", "x")
	r.says(b, "tea two", "x")
	r.says(a, "tea three", "x")
	if got := r.found("tea"); got != "tea three|tea two|tea one" {
		t.Error(got)
	}
	list, err := r.Search(t.Context(), &session.SearchInput{Q: "tea", Limit: 2})
	if err != nil || len(list) != 2 || list[0].Snippet != "tea three" {
		t.Error(list, err)
	}
	if got, err := r.Search(t.Context(), &session.SearchInput{Q: strings.Repeat("tea ", 5000)}); err != nil || len(got) != 0 {
		t.Log(len(got)) // a pasted page is a question like any other
		if err != nil {
			t.Error(err)
		}
	}
	r.says(a, strings.Repeat("filler ", 500)+"needle"+strings.Repeat(" filler", 500), "x")
	if got := r.found("needle"); !strings.Contains(got, "needle") || len(got) > 600 {
		t.Error(got)
	}
}

// No text that a person types is an error, and a text finds itself.
func FuzzSearch(f *testing.F) {
	r := newRig(f)
	chat := r.create(session.CreateInput{})
	r.says(chat, "Crème brûlée", "Burn the sugar.")
	for _, seed := range []string{"", `"`, `""`, "a*", "*", "NEAR(", "x:y", "AND", "\x00", "\xff", "\u0301", "é", "日本語", "a\u0301b", "\U000e0001x", "ﷺ", "½", "²", "\ue000", "1e5", "'; DROP TABLE messages; --"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := r.Search(t.Context(), &session.SearchInput{Q: q}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	})
}
