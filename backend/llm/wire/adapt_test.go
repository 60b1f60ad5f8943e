package wire

import (
	"regexp"
	"testing"

	"sentient/backend/errs"
)

func codeOf(err error) string { return errs.Code(err) }

func TestCallID(t *testing.T) {
	shape := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	if CallID("abcdefghi", shape, 9) != "abcdefghi" {
		t.Error("a good id changed")
	}
	a, b := CallID("toolu_01", shape, 9), CallID("toolu_02", shape, 9)
	if !shape.MatchString(a) || a == b || a != CallID("toolu_01", shape, 9) {
		t.Error(a, b)
	}
}

func TestRefusedLearnsOnce(t *testing.T) {
	all := []Parameter{{"temperature", regexp.MustCompile(`temperature`)}, {"effort", regexp.MustCompile(`reasoning_effort`)}}
	sent := map[string]bool{"temperature": true}
	var r Refused
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{500, `unsupported parameter temperature`, ""},
		{400, `temperature is lovely today`, ""},
		{400, `Unsupported parameter: reasoning_effort`, ""}, // was not sent
		{400, `Unsupported value: 'temperature' does not support 0.2`, "temperature"},
		{400, `Unsupported value: 'temperature' does not support 0.2`, ""}, // known already
	} {
		if got := r.Learn("m", &StatusError{Status: c.status, Body: []byte(c.body)}, all, sent); got != c.want {
			t.Errorf("%s: %q", c.body, got)
		}
	}
	if !r.Has("m", "temperature") || r.Has("other", "temperature") {
		t.Error("remembered for the wrong model")
	}
}

func TestBaseURL(t *testing.T) {
	for in, want := range map[string]string{"": "", " localhost:1234/v1/ ": "http://localhost:1234/v1", "https://x/v1//": "https://x/v1"} {
		if got := BaseURL(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
