package meta

import (
	"go/ast"
	"testing"
)

// runners may call a tool: the gate, the contract of a tool (which wraps the function of its definition), and what tests plugins.
var runners = map[string]bool{"backend/approval/tool.go": true, "backend/tool/tool.go": true, "backend/toolbox/conform/conform.go": true}

// Nothing runs a tool around the gate. A tool's Run takes a context, the run's context and arguments: no other function of
// that name takes three values.
func TestOnlyTheGateRunsATool(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t, false) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "Run" {
				return true
			}
			if x, ok := f.X.(*ast.Ident); ok && x.Name == "svc" {
				return true
			}
			found[s.path] = true
			if !runners[s.path] {
				t.Errorf("%s runs a tool around the gate", s.set.Position(call.Pos()))
			}
			return true
		})
	}
	if !found["backend/approval/tool.go"] {
		t.Error("the gate's own call was not found: this test sees nothing")
	}
}
