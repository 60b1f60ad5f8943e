package look

import (
	"encoding/json"
	"regexp"
	"strings"

	"sentient/backend/approval/evidence"
)

// vouchers is what the person gave: in their words, and in what holds nothing from outside.
type vouchers struct {
	addresses map[string]bool
	phones    map[string][]string // by their last digits
	amounts   map[string]map[string]bool
	links     map[string]bool
	hosts     map[string]bool
}

func newVouchers() *vouchers {
	return &vouchers{map[string]bool{}, map[string][]string{}, map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// collectVouchers reads what vouches. A result that holds nothing from outside vouches for what it says, except for what
// the model itself had put into that call or one before: else a draft of its own making, or a file that it wrote, would
// vouch for an address it took from a page.
func collectVouchers(e *evidence.Evidence) *vouchers {
	v, said := newVouchers(), newVouchers()
	for _, text := range own(e) {
		v.add(text, nil)
	}
	for _, text := range e.Trusted {
		v.add(text, nil)
	}
	for _, r := range e.Results {
		for _, a := range readArguments(r.Args) {
			said.add(a.text, nil)
			for _, text := range decoded(a.text) {
				said.add(text, nil)
			}
		}
		if !fromOutside(r) {
			v.add(plainText(r.Text), said)
		}
	}
	return v
}

// plainText gives the values of JSON each on its own line, and other text as it is.
func plainText(text string) string {
	value, ok := readJSON([]byte(text))
	if !ok {
		return text
	}
	w := &walk{}
	w.value(argument{}, value, 0)
	var b strings.Builder
	for _, a := range w.out {
		b.WriteString(a.text + "\n")
	}
	return b.String()
}

// add takes what a text holds, except what is in except.
func (v *vouchers) add(text string, except *vouchers) {
	for _, a := range addressInText(text) {
		if except == nil || !except.addresses[a] {
			v.addresses[a] = true
		}
	}
	for _, p := range phonesIn(text) {
		if except == nil || !except.phone(p) {
			v.addPhone(p)
		}
	}
	for _, m := range moneyIn(text, true) {
		if except == nil || !except.amount(money{value: m.value}) {
			v.addAmount(m)
		}
	}
	for _, l := range linksIn(text) {
		if except == nil || !except.hosts[l.host] {
			v.links[l.form], v.hosts[l.host] = true, true
		}
	}
}

// ending gives the digits that a number has in common with every spelling of it.
func ending(digits string) string { return digits[max(0, len(digits)-7):] }

func (v *vouchers) addPhone(digits string) {
	if !v.phone(digits) {
		v.phones[ending(digits)] = append(v.phones[ending(digits)], digits)
	}
}

func (v *vouchers) phone(digits string) bool {
	for _, known := range v.phones[ending(digits)] {
		if samePhone(known, digits) {
			return true
		}
	}
	return false
}

func (v *vouchers) addAmount(m money) {
	if v.amounts[m.value] == nil {
		v.amounts[m.value] = map[string]bool{}
	}
	v.amounts[m.value][m.currency] = true
}

// amount reports whether an amount was given: the same number, in the same currency where both name one.
func (v *vouchers) amount(m money) bool {
	given := v.amounts[m.value]
	return len(given) > 0 && (m.currency == "" || given[m.currency] || given[""])
}

// starts is how a result begins that says itself, or was marked by the engine, to come from outside.
var starts = regexp.MustCompile(`^\s*(\{\s*"outside_content"\s*:\s*"|\[outside content )`)

func fromOutside(r evidence.Result) bool { return r.Outside || starts.MatchString(r.Text) }

// sourceOf gives what a person calls the place a result came from.
func sourceOf(r evidence.Result) string {
	var says struct {
		From string `json:"outside_content"`
	}
	switch {
	case r.Source != "":
		return r.Source
	case json.Unmarshal([]byte(r.Text), &says) == nil && says.From != "":
		return says.From
	case r.App != "":
		return r.App
	}
	return "something Sentient read"
}
