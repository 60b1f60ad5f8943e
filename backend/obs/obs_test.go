package obs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	Hide("hunter2-hunter2")
	Hide("hunter2-hunter2-and-the-rest") // the other is its beginning
	Hide("abc")                          // too short to hide
	for _, c := range []struct{ in, want string }{
		{"Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [hidden]"},
		{"bearer  eyJhbGciOi.J9.x_y-z==", "bearer  [hidden]"},
		{"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [hidden]"},
		{"key sk-abcdefgh1234 and sk-proj-ABC_def-123", "key [hidden] and [hidden]"},
		{"sk-ant-api03-abcdefgh", "[hidden]"},
		{"gsk_abcdefgh12, xai-abcdefgh12, ghp_abcdefgh12, github_pat_11ABCDEFG, xoxb-1234-abcd", "[hidden], [hidden], [hidden], [hidden], [hidden]"},
		{"http://127.0.0.1:8/?token=abc", "http://127.0.0.1:8/?token=[hidden]"},
		{"GET /x?a=1&access_token=abc&b=2", "GET /x?a=1&access_token=[hidden]&b=2"},
		{`"https://h/?code=4/0Ab&scope=x"`, `"https://h/?code=[hidden]&scope=x"`},
		{"https://user:pa55@host/x", "https://user:[hidden]@host/x"},
		{"postgres://:pa55@host/x", "postgres://:[hidden]@host/x"},
		{`{"access_token": "abc", "name": "b"}`, `{"access_token": "[hidden]", "name": "b"}`},
		{"https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz/getMe", "https://api.telegram.org/bot[hidden]/getMe"},
		{"AIzaSyA1234567890abcdefghijk", "[hidden]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "[hidden]"},
		{"it is hunter2-hunter2!", "it is [hidden]!"},
		{"it is hunter2-hunter2-and-the-rest!", "it is [hidden]!"},
		// What is no secret stays.
		{"", ""},
		{"abc", "abc"},
		{"the bearer of news", "the bearer of news"},
		{"http://localhost:8080/a@b and http://h:80/?q=token", "http://localhost:8080/a@b and http://h:80/?q=token"},
		{"a basic understanding, 12 tokens, sk-8, task-force-of-twelve", "a basic understanding, 12 tokens, sk-8, task-force-of-twelve"},
		{"2027-01-02T03:04:05.000000Z seq=12345678", "2027-01-02T03:04:05.000000Z seq=12345678"},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

type config struct{ Name, Key string }

type lazy struct{ v string }

func (l lazy) LogValue() slog.Value { return slog.StringValue(l.v) }

// Whatever way a secret comes into a line, it is not written.
func TestLoggerHoldsNoSecret(t *testing.T) {
	const secret = "sk-abcdefgh12345678"
	u, err := url.Parse("https://user:pa55word@host/?token=" + secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]func(l *slog.Logger){
		"message":            func(l *slog.Logger) { l.Info("the key is " + secret) },
		"string":             func(l *slog.Logger) { l.Info("x", "a", "is "+secret) },
		"error":              func(l *slog.Logger) { l.Info("x", "error", fmt.Errorf("wrap: %w", errors.New(secret))) },
		"struct":             func(l *slog.Logger) { l.Info("x", "a", config{"n", secret}) },
		"pointer":            func(l *slog.Logger) { l.Info("x", "a", &config{"n", secret}) },
		"strings":            func(l *slog.Logger) { l.Info("x", "a", []string{"b", secret}) },
		"bytes":              func(l *slog.Logger) { l.Info("x", "a", []byte(secret)) },
		"map":                func(l *slog.Logger) { l.Info("x", "a", map[string]string{"b": secret}) },
		"address":            func(l *slog.Logger) { l.Info("x", "a", u) },
		"group":              func(l *slog.Logger) { l.Info("x", slog.Group("g", "a", secret)) },
		"with":               func(l *slog.Logger) { l.With("a", secret).Info("x") },
		"with group":         func(l *slog.Logger) { l.WithGroup("g").With("a", secret).Info("x", "b", secret) },
		"log valuer":         func(l *slog.Logger) { l.Info("x", "a", lazy{secret}) },
		"by name":            func(l *slog.Logger) { l.Info("x", "token", "sk-plain") },
		"by name, with more": func(l *slog.Logger) { l.Info("x", "gateway_token", "sk-plain", "x-api-key", "sk-plain") },
		"by name, in camels": func(l *slog.Logger) { l.Info("x", "accessToken", "sk-plain", "clientSecret", "sk-plain") },
		"by name, no string": func(l *slog.Logger) { l.Info("x", "password", []byte("sk-plain")) },
	} {
		var b bytes.Buffer
		log(NewLogger(&b, slog.LevelInfo))
		if got := b.String(); strings.Contains(got, "sk-") || strings.Contains(got, "pa55") || !strings.Contains(got, "[hidden]") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestLoggerWritesTheRest(t *testing.T) {
	var b bytes.Buffer
	l := NewLogger(&b, slog.LevelInfo)
	var none *config
	ctx := WithRequest(context.Background(), "r-1")
	l.DebugContext(ctx, "too low")
	l.InfoContext(ctx, "hello", "n", 5, "ok", true, "tokens", 12, "c", config{"a", "b"}, "nil", nil, "none", none, "err", error(nil))
	l.With("a", 1).WarnContext(ctx, "with")
	l.Info("without")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 {
		t.Fatal(b.String())
	}
	for _, want := range []string{"level=INFO", "msg=hello", "n=5", "ok=true", "tokens=12", `c="{Name:a Key:b}"`, "request_id=r-1"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("no %s in %s", want, lines[0])
		}
	}
	if !strings.Contains(lines[1], "request_id=r-1") || strings.Contains(lines[2], "request_id") {
		t.Error(lines[1:])
	}
	if RequestID(ctx) != "r-1" || RequestID(context.Background()) != "" {
		t.Error("request id")
	}
	Discard().Error("nowhere")
}
