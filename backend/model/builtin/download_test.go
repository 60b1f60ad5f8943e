//go:build unix

package builtin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/netx"
)

// depot is where downloads come from: files by address. It keeps what it was asked for.
type depot struct {
	files map[string][]byte
	asked []netx.Request
	fail  error
	gate  func(ctx context.Context) // called before the file is there
}

func (d *depot) Download(ctx context.Context, r netx.Request) error {
	d.asked = append(d.asked, r)
	r.Progress(r.Size/2, r.Size)
	if d.gate != nil {
		d.gate(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if d.fail != nil {
		return d.fail
	}
	data, ok := d.files[r.URL]
	if !ok {
		return errors.New("no such file")
	}
	r.Progress(r.Size, r.Size)
	return os.WriteFile(r.To, data, 0o600)
}

type member struct {
	name, body string
	mode       int64
	link       string
	kind       byte
}

func pack(t *testing.T, members ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: m.mode, Size: int64(len(m.body)), Typeflag: tar.TypeReg}
		if m.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.link
		}
		if m.kind != 0 {
			h.Typeflag = m.kind
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// shop is a world with a weak model there and a better one on offer, whose "llama-server" is a script that becomes the stub.
func shop(t *testing.T) (*world, *depot) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(t.TempDir(), "ledger")
	script := "#!/bin/sh\nexec '" + self + "' stub --ledger '" + ledger + "' \"$@\"\n"
	program := pack(t, member{name: "llama-" + release + "/llama-server", body: script, mode: 0o755},
		member{name: "llama-" + release + "/libllama.so.0", body: "lib", mode: 0o644},
		member{name: "llama-" + release + "/libllama.so", link: "libllama.so.0"})
	better := offered{indexModel: indexModel{Name: "better", Label: "Better", File: "Better.gguf", SizeBytes: 8, Tools: true, License: "Apache-2.0"},
		url: "https://models.test/better", memoryGB: 8, needGB: 6.5}
	older := offered{indexModel: indexModel{Name: "older", File: "Older.gguf", SizeBytes: 8, Weak: true}, memoryGB: 4, needGB: 2}
	a := archive{file: "llama.tar.gz", size: int64(len(program)), sha: "abc"}
	d := &depot{files: map[string][]byte{a.url(): program, better.url: []byte("GGUFdata")}}
	w := build(t, nil, func(o *Options, _ *indexModel) {
		o.Fetcher, o.offers, o.program = d, []offered{older, better}, &a
		o.MemoryBytes = func() uint64 { return 8e9 }
	})
	w.ledger = ledger
	return w, d
}

func (w *world) download(ctx context.Context, name string) ([]Progress, error) {
	var lines []Progress
	err := w.svc.Download(ctx, name, func(p Progress) error { lines = append(lines, p); return nil })
	return lines, err
}

func TestDownloadRefuses(t *testing.T) {
	w, d := shop(t)
	if _, err := w.download(t.Context(), "unheard-of"); !errs.Is(err, errs.NotFound) {
		t.Errorf("unknown: %v", err)
	}
	w.svc.o.MemoryBytes = func() uint64 { return 1e9 }
	if _, err := w.download(t.Context(), ""); !errs.Is(err, errs.Unavailable) {
		t.Errorf("too little memory: %v", err)
	}
	if w.svc.Status(t.Context()).Offer != nil {
		t.Error("something is offered to a computer with 1 GB")
	}
	w.svc.o.offers[1].SizeBytes = 1 << 60
	if _, err := w.download(t.Context(), "better"); errs.Code(err) != "disk_full" {
		t.Errorf("no room: %v", err)
	}
	if len(d.asked) != 0 {
		t.Errorf("downloaded %v", d.asked)
	}
	w.svc.o.Fetcher = nil
	if _, err := w.download(t.Context(), "better"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("nothing to download with: %v", err)
	}
}

func TestDownloadedModelAnswers(t *testing.T) {
	w, d := shop(t)
	if _, _, err := w.ask(t.Context(), "hi"); err != nil { // the weak model is loaded
		t.Fatal(err)
	}
	st := w.svc.Status(t.Context())
	if st.Offer == nil || st.Offer.Name != "better" || st.Offer.MemoryGB != 8 || st.Offer.SizeBytes != 8+w.svc.o.program.size {
		t.Fatalf("offer %+v", st.Offer)
	}
	w.write("Older.gguf", "GGUFdata")
	w.write("mine.gguf", "a person's own")
	lines, err := w.download(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	last, total := int64(0), 8+w.svc.o.program.size
	for _, l := range lines {
		if l.Total != total || l.Completed < last || l.Completed > total {
			t.Errorf("progress %+v after %d of %d", l, last, total)
		}
		last = l.Completed
	}
	if end := lines[len(lines)-1]; end.Status != "success" || end.Completed != total {
		t.Errorf("last line %+v", end)
	}
	if st := w.svc.Status(t.Context()); st.Model.Name != "better" || st.Model.Weak || st.Offer != nil {
		t.Errorf("status %+v", st)
	}
	reply, _, err := w.ask(t.Context(), "hi")
	if err != nil || reply.Text != " one two" {
		t.Errorf("the new model says %q, %v", reply.Text, err)
	}
	here := func(name string) bool { _, err := os.Stat(filepath.Join(w.home, "models", name)); return err == nil }
	if here("Older.gguf") || !here("mine.gguf") || here("llama.tar.gz") {
		t.Error("what is left in the folder is wrong")
	}
	before := len(d.asked)
	if _, err := w.download(t.Context(), ""); err != nil || len(d.asked) != before {
		t.Errorf("a second time: %v, fetched %v", err, d.asked[before:])
	}
}

func TestDownloadStopsAndGoesOn(t *testing.T) {
	w, d := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.gate = func(ctx context.Context) {
		if st := w.svc.Status(ctx); st.State != Downloading {
			t.Errorf("status %+v", st)
		}
		if _, err := w.download(ctx, "better"); !errs.Is(err, errs.Conflict) {
			t.Errorf("a second one at the same time: %v", err)
		}
		cancel()
	}
	if _, err := w.download(ctx, "better"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if st := w.svc.Status(t.Context()); st.State != Ready || st.Model.Name != "tiny" {
		t.Errorf("afterwards %+v", st)
	}
	enough := errors.New("enough")
	d.gate = nil
	if err := w.svc.Download(t.Context(), "better", func(Progress) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	d.fail = errs.New(errs.Unavailable, "net", "There is no connection.")
	if _, err := w.download(t.Context(), "better"); errs.Code(err) != "net" {
		t.Errorf("got %v", err)
	}
	d.fail = nil
	if _, err := w.download(t.Context(), "better"); err != nil {
		t.Error(err)
	}
}

func TestDownloadOfTheWrongThing(t *testing.T) {
	w, d := shop(t)
	d.files["https://models.test/better"] = []byte("<html>si")
	if _, err := w.download(t.Context(), "better"); errs.From(err).Message != errDamaged.Message {
		t.Errorf("a page instead of a model: %v", err)
	}
	if st := w.svc.Status(t.Context()); st.Model.Name != "tiny" {
		t.Errorf("status %+v", st)
	}
	if _, _, err := w.ask(t.Context(), "hi"); err != nil {
		t.Errorf("the model that was there: %v", err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	for name, data := range map[string][]byte{
		"up":            pack(t, member{name: "../llama-server", body: "x", mode: 0o755}),
		"absolute":      pack(t, member{name: "/tmp/llama-server", body: "x", mode: 0o755}),
		"link out":      pack(t, member{name: "lib", link: "/etc"}, member{name: "lib/x", body: "x"}),
		"link up":       pack(t, member{name: "a/lib", link: "../../x"}),
		"link to here":  pack(t, member{name: "lib", link: "."}),
		"hard link":     pack(t, member{name: "lib", kind: tar.TypeLink}),
		"device":        pack(t, member{name: "dev", kind: tar.TypeChar}),
		"twice":         pack(t, member{name: "a", body: "1"}, member{name: "a", body: "2"}),
		"no archive":    []byte("hello"),
		"over its link": pack(t, member{name: "lib", link: "lib2"}, member{name: "lib", body: "x"}),
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "a.tar.gz")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		into := filepath.Join(dir, "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unpack(t.Context(), file, into); err == nil {
			t.Errorf("%s: unpacked", name)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 2 {
			t.Errorf("%s: something lies outside of the folder", name)
		}
	}
}

func TestUnpackZip(t *testing.T) {
	dir := t.TempDir()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for _, name := range []string{"llama-server", "llama-server.exe", "ggml.dll"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(name))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, into := filepath.Join(dir, "a.zip"), filepath.Join(dir, "into")
	if err := errors.Join(os.WriteFile(file, data.Bytes(), 0o600), os.Mkdir(into, 0o700), unpack(t.Context(), file, into)); err != nil {
		t.Fatal(err)
	}
	if got, err := serverIn(into); err != nil || filepath.Dir(got) != into {
		t.Errorf("%s, %v", got, err)
	}
}

func TestCatalogue(t *testing.T) {
	sha := regexp.MustCompile(`^[0-9a-f]{64}$`)
	revision := regexp.MustCompile(`/resolve/[0-9a-f]{40}/`)
	last := 0.0
	for _, m := range catalogue() {
		if !sha.MatchString(m.SHA256) || !revision.MatchString(m.url) || m.SizeBytes < 1e8 || m.License != "Apache-2.0" ||
			!strings.HasPrefix(m.LicenseURL, "https://") || !strings.HasSuffix(m.url, "/"+m.File) {
			t.Errorf("%+v", m)
		}
		if m.needGB <= last || float64(m.memoryGB) < m.needGB || float64(m.SizeBytes)*1.2 > m.needGB*1e9 {
			t.Errorf("%s: needs %v of %d GB, has %d bytes", m.Name, m.needGB, m.memoryGB, m.SizeBytes)
		}
		last = m.needGB
	}
	for _, a := range archives() {
		if !sha.MatchString(a.sha) || !strings.Contains(a.url(), "/"+release+"/llama-"+release+"-") || a.size < 1e6 {
			t.Errorf("%+v", a)
		}
	}
	if _, ok := thisArchive(); !ok {
		t.Errorf("no build for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	for gb, want := range map[float64]string{1: "", 3.8: "qwen3-0.6b", 7.6: "qwen3-1.7b", 15.3: "qwen3-4b", 31: "qwen3-8b", 0: "qwen3-1.7b"} {
		got := ""
		if m := suits(uint64(gb*1e9), catalogue()); m != nil {
			got = m.Name
		}
		if got != want {
			t.Errorf("%v GB get %q, want %q", gb, got, want)
		}
	}
}

func TestIndexes(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":   `{`,
		"no model":   `{"program":["a"],"models":[]}`,
		"no program": `{"models":[{"name":"x","file":"m"}]}`,
		"too large":  `{"x":"` + strings.Repeat("x", maxIndex) + `"}`,
		"missing":    `{"program":["nowhere"],"models":[{"name":"x","file":"m"}]}`,
		"cut off":    `{"program":["m"],"models":[{"name":"x","file":"m","size_bytes":5}]}`,
	} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "m"), []byte("GGUF"), 0o600), os.WriteFile(filepath.Join(dir, indexName), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		s := New(Options{Home: filepath.Join(dir, "home"), Checkout: dir, Adapter: func(string, string) llm.Model { return nil }})
		if f, err := s.find(); f != nil || err == nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestFindCheckout(t *testing.T) {
	root := t.TempDir()
	models := filepath.Join(root, "build", "cache", "models")
	deep := filepath.Join(root, "backend", "model")
	for _, dir := range []string{models, deep, filepath.Join(root, "build", "bin"), filepath.Join(root, "build", "models")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(root, "build", "bin", "sentient")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := FindCheckout(program, deep); got != "" {
		t.Errorf("without an index: %s", got)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(models, indexName), []byte("{}"), 0o600),
		os.WriteFile(filepath.Join(root, "build", "models", "fetch.sh"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	models, _ = filepath.EvalSymlinks(models)
	for _, c := range [][2]string{{program, ""}, {"", deep}, {"", root}} {
		got, _ := filepath.EvalSymlinks(FindCheckout(c[0], c[1]))
		if got != models {
			t.Errorf("%q from %q: %q", c[0], c[1], got)
		}
	}
	if got := FindCheckout(filepath.Join(t.TempDir(), "sentient"), t.TempDir()); got != "" {
		t.Errorf("elsewhere: %s", got)
	}
}
