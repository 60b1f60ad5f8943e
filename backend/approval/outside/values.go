package outside

import (
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sentient/backend/approval/evidence"
)

// Values is the value check of one run (decision 5, ADR 20): whether an address, together with those loaded before, carries
// pieces of the person's own results. It keeps hashes of what it has read and reads everything once, so it is made for a
// run and kept with it. It may be used by several goroutines.
type Values struct {
	mu      sync.Mutex
	words   *lexicon
	private private
	known   known
	seed    maphash.Seed
	read    map[uint64]bool // texts that have been taken in

	loaded []string // addresses that the ledgers hold, in the order of the evidence
	codes  float64  // bits that codes have said, to all sites
	asked  float64  // those of them that look-ups said, which no address tells
	tail   []rune   // what was said last, to all sites
	sites  map[string]*ledger
	folded map[string]bool // addresses in their canonical form
	held   map[string]bool // what a question was asked about: what of it is loaded all the same, the person allowed
	vocab  map[uint64]bool // tokens that were said to some site
}

// ledger is what one site was told.
type ledger struct {
	names float64
	last  map[string]said   // of each place
	seen  map[uint64]bool   // tokens with their place
	tails map[string][]rune // the end of each stream
	menu  []rune            // short ends of the listed addresses that were loaded
	at    string            // the address that was loaded last
}

// searched is the ledger of what is looked up where no address says where it goes.
const searched = " look-ups"

// tailSize is how much of a stream is kept, in characters.
const tailSize = 256

// NewValues makes an empty one.
func NewValues() *Values {
	w := readLexicon()
	return &Values{words: w, private: private{words: w}, known: known{words: w}, seed: maphash.MakeSeed(), read: map[uint64]bool{},
		sites: map[string]*ledger{}, folded: map[string]bool{}, held: map[string]bool{}, vocab: map[uint64]bool{}}
}

// Add takes in a result. Check and CheckText take in those of their evidence themselves; adding one twice does nothing.
func (v *Values) Add(r evidence.Result) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.addLocked(r)
}

// Check tells whether an address, with those of the evidence that were loaded, carries a piece of what is private, and which:
// a code or word as it stands in the address, "" where it cannot be told. An address that the person wrote, or that stands
// in a result, is free by itself; short ones still may not spell something out together. Nothing private read, nothing found.
func (v *Values) Check(e *evidence.Evidence, address string) (carried string, found bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sync(e)
	if !v.private.any {
		return "", false
	}
	u := parse(address)
	if address == "" {
		return "", false
	}
	if len(address) > longest || u == nil || hostOf(u) == "" {
		return "", true // what cannot be read may carry anything
	}
	defer func() { v.held[address] = v.held[address] || found }()
	c, listed, typed := v.origin(address)
	if typed {
		return "", false
	}
	parts, domain := split(u)
	l := v.ledger(domain)
	switch {
	case v.folded[c]:
		return "", !listed && l.at != c && v.codes+1 >= budget && v.codes > 0
	case listed:
		return v.menu(l, menuEnd(parts))
	}
	return v.judge(v.weigh(parts, l, v.known.sites.has(hashOf([]rune(domain)))), l)
}

// CheckText tells the same of the words of a public look-up, together with those of the look-ups before.
func (v *Values) CheckText(e *evidence.Evidence, text string) (carried string, found bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sync(e)
	if !v.private.any || strings.TrimSpace(text) == "" {
		return "", false
	}
	if len(text) > longest {
		return "", true
	}
	defer func() {
		if found {
			v.held[sorted(text)] = true
		}
	}()
	l := v.ledger(searched)
	return v.judge(v.weigh(textParts(text), l, false), l)
}

// sorted gives the words of a text in order, so that the same arguments are the same however they are put together.
func sorted(text string) string {
	var all []string
	tokens(text, func(t token) { all = append(all, string(t.plain)) })
	slices.Sort(all)
	return strings.Join(all, " ")
}

func textParts(text string) []part {
	text, odd := readText(text)
	return []part{{"t", text, odd}}
}

// judge compares what an address adds with what was said before.
func (v *Values) judge(w weight, l *ledger) (string, bool) {
	if w.codes >= 1 && v.codes+w.codes >= budget || w.names > 0 && l.names+w.names >= budget {
		return line(w.piece, 40), true
	}
	if w.codes > 0 && w.names+w.codes > 0 && l.names+w.names > 0 && v.codes+w.codes+l.names+w.names >= budget+pieceBits*2 {
		return line(w.piece, 40), true
	}
	for _, s := range slices.Sorted(maps.Keys(w.tails)) {
		if p := v.private.reads(joined(l.tails[s], w.tails[s])); p != "" {
			return line(p, 40), true
		}
	}
	if p := v.private.reads(joined(v.tail, w.tails["all"])); p != "" {
		return line(p, 40), true
	}
	return "", false
}

// joined gives the end of a stream with what comes to it.
func joined(tail, more []rune) []rune {
	if len(more) == 0 {
		return nil
	}
	return append(slices.Clone(tail[max(0, len(tail)-gram+1):]), more...)
}

// menuEnd gives the short end of a listed address: with a page of links that differ in a letter each, the choice of the
// link says the letter.
func menuEnd(parts []part) []rune {
	if len(parts) == 0 {
		return nil
	}
	var end []rune
	tokens(parts[len(parts)-1].text, func(t token) { end = t.plain })
	if len(end) > 3 {
		return nil
	}
	return end
}

func (v *Values) menu(l *ledger, end []rune) (string, bool) {
	if len(end) == 0 {
		return "", false
	}
	run := append(slices.Clone(l.menu), end...)
	for _, r := range [][]rune{run[max(0, len(run)-len(end)-gram+1):], bits(run, 8), bits(run, 7), bits(run, 4)} {
		if p := v.private.reads(r); p != "" {
			return line(p, 40), true
		}
	}
	return "", false
}

// bits reads a run of zeros and ones as characters of so many bits, at each beginning; four are a figure of base sixteen.
func bits(run []rune, size int) []rune {
	var out []rune
	for from := range size {
		for i := from; i+size <= len(run); i += size {
			n, err := strconv.ParseUint(string(run[i:i+size]), 2, 8)
			switch {
			case err != nil:
				out = append(out, ' ')
			case size == 4:
				out = append(out, rune("0123456789abcdef"[n]))
			default:
				out = append(out, []rune(plainRune(rune(n)))...)
			}
		}
		out = append(out, ' ')
	}
	return out
}

// sync takes in what the evidence has and this has not: what was said and read, and then what was loaded.
func (v *Values) sync(e *evidence.Evidence) {
	for _, texts := range [][]string{e.Words, e.Turn, e.Trusted, {e.UserName}} {
		for _, t := range texts {
			if v.fresh("said", t) {
				v.known.hear(t)
			}
		}
	}
	for _, p := range e.Others {
		if v.fresh("others", p.Text) {
			text := unescaped(p.Text)
			v.known.learn(text)
			v.known.find(text, nil)
		}
	}
	for _, r := range e.Results {
		v.addLocked(r)
	}
	if len(e.Loaded) < len(v.loaded) || !slices.Equal(v.loaded, e.Loaded[:len(v.loaded)]) {
		v.loaded, v.codes, v.tail = nil, v.asked, nil
		clear(v.folded)
		maps.DeleteFunc(v.sites, func(name string, _ *ledger) bool { return name != searched })
	}
	for _, address := range e.Loaded[len(v.loaded):] {
		v.loaded = append(v.loaded, address)
		v.fold(address)
	}
}

func (v *Values) fresh(kind, text string) bool {
	if text == "" {
		return false
	}
	var h maphash.Hash
	h.SetSeed(v.seed)
	h.WriteString(kind)
	h.WriteByte(0)
	h.WriteString(text)
	x := h.Sum64()
	if v.read[x] {
		return false
	}
	v.read[x] = true
	return true
}

func (v *Values) addLocked(r evidence.Result) {
	kind := "public"
	if r.Private {
		kind = "private"
	}
	if !r.Private && v.private.any && v.fresh("asked", string(r.Args)) {
		v.foldArgs(r.Args)
	}
	if !v.fresh(kind, r.Text) {
		return
	}
	text := unescaped(r.Text)
	v.known.find(text, nil)
	if r.Private {
		v.private.add(text)
		return
	}
	v.known.learn(text)
}

// foldArgs counts what a public look-up was asked. Addresses among it count where they were loaded.
func (v *Values) foldArgs(args json.RawMessage) {
	var value any
	if json.Unmarshal(args, &value) != nil {
		return
	}
	var texts []string
	var walk func(any)
	walk = func(x any) {
		switch x := x.(type) {
		case string:
			if !strings.Contains(x, "://") {
				texts = append(texts, x)
			}
		case []any:
			for _, e := range x {
				walk(e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(x)) {
				walk(x[k])
			}
		}
	}
	walk(value)
	if text := strings.Join(texts, "\n"); text != "" && !v.held[sorted(text)] {
		l := v.ledger(searched)
		w := v.weigh(textParts(text), l, false)
		v.asked += w.codes
		v.count(w, l)
	}
}

// origin tells whether an address stands in what was read, and whether the person wrote it.
func (v *Values) origin(address string) (c string, listed, typed bool) {
	u := parse(address)
	if u == nil {
		return "", false, false
	}
	if c = canonical(u); c == "" {
		return "", false, false
	}
	h := hashOf([]rune(c))
	return c, v.known.addresses.has(h), v.known.typed.has(h)
}

// fold counts an address that was loaded. One from before anything private was read carried nothing.
func (v *Values) fold(address string) {
	u := parse(address)
	if !v.private.any || u == nil || len(address) > longest || v.held[address] {
		return
	}
	c, listed, typed := v.origin(address)
	if typed || c == "" {
		return
	}
	parts, domain := split(u)
	l := v.ledger(domain)
	switch {
	case listed:
		l.menu = append(l.menu, menuEnd(parts)...)
		l.menu = l.menu[max(0, len(l.menu)-tailSize):]
	case v.folded[c]:
		if l.at != c {
			v.codes++ // the order of known addresses can say something too
		}
	default:
		v.count(v.weigh(parts, l, v.known.sites.has(hashOf([]rune(domain)))), l)
	}
	l.at, v.folded[c] = c, true
}

func (v *Values) count(w weight, l *ledger) {
	v.codes += w.codes
	l.names += w.names
	for _, s := range w.said {
		l.last[s.column] = s
		l.seen[s.hash^hashOf([]rune(s.column))] = true
		if len(s.plain) > 2 {
			v.vocab[s.hash] = true
		}
	}
	for s, more := range w.tails {
		l.tails[s] = append(l.tails[s], more...)
		l.tails[s] = slices.Clone(l.tails[s][max(0, len(l.tails[s])-tailSize):])
	}
	v.tail = append(v.tail, w.tails["all"]...)
	v.tail = slices.Clone(v.tail[max(0, len(v.tail)-tailSize):])
}

func (v *Values) ledger(site string) *ledger {
	l := v.sites[site]
	if l == nil {
		l = &ledger{last: map[string]said{}, seen: map[uint64]bool{}, tails: map[string][]rune{}}
		v.sites[site] = l
	}
	return l
}

// again gives what a token still says in a place that has held it before, or its number one less.
func (l *ledger) again(column string, t token, codes, names float64) (float64, float64) {
	h := hashOf(t.plain)
	last, ok := l.last[column]
	switch {
	case ok && last.hash == h:
		return 0, 0
	case l.seen[h^hashOf([]rune(column))]:
		if len(t.plain) > 1 {
			return min(codes, 2), 0
		}
		return codes, 0
	case ok && t.kind == digits && isNext(last.plain, t.plain):
		return min(codes, 0.5), 0
	}
	return codes, names
}

func isNext(a, b []rune) bool {
	x, err := strconv.Atoi(string(a))
	if err != nil {
		return false
	}
	y, err := strconv.Atoi(string(b))
	return err == nil && y == x+1
}
