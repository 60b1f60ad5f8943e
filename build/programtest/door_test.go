//go:build program

package programtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

// raw sends bytes as they are and reads one answer. A connection that the other side ends first is status 0.
func raw(t *testing.T, e *engine, request string) answer {
	t.Helper()
	c, err := net.Dial("tcp", e.host())
	must(t, err)
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(hangLimit)))
	if _, err := io.WriteString(c, request); err != nil {
		return answer{err: err}
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	body := &bytes.Buffer{}
	_, err = body.ReadFrom(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: body.Bytes(), err: err}
}

const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// refusal wants an answer of the one shape: a sentence, a code, the request's id in body and header.
func refusal(t *testing.T, what string, a answer, status int) {
	t.Helper()
	p := a.problem()
	if a.err != nil || a.status != status {
		t.Errorf("%s: %s; want %d", what, a, status)
		return
	}
	if !isSentence(a.sentence()) || p.Code == "" || p.RequestID == "" || a.header.Get("X-Request-Id") != p.RequestID ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		t.Errorf("%s: not the shape of an error: %s", what, a)
	}
}

// A web page whose name was made to point at this computer gets nothing, whatever it asks for and however it knows the
// token.
func TestForeignHost(t *testing.T) {
	t.Parallel()
	e := newPerson(t).serve()
	_, port, _ := net.SplitHostPort(e.host())
	paths := []string{"/", "/ws", "/api/health", "/api/bootstrap", "/open?code=x", "/v1/models", "/assets/x.js", "/nonsense"}
	refusedHosts := []string{
		"localhost.evil.com", "127.0.0.1.nip.io", "localhost.", "[::1].x", "evil.com", "0.0.0.0", "[::]", "127.1", "2130706433", "[::ffff:127.0.0.1]", "127.0.0.2",
		"localhost:1", "127.0.0.1:1", "[::1]:1", "127.0.0.1", "localhost", "[::1]", "localhost:" + port + ".evil.com", "evil.com#@localhost",
	}
	for _, h := range []string{"localhost.evil.com", "127.0.0.1.nip.io", "localhost.", "[::1].x", "evil.com", "0.0.0.0", "127.0.0.1.", "127.0.0.2", "xlocalhost"} {
		refusedHosts = append(refusedHosts, h+":"+port)
	}
	tried := 0
	for _, path := range paths {
		for _, host := range refusedHosts {
			for _, more := range []string{"", "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: 127.0.0.1:" + port + "\r\nForwarded: for=127.0.0.1;host=localhost:" + port + "\r\nX-Real-IP: 127.0.0.1\r\n"} {
				head := more + "Authorization: Bearer " + e.token + "\r\n"
				if path == "/ws" {
					head += upgrade
				}
				a := raw(t, e, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, head))
				tried++
				if a.status == http.StatusBadRequest && a.problem().Code == "" {
					continue // not even a host name: net/http refuses it
				}
				refusal(t, "GET "+path+" Host "+host, a, http.StatusForbidden)
			}
		}
		for _, request := range []string{"GET %s HTTP/1.1\r\n\r\n", "GET %s HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1:" + port + "\r\n\r\n", "GET %s HTTP/1.0\r\n\r\n", "GET %s HTTP/1.1\r\nHost:\r\n\r\n"} {
			a := raw(t, e, fmt.Sprintf(request, path))
			tried++
			if a.err != nil || a.status != http.StatusBadRequest && a.status != http.StatusForbidden {
				t.Errorf("GET %s with no host or two: %s", path, a)
			}
		}
		// The host in the request line counts before the header, and is foreign too.
		a := raw(t, e, fmt.Sprintf("GET http://evil.com%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", path, port))
		tried++
		refusal(t, "GET http://evil.com"+path, a, http.StatusForbidden)
	}
	t.Logf("%d requests refused over %d paths", tried, len(paths))
	for _, host := range []string{"127.0.0.1:", "localhost:", "LOCALHOST:", "[::1]:"} {
		a := raw(t, e, fmt.Sprintf("GET /api/health HTTP/1.1\r\nHost: %s%s\r\n\r\n", host, port))
		if a.status != http.StatusOK {
			t.Errorf("Host %s%s: %s; want 200", host, port, a)
		}
	}
}

func TestForeignOrigin(t *testing.T) {
	t.Parallel()
	e := newPerson(t).serve()
	_, port, _ := net.SplitHostPort(e.host())
	own := "http://127.0.0.1:" + port
	for _, c := range []struct {
		origin string
		ok     bool
	}{
		{"http://evil.com", false}, {"null", false}, {"http://127.0.0.1:1", false}, {"http://127.0.0.1", false}, {"https://127.0.0.1:" + port, false},
		{"http://localhost:" + port + ".evil.com", false}, {"http://127.0.0.1.nip.io:" + port, false}, {"file://", false}, {"chrome-extension://abc", false},
		{own + "/", false}, {own + " http://evil.com", false}, {"http://evil@127.0.0.1:" + port, false},
		{own, true}, {"http://localhost:" + port, true}, {"http://[::1]:" + port, true},
	} {
		for _, path := range []string{"/api/bootstrap", "/api/health", "/ws", "/"} {
			head, okStatus := "", http.StatusOK
			switch path {
			case "/ws":
				head, okStatus = upgrade, http.StatusSwitchingProtocols
			case "/":
				okStatus = 0 // the page, whatever it says without its cookie
			}
			a := raw(t, e, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nAuthorization: Bearer %s\r\n%sConnection: close\r\n\r\n", path, e.host(), c.origin, e.token, head))
			switch {
			case !c.ok:
				refusal(t, path+" from "+c.origin, a, http.StatusForbidden)
			case okStatus != 0 && a.status != okStatus || a.status == http.StatusForbidden:
				t.Errorf("%s from %s: %s; want %d", path, c.origin, a, okStatus)
			}
			if v := a.header.Get("Access-Control-Allow-Origin"); v != "" {
				t.Errorf("%s from %s: Access-Control-Allow-Origin: %s", path, c.origin, v)
			}
		}
	}
}

// request makes a request with exactly these headers.
func (e *engine) request(method, path string, body io.Reader, head map[string]string) answer {
	req, err := http.NewRequest(method, e.url+path, body)
	must(e.t, err)
	for k, v := range head {
		req.Header.Set(k, v)
	}
	return e.send(req)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	e := newPerson(t).serve()
	right := "Bearer " + e.token
	for _, c := range []struct {
		name, method, path string
		head               map[string]string
		status             int
	}{
		{"none", "GET", "/api/bootstrap", nil, 401},
		{"empty", "GET", "/api/bootstrap", map[string]string{"Authorization": "Bearer "}, 401},
		{"wrong", "GET", "/api/bootstrap", map[string]string{"Authorization": "Bearer " + strings.Repeat("x", len(e.token))}, 401},
		{"shorter", "GET", "/api/bootstrap", map[string]string{"Authorization": right[:len(right)-1]}, 401},
		{"longer", "GET", "/api/bootstrap", map[string]string{"Authorization": right + "x"}, 401},
		{"other scheme", "GET", "/api/bootstrap", map[string]string{"Authorization": "Basic " + e.token}, 401},
		{"in the address", "GET", "/api/bootstrap?token=" + url.QueryEscape(e.token), nil, 401},
		{"in the address, change", "PATCH", "/api/config?token=" + url.QueryEscape(e.token), nil, 401},
		{"forwarded", "GET", "/api/bootstrap", map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": "root", "X-Real-Ip": "127.0.0.1"}, 401},
		{"unknown route, none", "GET", "/api/nonsense", nil, 401},
		{"link, none", "POST", "/api/gateway/link", nil, 401},
		{"chat, none", "POST", "/api/chat", nil, 401},
		{"upload, none", "POST", "/api/files", nil, 401},
		{"download, none", "GET", "/api/files/content/x", nil, 401},
		{"socket, none", "GET", "/ws", nil, 401},
		{"socket, wrong", "GET", "/ws?token=x", nil, 401},
		{"right", "GET", "/api/bootstrap", map[string]string{"Authorization": right}, 200},
		{"right, forwarded", "GET", "/api/bootstrap", map[string]string{"Authorization": right, "X-Forwarded-For": "8.8.8.8", "X-Forwarded-Host": "evil.com"}, 200},
		{"health is open", "GET", "/api/health", nil, 200},
	} {
		a := e.request(c.method, c.path, nil, c.head)
		t.Logf("%-24s %-6s %-28s %d", c.name, c.method, strings.Split(c.path, "?")[0], a.status)
		if c.status != 200 {
			refusal(t, c.name, a, c.status)
		} else if a.status != 200 {
			t.Errorf("%s: %s", c.name, a)
		}
		if strings.Contains(string(a.body), e.token) {
			t.Errorf("%s: the token is in the answer", c.name)
		}
	}
	for name, q := range map[string]string{"address": "?token=" + url.QueryEscape(e.token), "bearer": ""} {
		head := upgrade
		if q == "" {
			head += "Authorization: " + right + "\r\n"
		}
		if a := raw(t, e, fmt.Sprintf("GET /ws%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", q, e.host(), head)); a.status != http.StatusSwitchingProtocols {
			t.Errorf("socket with its token by %s: %s", name, a)
		}
	}
	if strings.Contains(e.log.String(), e.token) {
		t.Error("the token is in the log")
	}
}

func TestOneTimeLinkAndCookie(t *testing.T) {
	t.Parallel()
	e := newPerson(t).serve()
	open := func(link string) (answer, []*http.Cookie) {
		jar, err := cookiejar.New(nil)
		must(t, err)
		res, err := (&http.Client{Jar: jar, Timeout: hangLimit}).Get(link)
		must(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return answer{status: res.StatusCode, header: res.Header, body: body, err: err}, res.Cookies()
	}
	for _, wrong := range []string{e.url + "/open", e.url + "/open?code=", e.url + "/open?code=" + strings.Repeat("A", 43), e.link + "x", e.link[:len(e.link)-1]} {
		if a, c := open(wrong); a.status != http.StatusForbidden || len(c) != 0 {
			t.Errorf("a wrong code: %d, %d cookies", a.status, len(c))
		}
	}
	a, cookies := open(e.link)
	if a.status != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("the link: %d, %d cookies", a.status, len(cookies))
	}
	c := cookies[0]
	t.Logf("Set-Cookie: %s", strings.Replace(a.header.Get("Set-Cookie"), c.Value, "…", 1))
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Value == e.token || strings.Contains(c.Value, e.token) {
		t.Errorf("cookie: %+v", c)
	}
	if a, c := open(e.link); a.status != http.StatusForbidden || len(c) != 0 {
		t.Errorf("the link, a second time: %d, %d cookies", a.status, len(c))
	}
	made := want[struct{ URL string }](e, "POST", "/api/gateway/link", nil)
	if a, _ := open(made.URL); a.status != http.StatusOK || made.URL == e.link {
		t.Errorf("a link that the engine made: %d", a.status)
	}
	cookieRows(t, e, c)
}

// cookieRows: the page's cookie counts for what the page does, and for nobody else.
func cookieRows(t *testing.T, e *engine, c *http.Cookie) {
	t.Helper()
	cookie := c.Name + "=" + c.Value
	own := e.url
	for _, r := range []struct {
		name, method, path string
		head               map[string]string
		status             int
	}{
		{"wrong value", "GET", "/api/bootstrap", map[string]string{"Cookie": c.Name + "=x", "Sec-Fetch-Site": "same-origin"}, 401},
		{"another name", "GET", "/api/bootstrap", map[string]string{"Cookie": "sentient=" + c.Value, "Sec-Fetch-Site": "same-origin"}, 401},
		{"as a bearer", "GET", "/api/bootstrap", map[string]string{"Authorization": "Bearer " + c.Value}, 401},
		{"cross-site", "GET", "/api/bootstrap", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, 401},
		{"same-site", "GET", "/api/bootstrap", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-site"}, 401},
		{"typed in", "GET", "/api/bootstrap", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "none"}, 401},
		{"cross-site change", "POST", "/api/sessions", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site", "Origin": own}, 401},
		{"foreign origin", "POST", "/api/sessions", map[string]string{"Cookie": cookie, "Origin": "http://evil.com"}, 403},
		{"null origin", "POST", "/api/sessions", map[string]string{"Cookie": cookie, "Origin": "null"}, 403},
		{"foreign origin, same-origin claim", "GET", "/api/bootstrap", map[string]string{"Cookie": cookie, "Origin": "http://evil.com", "Sec-Fetch-Site": "same-origin"}, 403},
		{"change that nobody vouches for", "POST", "/api/sessions", map[string]string{"Cookie": cookie}, 401},
		{"page", "GET", "/api/bootstrap", map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, 200},
		{"page changes", "POST", "/api/sessions", map[string]string{"Cookie": cookie, "Origin": own, "Sec-Fetch-Site": "same-origin"}, 200},
		{"older browser changes", "POST", "/api/sessions", map[string]string{"Cookie": cookie, "Origin": own}, 200},
	} {
		a := e.request(r.method, r.path, nil, r.head)
		t.Logf("cookie, %-34s %d", r.name, a.status)
		if r.status != 200 {
			refusal(t, "cookie, "+r.name, a, r.status)
		} else if a.status != 200 {
			t.Errorf("cookie, %s: %s", r.name, a)
		}
	}
	for head, status := range map[string]int{
		"Origin: " + own + "\r\nSec-Fetch-Site: same-origin\r\n": http.StatusSwitchingProtocols,
		"Origin: http://evil.com\r\n":                            http.StatusForbidden,
		"Sec-Fetch-Site: cross-site\r\n":                         http.StatusUnauthorized,
	} {
		a := raw(t, e, fmt.Sprintf("GET /ws HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n%s%s\r\n", e.host(), cookie, upgrade, head))
		if a.status != status {
			t.Errorf("socket with the cookie, %s: %s; want %d", strings.TrimSpace(head), a, status)
		}
	}
	if a := e.request("GET", "/", nil, nil); a.status == http.StatusOK {
		t.Errorf("the page without its cookie: %s", a)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	e := newPerson(t).serve()
	made := want[struct {
		SessionID string `json:"session_id"`
	}](e, "POST", "/api/sessions", nil)
	chatPath := "/api/sessions/" + made.SessionID
	big := `{"text":"` + strings.Repeat("x", 2<<20) + `"}`
	for _, c := range []struct {
		name, method, path string
		body               any
		status             int
	}{
		{"too large", "POST", "/api/chat", big, 413},
		{"too large", "POST", "/api/notifications", big, 413},
		{"too large", "PATCH", "/api/config", big, 413},
		{"too large", "PUT", "/api/secrets/openai", big, 413},
		{"not JSON", "POST", "/api/chat", "hello", 400},
		{"half of JSON", "PATCH", "/api/config", `{"ui":`, 400},
		{"a list", "POST", "/api/notifications", `[1]`, 400},
		{"null", "POST", "/api/notifications", `null`, 400},
		{"null beside a path", "PATCH", chatPath, `null`, 400},
		{"null beside a query", "POST", "/api/sessions?model=a/b", `null`, 400},
		{"deep", "PATCH", "/api/config", strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), 400},
		{"bytes that are no text", "POST", "/api/chat", "{\"text\":\"\xff\xfe\"", 400},
		{"two values", "POST", "/api/notifications", `{"message":"a"}{"message":"b"}`, 400},
		{"nothing to say", "POST", "/api/notifications", `{}`, 400},
		{"wrong type", "POST", "/api/chat", `{"text":5}`, 422},
		{"empty message", "POST", "/api/chat", `{"text":"  "}`, 422},
		{"model that is none", "POST", "/api/chat", `{"text":"x","model":"nonsense"}`, 422},
		{"limit", "GET", "/api/sessions?limit=many", nil, 422},
		{"limit", "GET", "/api/sessions?limit=-1", nil, 422},
		{"query", "GET", "/api/sessions?limit=%zz", nil, 400},
		{"unknown route", "GET", "/api/nonsense", nil, 404},
		{"unknown route", "POST", "/api", nil, 404},
		{"unknown route", "DELETE", "/api/sessions/", nil, 404},
		{"unknown chat", "GET", "/api/sessions/nonsense/messages", nil, 404},
		{"unknown chat", "PATCH", "/api/sessions/nonsense", `{"title":"x"}`, 404},
		{"unknown chat", "POST", "/api/chat", `{"text":"x","session_id":"nonsense"}`, 404},
		{"unknown file", "GET", "/api/files/content/nonsense", nil, 404},
		{"out of the folder", "GET", "/api/files/content/..%2f..%2fgateway.token", nil, 404},
		{"wrong method", "POST", "/api/health", nil, 405},
		{"wrong method", "DELETE", "/api/config", nil, 405},
		{"wrong method", "PUT", chatPath, `{}`, 405},
		{"wrong method", "PROPFIND", "/api/sessions", nil, 405},
		{"not a socket", "POST", "/ws", nil, 404},
		{"no file", "POST", "/api/files", `{}`, 400},
	} {
		a := e.call(c.method, c.path, c.body)
		t.Logf("%-24s %-8s %-44s %d %s", c.name, c.method, c.path, a.status, a.problem().Code)
		refusal(t, c.name+": "+c.method+" "+c.path, a, c.status)
		if a.status == 405 && a.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", c.method, c.path)
		}
	}
	bad := e.call("PATCH", "/api/config", map[string]any{"ui": map[string]any{"theme": "pink"}, "nonsense": 1})
	if !strings.HasPrefix(string(bad.problem().Detail), `[{"loc":[`) || bad.status != 422 || bad.problem().RequestID == "" {
		t.Errorf("settings that are wrong: %s", bad)
	}
	if a := raw(t, e, "GET /api/health HTTP/1.1\r\nHost: "+e.host()+"\r\nX-Big: "+strings.Repeat("x", 64<<10)+"\r\n\r\n"); a.status != 431 && a.err == nil {
		t.Errorf("a header that is too large: %s", a)
	}
	if a := raw(t, e, "NONSENSE\r\n\r\n"); a.status != 400 {
		t.Errorf("no HTTP: %s", a)
	}
	if n := e.notifications(); len(n) != 0 {
		t.Errorf("refused requests left %d notifications", len(n))
	}
	uploadTooLarge(t, e)
}

// uploadTooLarge sends more than a file may have.
func uploadTooLarge(t *testing.T, e *engine) {
	t.Helper()
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		part, err := form.CreateFormFile("file", "big.bin")
		block := make([]byte, 1<<20)
		for i := 0; err == nil && i < 210; i++ {
			_, err = part.Write(block)
		}
		_ = form.Close()              // the reader may have left
		_ = write.CloseWithError(err) // never fails
	}()
	a := e.request("POST", "/api/files", read, map[string]string{"Authorization": "Bearer " + e.token, "Content-Type": form.FormDataContentType()})
	_ = read.Close() // never fails
	<-fed
	t.Logf("%-24s %d %s", "a file of 210 MB", a.status, a.problem().Code)
	if a.err == nil {
		refusal(t, "a file of 210 MB", a, 413)
	}
	if rss := e.memory(); rss > 300 {
		t.Errorf("%.0f MB of memory after a file of 210 MB", rss)
	}
}
