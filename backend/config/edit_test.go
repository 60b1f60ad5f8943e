package config

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func patch(t *testing.T, s *Store, body string) *Config {
	t.Helper()
	c, err := s.Patch(context.Background(), json.RawMessage(body))
	if err != nil {
		t.Fatalf("patch %s: %v", body, err)
	}
	return c
}

// Each case: a file as a person wrote it, a patch, and the file afterwards, byte for byte.
func TestOnlyWhatDiffersIsEdited(t *testing.T) {
	for _, c := range []struct{ name, before, patch, after string }{
		{"the whole report", // comments, own order, anchors, odd values, byte order mark, CRLF
			"\ufeff# why\r\nui:\r\n  theme: dark # I like it dark\r\n  accent: &a sea\r\nx-mine:\r\n  - *a\r\n  - \"no\"\r\n  - 0o17\r\nassistant: {name: 'Sam'}\r\n",
			`{"ui":{"theme":"light"}}`,
			"\ufeff# why\r\nui:\r\n  theme: light # I like it dark\r\n  accent: &a sea\r\nx-mine:\r\n  - *a\r\n  - \"no\"\r\n  - 0o17\r\nassistant: {name: 'Sam'}\r\n"},
		{"double quotes stay", "ui:\n  theme: \"dark\"\n", `{"ui":{"theme":"light"}}`, "ui:\n  theme: \"light\"\n"},
		{"single quotes stay", "assistant:\n  name: 'Sam'\n", `{"assistant":{"name":"O'Neil"}}`, "assistant:\n  name: 'O''Neil'\n"},
		{"a word that is no word", "assistant:\n  user_name: Sam\n", `{"assistant":{"user_name":"no"}}`, "assistant:\n  user_name: \"no\"\n"},
		{"text with colons and hashes", "assistant:\n  user_name: Sam\n", `{"assistant":{"user_name":"a: b #c"}}`, "assistant:\n  user_name: \"a: b #c\"\n"},
		{"several lines and odd characters", "assistant:\n  user_name: Sam\n", `{"assistant":{"user_name":"a\nb\u0007\ufeffé"}}`, "assistant:\n  user_name: \"a\\nb\\x07\\ufeffé\"\n"},
		{"a new key behind the last", "ui:\n  theme: light # x\n\n# below\nchat:\n  auto_title: false\n", `{"ui":{"accent":"sea"}}`,
			"ui:\n  theme: light # x\n  accent: sea\n\n# below\nchat:\n  auto_title: false\n"},
		{"a new section at the end", "ui:\n  theme: light\n# end\n", `{"chat":{"auto_title":false}}`, "ui:\n  theme: light\nchat:\n  auto_title: false\n# end\n"},
		{"no line end at the end", "ui:\n  theme: light", `{"chat":{"auto_title":false}}`, "ui:\n  theme: light\nchat:\n  auto_title: false"},
		{"four spaces stay", "ui:\n    theme: light\n", `{"ui":{"accent":"sea"}}`, "ui:\n    theme: light\n    accent: sea\n"},
		{"a section of comments", "ui:   # look\n  # theme: dark\n", `{"ui":{"theme":"light"}}`, "ui:   # look\n  theme: light\n  # theme: dark\n"},
		{"only comments", "# nothing yet\n", `{"ui":{"theme":"light"}}`, "# nothing yet\nui:\n  theme: light\n"},
		{"on one line", "ui: {theme: dark, accent: sea}\n", `{"ui":{"theme":"light","minimize_to_tray":false}}`, "ui: {theme: light, accent: sea, minimize_to_tray: false}\n"},
		{"an empty table", "ui: {}\n", `{"ui":{"theme":"light"}}`, "ui: {theme: light}\n"},
		{"JSON", `{"ui": {"theme": "dark"}, "chat": {"auto_title": true}}`, `{"ui":{"theme":"light"},"chat":{"auto_title":false}}`, `{"ui": {"theme": "light"}, "chat": {"auto_title": false}}`},
		{"a block of text", "assistant:\n  location: |\n    Pune\n  name: Sam\n", `{"assistant":{"location":"Goa"}}`, "assistant:\n  location: Goa\n  name: Sam\n"},
		{"behind a block of text", "assistant:\n  name: Sam\n  location: >-\n    Pune,\n    India\n\nui:\n  theme: light\n", `{"assistant":{"user_name":"Maya"}}`,
			"assistant:\n  name: Sam\n  location: >-\n    Pune,\n    India\n\n  user_name: Maya\nui:\n  theme: light\n"},
		{"a number", "chat:\n  history_window: 40 # forty\n", `{"chat":{"history_window":50}}`, "chat:\n  history_window: 50 # forty\n"},
		{"a number written oddly stays", "chat:\n  history_window: 0x28\n  max_tools_local: 0o17\n", `{"chat":{"auto_title":false}}`, "chat:\n  history_window: 0x28\n  max_tools_local: 0o17\n  auto_title: false\n"},

		{"an alias gets a value of its own", "x-m: &m ollama_chat/a\nmodels:\n  roles:\n    primary: *m\n    fast: *m\n", `{"models":{"roles":{"fast":"ollama_chat/b"}}}`,
			"x-m: &m ollama_chat/a\nmodels:\n  roles:\n    primary: *m\n    fast: ollama_chat/b\n"},
		{"an anchor changes alone", "models:\n  roles:\n    primary: &m ollama_chat/a\n    fast: *m # same\n    vision: *m\n", `{"models":{"roles":{"primary":"ollama_chat/b"}}}`,
			"models:\n  roles:\n    primary: &m ollama_chat/b\n    fast: ollama_chat/a # same\n    vision: ollama_chat/a\n"},
		{"into an alias", "x-c: &c {stream_edits: false, voice_replies: true}\nchannels:\n  telegram: *c\n  discord: *c\n", `{"channels":{"discord":{"voice_replies":false}}}`,
			"x-c: &c {stream_edits: false, voice_replies: true}\nchannels:\n  telegram: *c\n  discord: {stream_edits: false, voice_replies: false}\n"},
		{"over a merge", "x-c: &c\n  stream_edits: false\nchannels:\n  telegram:\n    <<: *c\n  discord:\n    <<: *c\n", `{"channels":{"telegram":{"stream_edits":true}}}`,
			"x-c: &c\n  stream_edits: false\nchannels:\n  telegram:\n    <<: *c\n    stream_edits: true\n  discord:\n    <<: *c\n"},
		{"deep in a merge", "x-m: &m\n  roles:\n    primary: a/b\n    fast: a/c\nmodels:\n  <<: *m\n", `{"models":{"roles":{"fast":"a/d"}}}`,
			"x-m: &m\n  roles:\n    primary: a/b\n    fast: a/c\nmodels:\n  <<: *m\n  roles:\n    fast: a/d\n    primary: a/b\n"},

		{"a rule comes", "tools:\n  approvals:\n    mode: ask\n", `{"tools":{"approvals":{"rules":{"Gmail":"Never"}}}}`, "tools:\n  approvals:\n    mode: ask\n    rules:\n      Gmail: never\n"},
		{"a rule goes", "tools:\n  approvals:\n    rules:\n      gmail: never # mine\n      slack: ask\n", `{"tools":{"approvals":{"rules":{"gmail":null}}}}`, "tools:\n  approvals:\n    rules:\n      slack: ask\n"},
		{"the last rule goes", "tools:\n  approvals:\n    rules:\n      gmail: never\n    mode: ask\n", `{"tools":{"approvals":{"rules":{"gmail":null}}}}`, "tools:\n  approvals:\n    rules: {}\n    mode: ask\n"},
		{"a rule goes from one line", "tools: {approvals: {rules: {a: ask, b: ask, c: ask}}}\n", `{"tools":{"approvals":{"rules":{"b":null,"c":null}}}}`, "tools: {approvals: {rules: {a: ask}}}\n"},
		{"a default entry goes", "ui:\n  theme: light\n", `{"models":{"reasoning":{"primary":null}}}`, "ui:\n  theme: light\nmodels:\n  reasoning:\n    primary: null\n"},
		{"a rule under an odd key goes", "tools:\n  approvals:\n    rules:\n      \" gmail \": ask\n", `{"tools":{"approvals":{"rules":{"gmail":null}}}}`,
			"tools:\n  approvals:\n    rules:\n      \" gmail \": ask\n      gmail: null\n"},

		{"a list grows", "terminal:\n  allowed_folders:\n    - /a # home\n    - /b\n  enabled: true\n", `{"terminal":{"allowed_folders":["/a","/b","/c d"]}}`,
			"terminal:\n  allowed_folders:\n    - /a # home\n    - /b\n    - /c d\n  enabled: true\n"},
		{"a list shrinks", "terminal:\n  allowed_folders:\n  - /a # home\n  - /b # gone\n  - /c\n", `{"terminal":{"allowed_folders":["/a","/c"]}}`,
			"terminal:\n  allowed_folders:\n  - /a # home\n  - /c\n"},
		{"a list changes in the middle", "terminal:\n  allowed_folders:\n  - /a # home\n  - /b\n  - /c # last\n", `{"terminal":{"allowed_folders":["/a","/x","/y","/c"]}}`,
			"terminal:\n  allowed_folders:\n  - /a # home\n  - /x\n  - /y\n  - /c # last\n"},
		{"a list is emptied", "terminal:\n  allowed_folders:\n  - /a\n  - /b\n", `{"terminal":{"allowed_folders":[]}}`, "terminal:\n  allowed_folders: []\n"},
		{"a list on one line", "terminal: {allowed_folders: [/a]}\n", `{"terminal":{"allowed_folders":["/a","/b, c"]}}`, "terminal: {allowed_folders: [/a, \"/b, c\"]}\n"},
		{"a value of the wrong kind", "ui: 5 # what?\n", `{"ui":{"theme":"light"}}`, "ui: {theme: light} # what?\n"},
		{"unknown keys stay", "from_tomorrow:\n  a: [1, 2]\nui:\n  glow: true\n  theme: dark\n", `{"ui":{"theme":"light"}}`, "from_tomorrow:\n  a: [1, 2]\nui:\n  glow: true\n  theme: light\n"},
		{"a document between marks", "%YAML 1.2\n---\nui:\n  theme: dark\n...\n", `{"chat":{"auto_title":false}}`, "%YAML 1.2\n---\nui:\n  theme: dark\nchat:\n  auto_title: false\n...\n"},
		{"a tag of its own", "ui:\n  theme: !!str dark\nx-when: 2027-01-01\nx-t: !mine {a: 1}\n", `{"ui":{"accent":"sea"}}`, "ui:\n  theme: !!str dark\n  accent: sea\nx-when: 2027-01-01\nx-t: !mine {a: 1}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.before)
			s := open(t, dir)
			after := patch(t, s, c.patch)
			if got := read(t, dir, fileName); got != c.after {
				t.Errorf("file is\n%q, want\n%q", got, c.after)
			}
			if again := open(t, dir).Get(); !same(t, again, after) {
				t.Error("the file does not read back as the settings")
			}
		})
	}
}

func same(t *testing.T, a, b *Config) bool {
	t.Helper()
	x, err := encode(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := encode(b)
	if err != nil {
		t.Fatal(err)
	}
	if c := diff(root(), x, y); len(c) > 0 {
		t.Logf("differs: %+v", c)
		return false
	}
	return true
}

// What the text gives no clear place for is written anew from the parsed tree: comments and order stay.
func TestUnclearPlacesStillSave(t *testing.T) {
	for _, before := range []string{
		"# why\nassistant:\n  location: a place\n    over lines\n  name: Sam\n",
		"# why\n? assistant\n: location: Pune\n",
		"# why\nassistant: !!map\n  location: Pune\n",
		"# why\nassistant:\n\n  location: \"a\\\n    b\"\n",
		"# why\n\"assistant\" : {location: Pune,}\n",
		"# why\nassistant: {location: Pune, # here\n  name: 'it''s' }\n",
	} {
		dir := t.TempDir()
		write(t, dir, before)
		s := open(t, dir)
		patch(t, s, `{"assistant":{"location":"Goa","user_name":"Maya"},"ui":{"theme":"light"}}`)
		c := open(t, dir).Get()
		if c.Assistant.Location != "Goa" || c.Assistant.UserName != "Maya" || c.UI.Theme != "light" {
			t.Errorf("%q: reads back as %+v", before, c.Assistant)
		}
		if got := read(t, dir, fileName); !strings.Contains(got, "# why") {
			t.Errorf("%q lost its comment: %q", before, got)
		}
	}
}

// Many edits of one file, one after the other, always mean what was asked and never touch the comments.
func TestManyEdits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "# top\nui:\n  # look\n  theme: dark\ntools: {approvals: {rules: {}}} # flow\nterminal:\n  allowed_folders: []\n")
	s := open(t, dir)
	for i, body := range []string{
		`{"ui":{"theme":"light"}}`, `{"tools":{"approvals":{"rules":{"a":"ask"}}}}`, `{"tools":{"approvals":{"rules":{"a":null,"b":"never"}}}}`,
		`{"terminal":{"allowed_folders":["/a"]}}`, `{"terminal":{"allowed_folders":["/a","/b"]}}`, `{"terminal":{"allowed_folders":[]}}`,
		`{"models":{"presets":{"Mine":{"roles":{"primary":"a/b","fast":null}}}}}`, `{"models":{"providers":{"mine":{"api_base":"http://x"}}}}`,
		`{"models":{"providers":{"mine":null,"openai":{"api_base":"https://y"}}}}`, `{"models":{"fallbacks":{"primary":["a/b","c/d"]}}}`,
		`{"models":{"fallbacks":{"primary":null}}}`, `{"models":{"active_preset":"Mine"}}`, `{"models":{"active_preset":null}}`,
		`{"browser":{"profiles":{"work":{"kind":"attach","endpoint":"http://localhost:9222"}}}}`,
		`{"integrations":{"mcp_servers":{"git hub":{"command":"npx","args":["-y","x: #y"],"env_keys":["T"]}}}}`,
	} {
		after := patch(t, s, body)
		if !same(t, open(t, dir).Get(), after) {
			t.Fatalf("edit %d (%s): file is\n%s", i, body, read(t, dir, fileName))
		}
		for _, comment := range []string{"# top", "  # look\n", "# flow"} {
			if got := read(t, dir, fileName); !strings.Contains(got, comment) {
				t.Fatalf("edit %d lost %q:\n%s", i, comment, got)
			}
		}
	}
	if err := s.Modify(context.Background(), func(c *Config) { delete(c.Models.Presets, "Mine") }); err != nil {
		t.Fatal(err)
	}
	if len(open(t, dir).Get().Models.Presets) != 0 {
		t.Error("the preset is still there")
	}
}
