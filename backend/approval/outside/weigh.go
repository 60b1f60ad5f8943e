package outside

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// budget is how much what addresses say beyond what is known may add up to, in bits. Eight figures of base sixteen, the least
// that eight characters of a code can be, are 32; what is below that is for pieces that look like less than they are.
const budget = 28

// Bits that a character can say.
const (
	digitBits  = 3.33
	letterBits = 4.71
	hexBits    = 4
	alnumBits  = 5.18
	caseBits   = 5.96
	shortBits  = 7 // one of the known words of two letters
	pieceBits  = 4 // one that is a piece of something private: eight make the budget
	signBits   = 1.6
)

// weight is what one address adds.
type weight struct {
	codes float64 // bits of what reads like a code, or is a piece of one
	names float64 // bits of words that are the person's
	said  []said  // each token in its place
	piece string  // the token that weighs most
	most  float64
	tails map[string][]rune // what each stream gains
}

// said is a token in its place; a later address that says the same there adds little.
type said struct {
	column string
	hash   uint64
	plain  []rune
}

func (w *weight) add(t token, codes, names float64) {
	w.codes += codes
	w.names += names
	if codes+names > w.most {
		w.most, w.piece = codes+names, t.raw
	}
}

// weigh reads the parts of an address, given what its site was told before.
func (v *Values) weigh(parts []part, l *ledger, knownSite bool) weight {
	w := weight{tails: map[string][]rune{}}
	for _, p := range parts {
		w.codes += p.odd
		w.codes += v.signs(p.text)
		text := datesAndTimes.ReplaceAllStringFunc(p.text, func(d string) string {
			w.codes += dateBits
			return strings.Repeat(" ", len(d))
		})
		site := 0.0 // what the site's own name says
		var before token
		beforeCodes := 0.0
		spelled := v.spells(text)
		tokens(text, func(t token) {
			if knownSite && p.column == "s" {
				return
			}
			codes, names := v.token(p.column, t, before)
			if p.column == "s" {
				codes = min(codes, max(0, 8-site)) // a name must have been registered before
				site += codes
			}
			codes, names = l.again(p.column, t, codes, names)
			if t.kind == letters && v.vocab[hashOf(t.plain)] {
				codes = min(codes, 2)
			}
			if _, ok := spelling[string(t.plain)]; ok && spelled && len(t.plain) > 1 && !v.known.explains(t) {
				codes = max(codes, hexBits)
			}
			if codes > 2*hexBits && t.kind != digits && t.start > 0 && strings.IndexByte("-_+/=", text[t.start-1]) >= 0 && (t.start == 1 || strings.IndexByte("-_+/=", text[t.start-2]) >= 0 || beforeCodes > 0) {
				codes += hexBits // a sign of base64
			}
			beforeCodes = codes
			w.add(t, codes, names)
			w.said = append(w.said, said{p.column, hashOf(t.plain), t.plain})
			v.stream(&w, p.column, t)
			before = t
		})
	}
	return w
}

// spells tells whether a part can be spelled out: it is one word that stands for a character, or has two in a row.
func (v *Values) spells(text string) bool {
	count, row, most := 0, 0, 0
	tokens(text, func(t token) {
		count++
		row++
		if _, ok := spelling[string(t.plain)]; !ok {
			row = 0
		}
		most = max(most, row)
	})
	return most > 1 || most == count
}

// stream adds a token to the runs in which pieces are looked for together: as they stand, without what is known, and those
// of one place alone. What the person said, and a longer common word, is a piece of
// nothing and reaches across nothing.
func (v *Values) stream(w *weight, column string, t token) {
	common := t.kind == letters && len(t.plain) > 1 && v.words.isCommon(string(t.plain))
	if v.known.explains(t) && len(t.plain) > 2 || common && len(t.plain) > shard {
		for _, s := range []string{"all", column} {
			w.tails[s] = append(w.tails[s], ' ')
		}
		return
	}
	w.tails["all"] = append(w.tails["all"], t.plain...)
	w.tails[column] = append(w.tails[column], t.plain...)
	if !common {
		w.tails["rare"] = append(w.tails["rare"], t.plain...)
	}
	if r, ok := spelling[string(t.plain)]; ok {
		w.tails["spelled"] = append(w.tails["spelled"], r)
	}
}

// token gives what one token says: as a code, and as a word of the person's.
func (v *Values) token(column string, t, before token) (codes, names float64) {
	n := float64(len(t.plain))
	if v.known.explains(t) {
		return v.casing(t), 0
	}
	if strings.HasPrefix(column, "K") && len(t.plain) <= 2 && strings.Contains(usualKeys, " "+string(t.plain)+" ") {
		return 1.5, 0
	}
	if t.kind != digits && v.private.holdsDecoded(t.raw) {
		return n * caseBits, 0
	}
	switch t.kind {
	case digits:
		codes = n * digitBits
		switch {
		case len(t.plain) < shard, v.private.holdsShards(t):
			return n * pieceBits, 0
		case isYear(t.plain):
			codes = digitBits
		}
	case mixed:
		codes = v.mixed(t)
	default:
		return v.word(t, before)
	}
	if len(t.plain) > shard && v.known.public.has(hashOf(t.plain)) {
		codes = min(codes, v.known.pick())
	}
	return codes, 0
}

// short weighs a known word of two letters: little for the name of a language or a country and for a small word behind
// another word, nearly as much as any two letters else.
func short(w string, before token) float64 {
	switch {
	case strings.Contains(smallWords, " "+w+" ") && before.kind == letters && len(before.plain) > 2:
		return 0
	case strings.Contains(" en de fr es it pt nl us uk eu ch at co io ", " "+w+" "):
		return 2
	}
	return shortBits
}

// smallWords are words of two letters that stand between others.
const smallWords = " of in to is it on at by an as or be we he my me us up so no if do go am de la le et en du un el il di da zu im es er al os um em os "

// usualKeys are the short names that values often have.
const usualKeys = " q s p k t v n u l w h x y z id hl gl tl sl lr cc ll st "

func isYear(p []rune) bool {
	s := string(p)
	return len(s) == 4 && (s[:2] == "19" || s[:2] == "20")
}

func (v *Values) word(t, before token) (codes, names float64) {
	n := float64(len(t.plain))
	w := string(t.plain)
	if len(t.plain) == 1 {
		if strings.Contains("aistd", w) && before.kind == letters && len(before.plain) > 2 && v.words.isCommon(string(before.plain)) {
			return 1, 0
		}
		return letterBits, 0
	}
	if v.words.isCommon(w) {
		if len(t.plain) == 2 {
			return v.casing(t) + short(w, before), 0
		}
		return v.casing(t), 0
	}
	if len(t.plain) >= shard && v.isName(t.plain) {
		return v.casing(t), n * pieceBits
	}
	if v.private.holdsShards(t) {
		return n * letterBits, 0
	}
	if v.words.isCompound(w) {
		return v.casing(t) + 1, 0
	}
	foreign := slices.ContainsFunc(t.plain, func(r rune) bool { return r >= 0x80 })
	switch {
	case foreign:
		for _, r := range t.plain {
			if !v.known.scripts.has(hashOf([]rune{r >> 7})) {
				codes += 2
			}
		}
		return codes, 0
	case mixedCase(t.raw):
		if humps := v.humps(t.raw); humps >= 0 {
			return humps, 0
		}
		return n * (letterBits + 1), 0
	case n < shard && t.raw != w && t.raw != strings.ToUpper(t.raw):
		return n * (letterBits + 1), 0
	}
	codes = n*letterBits*v.words.strangeness(w) + 2*max(0, n-18)
	if t.raw == strings.ToUpper(t.raw) {
		codes = max(codes, 2*n) // letters of base32 can be words
	}
	if v.known.public.has(hashOf(t.plain)) {
		codes = min(codes, v.known.pick())
	}
	return codes, 0
}

// isName tells whether a word is one of the person's, as it stands or turned.
func (v *Values) isName(plain []rune) bool {
	if v.private.names.has(hashOf(plain)) {
		return true
	}
	if len(plain) <= shard {
		return false
	}
	for turned := range turns(plain) {
		if v.private.names.has(hashOf(turned)) {
			return true
		}
	}
	return false
}

// mixed weighs letters and figures in one: "covid19" is a word and a number, "x7k2m9" a code.
func (v *Values) mixed(t token) float64 {
	n := float64(len(t.plain))
	figures, plainWord := 0.0, true
	seg := make([]rune, 0, len(t.plain))
	extra := 0.0
	check := func() {
		if len(seg) == 1 {
			extra += letterBits
			plainWord = plainWord && seg[0] == 'v'
		} else if len(seg) > 1 {
			plainWord = plainWord && len(seg) > 2 && v.words.isCommon(string(seg))
		}
		seg = seg[:0]
	}
	hex := true
	for _, r := range t.plain {
		if '0' <= r && r <= '9' {
			figures++
			check()
			continue
		}
		hex = hex && 'a' <= r && r <= 'f'
		seg = append(seg, r)
	}
	check()
	switch {
	case plainWord && figures <= 4 && !v.private.holdsShards(t):
		return figures*digitBits + extra
	case hex && t.raw == strings.ToLower(t.raw):
		return n * hexBits
	case t.raw != strings.ToLower(t.raw):
		return n * caseBits
	}
	return n * alnumBits
}

// casing weighs capitals where no writing has them: each letter can say one bit.
func (v *Values) casing(t token) float64 {
	if len(t.plain) < 3 || !mixedCase(t.raw) {
		return 0
	}
	if h := v.humps(t.raw); h >= 0 {
		return h
	}
	return float64(len(t.plain))
}

// mixedCase tells whether a token is neither all small, all capitals, nor small after its first letter.
func mixedCase(raw string) bool {
	_, size := utf8.DecodeRuneInString(raw)
	rest := raw[size:]
	return rest != strings.ToLower(rest) && raw != strings.ToUpper(raw)
}

// humps weighs words that are written together with capitals, "JavaScript"; -1: it is nothing of the kind.
func (v *Values) humps(raw string) float64 {
	count := 0
	start := 0
	for i, r := range raw {
		if i > start && unicode.IsUpper(r) {
			if i-start < 2 || !v.isHump(raw[start:i]) {
				return -1
			}
			start = i
			count++
		}
	}
	if len(raw)-start < 2 || !v.isHump(raw[start:]) {
		return -1
	}
	return float64(count)
}

func (v *Values) isHump(s string) bool {
	s = strings.ToLower(s)
	return v.words.isCommon(s) || v.words.isWord(s)
}

// signs weighs the signs between the words of a part, where there are more than words need, and pictures.
func (v *Values) signs(text string) (bits float64) {
	run, same, last := 0, true, rune(0)
	end := func() {
		switch {
		case run > 2 && !same:
			bits += float64(run) * signBits
		case run > 3:
			bits += math.Log2(float64(run))
		}
		run, same, last = 0, true, 0
	}
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || isHidden(r) {
			end()
			continue
		}
		if r >= 0x80 && (unicode.In(r, unicode.So, unicode.Sk, unicode.Sm) || unicode.IsMark(r)) {
			bits += 2
		}
		same = same && (last == 0 || r == last)
		last = r
		run++
	}
	end()
	return bits
}

// spelling are words that stand for one character.
var spelling = map[string]rune{
	"alpha": 'a', "alfa": 'a', "bravo": 'b', "charlie": 'c', "delta": 'd', "echo": 'e', "foxtrot": 'f', "golf": 'g', "hotel": 'h', "india": 'i', "juliet": 'j', "juliett": 'j', "kilo": 'k', "lima": 'l', "mike": 'm',
	"november": 'n', "oscar": 'o', "papa": 'p', "quebec": 'q', "romeo": 'r', "sierra": 's', "tango": 't', "uniform": 'u', "victor": 'v', "whiskey": 'w', "xray": 'x', "yankee": 'y', "zulu": 'z',
	"zero": '0', "one": '1', "two": '2', "three": '3', "four": '4', "five": '5', "six": '6', "seven": '7', "eight": '8', "nine": '9', "dash": '-', "dot": '.',
	"a": 'a', "b": 'b', "c": 'c', "d": 'd', "e": 'e', "f": 'f', "g": 'g', "h": 'h', "i": 'i', "j": 'j', "k": 'k', "l": 'l', "m": 'm', "n": 'n', "o": 'o', "p": 'p', "q": 'q', "r": 'r', "s": 's', "t": 't', "u": 'u', "v": 'v', "w": 'w', "x": 'x', "y": 'y', "z": 'z',
	"0": '0', "1": '1', "2": '2', "3": '3', "4": '4', "5": '5', "6": '6', "7": '7', "8": '8', "9": '9',
}
