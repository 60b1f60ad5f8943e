package look

import (
	"math/big"
	"strings"
)

const maxDigits = 40

// scanNumber reads the number that starts at i: digits in groups, with the signs that divide them. It gives where the
// number ends.
func scanNumber(text string, i int) (end int, value *big.Rat) {
	end = i
	var groups []string
	var signs []byte
	for {
		start := end
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		groups = append(groups, text[start:end])
		if end+1 >= len(text) || text[end+1] < '0' || text[end+1] > '9' {
			break
		}
		sign := text[end]
		if sign == ' ' && !(len(groups[0]) <= 3 && threeDigits(text, end+1) && (len(signs) == 0 || signs[len(signs)-1] == ' ')) {
			break
		}
		if sign != ' ' && sign != ',' && sign != '.' && sign != '\'' {
			break
		}
		signs = append(signs, sign)
		end++
	}
	return end, number(groups, signs)
}

func threeDigits(text string, at int) bool {
	n := 0
	for at+n < len(text) && n < 4 && text[at+n] >= '0' && text[at+n] <= '9' {
		n++
	}
	return n == 3
}

// number reads grouped digits. The last sign is the decimal one when it differs from those before it, or is the only
// comma or dot and is not followed by three digits; otherwise all signs divide thousands.
func number(groups []string, signs []byte) *big.Rat {
	whole, part := strings.Join(groups, ""), ""
	if n := len(signs); n > 0 {
		last := signs[n-1]
		alone := n == 1 && (last == '.' || last == ',') && (len(groups[1]) != 3 || len(groups[0]) > 3 || groups[0] == "0")
		differs := n > 1 && last != signs[n-2] && (last == '.' || last == ',')
		if alone || differs {
			whole, part = strings.Join(groups[:n], ""), groups[n]
		}
	}
	if len(whole)+len(part) > maxDigits {
		whole, part = whole[:min(len(whole), maxDigits)], "" // no amount of anyone's; it stays an unknown one
	}
	text := whole
	if part != "" {
		text += "." + part
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// multiples are words that multiply the number before them.
var multiples = map[string]int64{"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "lakh": 1e5, "lakhs": 1e5, "lac": 1e5, "crore": 1e7, "crores": 1e7,
	"grand": 1e3, "millions": 1e6, "thousands": 1e3}

// letters multiply when they touch the number: 5k, 2m.
var letters = map[string]int64{"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9, "cr": 1e7}

var units = func() map[string]int64 {
	out := map[string]int64{}
	for i, w := range strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen") {
		out[w] = int64(i)
	}
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		out[w] = int64(20 + 10*i)
	}
	out["dozen"] = 12
	return out
}()

// quantity reads the number at a token, in digits or in words, with what multiplies it. It gives nil, i when there is
// none, else the number and the first token behind it.
func quantity(tokens []token, i int) (*big.Rat, int) {
	if n := tokens[i].number; n != nil {
		value, next := new(big.Rat).Set(n), i+1
		if next < len(tokens) && letters[tokens[next].text] > 0 && tokens[next].from == tokens[next-1].to {
			return value.Mul(value, new(big.Rat).SetInt64(letters[tokens[next].text])), next + 1
		}
		for limit := next + 3; next < len(tokens) && next < limit && multiples[tokens[next].text] > 0; next++ {
			value.Mul(value, new(big.Rat).SetInt64(multiples[tokens[next].text]))
		}
		return value, next
	}
	return spelledNumber(tokens, i)
}

// spelledNumber reads a number in English words: "two thousand five hundred and ten", "a hundred", "half a million" is
// none.
func spelledNumber(tokens []token, i int) (*big.Rat, int) {
	const most = 24 // words
	var total, group int64
	next, any := i, false
	for ; next < len(tokens) && next-i < most; next++ {
		w := tokens[next].text
		n, isUnit := units[w]
		m := multiples[w]
		switch {
		case isUnit:
			group, any = group+n, true
		case w == "a" && !any && next+1 < len(tokens) && multiples[tokens[next+1].text] > 0:
			group = 1
		case m == 100 && group > 0:
			group, any = group*100, true
		case m > 100 && group > 0 && total < 1e15 && group < 1e6:
			total, group, any = total+group*m, 0, true
		case any && w == "and" && next+1 < len(tokens) && next > i && isNumberWord(tokens[next+1].text) && multiples[tokens[next-1].text] > 0:
		case any && w == "-" && next+1 < len(tokens) && isNumberWord(tokens[next+1].text):
		default:
			if !any {
				return nil, i
			}
			return new(big.Rat).SetInt64(total + group), next
		}
	}
	if !any {
		return nil, i
	}
	return new(big.Rat).SetInt64(total + group), next
}

func isNumberWord(w string) bool { _, ok := units[w]; return ok }

// currencies are the signs, codes and words of money, by their code. Words that are more often something else (won, try)
// are left out.
var currencies = func() map[string]string {
	out := map[string]string{}
	for code, words := range map[string]string{
		"USD": "$ us$ usd dollar dollars buck bucks", "EUR": "€ eur euro euros", "GBP": "£ gbp pound pounds quid", "INR": "₹ rs inr rupee rupees",
		"JPY": "¥ jpy yen", "CNY": "cny yuan rmb renminbi", "KRW": "₩ krw", "CHF": "chf franc francs", "CAD": "c$ ca$ cad", "AUD": "a$ au$ aud", "NZD": "nz$ nzd",
		"SGD": "s$ sgd", "HKD": "hk$ hkd", "MXN": "mx$ mxn peso pesos", "BRL": "r$ brl", "RUB": "₽ rub ruble rubles rouble roubles", "TRY": "₺ lira", "ILS": "₪ ils shekel shekels",
		"UAH": "₴ uah hryvnia", "NGN": "₦ ngn naira", "PHP": "₱", "VND": "₫ vnd", "THB": "฿ thb baht", "PLN": "pln zloty zł", "SEK": "sek", "NOK": "nok", "DKK": "dkk",
		"CZK": "czk", "HUF": "huf forint", "AED": "aed dirham dirhams", "SAR": "sar riyal riyals", "ZAR": "zar", "PKR": "pkr", "BTC": "₿ btc bitcoin bitcoins", "ETH": "eth ether", "USDT": "usdt", "USDC": "usdc",
	} {
		for _, w := range strings.Fields(words) {
			out[w] = code
		}
	}
	return out
}()

// spoken are the words of money, which stand behind their number.
var spoken = map[string]bool{"dollar": true, "dollars": true, "buck": true, "bucks": true, "euro": true, "euros": true, "pound": true, "pounds": true, "quid": true,
	"rupee": true, "rupees": true, "yen": true, "yuan": true, "franc": true, "francs": true, "peso": true, "pesos": true}
