//go:build desktop && linux && windowsmoke

package desktop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/obs"
)

// reports is a page that tells what it saw by the parts that it asks for.
type reports struct {
	parts fstest.MapFS // not embedded: its other methods would answer in place of Open
	seen  chan report
}

type report struct{ name, value string }

func (r reports) Open(name string) (fs.File, error) {
	if text, ok := strings.CutPrefix(name, "report/"); ok {
		var parts []json.RawMessage
		raw, err := hex.DecodeString(text)
		if err == nil {
			err = json.Unmarshal(raw, &parts)
		}
		if err != nil || len(parts) == 0 {
			r.seen <- report{"unreadable", name}
		} else {
			value := "null"
			if len(parts) > 1 {
				value = string(parts[1])
			}
			r.seen <- report{strings.Trim(string(parts[0]), `"`), value}
		}
		return nil, fs.ErrNotExist
	}
	return r.parts.Open(name)
}

// ledger keeps what leaves the window.
type ledger struct {
	mu   sync.Mutex
	seen []string
}

func (l *ledger) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, r.Method+" "+r.URL.Path)
}

// A page that wants out stays in, loads nothing, and still gets everything that a page is for. It survives a reload and
// the death of its process, and what it had open then is closed.
func TestHostilePage(t *testing.T) {
	runtime.LockOSThread()
	if err := openDisplay(); err != nil {
		t.Fatal(err)
	}
	gone := &ledger{}
	server := httptest.NewServer(gone)
	defer server.Close()
	home := t.TempDir()
	var log bytes.Buffer
	w := newWindow(home, clock.Real{}, obs.NewLogger(&log, 0))
	page := reports{fstest.MapFS{"ledger.js": {Data: []byte("window.LEDGER = " + strconv.Quote(server.URL))}}, make(chan report, 1000)}
	for _, name := range []string{"hostile.html", "hostile.js"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		page.parts[strings.Replace(name, "hostile.html", "index.html", 1)] = &fstest.MapFile{Data: raw}
	}
	drove := make(chan struct{})
	go func() {
		defer close(drove)
		defer w.quit()
		drive(t, w, page.seen)
	}()
	if status := w.run(page); status != 0 {
		t.Errorf("status %d", status)
	}
	<-drove
	gone.mu.Lock()
	defer gone.mu.Unlock()
	if len(gone.seen) > 0 {
		t.Errorf("left the window: %q", gone.seen)
	}
	if t.Failed() {
		t.Logf("the window's log:\n%s", log.String())
	}
}

// drive hears the page out, three times: at first, after its own reload, and after its process was killed.
func drive(t *testing.T, w *window, seen chan report) {
	first := hear(t, w, seen, "ran")
	check(t, first)
	if got := first["ran"]; len(got) != 1 || got[0] != "[null,null,null,null]" {
		t.Errorf("scripts ran that are not the page's files: %v", got)
	}
	if got := first["fetch"]; !slices.Equal(got, []string{`"refused"`}) {
		t.Errorf("fetch: %v", got)
	}
	if len(first["still here after"]) != 10 {
		t.Errorf("still here after %v", first["still here after"])
	}
	opened := streamsOf(w)
	check(t, hear(t, w, seen, "ended"))
	for name := range streamsOf(w) {
		if opened[name] {
			t.Errorf("the page that is gone still has %s", name)
		}
	}
	kill(t, "WebKitWebProcess")
	after := hear(t, w, seen, "ended")
	if len(after["begun"]) != 1 {
		t.Errorf("after the death of its process the page began %d times", len(after["begun"]))
	}
	check(t, after)
}

func streamsOf(w *window) map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := map[string]bool{}
	for name := range w.open {
		open[name] = true
	}
	return open
}

// hear collects reports up to the last.
func hear(t *testing.T, w *window, seen chan report, last string) map[string][]string {
	got := map[string][]string{}
	timer := w.clock.NewTimer(time.Minute)
	defer timer.Stop()
	for {
		select {
		case r := <-seen:
			t.Logf("%s: %.200s", r.name, r.value)
			got[r.name] = append(got[r.name], r.value)
			if r.name == last {
				return got
			}
		case <-timer.C():
			t.Errorf("the page did not say %q; it said %v", last, got)
			return got
		}
	}
}

// check compares what a page may do with what it got.
func check(t *testing.T, got map[string][]string) {
	for name, want := range map[string][]string{
		"health":       {`"ok"`, `"ok":true`},
		"unknown chat": {`"refused"`, `"status":404`, `"code":"chat_unknown"`, `"request_id":"`},
		"wrong shape":  {`"refused"`},
		"file link":    {`"refused"`, `"status":422`, `"code":"link_refused"`, `Sentient opens only web and mail links.`},
		"info":         {`"ok"`, `"platform":"linux"`},
		"engine":       {`"ok"`, `"state":"ready"`},
		"posting":      {`"ok"`, `405`},
		"live":         {`"hello"`},
		"upload":       {`18`},
		"file":         {`[200,"text/plain`, `the boats are home`},
	} {
		if len(got[name]) != 1 {
			t.Errorf("%s: said %d times", name, len(got[name]))
			continue
		}
		for _, part := range want {
			if !strings.Contains(got[name][0], part) {
				t.Errorf("%s: %s lacks %s", name, got[name][0], part)
			}
		}
	}
}

// kill ends the child processes of this one that have a name.
func kill(t *testing.T, name string) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", os.Getpid()))
	if err != nil {
		t.Error(err)
	}
	threads, _ := filepath.Glob("/proc/self/task/*/children") // a child belongs to the thread that started it
	for _, path := range threads {
		more, _ := os.ReadFile(path) // a thread may have ended
		raw = append(append(raw, ' '), more...)
	}
	killed := 0
	for _, field := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(raw))))) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			continue
		}
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		if p, err := os.FindProcess(pid); err == nil && strings.Contains(string(command), name) && p.Kill() == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Errorf("no %s to kill", name)
	}
}
