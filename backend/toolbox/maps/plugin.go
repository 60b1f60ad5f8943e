// Package maps is the plugin that makes links to maps.
//
// It owns one tool, maps_link. It promises to ask nobody: a link is made of the words it was given, and whoever opens it
// asks the map.
package maps

import (
	"context"
	"net/url"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/tool"
)

// New makes the plugin.
func New() *tool.Plugin {
	return &tool.Plugin{
		ID: "maps", Name: "Maps", Description: "Makes links to places and routes on a map.", Category: "utilities", Icon: "map", Auth: "builtin", Public: true,
		Hint:  "map maps place address directions route way drive driving walk walking bike cycling transit bus train station navigate navigation location where near far distance travel karte weg mapa ruta carte itinéraire",
		Tools: []*tool.Tool{link()},
	}
}

type linkIn struct {
	Place string `json:"place,omitempty" doc:"A place or address to show."`
	From  string `json:"from,omitempty" doc:"For a route: where it begins; left out: where the user is."`
	To    string `json:"to,omitempty" doc:"For a route: where it leads."`
	Mode  string `json:"mode,omitempty" doc:"For a route; driving when left out." enum:"driving,walking,cycling,transit"`
}

// linkOut is what maps_link gives.
type linkOut struct {
	Place         string `json:"place,omitempty"`
	From          string `json:"from,omitempty"`
	To            string `json:"to,omitempty"`
	Mode          string `json:"mode,omitempty"`
	GoogleMaps    string `json:"google_maps_url"`
	OpenStreetMap string `json:"openstreetmap_url,omitempty"` // not for public transport, nor from where the user is
}

// maxWords is how long a place may be, in characters.
const maxWords = 300

func link() *tool.Tool {
	return tool.New(tool.Def[linkIn]{
		Name:        "maps_link",
		Description: "Make a link that shows a place on a map, or a route from one place to another. It looks nothing up: distances and opening hours are not known from it.",
		Risk:        tool.Read,
		Outside:     tool.Never, // it is made of the call's own words
		Run: func(ctx context.Context, _ *tool.Context, in linkIn) (any, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return linkTo(in)
		},
	})
}

// engines are OpenStreetMap's names for ways to travel.
var engines = map[string]string{"driving": "fossgis_osrm_car", "walking": "fossgis_osrm_foot", "cycling": "fossgis_osrm_bike"}

func linkTo(in linkIn) (linkOut, error) {
	out := linkOut{Place: words(in.Place), From: words(in.From), To: words(in.To)}
	for _, s := range []string{out.Place, out.From, out.To} {
		if len([]rune(s)) > maxWords {
			return linkOut{}, errs.New(errs.Invalid, "place_too_long", "This place is too long to look for. Name it in a few words.")
		}
	}
	switch {
	case out.To == "" && out.From != "" && out.Place != "":
		out.To, out.Place = out.Place, ""
	case out.To == "" && out.Place == "":
		return linkOut{}, errs.New(errs.Invalid, "place_missing", "There is no place to show. Name a place, or where the route leads.")
	}
	if out.To == "" {
		out.GoogleMaps = address("https://www.google.com/maps/search/", "api", "1", "query", out.Place)
		out.OpenStreetMap = address("https://www.openstreetmap.org/search", "query", out.Place)
		out.From = ""
		return out, nil
	}
	out.Mode, out.Place = in.Mode, ""
	if out.Mode == "" {
		out.Mode = "driving"
	}
	mode := out.Mode
	if mode == "cycling" {
		mode = "bicycling"
	}
	out.GoogleMaps = address("https://www.google.com/maps/dir/", "api", "1", "origin", out.From, "destination", out.To, "travelmode", mode)
	if engine := engines[out.Mode]; engine != "" && out.From != "" {
		out.OpenStreetMap = address("https://www.openstreetmap.org/directions", "engine", engine, "from", out.From, "to", out.To)
	}
	return out, nil
}

// words makes one line of a place's name, without what cannot be seen.
func words(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", " ")), " ")
}

// address makes an address with those values that are there.
func address(base string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return base + "?" + q.Encode()
}
