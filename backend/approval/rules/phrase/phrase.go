// Package phrase reads what a person wrote closely enough to tell an instruction from a mention: its sentences, its words
// without disguise, and which of them are actions.
//
// It owns the folding of look-alike letters and invisible characters, the splitting into sentences and words, and the table
// of actions that tools' names and people's sentences share. It promises linear work, and the same answer for the same
// text. It understands English only and guesses no meaning: what it does not know is no action. It decides about no call.
//
// Imported by approval/rules and approval/proposal.
package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookAlikes are letters of other scripts that read as Latin ones.
var lookAlikes = func() map[rune]rune {
	const pairs = "аaвbеeкkмmнhоoрpсcтtуyхxіiјjѕsԁdӏlոnһhԛqԝwսuαaεeιiκkνvοoρpτtυuχxγyıiɑaɡg"
	set := map[rune]rune{}
	r := []rune(pairs)
	for i := 0; i+1 < len(r); i += 2 {
		set[r[i]] = r[i+1]
	}
	return set
}()

// Fold gives text as it reads: lower case, compatibility forms resolved, look-alike letters as Latin ones, invisible
// characters gone, every apostrophe the plain one.
func Fold(text string) string {
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '’' || r == '‘' || r == 'ʼ' || r == '＇' || r == '`' || r == '´':
			return '\''
		case r == '\u00ad' || r == '\u034f' || r == '\ufeff' || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
			return -1
		case r == '\u2028' || r == '\u2029' || r == '\r':
			return '\n'
		}
		r = unicode.ToLower(r)
		if latin, ok := lookAlikes[r]; ok {
			return latin
		}
		return r
	}, text)
}

// Sentence is a sentence as it was written, and whether it is a question.
type Sentence struct {
	Text     string
	Question bool
}

// Sentences splits text at line breaks, semicolons and at full stops, exclamation and question marks that are followed by a blank: an
// address keeps its dots.
func Sentences(text string) []Sentence {
	var list []Sentence
	start := 0
	add := func(end int, question bool) {
		if s := strings.TrimSpace(text[start:end]); strings.ContainsFunc(s, unicode.IsLetter) {
			list = append(list, Sentence{s, question})
		}
	}
	for i, r := range text {
		n := utf8.RuneLen(r)
		if n < 0 {
			n = 1 // a broken byte
		}
		switch r {
		case '\n', '\r', ';', '\u2028', '\u2029', '。', '！', '？':
			add(i+n, r == '？')
			start = i + n
		case '.', '!', '?':
			if next, _ := utf8.DecodeRuneInString(text[i+n:]); i+n == len(text) || unicode.IsSpace(next) || strings.ContainsRune(`"')]”’*_`, next) {
				add(i+n, r == '?')
				start = i + n
			}
		}
	}
	if start < len(text) {
		add(len(text), false)
	}
	return list
}

// Words splits folded text. Apostrophes, underscores and what makes up an address or a number stay inside a word; a comma, a
// colon and a dash are words of their own: ",".
func Words(folded string) []string {
	var list []string
	for _, field := range strings.Fields(folded) {
		list = append(list, pieces(field)...)
	}
	return list
}

// pieces gives the words of a text without blanks.
func pieces(field string) []string {
	inner := strings.TrimFunc(field, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(",:—–-", r)
	})
	if IsAddress(strings.Trim(inner, ",:—–-")) {
		list := []string{strings.Trim(inner, ",:—–-")}
		if strings.HasSuffix(inner, ",") || strings.HasSuffix(inner, ":") {
			list = append(list, ",")
		}
		return list
	}
	var list []string
	start := -1
	end := func(i int) {
		if start >= 0 {
			if w := strings.Trim(inner[start:i], "'_.-"); w != "" {
				list = append(list, w)
			}
			start = -1
		}
	}
	for i, r := range inner {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '_':
			if start < 0 {
				start = i
			}
		case r == ',' || r == ':' || r == '—' || r == '–' || r == '-' && len(inner) == 1:
			end(i)
			list = append(list, ",")
		default:
			end(i)
		}
	}
	end(len(inner))
	return list
}

// IsAddress reports whether a word is an email address.
func IsAddress(w string) bool {
	local, host, ok := strings.Cut(w, "@")
	return ok && local != "" && !strings.Contains(host, "@") && strings.Contains(strings.Trim(host, "."), ".")
}

// Has reports whether the words hold a phrase, given as words with blanks between.
func Has(words []string, phrase string) bool { return Find(words, phrase) >= 0 }

// Find gives where the words hold a phrase, or -1. Plural and singular of its last word are the same.
func Find(words []string, phrase string) int {
	parts := strings.Fields(phrase)
	if len(parts) == 0 {
		return -1
	}
	for i := 0; i+len(parts) <= len(words); i++ {
		fits := true
		for j, part := range parts {
			w := words[i+j]
			if w != part && !(j == len(parts)-1 && Singular(w) == Singular(part)) {
				fits = false
				break
			}
		}
		if fits {
			return i
		}
	}
	return -1
}

// Singular takes the plural, and what belongs to somebody, off a noun.
func Singular(w string) string {
	w = strings.TrimSuffix(w, "'s")
	w = strings.TrimSuffix(w, "s'")
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}
