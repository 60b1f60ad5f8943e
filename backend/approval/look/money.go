package look

import (
	"regexp"
	"strconv"
	"strings"
)

// money is an amount: its number in one form, and its currency where that is named.
type money struct {
	raw      string // as it is written
	value    string // digits, with a point where there are parts: "1200", "1200.5"
	currency string // "usd"; "": not named
}

// currencies are the ways in which a currency is written, folded.
var currencies = map[string]string{
	"$": "usd", "us$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd", "buck": "usd", "bucks": "usd", "a$": "aud", "aud": "aud", "c$": "cad", "cad": "cad",
	"€": "eur", "eur": "eur", "euro": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp", "quid": "gbp",
	"¥": "jpy", "jpy": "jpy", "yen": "jpy", "cny": "cny", "rmb": "cny", "yuan": "cny", "₹": "inr", "inr": "inr", "rs": "inr", "rs.": "inr", "rupee": "inr", "rupees": "inr",
	"chf": "chf", "franc": "chf", "francs": "chf", "fr.": "chf", "₽": "rub", "rub": "rub", "rubles": "rub", "₩": "krw", "krw": "krw", "won": "krw", "sek": "sek", "nok": "nok", "dkk": "dkk",
	"pln": "pln", "zloty": "pln", "czk": "czk", "huf": "huf", "try": "try", "₺": "try", "brl": "brl", "r$": "brl", "reais": "brl", "mxn": "mxn", "pesos": "mxn", "zar": "zar", "rand": "zar",
	"₿": "btc", "btc": "btc", "bitcoin": "btc", "eth": "eth", "usdt": "usdt", "sgd": "sgd", "hkd": "hkd", "nzd": "nzd", "aed": "aed", "ils": "ils", "₪": "ils", "thb": "thb",
}

const (
	signs    = `us\$|a\$|c\$|r\$|[$€£¥₹₽₩₺₿₪]`
	codes    = `usd|eur|gbp|inr|jpy|cny|rmb|chf|cad|aud|rub|krw|sek|nok|dkk|pln|czk|huf|try|brl|mxn|zar|btc|eth|usdt|sgd|hkd|nzd|aed|ils|thb|rs\.?|fr\.`
	names    = `dollars?|bucks?|euros?|pounds?|quid|rupees?|yen|yuan|francs?|rubles|won|zloty|reais|pesos|rand|bitcoin`
	numeral  = `\d(?:[\d.,' ]{0,30}\d)?`
	thousand = `(?:\s?(k|m|mn|bn|thousand|million|billion|lakh|lakhs|crore|crores)\b)?`
)

var (
	before = regexp.MustCompile(`(?:(` + signs + `)|\b(` + codes + `))\s?(` + numeral + `)` + thousand)
	behind = regexp.MustCompile(`(` + numeral + `)` + thousand + `\s?(?:(` + signs + `)|(` + codes + `|` + names + `)\b)`)
	plain  = regexp.MustCompile(numeral + thousand)
	spoken = regexp.MustCompile(`((?:[a-z]+[ -])*[a-z]+)[ -](` + names + `)\b`)
)

var scales = map[string]int{"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9, "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7}

// moneyIn gives the amounts in a text: those that name a currency and, with bare, every other number too. A number that can
// be read in two ways ("1.200") is both.
func moneyIn(text string, bare bool) []money {
	text = fold(text)
	var out []money
	add := func(raw, number, scale, currency string) {
		for _, value := range readings(number, scales[scale]) {
			out = append(out, money{strings.TrimSpace(raw), value, currencies[currency]})
		}
	}
	for _, m := range before.FindAllStringSubmatch(text, -1) {
		add(m[0], m[3], m[4], m[1]+m[2])
	}
	for _, m := range behind.FindAllStringSubmatch(text, -1) {
		add(m[0], m[1], m[2], m[3]+m[4])
	}
	for _, m := range spoken.FindAllStringSubmatch(text, -1) {
		if n, ok := inWords(m[1]); ok {
			out = append(out, money{m[0], strconv.Itoa(n), currencies[m[2]]})
		}
	}
	if bare {
		text = behind.ReplaceAllString(before.ReplaceAllString(text, " "), " ") // what names a currency is not of any other
		for _, m := range plain.FindAllStringSubmatch(text, -1) {
			number := strings.TrimSpace(strings.TrimSuffix(m[0], m[1]))
			add(m[0], number, m[1], "")
			for _, part := range strings.Fields(number) { // "on 12 50 dollars": not one number
				add(part, part, "", "")
			}
		}
		if n, ok := inWords(strings.TrimSpace(text)); ok {
			out = append(out, money{text, strconv.Itoa(n), ""})
		}
	}
	return out
}

// readings gives the values that a written number can have, in one form.
func readings(number string, zeros int) []string {
	number = strings.TrimRight(strings.NewReplacer("'", "", " ", "").Replace(number), ".,")
	point, comma := strings.LastIndexByte(number, '.'), strings.LastIndexByte(number, ',')
	whole := func(mark string) string { return strings.ReplaceAll(number, mark, "") }
	var out []string
	switch {
	case point >= 0 && comma >= 0 && point > comma:
		out = append(out, whole(","))
	case point >= 0 && comma >= 0:
		out = append(out, strings.Replace(whole("."), ",", ".", 1))
	case point < 0 && comma < 0:
		out = append(out, number)
	default:
		mark := ","
		if point >= 0 {
			mark = "."
		}
		at := max(point, comma)
		once, behind := strings.Count(number, mark) == 1, len(number)-at-1
		if !once || behind == 3 {
			out = append(out, whole(mark))
		}
		if once && (behind != 3 || mark == ".") {
			out = append(out, strings.Replace(number, mark, ".", 1))
		}
	}
	for i, n := range out {
		out[i] = canonical(n, zeros)
	}
	return out
}

// canonical moves the point and takes away the zeros that say nothing.
func canonical(n string, zeros int) string {
	whole, part, _ := strings.Cut(n, ".")
	part = strings.ReplaceAll(part, ".", "")
	for ; zeros > 0; zeros-- {
		if part == "" {
			whole += "0"
			continue
		}
		whole, part = whole+part[:1], part[1:]
	}
	whole, part = strings.TrimLeft(whole, "0"), strings.TrimRight(part, "0")
	if whole == "" {
		whole = "0"
	}
	if part == "" {
		return whole
	}
	return whole + "." + part
}

var numberWords = map[string]int{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

var bigWords = map[string]int{"thousand": 1000, "lakh": 100_000, "million": 1_000_000, "crore": 10_000_000, "billion": 1_000_000_000}

// inWords reads a number that is written in words at the end of a text: "five thousand two hundred".
func inWords(text string) (n int, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '-' })
	from := len(words)
	for from > 0 && (numberWords[words[from-1]] > 0 || bigWords[words[from-1]] > 0 || words[from-1] == "hundred" || words[from-1] == "and" && from < len(words)) {
		from--
	}
	part := 0
	for _, w := range words[max(from, len(words)-20):] {
		switch {
		case numberWords[w] > 0:
			part, ok = part+numberWords[w], true
		case w == "hundred":
			part, ok = max(part, 1)*100, true
		case bigWords[w] > 0:
			n, part, ok = n+max(part, 1)*bigWords[w], 0, true
		}
	}
	return n + part, ok && from < len(words)
}

// currencyOf gives the currency that a field beside an amount names.
func currencyOf(written string) string { return currencies[strings.TrimSpace(fold(written))] }
