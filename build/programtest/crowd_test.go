//go:build program

package programtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sentient/backend/llm/scripted"
)

// crowd is many live connections at once. each runs for every one of them, side by side.
func crowd(n int, each func(i int) error) error {
	var all sync.WaitGroup
	failed := make([]error, n)
	limit := make(chan struct{}, 64) // of those that connect in the same moment
	for i := range n {
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			failed[i] = each(i)
		})
	}
	all.Wait()
	for i, err := range failed {
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
	}
	return nil
}

// 500 clients lose their sockets at once, things happen, and all come back and name the last event they saw: each gets
// every kept event in order, or is told that there is a gap (R6).
func TestManyClientsComeBack(t *testing.T) {
	const clients, events = 500, 60
	s := newStub(t)
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	all := make([]*live, clients)
	join := func(since func(i int) string) time.Duration {
		t.Helper()
		start := time.Now()
		must(t, crowd(clients, func(i int) (err error) {
			all[i], err = e.connect(context.Background(), since(i), nil)
			return err
		}))
		return time.Since(start)
	}
	first := join(func(int) string { return "" })
	files := e.openFiles()
	post := func(n int, word string) {
		t.Helper()
		for i := range n {
			want[map[string]any](e, "POST", "/api/notifications", map[string]any{"message": fmt.Sprintf("%s %d", word, i)})
		}
	}
	// read wants n notes of a word, in order; gaps counts those who were told a gap instead.
	read := func(n int, word string) (gaps int64) {
		t.Helper()
		var told atomic.Int64
		must(t, crowd(clients, func(i int) error {
			next := 0
			got, err := all[i].until(func(h happening) bool {
				if h.Type == "notification.new" {
					var note notification
					_ = json.Unmarshal(h.Data, &note) // a wrong one is not the next one
					if note.Message == fmt.Sprintf("%s %d", word, next) {
						next++
					}
				}
				if h.Type == "gap" {
					told.Add(1)
				}
				return next == n || h.Type == "gap"
			})
			if err != nil {
				return fmt.Errorf("%d of %d notes, %d events: %w", next, n, len(got), err)
			}
			return nil
		}))
		return told.Load()
	}
	post(5, "before")
	if gaps := read(5, "before"); gaps != 0 {
		t.Errorf("%d gaps without any break", gaps)
	}
	for _, l := range all {
		l.close()
	}
	post(events, "missed")
	back := join(func(i int) string { return all[i].since() })
	gaps := read(events, "missed")
	post(3, "after")
	later := read(3, "after")
	t.Logf("%d clients: joined in %s, back in %s, %d kept events each, %d gaps, then %d; %d files open, %.0f MB", clients, first.Round(time.Millisecond), back.Round(time.Millisecond), events, gaps, later, files, e.memory())
	if gaps != 0 || later != 0 {
		t.Errorf("%d and %d gaps after a short absence", gaps, later)
	}
	for _, l := range all {
		l.close()
	}
	// Whoever was away for longer than the engine looks back, or comes from another start, is told a gap.
	for _, since := range []string{"nonsense", "x.1", all[0].boot + ".99999999", all[0].boot + ".-1", "." + "1"} {
		l, err := e.connect(t.Context(), since, nil)
		must(t, err)
		l.await(t, "a gap for since="+since, func(h happening) bool { return h.Type == "gap" })
		l.close()
	}
	e.stop()
}

// slowReader takes one byte a second off a live connection.
func slowReader(t *testing.T, e *engine) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", e.host())
	must(t, err)
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // a hint: the smaller, the sooner it is in the way
	_, err = fmt.Fprintf(c, "GET /ws?token=%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", url.QueryEscape(e.token), e.host(), upgrade)
	must(t, err)
	one := make([]byte, 1)
	for line := ""; !strings.HasSuffix(line, "\r\n\r\n"); { // the handshake is read whole
		_, err := c.Read(one)
		must(t, err)
		line += string(one)
	}
	return c
}

// Readers of one byte a second delay nobody: everybody else gets the whole reply, in order (R6).
func TestSlowReadersDelayNobody(t *testing.T) {
	const slow, quick, pieces = 40, 10, 3000
	text := make([]string, pieces)
	for i := range text {
		text[i] = fmt.Sprintf("%d %s ", i, strings.Repeat("z", 400))
	}
	full := strings.Join(text, "")
	s := newStub(t)
	s.on("tell", func(string) scripted.Play { return paced(text, time.Millisecond/2) })
	p := newPerson(t)
	p.configure(s, "")
	e := p.serve()
	readers := make([]*live, quick)
	for i := range readers {
		readers[i] = e.open(t)
	}
	// tell has the reply streamed and gives, for each quick reader, when it had all of it, and the longest wait for a piece.
	tell := func(word string) (took, longest time.Duration) {
		t.Helper()
		start := time.Now()
		must(t, readers[0].say(map[string]any{"type": "chat.send", "text": "tell " + word}))
		var mu sync.Mutex
		must(t, crowd(quick, func(i int) error {
			var d drawing
			last, gaps, wait := time.Now(), 0, time.Duration(0)
			var order []uint64
			_, err := readers[i].until(func(h happening) bool {
				if h.Type == "text_delta" {
					if len(order) > 0 {
						wait = max(wait, time.Since(last))
					}
					last = time.Now()
					if !d.add(h.Text, h.Offset) {
						gaps++
					}
				}
				if h.Seq > 0 {
					order = append(order, h.Seq)
				}
				return h.Type == "done"
			})
			if err == nil && (gaps > 0 || d.text() != full || !slices.IsSorted(order)) {
				err = fmt.Errorf("%d gaps, %d of %d bytes", gaps, len(d.text()), len(full))
			}
			mu.Lock()
			defer mu.Unlock()
			longest = max(longest, wait)
			return err
		}))
		return time.Since(start), longest
	}
	alone, waitAlone := tell("alone")
	for range slow {
		c := slowReader(t, e)
		stop := make(chan struct{})
		var reading sync.WaitGroup
		reading.Go(func() {
			one := make([]byte, 1)
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
				}
				if _, err := c.Read(one); err != nil {
					return
				}
			}
		})
		t.Cleanup(func() {
			close(stop)
			c.Close()
			reading.Wait()
		})
	}
	before := e.memory()
	beside, waitBeside := tell("beside")
	t.Logf("%d KB to %d readers: alone %s (longest wait for a piece %s), beside %d readers of a byte a second %s (%s); memory %.0f → %.0f MB",
		len(full)>>10, quick, alone.Round(time.Millisecond), waitAlone.Round(time.Millisecond), slow, beside.Round(time.Millisecond), waitBeside.Round(time.Millisecond), before, e.memory())
	if m := e.memory(); m > before+200 {
		t.Errorf("slow readers make the engine grow from %.0f to %.0f MB", before, m)
	}
	e.stop()
}

// 1,000 sockets that never finish their headers, 100 bodies that never end, and bodies that are too large: the engine
// answers others meanwhile, ends the slow ones by itself, and stays small (R7).
func TestSlowAndLargeRequests(t *testing.T) {
	t.Parallel()
	const heads, bodies = 1000, 100
	e := newPerson(t).serve()
	before, filesBefore := e.memory(), e.openFiles()
	var gone sync.WaitGroup
	var ended, answered atomic.Int64
	open := func(first string, drip func(c net.Conn)) {
		t.Helper()
		c, err := net.Dial("tcp", e.host())
		must(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = io.WriteString(c, first)
		must(t, err)
		gone.Go(func() {
			if drip != nil {
				drip(c)
			}
			// Every slow one is answered or ended by the engine; only a hang is neither.
			if c.SetReadDeadline(time.Now().Add(2*time.Minute)) != nil {
				return
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			var late net.Error
			switch {
			case err == nil:
				res.Body.Close()
				answered.Add(1)
			case asTimeout(err, &late):
				t.Error("a slow request was never ended")
			default:
				ended.Add(1)
			}
		})
	}
	start := time.Now()
	for range heads {
		open("GET /api/health HTTP/1.1\r\nHost: "+e.host()+"\r\nX-Slow: ", nil)
	}
	for range bodies {
		open("POST /api/notifications HTTP/1.1\r\nHost: "+e.host()+"\r\nAuthorization: Bearer "+e.token+"\r\nContent-Length: 100000\r\n\r\n{", nil)
	}
	var times []time.Duration
	for range 200 {
		at := time.Now()
		if a := e.call("GET", "/api/health", nil); a.status != 200 {
			t.Fatalf("health: %s", a)
		}
		times = append(times, time.Since(at))
	}
	slices.Sort(times)
	full := e.memory()
	large := 0
	for _, size := range []int{1<<20 + 1, 2 << 20, 8 << 20} {
		for range 8 {
			a := e.call("POST", "/api/notifications", `{"message":"`+strings.Repeat("x", size)+`"}`)
			if a.err == nil {
				refusal(t, "a large body", a, 413)
			}
			large++
		}
	}
	gone.Wait()
	took := time.Since(start)
	t.Logf("%d slow headers, %d slow bodies: all gone after %s (%d ended, %d answered); %d bodies too large; health meanwhile: median %s, slowest %s; memory %.0f → %.0f → %.0f MB",
		heads, bodies, took.Round(time.Second), ended.Load(), answered.Load(), large, times[len(times)/2].Round(time.Microsecond), times[len(times)-1].Round(time.Microsecond), before, full, e.memory())
	if full > before+150 {
		t.Errorf("memory grew from %.0f to %.0f MB", before, full)
	}
	e.http.CloseIdleConnections()
	eventually(t, hangLimit, "the files are given back", func() bool { return e.openFiles() <= filesBefore+5 })
	e.stop()
}

func asTimeout(err error, late *net.Error) bool {
	n, ok := err.(net.Error) //nolint:errorlint // the connection's own error
	*late = n
	return ok && n.Timeout()
}
