package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"sentient/backend/llm"
	"sentient/backend/svc"
)

// worker is a model that makes a look-up a round before it answers, and keeps what it was asked.
type worker struct {
	rounds int
	asked  []llm.Request
}

// Choose gives itself for every role, as a cloud model: all tools are offered.
func (m *worker) Choose(context.Context, string, string) (llm.Choice, error) {
	return llm.Choice{Model: m, Name: "bench/worker", ID: "worker", ContextLength: 1_000_000}, nil
}

// Stream asks for the time, or answers.
func (m *worker) Stream(_ context.Context, r llm.Request, each func(llm.Delta) error) (llm.Reply, error) {
	m.asked = append(m.asked, r)
	if n := len(r.Messages); m.rounds > 0 && (n-2)/2 < m.rounds && len(r.Tools) > 0 {
		// Each call another one, so that nothing is a repetition.
		args, _ := json.Marshal(map[string]string{"zone": []string{"Asia/Kolkata", "Europe/Berlin", "UTC"}[n%3]}) // strings always encode
		return llm.Reply{ToolCalls: []llm.ToolCall{{ID: fmt.Sprint("call", n), Name: "time_now", Arguments: args}}, Finish: llm.FinishTools}, nil
	}
	if err := each(llm.Delta{Text: "Done."}); err != nil {
		return llm.Reply{}, err
	}
	return llm.Reply{Text: "Done.", Finish: llm.FinishStop}, nil
}

// prompts is P10: what a "hi" costs with every tool, and how much of the prompt stays the same over 20 turns.
func prompts(ctx context.Context, b *bench) ([]row, error) {
	m := &worker{}
	e, err := b.engineWith(ctx, "prompts", m)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	chat, same, all := "", 0, 0
	for range 20 {
		err := e.Stream(ctx, "chat.run", json.RawMessage(fmt.Sprintf(`{"text":"hi","session_id":%q}`, chat)), func(v any) error {
			line, err := json.Marshal(v)
			if err == nil && chat == "" {
				var s struct {
					SessionID string `json:"session_id"`
				}
				err = json.Unmarshal(line, &s)
				chat = s.SessionID
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var turns []llm.Request
	for _, r := range m.asked {
		if len(r.Tools) > 0 { // titles have none
			turns = append(turns, r)
		}
	}
	if len(turns) == 0 {
		return nil, fmt.Errorf("no turn offered tools")
	}
	for i := 1; i < len(turns); i++ {
		before, after := asText(turns[i-1]), asText(turns[i])
		all += len(before)
		same += common(before, after)
	}
	return []row{
		{"P10", `prompt of a first "hi" with all tools`, fmt.Sprintf("%d tokens (%d tools)", llm.EstimateRequest(turns[0]), len(turns[0].Tools)), "≤ 3,500 tokens"},
		{"P10", "of the prompt, the same in the next turn (20 turns)", fmt.Sprintf("%.1f %%", 100*float64(same)/float64(all)), "≥ 95 %"},
	}, nil
}

// asText is a request in the order in which services read it.
func asText(r llm.Request) string {
	var s strings.Builder
	for _, t := range r.Tools {
		s.WriteString(t.Name + t.Description + string(t.Parameters))
	}
	for _, m := range r.Messages {
		s.WriteString(string(m.Role) + m.Text)
	}
	return s.String()
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// longTurn is a turn of 50 rounds with a look-up each.
func longTurn(ctx context.Context, b *bench) ([]row, error) {
	m := &worker{rounds: 50}
	e, err := b.engineWith(ctx, "long-turn", m)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := e.Call(ctx, "config.patch", json.RawMessage(`{"config":{"tools":{"repeated_call_limit":0}}}`)); err != nil {
		return nil, err
	}
	start := time.Now()
	results := 0
	err = e.Stream(ctx, "chat.run", json.RawMessage(`{"text":"What time is it everywhere?"}`), func(v any) error {
		line, err := json.Marshal(v)
		if bytes.HasPrefix(line, []byte(`{"type":"tool_result"`)) {
			results++
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	return []row{{"turn", fmt.Sprintf("a turn of %d rounds with a look-up each", results), fmt.Sprintf("%s (%s a round)", short(took), short(took/time.Duration(max(results, 1)))), "–"}}, nil
}

// otherApps is P12: turns a second through /v1, 20 chats at once.
func otherApps(ctx context.Context, b *bench) ([]row, error) {
	const chats, turns = 20, 1000
	m := &instant{deltas: 1}
	e, err := b.engine(ctx, "other-apps", m)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := e.Call(ctx, "config.patch", json.RawMessage(`{"config":{"openai_api":{"enabled":true},"chat":{"auto_title":false}}}`)); err != nil {
		return nil, err
	}
	made, err := e.Call(ctx, "openai.key", nil)
	if err != nil {
		return nil, err
	}
	var key struct {
		Key     string `json:"key"`
		BaseURL string `json:"base_url"`
	}
	raw, err := json.Marshal(made)
	if err == nil {
		err = json.Unmarshal(raw, &key)
	}
	if err != nil {
		return nil, err
	}
	http := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: chats}}
	defer http.CloseIdleConnections()
	var left atomic.Int64
	left.Store(turns)
	start := time.Now()
	loops := make([]func(context.Context) error, chats)
	for i := range loops {
		loops[i] = func(ctx context.Context) error {
			for left.Add(-1) >= 0 {
				if err := complete(ctx, http, key.BaseURL, key.Key, fmt.Sprint("chat ", i)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if err := svc.Run(ctx, loops...); err != nil {
		return nil, err
	}
	return []row{{"P12", "turns a second through /v1, 20 chats at once", fmt.Sprintf("%.0f", turns/time.Since(start).Seconds()), "> 100"}}, nil
}

func complete(ctx context.Context, c *http.Client, base, key, user string) error {
	body := fmt.Sprintf(`{"model":"sentient","user":%q,"messages":[{"role":"user","content":"Hi"}]}`, user)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := c.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, answer)
	}
	return err
}
