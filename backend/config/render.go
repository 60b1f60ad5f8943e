package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var plainWord = regexp.MustCompile(`^[A-Za-z_./~][A-Za-z0-9_./:@+~ -]*$`)

// flow renders a tree on one line, such that it may stand anywhere.
func flow(v any) string {
	switch x := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(x))
		for _, k := range sortedKeys(x) {
			parts = append(parts, word(k)+": "+flow(x[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(x))
		for i, c := range x {
			parts[i] = flow(c)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return word(x)
	case bool:
		return fmt.Sprint(x)
	case json.Number:
		return x.String()
	case other:
		return x.tag + " " + quote(x.text)
	}
	return "null"
}

// block renders what follows "key:" in block style: " value", or lines of their own indented by indent.
func block(v any, indent int, eol string) string {
	pad := strings.Repeat(" ", indent)
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 {
			return " {}"
		}
		var b strings.Builder
		for _, k := range sortedKeys(x) {
			b.WriteString(eol + pad + word(k) + ":" + block(x[k], indent+2, eol))
		}
		return b.String()
	case []any:
		for _, c := range x {
			switch c.(type) {
			case map[string]any, []any:
				return " " + flow(v)
			}
		}
		if len(x) == 0 {
			return " []"
		}
		var b strings.Builder
		for _, c := range x {
			b.WriteString(eol + pad + "- " + flow(c))
		}
		return b.String()
	}
	return " " + flow(v)
}

// word writes a string plain where that reads back as the same string everywhere, else in double quotes.
func word(s string) string {
	if plainWord.MatchString(s) && !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, ":") &&
		!strings.Contains(s, ": ") && s != "~" {
		switch strings.ToLower(s) {
		case "y", "n", "yes", "no", "on", "off": // words that older readers take for true and false
			return quote(s)
		}
		var n yaml.Node
		if yaml.Unmarshal([]byte(s), &n) == nil && len(n.Content) == 1 && n.Content[0].Kind == yaml.ScalarNode &&
			n.Content[0].ShortTag() == "!!str" && n.Content[0].Value == s {
			return s
		}
	}
	return quote(s)
}

// styled writes a new scalar in the quotes of the one it replaces, where they can hold it.
func styled(v any, old *yaml.Node) string {
	s, ok := v.(string)
	if !ok {
		return flow(v)
	}
	switch {
	case old.Style&yaml.DoubleQuotedStyle != 0:
		return quote(s)
	case old.Style&yaml.SingleQuotedStyle != 0 && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return word(s)
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r >= ' ' && r < 0x7f, r >= 0xa0 && r < 0xd800 && r != 0x2028 && r != 0x2029, r >= 0xe000 && r < 0xfffe && r != 0xfeff,
			r >= 0x10000:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
