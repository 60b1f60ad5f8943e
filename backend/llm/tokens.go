package llm

import (
	"unicode"
	"unicode/utf8"
)

// EstimateTokens gives about how many tokens a text is, without a tokenizer of any model.
//
// It counts words by their length, digits by threes, signs one by one, and letters of other scripts by what common
// vocabularies make of them. Measured against cl100k_base and o200k_base: English prose and Markdown 5 to 9 % over, Go code
// and JSON 17 to 19 % over, German and French 9 % under to 15 % over, Chinese and Japanese 16 % under to 21 % over, lists of
// hashes 23 % under. For Cyrillic, Arabic and Devanagari it is within 25 % of the older vocabulary and up to twice the newer
// one: too much rather than too little. It is for the context meter and for cutting; bills use what the service counted.
func EstimateTokens(text string) int {
	var quarter int // in quarters of a token
	word, digits, blanks := 0, 0, 0
	flush := func() {
		if word > 0 {
			quarter += wordQuarters(word)
		}
		if digits > 0 {
			quarter += 4 * ((digits + 2) / 3)
		}
		word, digits = 0, 0
	}
	for _, r := range text {
		switch {
		case r == ' ':
			flush()
			if blanks++; blanks == 2 || blanks > 2 && blanks%16 == 0 { // one blank belongs to the next word, more are a token
				quarter += 4
			}
			continue
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
			if digits > 0 {
				flush()
			}
			word++
		case r >= '0' && r <= '9':
			if word > 0 {
				flush()
			}
			digits++
		case r == '\n' || r == '\t' || r == '\r':
			flush()
			quarter += 3
		case r < utf8.RuneSelf:
			flush()
			quarter += 3 // signs often join the word before or another sign
		default:
			flush()
			quarter += runeQuarters(r)
		}
		blanks = 0
	}
	flush()
	return (quarter + 3) / 4
}

// wordQuarters is about a token for the words that stand in a vocabulary whole, and one more for every four letters after.
func wordQuarters(n int) int {
	if n <= 6 {
		return 4
	}
	return 4 + (n - 5)
}

func runeQuarters(r rune) int {
	switch {
	case r == utf8.RuneError:
		return 4
	case r < 0x250: // accented Latin breaks words up
		return 3
	case unicode.Is(unicode.Cyrillic, r), unicode.Is(unicode.Greek, r):
		return 2
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 4
	case r >= 0x2010 && r <= 0x2027, r >= 0x3000 && r <= 0x303F: // typographic signs
		return 4
	case unicode.In(r, unicode.Arabic, unicode.Hebrew):
		return 3
	case unicode.In(r, unicode.Devanagari, unicode.Thai):
		return 4
	case r >= 0x1F000:
		return 10
	}
	return 6
}

// perMessage, perTool and perImage are what the services' templates add. A picture is counted as most services do one of
// a thousand points across.
const (
	perMessage = 4
	perTool    = 12
	perImage   = 1100
)

// EstimateRequest gives about how many tokens the prompt of a request is: messages, tools, schema, pictures.
func EstimateRequest(r Request) int {
	n := 3 + EstimateTokens(string(r.Schema))
	for _, m := range r.Messages {
		n += EstimateMessage(m)
	}
	for _, t := range r.Tools {
		n += perTool + EstimateTokens(t.Name) + EstimateTokens(t.Description) + EstimateTokens(string(t.Parameters))
	}
	return n
}

// EstimateMessage gives about how many tokens one message takes in a prompt. Thinking is not counted: most services drop it.
func EstimateMessage(m Message) int {
	n := perMessage + EstimateTokens(m.Text) + perImage*len(m.Images)
	for _, c := range m.ToolCalls {
		n += perMessage + EstimateTokens(c.Name) + EstimateTokens(string(c.Arguments))
	}
	return n
}
