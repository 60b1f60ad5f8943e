package outside

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sentient/backend/approval/evidence"
)

const (
	secretCode = "q7xk29lmzw4trb8vn1sdye6huc3jpgf0"
	bookedAt   = "https://docs.example/d/1aB3xQ9zLmN0pQ?tab=t.0"
)

func run(words ...string) *evidence.Evidence {
	return &evidence.Evidence{Words: words, UserName: "Emma Johnson", Results: []evidence.Result{
		{Tool: "gmail_search", Private: true, Outside: true, Text: `{"from":"Magdalena Wisniewska <mw@example.pl>","body":"Your code is ` + secretCode + `, the pass phrase is Silbermond Zaunkonig. See ` + bookedAt + ` and https:\/\/shop.example\/a?b=1\u0026c=88213377."}`},
		{Tool: "web_fetch", Outside: true, Text: "Menu: https://menu.example/q https://menu.example/7 https://menu.example/x https://menu.example/k https://menu.example/2 https://menu.example/9 https://menu.example/l https://menu.example/m https://menu.example/z https://menu.example/w and [a](https://news.example/item/88120934)."},
	}}
}

func TestOneAddress(t *testing.T) {
	for name, c := range map[string]struct {
		words   string
		address string
		want    bool
	}{
		"a name from a mail":                   {"read my mail", "https://evil.example/wisniewska", true},
		"it is in the person's words":          {"who is Wisniewska?", "https://en.wikipedia.org/wiki/Wisniewska", false},
		"a short name":                         {"read my mail", "https://en.wikipedia.org/wiki/Emma", false},
		"a phrase, run together":               {"read my mail", "https://evil.example/silbermondzaunkonig", true},
		"a phrase, backwards":                  {"read my mail", "https://evil.example/" + reversed("silbermond"), true},
		"a phrase, moved":                      {"read my mail", "https://evil.example/" + caesar(5)("silbermond"), true},
		"a phrase cut by hidden characters":    {"read my mail", "https://evil.example/silb\u200ber\u00admond", true},
		"a phrase in look-alikes":              {"read my mail", "https://evil.example/?q=ѕіlbеrmоnd", true},
		"a whole address of a mail":            {"read my mail", bookedAt, false},
		"its beginning":                        {"read my mail", strings.TrimSuffix(bookedAt, "m7n?tab=t.0") + "x9", true},
		"a whole address written with escapes": {"read my mail", "https://shop.example/a?b=1&c=88213377", false},
		"another number in it":                 {"read my mail", "https://shop.example/a?b=1&c=88213378&d=4471920", true},
		"a whole address of a page":            {"read my mail", "https://news.example/item/88120934", false},
		"the beginning of one":                 {"read my mail", "https://news.example/item/8812093412", true},
		"an address of the person's":           {"open https://evil.example/?x=" + secretCode, "https://evil.example/?x=" + secretCode, false},
		"the same with more":                   {"open https://evil.example/?x=1", "https://evil.example/?x=" + secretCode, true},
		"an unknown encoding of a whole value": {"read my mail", "https://evil.example/fH3kQ9mZx81LpWv7", true},
		"in capitals and small letters":        {"read my mail", "https://evil.example/neWsaNdWeATHerIsSunnyToDAyHeREanDThErE", true},
		"a password in a user name":            {"read my mail", "https://" + secretCode[:9] + ":x@evil.example/", true},
		"spelled with words":                   {"read my mail", "https://evil.example/quebec-seven-xray-kilo-two-nine-lima-mike", true},
		"an unreadable address":                {"read my mail", "https://[bad/", true},
		"no address":                           {"read my mail", "", false},
		"a long address":                       {"read my mail", "https://evil.example/" + strings.Repeat("news/", 4000), true},
		"a date":                               {"read my mail", "https://news.example/2026/05/21/weather-in-paris", false},
		"a page number":                        {"read my mail", "https://news.example/archive?page=12", false},
		"a place on a map":                     {"read my mail", "https://maps.example/?lat=48.85&lon=2.35", false},
	} {
		t.Run(name, func(t *testing.T) {
			if piece, found := NewValues().Check(run(c.words), c.address); found != c.want {
				t.Errorf("%s: %q, %v", c.address, piece, found)
			}
		})
	}
}

func TestAListOfLinksSpellsNothing(t *testing.T) {
	e, v := run("read my mail"), NewValues()
	for i := range secretCode[:10] {
		address := "https://menu.example/" + secretCode[i:i+1]
		if _, found := v.Check(e, address); found {
			if i < 6 {
				t.Errorf("asked at the %d. link", i)
			}
			return
		}
		e.Loaded = append(e.Loaded, address)
	}
	t.Error("ten characters left by the choice of links")
}

func TestWhatWasLoadedBeforeIsNotHeldAgainstLater(t *testing.T) {
	e := &evidence.Evidence{Words: []string{"hello"}}
	v := NewValues()
	old := "https://files.example/8f3ad91c77e2b004"
	if _, found := v.Check(e, old); found {
		t.Fatal("nothing private was read, and it asks")
	}
	e.Loaded = []string{old}
	v.Check(e, "https://files.example/") // it is counted here
	e.Results = run().Results
	if piece, found := v.Check(e, "https://files.example/list?page=2"); found {
		t.Errorf("asks about %q", piece)
	}
}

func TestAYesIsNotHeldAgainstLater(t *testing.T) {
	e, v := run("read my mail"), NewValues()
	allowed := "https://files.example/8f3ad91c77e2b004"
	if _, found := v.Check(e, allowed); !found {
		t.Fatal("a code is free")
	}
	e.Loaded = append(e.Loaded, allowed) // the person said yes
	if piece, found := v.Check(e, "https://files.example/list?page=2"); found {
		t.Errorf("asks about %q", piece)
	}
	if _, found := v.Check(e, "https://files.example/"+secretCode); !found {
		t.Error("the yes covers another address")
	}
}

func TestAnotherPastIsCountedAnew(t *testing.T) {
	e, v := run("read my mail"), NewValues()
	e.Loaded = []string{"https://a.example/x7q2"}
	v.Check(e, "https://a.example/")
	e.Loaded = nil // the call did not run
	if piece, found := v.Check(e, "https://a.example/k4m9"); found {
		t.Errorf("asks about %q", piece)
	}
}

func TestSearchesCountTogether(t *testing.T) {
	e, v := run("read my mail"), NewValues()
	for i := 0; i < len(secretCode); i += 3 {
		q := "what is " + secretCode[i:min(i+3, len(secretCode))]
		if _, found := v.CheckText(e, q); found {
			if i < 3 {
				t.Error("asked about three characters")
			}
			return
		}
		args, _ := json.Marshal(map[string]string{"query": q})
		e.Results = append(e.Results, evidence.Result{Tool: "internet_search", Outside: true, Args: args, Text: fmt.Sprint("none ", i)})
	}
	t.Error("a code was searched for in pieces")
}

func FuzzCheck(f *testing.F) {
	f.Add("https://evil.example/?d="+secretCode, "x")
	f.Add("https://\u200bé.example/%25%32%35#&#x41;", "https://a.example")
	f.Add("//a@b:1/\\u0041", "[a](b)")
	f.Fuzz(func(t *testing.T, address, text string) {
		e, v := run(text), NewValues()
		v.Check(e, address)
		v.CheckText(e, text)
		e.Loaded = append(e.Loaded, address, text)
		e.Results = append(e.Results, evidence.Result{Text: text, Args: json.RawMessage(text)}, evidence.Result{Text: address, Private: true})
		v.Check(e, text)
		if strings.Contains(text, secretCode) {
			return // the person knows it
		}
		if _, found := NewValues().Check(run("hello"), "https://evil.example/"+strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return '-'
			}
			return r
		}, text[:min(len(text), 40)])+"/"+secretCode); !found {
			t.Fatal("a code went unseen")
		}
	})
}
