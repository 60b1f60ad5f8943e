package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// source is one parsed file of ours.
type source struct {
	path string
	set  *token.FileSet
	file *ast.File
	text string
}

// sources parses every Go file of the engine and the programs, whatever its build tags.
func sources(t *testing.T, tests bool) []source {
	t.Helper()
	var all []source
	for _, top := range []string{"backend", "app", "build"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "cache" || d.Name() == "testdata" || d.Name() == "bin") {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") && !tests {
				return nil
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, raw, parser.ParseComments)
			if err != nil {
				return err
			}
			all = append(all, source{strings.TrimPrefix(filepath.ToSlash(path), "../../"), set, file, string(raw)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

func (s source) generated() bool { return strings.Contains(s.text, "DO NOT EDIT") }

func (s source) at(n ast.Node) token.Position {
	p := s.set.Position(n.Pos())
	p.Filename = s.path
	return p
}

func TestOnlySvcStartsGoroutines(t *testing.T) {
	for _, s := range sources(t, false) {
		if strings.HasPrefix(s.path, "backend/svc/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a bare go statement; use svc.Tree.Go or svc.Run", s.at(g))
			}
			return true
		})
	}
}

// The clock comes in from outside. The benchmarks of build/ measure real time and are programs of their own.
func TestOnlyClockTellsTheTime(t *testing.T) {
	forbidden := []string{"Now", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Since", "Until"}
	for _, s := range sources(t, false) {
		if strings.HasPrefix(s.path, "backend/clock/") || strings.HasPrefix(s.path, "build/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(forbidden, sel.Sel.Name) {
				t.Errorf("%s: time.%s; use the injected clock", s.at(n), sel.Sel.Name)
			}
			return true
		})
	}
}

func TestSizesStayReadable(t *testing.T) {
	const longestFile, longestFunc = 600, 80
	for _, s := range sources(t, false) {
		if s.generated() {
			continue
		}
		if lines := strings.Count(s.text, "\n"); lines > longestFile {
			t.Errorf("%s has %d lines (at most %d)", s.path, lines, longestFile)
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				if lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; lines > longestFunc {
					t.Errorf("%s: %s has %d lines (at most %d)", s.at(f), f.Name.Name, lines, longestFunc)
				}
			}
		}
	}
}

func TestPackageNamesSaySomething(t *testing.T) {
	for _, s := range sources(t, true) {
		switch s.file.Name.Name {
		case "util", "utils", "common", "helpers", "manager", "types":
			t.Errorf("%s: package %s says nothing", s.path, s.file.Name.Name)
		}
	}
}

func TestEveryPackageHasAContract(t *testing.T) {
	doc := map[string]bool{}
	for _, s := range sources(t, false) {
		dir := filepath.Dir(s.path)
		doc[dir] = doc[dir] || s.file.Doc != nil && len(s.file.Doc.Text()) > 60
	}
	for dir, ok := range doc {
		if !ok {
			t.Errorf("%s has no package comment that says what it owns", dir)
		}
	}
}

func TestExportedFunctionsAreExplained(t *testing.T) {
	for _, s := range sources(t, false) {
		if s.generated() {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() && f.Doc == nil && !hidden(f) && !implementsKnown(f) {
				t.Errorf("%s: %s has no comment", s.at(f), f.Name.Name)
			}
		}
	}
}

// hidden tells whether a method belongs to a type that no other package sees: it is there for an interface.
func hidden(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	id, ok := t.(*ast.Ident)
	return ok && !id.IsExported()
}

// implementsKnown names the methods whose meaning the standard library gives.
func implementsKnown(f *ast.FuncDecl) bool {
	return f.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "String", "Read", "Write", "Close", "Len", "Less", "Swap", "Is",
		"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "RoundTrip", "Handle", "WithAttrs", "WithGroup", "Enabled"}, f.Name.Name)
}

// Package variables do not change: none is assigned to outside its declaration.
func TestPackageVariablesDoNotChange(t *testing.T) {
	byDir := map[string]map[string]bool{}
	files := sources(t, false)
	for _, s := range files {
		dir := filepath.Dir(s.path)
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if byDir[dir] == nil {
							byDir[dir] = map[string]bool{}
						}
						byDir[dir][name.Name] = true
					}
				}
			}
		}
	}
	for _, s := range files {
		vars := byDir[filepath.Dir(s.path)]
		ast.Inspect(s.file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok == token.DEFINE {
				return true
			}
			for _, l := range a.Lhs {
				if id, ok := l.(*ast.Ident); ok && id.Name != "_" && vars[id.Name] && (id.Obj == nil || id.Obj.Decl == nil) {
					t.Errorf("%s: assigns to the package variable %s", s.at(a), id.Name)
				}
			}
			return true
		})
	}
}

// The tree speaks of the project alone.
func TestTheTreeSpeaksOfTheProjectAlone(t *testing.T) {
	// The patterns are put together here so that this file does not hold them itself.
	forbidden := regexp.MustCompile(strings.Join([]string{"/wo" + "rk/(main|shared|\\.library)", "proxy\\.gol" + "ang\\.org", "registry\\.np" + "mjs\\.org", "files\\.pythonhos" + "ted", "pypi\\.o" + "rg"}, "|"))
	root := filepath.Join("..", "..")
	count := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "cache", "bin", "dist", "test-results"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > 4<<20 {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		if m := forbidden.Find(raw); m != nil {
			t.Errorf("%s holds %q", strings.TrimPrefix(path, root+"/"), m)
		}
		return nil
	})
	if err != nil || count < 100 {
		t.Fatalf("walked %d files: %v", count, err)
	}
}
