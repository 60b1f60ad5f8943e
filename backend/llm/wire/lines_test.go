package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func events(t *testing.T, limit int, pieces ...string) ([]string, error) {
	t.Helper()
	var got []string
	e := Events{Lines: Lines{Max: limit}}
	take := func(ev Event) error {
		got = append(got, ev.Name+"|"+string(ev.Data))
		return nil
	}
	for _, p := range pieces {
		if err := e.Write([]byte(p), take); err != nil {
			return got, err
		}
	}
	return got, e.End(take)
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []string{"|a"}},
		{"no blank after the colon", "data:a\n\n", []string{"|a"}},
		{"only one blank is dropped", "data:  a\n\n", []string{"| a"}},
		{"name", "event: x\ndata: a\n\n", []string{"x|a"}},
		{"name does not stay", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		{"lines are joined", "data: a\ndata: b\n\n", []string{"|a\nb"}},
		{"keep-alives", ":\n\n: hi\n\nevent: ping\ndata:\n\nevent: ping\n\nretry: 3\n\nid: 4\n\ndata: a\n\n", []string{"|a"}},
		{"comment inside", "data: a\n: x\ndata: b\n\n", []string{"|a\nb"}},
		{"keep-alive that is data", "data: : keepalive\n\n", []string{"|: keepalive"}},
		{"crlf", "event: x\r\ndata: a\r\n\r\n", []string{"x|a"}},
		{"cr", "event: x\rdata: a\r\r", []string{"x|a"}},
		{"byte order mark", "\uFEFFdata: a\n\n", []string{"|a"}},
		{"mark elsewhere is text", "data: \uFEFFa\n\n", []string{"|\uFEFFa"}},
		{"no end", "data: a", []string{"|a"}},
		{"one line end", "data: a\n", []string{"|a"}},
		{"error field", "error: {}\n\n", []string{"error|{}"}},
		{"unknown field", "hello\nfoo: bar\n\n", nil},
		{"no colon", "data\n\ndata: a\n\n", []string{"|a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range len(c.in) + 1 {
				got, err := events(t, 0, c.in[:i], c.in[i:])
				if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Fatalf("cut at %d: %q %v, want %q", i, got, err, c.want)
				}
			}
		})
	}
}

func TestCapsOfLinesAndEvents(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		err  error
	}{
		{"at the cap", strings.Repeat("x", 20) + "\n", nil},
		{"a line without an end", strings.Repeat("x", 21), ErrLineTooLong},
		{"an event without an end", strings.Repeat("data: 123456\n", 4), ErrLineTooLong},
	} {
		_, err := events(t, 20, strings.Split(c.in, "")...)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCallbackErrorsComeBack(t *testing.T) {
	stop := errors.New("stop")
	var l Lines
	n := 0
	if err := l.Write([]byte("a\nb\n"), func([]byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Fatal(err, n)
	}
}

// FuzzEvents holds that no cut changes what is read, and that memory is bounded by the cap.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: a\r\n\r\n", ":\n\ndata:\n\n", "\uFEFFdata: a\rdata: b\r\r", "error: x\n\n", "data: [DONE]"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		whole, err := events(t, 64, s)
		if at %= len(s) + 1; at < 0 {
			at = -at
		}
		for _, pieces := range [][]string{{s[:at], s[at:]}, strings.Split(s, "")} {
			got, e := events(t, 64, pieces...)
			if !reflect.DeepEqual(got, whole) || !errors.Is(e, err) {
				t.Fatalf("%q: %q %v, whole %q %v", pieces, got, e, whole, err)
			}
		}
	})
}

func TestHead(t *testing.T) {
	for _, c := range []struct{ in, first string }{
		{"", ""}, {" \n", ""}, {"\xEF", ""}, {"\xEF\xBB", ""}, {"\uFEFF", ""}, {"\uFEFF <html>", "<"}, {"\n\n{", "{"}, {"data:", "d"}, {"\xEFx", "\xEF"},
	} {
		for i := range len(c.in) + 1 {
			var h Head
			var got string
			first := byte(0)
			for _, p := range []string{c.in[:i], c.in[i:]} {
				f, data := h.First([]byte(p))
				first = f
				got += string(data)
			}
			if c.first == "" && first != 0 || c.first != "" && (first != c.first[0] || got != c.in) {
				t.Errorf("%q cut at %d: %q, %q", c.in, i, string(first), got)
			}
		}
	}
}

func TestKeepForgetsTheOldest(t *testing.T) {
	k := Keep[int]{Cap: 3}
	for i := range 5 {
		k.Put(fmt.Sprint(i), i)
		k.Put(fmt.Sprint(i), i*10)
	}
	if _, ok := k.Get("1"); ok {
		t.Fatal("kept too long")
	}
	if v, ok := k.Get("2"); !ok || v != 20 {
		t.Fatal(v, ok)
	}
}
