package charts

import "github.com/go-analyze/charts"

// drawable reports whether the typeface has all letters of a chart.
func drawable(in createIn) bool {
	texts := append([]string{in.Title, in.YTitle}, in.Labels...)
	for _, s := range in.Series {
		texts = append(texts, s.Name)
	}
	f := charts.GetFont(charts.FontFamilyNotoSans)
	for _, text := range texts {
		for _, r := range text {
			if f.Index(r) == 0 {
				return false
			}
		}
	}
	return true
}
