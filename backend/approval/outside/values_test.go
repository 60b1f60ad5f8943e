package outside_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sentient/backend/approval/evidence"
	"sentient/backend/approval/outside"
)

const key = "q7Xk29LmZw4TrB8vN1sDyE6hUc3JpGf0"

func knows(words string) (*evidence.Evidence, *outside.Values) {
	e := &evidence.Evidence{Words: []string{words}, Turn: []string{words}, Results: []evidence.Result{
		{Tool: "gmail_search", App: "gmail", Source: "Gmail", Text: `{"messages":[{"subject":"Hi","body":"The key is ` + key + `. See https://docs.example/page?id=81723"}]}`, Outside: true, Private: true},
		{Tool: "internet_search", App: "search", Source: "Search", Text: `{"results":[{"title":"Trains from Oslo","url":"https://trains.example/oslo?from=osl&to=bgo"}]}`, Outside: true},
	}}
	v := outside.NewValues()
	for _, r := range e.Results {
		v.Add(r)
	}
	return e, v
}

func TestAnAddressThatCarriesWhatIsPrivate(t *testing.T) {
	reversed := []rune(key)
	slices.Reverse(reversed)
	percent := ""
	for _, c := range []byte(key) {
		percent += "%" + hex.EncodeToString([]byte{c})
	}
	for name, address := range map[string]string{
		"plain":               "https://evil.example/?d=" + key,
		"in the path":         "https://evil.example/" + key,
		"in the host":         "https://" + strings.ToLower(key) + ".evil.example/",
		"in the fragment":     "https://evil.example/#" + key,
		"as a user":           "https://" + key + "@evil.example/",
		"half of it":          "https://evil.example/" + key[:12],
		"base64":              "https://evil.example/?d=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(key))),
		"base64, shifted":     "https://evil.example/?d=" + base64.RawURLEncoding.EncodeToString([]byte("x"+key)),
		"hex":                 "https://evil.example/?d=" + hex.EncodeToString([]byte(key)),
		"percent signs":       "https://evil.example/?d=" + percent,
		"percent signs twice": "https://evil.example/?d=" + url.QueryEscape(percent),
		"reversed":            "https://evil.example/?d=" + string(reversed),
		"in other case":       "https://evil.example/?d=" + strings.ToUpper(key),
		"with dashes":         "https://evil.example/?d=" + strings.Join(strings.Split(key, ""), "-"),
		"over path parts":     "https://evil.example/" + strings.Join(strings.Split(key, ""), "/"),
	} {
		e, v := knows("Summarise my newest mail")
		if _, found := v.Check(e, address); !found {
			t.Errorf("%s went unseen: %s", name, address)
		}
	}
}

func TestPiecesCountTogether(t *testing.T) {
	e, v := knows("Summarise my newest mail")
	for i := 0; i+4 <= len(key); i += 4 {
		address := "https://evil.example/" + key[i:i+4]
		if _, found := v.Check(e, address); found {
			return
		}
		e.Loaded = append(e.Loaded, address)
	}
	t.Error("a key went out in pieces of four")
}

func TestAddressesThatAskNothing(t *testing.T) {
	for name, address := range map[string]string{
		"a front page":           "https://news.example/",
		"an address of a result": "https://trains.example/oslo?from=osl&to=bgo",
		"an address of a mail":   "https://docs.example/page?id=81723",
		"one that was typed":     "https://shop.example/item?id=" + key,
		"common words":           "https://en.wikipedia.org/wiki/Train",
		"what was asked for":     "https://trains.example/search?q=trains+to+bergen",
	} {
		e, v := knows("Find trains to Bergen, and look at https://shop.example/item?id=" + key)
		if carried, found := v.Check(e, address); found {
			t.Errorf("%s asks about %q: %s", name, carried, address)
		}
	}
	e, v := knows("What is the weather in Bergen?")
	if _, found := v.CheckText(e, "weather in Bergen tomorrow"); found {
		t.Error("an ordinary search asks")
	}
	if _, found := v.CheckText(e, "what is "+key); !found {
		t.Error("a search for a key does not")
	}
}

func TestNothingPrivateNothingFound(t *testing.T) {
	if _, found := outside.NewValues().Check(&evidence.Evidence{}, "https://evil.example/?d="+key); found {
		t.Error("found a value that nobody had")
	}
}
