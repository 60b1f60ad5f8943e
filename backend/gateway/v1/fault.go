package v1

import (
	"encoding/json"
	"net/http"

	"sentient/backend/errs"
)

// Fault is an error in OpenAI's shape; it is the member "error" of a body or of a line of a stream.
type Fault struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

type faultBody struct {
	Error Fault `json:"error"`
}

// failure is a fault with its status.
type failure struct {
	status int
	Fault
}

// FaultOf gives an error in OpenAI's shape, for what is refused before this package is asked.
func FaultOf(err error) Fault { return faultOf(err).Fault }

// NoRetry tells OpenAI's clients that an error is final: they would send the request again, and a turn would run its
// tools twice.
func NoRetry(h http.Header) { h.Set("X-Should-Retry", "false") }

func faultOf(err error) failure {
	e := errs.From(err)
	f := failure{errs.StatusOf(e), Fault{Message: e.Message, Code: e.Code}}
	if len(e.Fields) > 0 && len(e.Fields[0].Loc) > 0 {
		f.Param = &e.Fields[0].Loc[0]
	}
	switch {
	case f.status == http.StatusUnauthorized:
		f.Type = "authentication_error"
	case f.status == http.StatusForbidden:
		f.Type = "permission_error"
	case f.status < http.StatusInternalServerError:
		f.Type = "invalid_request_error"
	default:
		f.Type = "server_error"
	}
	return f
}

// turnFailed gives what a request gets when its turn could not be run, or not to its end: what the request itself can
// mend, and the two refusals of the contract, stay what they are.
func turnFailed(err error) error {
	e := errs.From(err)
	switch {
	case e.Code == "chat_busy":
		return errs.New(errs.Conflict, e.Code, "This chat is still answering. Wait until it is done, or name another chat in “user”.").Because(err)
	case e.Code == codeStopped:
		return errStopped().Because(err)
	case e.Kind == errs.Invalid, e.Kind == errs.Malformed, e.Kind == errs.TooLarge:
		return errs.New(errs.Malformed, "invalid_request", e.Message).Because(err)
	}
	return errs.New(errs.Internal, "turn_failed", e.Message).Because(err)
}

func errStopped() *errs.Error { return errs.New(errs.Conflict, codeStopped, "Stopped.") }

// refuse logs an error and answers with it.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	h.note(r, err)
	f := faultOf(err)
	NoRetry(w.Header())
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	h.write(w, r, f.status, faultBody{f.Fault})
}

// note logs a refusal, once. What was asked and the key that was shown are not in it. An app that left, or an engine
// that closes, is no failure.
func (h *handler) note(r *http.Request, err error) {
	level := h.Log.InfoContext
	if r.Context().Err() != nil {
		level = h.Log.DebugContext
	} else if errs.StatusOf(err) >= http.StatusInternalServerError {
		level = h.Log.ErrorContext
	}
	level(r.Context(), "request of another app failed", "code", errs.From(err).Code, "error", err)
}

func (h *handler) write(w http.ResponseWriter, r *http.Request, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // shapes of ours always encode
		h.Log.ErrorContext(r.Context(), "encode answer to another app", "error", err)
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the app may have left
}
