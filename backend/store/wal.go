package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// walLook is what a WAL says about the database, read by SQLite's file format and without SQLite.
type walLook struct {
	first []byte // the database's first bytes as the last readable commit left them; nil when the WAL does not hold them
	lost  bool   // behind the last readable commit lies the end of a transaction that cannot be read
}

const (
	walHeaderSize = 32
	walFrameSize  = 24         // of a frame's header: page, size after a commit, salts, checksum
	walMagic      = 0x377f0682 // with the lowest bit set: checksums over big-endian words
	walMaxPage    = 65536
)

// walSum is SQLite's running checksum.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (w *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		w.s0 += w.order.Uint32(b) + w.s1
		w.s1 += w.order.Uint32(b[4:]) + w.s0
	}
}

func (w *walSum) matches(b []byte) bool {
	return w.s0 == binary.BigEndian.Uint32(b) && w.s1 == binary.BigEndian.Uint32(b[4:])
}

// readWAL reads a WAL file. One that is not there, or too short for a header, says nothing.
func readWAL(path string) (walLook, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return walLook{}, nil
	}
	if err != nil {
		return walLook{}, err
	}
	defer f.Close()
	return scanWAL(bufio.NewReaderSize(f, 1<<16))
}

func scanWAL(r io.Reader) (walLook, error) {
	var look walLook
	head := make([]byte, walHeaderSize)
	if ok, err := fill(r, head); !ok {
		return look, err
	}
	magic, size := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[8:])
	sum := walSum{order: binary.LittleEndian}
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(head[:24])
	if magic&^1 != walMagic || size < 512 || size > walMaxPage || size&(size-1) != 0 || !sum.matches(head[24:]) {
		return scanLost(r)
	}
	var pending []byte // the first page, in a transaction whose end was not read yet
	frame := make([]byte, walFrameSize+size)
	for broken := false; ; {
		if ok, err := fill(r, frame); !ok {
			return look, err
		}
		ours := string(frame[8:16]) == string(head[16:24]) // else from before the WAL was last reused
		ends := binary.BigEndian.Uint32(frame[4:]) != 0
		sum.add(frame[:8])
		sum.add(frame[walFrameSize:])
		broken = broken || !ours || !sum.matches(frame[16:])
		if broken && ours && ends {
			look.lost = true
			return look, nil
		}
		if broken {
			continue
		}
		if binary.BigEndian.Uint32(frame) == 1 {
			pending = append([]byte(nil), frame[walFrameSize:walFrameSize+headerSize]...)
		}
		if ends && pending != nil {
			look.first, pending = pending, nil
		}
	}
}

// scanLost is for a WAL whose header is broken, which makes SQLite pass over all of it: anything behind it is lost.
func scanLost(r io.Reader) (walLook, error) {
	lost, err := fill(r, make([]byte, walFrameSize))
	return walLook{lost: lost}, err
}

// fill reads exactly len(b) bytes. false without an error: the file ends before.
func fill(r io.Reader, b []byte) (bool, error) {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil, err
}
