package session_test

import (
	"slices"
	"testing"

	"sentient/backend/event"
	"sentient/backend/session"
)

func TestAChatsMark(t *testing.T) {
	r := newRig(t)
	chat := r.create(session.CreateInput{})
	mark := func(wantSource string, wantKnown bool, wantVisited ...string) {
		t.Helper()
		source, known, visited, err := r.Mark(t.Context(), chat)
		if source != wantSource || known != wantKnown || !slices.Equal(visited, wantVisited) || err != nil {
			t.Errorf("%q %v %v %v", source, known, visited, err)
		}
	}
	set := func(source string, tells bool) {
		t.Helper()
		if err := r.SetMark(t.Context(), chat, source); err != nil {
			t.Fatal(err)
		}
		e, told := r.events.Try()
		if told != tells {
			t.Errorf("told %v", told)
		}
		if told {
			if u, ok := event.Is(session.TopicUpdated, e); !ok || u.SessionID != chat {
				t.Errorf("%+v", e)
			}
		}
	}
	mark("", false)
	set("", false)
	mark("", true)
	set("Web", true)
	set("Gmail", false) // the first one stays
	set("", false)      // nothing but the person clears it
	mark("Web", true)
	for _, hosts := range [][]string{{"a.example"}, {"b.example", "a.example"}, nil} {
		if err := r.Visit(t.Context(), chat, hosts); err != nil {
			t.Fatal(err)
		}
	}
	mark("Web", true, "a.example", "b.example")
	_, _, _, err := r.Mark(t.Context(), "none")
	wantError(t, err, 404, "chat_unknown")
	if err := r.Visit(t.Context(), "none", []string{"a"}); err != nil {
		t.Error(err)
	}
}

func TestWhereFilesCameFrom(t *testing.T) {
	r := newRig(t)
	source := func(name, want string) {
		t.Helper()
		if got, err := r.FileSource(t.Context(), name); got != want || err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	source("outputs/a.md", "")
	for _, from := range []string{"Web", "Gmail"} {
		if err := r.WroteFile(t.Context(), "outputs/a.md", from); err != nil {
			t.Fatal(err)
		}
	}
	source("outputs/a.md", "Gmail")
	source("outputs/./A.md", "Gmail")
	source("outputs/b.md", "")
}
