package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/testkit"
)

// soakTurns is how many turns the soak plays: a slice in the suite, 20,000 by `./task soak` (R15).
func soakTurns() int {
	if n, err := strconv.Atoi(os.Getenv("SENTIENT_SOAK_TURNS")); err == nil {
		return n
	}
	return 300
}

// openFiles counts the process's open files; -1 where the system does not say.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// resident is the process's resident memory in MB; -1 where the system does not say.
func resident() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	var size, pages int
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		return -1
	}
	return pages * os.Getpagesize() >> 20
}

// A long day does not wear the engine out: turns in many chats, with look-ups, with files of 5 MB read in parts, with
// failures, and chats that are deleted. Goroutines and open files are afterwards what they were, and nothing of the chats
// that are gone stays in memory.
func TestALongDay(t *testing.T) {
	long := strings.Repeat("A line of a long file, with ümläuts and 😀.\n", 110_000) // about 5 MB
	n := 0
	m := scripted.By(func(req llm.Request) scripted.Step {
		n++
		last := req.Messages[len(req.Messages)-1]
		switch {
		case last.Role != llm.User || len(req.Tools) == 0:
			return scripted.Say("Done.")
		case n%7 == 0:
			return scripted.Step{Cut: true, Pieces: []scripted.Piece{{Text: "Half of"}}}
		case n%5 == 0:
			return scripted.Call("file_read", map[string]any{"name": "long.txt", "offset": n * 100})
		}
		return scripted.Step{Calls: []llm.ToolCall{scripted.ToolCall("time_now", nil), scripted.ToolCall("file_list", nil), scripted.ToolCall("nothing_such", nil)}}
	})
	k := testkit.Start(t, testkit.WithModel(m))
	if _, err := k.Upload(t.Context(), "files.upload", json.RawMessage(`{"name":"long.txt"}`), strings.NewReader(long)); err != nil {
		t.Fatal(err)
	}
	const chats = 20
	ids := make([]string, chats)
	play := func(turns int) {
		for i := range turns {
			at := i % chats
			ids[at] = turn(t, k, ids[at], fmt.Sprint("message ", i))
			m.Forget()
			if i%97 == 96 {
				k.Must("sessions.delete", map[string]string{"id": ids[at]}, nil)
				ids[at] = ""
			}
		}
	}
	play(100) // caches, pools and connections are made once
	quiet := func() (goroutines, files, heap int) {
		for _, id := range ids {
			if id != "" {
				k.WaitIdle(id)
			}
		}
		k.HTTP.CloseIdleConnections()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return runtime.NumGoroutine(), openFiles(), int(s.HeapAlloc >> 20)
	}
	goroutines, files, heap := quiet()
	turns := soakTurns()
	play(turns)
	after, filesAfter, heapAfter := quiet()
	t.Logf("%d turns: goroutines %d → %d, files %d → %d, heap %d → %d MB, resident %d MB", turns, goroutines, after, files, filesAfter, heap, heapAfter, resident())
	if after > goroutines+goroutines/20+5 {
		t.Errorf("goroutines %d, then %d", goroutines, after)
	}
	if filesAfter > files+files/20+3 {
		t.Errorf("open files %d, then %d", files, filesAfter)
	}
	if heapAfter > heap+heap/20+10 {
		t.Errorf("heap %d MB, then %d MB", heap, heapAfter)
	}
}

// turn plays one turn to its end and gives its chat.
func turn(t *testing.T, k *testkit.Kit, chat, text string) string {
	t.Helper()
	in, err := json.Marshal(map[string]string{"text": text, "session_id": chat})
	if err != nil {
		t.Fatal(err)
	}
	err = k.Stream(context.WithoutCancel(t.Context()), "chat.run", in, func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if chat == "" && bytes.HasPrefix(line, []byte(`{"type":"session"`)) {
			var s struct {
				SessionID string `json:"session_id"`
			}
			err = json.Unmarshal(line, &s)
			chat = s.SessionID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return chat
}
