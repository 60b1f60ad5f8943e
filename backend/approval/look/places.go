package look

import (
	"fmt"
	"regexp"
	"strings"

	"sentient/backend/approval/evidence"
	"sentient/backend/approval/preview"
)

// place is where in outside content something stands, in words for people: "Web", "the text of an email from …".
type place struct {
	words  string
	sender bool // it is the sender of a message
}

// outside is what outside content names, and where first.
type outside struct {
	any      bool // there is some
	named    map[string]place
	senders  map[string]bool     // addresses that messages came from
	houses   map[string]bool     // their hosts
	display  map[string][]string // the names that senders gave themselves
	phones   map[string]place
	hosts    map[string]place
	links    map[string]place
	squashed []squashed
	searched int // in squashed
}

type squashed struct {
	text  string
	place place
}

// maxSearches bounds how often the whole of the outside content is searched for one address; what is beyond it counts as
// named there.
const maxSearches = 40

// readPlaces reads outside content (`read_places`): what of it is a message's sender, a header line or text. Results are
// read as JSON; what a member of a group or another app put into the chat is all text.
func readPlaces(e *evidence.Evidence) *outside {
	o := &outside{named: map[string]place{}, senders: map[string]bool{}, houses: map[string]bool{}, display: map[string][]string{}, phones: map[string]place{},
		hosts: map[string]place{}, links: map[string]place{}}
	for _, r := range e.Results {
		if !fromOutside(r) {
			continue
		}
		o.any = true
		source := oneLine(sourceOf(r), maxSource)
		if value, ok := readJSON([]byte(r.Text)); ok {
			o.value(value, source)
		} else {
			o.unread(r.Text, source)
		}
	}
	for _, p := range e.Others {
		o.any = true
		o.text(p.Text, place{words: oneLine(p.Source, maxSource)})
	}
	return o
}

const maxSource = 120 // characters of a source or a sender in a warning

// holders are members whose objects are messages of their own, not a part of the message that they stand in. A sender
// lets a name vouch for an address, so only these few are read so.
var holders = map[string]bool{"messages": true, "emails": true, "items": true, "threads": true, "thread": true, "results": true, "replies": true, "value": true, "data": true}

var headers = map[string]string{"to": "To", "cc": "Cc", "bcc": "Bcc", "reply_to": "Reply-To"}

func (o *outside) value(value any, source string) {
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			o.value(inner, source)
		}
	case map[string]any:
		if from, ok := senderOf(v); ok {
			o.message(v, from, source)
			return
		}
		for key, inner := range v {
			o.text(key, place{words: source})
			o.value(inner, source)
		}
	default:
		for _, text := range texts(value) {
			o.text(text, place{words: source})
		}
	}
}

// message reads an item that is a mail: its sender, its header lines, and all else as its text.
func (o *outside) message(item map[string]any, from sender, source string) {
	app := source
	if source != "" {
		source = " (" + source + ")"
	}
	of := "an email from " + oneLine(from.shown, maxSource) + source
	o.sender(from, of)
	for key, inner := range item {
		name := strings.Join(preview.Words(key), "_")
		at := place{words: "the text of " + of}
		switch {
		case key == from.key:
			continue
		case headers[name] != "":
			at.words = "the " + headers[name] + " line of " + of
		case holders[name]:
			if _, isText := inner.(string); !isText {
				o.value(inner, app)
				continue
			}
		}
		o.text(key, at)
		for _, text := range texts(inner) {
			o.text(text, at)
		}
	}
}

// texts gives every text below a value, keys included.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, inner := range v {
			out = append(out, texts(inner)...)
		}
		return out
	case map[string]any:
		var out []string
		for key, inner := range v {
			out = append(append(out, key), texts(inner)...)
		}
		return out
	case nil, bool:
		return nil
	}
	return []string{fmt.Sprint(value)}
}

// sender is who a message says it came from.
type sender struct {
	key     string // the member that says so
	shown   string
	address string
	name    string
	rest    []string // other addresses in it, which are not the sender
}

func senderOf(item map[string]any) (sender, bool) {
	isMessage := false
	for _, key := range []string{"subject", "body", "snippet", "to"} {
		_, has := item[key]
		isMessage = isMessage || has
	}
	for _, key := range []string{"from", "sender_email"} {
		if value, has := item[key]; has && isMessage {
			if s, ok := parseSender(strings.Join(texts(value), " ")); ok {
				s.key = key
				return s, true
			}
			if o, ok := value.(map[string]any); ok {
				if s, ok := parsePerson(o); ok {
					s.key = key
					return s, true
				}
			}
		}
	}
	return sender{}, false
}

// parsePerson reads a sender that is an object of its own: {"name": …, "email": …}.
func parsePerson(o map[string]any) (sender, bool) {
	if inner, ok := o["emailAddress"].(map[string]any); ok {
		o = inner
	}
	name, _ := o["name"].(string)
	for _, key := range []string{"email", "address"} {
		if address, ok := o[key].(string); ok {
			return parseSender(strings.Map(func(r rune) rune {
				if r == '<' || r == '>' {
					return ' '
				}
				return r
			}, name) + " <" + address + ">")
		}
	}
	return sender{}, false
}

// angled is the address at the end of "Name <address>".
var angled = regexp.MustCompile(`^([^<>]*)<\s*([^<>\s]+)\s*>\s*$`)

// parseSender reads "Name <address>" or an address. Of several addresses only the one in angle brackets at the end is the
// sender: the name before it is free text.
func parseSender(text string) (sender, bool) {
	if m := angled.FindStringSubmatch(text); m != nil && len(addressesIn(m[2])) == 1 {
		s := sender{shown: strings.TrimSpace(text), address: same(m[2]), name: strings.Trim(strings.TrimSpace(m[1]), `"`)}
		s.rest = addressInText(m[1])
		return s, true
	}
	if all := addressesIn(text); len(all) == 1 && !all[0].phone && strings.TrimSpace(text) == all[0].raw {
		return sender{shown: all[0].raw, address: same(all[0].raw)}, true
	}
	return sender{}, false
}

func (o *outside) sender(s sender, of string) {
	o.senders[s.address] = true
	o.houses[hostForm(domain(s.address))] = true
	if s.name != "" {
		o.display[s.address] = append(o.display[s.address], s.name)
	}
	if _, has := o.named[s.address]; !has {
		o.named[s.address] = place{words: of, sender: true}
	}
	if len(s.rest) > 0 {
		o.text(s.name, place{words: of})
	}
}

// fromValue finds the senders in JSON that was cut for length.
var fromValue = regexp.MustCompile(`"from"\s*:\s*"((?:[^"\\]|\\.){0,400})"`)

// unread reads what is no whole JSON. Only in JSON that was cut are there senders: in a page anyone can write "from".
func (o *outside) unread(text, source string) {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		text = fromValue.ReplaceAllStringFunc(text, func(match string) string {
			value, ok := readJSON([]byte("{" + match + "}"))
			if !ok {
				return match
			}
			from, _ := value.(map[string]any)["from"].(string)
			s, ok := parseSender(from)
			if !ok {
				return match
			}
			o.sender(s, "an email from "+oneLine(s.shown, maxSource)+" ("+source+")")
			return " "
		})
	}
	o.text(text, place{words: source})
}

// text takes what a text names, in every spelling.
func (o *outside) text(text string, at place) {
	if text == "" {
		return
	}
	spellings := append([]string{text, fold(text)}, decoded(text)...)
	for i, s := range spellings {
		if i == 1 && s == text {
			continue
		}
		for _, a := range addressInText(s) {
			if p, has := o.named[a]; !has || p.sender {
				o.named[a] = at
			}
		}
		for _, p := range phonesIn(s) {
			keep(o.phones, ending(p), at)
		}
		for _, l := range linksIn(s) {
			keep(o.hosts, l.host, at)
			keep(o.links, l.form, at)
		}
	}
	for i, s := range append([]string{text}, decoded(text)...) {
		if s = squash(s); s != "" && (i == 0 || s != squash(text)) {
			o.squashed = append(o.squashed, squashed{s, at})
		}
	}
}

func keep(in map[string]place, key string, at place) {
	if _, has := in[key]; !has {
		in[key] = at
	}
}

// find gives where outside content names an address in any spelling, other than as a sender where it does both.
func (o *outside) find(address string) (place, bool) {
	at, has := o.named[same(address)]
	if has && !at.sender {
		return at, true
	}
	if f, ok := o.named[fold(address)]; ok && !f.sender {
		return f, true
	}
	if o.searched++; o.searched > maxSearches {
		return place{}, o.any
	}
	if want := squash(address); want != "" {
		for _, s := range o.squashed {
			if strings.Contains(s.text, want) {
				return s.place, true
			}
		}
	}
	return at, has
}
