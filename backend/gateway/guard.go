package gateway

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/discovery"
	"sentient/backend/errs"
)

// guardHost refuses a request for another host name: a web page whose name was made to point at this computer (DNS
// rebinding) shows itself by that name. Only exact loopback names with our port pass.
func (g *Gateway) guardHost(r *http.Request) error {
	if g.hosts[strings.ToLower(r.Host)] {
		return nil
	}
	return errs.New(errs.Forbidden, "host_forbidden", "Sentient answers only on this computer, under its own address.")
}

// guardOrigin refuses what another web page sends. Browsers name the page in Origin; programs send none.
func (g *Gateway) guardOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" || g.ownOrigin(origin) {
		return nil
	}
	return errs.New(errs.Forbidden, "origin_forbidden", "Another web page tried to use Sentient. It was refused.")
}

func (g *Gateway) ownOrigin(origin string) bool {
	host, ok := strings.CutPrefix(strings.ToLower(origin), "http://")
	return ok && g.hosts[host]
}

// guardCaller wants the folder's token, as a bearer or (sockets only, whose makers cannot set headers) in the address,
// or the page's cookie, which counts only for requests that the page itself makes.
func (g *Gateway) guardCaller(r *http.Request, socket bool) error {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && same(bearer, g.token) {
		return nil
	}
	if socket && same(r.URL.Query().Get("token"), g.token) {
		return nil
	}
	if c, err := r.Cookie(g.pageTag); err == nil && same(c.Value, g.cookieValue()) && g.fromPage(r) {
		return nil
	}
	return errs.New(errs.Unauthorized, "unauthorized", "Sentient needs its own token for this. Open it from its window, or with the link that `sentient` prints.")
}

// fromPage tells whether a browser says that our own page makes this request. A browser that says nothing is believed
// only for reading: SameSite=Strict already keeps other sites' requests without the cookie.
func (g *Gateway) fromPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	return g.ownOrigin(r.Header.Get("Origin")) || r.Method == http.MethodGet || r.Method == http.MethodHead
}

// hasCookie tells whether the page's cookie is there at all, for the page itself (a navigation, which names no origin).
func (g *Gateway) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(g.pageTag)
	return err == nil && same(c.Value, g.cookieValue())
}

func (g *Gateway) cookieValue() string { return digest(g.token, "page cookie") }

func (g *Gateway) setCookie(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{Name: g.pageTag, Value: g.cookieValue(), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int((180 * 24 * time.Hour).Seconds())})
}

func same(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

const linkLife = 10 * time.Minute

// links are the one-time links that wait to be opened.
type links struct {
	clock clock.Clock
	mu    sync.Mutex
	codes map[string]time.Time // code → when it ends
}

func newLinks(c clock.Clock) *links { return &links{clock: c, codes: map[string]time.Time{}} }

func (l *links) make() (string, error) {
	code, err := discovery.Random()
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for c, ends := range l.codes {
		if now.After(ends) {
			delete(l.codes, c)
		}
	}
	l.codes[code] = now.Add(linkLife)
	return code, nil
}

// use takes a code. It counts once.
func (l *links) use(code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ends, ok := l.codes[code]
	delete(l.codes, code)
	return ok && !l.clock.Now().After(ends)
}
