package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"sentient/backend/agent"
	"sentient/backend/client"
	"sentient/backend/engine"
	"sentient/backend/llm"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// instant is a model that answers at once: with one delta, or with as many as it is told.
type instant struct {
	deltas int
	asked  atomic.Int64 // when the model was asked, in nanoseconds
}

// Choose gives itself for every role.
func (m *instant) Choose(context.Context, string, string) (llm.Choice, error) {
	return llm.Choice{Model: m, Name: "bench/instant", ID: "instant"}, nil
}

// Stream answers.
func (m *instant) Stream(ctx context.Context, _ llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	m.asked.Store(time.Now().UnixNano())
	var text strings.Builder
	for range m.deltas {
		if err := each(llm.Delta{Text: "word "}); err != nil {
			return llm.Reply{}, err
		}
		text.WriteString("word ")
		if ctx.Err() != nil {
			return llm.Reply{}, ctx.Err()
		}
	}
	return llm.Reply{Text: text.String(), Finish: llm.FinishStop}, nil
}

func (b *bench) engine(ctx context.Context, name string, m *instant) (*engine.Engine, error) {
	return b.engineWith(ctx, name, m)
}

func (b *bench) engineWith(ctx context.Context, name string, m agent.Models) (*engine.Engine, error) {
	return engine.Start(ctx, engine.Options{Home: filepath.Join(b.dir, name), Port: 0, Version: "bench", Getenv: func(string) string { return "" },
		Log: obs.Discard(), Models: m})
}

// overhead is P3: what Sentient adds to the model's first token, over a socket of the gateway, and what a delta costs.
func overhead(ctx context.Context, b *bench) ([]row, error) {
	m := &instant{deltas: 1}
	e, err := b.engine(ctx, "overhead", m)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	conn, err := client.New(e.URL(), e.Token()).Live(ctx, "")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var first []time.Duration
	for i := range 200 {
		message, _ := json.Marshal(map[string]string{"type": "chat.send", "text": "Hi", "client_id": fmt.Sprint("bench-", i)}) // strings always encode
		sent := time.Now()
		if err := conn.Send(ctx, message); err != nil {
			return nil, err
		}
		if err := readUntil(ctx, conn, "text_delta"); err != nil {
			return nil, err
		}
		first = append(first, time.Since(sent))
		if err := readUntil(ctx, conn, "done"); err != nil {
			return nil, err
		}
	}
	m.deltas = 100_000
	sent := time.Now()
	if err := conn.Send(ctx, []byte(`{"type":"chat.send","text":"Much"}`)); err != nil {
		return nil, err
	}
	if err := readUntil(ctx, conn, "done"); err != nil {
		return nil, err
	}
	each := time.Since(sent) / time.Duration(m.deltas)
	return []row{
		{"P3", "message to the model's first token at the socket", spread(first), "< 5 ms"},
		{"P3", "a delta from provider to socket (100,000 in one reply)", short(each), "< 50 µs"},
	}, nil
}

func readUntil(ctx context.Context, conn *client.LiveConn, kind string) error {
	prefix := `{"type":"` + kind + `"`
	for {
		frame, err := conn.Receive(ctx)
		if err != nil {
			return err
		}
		if strings.HasPrefix(string(frame), prefix) {
			return nil
		}
	}
}

// throughput is P4: deltas a second to ten clients, and what memory does meanwhile.
func throughput(ctx context.Context, b *bench) ([]row, error) {
	const clients, deltas = 10, 1_000_000
	m := &instant{deltas: deltas}
	e, err := b.engine(ctx, "throughput", m)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	var loops []func(context.Context) error
	var text atomic.Int64
	for range clients {
		conn, err := client.New(e.URL(), e.Token()).Live(ctx, "")
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		loops = append(loops, func(ctx context.Context) error { return countText(ctx, conn, &text) })
	}
	before := heap()
	var took time.Duration
	loops = append(loops, func(ctx context.Context) error {
		start := time.Now()
		err := e.Stream(ctx, "chat.run", json.RawMessage(`{"text":"Much"}`), func(any) error { return nil })
		took = time.Since(start)
		return err
	})
	if err := svc.Run(ctx, loops...); err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	whole := int64(clients) * deltas * int64(len("word "))
	return []row{
		{"P4", "deltas a second from one model to 10 clients", fmt.Sprintf("%.0f", float64(deltas)/took.Seconds()), "> 50,000"},
		{"P4", "of the text, reached all clients", fmt.Sprintf("%.1f %%", 100*float64(text.Load())/float64(whole)), "100 %"},
		{"P4", "heap after minus before", megabytes(heap() - before), "≈ 0"},
	}, nil
}

func countText(ctx context.Context, conn *client.LiveConn, total *atomic.Int64) error {
	for {
		frame, err := conn.Receive(ctx)
		if err != nil {
			return err
		}
		var e struct{ Type, Text string }
		if err := json.Unmarshal(frame, &e); err != nil {
			return err
		}
		total.Add(int64(len(e.Text)))
		if e.Type == "done" {
			return nil
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
