// Package store keeps everything in one SQLite file, sentient.db, in the data folder.
//
// It owns the file: opening, migrations, the one writer, the readers, copies, checks, and what happens when the file
// cannot be used. It knows no table but its own two (meta, migrations); the packages above own the others and bring
// each as a file in migrations/.
//
// It promises: a transaction is whole or not there, after a crash as well; what WriteDurable acknowledged survives a
// loss of power; a database that is damaged, foreign, newer, missing or out of reach is an *Unusable with a sentence,
// is left as it is, and never becomes a silent empty start; every error of SQLite leaves here as an *errs.Error chosen
// by its code. It does not promise that what Write acknowledged survives a loss of power (it survives a crash of the
// program), nor anything to two engines on one folder: Lock is for that, and is taken before Open. Nobody else in the
// program opens sentient.db, not even to read it: closing any descriptor of it gives SQLite's locks back. Copies are
// made by Backup.
//
// Anything from layer 2 up may import it, and inside layer 1 config and secret.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"sentient/backend/clock"
	"sentient/backend/obs"
)

// FileName is the database's name in the data folder.
const FileName = "sentient.db"

// applicationID marks the file as ours: "Snt1" in the header, where file(1) and SQLite look.
const applicationID = 0x536e7431

// Options say where the database is and what it needs from outside.
type Options struct {
	Dir     string       // the data folder; made when it is not there
	Clock   clock.Clock  // nil: the computer's
	Log     *slog.Logger // nil: nothing is logged
	Version string       // the program's, noted beside the database

	steps []migration        // for tests: instead of the embedded ones
	at    func(point string) // for tests: called between the steps that a crash may fall between
}

// DB is the open database of one data folder. It is safe for use from many goroutines.
type DB struct {
	dir   string
	clock clock.Clock
	log   *slog.Logger

	writer *sql.DB       // one connection
	reader *sql.DB       // read-only connections
	turn   chan struct{} // holds a token while a write runs

	unmarked  atomic.Bool // the mark of the last clean stop still stands and must go with the next write
	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
	health    health
}

// Open opens the database of a data folder, makes it when the folder never had one, and brings it to this program's
// schema, after a copy was taken. Whatever keeps it from being used is an *Unusable, and the database is then as it was
// (or, after a failed migration, at an earlier whole step); only the end of ctx is another error. The caller holds the
// folder's Lock.
func Open(ctx context.Context, o Options) (*DB, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	undo := untouched(o.Dir)
	db, err := open(ctx, o)
	if err == nil {
		return db, nil
	}
	undo()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	u := asUnusable(err)
	u.Snapshots = Snapshots(o.Dir)
	o.Log.Error("database unusable", "reason", string(u.Reason), "error", u.Error())
	return nil, u
}

// untouched gives a function that takes away the WAL that a failed Open left beside a database it did not write to: what
// cannot be used is left byte for byte as it was. Where there was a WAL before, or the file has changed since, nothing is
// taken away.
func untouched(dir string) (undo func()) {
	file := filepath.Join(dir, FileName)
	before, err := os.Stat(file)
	_, noWAL := os.Lstat(file + "-wal")
	if err != nil || !errors.Is(noWAL, fs.ErrNotExist) {
		return func() {}
	}
	return func() {
		now, err := os.Stat(file)
		if err != nil || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			return
		}
		_, _ = os.Remove(file+"-wal"), os.Remove(file+"-shm") // they may not be there
	}
}

func (o Options) withDefaults() (Options, error) {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Log == nil {
		o.Log = obs.Discard()
	}
	if o.at == nil {
		o.at = func(string) {}
	}
	if o.steps == nil {
		steps, err := loadMigrations(migrationFiles)
		if err != nil {
			return o, err
		}
		o.steps = steps
	}
	return o, nil
}

// latest is the schema number this program works with.
func (o Options) latest() int { return o.steps[len(o.steps)-1].number }

func open(ctx context.Context, o Options) (*DB, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fileTrouble(err)
	}
	found, err := inspect(o.Dir, o.latest())
	if err != nil {
		return nil, err
	}
	if err := writable(o.Dir, found); err != nil {
		return nil, err
	}
	if found.blank {
		if err := create(ctx, o); err != nil {
			return nil, err
		}
		found.header.version = o.latest()
		found.fresh = true
	} else if err := prepare(ctx, o, &found); err != nil {
		return nil, err
	}
	return serve(ctx, o, found)
}

// serve opens the connections of a database that was found whole and is at the latest schema.
func serve(ctx context.Context, o Options, found found) (*DB, error) {
	db := &DB{dir: o.Dir, clock: o.Clock, log: o.Log, turn: make(chan struct{}, 1)}
	path := filepath.Join(o.Dir, FileName)
	db.writer = pool(writerDSN, path, 1, db.saw)
	db.reader = pool(readerDSN, path, max(4, runtime.NumCPU()), db.saw)
	db.reader.SetMaxIdleConns(2)
	db.reader.SetConnMaxIdleTime(time.Minute)
	if err := db.begin(ctx, o, found); err != nil {
		return nil, errors.Join(err, db.reader.Close(), db.writer.Close())
	}
	return db, nil
}

// begin reads how the last stop was, takes its mark away, and leaves the traces by which a later start knows that a
// database was here.
func (db *DB) begin(ctx context.Context, o Options, found found) error {
	_, clean, err := db.Meta(ctx, metaCleanStop)
	if err != nil {
		return err
	}
	db.health.begin(!clean && !found.fresh, found.lostTail)
	if db.health.get().Unclean {
		db.log.Warn("last stop was not clean", "wal_tail_lost", found.lostTail)
	}
	db.unmarked.Store(true)
	// An empty transaction takes the mark away. On a full disk that has to wait for the next write that succeeds.
	if err := db.WriteDurable(ctx, func(*Tx) error { return nil }); err != nil {
		if reasonOf(err) != Full {
			return err
		}
		db.log.Warn("disk full at start", "error", err)
	}
	if err := leaveMarker(o); err != nil {
		db.log.Warn("marker not written", "error", err)
	}
	if err := keepReserve(db.dir); err != nil {
		db.log.Warn("reserve not kept", "error", err)
	}
	return nil
}

// Reader gives the pool of read-only connections. They see what was committed before their statement or transaction
// began; a *sql.Tx of it is one unchanging view. Close rows soon: an open one keeps the WAL from shrinking.
func (db *DB) Reader() *sql.DB { return db.reader }

// Dir is the data folder.
func (db *DB) Dir() string { return db.dir }

// Close ends the readers, waits for the write that runs, leaves the mark of a clean stop, folds the WAL into the file
// and closes it. Later calls give the first one's error.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		db.closed.Store(true)
		db.turn <- struct{}{}
		db.closeErr = errors.Join(db.reader.Close(), db.markCleanStop(), db.writer.Close())
	})
	return db.closeErr
}

func (db *DB) markCleanStop() error {
	ctx := context.Background()
	if _, err := db.writer.ExecContext(ctx, setMetaSQL, metaCleanStop, clock.Stamp(db.clock.Now())); err != nil {
		return err
	}
	return checkpoint(ctx, db.writer)
}

// Shred makes what was deleted unreadable in the database's files: the WAL still holds the pages of before until it is
// folded in. Where a reader is in the way, it waits a little and then leaves it to the next Shred, or the end.
func (db *DB) Shred(ctx context.Context) error {
	if err := db.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-db.turn }()
	var busy, inLog, done int
	err := db.writer.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inLog, &done)
	if err == nil && busy != 0 {
		return fmt.Errorf("fold in the write-ahead log: a reader is in the way (%d pages)", inLog)
	}
	return err
}

// checkpoint folds the WAL into the file and empties it. A reader that is still open makes it do less, which is no
// error: the next start reads the WAL.
func checkpoint(ctx context.Context, w *sql.DB) error {
	_, err := w.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
