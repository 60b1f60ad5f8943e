package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

// outside stands for an address of the internet; 127.0.0.1 stays this computer.
const outside = "127.0.0.2"

// site serves pages at outside.
func site(t *testing.T, h http.HandlerFunc) (base string, p *tool.Plugin) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(outside, "0"))
	if err != nil {
		t.Skipf("this computer has no address %s: %v", outside, err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	n := netx.New(netx.Options{Internet: func(ip netip.Addr) bool { return ip.String() == outside }})
	t.Cleanup(n.Close)
	return s.URL, New(Deps{Net: n, textMax: 512 << 10})
}

func fetch(t *testing.T, ctx context.Context, p *tool.Plugin, address string) (fetchOut, error) {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		t.Fatal(err)
	}
	args, err := p.Tools[0].Prepare(raw)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Tools[0].Run(ctx, &tool.Context{}, args)
	if err != nil {
		return fetchOut{}, err
	}
	return v.(fetchOut), nil
}

func serve(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		io.WriteString(w, body)
	}
}

func TestConform(t *testing.T) {
	base, p := site(t, serve("text/html", "<title>T</title><p>Hello"))
	conform.Plugin(t, p, conform.Case{Tool: "web_fetch", Args: `{"url":"` + base + `"}`})
}

func TestAddressesThatAreRefused(t *testing.T) {
	var heard atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	t.Cleanup(inside.Close)
	port := inside.URL[strings.LastIndexByte(inside.URL, ':'):]
	base, p := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	for address, code := range map[string]string{
		"": "address_malformed", "  ": "address_malformed", "file:///etc/passwd": "address_malformed", "javascript:alert(1)": "address_malformed", "ftp://x/y": "address_malformed",
		"data:text/html,x": "address_malformed", "http://": "address_malformed", "http://[::1": "address_malformed", "https://user:pass@example.com/": "address_malformed", "http://a\x00b/": "address_malformed", "mailto:a@b.c": "address_malformed",
		"http://" + strings.Repeat("a", 5000): "address_malformed",
		inside.URL:                            "address_refused", "http://localhost" + port: "address_refused", "localhost" + port: "address_malformed", "a": "address_malformed", "../../etc/passwd": "address_malformed", "https://a\u202eb.example": "address_malformed", "http://[::ffff:127.0.0.1]" + port: "address_refused", "http://2130706433" + port: "address_refused", "http://0x7f.1" + port: "address_refused",
		"http://192.168.0.1/": "address_refused", "http://169.254.169.254/latest/meta-data": "address_refused",
		base + "/?to=" + inside.URL: "address_refused", base + "/?to=http://localhost" + port: "address_refused", base + "/?to=file:///etc/passwd": "address_malformed",
		base + "/?to=/": "redirect_refused",
	} {
		_, err := fetch(t, t.Context(), p, address)
		if got := errs.Code(err); got != code {
			t.Errorf("%.60q: %s %v", address, got, err)
		}
	}
	if n := heard.Load(); n > 0 {
		t.Errorf("%d requests arrived inside", n)
	}
}

func TestPages(t *testing.T) {
	pdf, err := os.ReadFile("../../textkit/testdata/report.pdf")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ contentType, body, title, content string }{
		"a page":           {"text/html; charset=utf-8", `<title>The page</title><p>Hello <a href="/x">there</a>.</p>`, "The page", "Hello [there](BASE/x)."},
		"without a title":  {"text/html", "<p>Hello", outside, "Hello"},
		"another encoding": {"text/html; charset=iso-8859-1", "<p>Gr\xfc\xdfe", outside, "Grüße"},
		"XHTML":            {"application/xhtml+xml", "<html><title>X</title><p>Hello</p></html>", "X", "Hello"},
		"text":             {"text/plain", "a <b> c\n", outside, "a <b> c\n"},
		"JSON":             {"application/json", `{"a": 1}`, outside, `{"a": 1}`},
		"problem JSON":     {"application/problem+json", `{"a": 1}`, outside, `{"a": 1}`},
		"a feed":           {"application/rss+xml", "<rss>x</rss>", outside, "<rss>x</rss>"},
		"of no type":       {"application/octet-stream", "<html><title>T</title><p>Hello", "T", "Hello"},
		"a PDF":            {"application/pdf", string(pdf), outside, "Quarterly report\n"},
		"a PDF of no type": {"binary/octet-stream", string(pdf), outside, "Quarterly report\n"},
		"an odd type":      {"text/html;;;===", "<!doctype html><p>Hello", outside, "Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			base, p := site(t, serve(c.contentType, c.body))
			got, err := fetch(t, t.Context(), p, base+"/p?q=1#f")
			want := strings.ReplaceAll(c.content, "BASE", base)
			if err != nil || got.URL != base+"/p?q=1#f" || got.Title != c.title || !strings.HasPrefix(got.Content, want) || got.Truncated {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestPagesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body, code, says string }{
		"a picture":     {"image/png", "x", "page_not_text", "a picture"},
		"a drawing":     {"image/svg+xml", "<svg/>", "page_not_text", "a picture"},
		"a video":       {"video/mp4", "x", "page_not_text", "a video"},
		"an archive":    {"application/zip", "x", "page_not_text", "an archive"},
		"a program":     {"application/x-msdownload", "x", "page_not_text", "another kind"},
		"a hidden one":  {"application/octet-stream", "\x89PNG\r\n\x1a\n\x00", "page_not_text", "a picture"},
		"no text":       {"text/plain", "a\x00b\x01", "document_not_text", "not text"},
		"drawn by code": {"text/html", "<div id=root></div><script>draw()</script>", "document_without_text", "scripts"},
		"an empty page": {"text/html", "", "document_without_text", "empty"},
		"a damaged PDF": {"application/pdf", "%PDF-1.4 broken", "document_damaged", "damaged"},
	} {
		base, p := site(t, serve(c.contentType, c.body))
		if _, err := fetch(t, t.Context(), p, base); errs.Code(err) != c.code || !strings.Contains(errs.From(err).Message, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for status, code := range map[int]string{404: "page_unknown", 410: "page_unknown", 401: "page_refused", 403: "page_refused", 451: "page_refused", 429: "page_busy", 500: "page_failed", 503: "page_failed", 418: "page_failed", 304: "page_failed"} {
		base, p := site(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if _, err := fetch(t, t.Context(), p, base); errs.Code(err) != code || !strings.Contains(errs.From(err).Message, outside) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestRedirect(t *testing.T) {
	base, p := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
			return
		}
		if r.Header.Get("User-Agent") != userAgent || r.Header.Get("Accept") != accept || r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("it was asked with %v", r.Header)
		}
		serve("text/html", "<p>Hello")(w, r)
	})
	got, err := fetch(t, t.Context(), p, base+"/old")
	if err != nil || got.URL != base+"/new" {
		t.Errorf("%+v, %v", got, err)
	}
	sources := p.Tools[0].Sources(json.RawMessage(`{"url":"x"}`), encoded(t, got))
	if len(sources) != 1 || sources[0].Kind != "web" || sources[0].URL != base+"/new" || sources[0].Snippet != "Hello" {
		t.Errorf("%+v", sources)
	}
	if got := string(encoded(t, got)); got != fmt.Sprintf(`{"url":"%s/new","title":"%s","content":"Hello","truncated":false}`, base, outside) {
		t.Error(got)
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAddress(t *testing.T) {
	p := New(Deps{})
	for in, want := range map[string]string{"example.com/a?b=c": "https://example.com/a?b=c", " <http://example.com> ": "http://example.com", "//example.com/x": "https://example.com/x", "https://example.com/#f": "https://example.com/#f"} {
		if got, err := p.Tools[0].Address(t.Context(), nil, encoded(t, map[string]string{"url": in})); got != want || err != nil {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	if got, err := p.Tools[0].Address(t.Context(), nil, json.RawMessage(`{"url":"file:///x"}`)); err == nil {
		t.Error(got)
	}
}

// Bodies that never end, or are larger than anything: what is read of them is bounded, and the connection is let go.
func TestBodiesWithoutEnd(t *testing.T) {
	gone := make(chan struct{}, 10)
	endless := func(contentType, piece string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for {
				if _, err := io.WriteString(w, piece); err != nil {
					gone <- struct{}{}
					return
				}
			}
		}
	}
	words := "<p>" + strings.Repeat("words ", 5000)
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		code string
	}{
		"endless page": {endless("text/html", words), ""},
		"endless text": {endless("text/plain", words), ""},
		"endless PDF":  {endless("application/pdf", words), "document_too_large"},
		"10 GB of text": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10000000000")
			endless("text/plain", words)(w, r)
		}, ""},
		"10 GB of video": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10000000000")
			endless("video/mp4", words)(w, r)
		}, "page_not_text"},
		"packed": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for {
				if _, err := z.Write(bytes.Repeat([]byte("words "), 50_000)); err != nil {
					gone <- struct{}{}
					return
				}
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			base, p := site(t, c.h)
			got, err := fetch(t, t.Context(), p, base)
			if errs.Code(err) != c.code || c.code == "" && (err != nil || !got.Truncated || len(got.Content) > 20_000) {
				t.Errorf("%d bytes, %v, %v", len(got.Content), got.Truncated, err)
			}
			<-gone
		})
	}
}

// A body that says nothing for long ends with the call.
func TestSlowBody(t *testing.T) {
	begun := make(chan struct{})
	base, p := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<p>Hel")
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := fetch(t, ctx, p, base); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
