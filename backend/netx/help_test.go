package netx

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"sentient/backend/errs"
)

// wantCode checks an error's code, and that its sentence names hosts alone.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if errs.Code(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	m := errs.From(err).Message
	if !strings.HasSuffix(m, ".") || strings.ContainsAny(m, "/?@") || strings.Contains(m, "secret") {
		t.Errorf("not a sentence for people: %q", m)
	}
}

func get(t *testing.T, ctx context.Context, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fetch gives a body, or the error of the exchange or of reading.
func fetch(t *testing.T, c *Client, p Policy, url string) (string, error) {
	t.Helper()
	resp, err := c.Do(p, get(t, t.Context(), url))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// serveAt serves on one of this computer's many loopback addresses.
func serveAt(t *testing.T, ip string, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Skipf("this computer has no address %s: %v", ip, err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// outside stands for an address of the internet.
const outside = "127.0.0.2"

// newClient makes a client for which outside is the internet.
func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	o.Internet = func(ip netip.Addr) bool { return ip.String() == outside || isPublic(ip) && !isOwn(ip) }
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// names is a DNS server. Each question for a name gets the next of its addresses; the last one stays.
func names(t *testing.T, table map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var mu sync.Mutex
	next := func(name string) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		all, ok := table[name]
		if !ok {
			return "", false
		}
		if len(all) > 1 {
			table[name] = all[1:]
		}
		return all[0], true
	}
	go func() {
		for b := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(b)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			if answer := answerDNS(b[:n], next); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func answerDNS(question []byte, next func(string) (string, bool)) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if q.Type == dnsmessage.TypeA {
		ip, ok := next(strings.TrimSuffix(q.Name.String(), "."))
		if ok {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(ip).As4()},
			}}
		} else {
			m.RCode = dnsmessage.RCodeNameError
		}
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

func portOf(t *testing.T, s *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}
