package opt

import (
	"encoding/json"
	"testing"
)

type patch struct {
	Name  Field[string]         `json:"name,omitzero"`
	Count Field[int]            `json:"count,omitzero"`
	List  Field[[]string]       `json:"list,omitzero"`
	Inner Field[map[string]int] `json:"inner,omitzero"`
	Sub   *patch                `json:"sub,omitempty"`
}

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"name":null}`,
		`{"name":""}`,
		`{"name":"a","count":0}`,
		`{"count":null,"list":[]}`,
		`{"list":null,"inner":{}}`,
		`{"list":["a"],"inner":{"b":1}}`,
		`{"sub":{"name":null,"count":7}}`,
	} {
		var p patch
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(text, err)
		}
		b, err := json.Marshal(p)
		if err != nil || string(b) != text {
			t.Errorf("%s became %s (%v)", text, b, err)
		}
	}
}

func TestAbsentNullAndValue(t *testing.T) {
	for _, c := range []struct {
		text      string
		set, null bool
		value     string
		has       bool
	}{
		{`{}`, false, false, "", false},
		{`{"name": null}`, true, true, "", false},
		{`{"name": "a"}`, true, false, "a", true},
		{`{"name": ""}`, true, false, "", true},
		{`{"name": "a", "name": null}`, true, true, "", false},
		{`{"name": null, "name": "a"}`, true, false, "a", true},
	} {
		var p patch
		if err := json.Unmarshal([]byte(c.text), &p); err != nil {
			t.Fatal(err)
		}
		v, has := p.Name.Get()
		if p.Name.Set != c.set || p.Name.Null != c.null || v != c.value || has != c.has || p.Name.IsZero() != !c.set {
			t.Errorf("%s: %+v", c.text, p.Name)
		}
	}
	if json.Unmarshal([]byte(`{"count": "x"}`), new(patch)) == nil {
		t.Error("text was read as a number")
	}
}

func TestOfAndNull(t *testing.T) {
	for _, c := range []struct {
		p    patch
		want string
	}{
		{patch{}, `{}`},
		{patch{Name: Of("")}, `{"name":""}`},
		{patch{Name: Null[string](), Count: Of(3)}, `{"name":null,"count":3}`},
	} {
		if b, err := json.Marshal(c.p); string(b) != c.want || err != nil {
			t.Errorf("%s %v, want %s", b, err, c.want)
		}
	}
	if b, err := json.Marshal(Field[int]{}); string(b) != "null" || err != nil {
		t.Error(string(b), err)
	}
}
