package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
)

func TestOpensAgainInAnyFolder(t *testing.T) {
	for _, name := range []string{"plain", "a b?#%ü", "[x]*", "100%25&mode=memory"} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.ContainsAny(name, "?*") {
				t.Skip("Windows has no such names")
			}
			dir := filepath.Join(t.TempDir(), name)
			for range 2 {
				db := mustOpen(t, Options{Dir: dir})
				err := db.Write(t.Context(), func(tx *Tx) error { return db.SetMeta(t.Context(), tx, "k", "v") })
				if err != nil {
					t.Fatal(err)
				}
				if v, ok, err := db.Meta(t.Context(), "k"); v != "v" || !ok || err != nil {
					t.Fatal(v, ok, err)
				}
				if db.Health().Unclean {
					t.Error("says the last stop was not clean")
				}
				mustClose(t, db)
			}
			if got := names(t, dir); got != "sentient.db sentient.reserve store.json" {
				t.Errorf("left in the folder: %s", got)
			}
		})
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such rights")
	}
	dir := filepath.Join(t.TempDir(), "home")
	db := mustOpen(t, testOptions(dir))
	if err := addBatch(t.Context(), db.Write, 1, "x"); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"", FileName, FileName + "-wal", FileName + "-shm", markerName, reserveName} {
		i, err := os.Stat(filepath.Join(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		if i.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", n, i.Mode())
		}
	}
}

func TestConnectionSettings(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	for _, c := range []struct{ pragma, writer, reader string }{
		{"journal_mode", "wal", "wal"},
		{"synchronous", "1", "2"},
		{"foreign_keys", "1", "1"},
		{"secure_delete", "1", "0"},
		{"query_only", "0", "1"},
		{"temp_store", "2", "2"},
		{"busy_timeout", "5000", "5000"},
		{"trusted_schema", "0", "0"},
	} {
		var w, r string
		if err := db.writer.QueryRow("PRAGMA " + c.pragma).Scan(&w); err != nil {
			t.Fatal(err)
		}
		if err := db.reader.QueryRow("PRAGMA " + c.pragma).Scan(&r); err != nil {
			t.Fatal(err)
		}
		if w != c.writer || (r != c.reader && c.pragma != "synchronous") {
			t.Errorf("%s: writer %s, reader %s; want %s, %s", c.pragma, w, r, c.writer, c.reader)
		}
	}
}

func TestDurableWritesAreSynchronousFull(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	mode := func(write func(context.Context, func(*Tx) error) error) (m string) {
		if err := write(t.Context(), func(tx *Tx) error { return tx.QueryRow("PRAGMA synchronous").Scan(&m) }); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for range 2 {
		if got := mode(db.Write); got != "1" {
			t.Errorf("Write: synchronous %s", got)
		}
		if got := mode(db.WriteDurable); got != "2" {
			t.Errorf("WriteDurable: synchronous %s", got)
		}
	}
}

func TestReaderCannotWrite(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	_, err := db.Reader().Exec("DELETE FROM meta")
	if errs.Code(err) != CodeReadOnly {
		t.Fatalf("got %v", err)
	}
	if _, err := db.Reader().Exec("PRAGMA query_only=0; DELETE FROM meta"); errs.Code(err) != CodeReadOnly {
		t.Fatalf("with query_only off: %v", err)
	}
}

func TestWriteIsWholeOrNotThere(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name string
		ctx  func() context.Context
		end  func(cancel func()) error
		want error
	}{
		{"error", t.Context, func(func()) error { return boom }, boom},
		{"panic", t.Context, func(func()) error { panic(boom) }, boom},
		{"cancelled inside", t.Context, func(cancel func()) error { cancel(); return nil }, context.Canceled},
		{"cancelled before", func() context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx
		}, func(func()) error { return nil }, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := mustOpen(t, testOptions(t.TempDir()))
			ctx, cancel := context.WithCancel(c.ctx())
			defer cancel()
			got := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = p.(error)
					}
				}()
				return db.Write(ctx, func(tx *Tx) error {
					if _, err := tx.Exec("INSERT INTO rows (batch, text) VALUES (1, 'x')"); err != nil {
						return err
					}
					return c.end(cancel)
				})
			}()
			if !errors.Is(got, c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			if n := batches(t, db); n != 0 {
				t.Fatalf("%d batches stayed", n)
			}
			if err := addBatch(t.Context(), db.WriteDurable, 1, "x"); err != nil {
				t.Fatalf("the next write: %v", err)
			}
			batches(t, db)
		})
	}
}

func TestCancelEndsAStatementAndItsTransaction(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO rows (batch, text) VALUES (1, 'x')"); err != nil {
			return err
		}
		go cancel() // at any moment of the statement, which would never end
		_, err := tx.ExecContext(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) INSERT INTO rows (batch, text) SELECT i, 'y' FROM n")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if err := addBatch(t.Context(), db.Write, 1, "x"); err != nil {
		t.Fatal(err)
	}
	batches(t, db)
}

func TestWritesAreOneAfterTheOther(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := range each {
				w := db.Write
				if i%5 == 0 {
					w = db.WriteDurable
				}
				err := w(t.Context(), func(tx *Tx) error { // reads, then writes: lost updates would show
					_, err := tx.Exec("INSERT INTO meta (key, value) VALUES ('n', '1') ON CONFLICT (key) DO UPDATE SET value = (SELECT CAST(value AS INTEGER) + 1 FROM meta WHERE key = 'n')")
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if _, _, err := db.Meta(t.Context(), "n"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if v, _, err := db.Meta(t.Context(), "n"); v != "160" || err != nil {
		t.Fatalf("got %s %v, want %d", v, err, writers*each)
	}
}

// hasty is a clock on which every wait is over at once.
type hasty struct{ clock.Real }

func (hasty) NewTimer(time.Duration) clock.Timer { return clock.Real{}.NewTimer(0) }

func TestWriteInsideAWriteEnds(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Clock = hasty{}
	db := mustOpen(t, o)
	err := db.Write(t.Context(), func(*Tx) error {
		return db.Write(t.Context(), func(*Tx) error { return nil })
	})
	if errs.Code(err) != CodeBusy {
		t.Fatalf("got %v", err)
	}
}

func TestWaitForTheWriterEndsWithItsContext(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(t.Context(), func(*Tx) error {
		cancel()
		return db.Write(ctx, func(*Tx) error { t.Error("ran"); return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestAfterClose(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	mustClose(t, db)
	mustClose(t, db)
	if err := addBatch(t.Context(), db.Write, 1, "x"); errs.Code(err) != CodeClosed {
		t.Errorf("Write: %v", err)
	}
	if _, _, err := db.Meta(t.Context(), "k"); err == nil {
		t.Error("Meta reads")
	}
}

func TestConstraintsAreKnownByCode(t *testing.T) {
	o := testOptions(t.TempDir())
	o.steps = steps(metaStep, "CREATE TABLE a (id TEXT PRIMARY KEY, u TEXT UNIQUE); CREATE TABLE b (a TEXT REFERENCES a(id))")
	db := mustOpen(t, o)
	for _, c := range []struct {
		sql           string
		taken, orphan bool
	}{
		{"INSERT INTO a VALUES ('x', 'y')", true, false},
		{"INSERT INTO a VALUES ('z', 'y')", true, false},
		{"INSERT INTO b VALUES ('nobody')", false, true},
		{"INSERT INTO nowhere VALUES (1)", false, false},
	} {
		err := db.Write(t.Context(), func(tx *Tx) error {
			if _, err := tx.Exec("INSERT INTO a VALUES ('x', 'y')"); err != nil {
				return err
			}
			_, err := tx.Exec(c.sql)
			return err
		})
		if err == nil || IsTaken(err) != c.taken || IsOrphan(err) != c.orphan {
			t.Errorf("%s: %v (taken %v, orphan %v)", c.sql, err, IsTaken(err), IsOrphan(err))
		}
	}
	if IsTaken(nil) || IsOrphan(errors.New("x")) {
		t.Error("other errors are constraints")
	}
}

// A search table filled by triggers is how the packages above search; it must work with every setting here.
func TestSearchByTrigger(t *testing.T) {
	o := testOptions(t.TempDir())
	o.steps = steps(metaStep, rowStep+`;
		CREATE VIRTUAL TABLE found USING fts5(text, content='rows', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');
		CREATE TRIGGER rows_i AFTER INSERT ON rows BEGIN INSERT INTO found(rowid, text) VALUES (new.id, new.text); END;
		CREATE TRIGGER rows_d AFTER DELETE ON rows BEGIN INSERT INTO found(found, rowid, text) VALUES ('delete', old.id, old.text); END`)
	db := mustOpen(t, o)
	if err := addBatch(t.Context(), db.Write, 1, "She was running to the café"); err != nil {
		t.Fatal(err)
	}
	count := func(query string) (n int) {
		if err := db.Reader().QueryRow("SELECT count(*) FROM found WHERE found MATCH ?", query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if count("run") != 3 || count("cafe") != 3 || count("walk") != 0 {
		t.Error(count("run"), count("cafe"), count("walk"))
	}
	err := db.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec("DELETE FROM rows"); return err })
	if err != nil || count("run") != 0 {
		t.Error(err, count("run"))
	}
}

func TestReaderSeesOneView(t *testing.T) {
	db := mustOpen(t, testOptions(t.TempDir()))
	view, err := db.Reader().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Rollback()
	count := func() (n int) {
		if err := view.QueryRow("SELECT count(*) FROM rows").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	if err := addBatch(t.Context(), db.Write, 1, "x"); err != nil {
		t.Fatal(err)
	}
	if before != 0 || count() != 0 || batches(t, db) != 1 {
		t.Error(before, count())
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := Open(ctx, testOptions(dir)); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if got := names(t, dir); got != "" {
		t.Errorf("left behind: %s", got)
	}
}
