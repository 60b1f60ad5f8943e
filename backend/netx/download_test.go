package netx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
)

// brisk is a clock on which the pauses between attempts are over at once, and so are stalls where that is wanted.
type brisk struct {
	clock.Real
	stall time.Duration
}

func (b brisk) NewTimer(d time.Duration) clock.Timer {
	if d == stallTimeout {
		if b.stall == 0 {
			return b.Real.NewTimer(d)
		}
		return b.Real.NewTimer(b.stall)
	}
	return b.Real.NewTimer(0)
}

// content is a file that differs everywhere.
func content(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// fileServer serves a file with ranges and cuts the connection where cuts say, one a request.
type fileServer struct {
	file     []byte
	tag      string
	noRanges bool
	cuts     []int // bytes sent before the connection is cut; -1: not cut
	requests []string
}

func (f *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests = append(f.requests, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
	cut := -1
	if len(f.cuts) > 0 {
		cut, f.cuts = f.cuts[0], f.cuts[1:]
	}
	from := 0
	if f.tag != "" {
		w.Header().Set("ETag", f.tag)
	}
	if rg := r.Header.Get("Range"); rg != "" && !f.noRanges && r.Header.Get("If-Range") == f.tag {
		from, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(rg, "bytes="), "-"))
		if from >= len(f.file) {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(f.file)-1, len(f.file)))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(f.file)-from))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	if cut < 0 {
		w.Write(f.file[from:])
		return
	}
	w.Write(f.file[from:min(from+cut, len(f.file))])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func fetchFile(t *testing.T, c *Client, ctx context.Context, r Request) ([]byte, error) {
	t.Helper()
	r.Addresses = Any
	err := c.Download(ctx, r)
	b, rerr := os.ReadFile(r.To)
	if err == nil && rerr != nil {
		t.Fatal(rerr)
	}
	if err != nil && !errors.Is(rerr, fs.ErrNotExist) {
		t.Fatalf("failed, and the file is there: %v", err)
	}
	if err == nil {
		for _, end := range []string{partEnd, noteEnd} {
			if _, err := os.Stat(r.To + end); err == nil {
				t.Errorf("%s was left behind", end)
			}
		}
	}
	return b, err
}

func TestDownload(t *testing.T) {
	file := content(3 << 20)
	for _, c := range []struct {
		name     string
		server   fileServer
		known    bool // size and checksum are given
		requests string
	}{
		{"at once", fileServer{tag: `"a"`}, true, "[ ]"},
		{"at once, nothing known", fileServer{}, false, "[ ]"},
		{"cut twice", fileServer{tag: `"a"`, cuts: []int{1 << 20, 1 << 19}}, true, `[  bytes=1048576- "a" bytes=1572864- "a"]`},
		{"cut at the very end", fileServer{tag: `"a"`, cuts: []int{3<<20 - 1}}, true, `[  bytes=3145727- "a"]`},
		{"cut, no ranges", fileServer{tag: `"a"`, noRanges: true, cuts: []int{1 << 20}}, true, `[  bytes=1048576- "a"]`},
		{"cut, nothing to tell the file by", fileServer{cuts: []int{1 << 20}}, true, "[   ]"},
		{"cut, a weak tag", fileServer{tag: `W/"a"`, cuts: []int{1 << 20}}, true, "[   ]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.server.file = file
			s := serve(t, c.server.ServeHTTP)
			var last, total int64
			r := Request{URL: s.URL, To: filepath.Join(t.TempDir(), "a", "b", "file"), Progress: func(d, all int64) { last, total = d, all }}
			if c.known {
				r.Size, r.SHA256 = int64(len(file)), strings.ToUpper(sumOf(file))
			}
			b, err := fetchFile(t, newClient(t, Options{Clock: brisk{}}), t.Context(), r)
			if err != nil || !bytes.Equal(b, file) {
				t.Fatal(len(b), err)
			}
			if last != int64(len(file)) || total != int64(len(file)) {
				t.Errorf("progress ended at %d of %d", last, total)
			}
			if got := fmt.Sprint(c.server.requests); got != c.requests {
				t.Errorf("requests: %s", got)
			}
		})
	}
}

func TestDownloadRefusals(t *testing.T) {
	file := content(1 << 20)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	whole := func(w http.ResponseWriter, r *http.Request) { w.Write(file) }
	told := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(file)))
		w.Write(file)
	}
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		r    Request
		code string
		free uint64
	}{
		{"not found", status(404), Request{}, "download_refused", 0},
		{"not allowed", status(403), Request{}, "download_refused", 0},
		{"teapot", status(418), Request{}, "download_refused", 0},
		{"unasked part", status(206), Request{}, "download_refused", 0},
		{"busy", status(503), Request{}, "download_busy", 0},
		{"another size", told, Request{Size: 1<<20 + 1}, "download_damaged", 0},
		{"too short, size not told", whole, Request{Size: 1<<20 + 1}, "download_damaged", 0},
		{"too long, size not told", whole, Request{Size: 1<<20 - 1}, "body_too_large", 0},
		{"too long for what is allowed", whole, Request{MaxSize: 1000}, "body_too_large", 0},
		{"too long for what is allowed, as told", told, Request{MaxSize: 1000}, "body_too_large", 0},
		{"another checksum", told, Request{Size: 1 << 20, SHA256: sumOf(file[1:])}, "download_damaged", 0},
		{"no space", told, Request{}, "disk_full", spare + 1<<20 - 1},
		{"stalls", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "a")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, Request{}, "host_timeout", 0},
		{"never gets on", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, Request{}, "connection_lost", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Clock: brisk{stall: 50 * time.Millisecond}}
			if c.free > 0 {
				o.DiskFree = func(string) (uint64, bool) { return c.free, true }
			}
			c.r.URL, c.r.To = serve(t, c.h).URL+"/file?token=secret", filepath.Join(t.TempDir(), "file")
			_, err := fetchFile(t, newClient(t, o), t.Context(), c.r)
			wantCode(t, err, c.code)
			if left, _ := os.ReadDir(filepath.Dir(c.r.To)); c.code == "download_damaged" && len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	c := newClient(t, Options{})
	wantCode(t, c.Download(t.Context(), Request{URL: "file:///etc/passwd", To: filepath.Join(t.TempDir(), "x")}), "address_malformed")
	wantCode(t, c.Download(t.Context(), Request{URL: serve(t, whole).URL, To: filepath.Join(t.TempDir(), "x")}), "address_refused")
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantCode(t, c.Download(t.Context(), Request{URL: serve(t, whole).URL, To: filepath.Join(blocked, "x"), Addresses: Any}), "folder_unusable")
}

// What was fetched before a Stop is taken up by a later call, unless the file has changed meanwhile.
func TestDownloadGoesOnLater(t *testing.T) {
	file, changed := content(4<<20), append([]byte("new"), content(4<<20)...)
	for _, c := range []struct {
		name     string
		resume   bool
		then     fileServer
		spoil    func(to string)
		requests string
	}{
		{"goes on", true, fileServer{file: file, tag: `"a"`}, nil, `[bytes=N- "a"]`},
		{"not asked to", false, fileServer{file: file, tag: `"a"`}, nil, "[ ]"},
		{"changed", true, fileServer{file: changed, tag: `"b"`}, nil, `[bytes=N- "a"]`},
		{"note gone", true, fileServer{file: file, tag: `"a"`}, func(to string) { os.Remove(to + noteEnd) }, "[ ]"},
		{"note of another address", true, fileServer{file: file, tag: `"a"`}, func(to string) {
			os.WriteFile(to+noteEnd, []byte(`{"url":"http://other","validator":"\"a\""}`), 0o600)
		}, "[ ]"},
		{"part gone", true, fileServer{file: file, tag: `"a"`}, func(to string) { os.Remove(to + partEnd) }, "[ ]"},
		{"part too long", true, fileServer{file: file, tag: `"a"`}, func(to string) { os.WriteFile(to+partEnd, changed, 0o600) }, "[ ]"},
		{"part complete", true, fileServer{file: file, tag: `"a"`}, func(to string) { os.WriteFile(to+partEnd, file, 0o600) }, `[bytes=N- "a"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var server atomic.Pointer[fileServer]
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { server.Load().ServeHTTP(w, r) })
			server.Store(&fileServer{file: file, tag: `"a"`})
			cl := newClient(t, Options{Clock: brisk{}})
			r := Request{URL: s.URL, To: filepath.Join(t.TempDir(), "file"), Resume: c.resume}
			ctx, cancel := context.WithCancel(t.Context())
			r.Progress = func(done, _ int64) {
				if done > 1<<20 {
					cancel()
				}
			}
			if _, err := fetchFile(t, cl, ctx, r); !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped: %v", err)
			}
			if c.spoil != nil {
				c.spoil(r.To)
			}
			part, _ := os.Stat(r.To + partEnd)
			server.Store(&c.then)
			r.Progress = nil
			b, err := fetchFile(t, cl, t.Context(), r)
			if err != nil || !bytes.Equal(b, c.then.file) {
				t.Fatalf("%d bytes of %d, %v", len(b), len(c.then.file), err)
			}
			want := c.requests
			if part != nil {
				want = strings.ReplaceAll(want, "N", fmt.Sprint(part.Size()))
			}
			if got := fmt.Sprint(c.then.requests); got != want {
				t.Errorf("requests: %s, want %s", got, want)
			}
		})
	}
}

func TestDownloadCutForGoodIsKept(t *testing.T) {
	file := content(2 << 20)
	f := &fileServer{file: file, tag: `"a"`, cuts: []int{1 << 20, 0, 0, 0, 0, 0, 0, 0}}
	s := serve(t, f.ServeHTTP)
	r := Request{URL: s.URL, To: filepath.Join(t.TempDir(), "file"), Resume: true, SHA256: sumOf(file)}
	c := newClient(t, Options{Clock: brisk{}})
	_, err := fetchFile(t, c, t.Context(), r)
	wantCode(t, err, "connection_lost")
	if len(f.requests) != maxAttempts {
		t.Errorf("%d requests", len(f.requests))
	}
	if i, err := os.Stat(r.To + partEnd); err != nil || i.Size() != 1<<20 {
		t.Fatal(i, err)
	}
	f.cuts = nil
	if b, err := fetchFile(t, c, t.Context(), r); err != nil || !bytes.Equal(b, file) {
		t.Fatal(len(b), err)
	}
}

// The token of a download stays with its host; what a mirror gets is only the range.
func TestDownloadByAMirror(t *testing.T) {
	file := content(1000)
	mirror := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the mirror saw the token")
		}
		w.Write(file)
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Error("no token")
		}
		http.Redirect(w, r, mirror.URL, http.StatusFound)
	})
	r := Request{URL: s.URL, To: filepath.Join(t.TempDir(), "file"), SHA256: sumOf(file), Header: http.Header{"Authorization": {"Bearer secret"}}}
	b, err := fetchFile(t, newClient(t, Options{}), t.Context(), r)
	if err != nil || !bytes.Equal(b, file) {
		t.Fatal(len(b), err)
	}
	if errs.Code(err) != "" {
		t.Error(err)
	}
}
