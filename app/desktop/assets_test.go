package desktop

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"sentient/backend/clock"
)

func TestAssets(t *testing.T) {
	door := newSwitchDoor(t.Context(), clock.Real{})
	door.put(newStandIn("engine"))
	built := newAssets(fstest.MapFS{
		"index.html":      {Data: []byte("<html><head></head><body>built</body></html>")},
		"assets/a-1.js":   {Data: []byte("let a = 1")},
		"assets/sub/x.ts": {Data: []byte("x")},
	}, door)
	empty := newAssets(fstest.MapFS{".keep": {}}, door)
	for _, c := range []struct {
		name, method, path string
		from               *assets
		status             int
		kind, has          string
	}{
		{"posting", "POST", "/", built, 405, "text/plain", "only what is read"},
		{"heading", "HEAD", "/assets/a-1.js", built, 405, "text/plain", ""},
		{"unknown part", "GET", "/assets/b.js", built, 404, "text/plain", "nothing"},
		{"folder", "GET", "/assets", built, 404, "text/plain", "nothing"},
		{"folder with slash", "GET", "/assets/", built, 404, "text/plain", "nothing"},
		{"out of the page", "GET", "/../../etc/passwd", built, 404, "text/plain", "nothing"},
		{"an operation", "GET", "/api/bootstrap", built, 404, "text/plain", "nothing"},
		{"no file named", "GET", "/api/files/content/", built, 404, "text/plain", "nothing"},
		{"page", "GET", "/", built, 200, "text/html", "built"},
		{"page by name", "GET", "/index.html", built, 200, "text/html", "built"},
		{"part", "GET", "/assets/a-1.js", built, 200, "text/javascript", "let a"},
		{"file", "GET", "/api/files/content/screens/a.png", built, 200, "", "engine has screens/a.png"},
		{"unbuilt page", "GET", "/", empty, 200, "text/html", "./task build"},
		{"file of an unbuilt page", "GET", "/api/files/content/a.png", empty, 200, "", "engine has a.png"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			c.from.ServeHTTP(w, httptest.NewRequest(c.method, c.path, http.NoBody))
			if w.Code != c.status || !strings.HasPrefix(w.Header().Get("Content-Type"), c.kind) || !strings.Contains(w.Body.String(), c.has) {
				t.Errorf("%d %q %q", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			if w.Header().Get("Content-Security-Policy") != pagePolicy || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

// Window and browser show the same page under the same policy.
func TestThePolicyIsTheGateways(t *testing.T) {
	source, err := os.ReadFile("../../backend/gateway/page.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(source), "\" +\n\t\"", "")
	if !strings.Contains(text, `"`+pagePolicy+`"`) {
		t.Error("the gateway serves the page under another policy")
	}
}
