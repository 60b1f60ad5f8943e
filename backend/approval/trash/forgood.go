package trash

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// How a person asks for a deletion for good, and takes it back, in plain lower-case text.
var (
	forGood = regexp.MustCompile(`\b(permanent(ly)?|for good|for ?ever|irreversibl[ye]|irrevocabl[ye]|hard[- ]delet\w*|beyond recovery)\b` +
		`|\b(skip|bypass|skipping|bypassing|without|no|not (just )?(to|in|into)|past) (using )?(the |my )?(trash|recycle bin|bin)\b`)
	deletes   = regexp.MustCompile(`\b(delet\w*|remov\w*|eras\w*|destroy\w*|purg\w*|wip\w*|trash\w*|bin|gone|get rid|clear\w*)\b`)
	negated   = regexp.MustCompile(`\b(don'?t|do not|doesn'?t|not|never|no|won'?t|can'?t|cannot|without|avoid|rather than|instead of|isn'?t|shouldn'?t|mustn'?t|nothing)\b`)
	toTrash   = regexp.MustCompile(`\b(move|put|send|throw|to|into|in|just|only) (it |them |that |this |those )?(to |in |into )?(the |my )?(trash|recycle bin|bin)\b`)
	clauseEnd = regexp.MustCompile(`[.!?;,:\n]+|\b(but|and|so|then|because|since|instead)\b`)
)

const shortClause = 4 // words: "yes, permanently" needs no verb

// AskedForGood reports whether the person's own words ask for a deletion for good. Each clause stands alone; one that is
// negated asks for nothing, and the last clause that speaks of it counts, so that "actually, not permanently" holds.
// What is unclear is a no: the trash can still be emptied.
func AskedForGood(words []string) bool {
	asked := false
	for _, message := range words {
		for _, clause := range clauseEnd.Split(plainText(message), -1) {
			at := forGood.FindStringIndex(clause)
			switch {
			case at == nil:
				// "instead of" splits its clause; what follows it speaks of what is not wanted.
				if toTrash.MatchString(clause) && !negated.MatchString(clause) {
					asked = false
				}
			case !deletes.MatchString(clause) && len(strings.Fields(clause)) > shortClause:
				// "I have waited forever" is no wish to delete.
			case strings.HasPrefix(strings.TrimSpace(clause), "of "):
				asked = false
			case negated.MatchString(clause[:at[0]]):
				asked = false
			default:
				asked = true
			}
		}
	}
	return asked
}

// plainText makes look-alike spellings of a text equal: one form of each letter, no invisible ones, a plain apostrophe.
func plainText(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2019' || r == '\u2018' || r == '\u02bc':
			return '\''
		case unicode.Is(unicode.Cf, r):
			return -1
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}
