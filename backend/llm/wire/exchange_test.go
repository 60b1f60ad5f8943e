package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
)

// bubble starts a stub in a bubble of fake time and gives an exchange with it.
func bubble(t *testing.T, play scripted.Play) (*scripted.Server, *Exchange, *strings.Builder) {
	t.Helper()
	l, client := scripted.Network()
	s := scripted.ServeOn(l, play)
	t.Cleanup(s.Close)
	doer := NewDoer(client, nil)
	heard := &strings.Builder{}
	return s, &Exchange{
		Clock: clock.Real{},
		Open: func(ctx context.Context) (*http.Response, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/x", strings.NewReader("{}"))
			if err != nil {
				return nil, err
			}
			return doer.Do(req)
		},
		Piece: func(p []byte) (bool, bool, error) {
			heard.Write(p)
			return !strings.HasPrefix(string(p), ":"), !strings.Contains(string(p), "END"), nil
		},
	}, heard
}

func after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

func TestSilenceIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name  string
		idle  time.Duration
		play  func() scripted.Play
		err   error
		heard string
		notes []bool // begun
		took  time.Duration
	}{
		{"before the headers", 0, func() scripted.Play {
			return scripted.Play{Before: after(130 * time.Second), Parts: []scripted.Part{{Bytes: "late END"}}}
		}, nil, "late END", []bool{false}, 130 * time.Second},
		{"after the headers", 0, func() scripted.Play {
			return scripted.Play{Parts: []scripted.Part{{Until: after(130 * time.Second), Bytes: "late END"}}}
		}, nil, "late END", []bool{false}, 130 * time.Second},
		{"in the middle", 0, func() scripted.Play {
			return scripted.Play{Parts: []scripted.Part{{Bytes: "a"}, {Until: after(130 * time.Second), Bytes: "END"}}}
		}, nil, "aEND", []bool{true}, 130 * time.Second},
		{"too long before the headers", 0, func() scripted.Play { return scripted.Play{Before: make(chan struct{})} }, ErrSilent, "", []bool{false}, DefaultIdle},
		{"too long after the headers", time.Minute, func() scripted.Play { return scripted.Play{Hang: true} }, ErrSilent, "", []bool{false}, time.Minute},
		{"keep-alives hold it", 15 * time.Second, func() scripted.Play {
			p := scripted.Play{}
			for i := range 12 {
				p.Parts = append(p.Parts, scripted.Part{Until: after(time.Duration(i+1) * 10 * time.Second), Bytes: ":\n\n"})
			}
			p.Parts = append(p.Parts, scripted.Part{Bytes: "END"})
			return p
		}, nil, strings.Repeat(":\n\n", 12) + "END", []bool{false}, 120 * time.Second},
		{"keep-alives do not hold it for ever", 15 * time.Second, func() scripted.Play {
			p := scripted.Play{Hang: true}
			for i := range 30 {
				p.Parts = append(p.Parts, scripted.Part{Until: after(time.Duration(i+1) * 10 * time.Second), Bytes: ":\n\n"})
			}
			return p
		}, ErrSilent, strings.Repeat(":\n\n", 16), []bool{false}, 160 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, x, heard := bubble(t, c.play())
				x.Idle = c.idle
				var notes []bool
				x.Quiet = func(begun bool) error { notes = append(notes, begun); return nil }
				err := x.Run(t.Context())
				if !errors.Is(err, c.err) || heard.String() != c.heard {
					t.Errorf("%v, heard %q", err, heard)
				}
				if len(notes) != len(c.notes) || len(notes) > 0 && notes[0] != c.notes[0] {
					t.Errorf("notes %v", notes)
				}
				if took := time.Since(start); took < c.took || took > c.took+time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestStopClosesTheSocketAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		play func() scripted.Play
	}{
		{"before the headers", func() scripted.Play { return scripted.Play{Before: make(chan struct{})} }},
		{"after the headers", func() scripted.Play { return scripted.Play{Hang: true} }},
		{"in the middle", func() scripted.Play { return scripted.Play{Parts: []scripted.Part{{Bytes: "a"}}, Hang: true} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s, x, _ := bubble(t, c.play())
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(70*time.Second, stop)
				if err := x.Run(ctx); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if err := s.AwaitGone(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != 70*time.Second {
					t.Errorf("the server saw it after %v", took)
				}
			})
		})
	}
}

func TestCallbackErrorEndsAndCloses(t *testing.T) {
	enough := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		s, x, _ := bubble(t, scripted.Play{Parts: []scripted.Part{{Bytes: "a"}}, Hang: true})
		x.Piece = func([]byte) (bool, bool, error) { return true, true, enough }
		if err := x.Run(t.Context()); !errors.Is(err, enough) {
			t.Fatal(err)
		}
		if err := s.AwaitGone(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, x, _ := bubble(t, scripted.Play{Hang: true})
		x.Quiet = func(bool) error { return enough }
		if err := x.Run(t.Context()); !errors.Is(err, enough) {
			t.Fatal(err)
		}
	})
}

func TestGraceEndsAnOpenConnection(t *testing.T) {
	for name, play := range map[string]scripted.Play{
		"silent": {Parts: []scripted.Part{{Bytes: "whole"}}, Hang: true},
		"cut":    {Parts: []scripted.Part{{Bytes: "whole"}}, Cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, x, heard := bubble(t, play)
				x.Grace = func() time.Duration {
					if heard.Len() > 0 {
						return 5 * time.Second
					}
					return 0
				}
				ended := false
				x.End = func() error { ended = true; return nil }
				if err := x.Run(t.Context()); err != nil || !ended || time.Since(start) > 5*time.Second {
					t.Fatalf("%v, ended %v after %v", err, ended, time.Since(start))
				}
			})
		})
	}
}

func TestBrokenAndCapped(t *testing.T) {
	read := func(body io.Reader, most int64) error {
		x := Exchange{Clock: clock.Real{}, MaxBody: most,
			Open: func(context.Context) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(body)}, nil
			},
			Piece: func([]byte) (bool, bool, error) { return true, true, nil }}
		return x.Run(t.Context())
	}
	if err := read(strings.NewReader(strings.Repeat("x", 1000)), 1000); err != nil {
		t.Error(err)
	}
	if err := read(strings.NewReader(strings.Repeat("x", 1001)), 1000); !errors.Is(err, ErrTooBig) {
		t.Error(err)
	}
	for name, open := range map[string]func(context.Context) (*http.Response, error){
		"panics":       func(context.Context) (*http.Response, error) { panic("boom") },
		"nothing":      func(context.Context) (*http.Response, error) { return nil, nil },
		"closed early": func(context.Context) (*http.Response, error) { return nil, io.EOF },
	} {
		x := Exchange{Clock: clock.Real{}, Open: open, Piece: func([]byte) (bool, bool, error) { return true, true, nil }}
		if err := x.Run(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (Exchange{Clock: clock.Real{}, Open: func(context.Context) (*http.Response, error) { t.Error("asked"); return nil, io.EOF }}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDoerKeepsTheKeyHome(t *testing.T) {
	other, err := scripted.Serve(scripted.Stream("data: stolen\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s, err := scripted.Serve(
		scripted.Play{Status: 307, Header: http.Header{"Location": {other.URL}}},
		scripted.Stream("data: x\n\n"),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doer := NewDoer(&http.Client{Timeout: time.Nanosecond}, map[string]string{"X-Title": "Sentient"})
	do := func() (*http.Response, error) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("{}"))
		req.Header.Set("x-api-key", "secret")
		req.Header.Set("X-Stainless-OS", "Linux")
		return doer.Do(req)
	}
	_, err = do()
	if e, ok := errors.AsType[*StatusError](err); !ok || e.Status != 307 || len(other.Requests()) != 0 {
		t.Fatalf("%v, %d requests elsewhere", err, len(other.Requests()))
	}
	res, err := do()
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	h := s.Requests()[1].Header
	if h.Get("X-Title") != "Sentient" || h.Get("User-Agent") != "Sentient" || h.Get("X-Stainless-Os") != "" {
		t.Fatalf("%v", h)
	}
}

func TestFault(t *testing.T) {
	s := llm.Service{ID: "x", Label: "X"}
	mine := errors.New("mine")
	stopped := llm.NewDraft(func(llm.Delta) error { return mine })
	_ = stopped.Say("a")
	started := llm.NewDraft(func(llm.Delta) error { return nil })
	_ = started.Say("a")
	gone, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		draft *llm.Draft
		err   error
		is    error
		code  string
	}{
		{"nothing", t.Context(), nil, nil, nil, ""},
		{"the caller's own", t.Context(), stopped, io.ErrUnexpectedEOF, mine, ""},
		{"cancelled", gone, started, io.ErrUnexpectedEOF, context.Canceled, ""},
		{"silent", t.Context(), nil, ErrSilent, nil, llm.CodeSlow},
		{"too big", t.Context(), started, ErrTooBig, nil, llm.CodeBroken},
		{"line", t.Context(), started, ErrLineTooLong, nil, llm.CodeBroken},
		{"cut", t.Context(), started, fmt.Errorf("%w: %w", ErrCut, io.ErrUnexpectedEOF), nil, llm.CodeBroken},
		{"never began", t.Context(), nil, io.EOF, nil, llm.CodeUnreachable},
	} {
		err := Fault(c.ctx, s, c.draft, c.err)
		if c.is != nil && !errors.Is(err, c.is) || c.is == nil && codeOf(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
