// Package bound is the window's door to the operation table: Go structs whose methods the page calls. One struct a noun
// is generated from the table; Streams carries what is not one call and one answer. A method never panics and never
// gives a value that does not encode, because the window's library would end the program for it.
//
// It needs no display and no window library: tests call it as the page does.
package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/google/uuid"

	"sentient/backend/api"
	"sentient/backend/errs"
	"sentient/backend/obs"
)

// Door is what stands behind the structs: the table of an engine in this process, or a client of another's.
type Door interface {
	// Context lives as long as the window; calls of the page carry it.
	Context() context.Context
	// Call gives the row's own type, or json.RawMessage of it.
	Call(ctx context.Context, id string, input json.RawMessage) (any, error)
	Stream(ctx context.Context, id string, input json.RawMessage, each func(any) error) error
	Upload(ctx context.Context, id string, input json.RawMessage, body io.Reader) (any, error)
	Live(ctx context.Context, in api.LiveInput, to api.Transport) error
}

// Failure is an error as the page reads it, the same shape as over HTTP with the status added.
type Failure struct {
	Status    int    `json:"status"`
	Detail    any    `json:"detail"`
	Code      string `json:"code"`
	RequestID string `json:"request_id"`
}

// Error gives the failure as JSON, for libraries that pass on only text.
func (f *Failure) Error() string {
	raw, err := json.Marshal(f)
	if err != nil {
		return `{"status":500,"detail":"Something went wrong inside Sentient.","code":"internal","request_id":""}`
	}
	return string(raw)
}

func failure(err error, id string) *Failure {
	e := errs.From(err)
	f := &Failure{Status: errs.StatusOf(err), Detail: e.Message, Code: e.Code, RequestID: id}
	if len(e.Fields) > 0 && e.Code == "config_invalid" {
		f.Detail = e.Fields
	}
	return f
}

// call is the one line behind every generated method.
func call[O any](door Door, id string, in any) (out O, err error) {
	request := uuid.NewString()
	defer func() {
		if p := recover(); p != nil {
			err = failure(errs.From(fmt.Errorf("panic in %s: %v\n%s", id, p, debug.Stack())), request)
		}
	}()
	raw, err := json.Marshal(in)
	if err != nil {
		return out, failure(err, request)
	}
	answer, err := door.Call(obs.WithRequest(door.Context(), request), id, raw)
	if err != nil {
		return out, failure(err, request)
	}
	switch v := answer.(type) {
	case O:
		return v, nil
	case json.RawMessage:
		if err := json.Unmarshal(v, &out); err != nil {
			return out, failure(err, request)
		}
		return out, nil
	}
	return out, failure(fmt.Errorf("operation %s gave a %T", id, answer), request)
}
