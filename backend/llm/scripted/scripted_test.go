package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/errs"
	"sentient/backend/llm"
)

func TestModelRefusesBeyondItsScript(t *testing.T) {
	m := New(Say("one"))
	none := func(llm.Delta) error { return nil }
	if _, err := m.Stream(t.Context(), llm.Request{}, none); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stream(t.Context(), llm.Request{}, none); err == nil || !strings.Contains(err.Error(), "request 2") {
		t.Fatalf("second request: %v", err)
	}
	if n := len(m.Requests()); n != 2 {
		t.Fatalf("kept %d requests", n)
	}
}

func TestModelPlaysSteps(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name   string
		step   Step
		text   string
		think  string
		calls  int
		finish llm.Finish
		err    error
		code   string
	}{
		{name: "fails", step: Fail(boom), err: boom},
		{name: "fails after text", step: Step{Pieces: []Piece{{Text: "half"}}, Err: boom}, text: "half", err: boom},
		{name: "cut off", step: Step{Pieces: []Piece{{Text: "half"}}, Cut: true}, text: "half", code: llm.CodeBroken},
		{name: "says", step: Say("a", "b").Think("hm"), text: "ab", think: "hm", finish: llm.FinishStop},
		{name: "calls", step: Call("list", nil), calls: 1, finish: llm.FinishTools},
		{name: "own finish", step: Step{Finish: llm.FinishLength}, finish: llm.FinishLength},
	} {
		t.Run(c.name, func(t *testing.T) {
			var heard string
			r, err := New(c.step).Stream(t.Context(), llm.Request{}, func(d llm.Delta) error { heard += d.Text; return nil })
			if c.err != nil && !errors.Is(err, c.err) || c.code != "" && errs.Code(err) != c.code || c.err == nil && c.code == "" && err != nil {
				t.Fatalf("error %v", err)
			}
			if r.Text != c.text || heard != c.text || r.Thinking != c.think || len(r.ToolCalls) != c.calls || r.Finish != c.finish {
				t.Fatalf("reply %+v, heard %q", r, heard)
			}
		})
	}
}

func TestModelWaitsAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		gate := make(chan struct{})
		m := New(Step{Pieces: []Piece{{Text: "late", Wait: 130 * time.Second}, {Text: " later", Until: gate}}, Hang: true})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var reply llm.Reply
		var err error
		wg.Go(func() { reply, err = m.Stream(ctx, llm.Request{}, func(llm.Delta) error { return nil }) })
		if e := m.Await(t.Context(), 1); e != nil {
			t.Fatal(e)
		}
		time.Sleep(131 * time.Second)
		close(gate)
		synctest.Wait()
		stop()
		wg.Wait()
		if !errors.Is(err, context.Canceled) || reply.Text != "late later" || time.Since(start) != 131*time.Second {
			t.Fatalf("%v %+v after %v", err, reply, time.Since(start))
		}
	})
}

func TestModelEachErrorEnds(t *testing.T) {
	enough := errors.New("enough")
	r, err := New(Say("a", "b")).Stream(t.Context(), llm.Request{}, func(llm.Delta) error { return enough })
	if !errors.Is(err, enough) || r.Text != "a" {
		t.Fatalf("%v %+v", err, r)
	}
}

func TestModelChoosesAndKeepsRequests(t *testing.T) {
	m := By(func(r llm.Request) Step { return Call("echo", map[string]string{"text": r.Messages[0].Text}) })
	var wg sync.WaitGroup
	ids := make(chan string, 20)
	for range 20 {
		wg.Go(func() {
			msgs := []llm.Message{{Role: llm.User, Text: "hi"}}
			r, err := m.Stream(t.Context(), llm.Request{Messages: msgs}, func(llm.Delta) error { return nil })
			msgs[0].Text = "changed later"
			if err != nil || string(r.ToolCalls[0].Arguments) != `{"text":"hi"}` {
				t.Errorf("%v %+v", err, r)
				return
			}
			ids <- r.ToolCalls[0].ID
		})
	}
	wg.Wait()
	close(ids)
	seen := map[string]bool{}
	for id := range ids {
		if seen[id] {
			t.Fatalf("id %s twice", id)
		}
		seen[id] = true
	}
	for _, r := range m.Requests() {
		if r.Messages[0].Text != "hi" {
			t.Fatal("a kept request changed")
		}
	}
	if m.Last().Messages[0].Text != "hi" {
		t.Fatal("last request")
	}
}

func TestVectors(t *testing.T) {
	m := New()
	v, err := m.Embed(t.Context(), "e", []string{"The cat sat", "the CAT sat!", "", "invoice 42"})
	if err != nil {
		t.Fatal(err)
	}
	dot := func(a, b []float32) (s float64) {
		for i := range a {
			s += float64(a[i]) * float64(b[i])
		}
		return s
	}
	if d := dot(v[0], v[1]); d < 0.999 {
		t.Fatalf("same words: %v", d)
	}
	if d := dot(v[2], v[2]); d != 1 {
		t.Fatalf("empty text: %v", d)
	}
	if dot(v[0], v[3]) > 0.6 {
		t.Fatal("different words are near")
	}
	if len(m.Embedded()) != 4 {
		t.Fatal("texts not kept")
	}
}

func TestServerPlaysExactBytes(t *testing.T) {
	s, err := Serve(
		Play{Parts: []Part{{Bytes: ": hi\r\n\r\ndata: x\r\n\r\n", Chunk: 1}}},
		Refuse(402, `{"error":"pay"}`),
		Play{Parts: []Part{{Bytes: "data: half"}}, Cut: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	post := func() (int, string, error) {
		r, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`))
		if err != nil {
			return 0, "", err
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		return r.StatusCode, string(b), err
	}
	if code, body, err := post(); code != 200 || body != ": hi\r\n\r\ndata: x\r\n\r\n" || err != nil {
		t.Fatalf("%d %q %v", code, body, err)
	}
	if code, body, err := post(); code != 402 || body != `{"error":"pay"}` || err != nil {
		t.Fatalf("%d %q %v", code, body, err)
	}
	if _, body, err := post(); err == nil || body != "data: half" {
		t.Fatalf("cut: %q %v", body, err)
	}
	if code, _, _ := post(); code != 500 {
		t.Fatalf("beyond the script: %d", code)
	}
	var in struct{ Model string }
	if got := s.Requests(); len(got) != 4 || got[0].Path != "/v1/chat/completions" || got[0].JSON(&in) != nil || in.Model != "m" {
		t.Fatalf("recorded %+v", got)
	}
}

func TestServerSeesClientsGo(t *testing.T) {
	s, err := ServeBy(func(Recorded) Play { return Play{Parts: []Part{{Bytes: Text("a")}}, Hang: true} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", s.URL+"/chat/completions", strings.NewReader("{}"))
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := s.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.AwaitGone(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

func TestServerListsAndEmbeds(t *testing.T) {
	s, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.SetModels("a", "b")
	r, err := http.Get(s.URL + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil || len(list.Data) != 2 || list.Data[1].ID != "b" {
		t.Fatalf("%v %+v", err, list)
	}
	for _, c := range []struct {
		body string
		code int
		rows int
	}{{`x`, 400, 0}, {`{"input":5}`, 400, 0}, {`{"input":"one"}`, 200, 1}, {`{"input":["one","two"]}`, 200, 2}} {
		r, err := http.Post(s.URL+"/embeddings", "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Data []struct{ Embedding []float32 }
		}
		_ = json.NewDecoder(r.Body).Decode(&out)
		r.Body.Close()
		if r.StatusCode != c.code || len(out.Data) != c.rows || c.rows > 0 && len(out.Data[0].Embedding) != Dim {
			t.Errorf("%s: %d, %d rows", c.body, r.StatusCode, len(out.Data))
		}
	}
	if len(s.Others()) != 5 || len(s.Requests()) != 0 {
		t.Fatalf("%d others, %d requests", len(s.Others()), len(s.Requests()))
	}
}
