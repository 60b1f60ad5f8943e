package charts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

func create(t *testing.T, dir string, in createIn) (createOut, error) {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	d := Deps{Dir: dir, width: 600, height: 350}
	if os.Getenv("SENTIENT_CHARTS") != "" || in.Kind == "line" && len(in.Labels) == 6 {
		d.width, d.height = 0, 0
	}
	x := New(d).Tools[0]
	args, err := x.Prepare(raw)
	if err != nil {
		return createOut{}, errs.New(errs.Invalid, "arguments", err.Error())
	}
	v, err := x.Run(t.Context(), &tool.Context{}, args)
	if err != nil {
		return createOut{}, err
	}
	return v.(createOut), nil
}

func numbers(n int, value float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = value * float64(i%7)
	}
	return list
}

func labels(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("Label ", i)
	}
	return list
}

func TestConform(t *testing.T) {
	conform.Plugin(t, New(Deps{Dir: t.TempDir(), width: 160, height: 100}), conform.Case{Tool: "chart_create", Args: `{"kind":"bar","title":"T","labels":["a","b"],"series":[{"name":"s","values":[1,2]}]}`})
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, in := range map[string]createIn{
		"nothing":         {Kind: "bar", Title: "T"},
		"no series":       {Kind: "bar", Labels: []string{"a"}},
		"another kind":    {Kind: "radar", Labels: []string{"a"}, Series: []series{{"s", []float64{1}}}},
		"too few values":  {Kind: "line", Labels: []string{"a", "b"}, Series: []series{{"s", []float64{1}}}},
		"too many values": {Kind: "line", Labels: []string{"a"}, Series: []series{{"s", []float64{1, 2}}}},
		"many labels":     {Kind: "line", Labels: labels(201), Series: []series{{"s", numbers(201, 1)}}},
		"many bars":       {Kind: "bar", Labels: labels(121), Series: []series{{"s", numbers(121, 1)}}},
		"many series":     {Kind: "line", Labels: []string{"a"}, Series: make([]series, 9)},
		"many slices":     {Kind: "pie", Labels: labels(13), Series: []series{{"s", numbers(13, 1)}}},
		"two pies":        {Kind: "pie", Labels: []string{"a"}, Series: []series{{"s", []float64{1}}, {"s", []float64{1}}}},
		"less than none":  {Kind: "pie", Labels: []string{"a", "b"}, Series: []series{{"s", []float64{1, -1}}}},
		"a pie of zero":   {Kind: "pie", Labels: []string{"a", "b"}, Series: []series{{"s", []float64{0, 0}}}},
		"a huge value":    {Kind: "line", Labels: []string{"a"}, Series: []series{{"s", []float64{1e300}}}},
	} {
		if got, err := create(t, dir, in); errs.Code(err) != "chart_invalid" && errs.Code(err) != "arguments" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "files", "charts")); err == nil && len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPictures(t *testing.T) {
	dir := t.TempDir()
	if keep := os.Getenv("SENTIENT_CHARTS"); keep != "" {
		dir = keep // to look at them
	}
	months := []string{"January", "February", "March", "April", "May", "June"}
	for name, in := range map[string]createIn{
		"bar":           {Kind: "bar", Title: "Revenue by month, thousand EUR", YTitle: "thousand EUR", Labels: months, Series: []series{{"2025", []float64{120, 132.5, 101, 134, 190, 230}}, {"2026", []float64{220, 182, 191, 234, 290, 330}}}},
		"line":          {Kind: "line", Title: "Temperature in Berlin, °C", Labels: months, Series: []series{{"High", []float64{3, 5, 9, 15, 20, 23}}, {"Low", []float64{-2, -1, 1, 5, 9, 13}}}},
		"pie":           {Kind: "pie", Title: "Where the money went", Labels: []string{"Rent", "Food", "Travel", "Savings", "Nothing"}, Series: []series{{"", []float64{1200, 480, 210.5, 300, 0}}}},
		"scatter":       {Kind: "scatter", Title: "Sleep and steps", Labels: labels(30), Series: []series{{"Steps", numbers(30, 1500)}}},
		"many bars":     {Kind: "bar", Title: "Many", Labels: labels(120), Series: []series{{"s", numbers(120, -3.7)}}},
		"many points":   {Kind: "line", Title: strings.Repeat("A long title ", 20), Labels: labels(200), Series: []series{{"a", numbers(200, 1e12)}, {"b", numbers(200, 1e-3)}}},
		"one value":     {Kind: "line", Title: "One", Labels: []string{"a"}, Series: []series{{"", []float64{5}}}},
		"one slice":     {Kind: "pie", Title: "One", Labels: []string{"a"}, Series: []series{{"", []float64{5}}}},
		"one bar":       {Kind: "bar", Title: "", Labels: []string{""}, Series: []series{{"", []float64{0}}}},
		"all the same":  {Kind: "line", Title: "Same", Labels: months, Series: []series{{"x", []float64{7, 7, 7, 7, 7, 7}}}},
		"zeros":         {Kind: "scatter", Title: "Zeros", Labels: months, Series: []series{{"x", make([]float64, 6)}}},
		"long labels":   {Kind: "bar", Title: "Long", Labels: []string{strings.Repeat("long label ", 10), strings.Repeat("other ", 20), "c\x00\n\u202e"}, Series: []series{{"s", []float64{1e15, -1e15, 1e-9}}}},
		"other scripts": {Kind: "bar", Title: "売上", Labels: []string{"一月"}, Series: []series{{"s", []float64{1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := create(t, dir, in)
			if err != nil {
				t.Fatal(err)
			}
			if (got.Note != "") != (name == "other scripts") || !strings.HasPrefix(got.File, "charts/") || !strings.HasSuffix(got.File, ".png") {
				t.Errorf("%+v", got)
			}
			raw, err := os.ReadFile(filepath.Join(dir, "files", filepath.FromSlash(got.File)))
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(bytes.NewReader(raw))
			if err != nil || picture.Bounds().Dx() != got.Width || picture.Bounds().Dy() != got.Height || got.Width != width && got.Width != 600 {
				t.Fatal(err)
			}
			if r, g, b, a := picture.At(1, 1).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff || a != 0xffff {
				t.Error("it is not on white")
			}
		})
	}
}

// Two charts of one title are two files, also when they are drawn at once.
func TestDrawnAtOnce(t *testing.T) {
	dir := t.TempDir()
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			if _, err := create(t, dir, createIn{Kind: "bar", Title: "../../A/b: c*", Labels: []string{"a"}, Series: []series{{"s", []float64{1}}}}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "files", "charts", "A b c *.png"))
	if len(files) != 4 || err != nil {
		t.Errorf("%v, %v", files, err)
	}
}

func TestFolderThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "files"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := create(t, dir, createIn{Kind: "bar", Title: "T", Labels: []string{"a"}, Series: []series{{"s", []float64{1}}}})
	if errs.Code(err) != "files_failed" || strings.Contains(errs.From(err).Message, dir) {
		t.Error(err)
	}
}

func TestAmount(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", -1: "-1", 1234567: "1,234,567", -1234.5: "-1,234", 999: "999", 123.45: "123.5", 12.345: "12.35", 0.25: "0.25", 0.00012: "0.0001", 1e-9: "1e-09", 1e15: "1,000,000,000,000,000", 1000: "1,000", 100: "100"} {
		if got := amount(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
