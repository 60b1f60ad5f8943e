package look

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// person is somebody the person's words name: one name, or a first and further ones.
type person struct {
	names []string // folded
	typed string
	asked string // how the words ask for it: "email"; "" when they only speak of the person
}

// word is a piece of a text: a word, or a sign that matters here.
var word = regexp.MustCompile(`[\pL\pM][\pL\pM'’-]*|[.!?\n,;:&]`)

// askedTo tell whom something goes to, with how to say it: the word before a name.
var askedTo = map[string]string{"email": "email", "mail": "email", "message": "message", "dm": "message", "text": "text", "tell": "tell", "ask": "ask",
	"invite": "invite", "call": "call", "ping": "ping", "notify": "notify", "inform": "inform", "remind": "remind", "thank": "thank", "cc": "copy in", "bcc": "copy in",
	"answer": "answer", "to": "write to", "contact": "contact", "send": "send this to", "forward": "forward this to", "write": "write to", "nudge": "nudge"}

// toAs says what "to" means behind a verb: reply to, send … to.
var toAs = map[string]string{"reply": "reply to", "respond": "reply to", "send": "send this to", "forward": "forward this to", "email": "email", "mail": "email",
	"message": "message", "invite": "invite", "share": "share this with", "pay": "pay", "transfer": "pay"}

// articles come after a name that stands behind "send": "send arjun the report".
var articles = map[string]bool{"the": true, "a": true, "an": true, "my": true, "this": true, "that": true, "our": true, "your": true}

// personsIn gives whom a text names: words behind one that says to whom ("email arjun"), and capital words inside a
// sentence. The words of everyday speech and the names of mailboxes (info, support) are nobody's name: an address made of
// them must be given in full.
func personsIn(text string) []person {
	var out []person
	text = titles.ReplaceAllString(text, "")
	var words []string
	var partly []bool // it is only a piece of an address or a link
	for _, at := range word.FindAllStringIndex(text, -1) {
		words = append(words, text[at[0]:at[1]])
		partly = append(partly, unicode.IsLetter(first(text[at[0]:])) && (at[0] > 0 && strings.IndexByte("@/_", text[at[0]-1]) >= 0 || at[1] < len(text) && strings.IndexByte("@/_", text[at[1]]) >= 0))
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if partly[i] || !isName(w) {
			continue
		}
		asked, weak := cue(words, i, out)
		capital := isCapital(w)
		inside := i > 0 && !strings.ContainsAny(words[i-1], ".!?\n:")
		if asked == "" && !(capital && inside) || !capital && weak && (i+1 >= len(words) || !articles[fold(words[i+1])]) {
			continue
		}
		p := person{names: []string{nameForm(w)}, typed: bare(w), asked: asked}
		for capital && i+1 < len(words) && isCapital(words[i+1]) && isName(words[i+1]) && len(p.names) < 4 {
			i++
			p.names = append(p.names, nameForm(words[i]))
			p.typed += " " + bare(words[i])
		}
		out = append(out, p)
	}
	return out
}

// cue gives how the words before a name ask for it; weak when they only do with an article behind the name.
func cue(words []string, i int, before []person) (asked string, weak bool) {
	if i == 0 {
		return "", false
	}
	prev := fold(words[i-1])
	switch {
	case prev == "to":
		for back := i - 2; back >= max(0, i-9) && !strings.ContainsAny(words[back], ".!?\n;"); back-- {
			if as := toAs[fold(words[back])]; as != "" {
				return as, false
			}
		}
		return askedTo["to"], !isCapital(words[i])
	case (prev == "and" || prev == "," || prev == "&" || prev == "or") && i > 1 && len(before) > 0:
		last := before[len(before)-1]
		if last.asked != "" && strings.HasSuffix(last.typed, bare(words[i-2])) {
			return last.asked, false
		}
	}
	return askedTo[prev], prev == "send" || prev == "forward"
}

func first(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }

func isCapital(w string) bool { return unicode.IsUpper(first(w)) }

// bare takes a possessive ending off a name.
func bare(w string) string {
	for _, end := range []string{"'s", "’s", "'", "’"} {
		w = strings.TrimSuffix(w, end)
	}
	return w
}

// titles stand before a name and end no sentence.
var titles = regexp.MustCompile(`(?i)\b(?:dr|mr|mrs|ms|prof|st)\.\s*`)

func isName(w string) bool {
	name := nameForm(w)
	if strings.HasPrefix(fold(w), "i'") {
		return false // I'm, I'll
	}
	return len(name) >= 2 && !everyday[name] && !askedName(name)
}

func askedName(w string) bool { return askedTo[w] != "" || toAs[w] != "" }

// nameForm gives a name without case and accents, for the plain letters of an address.
func nameForm(w string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == '\'' || r == '-' {
			return -1
		}
		return r
	}, decompose(fold(bare(w))))
}

// named reports whether an address belongs to the person by its name: a part of it before the @ is the name, and no other
// part contradicts a surname that was given. Only plain letters are read: a look-alike is nobody's name.
func (p person) named(address string) bool {
	at := strings.LastIndex(address, "@")
	if at <= 0 || !ascii(address) || strings.Count(address, "@") != 1 || strings.Contains(address, "%") {
		return false
	}
	var parts []string
	for _, part := range strings.FieldsFunc(strings.ToLower(address[:at]), func(r rune) bool { return strings.ContainsRune("._-+", r) }) {
		if part = strings.TrimRight(part, "0123456789"); part != "" {
			parts = append(parts, part)
		}
	}
	if len(p.names) == 0 || len(parts) == 0 {
		return false
	}
	given, last := p.names[0], p.names[len(p.names)-1]
	if len(p.names) == 1 {
		return slices.Contains(parts, given)
	}
	joined := strings.Join(parts, "")
	if slices.Contains([]string{given + last, last + given, given[:1] + last, given + last[:1]}, joined) {
		return true
	}
	hit := false
	for _, part := range parts {
		isOne := slices.Contains(p.names, part)
		isInitial := len(part) == 1 && slices.ContainsFunc(p.names, func(n string) bool { return n[:1] == part })
		if !isOne && !isInitial {
			return false
		}
		hit = hit || isOne
	}
	return hit
}

// persons gives whom the person's words name, newest message first, and the person's own name.
func (c *check) people() []person {
	if c.persons == nil {
		c.persons = []person{}
		texts := append(slices.Clone(c.Trusted), own(c.Evidence)...)
		for i := len(texts) - 1; i >= 0; i-- {
			c.persons = append(c.persons, personsIn(texts[i])...)
		}
		if names := strings.Fields(c.UserName); len(names) > 0 {
			p := person{typed: c.UserName}
			for _, n := range names {
				if n = nameForm(n); len(n) >= 2 {
					p.names = append(p.names, n)
				}
			}
			c.persons = append(c.persons, p)
		}
	}
	return c.persons
}
