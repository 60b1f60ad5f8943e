package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/netx"
)

func service(t *testing.T, h http.HandlerFunc) Service {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	net := netx.New(netx.Options{Internet: netip.Addr.IsLoopback})
	t.Cleanup(net.Close)
	return Service{Name: "Example", Base: s.URL, Net: net}
}

func TestRefusals(t *testing.T) {
	for status, code := range map[int]string{401: CodeKey, 403: CodeKey, 429: CodeBusy, 202: CodeBusy, 404: CodeFailed, 500: CodeFailed, 204: CodeFailed} {
		s := service(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, _, err := s.Get(t.Context(), "/x", url.Values{"key": {"topsecret"}}, nil)
		if errs.Code(err) != code || !strings.HasPrefix(errs.From(err).Message, "Example ") || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%d: %v", status, err)
		}
	}
	s := service(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") })
	if err := s.JSON(t.Context(), "", nil, nil, &struct{}{}); errs.Code(err) != CodeUnreadable {
		t.Error(err)
	}
	s = service(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxBody+1)) })
	if _, _, err := s.Get(t.Context(), "", nil, nil); errs.Code(err) != "body_too_large" {
		t.Error(err)
	}
	s = service(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Get(ctx, "", nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Base = "::"
	if _, _, err := s.Get(t.Context(), "", nil, nil); errs.Code(err) != CodeFailed {
		t.Error(err)
	}
	s.Base = "http://10.0.0.1:1"
	if _, _, err := s.Get(t.Context(), "", nil, nil); errs.Code(err) != "address_refused" {
		t.Error(err)
	}
}

func TestGet(t *testing.T) {
	s := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/a?q=x+y%26z" || r.Header.Get("X-Key") != "k" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"a":1}`)
	})
	var got struct{ A int }
	if err := s.JSON(t.Context(), "/a", url.Values{"q": {"x y&z"}}, map[string]string{"X-Key": "k"}, &got); err != nil || got.A != 1 {
		t.Error(got, err)
	}
}

func TestKey(t *testing.T) {
	for _, c := range []struct{ stored, field, want string }{
		{"", "api_key", ""}, {" k ", "api_key", "k"}, {"k", "cx", ""}, {`{"api_key":"k","cx":" c "}`, "cx", "c"}, {`{"api_key":"k"}`, "api_key", "k"}, {`{"api_key":"k"}`, "cx", ""}, {"{broken", "api_key", "{broken"},
	} {
		if got := Key(c.stored, c.field); got != c.want {
			t.Errorf("%q %s: %q", c.stored, c.field, got)
		}
	}
}
