//go:build program

package programtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sentient/backend/llm/scripted"
)

// 200 sockets with mixed traffic against an engine that was built with the race detector: no race, and what the traffic
// took (files, memory) is given back (R5).
func TestTrafficUnderRaceDetector(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		cannot(t, "the race detector needs a C compiler: %v", err)
	}
	began := time.Now()
	bin, err := raceProgram()
	must(t, err)
	t.Logf("the race build took %s", time.Since(began).Round(time.Second))
	s := newStub(t)
	words := strings.SplitAfter(strings.Repeat("some words ", 5), " ")
	s.on("slow", func(string) scripted.Play { return paced(words, 30*time.Millisecond) })
	s.on("fail", func(string) scripted.Play { return scripted.Refuse(503, `{"error":{"message":"overloaded"}}`) })
	s.on("cut", func(string) scripted.Play {
		return scripted.Play{Parts: []scripted.Part{{Bytes: scripted.Text("half ")}}, Cut: true}
	})
	p := newPerson(t)
	p.configure(s, "")
	p.bin = bin
	e := p.serve()
	settle := func(what string) (files int, memory float64) {
		t.Helper()
		e.http.CloseIdleConnections()
		// Steady: the same count for a while.
		last, same := -1, 0
		within(5*time.Second, func() bool {
			if n := e.openFiles(); n == last {
				same++
			} else {
				last, same = n, 0
			}
			return same > 200
		})
		files, memory = last, e.memory()
		t.Logf("%-22s %3d files, %4.0f MB", what, files, memory)
		return files, memory
	}
	settle("at the start")
	const sockets, wave = 200, 7 * time.Second
	traffic(t, e, 20, time.Second) // what is made once (pools, caches) is made now
	before, _ := settle("after a first trickle")
	var plateau [2]float64
	for i := range plateau {
		did := traffic(t, e, sockets, wave)
		var after int
		after, plateau[i] = settle(fmt.Sprintf("after wave %d", i+1))
		t.Logf("wave %d: %v", i+1, did)
		// SQLite's idle readers close after a minute; a handful of descriptors is theirs.
		if slack := before/20 + 8; after > before+slack {
			t.Errorf("%d files before the traffic, %d after it", before, after)
		}
	}
	if plateau[1] > plateau[0]*1.25+20 {
		t.Errorf("memory goes on growing: %.0f, then %.0f MB", plateau[0], plateau[1])
	}
	e.stop()
	if log := e.log.String(); strings.Contains(log, "DATA RACE") {
		t.Errorf("races:\n%s", tail(log[strings.Index(log, "DATA RACE"):], 6000))
	} else if strings.Contains(log, "panic") {
		t.Errorf("panics:\n%s", tail(log[strings.Index(log, "panic"):], 3000))
	}
	looked(t, p.home, true)
}

// traffic lets n clients do what people do, all at once, for a while.
func traffic(t *testing.T, e *engine, n int, lasts time.Duration) map[string]int64 {
	t.Helper()
	counts := map[string]*atomic.Int64{}
	for _, what := range []string{"send", "cancel", "done", "list", "config", "chat", "delete", "reconnect", "refused", "reads"} {
		counts[what] = &atomic.Int64{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lasts)
	defer cancel()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seedOfKills, uint64(i)))
			for ctx.Err() == nil {
				client(ctx, t, e, r, counts)
			}
		})
	}
	all.Wait()
	did := map[string]int64{}
	for what, c := range counts {
		did[what] = c.Load()
	}
	if did["chat"] == 0 || did["list"] == 0 || did["config"] == 0 {
		t.Errorf("hardly anything was done: %v", did)
	}
	return did
}

// client is one connection's life: it sends, stops, lists, changes settings, and drops its socket.
func client(ctx context.Context, t *testing.T, e *engine, r *rand.Rand, counts map[string]*atomic.Int64) {
	l, err := e.connect(ctx, "", nil)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("connect: %v", err)
		}
		return
	}
	counts["reconnect"].Add(1)
	var sessions sync.Map
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			h, err := l.next(ctx)
			if err != nil {
				return
			}
			counts["reads"].Add(1)
			if h.Type == "done" {
				counts["done"].Add(1)
			}
			if h.Type == "session" {
				sessions.Store(h.SessionID, true)
			}
		}
	})
	defer reading.Wait()
	defer l.close()
	ok := func(what string, a answer) {
		switch {
		case a.err != nil:
			if ctx.Err() == nil {
				t.Errorf("%s: %v", what, a.err)
			}
		case a.status >= 500:
			t.Errorf("%s: %s", what, a)
		case a.status >= 400:
			counts["refused"].Add(1)
		default:
			counts[what].Add(1)
		}
	}
	some := func() (id string) {
		sessions.Range(func(k, _ any) bool { id = k.(string); return false })
		return id
	}
	for range 3 + r.IntN(6) {
		select {
		case <-ctx.Done():
			return
		case <-in(time.Duration(r.IntN(400)) * time.Millisecond):
		}
		switch r.IntN(9) {
		case 0:
			word := []string{"slow", "hello", "fail", "cut"}[r.IntN(4)]
			if l.say(map[string]any{"type": "chat.send", "text": word + " x", "session_id": some()}) != nil {
				return
			}
			counts["send"].Add(1)
		case 3:
			if l.say(map[string]any{"type": "chat.cancel", "session_id": some()}) != nil {
				return
			}
			counts["cancel"].Add(1)
		case 1, 2, 4:
			ok("list", e.call("GET", "/api/sessions?limit=20", nil))
		case 5:
			ok("config", e.call("PATCH", "/api/config", map[string]any{"assistant": map[string]any{"user_name": fmt.Sprint(r.IntN(100))}}))
		case 6:
			ok("chat", e.call("POST", "/api/chat", map[string]any{"text": "hello"}))
		case 7:
			if id := some(); id != "" && r.IntN(3) == 0 {
				sessions.Delete(id)
				ok("delete", e.call("DELETE", "/api/sessions/"+id, nil))
			} else {
				ok("list", e.call("GET", "/api/sessions/search?q=words", nil))
			}
		case 8:
			ok("list", e.call("GET", "/api/bootstrap", nil))
		}
	}
}
