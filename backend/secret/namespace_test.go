package secret

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNamespace(t *testing.T) {
	dir := t.TempDir()
	def := filepath.Join(dir, ".sentient")
	link := filepath.Join(dir, "link")
	if err := os.Mkdir(def, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(def, link); err != nil {
		t.Logf("no links on this system: %v", err)
		link = def
	}
	for _, c := range []struct{ name, home, word, want string }{
		{"the default folder", def, "", `^sentient$`},
		{"no folder named", "", "", `^sentient$`},
		{"a link to it", link, "", `^sentient$`},
		{"spelled another way", def + "/../.sentient/", "", `^sentient$`},
		{"in capitals", filepath.Join(dir, ".SENTIENT"), "", `^sentient$`},
		{"another folder", filepath.Join(dir, "demo"), "", `^sentient-[0-9a-f]{12}$`},
		{"default", filepath.Join(dir, "demo"), "default", `^sentient$`},
		{"Default", filepath.Join(dir, "demo"), "DeFault", `^sentient$`},
		{"a word", def, "Work", `^sentient-work$`},
		{"odd characters", def, "My Work.2", `^sentient-my-work-2$`},
		{"nothing left", def, "!!!", `^sentient-x[0-9a-f]{12}$`},
		{"nearly default", def, "default!", `^sentient-x[0-9a-f]{12}$`},
		{"default with a space", def, " default", `^sentient-x[0-9a-f]{12}$`},
		{"other letters", def, "работа", `^sentient-x[0-9a-f]{12}$`},
	} {
		if got := namespace(c.home, def, c.word); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
	a, b := namespace(filepath.Join(dir, "a"), def, ""), namespace(filepath.Join(dir, "b"), def, "")
	if a == b || namespace(filepath.Join(dir, "A"), def, "") != a {
		t.Errorf("two folders: %q and %q", a, b)
	}
	if namespace(def, def, "!") == namespace(def, def, "?") {
		t.Error("two odd words share a namespace")
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range Names() {
		if seen[n.Name] {
			t.Errorf("%s stands twice", n.Name)
		}
		seen[n.Name] = true
		if n.Kind == Provider && !n.Sign && n.Env != strings.ToUpper(n.Name)+"_API_KEY" {
			t.Errorf("%s: environment variable %q", n.Name, n.Env)
		}
		if err := known(n.Name); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
	for _, name := range []string{"", "nobody", "openai:1", "mcp:", "mcp:files:1", "integration:slack:1", "channel__x", "mcp:a\nb", "../x"} {
		if known(name) == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
	for _, name := range []string{"mcp:files", "mcp:files:headers", "mcp:git hub:0a1b2c3d4e5f:oauth", "mcp:1", "mcp-server-token", "openai_api_key", "integration:spotify", "channel_whatsapp_token"} {
		if err := known(name); err != nil {
			t.Errorf("%q is not taken for a name: %v", name, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, v := range []string{"", "a", strings.Repeat("x", 1000), strings.Repeat("x", 1001), strings.Repeat("é", 5000), strings.Repeat("😀", 3001), strings.Repeat("\xff", 4000)} {
		pieces := split(v)
		if strings.Join(pieces, "") != v {
			t.Errorf("%d bytes do not come together again", len(v))
		}
		for i, p := range pieces {
			if len(p) > pieceBytes || i > 0 && p == "" {
				t.Errorf("piece %d of %d has %d bytes", i, len(pieces), len(p))
			}
		}
		if len(v) <= pieceBytes && len(pieces) != 1 {
			t.Errorf("%d bytes are split", len(v))
		}
	}
	if n := len(split(strings.Repeat("😀", maxValue/4))); n >= maxPieces {
		t.Errorf("the longest value has %d pieces, only %d are read", n, maxPieces)
	}
}
