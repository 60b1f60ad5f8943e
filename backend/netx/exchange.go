package netx

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sentient/backend/errs"
)

// exchange is one policy's way of sending requests: it follows redirects itself, so that each hop meets every check.
type exchange struct {
	c *Client
	p Policy
}

// RoundTrip sends a request and gives the response of the last hop.
func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := r.Context(), func() {}
	upgrade := r.Header.Get("Upgrade") != ""
	if x.p.Timeout > 0 && !upgrade {
		c, stop := context.WithTimeout(ctx, x.p.Timeout)
		ctx, cancel = c, stop
	}
	hop := r.Clone(ctx)
	if hop.Header.Get("User-Agent") == "" {
		hop.Header.Set("User-Agent", x.c.o.UserAgent)
	}
	for hops := 0; ; hops++ {
		resp, err := x.hop(hop)
		if err != nil {
			cancel()
			return nil, err
		}
		next, err := x.redirect(hop, resp, hops)
		if err != nil {
			drop(resp)
			cancel()
			return nil, err
		}
		if next == nil {
			if b, ok := resp.Body.(*body); ok {
				b.done = append(b.done, cancel)
			} else {
				cancel() // an upgraded connection: it has no limit to cancel, unless nobody asked for it
			}
			return resp, nil
		}
		drop(resp)
		hop = next
	}
}

// drop lets go of a response that nobody reads, keeping the connection when its body is short.
func drop(resp *http.Response) {
	_, _ = resp.Body.Read(make([]byte, 4<<10))
	_ = resp.Body.Close()
}

// hop sends one request to one host.
func (x *exchange) hop(r *http.Request) (*http.Response, error) {
	if err := checkURL(r.URL); err != nil {
		closeBody(r)
		return nil, err
	}
	release, err := x.c.hosts.enter(r.Context(), r.URL.Host, x.p.PerHost)
	if err != nil {
		closeBody(r)
		return nil, explain(r.Context(), r.URL, err)
	}
	resp, err := x.send(r)
	if err != nil {
		release()
		return nil, explain(r.Context(), r.URL, err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		release() // from here on it is a connection of the caller's, which can be written to as well
		return resp, nil
	}
	b := &body{ReadCloser: resp.Body, ctx: r.Context(), url: r.URL, left: x.p.MaxBody, limited: x.p.MaxBody > 0, done: []func(){release}}
	resp.Body = b
	if b.limited && resp.ContentLength > x.p.MaxBody && r.Method != http.MethodHead {
		_ = b.Close()
		return nil, tooLarge(r.URL)
	}
	return resp, nil
}

func (x *exchange) send(r *http.Request) (*http.Response, error) {
	proxy, err := x.proxyFor(r)
	if err != nil {
		closeBody(r)
		return nil, err
	}
	if proxy != nil {
		if err := x.c.lookUp(r.Context(), x.p.Addresses, r.URL.Hostname()); err != nil {
			closeBody(r)
			return nil, err
		}
	}
	return x.c.transport(x.p, proxy).RoundTrip(r)
}

func (x *exchange) proxyFor(r *http.Request) (*url.URL, error) {
	if x.c.o.Proxy == nil || x.p.Addresses == Loopback {
		return nil, nil
	}
	return x.c.o.Proxy(r)
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// checkURL refuses what is not a web address.
func checkURL(u *url.URL) error {
	if u == nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return errs.New(errs.Invalid, "address_malformed", "This is not a web address. It must begin with http or https and name a host.")
	}
	if looksNumeric(u.Hostname()) {
		return errs.New(errs.Forbidden, "address_refused", "Sentient does not open addresses that are written as a bare number.")
	}
	return nil
}

// redirect gives the request of the next hop; nil when the response is the last.
func (x *exchange) redirect(r *http.Request, resp *http.Response, hops int) (*http.Request, error) {
	location := resp.Header.Get("Location")
	if !slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) || location == "" || x.p.MaxRedirects < 0 {
		return nil, nil
	}
	if hops >= x.p.MaxRedirects {
		return nil, errs.Newf(errs.Unavailable, "redirect_refused", "%s sent Sentient on to another address too often.", hostOf(r.URL))
	}
	u, err := r.URL.Parse(location)
	if err != nil {
		return nil, errs.Newf(errs.Unavailable, "redirect_refused", "%s sent Sentient on to something that is not a web address.", hostOf(r.URL)).Because(errors.New("parse location"))
	}
	next := r.Clone(r.Context())
	next.URL, next.Host, next.Response = u, "", resp
	next.Header.Del("Referer")
	if r.URL.Fragment != "" && u.Fragment == "" {
		u.Fragment = r.URL.Fragment
	}
	if err := carryBody(r, next, resp.StatusCode); err != nil {
		return nil, err
	}
	if origin(r.URL) != origin(u) {
		// What was meant for the first host stays with it, also when a later hop leads back there.
		keepOnly(next.Header, "Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "Range", "If-Range", "Content-Type")
	}
	return next, nil
}

// carryBody decides what of method and body goes to the next hop, as browsers do: 307 and 308 keep both, the others
// turn all but HEAD into GET. A body is never sent to another host than the one it was meant for.
func carryBody(r, next *http.Request, status int) error {
	if status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect {
		if r.Method != http.MethodHead {
			next.Method = http.MethodGet
		}
		next.Body, next.GetBody, next.ContentLength, next.TransferEncoding = nil, nil, 0, nil
		for _, h := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"} {
			next.Header.Del(h)
		}
		return nil
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if origin(r.URL) != origin(next.URL) || r.GetBody == nil {
		return errs.Newf(errs.Unavailable, "redirect_refused", "%s asked Sentient to send this to another address, which it does not do.", hostOf(r.URL))
	}
	b, err := r.GetBody()
	if err != nil {
		return errs.Newf(errs.Internal, "redirect_refused", "Sentient could not send this again to where %s asked.", hostOf(r.URL)).Because(err)
	}
	next.Body = b
	return nil
}

// origin is scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func keepOnly(h http.Header, names ...string) {
	for k := range h {
		if !slices.Contains(names, k) {
			delete(h, k)
		}
	}
}

// hostOf names a host for people: no port, path, query or user.
func hostOf(u *url.URL) string {
	if u == nil || u.Hostname() == "" {
		return "The server"
	}
	return u.Hostname()
}
