package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/gateway/v1"
	"sentient/backend/obs"
	"sentient/backend/transcript"
)

type appKey string

func (k appKey) Get(context.Context) (string, error) { return string(k), nil }
func (appKey) Put(context.Context, string) error     { return nil }

type appChats struct{}

func (appChats) Named(context.Context, string) (string, error) { return "s", nil }

type appTurns struct{}

func (appTurns) Ask(_ context.Context, q v1.Question, each func(transcript.Line) error) error {
	if q.Text == "panic" {
		panic("in a turn")
	}
	for _, payload := range []any{transcript.SessionEvent{}, transcript.TextDelta{Text: "You said: " + q.Text}, transcript.DoneEvent{}} {
		if err := each(transcript.Line{Payload: payload}); err != nil {
			return err
		}
	}
	return nil
}

// The API of other apps stands behind the gateway's checks of Host and Origin, and before everything else of it.
func TestOtherAppsAtTheGateway(t *testing.T) {
	var on, safe bool
	table := api.NewTable(api.Services{}, func() *errs.Error {
		if safe {
			return errs.New(errs.Unavailable, "safe_mode", "The database can't be used.")
		}
		return nil
	})
	g, err := Open(Options{Dir: t.TempDir(), Exact: true, Table: table, Page: fstest.MapFS{}, Clock: clock.Real{}, Log: obs.Discard(),
		V1: v1.Options{Settings: func() (bool, bool) { return on, false }, Key: appKey("sk-sentient-x"), Turns: appTurns{}, Chats: appChats{}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() { _ = g.Serve(ctx) })
	defer served.Wait()
	defer stop()
	host := strings.TrimPrefix(g.URL(), "http://")
	say := func(text string) string { return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, text) }
	for _, c := range []struct {
		name, request, host, more, key, body string
		off, safe                            bool
		status                               int
		has, lacks                           string
	}{
		{name: "another host", request: "GET /v1/models", host: "evil.example", status: 403, has: `"code":"host_forbidden"`},
		{name: "another host while off", off: true, request: "GET /v1/models", host: "evil.example", status: 403, has: `"error":{"message":"`},
		{name: "another page", request: "GET /v1/models", more: "Origin: https://evil.example\r\n", status: 403, has: `"origin_forbidden"`},
		{name: "off", off: true, request: "GET /v1/models", key: "x", status: 404, has: `"code":"api_off"`, lacks: "detail"},
		{name: "off, no such path", off: true, request: "GET /v1", status: 404, has: `"code":"api_off"`},
		{name: "off, a path written otherwise", off: true, request: "GET /v1//models", status: 404, has: `"code":"api_off"`},
		{name: "off, a path that leads up", off: true, request: "GET /v1/../v1/models", status: 404, has: `"code":"api_off"`},
		{name: "the folder's token", request: "GET /v1/models", key: g.Token(), status: 401, has: `"code":"invalid_api_key"`},
		{name: "the folder's token in the address", request: "GET /v1/models?token=" + g.Token(), key: "x", status: 401, has: `"code":"invalid_api_key"`},
		{name: "wrong key and no JSON", request: "POST /v1/chat/completions", key: "x", body: "{", status: 401, has: `"code":"invalid_api_key"`},
		{name: "safe mode", safe: true, request: "GET /v1/models", status: 503, has: `"code":"safe_mode"`, lacks: "detail"},
		{name: "a path written otherwise", request: "GET /v1//models", status: 404, has: `"code":"unknown_url"`},
		{name: "the key elsewhere", request: "GET /api/nothing", status: 401, has: `"detail":`, lacks: `"error"`},
		{name: "a turn that panics", request: "POST /v1/chat/completions", body: say("panic"), status: 500, has: `"code":"turn_failed"`, lacks: "in a turn"},
		{name: "models", request: "GET /v1/models", status: 200, has: `"id":"sentient"`},
		{name: "a turn", request: "POST /v1/chat/completions", body: say("hi"), status: 200, has: `You said: hi`},
		{name: "a turn as localhost", host: "localhost:" + fmt.Sprint(g.Port()), request: "POST /v1/chat/completions", body: say("hi"), status: 200, has: `You said: hi`},
	} {
		t.Run(c.name, func(t *testing.T) {
			on, safe = !c.off, c.safe
			if c.host == "" {
				c.host = host
			}
			if c.key == "" {
				c.key = "sk-sentient-x"
			}
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", c.request, c.host, c.key, c.more, len(c.body), c.body)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			raw, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != c.status || !strings.Contains(string(raw), c.has) || c.lacks != "" && strings.Contains(string(raw), c.lacks) {
				t.Errorf("%d %s (%v); want %d with %s", res.StatusCode, raw, err, c.status, c.has)
			}
			if !json.Valid(raw) || res.Header.Get("X-Request-Id") == "" || strings.HasPrefix(c.request, "GET /v1") && (c.status == 200) == (res.Header.Get("X-Should-Retry") == "false") {
				t.Errorf("%v %s", res.Header, raw)
			}
		})
	}
}
