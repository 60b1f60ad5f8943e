package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

const flipSeeds = 300

// Random bytes of the database and of its WAL are changed, or their ends cut off. Whatever comes of it, it is never an
// empty or shorter database about which nothing is said.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	folded, inWAL := flipBase(t, base)
	size, err := os.Stat(filepath.Join(base, FileName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for seed := range uint64(flipSeeds) {
		dir := t.TempDir()
		copyTree(t, base, dir)
		random := rand.New(rand.NewPCG(seed, 7))
		for _, name := range [][]string{{FileName}, {FileName + "-wal"}, {FileName, FileName + "-wal"}}[seed%3] {
			edit(t, filepath.Join(dir, name), func(b []byte) []byte { return spoil(random, b) })
		}
		wal, err := os.Stat(filepath.Join(dir, FileName+"-wal"))
		if err != nil {
			t.Fatal(err)
		}
		seen[afterFlip(t, seed, dir, flipped{folded, inWAL, wal.Size() < size.Size()})]++
	}
	t.Log(seen)
	if seen["whole"] == 0 || seen["unusable"] == 0 || len(seen) < 4 {
		t.Errorf("the seeds do not meet every outcome: %v", seen)
	}
}

// flipBase makes a database with so many batches in its file and so many more in its WAL.
func flipBase(t *testing.T, dir string) (folded, inWAL int) {
	t.Helper()
	from := t.TempDir()
	o := testOptions(from)
	o.steps[1].sql += "; CREATE INDEX rows_by_batch ON rows (batch); CREATE VIRTUAL TABLE found USING fts5(text)"
	db := mustOpen(t, o)
	folded, inWAL = 40, 8
	add := func(n int) {
		if err := addBatch(t.Context(), db.Write, n, fmt.Sprintf("%0300d", n)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range folded {
		add(i + 1)
	}
	if err := checkpoint(t.Context(), db.writer); err != nil {
		t.Fatal(err)
	}
	for i := range inWAL {
		add(folded + i + 1)
	}
	copyTree(t, from, dir)
	if err := os.Remove(filepath.Join(dir, FileName+"-shm")); err != nil {
		t.Fatal(err)
	}
	return folded, inWAL
}

func spoil(random *rand.Rand, b []byte) []byte {
	switch random.IntN(8) {
	case 0:
		return b[:random.IntN(len(b))]
	case 1: // where it matters most
		b[random.IntN(min(len(b), 4096))] ^= byte(1 + random.IntN(255))
		return b
	}
	for range 1 + random.IntN(64) {
		b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
	}
	return b
}

type flipped struct {
	folded, inWAL int  // batches
	cut           bool // the WAL is shorter than it was
}

// afterFlip opens the folder, judges what it meets, and gives the outcome a name.
func afterFlip(t *testing.T, seed uint64, dir string, f flipped) string {
	t.Helper()
	before := tree(t, dir)
	db, err := Open(t.Context(), testOptions(dir))
	if err != nil {
		u, ok := errors.AsType[*Unusable](err)
		if !ok {
			t.Fatalf("seed %d: %v", seed, err)
		}
		wantUnusable(t, err, u.Reason)
		after := tree(t, dir)
		for name := range before {
			if string(before[name]) != string(after[name]) {
				t.Errorf("seed %d: %s was changed", seed, name)
			}
		}
		return "unusable"
	}
	defer db.Close()
	if !db.Health().Unclean {
		t.Fatalf("seed %d: does not tell that the last stop was not clean, so nothing would be checked", seed)
	}
	var n int
	err = db.Reader().QueryRow("SELECT count(*) FROM (SELECT id, batch, text FROM rows NOT INDEXED WHERE length(text) >= 0)").Scan(&n)
	if err != nil {
		wantSentence(t, err)
		return "read error"
	}
	if err := db.Check(t.Context()); err != nil {
		wantSentence(t, err)
		if !db.Health().Damaged || db.Health().OK {
			t.Errorf("seed %d: damage found, health says %+v", seed, db.Health())
		}
		return "found by the check"
	}
	all := 3 * (f.folded + f.inWAL)
	switch {
	case n == all:
		return "whole"
	case db.Health().LostTail && n >= 3*f.folded:
		return "told that the last changes are lost"
	case f.cut && n >= 3*f.folded: // a WAL that just ends is what a loss of power leaves
		return "told that the last stop was not clean"
	}
	t.Errorf("seed %d: %d rows of %d and nothing is said: %+v", seed, n, all, db.Health())
	return "silent"
}
