// Package obs is how the engine is watched: structured logs that hold no secret, request ids, counters.
package obs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// NewLogger writes text lines to w, each attribute and message passed through Redact. level is the lowest that is written.
func NewLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(withRequest{slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if secretName.MatchString(a.Key) {
				return slog.String(a.Key, "[hidden]")
			}
			switch a.Value.Kind() {
			case slog.KindString:
				a.Value = slog.StringValue(Redact(a.Value.String()))
			case slog.KindAny:
				a.Value = slog.StringValue(Redact(textOf(a.Value.Any())))
			}
			return a
		},
	})})
}

// textOf writes a value out, so that what looks like a secret in it is seen.
func textOf(v any) string {
	switch v := v.(type) {
	case error:
		return fmt.Sprintf("%v", v)
	case []byte:
		return string(v)
	}
	return fmt.Sprintf("%+v", v)
}

// Discard is a logger for tests that do not read the log.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

var (
	secretName = regexp.MustCompile(`(?i)^(.*[-_])?(token|secret|password|passphrase|authorization|api[-_]?key|cookie)$|(?-i:[a-z0-9](Token|Secret|Password|Passphrase|Authorization|ApiKey|APIKey|Cookie)$)`)
	// What secrets look like in running text, what stands before one kept in a group.
	secretText = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`(bearer\s+)[a-z0-9._~+/=-]{8,}`,
		`(authorization:\s*\w+\s+)[^\s,;"']{6,}`,
		`([?&](?:token|key|api_key|code|access_token|refresh_token|client_secret|signature|sig)=)[^&\s"']+`,
		`("(?:[a-z_-]*(?:token|secret|password|api_?key))"\s*:\s*")[^"]+`,
		`(/bot)\d{6,}:[a-z0-9_-]{20,}`, // a bot's token in its address
		`\b(?:sk|pk|gsk|xai|ghp|gho|ghs|github_pat|glpat|xox[abeps])[-_][a-z0-9_-]{8,}`,
		`\b\d{8,10}:[a-z0-9_-]{35}\b`,                        // a Telegram bot's token
		`\beyJ[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}\.[a-z0-9_-]*`, // a JSON web token
		`\bAIza[a-z0-9_-]{20,}`,
		`\bya29\.[a-z0-9_-]{10,}`,
		`\bAKIA[a-z0-9]{16}\b`,
	}, "|"))
	addressPassword = regexp.MustCompile(`(://[^\s/:@?#]*:)[^\s/@?#]+@`)
)

// secrets are values that Redact hides wherever they stand, whatever they look like.
type secrets struct {
	mu     sync.RWMutex
	values []string // the longest first: one may be the beginning of another
}

var known = &secrets{}

// Hide makes Redact hide this exact value from now on. Values under 6 characters are left alone: they would hide words.
func Hide(value string) {
	if len(value) < 6 {
		return
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if slices.Contains(known.values, value) {
		return
	}
	known.values = append(known.values, value)
	slices.SortStableFunc(known.values, func(a, b string) int { return len(b) - len(a) })
}

// Redact gives text without anything that is or looks like a secret.
func Redact(text string) string {
	known.mu.RLock()
	for _, v := range known.values {
		text = strings.ReplaceAll(text, v, "[hidden]")
	}
	known.mu.RUnlock()
	text = addressPassword.ReplaceAllString(text, "${1}[hidden]@")
	return secretText.ReplaceAllString(text, "${1}${2}${3}${4}${5}[hidden]")
}

type requestKey struct{}

// WithRequest puts a request id into the context; log lines written with it carry it.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestID gives the request id of a context, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

type withRequest struct{ slog.Handler }

func (h withRequest) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	r.Message = Redact(r.Message)
	return h.Handler.Handle(ctx, r)
}

func (h withRequest) WithAttrs(a []slog.Attr) slog.Handler {
	return withRequest{h.Handler.WithAttrs(a)}
}
func (h withRequest) WithGroup(n string) slog.Handler { return withRequest{h.Handler.WithGroup(n)} }
