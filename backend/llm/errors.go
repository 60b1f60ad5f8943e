package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sentient/backend/errs"
	"sentient/backend/obs"
)

// Service is who answers, as sentences for people name it. All errors that it makes carry status 503 at our own doors
// (a service's 401 must not look like ours) and one of the Code constants.
type Service struct {
	ID    string // our provider id: "openrouter", "ollama", …
	Label string // "OpenRouter"
	Site  string // where keys and credits are had, e.g. "openrouter.ai"; may be empty
	Local bool   // runs on this computer or in the house: no key, no credits
}

// Refusal is the cause of an error that a service gave: its raw words, redacted and cut, for the log, and when it may be
// asked again.
type Refusal struct {
	Service string
	Status  int // 0 for an error inside a stream
	Raw     string
	After   time.Duration // Retry-After; 0 when it did not say
}

// maxRaw is how much of a service's raw words goes to the log, in bytes.
const maxRaw = 2 << 10

// Error is the raw reply, for the log.
func (r *Refusal) Error() string {
	return fmt.Sprintf("ask %s: status %d: %s", r.Service, r.Status, r.Raw)
}

// RetryAfter gives how long the service asked to wait, 0 when it did not say.
func RetryAfter(err error) time.Duration {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.After
	}
	return 0
}

func (s Service) fail(kind errs.Kind, code, message string, cause error) *errs.Error {
	return &errs.Error{Kind: kind, Code: code, Message: message, Status: http.StatusServiceUnavailable, Cause: cause}
}

// label stands in for a service without a name.
func (s Service) label() string {
	if s.Label == "" {
		return "The model service"
	}
	return s.Label
}

// KeyMissing is the error of a call without the key that the service needs.
func (s Service) KeyMissing() *errs.Error {
	return s.fail(errs.Unavailable, CodeKeyMissing,
		fmt.Sprintf("No key for %s is set. Add one in Settings > Models, or pick another model there.", s.label()), nil)
}

// Broken is the error of an answer that cannot be read or that stopped in the middle.
func (s Service) Broken(cause error) *errs.Error {
	return s.fail(errs.Unavailable, CodeBroken,
		fmt.Sprintf("The answer from %s broke off or could not be read. Try again, or pick another model in Settings > Models.", s.label()), redacted(cause))
}

// NotAModel is the error of an address where something else than a model service answers.
func (s Service) NotAModel(cause error) *errs.Error {
	return s.fail(errs.Unavailable, CodeBroken,
		fmt.Sprintf("What answers at the address of %s is not a model service. Check the address in Settings > Models.", s.label()), redacted(cause))
}

// Empty is the error of an answer with nothing in it.
func (s Service) Empty(model string) *errs.Error {
	return s.fail(errs.Unavailable, CodeBroken,
		fmt.Sprintf("%s gave an empty answer with %s. Try again, or pick another model in Settings > Models.", s.label(), model),
		errors.New("read answer: nothing in it"))
}

// Slow is the error of a service that did not answer in time.
func (s Service) Slow(cause error) *errs.Error {
	m := fmt.Sprintf("%s took too long to answer. Try again, or pick another model in Settings > Models.", s.label())
	if s.Local {
		m = fmt.Sprintf("%s took too long to answer. Try again, pick a smaller model, or set a longer waiting time in Settings > Models.", s.label())
	}
	return s.fail(errs.Timeout, CodeSlow, m, redacted(cause))
}

// Unreachable is the error of a service that nothing answers for.
func (s Service) Unreachable(cause error) *errs.Error {
	m := fmt.Sprintf("%s can't be reached. Check the internet connection, or pick a model on this computer in Settings > Models.", s.label())
	if s.Local {
		m = fmt.Sprintf("%s is not running. Start it and try again, or pick another model in Settings > Models.", s.label())
	}
	return s.fail(errs.Unavailable, CodeUnreachable, m, redacted(cause))
}

// Transport turns an error of sending or reading into one of ours. started says that some of the answer had arrived. An
// error of ours and cancelling pass as they are.
func (s Service) Transport(err error, started bool) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	var ne net.Error
	switch {
	case errors.As(err, &ne) && ne.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return s.Slow(err)
	case started:
		return s.Broken(err)
	}
	return s.Unreachable(err)
}

// Refused turns a refusal (a status that is no 2xx with its body, or an error inside a stream with status 0) into one
// plain sentence (§1 "Model errors"). Reasons that it does not know keep the service's own words, when they are a short
// plain text.
func (s Service) Refused(model string, status int, header http.Header, body []byte) *errs.Error {
	p := readProblem(body)
	if status == 0 {
		status = p.status
	}
	cause := &Refusal{Service: s.ID, Status: status, Raw: cut(obs.Redact(string(body)), maxRaw), After: retryAfter(header, body)}
	a := asked{Service: s, model: model, status: status, after: cause.After, words: strings.ToLower(p.all), message: p.message}
	if a.model == "" {
		a.model = "this model"
	}
	for _, r := range reasons {
		if !r.applies(a) {
			continue
		}
		return s.fail(r.kind, r.code, r.say(a), cause)
	}
	return s.fail(errs.Unavailable, CodeModelRefused, a.ownWords(), cause)
}

// problem is what an error body says, in any of the shapes that services use.
type problem struct {
	message string // for people, as the service wrote it
	all     string // message, type, code and nested raw words, to be searched
	status  int    // an HTTP status inside the body
}

func readProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 { // Gemini
		body = list[0]
	}
	p := problem{all: string(body)}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return p
	}
	inner := outer
	for _, name := range []string{"error", "detail", "message"} {
		raw, ok := outer[name]
		if !ok {
			continue
		}
		if json.Unmarshal(raw, &p.message) == nil && p.message != "" {
			break
		}
		var obj map[string]json.RawMessage
		if json.Unmarshal(raw, &obj) == nil && obj != nil {
			inner = obj
			_ = json.Unmarshal(obj["message"], &p.message)
			break
		}
	}
	for _, name := range []string{"code", "status", "status_code"} {
		var n int
		if json.Unmarshal(inner[name], &n) == nil && n >= 400 && n <= 599 {
			p.status = n
			break
		}
	}
	return p
}

// saysAfter is how services say it in their words: "Please try again in 1.2s", "retryDelay": "34s".
var saysAfter = regexp.MustCompile(`(?i)(?:(?:try again|retry) in |retryDelay":\s*")([0-9.]+)\s?s`)

func retryAfter(h http.Header, body []byte) time.Duration {
	said := []string{h.Get("Retry-After")}
	if m := saysAfter.FindSubmatch(body); m != nil {
		said = append(said, string(m[1]))
	}
	for _, s := range said {
		if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 && n < 1e6 {
			return time.Duration(n * float64(time.Second))
		}
	}
	return 0
}

func redacted(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); obs.Redact(text) != text || len(text) > maxRaw {
		return errors.New(cut(obs.Redact(text), maxRaw))
	}
	return err
}

// cut shortens text to at most n bytes, at a letter.
func cut(text string, n int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// QuietNote is the calm line while a service is silent; begun says that some of the answer had arrived.
func QuietNote(begun bool) string {
	if begun {
		return "The model is still working on its answer."
	}
	return "The model is still reading."
}
