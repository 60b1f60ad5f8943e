package netx

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sentient/backend/errs"
)

func TestRefusals(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains about what is tested here
	secure.StartTLS()
	t.Cleanup(secure.Close)
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	rude := serve(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	half := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	large := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/told" {
			w.Header().Set("Content-Length", "5001")
		}
		w.Write(make([]byte, 5001))
	})
	bomb := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(make([]byte, 1<<20))
		z.Close()
	})
	manyHeaders := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X", strings.Repeat("x", maxHeaderBytes+1))
	})
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	c := newClient(t, Options{Resolver: names(t, nil)})
	short := 200 * time.Millisecond
	for _, x := range []struct {
		name, url, code string
		p               Policy
	}{
		{"no scheme", "example.com", "address_malformed", Policy{}},
		{"a file", "file:///etc/passwd", "address_malformed", Policy{}},
		{"no host", "http:///secret", "address_malformed", Policy{}},
		{"unknown host", "http://nowhere.test/secret", "host_unknown", Policy{}},
		{"nobody listens", "http://" + closed.Addr().String() + "/secret", "host_unreachable", Policy{}},
		{"secure to a plain server", strings.Replace(plain.URL, "http", "https", 1), "tls_failed", Policy{}},
		{"a certificate of nobody", secure.URL, "tls_failed", Policy{}},
		{"no headers", silent.URL, "host_timeout", Policy{HeaderTimeout: short}},
		{"no headers, in all", silent.URL, "host_timeout", Policy{Timeout: short}},
		{"connection cut", rude.URL, "connection_lost", Policy{}},
		{"body cut", half.URL, "connection_lost", Policy{}},
		{"body too slow", slow.URL, "host_timeout", Policy{Timeout: short}},
		{"body too large", large.URL, "body_too_large", Policy{MaxBody: 5000}},
		{"body too large, as told", large.URL + "/told", "body_too_large", Policy{MaxBody: 5000}},
		{"body too large when unpacked", bomb.URL, "body_too_large", Policy{MaxBody: 1<<20 - 1}},
		{"headers too large", manyHeaders.URL, "connection_lost", Policy{}},
		{"redirects without end", loop.URL, "redirect_refused", Policy{}},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.p.Addresses = Any
			_, err := fetch(t, c, x.p, x.url)
			wantCode(t, err, x.code)
			resp, err := c.HTTP(x.p).Do(get(t, t.Context(), x.url))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			wantCode(t, err, x.code)
		})
	}
	if n := len(c.hosts.m); n != 0 {
		t.Errorf("%d hosts still have places taken", n)
	}
}

func TestJustFits(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 5000)) })
	for _, limit := range []int64{5000, 5001, -1} {
		b, err := fetch(t, newClient(t, Options{}), Policy{Addresses: Any, MaxBody: limit}, s.URL)
		if len(b) != 5000 || err != nil {
			t.Errorf("limit %d: %d bytes, %v", limit, len(b), err)
		}
	}
}

func TestCancelStaysCancel(t *testing.T) {
	arrived := make(chan struct{}, 2)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.(http.Flusher).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	for _, path := range []string{"/head", "/body"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		resp, err := newClient(t, Options{}).Do(Policy{Addresses: Any}, get(t, ctx, s.URL+path))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) || errs.From(err).Kind != errs.Cancelled {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// echo says what arrived.
func echo(seen *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		*seen = append(*seen, fmt.Sprintf("%s %s auth=%q key=%q cookie=%q referer=%q ua=%q body=%q", r.Method, r.URL.Path,
			r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Cookie"), r.Referer(), r.UserAgent(), b))
	}
}

func TestCredentialsStayWithTheirHost(t *testing.T) {
	var first, second []string
	var toSecond, toFirst string
	two := serve(t, func(w http.ResponseWriter, r *http.Request) {
		echo(&second)(w, r)
		if r.URL.Path == "/back" {
			http.Redirect(w, r, toFirst+"/end", http.StatusFound)
		}
	})
	one := serve(t, func(w http.ResponseWriter, r *http.Request) {
		echo(&first)(w, r)
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/other":
			http.Redirect(w, r, toSecond+"/end", http.StatusFound)
		case "/round":
			http.Redirect(w, r, toSecond+"/back", http.StatusFound)
		}
	})
	toSecond, toFirst = two.URL, one.URL
	const with, without = `auth="Bearer secret" key="secret" cookie="a=secret" referer="" ua="Test"`, `auth="" key="" cookie="" referer="" ua="Test"`
	for _, c := range []struct{ path, first, second string }{
		{"/same", "GET /same " + with + "|GET /end " + with, ""},
		{"/other", "GET /other " + with, "GET /end " + without},
		{"/round", "GET /round " + with + "|GET /end " + without, "GET /back " + without},
	} {
		first, second = nil, nil
		r := get(t, t.Context(), one.URL+c.path)
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("X-Api-Key", "secret")
		r.Header.Set("Cookie", "a=secret")
		resp, err := newClient(t, Options{UserAgent: "Test"}).HTTP(Policy{Addresses: Any}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := strings.ReplaceAll(strings.Join(first, "|"), ` body=""`, ""); got != c.first {
			t.Errorf("%s: the first host saw %s", c.path, got)
		}
		if got := strings.ReplaceAll(strings.Join(second, "|"), ` body=""`, ""); got != c.second {
			t.Errorf("%s: the second host saw %s", c.path, got)
		}
		if !strings.HasSuffix(resp.Request.URL.Path, "/end") {
			t.Errorf("%s: the response does not say where it is from: %v", c.path, resp.Request.URL)
		}
	}
}

func TestBodiesStayWithTheirHost(t *testing.T) {
	var seen []string
	other := serve(t, echo(&seen))
	for _, c := range []struct {
		status int
		to     string
		want   string // what the last hop saw, or the code of a refusal
	}{
		{307, other.URL, "redirect_refused"},
		{308, other.URL, "redirect_refused"},
		{301, other.URL, `GET / body=""`},
		{302, other.URL, `GET / body=""`},
		{303, other.URL, `GET / body=""`},
		{307, "/end", `POST /end body="secret"`},
		{308, "/end", `POST /end body="secret"`},
		{303, "/end", `GET /end body=""`},
	} {
		seen = nil
		one := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				w.Header().Set("Location", c.to)
				w.WriteHeader(c.status)
				return
			}
			echo(&seen)(w, r)
		})
		resp, err := newClient(t, Options{}).HTTP(Policy{Addresses: Any}).Post(one.URL+"/", "text/plain", strings.NewReader("secret"))
		if err != nil {
			wantCode(t, err, c.want)
			if len(seen) != 0 {
				t.Errorf("%d %s: arrived: %v", c.status, c.to, seen)
			}
			continue
		}
		resp.Body.Close()
		method, body := strings.SplitN(strings.Join(seen, "|"), " auth", 2)[0], seen[0][strings.Index(seen[0], "body="):]
		if got := method + " " + body; got != c.want {
			t.Errorf("%d %s: %s", c.status, c.to, got)
		}
	}
}

func TestRedirectsCanBeLeftAlone(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/next", http.StatusFound) })
	resp, err := newClient(t, Options{}).HTTP(Policy{Addresses: Any, MaxRedirects: -1}).Get(s.URL)
	if err != nil || resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "/next" {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
}

// No more exchanges with one host run at a time than the policy says; the others wait, and other hosts do not.
func TestPlacesPerHost(t *testing.T) {
	var now, most atomic.Int32
	inside := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		inside <- struct{}{}
		fmt.Fprint(w, "hello")
	})
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "other") })
	c := newClient(t, Options{})
	p := Policy{Addresses: Any, PerHost: 2}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if b, err := fetch(t, c, p, s.URL); b != "hello" || err != nil {
				t.Error(b, err)
			}
		})
	}
	<-inside // one was served, more wait
	if b, err := fetch(t, c, p, other.URL); b != "other" || err != nil {
		t.Error(b, err)
	}
	for range 7 {
		<-inside
	}
	wg.Wait()
	if m := most.Load(); m > 2 {
		t.Errorf("%d at a time", m)
	}
	if n := len(c.hosts.m); n != 0 {
		t.Errorf("%d hosts still have places taken", n)
	}
}

func TestWaitForAPlaceEndsWithItsContext(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	c := newClient(t, Options{})
	p := Policy{Addresses: Any, PerHost: 1}
	first, err := c.Do(p, get(t, t.Context(), s.URL)) // its body stays open
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.Do(p, get(t, ctx, s.URL))
	wantCode(t, err, "host_timeout")
	first.Body.Close()
	if b, err := fetch(t, c, p, s.URL); b != "hello" || err != nil {
		t.Fatal(b, err)
	}
}

// A WebSocket to the outside goes through the same checks and stays open after them.
func TestWebSocket(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		typ, b, err := c.Read(r.Context())
		if err == nil {
			_ = c.Write(r.Context(), typ, bytes.ToUpper(b))
		}
		<-r.Context().Done()
	}
	c := newClient(t, Options{})
	dial := func(s *httptest.Server, p Policy) (*websocket.Conn, error) {
		ws, _, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{HTTPClient: c.HTTP(p)})
		return ws, err
	}
	_, err := dial(serve(t, h), Policy{})
	wantCode(t, err, "address_refused")
	ws, err := dial(serveAt(t, outside, h), Policy{Timeout: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, b, err := ws.Read(t.Context()); string(b) != "HELLO" || err != nil {
		t.Fatal(string(b), err)
	}
	if n := len(c.hosts.m); n != 0 {
		t.Errorf("%d hosts still have places taken", n)
	}
}
