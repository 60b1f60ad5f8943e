package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// found is what lies in a data folder, seen without opening it as a database.
type found struct {
	header   header
	blank    bool // no database, and nothing that says there ever was one
	fresh    bool // made just now
	lostTail bool // the WAL holds commits that can no longer be read
}

// header is the first page of a database, as far as it matters here.
type header struct {
	application uint32
	version     int // user_version: our schema number
	cells       int // rows in the list of tables; 0 in a database without a table
}

const headerSize = 108 // 100 bytes of file header, 8 of the first page's

// parseHeader reads the first bytes of a database file.
func parseHeader(b []byte) (header, bool) {
	if len(b) < headerSize || string(b[:16]) != "SQLite format 3\x00" {
		return header{}, false
	}
	h := header{
		application: binary.BigEndian.Uint32(b[68:]),
		version:     int(int32(binary.BigEndian.Uint32(b[60:]))),
		cells:       int(binary.BigEndian.Uint16(b[103:])),
	}
	if b[100] == 0x05 { // an inner page: more tables than fit on one
		h.cells++
	}
	return h, true
}

// inspect looks at the database of a folder, its WAL included, and changes nothing: SQLite would make a -shm, and a
// foreign or damaged database is to stay as it is. latest is the schema number that this program knows.
func inspect(dir string, latest int) (found, error) {
	path := filepath.Join(dir, FileName)
	head, err := readHead(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found{}, unreadable(err)
	}
	wal, err := readWAL(path + "-wal")
	if err != nil {
		return found{}, unreadable(err)
	}
	used := traces(dir)
	if len(head) == 0 && len(wal.first) == 0 {
		switch {
		case head == nil && used:
			return found{}, unusable(Missing, errors.New("no database, but traces of one"))
		case used:
			return found{}, unusable(Damaged, errors.New("database is empty, but was not"))
		}
		return found{blank: true}, nil
	}
	if head == nil {
		return found{}, unusable(Missing, errors.New("no database, but its WAL"))
	}
	if len(wal.first) > 0 {
		head = wal.first
	}
	h, ok := parseHeader(head)
	switch {
	case !ok:
		return found{}, unusable(Damaged, errors.New("no database header"))
	case h.application != applicationID && h.application == 0 && h.cells == 0 && h.version == 0 && !used:
		return found{blank: true}, nil
	case h.application != applicationID && hasMarker(dir):
		return found{}, unusable(Damaged, fmt.Errorf("application id is %#x, and ours was here", h.application))
	case h.application != applicationID:
		return found{}, unusable(Foreign, fmt.Errorf("application id is %#x", h.application))
	case h.version > latest:
		return found{}, unusable(Newer, fmt.Errorf("schema %d, this program knows %d", h.version, latest))
	case h.version <= 0:
		return found{}, unusable(Damaged, fmt.Errorf("schema number is %d", h.version))
	}
	return found{header: h, lostTail: wal.lost}, nil
}

func unreadable(err error) error {
	return unusable(Unreadable, err)
}

// readHead gives the first bytes of a file, empty ones for an empty file and nil with the error when it is not there.
func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, headerSize)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return b[:n], nil
}

// traces reports whether something in the folder says that a database was used here.
func traces(dir string) bool {
	if hasMarker(dir) {
		return true
	}
	if i, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err == nil && i.Size() > 0 {
		return true
	}
	aside, _ := filepath.Glob(filepath.Join(escapeGlob(dir), FileName+".damaged-*"))
	return len(aside) > 0 || len(copies(dir)) > 0
}

// escapeGlob makes a folder's name stand for itself in a pattern.
func escapeGlob(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // no escapes on Windows, where * and ? cannot be in a name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// writable finds out before SQLite does, and without leaving anything, that the folder or the file cannot be written.
func writable(dir string, found found) error {
	if !found.blank {
		f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
		if err != nil {
			return fileTrouble(err)
		}
		f.Close()
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		if t := asUnusable(fileTrouble(err)); t.Reason != Full { // a full disk is met where it matters
			return t
		}
		return nil
	}
	f.Close()
	return os.Remove(f.Name())
}
