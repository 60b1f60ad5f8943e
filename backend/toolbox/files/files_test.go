package files

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

// rig is a data folder with a few files.
type rig struct {
	t   *testing.T
	dir string
	p   *tool.Plugin
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, dir: t.TempDir()}
	r.p = New(Deps{Dir: r.dir})
	return r
}

// place writes a file below files/, so many minutes old.
func (r *rig) place(name, content string, age time.Duration) {
	r.t.Helper()
	p := filepath.Join(r.dir, "files", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
	at := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC).Add(-age * time.Minute)
	if err := os.Chtimes(p, at, at); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) content(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, "files", filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *rig) tool(name string) *tool.Tool {
	for _, x := range r.p.Tools {
		if x.Name == name {
			return x
		}
	}
	r.t.Fatalf("no tool %s", name)
	return nil
}

// call calls a tool as the loop does, and gives its result as JSON.
func (r *rig) call(name string, args map[string]any, c *tool.Context) (json.RawMessage, error) {
	r.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	prepared, err := r.tool(name).Prepare(raw)
	if err != nil {
		r.t.Fatal(err)
	}
	if c == nil {
		c = &tool.Context{SessionID: "s1"}
	}
	v, err := r.tool(name).Run(r.t.Context(), c, prepared)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		r.t.Fatal(err)
	}
	return json.RawMessage(strings.TrimSpace(b.String())), nil
}

func (r *rig) part(name string, offset, limit int, c *tool.Context) (readOut, json.RawMessage) {
	r.t.Helper()
	raw, err := r.call("file_read", map[string]any{"name": name, "offset": offset, "limit": limit}, c)
	if err != nil {
		r.t.Fatal(err)
	}
	var out readOut
	if err := json.Unmarshal(raw, &out); err != nil {
		r.t.Fatal(err)
	}
	return out, raw
}

func TestConform(t *testing.T) {
	r := newRig(t)
	r.place("uploads/a.txt", "hello", 1)
	conform.Plugin(t, r.p,
		conform.Case{Tool: "file_list", Args: `{}`},
		conform.Case{Tool: "file_read", Args: `{"name":"a.txt"}`},
		conform.Case{Tool: "file_write", Args: `{"name":"b.txt","content":"x\r\ny","mode":"overwrite"}`},
		conform.Case{Tool: "file_write", Args: `{"name":"b.txt","content":"z","mode":"append"}`},
	)
}

func TestNamesThatAreRefused(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(r.dir, "config.yaml")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.place("uploads/real.txt", "real", 1)
	r.place("outputs/made.txt", "made", 1)
	files := filepath.Join(r.dir, "files")
	for link, to := range map[string]string{"uploads/out.txt": secret, "uploads/dir": r.dir, "outputs/in.txt": filepath.Join(files, "uploads", "real.txt"), "outputs/sub": filepath.Join(files, "uploads")} {
		if err := os.Symlink(to, filepath.Join(files, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	both := []string{"", ".", "..", "../config.yaml", "../../etc/passwd", "uploads/../../config.yaml", "outputs/../../config.yaml", "/etc/passwd", secret, `..\config.yaml`, `C:\Windows\x`,
		"a\x00b", "real.txt\x00", "uploads//real.txt", "./uploads/real.txt", "uploads/real.txt/", "Uploads/real.txt", "UPLOADS/real.txt", "uploads/.part-1",
		strings.Repeat("a", 4000), strings.Repeat("a/", 600) + "b", "real.txt/x", "out.txt/x"}
	for _, name := range both {
		if got, err := r.call("file_read", map[string]any{"name": name}, nil); err == nil || errs.Code(err) == "" {
			t.Errorf("file_read %.40q: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"out.txt", "dir/config.yaml", "uploads/dir/config.yaml", "outputs/in.txt", "outputs/sub/real.txt", "uploads", "outputs/sub", "nothing.txt", "exports/x"} {
		if got, err := r.call("file_read", map[string]any{"name": name}, nil); errs.Code(err) != "file_unknown" && errs.Code(err) != "file_name_invalid" {
			t.Errorf("file_read %q: %s, %v", name, got, err)
		}
	}
	refused := append([]string{"a:b.txt", "C:x", "con", "CON.txt", "nul.md", "com1.txt", "lpt¹", "a/aux/b.md", "a<b", "a|b", `a"b`, "a?b", "a*b", "a ", " a", "a.", ".hidden", "a/.b", "a\u202eb.txt", "a\u200bb", "a\nb",
		"x" + strings.Repeat("ж", 100), "a/b/c/d/e/f/g.txt", "uploads/x.txt", "screens/x.png", "selections/x.txt", "downloads/x", "charts/x.png", "files/uploads/x.txt", "incognito-s1/x.txt", "outputs/incognito-s2/x", "in.txt/x", "sub/x.txt", "outputs/sub/real.txt", "in.txt"}, both...)
	for _, name := range refused {
		if name == "Uploads/real.txt" || name == "UPLOADS/real.txt" || name == "real.txt/x" || name == "out.txt/x" || strings.HasPrefix(name, "uploads/") {
			continue // below outputs these are names like others, or stand above
		}
		for _, mode := range []string{"create", "overwrite", "append"} {
			if got, err := r.call("file_write", map[string]any{"name": name, "content": "x", "mode": mode}, nil); err == nil || errs.Code(err) == "" {
				t.Errorf("file_write %.40q %s: %s, %v", name, mode, got, err)
			}
		}
	}
	if got, _ := os.ReadFile(secret); string(got) != "secret" || r.content("uploads/real.txt") != "real" {
		t.Error("something outside was changed")
	}
}

func TestRead(t *testing.T) {
	r := newRig(t)
	r.place("uploads/a.txt", "Grüße 😀 end", 1)
	r.place("uploads/empty.txt", "", 1)
	r.place("uploads/same.txt", "mine", 1)
	r.place("outputs/same.txt", "made", 1)
	r.place("outputs/only.txt", "made", 1)
	r.place("uploads/latin.txt", "Gr\xfc\xdfe", 1)
	r.place("uploads/pic.png", "\x89PNG\r\n\x1a\n\x00\x00", 1)
	r.place("uploads/bad.pdf", "hello", 1)
	r.place("uploads/bad.docx", "PK\x03\x04", 1)
	for _, c := range []struct {
		name          string
		offset, limit int
		want          string
	}{
		{"a.txt", 0, 0, `{"name":"a.txt","offset":0,"content":"Grüße 😀 end","total":11,"more":false}`},
		{"uploads/a.txt", 6, 1, `{"name":"a.txt","offset":6,"content":"😀","total":11,"more":true,"next_offset":7}`},
		{"files/uploads/a.txt", 7, 4, `{"name":"a.txt","offset":7,"content":" end","total":11,"more":false}`},
		{"a.txt", 11, 0, `{"name":"a.txt","offset":11,"content":"","total":11,"more":false,"note":"There is nothing at this offset: the file has 11 characters."}`},
		{"a.txt", 1 << 50, 5, `{"name":"a.txt","offset":1125899906842624,"content":"","total":11,"more":false,"note":"There is nothing at this offset: the file has 11 characters."}`},
		{"empty.txt", 0, 0, `{"name":"empty.txt","offset":0,"content":"","total":0,"more":false,"note":"There is no text in this file: it is empty, or a document of pictures alone."}`},
		{"same.txt", 0, 0, `{"name":"same.txt","offset":0,"content":"mine","total":4,"more":false}`},
		{"outputs/same.txt", 0, 0, `{"name":"outputs/same.txt","offset":0,"content":"made","total":4,"more":false}`},
		{"only.txt", 0, 0, `{"name":"outputs/only.txt","offset":0,"content":"made","total":4,"more":false}`},
		{"latin.txt", 0, 0, `{"name":"latin.txt","offset":0,"content":"Grüße","total":5,"more":false}`},
	} {
		got, err := r.call("file_read", map[string]any{"name": c.name, "offset": c.offset, "limit": c.limit}, nil)
		if string(got) != c.want || err != nil {
			t.Errorf("%s from %d: %s, %v", c.name, c.offset, got, err)
		}
	}
	for name, code := range map[string]string{"pic.png": "document_not_text", "bad.pdf": "document_damaged", "bad.docx": "document_damaged"} {
		if _, err := r.call("file_read", map[string]any{"name": name}, nil); errs.Code(err) != code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The parts of a file are the file, each fits whatever is in it, and none is needlessly short.
func TestPartsFitAndMissNothing(t *testing.T) {
	r := newRig(t)
	texts := map[string]string{
		"plain":  strings.Repeat("All work and no play. ", 900),
		"quotes": strings.Repeat("\"\\\n\t\u2028\x1f<&>😀 and so on", 900),
		"lines":  strings.Repeat("\n", 9000),
		"long":   strings.Repeat("жук ", 650_000), // over 4 MB
	}
	for name, text := range texts {
		r.place("outputs/"+name+".txt", text, 1)
		var got strings.Builder
		limit := 1500
		if name == "long" {
			limit = 2_000_000
		}
		for offset, parts := 0, 0; ; parts++ {
			out, raw := r.part("outputs/"+name+".txt", offset, 0, &tool.Context{ResultLimit: limit})
			if n := utf8.RuneCount(raw); n > limit || out.More && n < limit-80 {
				t.Fatalf("%s: a part takes %d characters of %d", name, n, limit)
			}
			if (out.Total == nil) != (name == "long" && out.More) {
				t.Errorf("%s: total %v, more %v", name, out.Total, out.More)
			}
			got.WriteString(out.Content)
			if !out.More {
				break
			}
			if *out.NextOffset != offset+utf8.RuneCountInString(out.Content) || parts > 200 {
				t.Fatalf("%s: next offset %d", name, *out.NextOffset)
			}
			offset = *out.NextOffset
		}
		if got.String() != text {
			t.Errorf("%s: the parts are not the file (%d of %d bytes)", name, got.Len(), len(text))
		}
	}
	// Without a limit from the call, the setting counts.
	if _, raw := r.part("outputs/plain.txt", 0, 0, nil); utf8.RuneCount(raw) > 16_000 || utf8.RuneCount(raw) < 15_900 {
		t.Errorf("%d characters", utf8.RuneCount(raw))
	}
}

func TestReadPDF(t *testing.T) {
	r := newRig(t)
	data, err := os.ReadFile("../../textkit/testdata/report.pdf")
	if err != nil {
		t.Fatal(err)
	}
	r.place("uploads/report.pdf", string(data), 1)
	out, _ := r.part("report.pdf", 0, 40, nil)
	if !strings.HasPrefix(out.Content, "Quarterly report") || !out.More || out.Total != nil {
		t.Errorf("%+v", out)
	}
	all, _ := r.part("report.pdf", 0, 0, nil)
	if all.More || all.Total == nil || *all.Total != utf8.RuneCountInString(all.Content) || !strings.Contains(all.Content, "Second page") {
		t.Errorf("%+v", all)
	}
}

func TestOutsideAndSources(t *testing.T) {
	r := newRig(t)
	r.place("uploads/a.txt", "x", 1)
	r.place("outputs/b.txt", "x", 1)
	read := r.tool("file_read")
	for name, want := range map[string]string{
		"a.txt": "", "uploads/a.txt": "", "outputs/b.txt": "a saved tool result", "files/outputs/b.txt": "a saved tool result", "b.txt": "a saved tool result",
		"downloads/x.pdf": "a downloaded file", "nothing.txt": "a saved tool result", "charts/x.png": "", "screens/x": "", "outputs/incognito-s1/x.txt": "a saved tool result",
		"OUTPUTS/gone.txt": "a saved tool result", "files/Downloads/gone.pdf": "a downloaded file",
	} {
		args, _ := json.Marshal(map[string]any{"name": name})
		if got := read.OutsideFrom(args); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	sources := func(result string) []tool.Source {
		return read.Sources(json.RawMessage(`{"name":"x"}`), json.RawMessage(result))
	}
	got := sources(`{"name":"outputs/sub/b.txt","content":"text"}`)
	if len(got) != 1 || got[0].Kind != "file" || got[0].Title != "b.txt" || got[0].File != "outputs/sub/b.txt" || got[0].Snippet != "text" {
		t.Errorf("%+v", got)
	}
	if got := sources(`{"name":"b.txt","content":""}`); got != nil {
		t.Errorf("%+v", got)
	}
}

// What an incognito chat saved is no other chat's.
func TestIncognitoOutputs(t *testing.T) {
	r := newRig(t)
	r.place("outputs/incognito-s1/tool-1.txt", "private", 1)
	own, other := &tool.Context{SessionID: "s1", Incognito: true}, &tool.Context{SessionID: "s2"}
	if out, _ := r.part("outputs/incognito-s1/tool-1.txt", 0, 0, own); out.Content != "private" {
		t.Errorf("%+v", out)
	}
	if _, err := r.call("file_read", map[string]any{"name": "outputs/incognito-s1/tool-1.txt"}, other); errs.Code(err) != "file_unknown" {
		t.Error(err)
	}
	for _, c := range []*tool.Context{own, other} {
		got, err := r.call("file_list", map[string]any{}, c)
		if err != nil || strings.Contains(string(got), "tool-1") != (c == own) {
			t.Errorf("%s: %s, %v", c.SessionID, got, err)
		}
	}
}

func TestList(t *testing.T) {
	r := newRig(t)
	if got, err := r.call("file_list", map[string]any{}, nil); string(got) != `{"files":[],"total":0,"more":false,"note":"There are no such files."}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	r.place("uploads/Tax Report 2026.pdf", "1234", 2)
	r.place("outputs/report.md", "12", 1)
	r.place("outputs/notes/plan.md", "12", 3)
	r.place("downloads/x.zip", "1", 4)
	r.place("screens/Inbox 3f9a2c.png", "1", 0)
	r.place("uploads/.part-1", "1", 0)
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "files", "uploads", "link")); err != nil {
		t.Fatal(err)
	}
	names := func(args map[string]any) string {
		t.Helper()
		raw, err := r.call("file_list", args, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out listOut
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range out.Files {
			list = append(list, f.Name)
		}
		return strings.Join(list, ", ")
	}
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{}, "outputs/report.md, Tax Report 2026.pdf, outputs/notes/plan.md, downloads/x.zip"},
		{map[string]any{"folder": "screens"}, "screens/Inbox 3f9a2c.png"},
		{map[string]any{"folder": "outputs"}, "outputs/report.md, outputs/notes/plan.md"},
		{map[string]any{"query": "REPORT"}, "outputs/report.md, Tax Report 2026.pdf"},
		{map[string]any{"query": "2026 tax"}, "Tax Report 2026.pdf"},
		{map[string]any{"query": "nothing"}, ""},
	} {
		if got := names(c.args); got != c.want {
			t.Errorf("%v: %s", c.args, got)
		}
	}
	raw, err := r.call("file_list", map[string]any{"folder": "uploads"}, nil)
	if want := `{"files":[{"name":"Tax Report 2026.pdf","size":4,"modified_at":"2027-03-01T11:58:00.000000Z"}],"total":1,"more":false}`; string(raw) != want || err != nil {
		t.Errorf("%s, %v", raw, err)
	}
	for i := range 300 {
		r.place(fmt.Sprintf("uploads/file %03d.txt", i), "", 100)
	}
	raw, err = r.call("file_list", map[string]any{}, &tool.Context{ResultLimit: 1500})
	if n := utf8.RuneCount(raw); n > 1500 || !strings.Contains(string(raw), `"total":304,"more":true`) || err != nil {
		t.Errorf("%d characters: %s, %v", n, raw, err)
	}
}

func TestWrite(t *testing.T) {
	r := newRig(t)
	write := func(name, content, mode string) (string, error) {
		args := map[string]any{"name": name, "content": content}
		if mode != "" {
			args["mode"] = mode
		}
		got, err := r.call("file_write", args, nil)
		return string(got), err
	}
	for _, c := range []struct{ name, content, mode, want, holds string }{
		{"a.md", "one", "", `{"name":"outputs/a.md","size":3,"done":"wrote"}`, "one"},
		{"outputs/a.md", "two\r\n", "overwrite", `{"name":"outputs/a.md","size":5,"done":"replaced"}`, "two\r\n"},
		{"files/outputs/a.md", "ж", "append", `{"name":"outputs/a.md","size":7,"done":"appended"}`, "two\r\nж"},
		{"notes/plan.md", "", "", `{"name":"outputs/notes/plan.md","size":0,"done":"wrote"}`, ""},
		{"new.md", "x", "append", `{"name":"outputs/new.md","size":1,"done":"wrote"}`, "x"},
		{"newer.md", "x", "overwrite", `{"name":"outputs/newer.md","size":1,"done":"wrote"}`, "x"},
		{"Ünïcode 日本.txt", "x", "create", `{"name":"outputs/Ünïcode 日本.txt","size":1,"done":"wrote"}`, "x"},
	} {
		got, err := write(c.name, c.content, c.mode)
		if got != c.want || err != nil {
			t.Errorf("%s: %s, %v", c.name, got, err)
			continue
		}
		var out writeOut
		if err := json.Unmarshal([]byte(got), &out); err != nil || r.content(out.Name) != c.holds {
			t.Errorf("%s holds %q", c.name, r.content(out.Name))
		}
	}
	if _, err := write("a.md", "x", ""); errs.Code(err) != "file_exists" || r.content("outputs/a.md") != "two\r\nж" {
		t.Error(err)
	}
	if _, err := write("notes", "x", "overwrite"); errs.Code(err) != "file_name_invalid" {
		t.Error(err)
	}
	r.place("outputs/big.txt", strings.Repeat("a", maxWritten), 0)
	if _, err := write("big.txt", "x", "append"); errs.Code(err) != "file_too_large" {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "files", "outputs", ".part-*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %v", left)
	}
}

// Two that make the same file at once: one of them wins, and the other is told.
func TestWritersAtOnce(t *testing.T) {
	r := newRig(t)
	other := New(Deps{Dir: r.dir})
	root, err := (&folder{path: filepath.Join(r.dir, "files")}).open()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	// The other one comes in between the look and the write.
	if err := put(root, "outputs/a.md", []byte("first"), true); err != nil {
		t.Fatal(err)
	}
	if err := put(root, "outputs/a.md", []byte("second"), true); errs.Code(err) != "file_exists" {
		t.Error(err)
	}
	if got := r.content("outputs/a.md"); got != "first" || other == nil {
		t.Errorf("it holds %q", got)
	}
}

func TestWriteIsReadBack(t *testing.T) {
	r := newRig(t)
	w := r.tool("file_write")
	verify := func(args string) tool.Verified {
		t.Helper()
		v, err := w.Verify(t.Context(), &tool.Context{}, json.RawMessage(args), json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := verify(`{"name":"a.md","content":"x"}`); v.OK || v.Detail != "outputs/a.md is not there" || len(v.Missed) != 1 || v.Missed[0] != "outputs/a.md" {
		t.Errorf("%+v", v)
	}
	r.place("outputs/a.md", "one\r\ntwo\rthree\n", 0)
	for args, ok := range map[string]bool{
		`{"name":"a.md","content":"one\ntwo\nthree\n"}`:                 true,
		`{"name":"a.md","content":"three\n","mode":"append"}`:           true,
		`{"name":"a.md","content":"three\n"}`:                           false,
		`{"name":"a.md","content":"one","mode":"overwrite"}`:            false,
		`{"name":"outputs/a.md","content":"four\n","mode":"append"}`:    false,
		`{"name":"a.md","content":"one\r\ntwo\r\nthree\r\n"}`:           true,
		`{"name":"files/outputs/a.md","content":"one\ntwo\nthree\n"}`:   true,
		`{"name":"a.md","content":"one\ntwo\nthree\n","mode":"create"}`: true,
	} {
		if v := verify(args); v.OK != ok {
			t.Errorf("%s: %+v", args, v)
		}
	}
	if got := w.Targets(json.RawMessage(`{"name":"a.md","content":""}`)); len(got) != 1 || got[0] != "outputs/a.md" {
		t.Error(got)
	}
	for mode, label := range map[string]string{"create": "Writes a file", "overwrite": "Replaces a file", "append": "Adds to a file"} {
		got, err := w.Describe(t.Context(), nil, json.RawMessage(`{"name":"a.md","content":"","mode":"`+mode+`"}`))
		if got.RiskLabel != label || got.Target != "outputs/a.md" || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestFolderThatCannotBeUsed(t *testing.T) {
	r := newRig(t)
	if err := os.WriteFile(filepath.Join(r.dir, "files"), []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file_list", "file_read", "file_write"} {
		args := map[string]any{"file_list": map[string]any{}, "file_read": map[string]any{"name": "a"}, "file_write": map[string]any{"name": "a", "content": ""}}[name].(map[string]any)
		if _, err := r.call(name, args, nil); errs.Code(err) == "" || strings.Contains(errs.From(err).Message, r.dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is kept of before a write is the very file that it writes, and nothing where it is refused.
func TestWhatAWriteTouches(t *testing.T) {
	r := newRig(t)
	w := r.tool("file_write")
	for _, c := range []struct{ name, args, want string }{
		{"a plain name", `{"name":"a.md","content":"x"}`, "outputs/a.md"},
		{"a name with the folder", `{"name":"outputs/sub/a.md","content":"x","mode":"overwrite"}`, "outputs/sub/a.md"},
		{"a name with files/ in front", `{"name":"files/outputs/a.md","content":"x","mode":"append"}`, "outputs/a.md"},
		{"an upload", `{"name":"uploads/a.md","content":"x"}`, ""},
		{"a way out", `{"name":"../a.md","content":"x"}`, ""},
		{"an absolute path", `{"name":"/etc/passwd","content":"x"}`, ""},
		{"no arguments", `[]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.Touches(json.RawMessage(c.args))
			if c.want == "" {
				if got != nil {
					t.Errorf("%+v", got)
				}
				return
			}
			if got == nil || got.Source != "files" || got.What != c.want || len(got.Paths) != 1 || got.Paths[0] != c.want {
				t.Fatalf("%+v, want %s", got, c.want)
			}
			if _, err := r.call("file_write", map[string]any{"name": strings.TrimPrefix(c.want, "outputs/"), "content": "x", "mode": "overwrite"}, nil); err != nil || r.content(got.Paths[0]) != "x" {
				t.Errorf("it wrote elsewhere: %v", err)
			}
		})
	}
}
