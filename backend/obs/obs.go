// Package obs is how the engine is watched: structured logs that hold no secret, request ids, counters.
package obs

import (
	"context"
	"io"
	"log/slog"
	"regexp"
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
			switch v := a.Value.Any().(type) {
			case string:
				a.Value = slog.StringValue(Redact(v))
			case error:
				a.Value = slog.StringValue(Redact(v.Error()))
			}
			return a
		},
	})})
}

// Discard is a logger for tests that do not read the log.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

var (
	secretName = regexp.MustCompile(`(?i)^(.*_)?(token|secret|password|authorization|api_?key|cookie)$`)
	// What secrets look like in running text: bearer tokens, keys of the known providers, token parameters of addresses.
	secretText = regexp.MustCompile(`(?i)(bearer\s+)[a-z0-9._~+/=-]{8,}|\b(sk|pk|gsk|xai|ghp|gho|xox[abp])[-_][a-z0-9_-]{8,}|([?&](?:token|key|api_key|code|access_token)=)[^&\s"']+|\bAIza[a-z0-9_-]{20,}`)
)

// secrets are values that Redact hides wherever they stand, whatever they look like.
type secrets struct {
	mu     sync.RWMutex
	values map[string]struct{}
}

var known = &secrets{values: map[string]struct{}{}}

// Hide makes Redact hide this exact value from now on. Values under 6 characters are left alone: they would hide words.
func Hide(value string) {
	if len(value) < 6 {
		return
	}
	known.mu.Lock()
	known.values[value] = struct{}{}
	known.mu.Unlock()
}

// Redact gives text without anything that is or looks like a secret.
func Redact(text string) string {
	known.mu.RLock()
	for v := range known.values {
		text = strings.ReplaceAll(text, v, "[hidden]")
	}
	known.mu.RUnlock()
	return secretText.ReplaceAllString(text, "${1}${3}[hidden]")
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
