package v1

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/errs"
	"sentient/backend/transcript"
)

func TestBodiesThatAreRefused(t *testing.T) {
	user := func(content string) string { return `{"messages":[{"role":"user","content":` + content + `}]}` }
	for _, c := range []struct{ name, body, code, param string }{
		{"nothing", "", "invalid_request", ""},
		{"no JSON", "{", "invalid_request", ""},
		{"two values", saying("a") + saying("b"), "invalid_request", ""},
		{"null", "null", "invalid_request", ""},
		{"a list", "[]", "invalid_request", ""},
		{"a text", `"hello"`, "invalid_request", ""},
		{"no messages", "{}", "invalid_request", "messages"},
		{"messages null", `{"messages":null}`, "invalid_request", "messages"},
		{"messages a text", `{"messages":"hello"}`, "invalid_request", "messages"},
		{"messages an object", `{"messages":{}}`, "invalid_request", "messages"},
		{"messages of another name", `{"Messages":[{"role":"user","content":"a"}]}`, "invalid_request", "messages"},
		{"a message is a text", `{"messages":["hello"]}`, "invalid_request", "messages"},
		{"a message without a role", `{"messages":[{"content":"hello"}]}`, "invalid_request", "messages"},
		{"a role that is no text", `{"messages":[{"role":1,"content":"hello"}]}`, "invalid_request", "messages"},
		{"no message", `{"messages":[]}`, "no_user_message", "messages"},
		{"only a system message", `{"messages":[{"role":"system","content":"a"},{"role":"assistant","content":"b"}]}`, "no_user_message", "messages"},
		{"content empty", user(`""`), "no_user_message", "messages"},
		{"content blank", user(`" \n\t"`), "no_user_message", "messages"},
		{"content null", user(`null`), "no_user_message", "messages"},
		{"content missing", `{"messages":[{"role":"user"}]}`, "no_user_message", "messages"},
		{"content an empty list", user(`[]`), "no_user_message", "messages"},
		{"content only a picture", user(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]`), "no_user_message", "messages"},
		{"content of blank parts", user(`[{"type":"text","text":""},{"type":"text","text":" "}]`), "no_user_message", "messages"},
		{"the last message is blank, not the one before", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":""}]}`, "no_user_message", "messages"},
		{"content a number", user(`5`), "invalid_request", "messages"},
		{"content an object", user(`{"type":"text","text":"a"}`), "invalid_request", "messages"},
		{"parts that are texts", user(`["a"]`), "invalid_request", "messages"},
		{"a part without a type", user(`[{"text":"a"}]`), "invalid_request", "messages"},
		{"a part of text without text", user(`[{"type":"text"}]`), "invalid_request", "messages"},
		{"a part whose text is a number", user(`[{"type":"text","text":1}]`), "invalid_request", "messages"},
		{"model a number", saying("a", `,"model":1`), "invalid_request", "model"},
		{"stream a text", saying("a", `,"stream":"yes"`), "invalid_request", "stream"},
		{"stream a number", saying("a", `,"stream":1`), "invalid_request", "stream"},
		{"options a list", saying("a", `,"stream_options":[]`), "invalid_request", "stream_options"},
		{"include_usage a text", saying("a", `,"stream_options":{"include_usage":"yes"}`), "invalid_request", "stream_options"},
		{"user a number", saying("a", `,"user":7`), "invalid_request", "user"},
		{"user of two lines", saying("a", `,"user":"a\nb"`), "invalid_request", "user"},
		{"user that turns text", saying("a", `,"user":"a\u202eb"`), "invalid_request", "user"},
		{"user too long", saying("a", `,"user":"`+strings.Repeat("ä", maxUser+1)+`"`), "invalid_request", "user"},
		{"text too long", saying(strings.Repeat("ä", maxText+1)), "invalid_request", "messages"},
		{"body too large", saying("a", `,"x":"`+strings.Repeat("x", maxBody)+`"`), "invalid_request", ""},
		{"nested too deeply", saying("a", `,"x":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)), "invalid_request", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			a := r.ask(c.body)
			f := a.fault(t)
			param := ""
			if f.Param != nil {
				param = *f.Param
			}
			if a.status != 400 || f.Code != c.code || param != c.param || f.Type != "invalid_request_error" || !strings.HasSuffix(f.Message, ".") {
				t.Errorf("%d %s; want 400 %s %s", a.status, a.body, c.code, c.param)
			}
			if a.header.Get("X-Should-Retry") != "false" || len(r.questions()) > 0 || r.names.asked.Load() > 0 {
				t.Error("a refused request did something")
			}
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	user := func(content string) string { return `{"messages":[{"role":"user","content":` + content + `}]}` }
	long := strings.Repeat("ä", maxText)
	for _, c := range []struct{ name, body, text, chat string }{
		{"a text", saying("hello"), "hello", "API"},
		{"text as it is", saying("  a\n\n\tb \x01"), "  a\n\n\tb \x01", "API"},
		{"as long as it may be", saying(long), long, "API"},
		{"parts", user(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), "a\nb", "API"},
		{"one part", user(`[{"type":"text","text":"a"}]`), "a", "API"},
		{"a picture beside text", user(`[{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"what is this?"},{"type":"input_audio"}]`), "what is this?", "API"},
		{"the last of the user", `{"messages":[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":"first"},{"role":"assistant","content":"x","tool_calls":[]},{"role":"user","content":"last"},{"role":"assistant","content":null}]}`, "last", "API"},
		{"earlier messages may be anything", `{"messages":[{"role":"developer","content":5},{"role":"user","content":{}},{"role":"tool"},{"role":"user","content":"last","name":7}]}`, "last", "API"},
		{"other members may be anything", saying("a", `,"temperature":"hot","tools":5,"n":[],"max_tokens":{},"store":null`), "a", "API"},
		{"another model", saying("a", `,"model":"gpt-4o"`), "a", "API"},
		{"members that are null", saying("a", `,"model":null,"stream":null,"stream_options":null,"user":null`), "a", "API"},
		{"a user", saying("a", `,"user":"Editor ✏"`), "a", "Editor ✏"},
		{"a user of spaces", saying("a", `,"user":"  "`), "a", "API"},
		{"users are told apart exactly", saying("a", `,"user":"api "`), "a", "api "},
		{"not JSON by its type", saying("a"), "a", "API"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.memory.Store(c.chat != "API")
			a := r.call("POST", chatPath, c.body, "Content-Type", "text/plain")
			got := r.questions()
			want := Question{SessionID: "chat of " + c.chat, Text: c.text, Channel: "api", From: "another app (API)", Memory: c.chat != "API"}
			if a.status != 200 || len(got) != 1 || got[0] != want {
				t.Errorf("%d %.200s\n%.300v\nwant %.300v", a.status, a.body, got, want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	r := newRig(t)
	a := r.call("GET", "/v1/models?limit=5", "")
	var got struct {
		Object string
		Data   []struct {
			ID, Object string
			Created    int64
			OwnedBy    string `json:"owned_by"`
		}
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 || got.Object != "list" || len(got.Data) != 1 ||
		got.Data[0].ID != "sentient" || got.Data[0].Object != "model" || got.Data[0].Created == 0 || got.Data[0].OwnedBy != "sentient" {
		t.Errorf("%d %s (%v)", a.status, a.body, err)
	}
	if a.header.Get("X-Should-Retry") != "" {
		t.Error("an answer is marked as an error")
	}
}

func TestWholeAnswer(t *testing.T) {
	r := newRig(t, said("Hel", "lo <b>", " & ✓"))
	a := r.ask(saying("hi", `,"stream":false`))
	var got completion
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatal(err)
	}
	created := got.Created
	want := `{"id":"chatcmpl-t1","object":"chat.completion","created":0,"model":"sentient","choices":[{"index":0,"message":{"role":"assistant","content":"Hello \u003cb\u003e \u0026 ✓","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`
	got.Created = 0
	again, _ := json.Marshal(got)
	if string(again) != want || created < 1_700_000_000 || a.status != 200 || a.header.Get("Content-Type") != "application/json; charset=utf-8" || a.header.Get("X-Should-Retry") != "" {
		t.Errorf("%d %s\n%s\n%v", a.status, again, want, a.header)
	}
}

// Each chunk but the last has a finish_reason of null, and usage only where it was asked for.
func TestStream(t *testing.T) {
	chunk := func(choices, usage string) string {
		return `{"id":"chatcmpl-t1","object":"chat.completion.chunk","created":0,"model":"sentient","choices":` + choices + usage + `}`
	}
	choice := func(delta, finish string) string {
		return `[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}]`
	}
	for _, c := range []struct{ name, more, each, last string }{
		{"plain", "", "", ""},
		{"usage not wanted", `,"stream_options":{"include_usage":false}`, "", ""},
		{"usage wanted", `,"stream_options":{"include_usage":true}`, `,"usage":null`, chunk(`[]`, `,"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, said("Hel", "lo."))
			a := r.ask(saying("hi", streaming, c.more))
			want := []string{
				chunk(choice(`{"role":"assistant"}`, "null"), c.each),
				chunk(choice(`{"content":"Hel"}`, "null"), c.each),
				chunk(choice(`{"content":"lo."}`, "null"), c.each),
				chunk(choice(`{}`, `"stop"`), c.each),
			}
			if c.last != "" {
				want = append(want, c.last)
			}
			want = append(want, "[DONE]")
			var got []string
			for _, e := range a.events(t) {
				var m completion
				if json.Unmarshal([]byte(e), &m) == nil {
					m.Created = 0
					raw, _ := json.Marshal(m)
					e = string(raw)
				}
				got = append(got, e)
			}
			if !slices.Equal(got, want) || a.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
				t.Errorf("%v\ngot  %s\nwant %s", a.header, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		})
	}
}

// A turn may write several messages. They stand apart by one blank line, and streamed or not the text is the same.
func TestSeveralMessages(t *testing.T) {
	tools := func() step { return line("tool_call", transcript.ToolCallEvent{Ref: ref, CallID: "c", Name: "clock"}) }
	think := func() step {
		return line("thinking_delta", transcript.ThinkingDelta{Ref: ref, MessageID: "m1", Text: "secret thought"})
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"nothing", nil, ""},
		{"one", []step{think(), text("1", "a"), text("1", "\n"), text("1", "b")}, "a\nb"},
		{"text, tool, text", []step{text("1", "Let me look."), tools(), text("2", "It is "), text("2", "noon.")}, "Let me look.\n\nIt is noon."},
		{"three", []step{text("1", "a"), text("2", "b"), tools(), text("3", "c")}, "a\n\nb\n\nc"},
		{"one line break is there", []step{text("1", "a\n"), text("2", "b")}, "a\n\nb"},
		{"a blank line is there", []step{text("1", "a\n"), text("1", "\n"), text("2", "b")}, "a\n\nb"},
		{"more than that", []step{text("1", "a\n\n\n"), text("2", "b")}, "a\n\n\nb"},
		{"the next begins with line breaks", []step{text("1", "a"), text("2", "\n"), text("2", "\r\n"), text("2", "\n  b\n"), text("2", "\nc")}, "a\n\n  b\n\nc"},
		{"the first said nothing", []step{text("1", ""), tools(), text("2", "b")}, "b"},
		{"the first said only space", []step{text("1", " "), tools(), text("2", "b")}, " b"},
		{"the last says nothing", []step{text("1", "a"), tools(), text("2", "\n\n")}, "a"},
		{"a notice is for the window", []step{line("notice", transcript.NoticeEvent{Ref: ref, Notice: transcript.Notice{Message: "Fell back."}}), text("1", "a")}, "a"},
		{"an error that was got over", []step{line("error", transcript.ErrorEvent{Ref: ref, Message: "Trying again.", Recoverable: true}), text("1", "a")}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := script{steps: append(append([]step{session()}, c.steps...), used(5, 1), used(7, 2), done())}
			r := newRig(t, s)
			whole := r.ask(saying("hi"))
			streamed := r.ask(saying("hi", streaming))
			told, finish := streamed.told(t)
			if got := whole.content(t); got != c.want || told != got || !slices.Equal(finish, []string{"stop"}) {
				t.Errorf("whole %q, streamed %q %q; want %q", got, told, finish, c.want)
			}
			if !strings.Contains(whole.body, `"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}`) {
				t.Errorf("the rounds' usage is not added up: %s", whole.body)
			}
			if strings.Contains(whole.body+streamed.body, "secret thought") {
				t.Error("what the model thinks is in the answer")
			}
		})
	}
}

// What goes wrong before a turn's first event has a status of its own; afterwards it is a line of the stream.
func TestWhatGoesWrong(t *testing.T) {
	const plain = "Something went wrong inside Sentient. The details are in its log."
	secret := errors.New("open /home/someone/db: no such file")
	stopped := errs.New(errs.Cancelled, "stopped", "Stopped by Stop everything.")
	begun := []step{session(), text("m1", "Half of ")}
	for _, c := range []struct {
		name     string
		script   script
		names    error
		late     bool // the turn has begun
		status   int
		code     string
		sentence string
	}{
		{name: "chat unknown", names: secret, status: 500, code: "turn_failed", sentence: plain},
		{name: "disk full", names: errs.New(errs.Unavailable, "disk_full", "The disk is full."), status: 500, code: "turn_failed", sentence: "The disk is full."},
		{name: "busy", script: script{refuse: errs.New(errs.Conflict, "chat_busy", "Busy.")}, status: 409, code: "chat_busy"},
		{name: "stopped before it began", script: script{refuse: stopped}, status: 409, code: "stopped", sentence: "Stopped."},
		{name: "a text that is refused", script: script{refuse: errs.New(errs.Invalid, "text_bad", "This text can't be read.")}, status: 400, code: "invalid_request", sentence: "This text can't be read."},
		{name: "unexpected", script: script{refuse: secret}, status: 500, code: "turn_failed", sentence: plain},
		{name: "the turn failed at once", script: script{steps: append([]step{session()}, failed("The model can't be reached.")...)}, late: true, status: 500, code: "turn_failed", sentence: "The model can't be reached."},
		{name: "the turn failed half-way", script: script{steps: append(begun[:2:2], failed("The reply was cut off.")...)}, late: true, status: 500, code: "turn_failed", sentence: "The reply was cut off."},
		{name: "an error and a done without it", script: script{steps: append(begun[:2:2], failed("It failed.")[0], done())}, late: true, status: 500, code: "turn_failed", sentence: "It failed."},
		{name: "stopped in its chat", script: script{steps: append(begun[:2:2], line("done", transcript.DoneEvent{Ref: ref, Cancelled: true}))}, late: true, status: 409, code: "stopped", sentence: "Stopped."},
		{name: "stopped with everything", script: script{steps: append(begun[:2:2], line("done", transcript.DoneEvent{Ref: ref, Cancelled: true})), err: stopped}, late: true, status: 409, code: "stopped", sentence: "Stopped."},
		{name: "it broke", script: script{steps: begun, err: secret}, late: true, status: 500, code: "turn_failed", sentence: plain},
		{name: "no done", script: script{steps: begun}, late: true, status: 500, code: "turn_failed", sentence: plain},
	} {
		for _, stream := range []bool{false, true} {
			name := c.name + ", whole"
			body := saying("private words")
			if stream {
				name, body = c.name+", streamed", saying("private words", streaming)
			}
			t.Run(name, func(t *testing.T) {
				r := newRig(t, c.script)
				r.names.err = c.names
				a := r.ask(body)
				fault := a.body
				if stream && c.late {
					events := a.events(t)
					if a.status != 200 || len(events) < 3 || events[len(events)-1] != "[DONE]" {
						t.Fatalf("%d %s", a.status, a.body)
					}
					fault = events[len(events)-2]
					if _, finish := (answered{body: strings.Replace(a.body, fault, "{}", 1)}).told(t); len(finish) > 0 {
						t.Errorf("a turn that failed has a finish_reason: %s", a.body)
					}
				} else if a.status != c.status || a.header.Get("X-Should-Retry") != "false" {
					t.Errorf("%d %v; want %d", a.status, a.header, c.status)
				}
				f := answered{body: fault}.fault(t)
				if f.Code != c.code || c.sentence != "" && f.Message != c.sentence || !strings.HasSuffix(f.Message, ".") {
					t.Errorf("%s; want %s %q", fault, c.code, c.sentence)
				}
				if log := r.log.String(); strings.Contains(log, "private words") || strings.Contains(log, goodKey) || !strings.Contains(log, c.code) {
					t.Errorf("logged: %s", log)
				}
			})
		}
	}
}

// A request to a chat that is answering is refused at once and starts nothing; another chat answers beside it.
func TestBusyChat(t *testing.T) {
	open := make(chan struct{})
	wait := script{steps: []step{session(), {until: open, line: text("m1", "late").line}, done()}}
	r := newRig(t, wait, said("Beside."))
	res, err := r.server.Client().Do(r.request("POST", chatPath, saying("wait", streaming)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for range 3 {
		a := r.ask(saying("again"))
		if a.status != 409 || a.fault(t).Code != "chat_busy" || a.header.Get("X-Should-Retry") != "false" {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if got := r.ask(saying("other", `,"user":"Editor"`)).content(t); got != "Beside." {
		t.Error(got)
	}
	if n := len(r.questions()); n != 2 {
		t.Errorf("%d turns began", n)
	}
	close(open)
	raw, err := io.ReadAll(res.Body)
	if told, _ := (answered{body: string(raw)}).told(t); err != nil || told != "late" {
		t.Errorf("%q %v", told, err)
	}
	if got := r.ask(saying("now")).content(t); got != "Beside." {
		t.Error(got)
	}
}

// Stop everything while a request's chat is being made: the turn does not begin. The next request does.
func TestStopBeforeTheTurnBegins(t *testing.T) {
	r := newRig(t)
	r.names.hook = func() { r.stops.Add(1) }
	for _, more := range []string{"", streaming} {
		if a := r.ask(saying("hi", more)); a.status != 409 || a.fault(t) != (Fault{Message: "Stopped.", Type: "invalid_request_error", Code: "stopped"}) {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	r.names.hook = nil
	if got := r.ask(saying("hi")).content(t); got != "Hello." || len(r.questions()) != 1 {
		t.Errorf("%q, %d turns", got, len(r.questions()))
	}
}

// An app that hangs up ends nothing, whether it listened or waited.
func TestHangUp(t *testing.T) {
	for _, more := range []string{"", streaming} {
		open := make(chan struct{})
		r := newRig(t, script{steps: []step{session(), text("m1", "Before"), {until: open, line: text("m1", " and after.").line}, done()}})
		ctx, hangUp := context.WithCancel(t.Context())
		req := r.request("POST", chatPath, saying("wait", more)).WithContext(ctx)
		if more != "" {
			res, err := r.server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			hangUp()
			res.Body.Close()
		} else {
			var waiting errOf
			waiting.Go(func() error { _, err := r.server.Client().Do(req); return err })
			for len(r.questions()) == 0 {
				if a := r.call("GET", "/v1/models", ""); a.status != 200 {
					t.Fatal(a.body)
				}
			}
			hangUp()
			if err := waiting.Wait(); !errors.Is(err, context.Canceled) {
				t.Errorf("the request was answered: %v", err)
			}
		}
		r.server.Close() // waits until the handler has returned: it does not wait for the turn
		close(open)
		r.running.Wait()
		if r.ended != 1 {
			t.Error("the turn did not come to its end")
		}
		if log := r.log.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=INFO") {
			t.Errorf("a hang-up was noted as a failure: %s", log)
		}
	}
}

// errOf waits for one function's error.
type errOf struct{ done chan error }

func (e *errOf) Go(f func() error) {
	e.done = make(chan error, 1)
	go func() { e.done <- f() }()
}

func (e *errOf) Wait() error { return <-e.done }

// While a turn waits, as for the person's OK, the stream carries comments, which are no events.
func TestStreamStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, key: fixedKey{key: goodKey}}
		open := make(chan struct{})
		r.turns = newTurns(script{steps: []step{session(), text("m1", "Let me ask."), {until: open, line: text("m2", "Thanks.").line}, done()}})
		for _, more := range []string{streaming, ""} {
			open = make(chan struct{})
			r.scripts = []script{{steps: []step{session(), text("m1", "Let me ask."), {until: open, line: text("m2", "Thanks.").line}, done()}}}
			time.AfterFunc(61*time.Second, func() { close(open) })
			h := New(Options{Settings: func() (bool, bool) { return true, false }, Key: &r.key, Turns: r.turns, Chats: &r.names, Clock: realClock, Log: discard})
			w := httptest.NewRecorder()
			req := httptest.NewRequest("POST", chatPath, strings.NewReader(saying("hi", more)))
			req.RemoteAddr = "127.0.0.1:1"
			req.Header.Set("Authorization", "bearer "+goodKey)
			start := time.Now()
			h.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, address("127.0.0.1:2"))))
			a := answered{status: w.Code, body: w.Body.String()}
			comments := strings.Count(a.body, ": keep-alive\n\n")
			if more == "" {
				if comments != 0 || a.content(t) != "Let me ask.\n\nThanks." {
					t.Errorf("%d comments in %s", comments, a.body)
				}
				continue
			}
			if told, finish := a.told(t); told != "Let me ask.\n\nThanks." || len(finish) != 1 || comments != 4 || time.Since(start) != 61*time.Second {
				t.Errorf("%q %q, %d comments", told, finish, comments)
			}
		}
	})
}

// goneWriter is a connection that takes nothing any more.
type goneWriter struct {
	http.ResponseWriter
	writes int
}

func (w *goneWriter) Write([]byte) (int, error)   { w.writes++; return 0, errors.New("broken pipe") }
func (w *goneWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestAppThatTakesNothing(t *testing.T) {
	r := newRig(t)
	for _, more := range []string{"", streaming} {
		w := &goneWriter{ResponseWriter: httptest.NewRecorder()}
		req := httptest.NewRequest("POST", chatPath, strings.NewReader(saying("hi", more)))
		req.RemoteAddr = "127.0.0.1:1"
		req.Header.Set("Authorization", "Bearer "+goodKey)
		New(r.o).ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, address("[::1]:2"))))
		if w.writes != 1 {
			t.Errorf("%d writes to an app that is gone", w.writes)
		}
	}
	r.running.Wait()
	if r.ended != 2 || strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("%d turns ended; %s", r.ended, r.log.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{saying("hi", streaming), `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}],"user":"x"}`,
		`{"messages":[{"role":"user","content":null}]}`, `[]`, `{"messages":[{}]}`, "{\"user\":\"\u2028\"}", `{"stream_options":{"include_usage":true}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parse(raw)
		if err != nil {
			if e := errs.From(err); e.Kind != errs.Malformed || e.Code != "invalid_request" && e.Code != "no_user_message" {
				t.Errorf("%v", err)
			}
			return
		}
		if strings.TrimSpace(a.text) == "" || strings.TrimSpace(a.user) == "" || strings.ContainsAny(a.user, "\n\r\x00") || !json.Valid(raw) {
			t.Errorf("%q gave %+v", raw, a)
		}
	})
}
