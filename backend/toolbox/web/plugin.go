// Package web is the plugin that reads pages of the web.
//
// It owns one tool, web_fetch. It promises that only addresses of the internet are loaded, at every redirect; that no page,
// however large, slow or packed, costs more than its caps; and that what it gives is text: an article's Markdown, a PDF's
// text, plain text, never scripts or what a page hides. It runs no scripts: pages that are drawn by them belong to the
// browser.
package web

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"sentient/backend/errs"
	"sentient/backend/netx"
	"sentient/backend/textkit"
	"sentient/backend/tool"
)

//go:embed web_fetch.md
var description string

// Deps are what the plugin needs from outside.
type Deps struct {
	Net      *netx.Client
	MaxChars func() int // how much of a page is read (integrations.web_fetch_max_chars); nil or 0: 20,000

	textMax int64 // bytes of text that are read of a page; tests read less
}

// New makes the plugin.
func New(d Deps) *tool.Plugin {
	if d.textMax == 0 {
		d.textMax = textMax
	}
	return &tool.Plugin{
		ID: "web", Name: "Web pages", Description: "Reads web pages and documents by their address.", Category: "knowledge", Icon: "world", Auth: "builtin", Public: true,
		Hint:  "url link website webpage page site web internet online article blog read open fetch summarize https www com org",
		Tools: []*tool.Tool{d.fetch()},
	}
}

// Limits of one page.
const (
	within    = 20 * time.Second
	textMax   = 5 << 20  // bytes of text that are read of a page; the rest is cut
	pdfMax    = 25 << 20 // bytes of a PDF, which is whole or nothing
	userAgent = "Mozilla/5.0 (compatible; Sentient)"
	accept    = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,application/pdf;q=0.9,*/*;q=0.5"
)

type fetchIn struct {
	URL string `json:"url" doc:"The page's address."`
}

// fetchOut is what web_fetch gives (§16).
type fetchOut struct {
	URL       string `json:"url"` // where redirects led
	Title     string `json:"title"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
}

func (d Deps) fetch() *tool.Tool {
	return tool.New(tool.Def[fetchIn]{
		Name: "web_fetch", Description: strings.TrimSpace(description), Risk: tool.Read, Within: within + 20*time.Second,
		Run: d.run,
		Address: func(_ context.Context, _ *tool.Context, in fetchIn) (string, error) {
			u, err := addressOf(in.URL)
			if err != nil {
				return "", err
			}
			return u.String(), nil
		},
		Sources: func(_ fetchIn, result json.RawMessage) []tool.Source {
			var out fetchOut
			if json.Unmarshal(result, &out) != nil || out.URL == "" {
				return nil
			}
			return []tool.Source{{Kind: "web", Title: out.Title, URL: out.URL, Snippet: out.Content}}
		},
	})
}

// addressOf reads an address as people and models write them: without a scheme too.
func addressOf(text string) (*url.URL, error) {
	text = strings.Trim(strings.TrimSpace(text), `<>"'`)
	bare := !strings.Contains(text, "://")
	if bare {
		text = "https://" + strings.TrimPrefix(text, "//")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > 4000 || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsFunc(u.Hostname(), noHost):
		return nil, errAddress()
	case bare && (!strings.Contains(u.Hostname(), ".") || strings.HasPrefix(u.Hostname(), ".")):
		return nil, errAddress() // a word, not an address
	case u.User != nil:
		return nil, errs.New(errs.Invalid, "address_malformed", "Sentient does not open addresses with a user name or password in them.")
	}
	return u, nil
}

func errAddress() *errs.Error {
	return errs.New(errs.Invalid, "address_malformed", "This is not a web address. Give one like https://example.com/page.")
}

// noHost reports whether a character is in no host's name.
func noHost(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-._:%", r)
}

func (d Deps) maxChars() int {
	if d.MaxChars != nil && d.MaxChars() > 0 {
		return d.MaxChars()
	}
	return 20_000
}

func (d Deps) run(ctx context.Context, _ *tool.Context, in fetchIn) (any, error) {
	u, err := addressOf(in.URL)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errAddress().Because(errors.New("make request"))
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", accept)
	// No cap here: a text is cut, not refused, and a PDF has its own.
	resp, err := d.Net.Do(netx.Policy{Addresses: netx.Public, Timeout: within, HeaderTimeout: within, MaxBody: -1}, r)
	if err != nil {
		return nil, ended(ctx, err)
	}
	defer resp.Body.Close()
	final := u
	if resp.Request != nil && resp.Request.URL != nil {
		final = resp.Request.URL
	}
	if err := refused(resp.StatusCode, final); err != nil {
		return nil, err
	}
	page, err := d.read(ctx, resp, final)
	if err != nil {
		return nil, ended(ctx, err)
	}
	if page.Title == "" {
		page.Title = final.Hostname()
	}
	return fetchOut{URL: final.String(), Title: page.Title, Content: page.Text, Truncated: page.Cut}, nil
}

// ended gives a call's own end as it is, and what netx and textkit say as it is.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*errs.Error](err); ok {
		return err
	}
	return errs.New(errs.Unavailable, "page_failed", "This page could not be read. Try again, or another page.").Because(err)
}

func refused(status int, u *url.URL) error {
	cause := fmt.Errorf("status %d", status)
	host := u.Hostname()
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusNotFound || status == http.StatusGone:
		return errs.Newf(errs.NotFound, "page_unknown", "%s has no page at this address (%d).", host, status).Because(cause)
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnavailableForLegalReasons:
		return errs.Newf(errs.Forbidden, "page_refused", "%s does not let Sentient read this page (%d).", host, status).Because(cause)
	case status == http.StatusTooManyRequests:
		return errs.Newf(errs.Limited, "page_busy", "%s was asked too often and turned Sentient away for now. Try again in some minutes.", host).Because(cause)
	case status >= 500:
		return errs.Newf(errs.Unavailable, "page_failed", "%s has trouble with this page right now (%d). Try again later.", host, status).Because(cause)
	}
	return errs.Newf(errs.Unavailable, "page_failed", "%s did not give this page (%d).", host, status).Because(cause)
}

// read reads a page by what it says it is.
func (d Deps) read(ctx context.Context, resp *http.Response, at *url.URL) (textkit.Page, error) {
	declared := resp.Header.Get("Content-Type")
	body := io.Reader(resp.Body)
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || kind == "application/octet-stream" || kind == "binary/octet-stream" {
		head := make([]byte, 512)
		n, err := io.ReadFull(body, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return textkit.Page{}, err
		}
		declared = http.DetectContentType(head[:n])
		kind, _, _ = mime.ParseMediaType(declared) // what the standard library gives can be read
		body = io.MultiReader(bytes.NewReader(head[:n]), body)
	}
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return d.readHTML(ctx, body, declared, at)
	case kind == "application/pdf" || kind == "application/x-pdf":
		return d.readPDF(ctx, body)
	case isText(kind):
		return d.readText(body, declared)
	}
	return textkit.Page{}, errs.Newf(errs.Invalid, "page_not_text", "This address gives %s, which can't be read as text.", plainly(kind))
}

func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml" {
		return true
	}
	switch kind {
	case "application/json", "application/ld+json", "application/x-ndjson", "application/xml", "application/javascript", "application/x-javascript", "application/yaml", "application/x-yaml", "application/toml", "application/x-sh", "application/sql":
		return true
	}
	return false
}

// plainly names a kind of content for people.
func plainly(kind string) string {
	switch family, _, _ := strings.Cut(kind, "/"); {
	case family == "image":
		return "a picture"
	case family == "video":
		return "a video"
	case family == "audio":
		return "sound"
	case family == "font":
		return "a font"
	case strings.Contains(kind, "zip") || strings.Contains(kind, "compressed") || strings.Contains(kind, "tar"):
		return "an archive"
	case strings.Contains(kind, "msword") || strings.Contains(kind, "officedocument") || strings.Contains(kind, "ms-"):
		return "an Office document"
	}
	return "a file of another kind"
}

func (d Deps) readHTML(ctx context.Context, body io.Reader, declared string, at *url.URL) (textkit.Page, error) {
	page, err := textkit.HTML(ctx, io.LimitReader(body, d.textMax+1), textkit.HTMLOptions{Base: at, ContentType: declared, Max: d.maxChars()})
	if err == nil && page.Text == "" {
		return page, errs.New(errs.Invalid, textkit.CodeEmptyText, "This page shows no text of its own: it is empty, or drawn by scripts, which web_fetch does not run.")
	}
	return page, err
}

func (d Deps) readPDF(ctx context.Context, body io.Reader) (textkit.Page, error) {
	data, err := io.ReadAll(io.LimitReader(body, pdfMax+1))
	if err != nil {
		return textkit.Page{}, err
	}
	if len(data) > pdfMax {
		return textkit.Page{}, errs.Newf(errs.TooLarge, textkit.CodeTooBig, "This PDF is larger than %d MB, which is more than Sentient reads from the web.", pdfMax>>20)
	}
	var b strings.Builder
	broken := false
	for text, err := range textkit.PDF(ctx, bytes.NewReader(data), int64(len(data))) {
		if err != nil && b.Len() == 0 {
			return textkit.Page{}, err
		}
		b.WriteString(text)
		broken = err != nil
		if broken || b.Len() > 4*d.maxChars() {
			break
		}
	}
	if b.Len() == 0 {
		return textkit.Page{}, errs.New(errs.Invalid, textkit.CodeEmptyText, "This PDF has no text in it; it may be made of scanned pictures.")
	}
	text, cut := textkit.First(strings.TrimSpace(b.String()), d.maxChars())
	return textkit.Page{Text: text, Cut: cut || broken}, nil
}

func (d Deps) readText(body io.Reader, declared string) (textkit.Page, error) {
	data, err := io.ReadAll(io.LimitReader(body, d.textMax+1))
	if err != nil {
		return textkit.Page{}, err
	}
	long := int64(len(data)) > d.textMax
	text, err := textkit.Decode(data[:min(int64(len(data)), d.textMax)], declared)
	if err != nil {
		return textkit.Page{}, err
	}
	text, cut := textkit.First(text, d.maxChars())
	return textkit.Page{Text: text, Cut: cut || long}, nil
}
