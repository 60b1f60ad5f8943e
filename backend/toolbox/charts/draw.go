package charts

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"
)

// The picture's size: sharp on a page, small to send.
const (
	width  = 1200
	height = 700
)

// theme is dark text on white with colours that people who see few of them tell apart (Okabe and Ito).
func theme() charts.ColorPalette {
	ink, pale := charts.ColorFromHex("#24292f"), charts.ColorFromHex("#d8dee4")
	var colours []charts.Color
	for _, c := range []string{"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f", "#b8a800", "#332288", "#88ccee", "#aa4499", "#661100"} {
		colours = append(colours, charts.ColorFromHex(c))
	}
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: charts.ColorFromHex("#8c959f"), AxisSplitLineColor: pale, BackgroundColor: charts.ColorFromHex("#ffffff"),
		TextColor: ink, TextColorTitle: ink, TextColorMark: ink, TextColorLabel: ink, TextColorLegend: ink, TextColorXAxis: ink, TextColorYAxis: ink,
		SeriesColors: colours,
	})
}

// draw gives the PNG of a chart that was checked.
func draw(in createIn, width, height int) (png []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("draw chart: panic: %v", p)
		}
	}()
	look := theme()
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputPNG, Width: width, Height: height, Font: charts.GetFont(charts.FontFamilyNotoSans), Theme: look})
	d := drawing{in: in, look: look}
	switch in.Kind {
	case "line":
		err = p.LineChart(d.line())
	case "bar":
		err = p.BarChart(d.bar())
	case "pie":
		err = p.PieChart(d.pie())
	case "scatter":
		err = p.ScatterChart(d.scatter())
	default:
		err = errors.New("unknown kind")
	}
	if err != nil {
		return nil, fmt.Errorf("draw chart: %w", err)
	}
	png, err = p.Bytes()
	if err != nil {
		return nil, fmt.Errorf("draw chart: %w", err)
	}
	return png, nil
}

type drawing struct {
	in   createIn
	look charts.ColorPalette
}

func (d drawing) values() [][]float64 {
	var all [][]float64
	for _, s := range d.in.Series {
		all = append(all, s.Values)
	}
	return all
}

func (d drawing) title() charts.TitleOption {
	return charts.TitleOption{Text: d.in.Title, Offset: charts.OffsetStr{Left: charts.PositionLeft, Top: "10"}, FontStyle: charts.NewFontStyleWithSize(titleSize(d.in.Title))}
}

// titleSize makes a long title smaller, so that it stays on one line.
func titleSize(title string) float64 {
	return math.Max(12, math.Min(24, 24*60/math.Max(float64(len([]rune(title))), 1)))
}

func (d drawing) legend() charts.LegendOption {
	var names []string
	for _, s := range d.in.Series {
		names = append(names, s.Name)
	}
	show := len(names) > 1 || names[0] != "" && d.in.Kind != "pie" && names[0] != d.in.Title
	return charts.LegendOption{Show: &show, SeriesNames: names, FontStyle: charts.NewFontStyleWithSize(14), Offset: charts.OffsetStr{Left: charts.PositionCenter, Top: "52"}, Symbol: charts.SymbolSquare}
}

func (d drawing) labels() charts.CategoryAxisOption {
	axis := charts.CategoryAxisOption{Labels: d.in.Labels, LabelFontStyle: charts.NewFontStyleWithSize(13)}
	longest := 0
	for _, l := range d.in.Labels {
		longest = max(longest, len([]rune(l)))
	}
	if longest*len(d.in.Labels) > 110 && len(d.in.Labels) > 1 {
		axis.LabelRotation = charts.DegreesToRadians(40)
	}
	return axis
}

func (d drawing) scale() []charts.ValueAxisOption {
	axis := charts.ValueAxisOption{Title: d.in.YTitle, TitleFontStyle: charts.NewFontStyleWithSize(14), LabelFontStyle: charts.NewFontStyleWithSize(13), ValueFormatter: amount}
	if low, _ := d.ends(); d.in.Kind == "bar" && low >= 0 {
		axis.Min = charts.Ptr(0.0) // bars that do not begin at zero lie
	}
	return []charts.ValueAxisOption{axis}
}

func (d drawing) ends() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range d.in.Series {
		for _, v := range s.Values {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return low, high
}

func (d drawing) padding() charts.Box { return charts.NewBox(24, 20, 36, 20) }

func (d drawing) line() charts.LineChartOption {
	o := charts.NewLineChartOptionWithData(d.values())
	o.Theme, o.Padding, o.Title, o.Legend, o.XAxis, o.YAxis = d.look, d.padding(), d.title(), d.legend(), d.labels(), d.scale()
	o.LineStrokeWidth, o.ValueFormatter = 3, amount
	return o
}

func (d drawing) bar() charts.BarChartOption {
	o := charts.NewBarChartOptionWithData(d.values())
	o.Theme, o.Padding, o.Title, o.Legend, o.CategoryAxis, o.ValueAxis = d.look, d.padding(), d.title(), d.legend(), d.labels(), d.scale()
	o.ValueFormatter = amount
	if len(d.in.Labels)*len(d.in.Series) <= 20 {
		for i := range o.SeriesList {
			o.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), ValueFormatter: amount, FontStyle: charts.NewFontStyleWithSize(12)}
		}
	}
	return o
}

func (d drawing) scatter() charts.ScatterChartOption {
	o := charts.NewScatterChartOptionWithData(d.values())
	o.Theme, o.Padding, o.Title, o.Legend, o.XAxis, o.YAxis = d.look, d.padding(), d.title(), d.legend(), d.labels(), d.scale()
	o.Symbol, o.ValueFormatter = charts.Symbol{Shape: charts.SymbolDot, Size: 5}, amount
	return o
}

func (d drawing) pie() charts.PieChartOption {
	var values []float64
	var names []string
	total := 0.0
	for _, v := range d.in.Series[0].Values {
		total += v
	}
	for i, v := range d.in.Series[0].Values {
		if v > 0 {
			values = append(values, v)
			names = append(names, fmt.Sprintf("%s: %s (%.0f %%)", d.in.Labels[i], amount(v), v/total*100))
		}
	}
	o := charts.NewPieChartOptionWithData(values)
	o.Theme, o.Padding, o.Title, o.Radius = d.look, d.padding(), d.title(), "230"
	o.Legend = charts.LegendOption{Show: charts.Ptr(false), SeriesNames: names}
	for i := range o.SeriesList {
		o.SeriesList[i].Name = names[i]
		o.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), FontStyle: charts.NewFontStyleWithSize(14),
			LabelFormatter: func(_ int, name string, _ float64) (string, *charts.LabelStyle) { return name, nil }}
	}
	return o
}

// amount writes a number as people read it: 1,250,000 and 0.25, not 1.25e+06.
func amount(v float64) string {
	size := math.Abs(v)
	if size != 0 && size < 0.0001 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	decimals := 4
	switch {
	case size >= 1000:
		decimals = 0
	case size >= 100:
		decimals = 1
	case size >= 1:
		decimals = 2
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, rest, dotted := strings.Cut(text, ".")
	if rest = strings.TrimRight(rest, "0"); dotted && rest != "" {
		rest = "." + rest
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + rest
}
