package maps

import (
	"encoding/json"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

func TestConform(t *testing.T) {
	conform.Plugin(t, New(), conform.Case{Tool: "maps_link", Args: `{"place":"Berlin"}`})
}

func TestLinks(t *testing.T) {
	for args, want := range map[string]string{
		`{"place":"Café Kranz, Köln"}`:                          `{"place":"Café Kranz, Köln","google_maps_url":"https://www.google.com/maps/search/?api=1&query=Caf%C3%A9+Kranz%2C+K%C3%B6ln","openstreetmap_url":"https://www.openstreetmap.org/search?query=Caf%C3%A9+Kranz%2C+K%C3%B6ln"}`,
		`{"to":"Rome","from":"Berlin & more","mode":"cycling"}`: `{"from":"Berlin & more","to":"Rome","mode":"cycling","google_maps_url":"https://www.google.com/maps/dir/?api=1&destination=Rome&origin=Berlin+%26+more&travelmode=bicycling","openstreetmap_url":"https://www.openstreetmap.org/directions?engine=fossgis_osrm_bike&from=Berlin+%26+more&to=Rome"}`,
		`{"to":"Rome"}`:                          `{"to":"Rome","mode":"driving","google_maps_url":"https://www.google.com/maps/dir/?api=1&destination=Rome&travelmode=driving"}`,
		`{"from":"A","to":"B","mode":"transit"}`: `{"from":"A","to":"B","mode":"transit","google_maps_url":"https://www.google.com/maps/dir/?api=1&destination=B&origin=A&travelmode=transit"}`,
		`{"from":"A","place":"B"}`:               `{"from":"A","to":"B","mode":"driving","google_maps_url":"https://www.google.com/maps/dir/?api=1&destination=B&origin=A&travelmode=driving","openstreetmap_url":"https://www.openstreetmap.org/directions?engine=fossgis_osrm_car&from=A&to=B"}`,
	} {
		v, err := New().Tools[0].Run(t.Context(), &tool.Context{}, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil || strings.TrimSpace(b.String()) != want {
			t.Errorf("%s:\n got %s want %s", args, b.String(), want)
		}
	}
	for args, code := range map[string]string{`{}`: "place_missing", `{"from":"A"}`: "place_missing", `{"place":" \n"}`: "place_missing", `{"place":"` + strings.Repeat("ж", 301) + `"}`: "place_too_long"} {
		if v, err := New().Tools[0].Run(t.Context(), &tool.Context{}, json.RawMessage(args)); errs.Code(err) != code {
			t.Errorf("%.40s: %v, %v", args, v, err)
		}
	}
}
