package art

import (
	"bytes"
	"image/png"
	"testing"
)

func TestTheCommittedPicturesAreTheDrawnOnes(t *testing.T) {
	if !bytes.Equal(Window(), DrawWindow(256)) || !bytes.Equal(Tray(false), DrawTray(64)) ||
		!bytes.Equal(Tray(true), ICO(DrawTray(16), DrawTray(32), DrawTray(48))) {
		t.Error("the pictures are not those that the code draws: run go generate ./build/packaging/art")
	}
}

func TestPicturesAreWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		name    string
		picture []byte
		size    int
	}{{"window", Window(), 256}, {"tray", Tray(false), 64}, {"small", DrawTray(16), 16}} {
		img, err := png.Decode(bytes.NewReader(c.picture))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if b := img.Bounds(); b.Dx() != c.size || b.Dy() != c.size {
			t.Errorf("%s is %v, not %d pixels square", c.name, b, c.size)
		}
		if _, _, _, a := img.At(0, 0).RGBA(); a != 0 {
			t.Errorf("%s: its corner is not transparent", c.name)
		}
		x, y := c.size*20/32, c.size*12/32
		if _, _, _, a := img.At(x, y).RGBA(); a != 0xffff {
			t.Errorf("%s: the mark's point is not there", c.name)
		}
	}
	ico := Tray(true)
	if at := int(ico[18]) | int(ico[19])<<8; !bytes.HasPrefix(ico[at:], []byte("\x89PNG")) || ico[4] != 3 {
		t.Errorf("the icon file does not hold its three pictures (first at %d)", at)
	}
}
