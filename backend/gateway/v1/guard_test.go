package v1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sentient/backend/errs"
)

// Off, locality and key are checked in this order, before anything of the request is looked at, and start nothing.
func TestRefusalsInOrder(t *testing.T) {
	unreadable := errs.New(errs.Unavailable, "secret_locked", "This computer's keychain is locked.")
	broken := errors.New("open /home/someone/keys: no such file")
	for _, c := range []struct {
		name           string
		off            bool
		key            string
		keyErr         error
		safe           bool
		method, path   string
		body           string
		head           []string
		status         int
		code, sentence string
	}{
		{name: "off", off: true, status: 404, code: "api_off"},
		{name: "off, no key", off: true, head: []string{"Authorization", ""}, status: 404, code: "api_off"},
		{name: "off, no JSON", off: true, body: "{", status: 404, code: "api_off"},
		{name: "off, unknown path", off: true, method: "GET", path: "/v1/nonsense", status: 404, code: "api_off"},
		{name: "off, keychain locked", off: true, keyErr: unreadable, status: 404, code: "api_off"},
		{name: "no key", head: []string{"Authorization", ""}, status: 401, code: "invalid_api_key"},
		{name: "no key, no JSON", body: "{", head: []string{"Authorization", ""}, status: 401, code: "invalid_api_key"},
		{name: "no key, unknown path", path: "/v1/nonsense", head: []string{"Authorization", ""}, status: 401, code: "invalid_api_key"},
		{name: "no key, preflight", method: "OPTIONS", head: []string{"Authorization", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, status: 401, code: "invalid_api_key"},
		{name: "wrong key", head: []string{"Authorization", "Bearer " + goodKey + "x"}, status: 401, code: "invalid_api_key"},
		{name: "shorter key", head: []string{"Authorization", "Bearer " + goodKey[:len(goodKey)-1]}, status: 401, code: "invalid_api_key"},
		{name: "empty key", head: []string{"Authorization", "Bearer "}, status: 401, code: "invalid_api_key"},
		{name: "another scheme", head: []string{"Authorization", "Basic " + goodKey}, status: 401, code: "invalid_api_key"},
		{name: "key alone", head: []string{"Authorization", goodKey}, status: 401, code: "invalid_api_key"},
		{name: "key in other places", path: chatPath + "?api_key=" + goodKey, head: []string{"Authorization", "", "Api-Key", goodKey, "X-Api-Key", goodKey, "Cookie", "key=" + goodKey}, status: 401, code: "invalid_api_key"},
		{name: "none was made", key: "-", status: 401, code: "invalid_api_key"},
		{name: "none was made, empty shown", key: "-", head: []string{"Authorization", "Bearer  "}, status: 401, code: "invalid_api_key"},
		{name: "wrong key, safe mode", safe: true, head: []string{"Authorization", "Bearer x"}, status: 401, code: "invalid_api_key"},
		{name: "keychain locked", keyErr: unreadable, status: 503, code: "secret_locked", sentence: "This computer's keychain is locked."},
		{name: "keychain broken", keyErr: broken, status: 500, code: "internal", sentence: "Something went wrong inside Sentient. The details are in its log."},
		{name: "safe mode", safe: true, status: 503, code: "safe_mode", sentence: "The database can't be used."},
		{name: "unknown path", path: "/v1/nonsense", status: 404, code: "unknown_url"},
		{name: "unknown method", method: "GET", status: 404, code: "unknown_url"},
		{name: "models by POST", path: "/v1/models", status: 404, code: "unknown_url"},
		{name: "slash at the end", path: chatPath + "/", status: 404, code: "unknown_url"},
		{name: "only /v1", method: "GET", path: "/v1", status: 404, code: "unknown_url"},
		{name: "no JSON", body: "{", status: 400, code: "invalid_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.on.Store(!c.off)
			if c.key != "" {
				r.key.key = ""
			}
			r.key.err = c.keyErr
			if c.safe {
				r.ready.Store(errs.New(errs.Unavailable, "safe_mode", "The database can't be used."))
			}
			if c.method == "" {
				c.method = "POST"
			}
			if c.path == "" {
				c.path = chatPath
			}
			if c.body == "" {
				c.body = saying("hello")
			}
			a := r.call(c.method, c.path, c.body, c.head...)
			f := a.fault(t)
			if a.status != c.status || f.Code != c.code || c.sentence != "" && f.Message != c.sentence {
				t.Errorf("%d %s; want %d %s %s", a.status, a.body, c.status, c.code, c.sentence)
			}
			if !strings.HasSuffix(f.Message, ".") || f.Type == "" || a.header.Get("X-Should-Retry") != "false" || a.header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("not as errors are: %s %v", a.body, a.header)
			}
			if len(r.questions()) > 0 || r.names.asked.Load() > 0 {
				t.Error("something was started")
			}
			if c.off && r.key.asked.Load() > 0 {
				t.Error("the keychain was asked though the API is off")
			}
		})
	}
}

// Nothing of a body is read before the checks: a client that never sends it is refused all the same.
func TestRefusedBeforeTheBodyComes(t *testing.T) {
	for _, c := range []struct {
		key    string
		off    bool
		status int
	}{{"x", true, 404}, {"x", false, 401}} {
		r := newRig(t)
		r.on.Store(!c.off)
		conn, err := net.Dial("tcp", r.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100000000\r\n\r\n", chatPath, c.key)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%d; want %d", res.StatusCode, c.status)
		}
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

func TestLocalByBothSockets(t *testing.T) {
	good := []string{"127.0.0.1:80", "127.8.8.8:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[0:0:0:0:0:0:0:1]:80"}
	bad := []string{"", "localhost:80", "127.0.0.1", "::1", "192.0.2.1:80", "[2001:db8::1]:80", "[::ffff:192.0.2.1]:80", "0.0.0.0:80", "[::]:80", "@", "/run/engine.sock",
		"127.0.0.1.nip.io:80", "2130706433:80", "0x7f.1:80", "127.1:80", "[fe80::1%lo]:80", "127.0.0.1:80:80", "[::127.0.0.1]:80"}
	r := newRig(t)
	h := New(r.o)
	try := func(here, there string, want bool) {
		t.Helper()
		for _, host := range []string{"127.0.0.1:80", "localhost", "evil.example"} {
			req := httptest.NewRequest("GET", "http://"+host+"/v1/models", nil)
			req.Header.Set("Authorization", "Bearer "+goodKey)
			req.Header.Set("X-Forwarded-For", "127.0.0.1")
			req.Header.Set("X-Forwarded-Host", "127.0.0.1")
			req.Header.Set("X-Real-IP", "127.0.0.1")
			req.Header.Set("Forwarded", "for=127.0.0.1;host=localhost")
			req.RemoteAddr = there
			ctx := req.Context()
			if here != "" {
				ctx = context.WithValue(ctx, http.LocalAddrContextKey, address(here))
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req.WithContext(ctx))
			a := answered{status: w.Code, body: w.Body.String()}
			if want && a.status != 200 || !want && (a.status != 403 || a.fault(t).Code != "local_only") {
				t.Errorf("%q to %q as %q: %d %s", there, here, host, a.status, a.body)
			}
		}
	}
	for _, here := range good {
		for _, there := range good {
			try(here, there, true)
		}
		for _, b := range bad {
			try(here, b, false)
			try(b, here, false)
		}
	}
	// A value of another type is no address.
	req := httptest.NewRequest("GET", "/v1/models", nil)
	req.RemoteAddr = "127.0.0.1:80"
	if local(req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, "127.0.0.1:80"))) {
		t.Error("a text counted as an address")
	}
}

// The same engine, asked over a real socket of the network: refused before the key is looked at.
func TestOverTheNetwork(t *testing.T) {
	r := newRig(t)
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: New(r.o)}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	defer served.Wait()
	defer server.Close()
	tried := 0
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLinkLocalUnicast() {
			continue
		}
		want, url := 403, "http://"+net.JoinHostPort(n.IP.String(), fmt.Sprint(listener.Addr().(*net.TCPAddr).Port))
		if n.IP.IsLoopback() {
			want = 200
		} else {
			tried++
		}
		req, _ := http.NewRequest("GET", url+"/v1/models", nil)
		req.Host = "localhost"
		req.Header.Set("Authorization", "Bearer "+goodKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d %s; want %d", url, res.StatusCode, raw, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if tried == 0 {
		t.Skip("this computer has no network address to be asked at")
	}
}
