// Package art holds Sentient's own pictures: the icon of its windows and the one in the tray. They are drawn by code
// (folder draw) and committed, so that a build needs no drawing program. It holds pictures and nothing else; the
// programs in app/ import it.
package art

import (
	"bytes"
	_ "embed"
	"image"
	"image/color"
	"image/png"
	"math"
)

// Make the pictures anew after a change of this file.
//
//go:generate go run sentient/build/packaging/art/draw

//go:embed window.png
var window []byte

//go:embed tray.png
var tray []byte

//go:embed tray.ico
var trayICO []byte

// Window is the window's icon: a PNG of 256 pixels. Nobody changes it.
func Window() []byte { return window }

// Tray is the icon for tray hosts: a PNG of 64 pixels, or its ICO where the system wants one (Windows). It keeps its
// place in memory, because the tray library holds on to it.
func Tray(windows bool) []byte {
	if windows {
		return trayICO
	}
	return tray
}

// Sizes are those in which the window's icon is packaged, in pixels.
func Sizes() []int { return []int{16, 24, 32, 48, 64, 128, 256, 512} }

// DrawWindow draws the window's icon: the mark in white on a rounded tile.
func DrawWindow(size int) []byte {
	tile, mark := color.NRGBA{0x0f, 0x76, 0x6e, 0xff}, color.NRGBA{0xff, 0xff, 0xff, 0xff}
	return draw(size, func(x, y float64) (color.NRGBA, bool) {
		switch {
		case inMark(16+(x-16)/0.72, 16+(y-16)/0.72):
			return mark, true
		case inTile(x, y):
			return tile, true
		}
		return color.NRGBA{}, false
	})
}

// DrawTray draws the tray's icon: the mark alone, in a colour that stands out from light and dark panels alike.
func DrawTray(size int) []byte {
	mark := color.NRGBA{0x0d, 0x94, 0x88, 0xff}
	return draw(size, func(x, y float64) (color.NRGBA, bool) { return mark, inMark(x, y) })
}

// inMark tells whether a point of the 32 × 32 drawing belongs to the mark: a ring with a point inside that looks up.
func inMark(x, y float64) bool {
	const ring, half, point = 12.5, 1.5, 4.4
	return math.Abs(math.Hypot(x-16, y-16)-ring) <= half || math.Hypot(x-20, y-12) <= point
}

// inTile tells whether a point belongs to the tile behind the mark, a square with round corners.
func inTile(x, y float64) bool {
	const edge, corner = 15.0, 7.0
	dx, dy := math.Abs(x-16), math.Abs(y-16)
	if dx > edge || dy > edge {
		return false
	}
	return dx <= edge-corner || dy <= edge-corner || math.Hypot(dx-(edge-corner), dy-(edge-corner)) <= corner
}

// draw fills a square picture from what each point of the 32 × 32 drawing is, eight points a side in each pixel.
func draw(size int, at func(x, y float64) (color.NRGBA, bool)) []byte {
	const fine = 8
	scale := 32 / float64(size*fine)
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for py := range size {
		for px := range size {
			var r, g, b, n int
			for s := range fine * fine {
				x, y := float64(px*fine+s%fine)+0.5, float64(py*fine+s/fine)+0.5
				if c, ok := at(x*scale, y*scale); ok {
					r, g, b, n = r+int(c.R), g+int(c.G), b+int(c.B), n+1
				}
			}
			if n > 0 {
				img.SetNRGBA(px, py, color.NRGBA{uint8(r / n), uint8(g / n), uint8(b / n), uint8(n * 255 / (fine * fine))})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil { // only a picture without an area gives one, and none is
		panic(err)
	}
	return out.Bytes()
}

// ICO puts PNG pictures, square and of at most 256 pixels, into one Windows icon file.
func ICO(pictures ...[]byte) []byte {
	const head, entry = 6, 16
	out := []byte{0, 0, 1, 0, byte(len(pictures)), 0}
	at := head + entry*len(pictures)
	for _, p := range pictures {
		size := p[16:20] // the PNG's width, big-endian, in its first chunk; 256 is written as 0
		out = append(out, size[3], size[3], 0, 0, 1, 0, 32, 0)
		out = le32(le32(out, len(p)), at)
		at += len(p)
	}
	for _, p := range pictures {
		out = append(out, p...)
	}
	return out
}

func le32(to []byte, n int) []byte { return append(to, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) }
