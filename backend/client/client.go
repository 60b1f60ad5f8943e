// Package client is the Go client of a running engine: for the command line, the tray, and a window that is attached to
// an engine of another process. Its routes are generated from the operation table; it holds no types of the engine's
// services, so that a small program stays small.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"sentient/backend/errs"
	"sentient/backend/svc"
)

// Route is one operation as HTTP carries it.
type Route struct {
	ID        string
	Kind      string
	Verb      string
	Path      string
	Query     []string
	WholeBody string
}

// Client talks to one engine. Its calls end with their context; connecting is bounded too.
type Client struct {
	base  string
	token string
	http  *http.Client
	byID  map[string]Route
}

const (
	dialTimeout = 3 * time.Second
	maxAnswer   = 64 << 20 // bytes of one answer or one line of a stream
	maxFrame    = 8 << 20
)

// New makes a client of the engine at base ("http://127.0.0.1:7777") with the data folder's token.
func New(base, token string) *Client {
	c := &Client{base: strings.TrimSuffix(base, "/"), token: token, byID: map[string]Route{}}
	// Loopback only, so no proxy of the environment has a part in it.
	c.http = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, MaxIdleConnsPerHost: 4},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, r := range Routes() {
		c.byID[r.ID] = r
	}
	return c
}

// Close gives idle connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do runs a unary operation of the client with any input that encodes to the flat object, and decodes the answer.
func Do[O any](ctx context.Context, c *Client, r Route, in any) (O, error) {
	var out O
	raw, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("encode input of %s: %w", r.ID, err)
	}
	answer, err := c.call(ctx, r, raw)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, unreadable(err)
	}
	return out, nil
}

// Call runs a unary operation by its id. The answer is a json.RawMessage.
func (c *Client) Call(ctx context.Context, id string, in json.RawMessage) (any, error) {
	r, err := c.route(id)
	if err != nil {
		return nil, err
	}
	return c.call(ctx, r, in)
}

func (c *Client) route(id string) (Route, error) {
	r, ok := c.byID[id]
	if !ok {
		return r, errs.New(errs.NotFound, "operation_unknown", "Sentient has no such operation.").Because(fmt.Errorf("find operation %s", id))
	}
	return r, nil
}

func (c *Client) call(ctx context.Context, r Route, in json.RawMessage) (json.RawMessage, error) {
	res, err := c.send(ctx, r, in)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return body, nil
}

// Stream runs a stream operation: each gets every line.
func (c *Client) Stream(ctx context.Context, id string, in json.RawMessage, each func(any) error) error {
	r, err := c.route(id)
	if err != nil {
		return err
	}
	res, err := c.send(ctx, r, in)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := json.NewDecoder(res.Body)
	for {
		var line json.RawMessage
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return unreachable(ctx, err)
		}
		if refused := problemIn(line); refused != nil {
			return refused
		}
		if err := each(line); err != nil {
			return err
		}
	}
}

// problemIn finds the error that ends a stream which had begun.
func problemIn(line json.RawMessage) error {
	var p struct {
		Detail *string `json:"detail"`
		Code   *string `json:"code"`
		Type   *string `json:"type"`
	}
	if json.Unmarshal(line, &p) != nil || p.Type != nil || p.Detail == nil || p.Code == nil {
		return nil
	}
	return &errs.Error{Kind: errs.Internal, Code: *p.Code, Message: *p.Detail}
}

// Upload sends a file.
func (c *Client) Upload(ctx context.Context, id string, in json.RawMessage, body io.Reader) (any, error) {
	r, err := c.route(id)
	if err != nil {
		return nil, err
	}
	var members struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	}
	if err := json.Unmarshal(in, &members); err != nil {
		return nil, fmt.Errorf("decode upload input: %w", err)
	}
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	var out json.RawMessage
	err = svc.Run(ctx,
		func(context.Context) error {
			return write.CloseWithError(fillForm(form, members.Name, members.Source, body))
		},
		func(ctx context.Context) error {
			defer read.Close()
			req, err := c.request(ctx, r.Verb, r.Path, read)
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", form.FormDataContentType())
			res, err := c.do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			out, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
			return err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func fillForm(form *multipart.Writer, name, source string, body io.Reader) error {
	if source != "" {
		if err := form.WriteField("source", source); err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, body); err != nil {
		return err
	}
	return form.Close()
}

// Download opens a file. The caller closes it.
func (c *Client) Download(ctx context.Context, id string, in json.RawMessage, header http.Header) (*http.Response, error) {
	r, err := c.route(id)
	if err != nil {
		return nil, err
	}
	return c.sendWith(ctx, r, in, header)
}

func (c *Client) send(ctx context.Context, r Route, in json.RawMessage) (*http.Response, error) {
	return c.sendWith(ctx, r, in, nil)
}

// sendWith spreads the flat input over path, query and body.
func (c *Client) sendWith(ctx context.Context, r Route, in json.RawMessage, header http.Header) (*http.Response, error) {
	members := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(in)) > 0 {
		if err := json.Unmarshal(in, &members); err != nil {
			return nil, fmt.Errorf("decode input of %s: %w", r.ID, err)
		}
	}
	path := fillPath(r.Path, members)
	query := url.Values{}
	for _, name := range r.Query {
		if raw, ok := members[name]; ok {
			query.Set(name, plain(raw))
			delete(members, name)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var body io.Reader
	if r.Verb == http.MethodPost || r.Verb == http.MethodPut || r.Verb == http.MethodPatch {
		raw, err := json.Marshal(members)
		if r.WholeBody != "" {
			raw, err = members[r.WholeBody], nil
		}
		if err != nil {
			return nil, fmt.Errorf("encode body of %s: %w", r.ID, err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := c.request(ctx, r.Verb, path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.do(req)
}

func (c *Client) request(ctx context.Context, verb, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, verb, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	return req, nil
}

// do sends the request and turns every refusal into an *errs.Error.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(req.Context(), err)
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20)) // what did not arrive is not shown
	return nil, refusal(res.StatusCode, raw)
}

func refusal(status int, raw []byte) error {
	var p struct {
		Detail json.RawMessage `json:"detail"`
		Code   string          `json:"code"`
	}
	e := &errs.Error{Kind: errs.Internal, Code: "unexpected_answer", Message: "Sentient gave an answer that can't be read.", Status: status}
	if json.Unmarshal(raw, &p) != nil {
		return e
	}
	e.Code = p.Code
	if json.Unmarshal(p.Detail, &e.Message) != nil {
		if json.Unmarshal(p.Detail, &e.Fields) == nil && len(e.Fields) > 0 {
			e.Kind, e.Message = errs.Invalid, e.Fields[0].Msg
		}
	}
	return e
}

func fillPath(path string, members map[string]json.RawMessage) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		rest, deep := strings.CutSuffix(name, "...")
		value := plain(members[rest])
		delete(members, rest)
		parts[i] = url.PathEscape(value)
		if deep {
			parts[i] = strings.ReplaceAll(parts[i], "%2F", "/")
		}
	}
	return strings.Join(parts, "/")
}

// plain is a JSON scalar as it stands in an address.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return string(raw)
}

func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errs.New(errs.Unavailable, "engine_unreachable", "Sentient's engine does not answer.").Because(err)
}

func unreadable(err error) error {
	return errs.New(errs.Internal, "unexpected_answer", "Sentient gave an answer that can't be read.").Because(err)
}

// Live opens the live connection. since is "" or "<boot>.<seq>".
func (c *Client) Live(ctx context.Context, since string) (*LiveConn, error) {
	r, err := c.route("live.connect")
	if err != nil {
		return nil, err
	}
	address := c.base + r.Path
	if since != "" {
		address += "?since=" + url.QueryEscape(since)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	ws, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.token}}})
	if err != nil {
		if res != nil && res.StatusCode >= http.StatusBadRequest && res.Body != nil {
			raw, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
			return nil, refusal(res.StatusCode, raw)
		}
		return nil, unreachable(ctx, err)
	}
	ws.SetReadLimit(maxFrame)
	return &LiveConn{ws}, nil
}

// LiveConn is an open live connection.
type LiveConn struct{ ws *websocket.Conn }

// Receive waits for the next event.
func (l *LiveConn) Receive(ctx context.Context) ([]byte, error) {
	_, frame, err := l.ws.Read(ctx)
	return frame, err
}

// Send sends a message.
func (l *LiveConn) Send(ctx context.Context, frame []byte) error {
	return l.ws.Write(ctx, websocket.MessageText, frame)
}

// Close ends the connection.
func (l *LiveConn) Close() { _ = l.ws.Close(websocket.StatusNormalClosure, "") }

// URL is the engine's address.
func (c *Client) URL() string { return c.base }
