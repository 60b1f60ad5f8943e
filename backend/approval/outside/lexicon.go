package outside

import (
	_ "embed"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed words.txt
var wordList string

// lexicon is what words look like: those that say nothing about anybody, and which letters follow each other in them.
type lexicon struct {
	common map[string]bool
	next   [27][27]float64 // bits of surprise that a letter (26: the beginning or the end) is followed by another
}

// readLexicon reads the list once; nothing changes it after that.
var readLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{common: map[string]bool{}}
	var pairs [27][27]float64
	for row := range strings.Lines(wordList) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		weight := 1.0
		if row[0] == '+' {
			weight = 4
		}
		for _, w := range strings.Fields(strings.TrimPrefix(row, "+")) {
			w = plainWord(w)
			if l.common[w] {
				continue
			}
			l.common[w] = true
			if len(w) < 4 || !lettersOnly(w) {
				continue
			}
			at := 26
			for i := range len(w) {
				pairs[at][w[i]-'a'] += weight
				at = int(w[i] - 'a')
			}
			pairs[at][26] += weight
		}
	}
	for a := range pairs {
		total := 0.0
		for _, n := range pairs[a] {
			total += n + smoothing
		}
		for b, n := range pairs[a] {
			l.next[a][b] = -math.Log2((n + smoothing) / total)
		}
	}
	return l
})

// How a word is told from an opaque string: the mean surprise of its letters, in bits, up to which it is one, and from
// which on it is none. ADR 20 has the figures.
const (
	smoothing    = 0.5
	wordSurprise = 4.4
	codeSurprise = 5.2
)

func lettersOnly(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return w != ""
}

// endings are taken off to find the plain form of a word, the longest first.
var endings = [...]string{"ations", "ation", "ments", "ment", "ness", "able", "ings", "ing", "ers", "est", "ies", "ied", "ion", "ful", "ous", "ity", "ally", "al", "ly", "er", "es", "ed", "or", "en", "s", "y", "d", "r"}

// isCommon tells whether a plain word says nothing about anybody.
func (l *lexicon) isCommon(w string) bool {
	if l.common[w] {
		return true
	}
	for _, e := range endings {
		stem, ok := strings.CutSuffix(w, e)
		if !ok || len(stem) < 3 {
			continue
		}
		if l.common[stem] && len(stem) > 3 || l.common[stem+"e"] || l.common[stem+"y"] && e[0] == 'i' || stem[len(stem)-1] == 'i' && l.common[stem[:len(stem)-1]+"y"] {
			return true
		}
		if n := len(stem); n > 3 && stem[n-1] == stem[n-2] && l.common[stem[:n-1]] {
			return true
		}
	}
	return false
}

// isCompound tells whether a word is two common ones in one: "worldclock".
func (l *lexicon) isCompound(w string) bool {
	if len(w) < 7 || len(w) > 24 || !lettersOnly(w) {
		return false
	}
	for i := 3; i <= len(w)-3; i++ {
		if l.isCommon(w[:i]) && l.isCommon(w[i:]) {
			return true
		}
	}
	return false
}

func plainWord(w string) string {
	var b strings.Builder
	for _, r := range w {
		b.WriteString(plainRune(r))
	}
	return b.String()
}

// isWord tells whether plain letters read like a word or a name of some language, and not like a code.
func (l *lexicon) isWord(w string) bool { return l.strangeness(w) < 0.5 }

// strangeness tells how much plain letters read like a code: 0 for what could be a word, 1 for what could not.
func (l *lexicon) strangeness(w string) float64 {
	if utf8.RuneCountInString(w) < 4 {
		return 1
	}
	at, sum, steps := 26, 0.0, 1.0
	for _, r := range w {
		b := 26
		if 'a' <= r && r <= 'z' {
			b = int(r - 'a')
		}
		sum += l.next[at][b]
		at = b
		steps++
	}
	mean := (sum + l.next[at][26]) / steps
	return min(1, max(0, (mean-wordSurprise)/(codeSurprise-wordSurprise)))
}
