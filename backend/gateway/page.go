package gateway

import (
	_ "embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed pages/opened.html
var openedPage []byte

//go:embed pages/locked.html
var lockedPage []byte

//go:embed pages/unbuilt.html
var unbuiltPage []byte

// pagePolicy lets the page load from its own origin and nothing else.
const pagePolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; " +
	"connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// open takes a one-time link: it sets the page's cookie and leads on. It answers with a small page rather than a
// redirect, because a redirect that began at another site would be followed without the new SameSite=Strict cookie.
func (g *Gateway) open(w http.ResponseWriter, r *http.Request) {
	if !g.links.use(r.URL.Query().Get("code")) {
		writePage(w, http.StatusForbidden, lockedPage)
		return
	}
	g.setCookie(w)
	writePage(w, http.StatusOK, openedPage)
}

// page serves the built page to who holds its cookie. Its parts (scripts, fonts) hold nothing private and are open.
func (g *Gateway) page() http.Handler {
	files := http.FileServerFS(g.o.Page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			g.unknown(w, r)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" || name == "index.html" {
			g.index(w, r)
			return
		}
		if info, err := fs.Stat(g.o.Page, name); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		if strings.HasPrefix(name, "assets/") { // named by their content
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		files.ServeHTTP(w, r)
	})
}

func (g *Gateway) index(w http.ResponseWriter, r *http.Request) {
	index, err := fs.ReadFile(g.o.Page, "index.html")
	if err != nil {
		writePage(w, http.StatusServiceUnavailable, unbuiltPage)
		return
	}
	if !g.hasCookie(r) {
		writePage(w, http.StatusUnauthorized, lockedPage)
		return
	}
	writePage(w, http.StatusOK, index)
}

func writePage(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the reader may have left
}
