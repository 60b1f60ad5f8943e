package meta

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "sentient"

// layers name the packages of the engine from the lowest up. A package imports only packages of lower layers.
var layers = [][]string{
	{"errs", "clock", "event", "svc", "obs", "opt", "wholefile"},
	{"store", "config", "secret", "netx", "llm", "tool", "vector", "textkit", "sysinfo", "discovery"},
	{"session", "transcript", "agent", "toolbox", "approval", "model", "memory", "task", "reminder", "quick", "notify", "proactive",
		"skill", "integration", "mcp", "mcpserver", "folder", "sandbox", "terminal", "browser", "node", "voice", "sensor", "channel",
		"backup", "importer", "timeline", "stop", "snapshot", "onboarding"},
	{"api", "client", "gateway", "gen", "msp", "engine", "eval", "testkit", "meta"},
}

// siblings are the imports inside one layer that are meant, each with its reason.
var siblings = map[[2]string]string{
	{"event", "clock"}:         "an event carries the moment it happened",
	{"discovery", "errs"}:      "errors for people",
	{"gateway", "api"}:         "the gateway serves the table",
	{"api", "gateway"}:         "the table has the row that makes other apps' key, which gateway/v1 owns",
	{"gen", "api"}:             "what is generated follows from the table",
	{"engine", "api"}:          "the engine makes the table of its services",
	{"engine", "gateway"}:      "the engine runs its gateway",
	{"testkit", "engine"}:      "a test's engine is a whole one",
	{"testkit", "client"}:      "a test enters by the client too",
	{"agent", "transcript"}:    "the turn writes the transcript; both are the chat",
	{"agent", "approval"}:      "the turn's loop enters the gate for every call",
	{"transcript", "approval"}: "the log keeps how a person was asked and what they answered, in the gate's own shapes",
	{"svc", "clock"}:           "a guarded call has a time limit",
}

// foundations may be used inside their own layer (architecture, "layers and arrows").
var foundations = []string{"netx", "secret", "store", "config"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
	Dir        string
}

// list runs go list; one failing package fails the test.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,GoFiles,Dir"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list %v: %s", args, e.Stderr)
		}
		t.Fatal(err)
	}
	var pkgs []pkg
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		t.Fatalf("go list %v named no package", args)
	}
	return pkgs
}

// room is the first folder under backend/: llm/openai belongs to llm.
func room(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, module+"/backend/")
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, "/")
	return name, true
}

func layerOf(name string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, name) })
}

func TestArrowsPointDown(t *testing.T) {
	for _, p := range list(t, "./backend/...") {
		from, _ := room(p.ImportPath)
		if layerOf(from) < 0 {
			t.Errorf("backend/%s stands in no layer: add it to layers", from)
			continue
		}
		for _, path := range p.Imports {
			if strings.HasPrefix(path, module+"/app") {
				t.Errorf("%s imports %s: the engine knows no program", p.ImportPath, path)
			}
			to, ok := room(path)
			if !ok || to == from {
				continue
			}
			a, b := layerOf(from), layerOf(to)
			switch {
			case b < a:
			case a == b && siblings[[2]string{from, to}] != "":
			case a == b && a == 0: // the lowest layer's parts are small and have no cycles (the compiler sees to it)
			case a == b && a == 1 && slices.Contains(foundations, to):
			default:
				t.Errorf("backend/%s imports backend/%s, which is not below it", from, to)
			}
		}
	}
}

func TestSiblingListHasNoDeadRows(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, p := range list(t, "./backend/...") {
		from, _ := room(p.ImportPath)
		for _, path := range p.Imports {
			if to, ok := room(path); ok {
				seen[[2]string{from, to}] = true
			}
		}
	}
	for pair := range siblings {
		if !seen[pair] {
			t.Errorf("siblings lists %s → %s, which is not imported any more", pair[0], pair[1])
		}
	}
}

// Only these packages may be imported by tests and eval alone.
func TestNothingButTestsImportsTestkit(t *testing.T) {
	for _, p := range list(t, "./...") {
		if strings.HasPrefix(p.ImportPath, module+"/backend/eval") || strings.HasPrefix(p.ImportPath, module+"/build/") {
			continue
		}
		if slices.Contains(p.Imports, module+"/backend/testkit") {
			t.Errorf("%s imports testkit outside of tests", p.ImportPath)
		}
	}
}
