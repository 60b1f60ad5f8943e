// Package errs holds the one error that people and programs see.
//
// Every refusal that leaves the engine is an *Error: a kind, a stable code, a sentence for people, and the HTTP status
// that goes with it. Causes are wrapped for the log and never shown. Packages return an *Error where they know what a
// person should read; anything else is turned into one at the door by From, with a sentence that gives nothing away.
//
// errs imports nothing of ours.
package errs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Kind groups errors by what a caller can do about them. It decides the HTTP status unless Status says otherwise.
type Kind string

// The kinds, each with the status that StatusOf gives it.
const (
	Invalid      Kind = "invalid"      // 422: the request was understood and is wrong
	Malformed    Kind = "malformed"    // 400: the request could not be read
	Unauthorized Kind = "unauthorized" // 401: no token, or a wrong one
	Forbidden    Kind = "forbidden"    // 403: known, and not allowed
	NotFound     Kind = "not_found"    // 404
	Conflict     Kind = "conflict"     // 409: the state of things does not allow it now
	TooLarge     Kind = "too_large"    // 413
	Limited      Kind = "limited"      // 429
	Unavailable  Kind = "unavailable"  // 503: something it needs is not there right now
	Timeout      Kind = "timeout"      // 504: something it needs did not answer in time
	Cancelled    Kind = "cancelled"    // 499: whoever asked went away or pressed Stop
	Internal     Kind = "internal"     // 500: our fault
)

var statuses = map[Kind]int{
	Invalid: http.StatusUnprocessableEntity, Malformed: http.StatusBadRequest, Unauthorized: http.StatusUnauthorized,
	Forbidden: http.StatusForbidden, NotFound: http.StatusNotFound, Conflict: http.StatusConflict,
	TooLarge: http.StatusRequestEntityTooLarge, Limited: http.StatusTooManyRequests,
	Unavailable: http.StatusServiceUnavailable, Timeout: http.StatusGatewayTimeout, Cancelled: 499,
	Internal: http.StatusInternalServerError,
}

// Field is one place in a request that is wrong, in the shape the contract gives config errors (§2 Config).
type Field struct {
	Loc  []string `json:"loc"`  // path from the root of the request, e.g. ["ui", "theme"]
	Msg  string   `json:"msg"`  // a sentence for people
	Type string   `json:"type"` // machine-readable, e.g. "extra_forbidden", "greater_than_equal"
}

// Error is the one error. Message is a capitalised sentence with a full stop that says what happened and, where it
// can, what to do; it holds no Go error text, no path and no key.
type Error struct {
	Kind    Kind
	Code    string  // stable and machine-readable, e.g. "chat_unknown"
	Message string  // for people
	Fields  []Field // what exactly is wrong, for Invalid
	Status  int     // overrides the kind's status when not 0
	Cause   error   // for the log only
}

// Error gives the text for logs: the sentence and, wrapped, the cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + " (" + e.Cause.Error() + ")"
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error of a kind. code is stable; message is a sentence for people.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Newf is New with a formatted sentence.
func Newf(kind Kind, code, format string, args ...any) *Error {
	return New(kind, code, fmt.Sprintf(format, args...))
}

// Because returns a copy of e that wraps cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// WithFields returns a copy of e that names what exactly is wrong.
func (e *Error) WithFields(fields ...Field) *Error {
	c := *e
	c.Fields = fields
	return &c
}

// StatusOf gives the HTTP status of an error: its own, else its kind's, else 500. That of nil is 200.
func StatusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	e := From(err)
	if e.Status != 0 {
		return e.Status
	}
	if s, ok := statuses[e.Kind]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// From turns any error into an *Error. One that is not ours becomes Cancelled, Timeout or Internal with a sentence
// that gives nothing away; the original stays as the cause. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return New(Cancelled, "cancelled", "This was stopped before it finished.").Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return New(Timeout, "timeout", "This took too long and was ended.").Because(err)
	}
	return New(Internal, "internal", "Something went wrong inside Sentient. The details are in its log.").Because(err)
}

// Is reports whether err is, or wraps, an *Error of this kind.
func Is(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}

// Code gives the code of an *Error in err's chain, or "".
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
