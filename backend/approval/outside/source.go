package outside

import (
	"bytes"
	"encoding/json"
	"strings"

	"sentient/backend/tool"
)

// Source tells where the outside content of a result came from, for people; "" for a result that holds none. The tool's
// own word for this call comes first, then its app, then the result's: one whose first key is "outside_content" says so
// itself (§10).
func Source(t *tool.Tool, p *tool.Plugin, args, result json.RawMessage) string {
	if t.OutsideFrom != nil {
		if s := line(t.OutsideFrom(args), maxSource); s != "" {
			return s
		}
	}
	if t.BringsOutside(p) {
		return p.Name
	}
	return ownWord(result)
}

// ownWord gives what a result's first key says about where it came from. A name that cannot be read still marks it.
func ownWord(result json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(result))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	if key, err := d.Token(); err != nil || key != "outside_content" {
		return ""
	}
	value, err := d.Token()
	if s, ok := value.(string); err == nil && ok {
		if s = line(s, maxSource); s != "" {
			return s
		}
		return "outside"
	}
	return ""
}

// GroupSource names someone who wrote in a group chat (§10 "Group chats"): their name is cleaned, at most 40 characters.
func GroupSource(sender string) string {
	name := strings.Map(func(r rune) rune {
		if opens, closes := bracket(r); opens || closes {
			return ' '
		}
		return r
	}, unmarked(line(sender, 400)))
	if name = line(name, 40); name == "" {
		return "another group member"
	}
	return "another group member (" + name + ")"
}
