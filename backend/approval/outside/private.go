package outside

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long the pieces are that count, in characters: gram is what may never be put together again; shard is the shortest
// piece of a code that is known as one.
const (
	gram      = 8
	shard     = 4
	longCode  = 256     // longer ones (attachments) are known by their grams alone
	maxShards = 200_000 // beyond, shards would be everywhere; budget still counts
)

// hashes is a set of hashes that grows. It takes 8 bytes an entry, a third of what a map does.
type hashes struct {
	slots []uint64
	n     int
}

func (h *hashes) has(x uint64) bool {
	if h.n == 0 {
		return false
	}
	for i := x & uint64(len(h.slots)-1); ; i = (i + 1) & uint64(len(h.slots)-1) {
		if h.slots[i] == x {
			return true
		}
		if h.slots[i] == 0 {
			return false
		}
	}
}

func (h *hashes) add(x uint64) {
	if h.n*2 >= len(h.slots) {
		old := h.slots
		h.slots, h.n = make([]uint64, max(1024, 2*len(old))), 0
		for _, o := range old {
			if o != 0 {
				h.add(o)
			}
		}
	}
	i := x & uint64(len(h.slots)-1)
	for ; h.slots[i] != 0; i = (i + 1) & uint64(len(h.slots)-1) {
		if h.slots[i] == x {
			return
		}
	}
	h.slots[i] = x
	h.n++
}

// hashOf mixes characters to a hash that is never 0.
func hashOf(rs []rune) uint64 {
	x := uint64(14695981039346656037)
	for _, r := range rs {
		x = (x ^ uint64(r)) * 1099511628211
		x ^= x >> 29
	}
	return x | 1
}

// token is a word, a number or a code in a text.
type token struct {
	raw   string // as it stands
	plain []rune // lower case, without accents, look-alikes read as what they look like
	kind  kind
	start int // bytes in the text
}

type kind uint8

const (
	letters kind = iota
	digits
	mixed
)

// datesAndTimes say when something is, which does not count as a piece of it.
var datesAndTimes = regexp.MustCompile(`\b(?:19|20)\d\d([-/.])(?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?:[T ]\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b(?:0?[1-9]|[12]\d|3[01])[./](?:0?[1-9]|1[0-2])[./](?:19|20)\d\d\b|\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\b`)

// tokens reads a text. What nobody sees joins, everything else that is no letter and no figure separates; a point between
// figures belongs to the number.
func tokens(text string, each func(token)) {
	start, kinds := -1, 0
	var plain []rune
	end := func(at int) {
		if start < 0 {
			return
		}
		if len(plain) > 0 {
			each(token{raw: text[start:at], plain: plain, kind: [...]kind{letters, letters, digits, mixed}[kinds], start: start})
		}
		start, kinds, plain = -1, 0, nil
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case 'a' <= r && r <= 'z':
			plain, kinds = append(plain, r), kinds|1
		case 'A' <= r && r <= 'Z':
			plain, kinds = append(plain, r+'a'-'A'), kinds|1
		case '0' <= r && r <= '9':
			plain, kinds = append(plain, r), kinds|2
		case r >= utf8.RuneSelf && (unicode.IsMark(r) || isHidden(r) && r != utf8.RuneError): // joins
			i += size
			continue
		case (r == '.' || r == ',') && kinds == 2 && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9':
			i++
			continue
		default:
			p := ""
			if r >= utf8.RuneSelf {
				p = plainRune(r)
			}
			if p == "" {
				end(i)
				i += size
				continue
			}
			for _, q := range p {
				if '0' <= q && q <= '9' {
					kinds |= 2
				} else {
					kinds |= 1
				}
				plain = append(plain, q)
			}
		}
		if start < 0 {
			start = i
		}
		i += size
	}
	end(len(text))
}

// private is what is known of the person's results: their pieces, as hashes. It holds no text.
type private struct {
	words  *lexicon
	grams  hashes // of every run of what is not common
	shards hashes // of codes
	names  hashes // words that are not common, as a whole
	any    bool
}

// add takes in a text that has been unescaped.
func (p *private) add(text string) {
	text = datesAndTimes.ReplaceAllString(text, " the ") // a common word, so that nothing reaches across
	var run, code []rune
	endCode := func() {
		if len(code) >= gram && len(code) <= longCode {
			for i := 0; i+shard <= len(code) && p.shards.n < maxShards; i++ {
				p.shards.add(hashOf(code[i : i+shard]))
			}
		}
		code = code[:0]
	}
	flush := func() {
		for i := 0; i+gram <= len(run); i++ {
			p.grams.add(hashOf(run[i : i+gram]))
		}
		run = run[:0]
	}
	tokens(text, func(t token) {
		p.any = true
		w := string(t.plain)
		if t.kind == letters && len(t.plain) > 1 && p.words.isCommon(w) {
			flush()
			endCode()
			return
		}
		run = append(run, t.plain...)
		if len(run) > 1<<16 {
			flush()
		}
		if t.kind == letters && len(t.plain) >= 3 {
			p.names.add(hashOf(t.plain))
		}
		if t.kind == letters && p.words.isWord(w) {
			endCode()
			return
		}
		code = append(code, t.plain...)
	})
	flush()
	endCode()
}

// holdsShards tells whether a token is a piece of the person's codes: of a run of eight characters or more that reads like
// no word. A word can be a piece turned like those that reads finds.
func (p *private) holdsShards(t token) bool {
	ways := 1.0
	if t.kind == letters {
		ways = 2 * alphabet
	}
	if !p.likely(len(t.plain), 26, ways) {
		return false
	}
	if p.allShards(t.plain) {
		return true
	}
	if t.kind != letters {
		back := slices.Clone(t.plain)
		slices.Reverse(back)
		return p.allShards(back)
	}
	for turned := range turns(t.plain) {
		if p.allShards(turned) {
			return true
		}
	}
	return false
}

// holdsDecoded tells whether letters that could be a word are base64 or base32 of a piece of the person's codes, wherever in
// it the piece begins.
func (p *private) holdsDecoded(raw string) bool {
	if len(raw) < 3 || len(raw) > longCode || p.shards.n == 0 {
		return false
	}
	for offset := range 8 {
		for _, d := range []struct {
			group  int
			decode func(string) ([]byte, error)
			text   string
		}{{4, base64.RawStdEncoding.DecodeString, raw}, {8, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString, strings.ToUpper(raw)}} {
			if offset >= d.group || offset > 0 && offset > len(d.text)-4 {
				continue
			}
			text := d.text[offset:]
			for cut := 0; cut < 3 && cut < len(text); cut++ { // not every length is one of an encoding
				got, err := d.decode(text[:len(text)-cut])
				if err != nil {
					continue
				}
				var plain []rune
				tokens(string(got), func(t token) { plain = append(plain, t.plain...) })
				if len(plain) >= len(got)-1 && p.likely(len(plain), 26, 32) && p.allShards(plain) || p.holdsPacked(got) {
					return true
				}
				break
			}
		}
	}
	return false
}

// likely tells whether finding all shards of n characters in the person's codes says anything: many codes hold those of any
// short token by chance, the more so the fewer characters there are to choose from and the more ways they are read.
func (p *private) likely(n int, among, ways float64) bool {
	windows := float64(n - shard + 1)
	return windows >= 1 && p.shards.n > 0 && ways*math.Pow(float64(p.shards.n)/math.Pow(among, shard), windows) <= 0.03
}

// holdsPacked tells whether bytes are a code of base sixteen, two of its figures a byte. The last figure may be there to fill
// the byte.
func (p *private) holdsPacked(got []byte) bool {
	figures := []rune(hex.EncodeToString(got))
	if !p.likely(len(figures)-1, 16, 32) {
		return false
	}
	return p.allShards(figures) || len(figures) > shard && p.allShards(figures[:len(figures)-1])
}

func (p *private) allShards(plain []rune) bool {
	if len(plain) < shard {
		return false
	}
	for i := 0; i+shard <= len(plain); i++ {
		if !p.shards.has(hashOf(plain[i : i+shard])) {
			return false
		}
	}
	return true
}

// alphabet is how many ways there are to move letters along it or to mirror them in it.
const alphabet = 27

// turns gives the ways to turn a run: each move of its letters along the alphabet and their mirror, forwards and backwards.
// The slice is used again for the next.
func turns(run []rune) iter.Seq[[]rune] {
	return func(yield func([]rune) bool) {
		buf := make([]rune, len(run))
		for shift := range rune(alphabet) {
			for i, r := range run {
				if 'a' <= r && r <= 'z' {
					if r = 'a' + (r-'a'+shift)%26; shift == 26 {
						r = 'z' - (run[i] - 'a')
					}
				}
				buf[i] = r
			}
			if !yield(buf) {
				return
			}
			slices.Reverse(buf)
			if !yield(buf) {
				return
			}
		}
	}
}

// reads gives the longest piece of the person's results in a run of characters, however it was turned: backwards, with its
// letters moved along the alphabet or mirrored in it; "" for none of eight characters.
func (p *private) reads(run []rune) string {
	if len(run) < gram || p.grams.n == 0 {
		return ""
	}
	for turned := range turns(run) {
		if s := p.longest(turned); s != "" {
			return s
		}
	}
	return ""
}

func (p *private) longest(run []rune) string {
	best, from, n := "", 0, 0
	for i := 0; i+gram <= len(run); i++ {
		if !p.grams.has(hashOf(run[i : i+gram])) {
			n = 0
			continue
		}
		if n == 0 {
			from = i
		}
		if n++; n+gram-1 > utf8.RuneCountInString(best) {
			best = string(run[from : i+gram])
		}
	}
	return best
}

// unescaped reads what JSON and HTML write as codes, so that the same text is the same whatever it was kept in.
func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'n', 'r', 't', 'b', 'f':
				b.WriteByte(' ')
				i += 2
				continue
			case '/', '"', '\\':
				b.WriteByte(s[i+1])
				i += 2
				continue
			}
		}
		if s[i] == '\\' || s[i] == '&' {
			if r, size := coded(s[i:]); size > 0 {
				b.WriteRune(r)
				i += size
				continue
			}
			if strings.HasPrefix(s[i:], "&amp;") {
				b.WriteByte('&')
				i += len("&amp;")
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
