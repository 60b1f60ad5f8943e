package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sentient/backend/api"
)

// typeScriptTypes writes an interface for each schema of the document.
func typeScriptTypes(t *api.Table) []byte {
	schemas := t.OpenAPI().Components.Schemas.Map()
	names := make([]string, 0, len(schemas))
	for name := range schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	b.WriteString("// " + mark + "\n\n")
	for _, name := range names {
		s := schemas[name]
		if s.Description != "" {
			fmt.Fprintf(&b, "/** %s */\n", s.Description)
		}
		if s.Type == "object" && len(s.Properties) > 0 {
			fmt.Fprintf(&b, "export interface %s %s\n\n", name, tsObject(s, ""))
			continue
		}
		fmt.Fprintf(&b, "export type %s = %s;\n\n", name, tsType(s, ""))
	}
	return b.Bytes()
}

func tsType(s *huma.Schema, indent string) string {
	text := tsBare(s, indent)
	if s.Nullable {
		text += " | null"
	}
	return text
}

func tsBare(s *huma.Schema, indent string) string {
	switch {
	case s == nil:
		return "unknown"
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.OneOf) > 0:
		var lines []string
		for _, one := range s.OneOf {
			lines = append(lines, "\n"+indent+"  | "+tsType(one, indent+"  "))
		}
		return strings.Join(lines, "")
	case len(s.AnyOf) > 0:
		var parts []string
		for _, one := range s.AnyOf {
			parts = append(parts, tsType(one, indent))
		}
		return strings.Join(parts, " | ")
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			raw, _ := json.Marshal(v) // enum values are strings and numbers
			values = append(values, string(raw))
		}
		return strings.Join(values, " | ")
	}
	switch s.Type {
	case "string":
		return "string"
	case "integer", "number":
		return "number"
	case "boolean":
		return "boolean"
	case "array":
		return "Array<" + tsType(s.Items, indent) + ">"
	case "object":
		if len(s.Properties) > 0 {
			return tsObject(s, indent)
		}
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			return "Record<string, " + tsType(of, indent) + ">"
		}
		return "Record<string, unknown>"
	}
	return "unknown"
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func tsObject(s *huma.Schema, indent string) string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range names {
		p := s.Properties[name]
		if p.Description != "" {
			fmt.Fprintf(&b, "%s  /** %s */\n", indent, strings.ReplaceAll(p.Description, "*/", "* /"))
		}
		key, mark := name, "?"
		if !plainName.MatchString(name) {
			key = fmt.Sprintf("%q", name)
		}
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, key, mark, tsType(p, indent+"  "))
	}
	b.WriteString(indent + "}")
	return b.String()
}

// typeScriptClient writes the table as the page's client needs it.
func typeScriptClient(t *api.Table) []byte {
	used := map[string]bool{}
	var table, types bytes.Buffer
	for _, o := range t.Operations() {
		if o.Kind == api.Message || o.Kind == api.Live {
			continue
		}
		body := "none"
		switch {
		case o.Kind == api.Upload:
			body = "multipart"
		case o.WholeBody() != "":
			body = "whole:" + o.WholeBody()
		case o.Verb == "POST" || o.Verb == "PUT" || o.Verb == "PATCH":
			body = "json"
		}
		fmt.Fprintf(&table, "  %q: { kind: %q, verb: %q, path: %q, pathParams: %s, query: %s, body: %q, bound: [%q, %q] },\n",
			o.ID, o.Kind, o.Verb, strings.ReplaceAll(o.Path, "...}", "}"), tsList(o.PathMembers()), tsList(queryNames(o)), body, o.Noun(), o.Method())
		fmt.Fprintf(&types, "  %q: { input: %s; output: %s };\n", o.ID, tsUse(t, o.In, used), tsUse(t, o.Out, used))
	}
	used["LiveEvent"], used["ClientMessage"] = true, true
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\nimport type {\n  %s,\n} from \"./types.gen\";\n\n", mark, strings.Join(sorted(used), ",\n  "))
	b.WriteString("export type { LiveEvent, ClientMessage };\n\nexport const operations = {\n")
	b.Write(table.Bytes())
	b.WriteString("} as const;\n\n/** What each operation takes (path, query and body members together) and gives (a stream: each value). */\nexport interface Operations {\n")
	b.Write(types.Bytes())
	b.WriteString("}\n")
	return b.Bytes()
}

var reference = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*\b`)

// tsUse writes a type of the table as TypeScript and notes which names it needs.
func tsUse(t *api.Table, goType reflect.Type, used map[string]bool) string {
	if goType == nil {
		return "Blob"
	}
	text := tsType(t.Schema(goType), "  ")
	for _, name := range reference.FindAllString(text, -1) {
		if name != "Array" && name != "Record" {
			used[name] = true
		}
	}
	return text
}

func tsList(names []string) string {
	raw, _ := json.Marshal(names) // strings always encode
	if len(names) == 0 {
		return "[]"
	}
	return string(raw)
}
