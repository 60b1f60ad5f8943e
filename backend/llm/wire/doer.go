package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"sentient/backend/llm"
)

// maxRefusal is how much of a refusal's body is read, in bytes.
const maxRefusal = 64 << 10

// StatusError is an answer that is no 2xx.
type StatusError struct {
	Status int
	Header http.Header
	Body   []byte // capped
}

// Error names the status only: the body may hold anything.
func (e *StatusError) Error() string { return fmt.Sprintf("status %d", e.Status) }

// Doer sends requests for an adapter. It follows no redirect (a key must not go to another address), adds the adapter's
// headers, says who we are, and leaves out what the SDKs tell about this computer. A response that is no 2xx becomes a
// *StatusError with its capped body.
type Doer struct {
	client  http.Client
	headers map[string]string
}

// NewDoer makes a Doer over a client of the caller's, whose own Timeout does not count: an Exchange watches silence. nil is a
// plain client.
func NewDoer(client *http.Client, headers map[string]string) *Doer {
	d := &Doer{headers: headers}
	if client != nil {
		d.client = *client
	}
	d.client.Timeout = 0
	d.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return d
}

// Do sends a request.
func (d *Doer) Do(req *http.Request) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	req.Header.Set("User-Agent", "Sentient")
	for name, value := range d.headers {
		req.Header.Set(name, value)
	}
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		return res, nil
	}
	refused := &StatusError{Status: res.StatusCode, Header: res.Header}
	refused.Body, _ = io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	_ = res.Body.Close()
	return nil, refused
}

// BaseURL cleans an address that a person may have typed: without a scheme it is http on this computer or network. It has
// no slash at its end.
func BaseURL(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), "/")
	if s != "" && !strings.Contains(s, "://") {
		s = "http://" + s
	}
	return s
}

// Fault says what a failed exchange means to its caller. What the caller's own each gave, and its context's end, come back
// as they are, and so does a *StatusError, which the adapter puts into words; the rest becomes a sentence.
func Fault(ctx context.Context, s llm.Service, d *llm.Draft, err error) error {
	if err == nil {
		return nil
	}
	if d != nil && d.Stopped() != nil {
		return d.Stopped()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*StatusError](err); ok {
		return err
	}
	switch {
	case errors.Is(err, ErrSilent):
		return s.Slow(err)
	case errors.Is(err, ErrTooBig), errors.Is(err, ErrLineTooLong):
		return s.Broken(err)
	}
	return s.Transport(err, errors.Is(err, ErrCut))
}
