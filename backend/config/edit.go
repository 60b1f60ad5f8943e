package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// splice is one replacement in a text.
type splice struct {
	from, to int
	text     string
}

func splices(text string, all []splice) string {
	slices.SortFunc(all, func(a, b splice) int { return b.from - a.from })
	for _, s := range all {
		text = text[:s.from] + s.text + text[s.to:]
	}
	return text
}

// edited gives the text with the changes made in it and nothing else touched. It is proven: the text is read again and
// must then say exactly what it said before with these changes. What cannot be done in the text is done on the parsed
// tree, which keeps comments and order but not every space; what cannot be proven is refused.
func edited(text string, changes []change) (string, error) {
	if next, err := editTexts(text, changes); err == nil && proven(text, next, changes...) {
		return next, nil
	}
	for _, c := range changes { // one by one, so that only what needs it is done on the tree
		next, err := editText(text, c)
		if err != nil || !proven(text, next, c) {
			if next, err = editTree(text, c); err != nil {
				return "", err
			}
			if !proven(text, next, c) {
				return "", errors.New("edit settings: the edited text does not read back")
			}
		}
		text = next
	}
	return text, nil
}

func editTexts(text string, changes []change) (_ string, err error) {
	for _, c := range changes {
		if text, err = editText(text, c); err != nil {
			return "", err
		}
	}
	return text, nil
}

// proven: after says what before said with the changes made.
func proven(before, after string, changes ...change) bool {
	was, err1 := textValues(before)
	is, err2 := textValues(after)
	if err1 != nil || err2 != nil {
		return false
	}
	return reflect.DeepEqual(hollow(apply(was, changes)), hollow(is))
}

// hollow takes an empty table for nothing, which it is in a settings file.
func hollow(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, c := range m {
		out[k] = hollow(c)
	}
	return out
}

func textValues(text string) (any, error) {
	root, err := parseText(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return map[string]any{}, nil
	}
	return plain(root)
}

// editor makes one change in a text.
type editor struct {
	*scanner
	root *yaml.Node
	eol  string
}

func newEditor(text string) (*editor, error) {
	root, err := parseText(text)
	if err != nil {
		return nil, err
	}
	e := &editor{newScanner(text), root, "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		e.eol = "\r\n"
	}
	return e, nil
}

// maxFreed bounds how many anchors one change frees of their other users.
const maxFreed = 20

func editText(text string, c change) (string, error) {
	for range maxFreed {
		e, err := newEditor(text)
		if err != nil {
			return "", err
		}
		if e.root == nil {
			return e.append(c), nil
		}
		next, freed, err := e.change(c)
		if err != nil || !freed {
			return next, err
		}
		text = next
	}
	return "", errPlace
}

// append writes the first setting into a text that has none: at its end, behind the comments.
func (e *editor) append(c change) string {
	if c.remove {
		return e.text
	}
	text := e.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += e.eol
	}
	return text + word(c.path[0]) + ":" + block(nest(c.path[1:], c.value), 2, e.eol) + e.eol
}

// nest wraps a value in the tables of a path.
func nest(path []string, v any) any {
	for i := len(path) - 1; i >= 0; i-- {
		v = map[string]any{path[i]: v}
	}
	return v
}

// change makes the change, or frees an anchor on the way of its other users (freed: call again).
func (e *editor) change(c change) (text string, freed bool, err error) {
	cur, owner := e.root, (*yaml.Node)(nil) // owner is cur's key
	for i, key := range c.path {
		if users := e.users(cur); len(users) > 0 {
			text, err = e.free(cur, users)
			return text, true, err
		}
		if cur.Kind == yaml.AliasNode || cur.Kind != yaml.MappingNode {
			text, err = e.rewrite(owner, cur, c, i)
			return text, false, err
		}
		k := lastKey(cur, key)
		if k < 0 {
			if c.remove {
				return e.text, false, nil // comes from a merge, or is not there
			}
			text, err = e.insert(owner, cur, key, c, i)
			return text, false, err
		}
		if i == len(c.path)-1 && c.remove {
			text, err = e.remove(owner, cur, key)
			return text, false, err
		}
		owner, cur = cur.Content[k], cur.Content[k+1]
	}
	if users := e.users(cur); len(users) > 0 {
		text, err = e.free(cur, users)
		return text, true, err
	}
	text, err = e.replace(owner, cur, c.value)
	return text, false, err
}

func lastKey(m *yaml.Node, key string) int {
	for k := len(m.Content) - 2; k >= 0; k -= 2 {
		if name, ok := keyText(m.Content[k]); ok && name == key && !isMerge(m.Content[k]) {
			return k
		}
	}
	return -1
}

// users gives the aliases that point at a node.
func (e *editor) users(n *yaml.Node) []*yaml.Node {
	if n.Anchor == "" {
		return nil
	}
	var out []*yaml.Node
	var walk func(*yaml.Node)
	walk = func(x *yaml.Node) {
		if x.Kind == yaml.AliasNode && x.Alias == n {
			out = append(out, x)
		}
		for _, c := range x.Content {
			walk(c)
		}
	}
	walk(e.root)
	return out
}

// free writes an anchor's value in the place of each alias to it: they keep what they had when the anchor changes.
func (e *editor) free(n *yaml.Node, users []*yaml.Node) (string, error) {
	v, err := plain(n)
	if err != nil {
		return "", err
	}
	var all []splice
	for _, u := range users {
		from, err := e.start(u)
		if err != nil {
			return "", err
		}
		to, err := e.end(u)
		if err != nil {
			return "", err
		}
		all = append(all, splice{from, to, flow(v)})
	}
	return splices(e.text, all), nil
}

// rewrite replaces a value that cannot be entered (an alias, or no table) by one with the change made in it.
func (e *editor) rewrite(owner, n *yaml.Node, c change, depth int) (string, error) {
	v, err := plain(n)
	if err != nil {
		return "", err
	}
	rest := c
	rest.path = c.path[depth:]
	return e.replace(owner, n, apply(v, []change{rest}))
}

// replace writes a new value in the place of one.
func (e *editor) replace(owner, n *yaml.Node, v any) (string, error) {
	if owner == nil {
		return "", errPlace
	}
	_, colon, err := e.key(owner)
	if err != nil {
		return "", err
	}
	if empty(n) {
		if m, ok := v.(map[string]any); ok && len(m) > 0 {
			if indent, ok := e.ownLine(owner); ok {
				return e.insertBehind(colon, strings.TrimPrefix(block(m, indent+2, e.eol), e.eol)+e.eol), nil
			}
		}
		return splices(e.text, []splice{{colon, colon, " " + flow(v)}}), nil
	}
	if list, ok := v.([]any); ok && n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 {
		if text, err := e.list(owner, n, list); err == nil {
			return text, nil
		}
	}
	from, err := e.start(n)
	if err != nil {
		return "", err
	}
	if n.Anchor != "" { // nobody uses it any more, or ever did: it stays where it was
		if from, err = e.content(n); err != nil {
			return "", err
		}
	}
	to, err := e.end(n)
	if err != nil {
		return "", err
	}
	text := styled(v, n)
	if n.Kind != yaml.ScalarNode {
		text = flow(v)
	}
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		text += e.eol // the block's end is the beginning of the next line
	}
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		if n.Style&yaml.FlowStyle == 0 {
			from, text = colon, " "+text
		}
	}
	return splices(e.text, []splice{{from, to, text}}), nil
}

// ownLine gives the indentation of a key that begins its line.
func (e *editor) ownLine(key *yaml.Node) (int, bool) {
	off, err := e.start(key)
	if err != nil {
		return 0, false
	}
	return e.first(off)
}

// insertBehind puts whole lines behind the line of an offset.
func (e *editor) insertBehind(off int, lines string) string {
	at := off
	if off == 0 || e.text[off-1] != '\n' || e.lineStart(off) != off {
		at = e.lineEnd(off)
	}
	if at == len(e.text) && !strings.HasSuffix(e.text, "\n") {
		lines = e.eol + strings.TrimSuffix(lines, e.eol)
	}
	return e.text[:at] + lines + e.text[at:]
}

// insert adds a key to a table.
func (e *editor) insert(owner, m *yaml.Node, key string, c change, depth int) (string, error) {
	v := nest(c.path[depth+1:], c.value)
	if all, err := plain(m); err == nil { // what a merge brought in stays beside the change
		if old, ok := at(all, []string{key}); ok {
			v = apply(old, []change{{path: c.path[depth+1:], value: c.value}})
		}
	}
	if m.Style&yaml.FlowStyle != 0 {
		return e.insertFlow(m, word(key)+": "+flow(v))
	}
	if len(m.Content) == 0 {
		return "", errPlace
	}
	off, err := e.start(m.Content[0])
	if err != nil {
		return "", err
	}
	indent := off - e.lineStart(off)
	if m.Content[0].Column-1 != indent {
		return "", errPlace
	}
	end, err := e.end(m)
	if err != nil {
		return "", err
	}
	line := strings.Repeat(" ", indent) + word(key) + ":" + block(v, indent+2, e.eol) + e.eol
	return e.insertBehind(end, line), nil
}

func (e *editor) insertFlow(m *yaml.Node, entry string) (string, error) {
	end, err := e.end(m)
	if err != nil {
		return "", err
	}
	if len(m.Content) == 0 {
		return splices(e.text, []splice{{end - 1, end - 1, entry}}), nil
	}
	last, err := e.pairEnd(m, len(m.Content)-2)
	if err != nil {
		return "", err
	}
	return splices(e.text, []splice{{last, last, ", " + entry}}), nil
}

// pairEnd gives the offset behind the entry whose key is Content[k].
func (e *editor) pairEnd(m *yaml.Node, k int) (int, error) {
	if !empty(m.Content[k+1]) {
		return e.end(m.Content[k+1])
	}
	if _, colon, err := e.key(m.Content[k]); err == nil {
		return colon, nil
	}
	return e.end(m.Content[k])
}

// remove takes an entry out of a table.
func (e *editor) remove(owner, m *yaml.Node, key string) (string, error) {
	k := lastKey(m, key)
	from, err := e.start(m.Content[k])
	if err != nil {
		return "", err
	}
	to, err := e.pairEnd(m, k)
	if err != nil {
		return "", err
	}
	if m.Style&yaml.FlowStyle != 0 {
		switch {
		case k+2 < len(m.Content):
			if to, err = e.start(m.Content[k+2]); err != nil {
				return "", err
			}
		case k > 0:
			if from, err = e.pairEnd(m, k-2); err != nil {
				return "", err
			}
		}
		return splices(e.text, []splice{{from, to, ""}}), nil
	}
	if _, ok := e.first(from); !ok {
		return "", errPlace
	}
	from = e.lineStart(from)
	if to == 0 || e.lineStart(to) != to {
		to = e.lineEnd(to)
	}
	all := []splice{{from, to, ""}}
	if len(m.Content) == 2 && owner != nil {
		_, colon, err := e.key(owner)
		if err != nil {
			return "", err
		}
		all = append(all, splice{colon, colon, " {}"})
	}
	return splices(e.text, all), nil
}

// list changes a block list entry by entry: what stays keeps its line and its comment.
func (e *editor) list(owner, n *yaml.Node, want []any) (string, error) {
	old := make([]any, len(n.Content))
	for i, c := range n.Content {
		v, err := plain(c)
		if err != nil || len(e.users(c)) > 0 {
			return "", errPlace
		}
		old[i] = v
	}
	head := 0
	for head < len(old) && head < len(want) && reflect.DeepEqual(old[head], want[head]) {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(want)-head && reflect.DeepEqual(old[len(old)-1-tail], want[len(want)-1-tail]) {
		tail++
	}
	var all []splice
	place := -1
	for i := range n.Content {
		from, to, err := e.item(n, n.Content[i])
		if err != nil {
			return "", err
		}
		if i >= head && i < len(old)-tail {
			all = append(all, splice{from, to, ""})
		}
		if i == head {
			place = from
		}
		if i == len(n.Content)-1 && place < 0 {
			place = to
		}
	}
	var lines strings.Builder
	for _, v := range want[head : len(want)-tail] {
		lines.WriteString(strings.Repeat(" ", n.Column-1) + "- " + flow(v) + e.eol)
	}
	if len(want) == 0 {
		_, colon, err := e.key(owner)
		if err != nil {
			return "", err
		}
		return splices(e.text, append(all, splice{colon, colon, " []"})), nil
	}
	added := lines.String()
	if place == len(e.text) && !strings.HasSuffix(e.text, "\n") && added != "" {
		added = e.eol + strings.TrimSuffix(added, e.eol)
	}
	if len(all) > 0 && added != "" { // the first line that goes makes room for what comes
		first := slices.MinFunc(all, func(a, b splice) int { return a.from - b.from })
		for i := range all {
			if all[i] == first {
				all[i].text = added
			}
		}
	} else if added != "" {
		all = append(all, splice{place, place, added})
	}
	return splices(e.text, all), nil
}

// item gives the lines of a list's entry.
func (e *editor) item(n, c *yaml.Node) (from, to int, err error) {
	if empty(c) {
		return 0, 0, errPlace
	}
	off, err := e.start(c)
	if err != nil {
		return 0, 0, err
	}
	from = e.lineStart(off)
	indent := n.Column - 1
	if len(e.text) <= from+indent || e.text[from+indent] != '-' || strings.Trim(e.text[from:from+indent], " ") != "" {
		return 0, 0, errPlace
	}
	if to, err = e.end(c); err != nil {
		return 0, 0, err
	}
	if e.lineStart(to) != to {
		to = e.lineEnd(to)
	}
	return from, to, nil
}
