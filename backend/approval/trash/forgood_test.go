package trash_test

import (
	"strings"
	"testing"

	"sentient/backend/approval/trash"
)

func TestAskedForGood(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  bool
	}{
		{[]string{"Permanently delete the note"}, true},
		{[]string{"delete it for good"}, true},
		{[]string{"I want it gone forever"}, true},
		{[]string{"hard delete the file"}, true},
		{[]string{"Delete it without the trash"}, true},
		{[]string{"yes, permanently"}, true},
		{[]string{"Delete the note", "permanently please"}, true},
		{[]string{"Don't keep it. Delete it for good"}, true},
		{[]string{"DELETE it PERMANENTLY"}, true},
		{[]string{"Delete the note"}, false},
		{nil, false},
		{[]string{"don't delete it permanently"}, false},
		{[]string{"don’t delete it permanently"}, false},
		{[]string{"delete it, but not for good"}, false},
		{[]string{"never hard delete anything, delete the note"}, false},
		{[]string{"I have waited forever for this, delete the note"}, false},
		{[]string{"delete it instead of removing it forever, I may need it"}, false},
		{[]string{"delete it permanently", "actually, just move it to the trash"}, false},
		{[]string{"delete it permanently", "no, not permanently"}, false},
		{[]string{strings.Repeat("not ", 20000) + "permanently delete"}, false},
	} {
		if got := trash.AskedForGood(c.words); got != c.want {
			t.Errorf("%.80q: %v", c.words, got)
		}
	}
}

func FuzzAskedForGood(f *testing.F) {
	f.Add("Delete it for good")
	f.Add("don't\u200b delete permanently")
	f.Fuzz(func(t *testing.T, words string) {
		if trash.AskedForGood([]string{words}) && trash.AskedForGood([]string{words, "no, not permanently"}) {
			t.Errorf("%q cannot be taken back", words)
		}
	})
}
