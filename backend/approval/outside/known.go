package outside

import (
	"math"
	"slices"
	"strings"
)

// known is what explains a piece of an address: the person said it, or what is public did.
type known struct {
	words     *lexicon
	user      hashes // what the person's own messages hold
	public    hashes // what public results and other people's messages hold, of four characters or more
	codes     int    // how many of those are codes
	addresses hashes // whole addresses that stand somewhere
	typed     hashes // those that the person wrote
	sites     hashes // domains that stand somewhere
	scripts   hashes // letters beyond ASCII that the person uses
}

// hear takes in what the person wrote.
func (k *known) hear(text string) {
	text = unescaped(text)
	tokens(text, func(t token) {
		k.user.add(hashOf(t.plain))
		for _, r := range t.plain {
			if r >= 0x80 {
				k.scripts.add(hashOf([]rune{r >> 7}))
			}
		}
	})
	k.find(text, &k.typed)
}

// learn takes in what is public.
func (k *known) learn(text string) {
	tokens(text, func(t token) {
		if h := hashOf(t.plain); len(t.plain) >= shard && len(t.plain) <= longCode && !k.public.has(h) {
			k.public.add(h)
			if t.kind != letters || !k.words.isWord(string(t.plain)) {
				k.codes++
			}
		}
	})
}

// find remembers the whole addresses in a text. An address counts where it stands between blanks, quotes or brackets: the
// beginning of a longer one is another address.
func (k *known) find(text string, also *hashes) {
	for len(text) > 0 {
		i := strings.IndexAny(text, addressEnds)
		chunk := text
		if i >= 0 {
			chunk, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if strings.IndexByte(chunk, '.') < 0 || len(chunk) < 4 || len(chunk) > longest {
			continue
		}
		k.findIn(chunk, also)
	}
}

const addressEnds = " \t\r\n\"'<>`|{}[]"

func (k *known) findIn(chunk string, also *hashes) {
	if at := strings.LastIndexByte(chunk, '@'); at >= 0 && !strings.Contains(chunk, "://") {
		if h := Host(strings.Trim(chunk[at+1:], ".,;:!?()*_")); h != "" {
			k.sites.add(hashOf([]rune(site(h))))
		}
		return
	}
	if i := strings.Index(strings.ToLower(chunk), "http"); i > 0 && strings.Contains(chunk, "://") {
		chunk = chunk[i:]
	}
	chunk = strings.TrimLeft(chunk, "(*_,;:")
	forms := []string{chunk, strings.TrimRight(chunk, ".,;:!?)*_")}
	if i := strings.IndexByte(chunk, ')'); i > 0 {
		forms = append(forms, chunk[:i])
	}
	for _, f := range forms {
		u := parse(f)
		if u == nil || !strings.Contains(u.Host, ".") {
			continue
		}
		c := canonical(u)
		if c == "" {
			continue
		}
		h := hashOf([]rune(c))
		k.addresses.add(h)
		if also != nil {
			also.add(h)
		}
		k.sites.add(hashOf([]rune(site(hostOf(u)))))
	}
}

// pick gives the bits that choosing one of the codes that stand in public results can say.
func (k *known) pick() float64 { return math.Log2(1 + float64(k.codes)) }

// explains tells whether the person said a token, in the singular or the plural, or what is public holds it as a word.
func (k *known) explains(t token) bool {
	h := hashOf(t.plain)
	n := len(t.plain)
	if n >= 2 && k.user.has(h) {
		return true
	}
	if t.kind == letters && n > 2 && (k.user.has(hashOf(append(slices.Clone(t.plain), 's'))) || t.plain[n-1] == 's' && k.user.has(hashOf(t.plain[:n-1]))) {
		return true
	}
	return n > shard && t.kind == letters && k.public.has(h)
}
