// Package gen makes everything that follows from the operation table: the OpenAPI document, the page's TypeScript
// types and client table, the window's bound structs, and the routes of the Go client. The files are committed;
// a test makes them again and compares, so the table and its copies cannot drift apart.
package gen

import (
	"bytes"
	"fmt"
	"go/format"
	"reflect"
	"slices"
	"strings"

	"sentient/backend/api"
)

const mark = "Code generated from the operation table; DO NOT EDIT."

// Files gives the generated files by their path from the root of the repository.
func Files() (map[string][]byte, error) {
	table := api.NewTable(api.Services{}, nil)
	document, err := table.Document()
	if err != nil {
		return nil, fmt.Errorf("make document: %w", err)
	}
	files := map[string][]byte{
		"docs/API/openapi.json":          append(document, '\n'),
		"docs/API/operations.md":         operationsPage(table),
		"frontend/src/api/types.gen.ts":  typeScriptTypes(table),
		"frontend/src/api/client.gen.ts": typeScriptClient(table),
	}
	for path, make := range map[string]func(*api.Table) []byte{
		"app/bound/bound_gen.go":       boundStructs,
		"backend/client/routes_gen.go": clientRoutes,
	} {
		source, err := format.Source(make(table))
		if err != nil {
			return nil, fmt.Errorf("format %s: %w", path, err)
		}
		files[path] = source
	}
	return files, nil
}

func operationsPage(t *api.Table) []byte {
	var b bytes.Buffer
	b.WriteString("<!-- " + mark + " -->\n# Operations\n\nEvery operation once, as the table in `backend/api` has it. Shapes are in `openapi.json`.\n\n")
	b.WriteString("| operation | kind | route | callers | what it does |\n|---|---|---|---|---|\n")
	for _, o := range t.Operations() {
		route := strings.TrimSpace(o.Verb + " " + o.Path)
		if o.Kind == api.Message {
			route = "message on the live connection"
		}
		who := "token"
		if o.Who&api.Open != 0 {
			who = "anybody on this computer"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s |\n", o.ID, o.Kind, route, who, o.Summary)
	}
	b.WriteString("\n# Events\n\n| event | form | may be joined or lost |\n|---|---|---|\n")
	for _, info := range api.Topics() {
		form, lossy := "domain", "no"
		if info.Chat {
			form = "chat"
		}
		if info.Lossy() {
			lossy = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", info.Name, form, lossy)
	}
	return b.Bytes()
}

// boundStructs writes one struct a noun with a method an operation, for the window.
func boundStructs(t *api.Table) []byte {
	var body bytes.Buffer
	imports := map[string]bool{}
	var nouns []string
	for _, o := range t.Operations() {
		if o.Kind != api.Unary {
			continue
		}
		if !slices.Contains(nouns, o.Noun()) {
			nouns = append(nouns, o.Noun())
			fmt.Fprintf(&body, "// %s carries the operations of its noun to the page.\ntype %s struct{ Door Door }\n\n", o.Noun(), o.Noun())
		}
		noteImports(o.In, imports)
		noteImports(o.Out, imports)
		fmt.Fprintf(&body, "// %s: %s.\nfunc (b *%s) %s(in %s) (%s, error) { return call[%s](b.Door, %q, in) }\n\n",
			o.Method(), lowerFirst(o.Summary), o.Noun(), o.Method(), o.In, o.Out, o.Out, o.ID)
	}
	var b bytes.Buffer
	b.WriteString("// " + mark + "\n\npackage bound\n\nimport (\n")
	for _, path := range sorted(imports) {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n\n// Nouns are the structs that the window binds.\nfunc Nouns(door Door) []any {\n\treturn []any{\n")
	for _, noun := range nouns {
		fmt.Fprintf(&b, "\t\t&%s{door},\n", noun)
	}
	b.WriteString("\t}\n}\n\n")
	b.Write(body.Bytes())
	return b.Bytes()
}

func noteImports(t reflect.Type, imports map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		if t.PkgPath() == "" {
			noteImports(t.Elem(), imports)
			return
		}
	case reflect.Map:
		noteImports(t.Key(), imports)
		noteImports(t.Elem(), imports)
		return
	}
	if t.PkgPath() != "" {
		imports[t.PkgPath()] = true
	}
}

func sorted(set map[string]bool) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// clientRoutes writes one variable an operation, for the Go client.
func clientRoutes(t *api.Table) []byte {
	var vars, list bytes.Buffer
	for _, o := range t.Operations() {
		if o.Path == "" {
			continue
		}
		name := o.Noun() + o.Method()
		fmt.Fprintf(&vars, "// %s: %s.\nvar %s = Route{ID: %q, Kind: %q, Verb: %q, Path: %q, Query: %#v, WholeBody: %q}\n\n",
			name, lowerFirst(o.Summary), name, o.ID, o.Kind, o.Verb, o.Path, queryNames(o), o.WholeBody())
		fmt.Fprintf(&list, "\t%s,\n", name)
	}
	var b bytes.Buffer
	b.WriteString("// " + mark + "\n\npackage client\n\n// Routes are all routes of the table.\nfunc Routes() []Route { return []Route{\n")
	b.Write(list.Bytes())
	b.WriteString("} }\n\n")
	b.Write(vars.Bytes())
	return b.Bytes()
}

func queryNames(o api.Op) []string {
	names := []string{}
	for name := range o.QueryMembers() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
