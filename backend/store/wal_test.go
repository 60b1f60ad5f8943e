package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What is read from a WAL here is what SQLite makes of it.
func TestWALIsReadAsSQLiteDoes(t *testing.T) {
	dir := t.TempDir()
	running(t, dir, "PRAGMA user_version=41", "PRAGMA user_version=42", "INSERT INTO rows (batch, text) VALUES (1, 'x')")
	b, err := os.ReadFile(filepath.Join(dir, FileName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	frame := walFrameSize + 4096
	for _, c := range []struct {
		name    string
		wal     []byte
		version int // 0: the WAL does not say
		lost    bool
	}{
		{"whole", b, 42, false},
		{"nothing", nil, 0, false},
		{"header alone", b[:walHeaderSize], 0, false},
		{"cut in its first frame", b[:walHeaderSize+100], 0, false},
		{"first commit", b[:walHeaderSize+frame], 41, false},
		{"second commit cut", b[:walHeaderSize+2*frame-1], 41, false},
		{"second commit broken", flipAt(b, walHeaderSize+frame+50), 41, true},
		{"second commit's salt broken", flipAt(b, walHeaderSize+frame+9), 41, true},
		{"last commit broken", flipAt(b[:walHeaderSize+2*frame], walHeaderSize+frame+50), 41, true},
		{"last commit's salt broken", flipAt(b[:walHeaderSize+2*frame], walHeaderSize+frame+9), 41, false},
		{"header broken", flipAt(b, 13), 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			look, err := scanWAL(bytes.NewReader(c.wal))
			if err != nil {
				t.Fatal(err)
			}
			h, _ := parseHeader(look.first)
			if h.version != c.version || look.lost != c.lost {
				t.Errorf("version %d, lost %v; want %d, %v", h.version, look.lost, c.version, c.lost)
			}
			if err := os.WriteFile(filepath.Join(dir, FileName+"-wal"), c.wal, 0o600); err != nil {
				t.Fatal(err)
			}
			var sqlite int
			r := pool(readerDSN, filepath.Join(dir, FileName), 1, nil)
			defer r.Close()
			if err := r.QueryRow("PRAGMA user_version").Scan(&sqlite); err != nil {
				t.Fatal(err)
			}
			want := c.version
			if want == 0 {
				want = 2 // what the file itself says
			}
			if sqlite != want {
				t.Errorf("SQLite says %d", sqlite)
			}
		})
	}
}

func flipAt(b []byte, at int) []byte {
	c := bytes.Clone(b)
	c[at] ^= 0x10
	return c
}

func FuzzWAL(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, walHeaderSize+walFrameSize))
	f.Add([]byte("\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x02\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		look, err := scanWAL(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		parseHeader(look.first)
	})
}
