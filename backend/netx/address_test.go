package netx

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
)

func TestWhatIsTheInternet(t *testing.T) {
	for _, c := range []struct {
		ip   string
		want bool
	}{
		{"127.0.0.1", false}, {"127.255.255.254", false}, {"0.0.0.0", false}, {"0.1.2.3", false},
		{"10.0.0.1", false}, {"172.16.0.1", false}, {"172.31.255.255", false}, {"192.168.1.1", false},
		{"169.254.169.254", false}, {"100.64.0.1", false}, {"100.127.255.255", false},
		{"192.0.0.8", false}, {"192.0.2.1", false}, {"198.18.0.1", false}, {"198.19.255.255", false}, {"203.0.113.9", false},
		{"224.0.0.1", false}, {"239.1.1.1", false}, {"240.0.0.1", false}, {"255.255.255.255", false},
		{"::", false}, {"::1", false}, {"::ffff:127.0.0.1", false}, {"::ffff:10.0.0.1", false}, {"::127.0.0.1", false},
		{"fe80::1", false}, {"fe80::1%eth0", false}, {"fec0::1", false}, {"fc00::1", false}, {"fd12::1", false}, {"ff02::1", false},
		{"64:ff9b::7f00:1", false}, {"64:ff9b::a00:1", false}, {"64:ff9b:1::1", false}, {"2002:7f00:1::", false},
		{"2001:0:1::1", false}, {"2001:db8::1", false}, {"3fff::1", false}, {"100::1", false}, {"fd00:ec2::254", false},
		{"8.8.8.8", true}, {"100.63.255.255", true}, {"172.32.0.1", true}, {"::ffff:8.8.8.8", true},
		{"2606:4700::1111", true}, {"2a00:1450::1", true}, {"64:ff9b::808:808", true},
	} {
		if got := New(Options{}).Allows(Public, netip.MustParseAddr(c.ip)); got != c.want {
			t.Errorf("%s: %v", c.ip, got)
		}
	}
	for _, c := range []struct {
		a    Addresses
		ip   string
		want bool
	}{
		{Loopback, "10.0.0.1", false}, {Loopback, "8.8.8.8", false}, {Loopback, "::1", true}, {Loopback, "::ffff:127.0.0.1", true},
		{Any, "224.0.0.1", false}, {Any, "10.0.0.1", true}, {Any, "127.0.0.1", true}, {Any, "8.8.8.8", true},
	} {
		if got := New(Options{}).Allows(c.a, netip.MustParseAddr(c.ip)); got != c.want {
			t.Errorf("%d %s: %v", c.a, c.ip, got)
		}
	}
}

func TestOwnAddressesAreNotTheInternet(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip, ok := netip.AddrFromSlice(a.(*net.IPNet).IP)
		if !ok || !isOwn(ip.Unmap()) {
			t.Errorf("%v is not known as this computer's", a)
		}
	}
	if isOwn(netip.MustParseAddr("8.8.8.8")) {
		t.Error("8.8.8.8 is this computer's")
	}
}

// Every way to write this computer's address is refused, and the server there hears nothing.
func TestPublicReachesNothingHere(t *testing.T) {
	var heard atomic.Int32
	s := serveAt(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { heard.Add(1) })
	port := portOf(t, s)
	c := newClient(t, Options{Resolver: names(t, map[string][]string{
		"inside.test":  {"127.0.0.1"},
		"private.test": {"10.0.0.1"},
		"cgnat.test":   {"100.64.1.1"},
	})})
	for _, host := range []string{
		"127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[64:ff9b::7f00:1]", "0.0.0.0", "[::]", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "0", "127.0.0.1.",
		"inside.test", "private.test", "cgnat.test", "169.254.169.254", "192.168.0.1", "[fe80::1%25lo]",
	} {
		t.Run(host, func(t *testing.T) {
			_, err := fetch(t, c, Policy{}, "http://"+host+":"+port+"/secret?token=secret")
			wantCode(t, err, "address_refused")
		})
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestRedirectToInsideIsRefused(t *testing.T) {
	var heard atomic.Int32
	inside := serveAt(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { heard.Add(1) })
	port := portOf(t, inside)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{inside.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://inside.test:" + port, "//127.0.0.1:" + port + "/x"} {
			t.Run(fmt.Sprint(status, " ", to), func(t *testing.T) {
				hops := 0
				out := serveAt(t, outside, func(w http.ResponseWriter, r *http.Request) {
					if hops++; hops == 1 {
						http.Redirect(w, r, "/again", status)
						return
					}
					w.Header().Set("Location", to)
					w.WriteHeader(status)
				})
				c := newClient(t, Options{Resolver: names(t, map[string][]string{"inside.test": {"127.0.0.1"}})})
				_, err := fetch(t, c, Policy{}, out.URL)
				wantCode(t, err, "address_refused")
				if hops != 2 {
					t.Errorf("%d hops", hops)
				}
			})
		}
	}
	for _, to := range []string{"file:///etc/passwd", "gopher://x", "http://", "http://[::1", "javascript:alert(1)"} {
		out := serveAt(t, outside, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		if _, err := fetch(t, newClient(t, Options{}), Policy{}, out.URL); err == nil {
			t.Errorf("%s was followed", to)
		}
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// A name that is outside when it is first looked up and inside later gains nothing, because each dial is looked at.
func TestRebinding(t *testing.T) {
	var heard atomic.Int32
	inside := serveAt(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { heard.Add(1) })
	port := portOf(t, inside)
	l, err := net.Listen("tcp", net.JoinHostPort(outside, port))
	if err != nil {
		t.Skipf("the port is taken outside: %v", err)
	}
	out := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "hello")
	})}
	go out.Serve(l)
	t.Cleanup(func() { out.Close() })
	c := newClient(t, Options{Resolver: names(t, map[string][]string{"rebind.test": {outside, "127.0.0.1"}})})
	address := "http://rebind.test:" + port
	if b, err := fetch(t, c, Policy{}, address); b != "hello" || err != nil {
		t.Fatal(b, err)
	}
	for range 3 {
		_, err := fetch(t, c, Policy{}, address)
		wantCode(t, err, "address_refused")
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// A connection that one policy made is not used by a stricter one.
func TestConnectionsAreNotSharedBetweenPolicies(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	c := newClient(t, Options{})
	for _, p := range []Policy{{Addresses: Any}, {Addresses: Loopback}} {
		if b, err := fetch(t, c, p, s.URL); b != "hello" || err != nil {
			t.Fatal(b, err)
		}
	}
	_, err := fetch(t, c, Policy{}, s.URL)
	wantCode(t, err, "address_refused")
}

func TestProxy(t *testing.T) {
	var asked []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Host)
		fmt.Fprint(w, "by proxy")
	})
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Options{
		Proxy:    http.ProxyURL(u),
		Resolver: names(t, map[string][]string{"inside.test": {"127.0.0.1"}, "outside.test": {"8.8.8.8"}}),
	})
	for _, to := range []string{"http://inside.test", "http://127.0.0.1", "http://2130706433", "http://[::1]"} {
		_, err := fetch(t, c, Policy{}, to)
		wantCode(t, err, "address_refused")
	}
	for _, to := range []string{"http://outside.test", "http://only-the-proxy-knows.test"} {
		if b, err := fetch(t, c, Policy{}, to); b != "by proxy" || err != nil {
			t.Errorf("%s: %q %v", to, b, err)
		}
	}
	direct := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "direct") })
	if b, err := fetch(t, c, Policy{Addresses: Loopback}, direct.URL); b != "direct" || err != nil {
		t.Errorf("loopback went by the proxy: %q %v", b, err)
	}
	if fmt.Sprint(asked) != "[outside.test only-the-proxy-knows.test]" {
		t.Errorf("asked the proxy for %v", asked)
	}
	proxy.Close()
	_, err = fetch(t, c, Policy{}, "https://outside.test")
	wantCode(t, err, "proxy_failed")
}
