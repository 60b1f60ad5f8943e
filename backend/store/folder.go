package store

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"sentient/backend/clock"
	"sentient/backend/wholefile"
)

// markerName is a small file beside the database which says that there is one. Without it a folder whose database was
// lost would look like a new one.
const markerName = "store.json"

type marker struct {
	Database string `json:"database"`
	Schema   int    `json:"schema"`
	Version  string `json:"version,omitempty"`
	Since    string `json:"since"`
}

func hasMarker(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, markerName))
	return err == nil
}

// leaveMarker writes the marker where it is not there or says something else.
func leaveMarker(o Options) error {
	path := filepath.Join(o.Dir, markerName)
	want := marker{Database: FileName, Schema: o.latest(), Version: o.Version, Since: clock.Stamp(o.Clock.Now())}
	if b, err := os.ReadFile(path); err == nil {
		var have marker
		if json.Unmarshal(b, &have) == nil && have.Since != "" {
			want.Since = have.Since
			if have == want {
				return nil
			}
		}
	}
	b, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return wholefile.Write(path, append(b, '\n'))
}

// The reserve is space that lies ready for WriteUrgent on a full disk.
const (
	reserveName = "sentient.reserve"
	reserveSize = 1 << 20
)

// keepReserve makes the reserve where there is none.
func keepReserve(dir string) error {
	path := filepath.Join(dir, reserveName)
	if i, err := os.Stat(path); err == nil && i.Size() == reserveSize {
		return nil
	}
	b := make([]byte, reserveSize)
	for i := range b {
		b[i] = byte(i*7 + i>>8) // not zeros, which some file systems do not store
	}
	return wholefile.Write(path, b)
}

// dropReserve gives the reserve's space back and reports whether there was one.
func dropReserve(dir string) bool {
	return os.Remove(filepath.Join(dir, reserveName)) == nil
}

// copyFile copies a file with rights for its owner alone and makes it last.
func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Sync(), dst.Close()); err != nil {
		return errors.Join(err, removeAll(to))
	}
	return nil
}
