// Package trash finds the way of deleting that can be taken back: for a delete-for-good tool the same app's trash version,
// and for a trash tool the way back (§10 "Trash instead of delete").
//
// It promises that a swap never does more than the call would have done, that it keeps the call's arguments as they are,
// and that a person who asks for a deletion for good gets one. It decides by names, schemas and the person's own words
// alone. It does not swap calls itself, nor does it know rules: the gate does, and says what is hidden.
//
// Pure. The gate and the timeline import it.
package trash

import (
	"encoding/json"
	"slices"

	"sentient/backend/approval/preview"
	"sentient/backend/tool"
)

// Note is told with the result of a call that was swapped.
const Note = "Moved to the trash instead of deleting it for good, so it can be restored."

// Options are what a swap depends on beside the call.
type Options struct {
	Words  []string              // the person's own words in this run, oldest first
	Hidden func(*tool.Tool) bool // a rule hides a tool; nil: none is hidden
}

// fillers are words of a name that say how a thing is deleted or brought back, not which thing it is.
var fillers = map[string]bool{"soft": true, "hard": true, "permanently": true, "permanent": true, "forever": true, "move": true, "to": true,
	"from": true, "out": true, "of": true, "the": true, "bin": true, "put": true, "in": true, "into": true}

// verbs are those that a delete, its trash version and its way back differ in.
var verbs = map[string]bool{"delete": true, "remove": true, "erase": true, "destroy": true, "purge": true, "trash": true, "recycle": true,
	"restore": true, "untrash": true, "recover": true, "undelete": true, "unarchive": true}

// Swap gives the trash version of a delete-for-good tool, when the same plugin has one for the same thing that takes the
// call's arguments, and the person did not ask for a deletion for good.
func Swap(name string, args json.RawMessage, p *tool.Plugin, o Options) (*tool.Tool, bool) {
	words := preview.Words(name)
	if p == nil || !preview.Deletes(words) || AskedForGood(o.Words) {
		return nil, false
	}
	for _, t := range p.Tools {
		if t == nil || t.Risk <= tool.Read || !preview.Trashes(preview.Words(t.Name)) || !sameThing(words, t) || o.Hidden != nil && o.Hidden(t) {
			continue
		}
		if takes(t, args) {
			return t, true
		}
	}
	return nil, false
}

// WayBack gives the plugin's tool that brings back what a trash tool moved; nil when it has none.
func WayBack(name string, p *tool.Plugin) *tool.Tool {
	words := preview.Words(name)
	if p == nil || !preview.Trashes(words) {
		return nil
	}
	for _, t := range p.Tools {
		if t != nil && t.Risk > tool.Read && preview.Restores(preview.Words(t.Name)) && sameThing(words, t) {
			return t
		}
	}
	return nil
}

func sameThing(words []string, t *tool.Tool) bool {
	return slices.Equal(thing(words), thing(preview.Words(t.Name)))
}

// thing gives the words of a name that say what is acted on, in one order.
func thing(words []string) []string {
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return fillers[w] || verbs[w] })
	slices.Sort(left)
	return left
}

// takes reports whether a tool takes a call's arguments as they are: it knows each and misses none. One that it does not
// know would be lost, and with it perhaps what the call was about.
func takes(t *tool.Tool, args json.RawMessage) bool {
	prepared, err := t.Prepare(args)
	if err != nil {
		return false
	}
	var given map[string]json.RawMessage
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(prepared, &given) != nil || json.Unmarshal(t.Parameters, &schema) != nil {
		return false
	}
	for key := range given {
		if _, known := schema.Properties[key]; !known {
			return false
		}
	}
	return true
}
