// Package charts is the plugin that draws charts.
//
// It owns one tool, chart_create, and the folder files/charts/. It promises a picture of a fixed size, whole or not at all,
// under a name that no other chart has, and to refuse what cannot be drawn readably. It draws on white, whatever the
// window's theme: a chart is made to be sent on.
package charts

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/wholefile"
)

//go:embed chart_create.md
var description string

// Deps are what the plugin needs from outside.
type Deps struct {
	Dir string // the data folder

	width, height int // of a picture; tests draw smaller ones
}

// New makes the plugin.
func New(d Deps) *tool.Plugin {
	if d.width == 0 {
		d.width, d.height = width, height
	}
	return &tool.Plugin{
		ID: "charts", Name: "Charts", Description: "Draws charts as pictures.", Category: "utilities", Icon: "chart-bar", Auth: "builtin", Trusted: true, Public: true,
		Hint:  "chart charts graph plot draw diagram bar line pie scatter histogram visualize visualise trend axis picture of numbers diagramm gráfico graphique",
		Tools: []*tool.Tool{d.create()},
	}
}

// Limits of what is drawn.
const (
	maxLabels = 200
	maxSlices = 12 // of a pie
	maxBars   = 120
	maxSeries = 8
	maxTitle  = 120 // characters
	maxLabel  = 40
	maxValue  = 1e15
)

type createIn struct {
	Kind   string   `json:"kind" doc:"The kind of chart." enum:"bar,line,pie,scatter"`
	Title  string   `json:"title" doc:"What the chart shows, with its unit."`
	Labels []string `json:"labels" doc:"One label for each value, such as the months."`
	Series []series `json:"series" doc:"One for each line or colour; a pie has one."`
	YTitle string   `json:"y_title,omitempty" doc:"What the values are, such as EUR."`
}

type series struct {
	Name   string    `json:"name" doc:"What it is."`
	Values []float64 `json:"values" doc:"As many values as labels."`
}

// createOut is what chart_create gives.
type createOut struct {
	File   string `json:"file"` // its name in the API
	Title  string `json:"title"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Note   string `json:"note,omitempty"`
}

func (d Deps) create() *tool.Tool {
	return tool.New(tool.Def[createIn]{
		Name: "chart_create", Description: strings.TrimSpace(description), Risk: tool.Write, Internal: true,
		Run: d.run,
		Files: func(_ createIn, result json.RawMessage) []string {
			var out createOut
			if json.Unmarshal(result, &out) != nil {
				return nil
			}
			return []string{out.File}
		},
		Describe: func(_ context.Context, _ *tool.Context, in createIn) (tool.Wording, error) {
			return tool.Wording{RiskLabel: "Draws a chart", Target: words(in.Title, maxTitle)}, nil
		},
	})
}

func (d Deps) run(ctx context.Context, _ *tool.Context, in createIn) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	in.tidy()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	picture, err := draw(in, d.width, d.height)
	if err != nil {
		return nil, errs.New(errs.Internal, "chart_failed", "This chart could not be drawn. Try another kind, or fewer values.").Because(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := d.keep(in.Title, picture)
	if err != nil {
		return nil, errs.New(errs.Unavailable, "files_failed", "The chart could not be saved. See whether the disk is full, and try again.").Because(err)
	}
	out := createOut{File: name, Title: in.Title, Width: d.width, Height: d.height}
	if !drawable(in) {
		out.Note = "Some letters are not in the chart's font and show as boxes. Use Latin, Greek or Cyrillic letters for the labels."
	}
	return out, nil
}

// check refuses what cannot be drawn, in words that say how it can.
func (in createIn) check() error {
	refuse := func(format string, args ...any) error {
		return errs.Newf(errs.Invalid, "chart_invalid", format, args...)
	}
	n := len(in.Labels)
	switch {
	case n == 0 || len(in.Series) == 0:
		return refuse("There is nothing to draw. Give labels and at least one series of values.")
	case n > maxLabels:
		return refuse("A chart has at most %d labels; there are %d. Group the values.", maxLabels, n)
	case len(in.Series) > maxSeries:
		return refuse("A chart has at most %d series; there are %d. Make two charts.", maxSeries, len(in.Series))
	case in.Kind == "bar" && n*len(in.Series) > maxBars:
		return refuse("A bar chart has at most %d bars. Use a line chart, or group the values.", maxBars)
	case in.Kind == "pie" && len(in.Series) != 1:
		return refuse("A pie has one series.")
	case in.Kind == "pie" && n > maxSlices:
		return refuse("A pie has at most %d slices. Add the small ones up, or use a bar chart.", maxSlices)
	}
	for i, s := range in.Series {
		if len(s.Values) != n {
			return refuse("Series %d has %d values for %d labels. Give one value for each label.", i+1, len(s.Values), n)
		}
		sum := 0.0
		for _, v := range s.Values {
			if math.IsNaN(v) || math.Abs(v) > maxValue {
				return refuse("A value is too large to be drawn. Use a larger unit, such as millions.")
			}
			if in.Kind == "pie" && v < 0 {
				return refuse("A pie can't have negative values. Use a bar chart.")
			}
			sum += v
		}
		if in.Kind == "pie" && sum == 0 {
			return refuse("All slices of this pie are zero.")
		}
	}
	return nil
}

// tidy makes one line of each text, short enough to be read.
func (in *createIn) tidy() {
	in.Title, in.YTitle = words(in.Title, maxTitle), words(in.YTitle, maxLabel)
	for i := range in.Labels {
		in.Labels[i] = words(in.Labels[i], maxLabel)
	}
	for i := range in.Series {
		in.Series[i].Name = words(in.Series[i].Name, maxLabel)
		if in.Series[i].Name == "" && len(in.Series) > 1 {
			in.Series[i].Name = fmt.Sprintf("Series %d", i+1)
		}
	}
}

func words(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// keep saves a picture under a name of its own and gives it.
func (d Deps) keep(title string, picture []byte) (string, error) {
	folder := filepath.Join(d.Dir, "files", "charts")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	name := fmt.Sprintf("%s %s.png", plainName(title), hex.EncodeToString(random[:]))
	return "charts/" + name, wholefile.Write(filepath.Join(folder, name), picture)
}

// plainName makes a part of a file name of a title.
func plainName(title string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' {
			return r
		}
		return ' '
	}, title)
	runes := []rune(strings.Join(strings.Fields(name), " "))
	name = strings.TrimSpace(string(runes[:min(len(runes), 40)]))
	if name == "" {
		return "Chart"
	}
	return name
}
