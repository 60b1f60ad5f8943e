package outside

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

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

// SavedSource tells where what a file under files/ holds came from: the rest of a long result, a download; "" for the
// person's own (§10). However the name is written, the same file has the same source.
func SavedSource(name string) string {
	return map[string]string{"outputs": "a saved tool result", "downloads": "a downloaded file"}[folder(name)]
}

// AttachmentSource tells what an attachment shows that someone else may have written: the screen, text selected in another
// app; "" for other uploads (§10).
func AttachmentSource(name string) string {
	return map[string]string{"screens": "your screen", "selections": "another app"}[folder(name)]
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

// folder gives the folder right under files/ that a name is in, in lower case.
func folder(name string) string {
	name = strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		if r == '\\' {
			return '/'
		}
		return r
	}, strings.ToLower(norm.NFKC.String(name)))
	name = strings.TrimPrefix(path.Clean("/"+strings.TrimSpace(name)), "/")
	if i := strings.LastIndex("/"+name, "/files/"); i >= 0 {
		name = ("/" + name)[i+len("/files/"):]
	}
	first, _, _ := strings.Cut(name, "/")
	return strings.TrimRight(first, ". ") // Windows opens a name without these
}
