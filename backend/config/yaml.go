package config

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// encoding is how the file's text stands on disk. It is kept when the file is written.
type encoding uint8

const (
	utf8Plain encoding = iota
	utf8BOM
	utf16LE
	utf16BE
)

// maxFile bounds the file: settings are small, and what is larger is not ours.
const maxFile = 4 << 20

// maxNodes bounds what aliases may unfold to.
const maxNodes = 100_000

// document is a settings file as read.
type document struct {
	enc  encoding
	text string     // UTF-8, without a byte order mark, line ends as they are
	root *yaml.Node // the mapping; nil when the file says nothing
}

// parseDocument reads a file's bytes. An error means that they are no settings at all.
func parseDocument(raw []byte) (*document, error) {
	if len(raw) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	enc, text, err := decodeText(raw)
	if err != nil {
		return nil, err
	}
	root, err := parseText(text)
	if err != nil {
		return nil, err
	}
	return &document{enc, text, root}, nil
}

// directive finds "%YAML 1.2", which the parser refuses though it reads that version. What takes its place is as long.
var directive = regexp.MustCompile(`\A((?:[ \t]*(?:#[^\n]*)?\n)*%YAML +)1\.[2-9]`)

func parseText(text string) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser is another's; what it cannot take is damage, not a crash
			root, err = nil, fmt.Errorf("parse yaml: %v", p)
		}
	}()
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("the file holds zero bytes")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(directive.ReplaceAllString(text, "${1}1.1")), &doc); err != nil {
		return nil, fmt.Errorf("parse yaml: %w", err)
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return nil, nil
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" && top.Value == "" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("the file is not a table of settings")
	}
	if _, err := plain(top); err != nil {
		return nil, err
	}
	return top, nil
}

func decodeText(raw []byte) (encoding, string, error) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		raw = raw[3:]
		if !utf8.Valid(raw) {
			return 0, "", errors.New("the file is not valid UTF-8")
		}
		return utf8BOM, string(raw), nil
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return wide(utf16LE, raw[2:], binary.LittleEndian)
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return wide(utf16BE, raw[2:], binary.BigEndian)
	}
	if !utf8.Valid(raw) {
		return 0, "", errors.New("the file is not valid UTF-8")
	}
	return utf8Plain, string(raw), nil
}

func wide(enc encoding, raw []byte, order binary.ByteOrder) (encoding, string, error) {
	if len(raw)%2 != 0 {
		return 0, "", errors.New("the file ends in the middle of a character")
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	text := string(utf16.Decode(units))
	if strings.ContainsRune(text, utf8.RuneError) {
		return 0, "", errors.New("the file is not valid UTF-16")
	}
	return enc, text, nil
}

// bytes gives the text as it stands on disk.
func (e encoding) bytes(text string) []byte {
	switch e {
	case utf8BOM:
		return append([]byte("\xef\xbb\xbf"), text...)
	case utf16LE, utf16BE:
		var order binary.AppendByteOrder = binary.LittleEndian
		out := []byte("\xff\xfe")
		if e == utf16BE {
			order, out = binary.BigEndian, []byte("\xfe\xff")
		}
		for _, u := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, u)
		}
		return out
	}
	return []byte(text)
}

// other is a scalar that JSON does not know, such as a date: kept as it stands.
type other struct{ tag, text string }

// plain gives the values of a node, aliases and merge keys unfolded, whatever they mean.
func plain(n *yaml.Node) (any, error) {
	r := &reader{budget: maxNodes, open: map[*yaml.Node]bool{}}
	return r.value(n)
}

type reader struct {
	budget int
	open   map[*yaml.Node]bool // what is being read: an alias into it never ends
}

func (r *reader) value(n *yaml.Node) (any, error) {
	if r.budget--; r.budget < 0 {
		return nil, errors.New("the file unfolds to too much")
	}
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias == nil {
			return nil, errors.New("a reference to nothing")
		}
		return r.value(n.Alias)
	case yaml.MappingNode, yaml.SequenceNode:
		if r.open[n] {
			return nil, errors.New("a value that holds itself")
		}
		r.open[n] = true
		defer delete(r.open, n)
		if n.Kind == yaml.MappingNode {
			return r.mapping(n)
		}
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			v, err := r.value(c)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	case yaml.ScalarNode:
		return scalar(n), nil
	}
	return nil, errors.New("an unknown kind of value")
}

func (r *reader) mapping(n *yaml.Node) (any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		from, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		list, ok := from.([]any)
		if !ok {
			list = []any{from}
		}
		for j := len(list) - 1; j >= 0; j-- { // the first named wins
			m, ok := list[j].(map[string]any)
			if !ok {
				return nil, errors.New("a merge of something that is no table")
			}
			for k, v := range m {
				out[k] = v
			}
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		k, ok := keyText(n.Content[i])
		if !ok {
			return nil, errors.New("a key that is no plain word")
		}
		v, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		out[k] = v // of two equal keys the last counts
	}
	return out, nil
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && (n.Tag == "!!merge" || n.Tag == "" && n.Style == 0)
}

func keyText(n *yaml.Node) (string, bool) {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n.Value, n.Kind == yaml.ScalarNode
}

// scalar gives a JSON value where there is one for it.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!str":
		return n.Value
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		var v any
		if n.Decode(&v) == nil {
			if b, err := json.Marshal(v); err == nil { // refuses .inf and .nan
				return plainNumber(json.Number(b))
			}
		}
	}
	return other{n.ShortTag(), n.Value}
}

// settings gives what the file says about known settings: scalars read as the field wants them, so that a person need
// not know when YAML takes a word for something else. unknown lists the keys that are no settings.
func (d *document) settings() (tree any, unknown [][]string) {
	if d.root == nil {
		return map[string]any{}, nil
	}
	s := &settingsReader{}
	tree = s.value(root(), nil, d.root)
	return tree, s.unknown
}

type settingsReader struct{ unknown [][]string }

func (s *settingsReader) value(n *node, path []string, y *yaml.Node) any {
	if y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	switch y.Kind {
	case yaml.ScalarNode:
		return scalarFor(n, y)
	case yaml.SequenceNode:
		if n.kind != kList {
			return other{"!!seq", ""}
		}
		out := make([]any, len(y.Content))
		for i, c := range y.Content {
			out[i] = s.value(n.elem, path, c)
		}
		return out
	}
	if n.kind != kObject && n.kind != kMap {
		return other{"!!map", ""}
	}
	out := map[string]any{}
	for _, p := range pairs(y) {
		at := append(path[:len(path):len(path)], p.name)
		child := n.child(p.name)
		if child == nil {
			if len(path) > 0 || p.name != "version" && !strings.HasPrefix(p.name, "x-") {
				s.unknown = append(s.unknown, at)
			}
			continue
		}
		out[p.name] = s.value(child, at, p.value)
	}
	return out
}

type pair struct {
	name  string
	value *yaml.Node
}

// pairs gives a mapping's entries with merge keys unfolded, of equal keys the one that counts. The document was read
// by plain before, so there are no loops and no odd keys.
func pairs(y *yaml.Node) []pair {
	var out []pair
	index := map[string]int{}
	put := func(p pair) {
		if i, ok := index[p.name]; ok {
			out[i] = p
			return
		}
		index[p.name] = len(out)
		out = append(out, p)
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		if !isMerge(y.Content[i]) {
			continue
		}
		from := []*yaml.Node{y.Content[i+1]}
		if from[0].Kind == yaml.SequenceNode {
			from = from[0].Content
		}
		for j := len(from) - 1; j >= 0; j-- {
			m := from[j]
			if m.Kind == yaml.AliasNode {
				m = m.Alias
			}
			if m.Kind == yaml.SequenceNode { // an alias to a list of tables
				for k := len(m.Content) - 1; k >= 0; k-- {
					e := m.Content[k]
					if e.Kind == yaml.AliasNode {
						e = e.Alias
					}
					for _, p := range pairs(e) {
						put(p)
					}
				}
				continue
			}
			for _, p := range pairs(m) {
				put(p)
			}
		}
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		if k, ok := keyText(y.Content[i]); ok && !isMerge(y.Content[i]) {
			put(pair{k, y.Content[i+1]})
		}
	}
	return out
}

func scalarFor(n *node, y *yaml.Node) any {
	v := scalar(y)
	bare := y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch n.kind {
	case kString:
		if _, isText := v.(string); !isText && v != nil && y.ShortTag() != "!!binary" {
			return y.Value // 123, 03:00 or 2027-01-01 where a text is wanted
		}
	case kBool:
		if s, ok := v.(string); ok && bare {
			switch strings.ToLower(s) {
			case "yes", "on", "y":
				return true
			case "no", "off", "n":
				return false
			}
		}
	}
	return v
}

// version is the file's version key, 0 when there is none, -1 when it is no number.
func (d *document) version() int {
	if d.root == nil {
		return 0
	}
	for _, p := range pairs(d.root) {
		if p.name == "version" {
			var v int
			if p.value.Decode(&v) != nil || v < 1 {
				return -1
			}
			return v
		}
	}
	return 0
}
