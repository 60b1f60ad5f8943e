package config

import (
	"encoding/json"
	"testing"
)

// Whatever is sent as a patch: no panic, the settings stay valid, and the file reads back as them.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"ui":{"theme":"light"}}`, `{"tools":{"approvals":{"rules":{" A ":"NEVER","b":null}}}}`,
		`{"models":{"providers":{"x: #":{"api_base":"http://x"}}}}`, `{"assistant":{"user_name":"\u0085\u2028\ufeff: - #\n'\""}}`,
		`{"models":{"presets":{"a: b":{"roles":{"fast":null},"fallbacks":{}}},"active_preset":"~"}}`,
		`{"terminal":{"allowed_folders":["/- x","/#",""]}}`, `{"chat":{"history_window":3e1}}`, `{"ui":1e400}`, `[[[[`,
	} {
		f.Add([]byte(seed), uint8(len(seed)))
	}
	files := []string{"", "# c\nui: {theme: light}\n", goodFile, "ui: &a\n  theme: dark\nx-b: *a\ntools:\n  approvals: {rules: {a: ask}}\n"}
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		dir := t.TempDir()
		if text := files[int(which)%len(files)]; text != "" {
			write(t, dir, text)
		}
		s := open(t, dir)
		c, err := s.Patch(t.Context(), json.RawMessage(body))
		if err != nil {
			c = s.Get()
		}
		tree, err := encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := check(tree); len(wrong) > 0 {
			t.Fatalf("settings are not valid: %+v", wrong)
		}
		again := open(t, dir)
		if len(again.Notes()) != 0 || !same(t, again.Get(), c) {
			t.Fatalf("the file does not read back: %q", again.Notes())
		}
	})
}

// Whatever stands in the file: no panic, there are settings, and they are valid.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{"", goodFile, "ui: &a [*a]", "<<: {ui: {theme: light}}", "ui: *a", "? [a]\n: b", "\xff\xfea\x00", "version: 9\n", "ui:\n\ttheme: x", "- a", "{", "ui: !!binary aGk="} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		write(t, dir, string(raw))
		s := open(t, dir)
		tree, err := encode(s.Get())
		if err != nil {
			t.Fatal(err)
		}
		if wrong := check(tree); len(wrong) > 0 {
			t.Fatalf("settings are not valid: %+v", wrong)
		}
		if _, err := s.Patch(t.Context(), json.RawMessage(`{"ui":{"theme":"system"},"models":{"fallbacks":{"fast":["a/b"]}}}`)); err == nil {
			if c := open(t, dir).Get(); c.UI.Theme != "system" || len(c.Models.Fallbacks["fast"]) != 1 {
				t.Fatalf("saved, and not there: %q", read(t, dir, fileName))
			}
		}
	})
}
