package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// writeForever writes batch after batch and says each that was acknowledged.
func writeForever(dir string) error {
	ctx := context.Background()
	db, err := Open(ctx, testOptions(dir))
	if err != nil {
		return err
	}
	var n int
	if err := db.Reader().QueryRow("SELECT coalesce(max(batch), 0) FROM rows").Scan(&n); err != nil {
		return err
	}
	for {
		n++
		w, text := db.Write, "short"
		switch {
		case n%7 == 0:
			text = strings.Repeat("long ", 4000) // many pages, so that the WAL is folded now and then
		case n%3 == 0:
			w = db.WriteDurable
		}
		if err := addBatch(ctx, w, n, text); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func childrenTable() map[string]func(dir string) error {
	return map[string]func(dir string) error{
		"write forever": writeForever,
		"hold the lock": holdLock,
		"crash at":      crashAt,
	}
}

// The program is killed at random moments, also while it opens what the last kill left.
func TestKilledAtRandomWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	top := 0
	for round := range 60 {
		acked := killAfter(t, dir, random.IntN(40))
		if acked == 0 {
			acked = top
		}
		db := mustOpen(t, testOptions(dir))
		if !db.Health().Unclean {
			t.Fatalf("round %d: does not tell that it was killed", round)
		}
		if db.Health().LostTail {
			t.Fatalf("round %d: says that changes were lost", round)
		}
		got := batches(t, db)
		if got < acked || got > acked+1 {
			t.Fatalf("round %d: %d batches are there, %d were acknowledged", round, got, acked)
		}
		top = got
		if round%10 == 0 {
			if err := db.Check(t.Context()); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if round%2 == 0 {
			mustClose(t, db)
		} else { // leaves the folder as it is, without the mark
			db.reader.Close()
			db.writer.Close()
		}
	}
	if top < 60 {
		t.Fatalf("only %d batches in 60 rounds: the kills came too early to say anything", top)
	}
	db := mustOpen(t, testOptions(dir))
	if err := db.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// killAfter runs the writing program, kills it when it has acknowledged so many batches, and gives the last it did.
func killAfter(t *testing.T, dir string, lines int) (acked int) {
	t.Helper()
	c := child(t, "write forever", dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer io.Copy(io.Discard, out)
	r := bufio.NewReader(out)
	read := func() bool {
		line, err := r.ReadString('\n')
		if err != nil {
			return false
		}
		if acked, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatal(err)
		}
		return true
	}
	for range lines + 1 {
		if !read() {
			t.Fatal("the writing program ended by itself")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for read() { // what it still said before it was gone
	}
	return acked
}

const (
	pointEnv = "STORE_TEST_POINT"
	stepsEnv = "STORE_TEST_STEPS"
)

// crashAt opens a folder and ends at the n-th point that a crash may fall on.
func crashAt(dir string) error {
	at, err := strconv.Atoi(os.Getenv(pointEnv))
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(os.Getenv(stepsEnv))
	if err != nil {
		return err
	}
	n := 0
	o := manySteps(dir, count)
	o.at = func(point string) {
		if n++; n == at {
			fmt.Println(point)
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			panic(fmt.Sprint("still there: ", err))
		}
	}
	db, err := Open(context.Background(), o)
	if err != nil {
		return err
	}
	return db.Close()
}

// manySteps are steps of which the later ones change what the earlier ones made.
func manySteps(dir string, n int) Options {
	o := Options{Dir: dir}
	o.steps = steps(metaStep, rowStep,
		"CREATE TABLE more (id INTEGER PRIMARY KEY, row INTEGER REFERENCES rows(id)); INSERT INTO more (row) SELECT id FROM rows",
		"ALTER TABLE rows ADD COLUMN extra TEXT NOT NULL DEFAULT 'new'; UPDATE rows SET text = text || '!'")[:n]
	return o
}

// A crash at each point between the steps of making and of migrating a database.
func TestKilledAtEveryStepOfOpening(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a killed program's files are not free at once on Windows")
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		rows int
	}{
		{"making", func(*testing.T, string) {}, 0},
		{"migrating", used, 5},
		{"migrating what a crash left", func(t *testing.T, dir string) {
			running(t, dir, "INSERT INTO rows (batch, text) VALUES (6, 'x'), (6, 'x'), (6, 'x')")
		}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			for point := 1; ; point++ {
				dir := t.TempDir()
				c.make(t, dir)
				cmd := child(t, "crash at", dir)
				cmd.Env = append(cmd.Env, pointEnv+"="+strconv.Itoa(point), stepsEnv+"=4")
				cmd.Stderr = nil
				out, err := cmd.Output()
				if err == nil { // there are no more points
					if point < 4 {
						t.Fatalf("only %d points", point)
					}
					return
				}
				where := strings.TrimSpace(string(out))
				db, err := Open(t.Context(), manySteps(dir, 4))
				if err != nil {
					t.Fatalf("after a crash at point %d, %s: %v", point, where, err)
				}
				if n := batches(t, db); n != c.rows {
					t.Fatalf("after a crash at point %d, %s: %d batches, want %d", point, where, n, c.rows)
				}
				var more, marked int
				err = db.Reader().QueryRow("SELECT (SELECT count(*) FROM more), (SELECT count(*) FROM rows WHERE text LIKE '%!' AND text NOT LIKE '%!!')").Scan(&more, &marked)
				if err != nil || more != 3*c.rows || marked != 3*c.rows {
					t.Fatalf("after a crash at point %d, %s: a step ran twice or not at all: %d, %d, %v", point, where, more, marked, err)
				}
				if err := db.Check(t.Context()); err != nil {
					t.Fatal(err)
				}
				mustClose(t, db)
			}
		})
	}
}
