package llm

import (
	"regexp"
	"strings"
	"testing"
)

func at(i int) *int { return &i }

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []CallPiece
		want   string // name arguments; …
		ids    string
	}{
		{"nothing", []CallPiece{{Index: at(0)}}, "", ""},
		{"one in pieces", []CallPiece{{Index: at(0), ID: "a", Name: "f"}, {Index: at(0), Arguments: `{"x"`}, {Index: at(0), Arguments: `:1}`}}, `f {"x":1}`, "a"},
		{"index alone tells apart", []CallPiece{{Index: at(0), Name: "f"}, {Index: at(1), Name: "f"}, {Index: at(0), Arguments: "{}"}}, "f {};f {}", "?,?"},
		{"same index, ids", []CallPiece{{Index: at(0), ID: "a", Name: "f", Arguments: "{}"}, {Index: at(0), ID: "b", Name: "f", Arguments: "{}"}}, "f {};f {}", "a,b"},
		{"same index, ids, going back", []CallPiece{{Index: at(0), ID: "a", Name: "f"}, {Index: at(0), ID: "b", Name: "g"}, {Index: at(0), ID: "a", Arguments: `{"p":1}`}}, `f {"p":1};g {}`, "a,b"},
		{"same index, no ids", []CallPiece{{Index: at(0), Name: "f", Arguments: "{}"}, {Index: at(0), Name: "g", Arguments: "{}"}}, "f {};g {}", "?,?"},
		{"same index, no ids, same tool", []CallPiece{{Index: at(0), Name: "f", Arguments: `{"a":1}`}, {Index: at(0), Name: "f", Arguments: `{"a":2}`}}, `f {"a":1};f {"a":2}`, "?,?"},
		{"no index, ids", []CallPiece{{ID: "a", Name: "f"}, {Arguments: "{}"}, {ID: "b", Name: "f"}, {Arguments: "{}"}}, "f {};f {}", "a,b"},
		{"nothing but names", []CallPiece{{Name: "f"}, {Name: "g"}}, "f {};g {}", "?,?"},
		{"same id everywhere", []CallPiece{{Index: at(0), ID: "f", Name: "f", Arguments: "{}"}, {Index: at(1), ID: "f", Name: "f", Arguments: "{}"}}, "f {};f {}", "f,?"},
		{"same id, same index, same tool", []CallPiece{{Index: at(0), ID: "f", Name: "f", Arguments: `{"a":1}`}, {Index: at(0), ID: "f", Name: "f", Arguments: `{"a":2}`}}, `f {"a":1};f {"a":2}`, "f,?"},
		{"name with every piece", []CallPiece{{Index: at(0), ID: "a", Name: "f", Arguments: `{"x"`}, {Index: at(0), ID: "a", Name: "f", Arguments: `:1}`}, {Index: at(0), ID: "a", Name: "f"}}, `f {"x":1}`, "a"},
		{"id later", []CallPiece{{Index: at(0), Name: "f"}, {Index: at(0), ID: "a", Arguments: "{}"}}, "f {}", "a"},
		{"not JSON", []CallPiece{{ID: "a", Name: "f", Arguments: `{"x": oops`}}, `f {"x": oops`, "a"},
		{"blanks at the end", []CallPiece{{Index: at(0), ID: "a", Name: "f", Arguments: "{} \n"}}, "f {}", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var calls Calls
			for _, p := range c.pieces {
				calls.Add(p)
			}
			var got, ids []string
			seen := map[string]bool{}
			first := calls.List()
			for i, x := range calls.List() {
				got = append(got, x.Name+" "+string(x.Arguments))
				if x.ID == "" || seen[x.ID] || x.ID != first[i].ID {
					t.Errorf("id %q is empty, twice, or changed", x.ID)
				}
				seen[x.ID] = true
				ids = append(ids, x.ID)
			}
			if strings.Join(got, ";") != c.want {
				t.Errorf("calls %q, want %q", got, c.want)
			}
			if c.want == "" {
				return
			}
			for i, want := range strings.Split(c.ids, ",") {
				if want != "?" && ids[i] != want || want == "?" && !madeUp.MatchString(ids[i]) {
					t.Errorf("id %d is %q, want %q", i, ids[i], want)
				}
			}
		})
	}
}

var madeUp = regexp.MustCompile(`^call[A-Z0-9]{20}$`)
