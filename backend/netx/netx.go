// Package netx is the only way to other computers over HTTP.
//
// It owns what every such exchange needs: time limits, a cap on what is read, redirects followed one by one, which
// addresses may be dialled, how many exchanges one host gets at a time, and sentences for what goes wrong.
//
// It promises that under Public no connection is made to this computer or its networks, whatever a name resolves to
// and wherever a redirect leads, because the address is looked at when it is dialled; that credentials and bodies stay
// with the host they were meant for; that a body gives an error, not a short end, when it is too large or cut off. It
// does not promise anything about what a body holds, and it retries nothing (but a Download goes on where it was cut).
//
// Layer 1 and everything above it may import it.
package netx

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/obs"
)

// Addresses say which computers may be reached.
type Addresses uint8

const (
	// Public is for addresses that come from outside: a model's, a page's. Only addresses of the internet are dialled.
	Public Addresses = iota
	// Loopback is for servers of ours on this computer.
	Loopback
	// Any is for what the person configured: a model server on this computer or in the network, a provider.
	Any
)

// Options are what a client needs from outside; every zero value works.
type Options struct {
	Clock     clock.Clock
	Log       *slog.Logger
	UserAgent string
	Resolver  *net.Resolver                         // nil: the computer's
	Proxy     func(*http.Request) (*url.URL, error) // nil: none; http.ProxyFromEnvironment where the person's proxy counts
	DiskFree  func(path string) (uint64, bool)      // nil: the computer's; for Download
	// Internet says which addresses Public may reach; nil: those of the internet, never this computer's. Only tests set it,
	// where a server on this computer stands in for one outside.
	Internet func(netip.Addr) bool
}

// Policy is what one kind of exchange is allowed. A zero limit is the default beside it, a negative one none.
type Policy struct {
	Addresses     Addresses
	Timeout       time.Duration // from the first dial to the last byte of the body, redirects included; 60 s
	HeaderTimeout time.Duration // from the request sent to the response's headers; 30 s
	MaxBody       int64         // bytes of a response's body, unpacked; 16 MiB
	MaxRedirects  int           // 5
	PerHost       int           // exchanges with one host at a time, over all users of the client; 8. A stream counts until its body is closed
}

func (p Policy) filled() Policy {
	set(&p.Timeout, 60*time.Second)
	set(&p.HeaderTimeout, 30*time.Second)
	set(&p.MaxBody, 16<<20)
	set(&p.MaxRedirects, 5)
	set(&p.PerHost, 8)
	return p
}

func set[T comparable](v *T, standard T) {
	var zero T
	if *v == zero {
		*v = standard
	}
}

// Client makes HTTP clients that share connections and limits. It is safe for use from many goroutines.
type Client struct {
	o     Options
	hosts hosts

	mu         sync.Mutex
	transports map[transportKey]*http.Transport
}

type transportKey struct {
	addresses     Addresses
	headerTimeout time.Duration
	proxy         string // of the environment, or none
}

// New makes a client.
func New(o Options) *Client {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Log == nil {
		o.Log = obs.Discard()
	}
	if o.UserAgent == "" {
		o.UserAgent = "Sentient"
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.DiskFree == nil {
		o.DiskFree = diskFree
	}
	if o.Internet == nil {
		o.Internet = func(ip netip.Addr) bool { return isPublic(ip) && !isOwn(ip) }
	}
	return &Client{o: o, hosts: hosts{m: map[string]*slots{}}, transports: map[transportKey]*http.Transport{}}
}

// HTTP gives a client for one policy. Its errors hold an *errs.Error (errs.From finds it): host_unknown,
// host_unreachable, host_timeout, connection_lost, tls_failed, address_refused, redirect_refused, address_malformed,
// body_too_large; a context's own end stays what it is. A request with an Upgrade header (a WebSocket's) has no time limit
// beyond its headers and keeps no place. A body gives the same errors. The caller closes bodies: an open
// one holds one of its host's places. The client has no cookie jar; give it one where it is needed.
func (c *Client) HTTP(p Policy) *http.Client {
	return &http.Client{
		Transport: &exchange{c: c, p: p.filled()},
		// The transport follows redirects; what it gives back is for the caller.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Do sends one request under a policy. Unlike that of an http.Client, its error does not hold the whole address.
func (c *Client) Do(p Policy, r *http.Request) (*http.Response, error) {
	return (&exchange{c: c, p: p.filled()}).RoundTrip(r)
}

// Close lets go of idle connections. The client can still be used.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
}

func (c *Client) transport(p Policy, proxy *url.URL) *http.Transport {
	k := transportKey{addresses: p.Addresses, headerTimeout: p.HeaderTimeout}
	if proxy != nil {
		k.proxy = proxy.String()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.transports[k]
	if !ok {
		t = c.newTransport(p, proxy)
		c.transports[k] = t
	}
	return t
}

// Limits of connections, the same for everybody.
const (
	dialTimeout    = 15 * time.Second // a name with several addresses shares it between them
	tlsTimeout     = 15 * time.Second
	idleTimeout    = 60 * time.Second // local model servers drop idle connections about then
	idlePerHost    = 4
	maxHeaderBytes = 256 << 10
)

func (c *Client) newTransport(p Policy, proxy *url.URL) *http.Transport {
	t := &http.Transport{
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ForceAttemptHTTP2:      true,
	}
	if p.HeaderTimeout > 0 {
		t.ResponseHeaderTimeout = p.HeaderTimeout
	}
	allowed := p.Addresses
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
		allowed = Any // the proxy is what is dialled; the target was looked at before
	}
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, Resolver: c.o.Resolver, ControlContext: c.control(allowed)}).DialContext
	return t
}
