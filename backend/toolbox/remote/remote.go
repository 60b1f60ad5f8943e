// Package remote is how plugins ask services on the web: one request under netx's rules, with what goes wrong in words
// that name the service and never its address or key.
//
// Plugins import it.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/tool"
)

// Codes of what a service can do wrong, beside those of netx.
const (
	CodeKey        = "service_key_refused"
	CodeBusy       = "service_busy"
	CodeFailed     = "service_failed"
	CodeUnreadable = "service_unreadable"
)

// Limits of one request.
const (
	within  = 15 * time.Second
	maxBody = 4 << 20
)

// Service is one service on the web.
type Service struct {
	Name string // for people: "Brave Search"
	Base string // its address, without a slash at the end
	Net  *netx.Client
	// Addresses is netx.Any for one that the person set up, which may stand in the house.
	Addresses netx.Addresses
}

// Get asks for a path with a query and gives the body and its content type. An answer other than 200 is an error.
func (s Service) Get(ctx context.Context, path string, query url.Values, header map[string]string) (body []byte, contentType string, err error) {
	address := strings.TrimSuffix(s.Base, "/") + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", s.failed(errors.New("malformed address"))
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := s.Net.Do(netx.Policy{Addresses: s.Addresses, Timeout: within, MaxBody: maxBody}, r)
	if err != nil {
		return nil, "", s.ended(ctx, err)
	}
	defer resp.Body.Close()
	if err := s.refused(resp.StatusCode); err != nil {
		return nil, "", err
	}
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		return nil, "", s.ended(ctx, err)
	}
	return body, resp.Header.Get("Content-Type"), nil
}

// JSON is Get for an answer in JSON.
func (s Service) JSON(ctx context.Context, path string, query url.Values, header map[string]string, into any) error {
	body, _, err := s.Get(ctx, path, query, header)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return s.Unreadable(fmt.Errorf("read answer: %w", err))
	}
	return nil
}

// ended gives a context's own end as it is, and netx's words as they are.
func (s Service) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*errs.Error](err); ok {
		return err
	}
	return s.failed(err)
}

func (s Service) refused(status int) error {
	cause := fmt.Errorf("status %d", status)
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return errs.Newf(errs.Unavailable, CodeKey, "%s did not let Sentient in. If it has a key, check it in Settings > Integrations.", s.Name).Because(cause)
	case status == http.StatusTooManyRequests || status == http.StatusAccepted:
		return errs.Newf(errs.Limited, CodeBusy, "%s was asked too often and turned Sentient away for now. Try again in some minutes.", s.Name).Because(cause)
	}
	return s.failed(cause)
}

func (s Service) failed(cause error) error {
	return errs.Newf(errs.Unavailable, CodeFailed, "%s can't answer right now. Try again later.", s.Name).Because(cause)
}

// Unreadable is the error of an answer that is not what the service gives.
func (s Service) Unreadable(cause error) error {
	return errs.Newf(errs.Unavailable, CodeUnreadable, "%s gave an answer that Sentient can't read. Try again later.", s.Name).Because(cause)
}

// Key gives one field of what is stored for an app. That is its key alone, or an object of the fields that its set-up asks
// for; the key itself is the field api_key.
func Key(stored, field string) string {
	stored = strings.TrimSpace(stored)
	var fields map[string]string
	if strings.HasPrefix(stored, "{") && json.Unmarshal([]byte(stored), &fields) == nil {
		return strings.TrimSpace(fields[field])
	}
	if field != "api_key" {
		return ""
	}
	return stored
}

// StoredKey gives a field of what is stored for an app, "" when there is none. A store that cannot be read counts as none,
// and is logged: the plugin stands in with a service that needs no key.
func StoredKey(ctx context.Context, log *slog.Logger, secret func(ctx context.Context, name string) (string, error), app, field string) string {
	stored, err := secret(ctx, "integration:"+app)
	if err != nil {
		log.Warn("key not read", "app", app, "error", err)
		return ""
	}
	return Key(stored, field)
}

// Found is a page in a service's answer. URL is as the result's JSON has it.
type Found struct {
	Title, Snippet string
	URL            json.RawMessage
}

// Sources are the first three pages (§2 "Answer sources"), each shown where the model has read its address.
func Sources(found []Found) []tool.Source {
	var list []tool.Source
	for _, f := range found[:min(3, len(found))] {
		var address string
		if json.Unmarshal(f.URL, &address) == nil && address != "" {
			list = append(list, tool.Source{Kind: "web", Title: f.Title, URL: address, Snippet: f.Snippet, Shown: string(f.URL)})
		}
	}
	return list
}
