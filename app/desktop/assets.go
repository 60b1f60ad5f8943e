package desktop

import (
	_ "embed"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"sentient/backend/errs"
)

//go:embed unbuilt.html
var unbuiltPage []byte

// pagePolicy lets the page load from its own origin and nothing else. It is the gateway's policy for the same page.
const pagePolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; " +
	"connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const filesAt = "/api/files/content/"

// assets serves the page's parts and stored files to the window. It answers GET alone: the window library carries no
// request bodies on Linux, so nothing may depend on them.
type assets struct {
	page  fs.FS
	parts http.Handler
	files interface {
		ServeFile(w http.ResponseWriter, r *http.Request, name string)
	}
}

func newAssets(page fs.FS, files Door) *assets {
	return &assets{page: page, parts: http.FileServerFS(page), files: files}
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet {
		h.Set("Allow", http.MethodGet)
		refuse(w, &errs.Error{Kind: errs.NotFound, Code: "method_not_allowed", Message: "The window serves only what is read.", Status: http.StatusMethodNotAllowed})
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, filesAt); ok && name != "" {
		a.files.ServeFile(w, r, name)
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" || name == "index.html" {
		a.index(w)
		return
	}
	if info, err := fs.Stat(a.page, name); err != nil || info.IsDir() {
		refuse(w, errs.New(errs.NotFound, "part_unknown", "The window has nothing at this address."))
		return
	}
	a.parts.ServeHTTP(w, r)
}

func (a *assets) index(w http.ResponseWriter) {
	body, err := fs.ReadFile(a.page, "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		body = unbuiltPage
	} else if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the page may have left
}
