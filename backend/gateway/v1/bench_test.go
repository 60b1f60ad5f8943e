package v1

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkTurns is P12 without the turns themselves: how many requests a second /v1/chat/completions answers whole, 20
// chats at once over real sockets, when a turn takes no time. The chats are named in a real database.
func BenchmarkTurns(b *testing.B) { benchmarkTurns(b, "") }

// BenchmarkStreamedTurns is the same with streams of 20 pieces.
func BenchmarkStreamedTurns(b *testing.B) { benchmarkTurns(b, streaming) }

func benchmarkTurns(b *testing.B, more string) {
	const chats = 20
	pieces := make([]string, 20)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("word%d ", i)
	}
	r := newRig(b, said(pieces...))
	r.o.Chats, r.o.Log = newNames(b).ChatNames, discard
	r.server.Config.Handler = New(r.o)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: chats}}
	defer client.CloseIdleConnections()
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for chat := range chats {
		body := saying("hi", more, fmt.Sprintf(`,"user":"chat %d"`, chat))
		all.Go(func() {
			for left.Add(-1) >= 0 {
				res, err := client.Do(r.request("POST", chatPath, body))
				if err != nil {
					b.Error(err)
					return
				}
				raw, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || res.StatusCode != 200 || more == "" && !json.Valid(raw) || more != "" && !strings.HasSuffix(string(raw), "data: [DONE]\n\n") {
					b.Errorf("%d %s %v", res.StatusCode, raw, err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}
