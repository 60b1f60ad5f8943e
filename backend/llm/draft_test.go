package llm

import (
	"errors"
	"testing"
	"unicode/utf8"
)

func TestDraftNeverCutsALetter(t *testing.T) {
	var heard string
	d := NewDraft(func(x Delta) error {
		if !utf8.ValidString(x.Text) {
			t.Errorf("half a letter: %q", x.Text)
		}
		heard += x.Text
		return nil
	})
	for _, b := range []byte("ü🙂 日本") {
		if err := d.Say(string([]byte{b})); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil || heard != "ü🙂 日本" || d.Reply().Text != heard {
		t.Fatalf("%v %q", err, heard)
	}
}

func TestDraftStopsTellingAndKeeps(t *testing.T) {
	enough := errors.New("enough")
	told := 0
	d := NewDraft(func(Delta) error { told++; return enough })
	if err := d.Say("one"); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if err := d.Say("two"); !errors.Is(err, enough) || told != 1 {
		t.Fatalf("%v, told %d times", err, told)
	}
	d.Abandon()
	if d.Reply().Text != "onetwo" || !errors.Is(d.Stopped(), enough) {
		t.Fatalf("%+v", d.Reply())
	}
}

func TestDraftAbandonKeepsWhatWasHeld(t *testing.T) {
	d := NewDraft(func(Delta) error { return nil })
	_ = d.Say("see <think>this")
	d.Abandon()
	d.Abandon()
	if got := d.Reply().Text; got != "see <think>this" {
		t.Fatalf("%q", got)
	}
}

func TestDraftFinish(t *testing.T) {
	d := NewDraft(func(Delta) error { return nil })
	if !d.Empty() {
		t.Fatal("not empty")
	}
	d.Calls.Add(CallPiece{Name: "x"})
	d.Finish = FinishStop
	if d.Empty() || d.Reply().Finish != FinishTools {
		t.Fatalf("%+v", d.Reply())
	}
	d.Finish = FinishLength
	if d.Reply().Finish != FinishLength {
		t.Fatal("a cut answer must say so, calls or not")
	}
}
