package look

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// money is an amount in a text: its value as a plain decimal number, its currency by its code, "" where none is named.
type money struct {
	value, currency, shown string
}

// amounts checks the money that a call names: with a currency anywhere in its arguments, a number alone where its key says
// that it is money.
func (c *check) amounts(ctx context.Context, _ Action) string {
	for _, a := range c.args {
		for _, m := range amountsOf(a) {
			if !c.vouched().amount(m) && !c.known(ctx, m.shown) {
				return fmt.Sprintf("This includes %s, an amount that isn't in what you asked.", oneLine(m.shown, 60))
			}
		}
	}
	return ""
}

func amountsOf(a argument) []money {
	if a.number {
		if a.label != "Amount" {
			return nil
		}
		value, ok := decimal(a.text)
		if !ok || value == "0" {
			return nil
		}
		return []money{{value: value, currency: currencies[strings.TrimSpace(fold(a.currency))], shown: a.text}}
	}
	all := moneyIn(a.text, a.label == "Amount")
	out := all[:0]
	for _, m := range all {
		if m.currency == "" && a.currency != "" && a.label == "Amount" {
			m.currency = currencies[strings.TrimSpace(fold(a.currency))]
		}
		if m.value != "0" {
			out = append(out, m)
		}
	}
	return out
}

// decimal gives a JSON number as a plain decimal one; false where it has no sensible size.
func decimal(s string) (string, bool) {
	if len(s) > 64 {
		return "", false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(strings.TrimLeft(exponent, "+-0")) > 2 {
		return "", false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", false
	}
	return plainNumber(r), true
}

func plainNumber(r *big.Rat) string {
	text := r.FloatString(8)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	return strings.TrimPrefix(text, "-")
}

// token is a piece of a text for the reading of amounts.
type token struct {
	text     string // folded
	number   *big.Rat
	from, to int // where it stands in the folded text, in bytes
}

// moneyIn gives the amounts of money in a text; with bare also the numbers that name no currency. It reads $1,200,
// 500 rupees, 1.200,50 €, 1'200, USD 5k, and numbers in English words.
func moneyIn(text string, bare bool) []money {
	text = fold(text)
	tokens := tokensOf(text)
	var out []money
	used := -1 // the last token that is a part of an amount
	for i := 0; i < len(tokens); {
		q, next := quantity(tokens, i)
		if q == nil {
			i++
			continue
		}
		first, last, currency := i, next-1, ""
		if i > 0 && i-1 > used {
			if currency = currencies[tokens[i-1].text]; currency != "" && before(tokens, i) {
				first = i - 1
			} else {
				currency = ""
			}
		}
		if currency == "" && next < len(tokens) && after(tokens, next) {
			currency, last = currencies[tokens[next].text], next
		}
		if currency != "" || bare {
			out = append(out, money{value: plainNumber(q), currency: currency, shown: strings.TrimSpace(text[tokens[first].from:tokens[last].to])})
		}
		used = last
		i = max(next, last+1)
	}
	for i := range out {
		out[i].shown = strings.ToUpper(out[i].shown[:codeLength(out[i].shown)]) + out[i].shown[codeLength(out[i].shown):]
	}
	return out
}

// codeLength is how much of an amount's text is a currency's code before it, which is shown in capitals.
func codeLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
	if n == 3 || n == 2 && strings.HasPrefix(s, "us$") {
		return n
	}
	return 0
}

// before reports whether the currency in front of a number belongs to it: a sign or a code does, a word as "dollars" is
// the end of something else.
func before(tokens []token, i int) bool {
	return !spoken[tokens[i-1].text] && tokens[i].from-tokens[i-1].to <= 2
}

// after reports whether the token behind a number is its currency. A sign that touches the next number is that one's.
func after(tokens []token, next int) bool {
	t := tokens[next]
	if currencies[t.text] == "" || t.from-tokens[next-1].to > 3 {
		return false
	}
	if spoken[t.text] {
		// five pounds of flour
		return !(currencies[t.text] == "GBP" && next+1 < len(tokens) && tokens[next+1].text == "of")
	}
	touchesNext := next+1 < len(tokens) && tokens[next+1].number != nil && tokens[next+1].from == t.to
	return !touchesNext || t.from == tokens[next-1].to
}

// tokensOf cuts a folded text into words, numbers and signs.
func tokensOf(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			end, number := scanNumber(text, i)
			out = append(out, token{text: text[i:end], number: number, from: i, to: end})
			i = end
		case c == ' ' || c == '\t' || c == '\n':
			i++
		default:
			end := scanWord(text, i)
			out = append(out, token{text: text[i:end], from: i, to: end})
			i = end
		}
	}
	return out
}

func scanWord(text string, i int) int {
	for at, r := range text[i:] {
		if unicode.IsLetter(r) {
			continue
		}
		if at == 0 {
			return i + len(string(r))
		}
		if r == '$' && at <= 3 {
			return i + at + 1 // US$, CA$
		}
		return i + at
	}
	return len(text)
}
