package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"sentient/backend/errs"
)

// children are what this test binary does when it is started as a program of its own, by name.
var children = childrenTable()

const (
	childEnv = "STORE_TEST_CHILD"
	dirEnv   = "STORE_TEST_DIR"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Getenv(dirEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is this test binary as another program.
func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+name, dirEnv+"="+dir)
	c.Stderr = os.Stderr
	return c
}

func steps(texts ...string) []migration {
	var all []migration
	for i, text := range texts {
		all = append(all, migration{i + 1, fmt.Sprintf("%04d_step", i+1), text, fmt.Sprint("sum of ", text)})
	}
	return all
}

// metaStep is the first of every list of steps.
const metaStep = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"

// rowStep makes a table that tests fill.
const rowStep = "CREATE TABLE rows (id INTEGER PRIMARY KEY, batch INTEGER NOT NULL, text TEXT NOT NULL) STRICT"

func testOptions(dir string) Options { return Options{Dir: dir, steps: steps(metaStep, rowStep)} }

func mustOpen(t *testing.T, o Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustClose(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// addBatch writes a batch of three rows in one transaction.
func addBatch(ctx context.Context, write func(context.Context, func(*Tx) error) error, batch int, text string) error {
	return write(ctx, func(tx *Tx) error {
		for range 3 {
			if _, err := tx.ExecContext(ctx, "INSERT INTO rows (batch, text) VALUES (?, ?)", batch, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// batches gives the highest batch and checks that none before it is missing or in part there.
func batches(t *testing.T, db *DB) int {
	t.Helper()
	var rows, distinct, top int
	err := db.Reader().QueryRowContext(t.Context(), "SELECT count(*), count(DISTINCT batch), coalesce(max(batch), 0) FROM rows").Scan(&rows, &distinct, &top)
	if err != nil {
		t.Fatalf("count rows: %v", err)
	}
	if distinct != top || rows != 3*top {
		t.Fatalf("%d rows in %d batches, the highest is %d: a batch is missing or in part there", rows, distinct, top)
	}
	return top
}

// tree gives every file of a folder with its content.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		all[strings.TrimPrefix(p, dir)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameTree(t *testing.T, before, after map[string][]byte) {
	t.Helper()
	for name, b := range before {
		if a, ok := after[name]; !ok {
			t.Errorf("%s is gone", name)
		} else if !bytes.Equal(a, b) {
			t.Errorf("%s was changed", name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was left behind", name)
		}
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	for n := range tree(t, dir) {
		all = append(all, strings.TrimPrefix(n, string(os.PathSeparator)))
	}
	sort.Strings(all)
	return strings.Join(all, " ")
}

// wantUnusable checks an error of Open: its reason, and that it has a sentence that gives nothing away.
func wantUnusable(t *testing.T, err error, reason Reason) *Unusable {
	t.Helper()
	u, ok := errors.AsType[*Unusable](err)
	if !ok {
		t.Fatalf("got %v, want unusable: %s", err, reason)
	}
	if u.Reason != reason {
		t.Fatalf("got %s (%v), want %s", u.Reason, err, reason)
	}
	wantSentence(t, err)
	if errs.From(err).Message != u.Sentence || errs.StatusOf(err) != 503 {
		t.Errorf("as an errs.Error: %d %q, want 503 and %q", errs.StatusOf(err), errs.From(err).Message, u.Sentence)
	}
	return u
}

func wantSentence(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("no sentence for people in: %v", err)
	}
	if m := e.Message; !strings.HasSuffix(m, ".") || strings.ToUpper(m[:1]) != m[:1] || strings.Contains(m, "/") || strings.Contains(m, "SQL") {
		t.Errorf("not a sentence for people: %q", m)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
