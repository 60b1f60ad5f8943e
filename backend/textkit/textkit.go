// Package textkit makes readable text of documents: web pages, PDFs, Word documents, plain text of any encoding.
//
// It owns the reading alone: where a document comes from and what is done with its text is the caller's. It promises that
// what it gives is valid UTF-8 without NUL, that it never gives scripts, styles, comments or what a page hides, and that no
// document, however it is made, makes it panic, read without end, or need memory out of proportion: every reader has caps
// and looks at its context. It does not promise layout, and it never follows a link or loads anything.
//
// Layer 1.
package textkit

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"sentient/backend/errs"
)

// Codes of what cannot be read.
const (
	CodeDamaged   = "document_damaged"
	CodeLocked    = "document_locked"
	CodeTooBig    = "document_too_large"
	CodeNotText   = "document_not_text"
	CodeEmptyText = "document_without_text"
)

func damaged(kind string, cause error) error {
	return errs.Newf(errs.Invalid, CodeDamaged, "This %s is damaged or of a kind that Sentient can't read.", kind).Because(cause)
}

func tooBig(kind string) error {
	return errs.Newf(errs.TooLarge, CodeTooBig, "This %s is larger than Sentient reads.", kind)
}

// caught turns a panic of a reader into an error; it is deferred.
func caught(err *error, kind string) {
	p := recover()
	if p == nil {
		return
	}
	cause, ok := p.(error)
	if !ok {
		cause = fmt.Errorf("panic: %v", p)
	}
	if known := endOf(cause); known != nil {
		*err = known
		return
	}
	*err = damaged(kind, cause)
}

// endOf gives what ended a reading on purpose, if that is what an error is.
func endOf(err error) error {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[ended](err); ok {
		return e.cause
	}
	return nil
}

// ended carries the end of a context through readers that know no contexts.
type ended struct{ cause error }

func (e ended) Error() string { return "reading ended: " + e.cause.Error() }

// clean makes text valid and takes out NUL, which stores and prompts cannot hold.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// First gives the first n characters of a text, and whether that is less than all of it.
func First(s string, n int) (part string, cut bool) {
	if len(s) <= n {
		return s, false
	}
	for i := range s {
		if n <= 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}
