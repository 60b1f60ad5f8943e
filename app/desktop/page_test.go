package desktop

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sentient/app/bound"
	"sentient/backend/errs"
	"sentient/backend/obs"
)

func newDesktop(open func(string) error) *Desktop {
	return &Desktop{log: obs.Discard(), open: open, title: func(string) {}, engine: &runner{}, tray: func() bool { return false }}
}

func TestOnlyWebAndMailLinksOpen(t *testing.T) {
	for _, refused := range []string{
		"", "x", "/etc/passwd", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "smb://host/share", "ftp://host/",
		"vnc://host", "ms-msdt:/id", "steam://run/1", "wails://wails/", "http:", "http://", "https:///path", "HTTP:relative",
		"https://bank.example@evil.example/", "https://user:word@host/", "--new-window https://host/", " https://host/", "https://host/ --x",
		"https://host/\nsecond", "https://host/\x00", "https://ho\u202est/", "https://host/\u200b", "mailto:", "//host/path",
		"https://host/" + strings.Repeat("a", longestLink),
	} {
		d := newDesktop(func(a string) error { t.Errorf("%q was opened", a); return nil })
		err := d.OpenExternal(refused)
		if f, ok := errors.AsType[*bound.Failure](err); !ok || f.Code != "link_refused" || f.Status != 422 || f.RequestID == "" {
			t.Errorf("%q: %v", refused, err)
		}
	}
	for _, allowed := range []string{
		"https://host.example/a?b=c&d=%20#e", "http://127.0.0.1:8080/x", "HTTPS://HOST/", "mailto:someone@host.example?subject=a%20b", "https://münchen.example/ü",
	} {
		var got string
		d := newDesktop(func(a string) error { got = a; return nil })
		if err := d.OpenExternal(allowed); err != nil || got != allowed {
			t.Errorf("%q: %v, opened %q", allowed, err, got)
		}
	}
}

func TestAFailingBrowserAndAPanicAreSentences(t *testing.T) {
	for _, open := range []func(string) error{
		func(string) error { return errors.New("exit status 3") },
		func(string) error { panic("boom") },
	} {
		err := newDesktop(open).OpenExternal("https://host/")
		raw, e := json.Marshal(formatAny(err))
		if e != nil {
			t.Fatal(e)
		}
		var f bound.Failure
		if err := json.Unmarshal(raw, &f); err != nil || f.Status < 500 || f.Code == "" || !strings.HasSuffix(f.Detail.(string), ".") || strings.Contains(string(raw), "boom") {
			t.Errorf("%s %v", raw, err)
		}
	}
}

func TestEveryErrorReachesThePageInOneShape(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{errors.New("secret cause"), 500, "internal"},
		{errs.New(errs.NotFound, "chat_unknown", "This chat is gone."), 404, "chat_unknown"},
		{restarting.Because(errors.New("cause")), 503, "engine_restarting"},
		{&bound.Failure{Status: 418, Code: "tea", Detail: "Tea.", RequestID: "r"}, 418, "tea"},
	} {
		f, ok := formatAny(c.err).(*bound.Failure)
		if !ok || f.Status != c.status || f.Code != c.code || f.RequestID == "" || strings.Contains(f.Error(), "cause") {
			t.Errorf("%v became %v", c.err, f)
		}
	}
	if format(nil) != nil {
		t.Error("no error became one")
	}
}

func TestWindowTitles(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "Sentient",
		"  \n ":                  "Sentient",
		"A chat":                 "A chat – Sentient",
		"two\nlines\x00":         "two lines – Sentient",
		strings.Repeat("ü", 300): strings.Repeat("ü", longestTitle) + "… – Sentient",
	} {
		if got := windowTitle(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}
