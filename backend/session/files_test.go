package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"sentient/backend/errs"
	"sentient/backend/session"
)

// tree lists every file under files/, as slash-separated paths.
func (r *rig) tree() []string {
	r.t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(filepath.Join(r.dir, "files")), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, p)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func (r *rig) wantTree(paths ...string) {
	r.t.Helper()
	slices.Sort(paths)
	if got := r.tree(); !slices.Equal(got, paths) {
		r.t.Errorf("files %q, want %q", got, paths)
	}
}

// put writes a file behind the service's back, age old.
func (r *rig) put(p, content string, age time.Duration) {
	r.t.Helper()
	path := filepath.Join(r.dir, "files", filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		r.t.Fatal(err)
	}
}

func TestUploadRefuses(t *testing.T) {
	r := newRig(t, func(o *session.Options) { o.MaxFileSize = 1 << 20 })
	ctx, stop := context.WithCancel(t.Context())
	half := io.MultiReader(strings.NewReader("half"), readerFunc(func([]byte) (int, error) { stop(); return 0, nil }))
	for name, c := range map[string]struct {
		ctx    context.Context
		source string
		body   io.Reader
		status int
		code   string
	}{
		"unknown source":   {t.Context(), "outputs", strings.NewReader("x"), 422, "source_invalid"},
		"source outside":   {t.Context(), "../x", strings.NewReader("x"), 422, "source_invalid"},
		"one byte too big": {t.Context(), "", strings.NewReader(strings.Repeat("x", 1<<20+1)), 413, "file_too_large"},
		"endless":          {t.Context(), "screen", readerFunc(func(p []byte) (int, error) { return len(p), nil }), 413, "file_too_large"},
		"broken body":      {t.Context(), "", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF)), 400, "upload_broken"},
		"a body's refusal": {t.Context(), "", iotest.ErrReader(errs.New(errs.Malformed, "form_broken", "The form is broken.")), 400, "form_broken"},
		"cancelled":        {ctx, "selection", half, 499, ""},
	} {
		_, err := r.Upload(c.ctx, &session.UploadInput{Name: "a.txt", Source: c.source}, c.body)
		t.Log(name)
		wantError(t, err, c.status, c.code)
	}
	r.wantTree()
	if name := r.upload("fits.txt", "", strings.Repeat("x", 1<<20)); name != "fits.txt" {
		t.Error(name)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestNamesAreCleaned(t *testing.T) {
	r := newRig(t)
	for name, want := range map[string]string{
		"report.pdf":                      "report.pdf",
		"":                                "file",
		" . .. ":                          "file",
		"../../etc/passwd":                "passwd",
		`C:\Users\me\Notes.txt`:           "Notes.txt",
		"a/":                              "file",
		"..":                              "file",
		"/":                               "file",
		".bashrc":                         "bashrc",
		".part-123":                       "part-123",
		"...hidden.txt":                   "hidden.txt",
		"name.txt. . ":                    "name.txt",
		"a\x00b\nc\td.txt":                "abcd.txt",
		"what?<is>:\"it\"|*.txt":          "what__is___it___.txt",
		"invoice\u202efdp.exe":            "invoicefdp.exe",
		"\u200finv\u200boice.pdf":         "invoice.pdf",
		"tag\U000e0041s\ufe0f.txt":        "tags.txt",
		"line\u2028break.txt":             "linebreak.txt",
		"wide\u00a0space\u3000.md":        "wide space.md",
		"CON":                             "_CON",
		"con.txt":                         "_con.txt",
		"Nul .tar.gz":                     "_Nul .tar.gz",
		"COM1.log":                        "_COM1.log",
		"lpt³":                            "_lpt³",
		"conin$":                          "_conin$",
		"COM10.log":                       "COM10.log",
		"console.log":                     "console.log",
		"e\u0301te\u0301.txt":             "été.txt",
		"e\u200d\u0301.txt":               "é.txt", // one letter, once what stood between is gone
		"a\xff\xfeb.txt":                  "ab.txt",
		"日本語.pdf":                         "日本語.pdf",
		"no. extension here":              "no. extension here",
		"x.averyveryverylongextension":    "x.averyveryverylongextension",
		strings.Repeat("é", 300) + ".pdf": strings.Repeat("é", 88) + ".pdf",
		strings.Repeat("x", 300):          strings.Repeat("x", 180),
		strings.Repeat(".", 300):          "file",
	} {
		got := r.upload(name, "", "content")
		if got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
		r.wantTree("uploads/" + got)
		if _, err := r.DeleteFile(t.Context(), &session.FileInput{Name: got}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCapturesGetARandomPart(t *testing.T) {
	r := newRig(t)
	for source, c := range map[string][2]string{
		"screen":    {"Inbox - Mail.png", `^screens/Inbox - Mail [0-9a-f]{6}\.png$`},
		"selection": {"Notepad", `^selections/Notepad [0-9a-f]{6}$`},
	} {
		seen := map[string]bool{}
		for range 20 {
			name := r.upload(c[0], source, "x")
			if !regexp.MustCompile(c[1]).MatchString(name) || seen[name] {
				t.Fatal(name)
			}
			seen[name] = true
		}
	}
}

// A name never points at a different file later (#458).
func TestNamesAreNeverGivenTwice(t *testing.T) {
	r := newRig(t)
	chat := r.create(session.CreateInput{})
	if got := []string{r.upload("a.txt", "", "1"), r.upload("a.txt", "", "2"), r.upload("A.TXT", "", "3")}; got[0] != "a.txt" || got[1] != "a (1).txt" {
		t.Fatal(got)
	}
	r.says(chat, "Look", "I see.", "a (1).txt")
	for _, name := range []string{"a.txt", "a (1).txt"} {
		if _, err := r.DeleteFile(t.Context(), &session.FileInput{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	// No message has a.txt, so it is free; one has "a (1).txt", in whatever case.
	if got := r.upload("a.txt", "", "4"); got != "a.txt" {
		t.Error(got)
	}
	if got := r.upload("a.txt", "", "5"); got != "a (2).txt" {
		t.Error(got)
	}
	if got := r.upload("A (1).TXT", "", "6"); got != "A (1) (1).TXT" {
		t.Error(got)
	}
	_, err := r.Content(t.Context(), &session.FileInput{Name: "a (1).txt"})
	wantError(t, err, 404, "file_unknown")
}

func TestUploadsSideBySide(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	content := map[string]string{}
	for i := range 8 {
		wg.Go(func() {
			for n := range 4 {
				text := fmt.Sprint(i, "-", n)
				out, err := r.Upload(context.Background(), &session.UploadInput{Name: "same.txt"}, iotest.OneByteReader(strings.NewReader(text)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if content[out.Name] != "" {
					t.Error("given twice", out.Name)
				}
				content[out.Name] = text
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for name, want := range content {
		if got := r.content(name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if n := len(r.tree()); n != 32 || len(content) != 32 {
		t.Error(n, len(content))
	}
}

func (r *rig) content(name string) string {
	r.t.Helper()
	c, err := r.Content(r.t.Context(), &session.FileInput{Name: name})
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := io.ReadAll(c.Body)
	if err := errors.Join(err, c.Body.Close()); err != nil {
		r.t.Fatal(err)
	}
	if int64(len(data)) != c.Size {
		r.t.Error(len(data), c.Size)
	}
	return string(data)
}

// No name reaches outside files/, or has two spellings.
func TestNamesStayInside(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(r.dir, "secret.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.upload("real.txt", "", "real")
	shot := r.upload("Shot.png", "screen", "shot")
	r.put("outputs/run/chart.png", "chart", 0)
	r.put("loose.txt", "loose", 0)
	files := filepath.Join(r.dir, "files")
	for link, target := range map[string]string{
		"uploads/out.txt": outside, "uploads/rel.txt": "../../secret.txt", "uploads/dir": r.dir, "outputs/away": r.dir, "outputs/inside.txt": "../uploads/real.txt",
	} {
		if err := os.Symlink(target, filepath.Join(files, filepath.FromSlash(link))); err != nil {
			t.Skip("links cannot be made here:", err)
		}
	}
	names := []string{
		"", ".", "..", "/", "../secret.txt", "../../secret.txt", outside, "screens/../../secret.txt", "uploads/../real.txt", "./real.txt", "screens//" + shot,
		"uploads/real.txt", "Screens" + strings.TrimPrefix(shot, "screens"), "SCREENS" + strings.TrimPrefix(shot, "screens"), "loose.txt/", "other/x.txt",
		"real.txt\x00", "real.txt\x00.png", `..\secret.txt`, `screens\x`, "\xff", ".part-x", "screens/.part-x", "screens", "outputs", "outputs/run", "real.txt/x",
		"out.txt", "rel.txt", "dir", "outputs/away/secret.txt", "outputs/inside.txt", strings.Repeat("x", 300), strings.Repeat("x/", 400) + "x", "nope.txt",
	}
	if runtime.GOOS == "windows" {
		names = append(names, "real.txt.", "real.txt ", "real.txt::$DATA", shot+".")
	}
	for _, name := range names {
		_, err := r.Content(t.Context(), &session.FileInput{Name: name})
		if errs.StatusOf(err) != 404 {
			t.Errorf("read %q: %v", name, err)
		}
		_, _, _, err = r.ReadFile(t.Context(), name, 10)
		if errs.StatusOf(err) != 404 {
			t.Errorf("read file %q: %v", name, err)
		}
		if strings.Contains(name, "out.txt") || strings.Contains(name, "rel.txt") || name == "dir" || name == "outputs/inside.txt" {
			continue // a link itself may be deleted
		}
		_, err = r.DeleteFile(t.Context(), &session.FileInput{Name: name})
		if errs.StatusOf(err) != 404 {
			t.Errorf("delete %q: %v", name, err)
		}
	}
	if _, err := r.DeleteFile(t.Context(), &session.FileInput{Name: "out.txt"}); err != nil {
		t.Error(err)
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "secret" {
		t.Error("a file outside was touched", err)
	}
	if r.content("real.txt") != "real" || r.content(shot) != "shot" || r.content("outputs/run/chart.png") != "chart" {
		t.Error("a real name does not work")
	}
	list, err := r.Files(t.Context(), &session.FilesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Name == "out.txt" || f.Name == "rel.txt" || strings.Contains(f.Name, "secret") {
			t.Error("listed", f.Name)
		}
	}
}

func TestFilesRoundTrip(t *testing.T) {
	r := newRig(t)
	if list, err := r.Files(t.Context(), &session.FilesInput{}); err != nil || asJSON(t, list) != "[]" {
		t.Fatal(list, err)
	}
	r.put("outputs/run/chart.png", "chart", 3*time.Hour)
	r.put("uploads/old.md", "# old", 2*time.Hour)
	r.put("uploads/.part-x", "unfinished", 0)
	out, err := r.Upload(t.Context(), &session.UploadInput{Name: "Büch.txt"}, strings.NewReader("text"))
	if err != nil || asJSON(t, out) != `{"name":"Büch.txt","size":4,"mime":"text/plain"}` {
		t.Fatal(asJSON(t, out), err)
	}
	list, err := r.Files(t.Context(), &session.FilesInput{})
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for i, want := range []string{
		`{"name":"Büch.txt","size":4,"mime":"text/plain","modified_at":"M"}`,
		`{"name":"old.md","size":5,"mime":"text/markdown","modified_at":"M"}`,
		`{"name":"outputs/run/chart.png","size":5,"mime":"image/png","modified_at":"M"}`,
	} {
		if _, err := time.Parse("2006-01-02T15:04:05.000000Z", list[i].ModifiedAt); err != nil {
			t.Error(err)
		}
		list[i].ModifiedAt = "M"
		if got := asJSON(t, list[i]); got != want {
			t.Error(got)
		}
		if c := r.content(list[i].Name); c != []string{"text", "# old", "chart"}[i] {
			t.Error(c)
		}
	}
	c, err := r.Content(t.Context(), &session.FileInput{Name: "outputs/run/chart.png"})
	if err != nil || c.Name != "chart.png" || c.MIME != "image/png" || c.Size != 5 {
		t.Fatal(c, err)
	}
	c.Body.Close()
	if data, mime, size, err := r.ReadFile(t.Context(), "old.md", 3); err != nil || string(data) != "# o" || mime != "text/markdown" || size != 5 {
		t.Error(string(data), mime, size, err)
	}
	for _, f := range list {
		if ok, err := r.DeleteFile(t.Context(), &session.FileInput{Name: f.Name}); err != nil || !ok.OK {
			t.Error(err)
		}
		_, err := r.DeleteFile(t.Context(), &session.FileInput{Name: f.Name})
		wantError(t, err, 404, "file_unknown")
	}
	r.wantTree("uploads/.part-x")
}

// Captures go with their chat (#332), unless another chat has them; those of an incognito chat always do.
func TestCapturesGoWithTheirChat(t *testing.T) {
	r := newRig(t)
	a, b, secret := r.create(session.CreateInput{}), r.create(session.CreateInput{}), r.create(session.CreateInput{Incognito: true})
	up, own, shared, hidden := r.upload("kept.txt", "", "u"), r.upload("own.png", "screen", "o"), r.upload("shared.txt", "selection", "s"), r.upload("hidden.png", "screen", "h")
	r.says(a, "one", "ok", up, own, shared)
	r.says(b, "two", "ok", shared, hidden)
	r.says(secret, "three", "ok", up, hidden)
	r.put("outputs/incognito-"+secret+"/tool-1.txt", "long", 0)
	r.put("outputs/tool-2.txt", "long", 0)
	del := func(id string) {
		t.Helper()
		if _, err := r.Delete(t.Context(), &session.DeleteInput{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	del(a)
	r.wantTree("uploads/"+up, shared, hidden, "outputs/incognito-"+secret+"/tool-1.txt", "outputs/tool-2.txt")
	del(secret)
	r.wantTree("uploads/"+up, shared, "outputs/tool-2.txt")
	del(b)
	r.wantTree("uploads/"+up, "outputs/tool-2.txt")
}

func TestStartSweepsLooseFiles(t *testing.T) {
	r := newRig(t)
	chat := r.create(session.CreateInput{})
	kept := r.upload("kept.png", "screen", "k")
	r.says(chat, "one", "ok", kept)
	old := time.Now().Add(-3 * time.Hour)
	if err := os.Chtimes(filepath.Join(r.dir, "files", filepath.FromSlash(kept)), old, old); err != nil {
		t.Fatal(err)
	}
	r.put("screens/old.png", "", 61*time.Minute)
	r.put("selections/old.txt", "", 61*time.Minute)
	r.put("screens/young.png", "", 59*time.Minute)
	r.put("uploads/old.txt", "", 100*time.Hour)
	r.put("uploads/.part-1", "", 0)
	r.put("screens/.part-2", "", 0)
	r.put("outputs/old.txt", "", 100*time.Hour)
	r.put("outputs/incognito-gone/tool.txt", "", 0)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wantTree(kept, "screens/young.png", "uploads/old.txt", "outputs/old.txt")
}
