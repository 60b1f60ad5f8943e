package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sentient/backend/wholefile"
)

// newName is where a database is made before it gets its name, so that there is never half of one.
const newName = FileName + ".new"

// create makes an empty database at the latest schema.
func create(ctx context.Context, o Options) error {
	if err := removeNew(o.Dir); err != nil {
		return fileTrouble(err)
	}
	path := filepath.Join(o.Dir, newName)
	if err := fillNew(ctx, o, path); err != nil {
		return errors.Join(err, removeNew(o.Dir))
	}
	o.at("before name")
	final := filepath.Join(o.Dir, FileName)
	if err := removeAll(final+"-wal", final+"-shm"); err != nil { // empty ones, or inspect had found a trace
		return fileTrouble(err)
	}
	if err := os.Rename(path, final); err != nil {
		return fileTrouble(err)
	}
	o.at("after name")
	return fileTrouble(wholefile.SyncDir(o.Dir))
}

// removeNew clears away a database that was never finished.
func removeNew(dir string) error {
	path := filepath.Join(dir, newName)
	return removeAll(path, path+"-wal", path+"-shm", path+"-journal")
}

func fillNew(ctx context.Context, o Options, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // SQLite gives the WAL the same rights
	if err != nil {
		return fileTrouble(err)
	}
	f.Close()
	w := pool(writerDSN, path, 1, nil)
	err = func() error {
		if _, err := w.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
			return err
		}
		if err := migrate(ctx, w, o, 0); err != nil {
			return err
		}
		return checkpoint(ctx, w)
	}()
	return errors.Join(err, w.Close())
}

// prepare makes sure that the database that was found can be read, and brings it to the latest schema.
func prepare(ctx context.Context, o Options, f *found) error {
	if err := removeNew(o.Dir); err != nil {
		return fileTrouble(err)
	}
	if f.lostTail {
		if err := keepWAL(o); err != nil {
			o.Log.Warn("damaged WAL not kept", "error", err)
		}
	}
	path := filepath.Join(o.Dir, FileName)
	if err := examine(ctx, o, path, f.header.version); err != nil {
		return err
	}
	if f.header.version == o.latest() {
		return nil
	}
	from := f.header.version
	if err := copyBefore(ctx, o, from, o.latest()); err != nil {
		return err
	}
	o.at("after copy")
	w := pool(writerDSN, path, 1, nil)
	err := migrate(ctx, w, o, from)
	if err == nil {
		err = checkpoint(ctx, w) // a program that knows an older schema sees the new number without the WAL
	}
	if err = errors.Join(err, w.Close()); err != nil {
		if r := reasonOf(err); r == Unreadable {
			return unusable(Stuck, err)
		}
		return err
	}
	f.header.version = o.latest()
	return nil
}

// examine reads what everything else hangs on, through a connection that cannot write: the list of tables, the steps
// done, the meta table, the first page of each table. It leaves the file and the WAL as they are, whatever it finds.
func examine(ctx context.Context, o Options, path string, version int) error {
	before := sizes(path+"-wal", path+"-shm")
	r := pool(readerDSN, path, 1, nil)
	err := examineOpen(ctx, r, o, version)
	err = errors.Join(err, r.Close())
	if err == nil {
		return nil
	}
	// What SQLite made beside the file, and holds nothing, goes again.
	for name, size := range sizes(path+"-wal", path+"-shm") {
		if _, was := before[name]; !was && (size == 0 || strings.HasSuffix(name, "-shm")) {
			err = errors.Join(err, removeAll(name))
		}
	}
	return err
}

// sizes gives the sizes of those files that are there.
func sizes(paths ...string) map[string]int64 {
	m := map[string]int64{}
	for _, p := range paths {
		if i, err := os.Stat(p); err == nil {
			m[p] = i.Size()
		}
	}
	return m
}

func examineOpen(ctx context.Context, r *sql.DB, o Options, version int) error {
	var id, v int
	if err := r.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)").Scan(&id, &v); err != nil {
		return err
	}
	if id != applicationID || v != version {
		return unusable(Damaged, fmt.Errorf("header says schema %d, SQLite says %d (application %#x)", version, v, id))
	}
	tables, err := tableNames(ctx, r)
	if err != nil {
		return err
	}
	for _, want := range []string{"meta", "migrations"} {
		if !tables[want] {
			return unusable(Damaged, fmt.Errorf("table %s is missing", want))
		}
	}
	for t := range tables {
		var n int
		err := r.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM "`+strings.ReplaceAll(t, `"`, `""`)+`" LIMIT 1)`).Scan(&n)
		if err != nil {
			return fmt.Errorf("read table %s: %w", t, damagedUnlessKnown(ctx, err))
		}
	}
	return checkSteps(ctx, r, o, version)
}

// damagedUnlessKnown is for statements that are right: SQLite refuses them only when the schema it read is wrong.
func damagedUnlessKnown(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || reasonOf(err) != Unreadable {
		return err
	}
	return unusable(Damaged, err)
}

// tableNames lists the real tables; the list itself is read to its end.
func tableNames(ctx context.Context, r *sql.DB) (map[string]bool, error) {
	rows, err := r.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND rootpage > 0")
	if err != nil {
		return nil, damagedUnlessKnown(ctx, err)
	}
	defer rows.Close()
	names := map[string]bool{}
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			return nil, damagedUnlessKnown(ctx, err)
		}
		names[n] = true
	}
	return names, damagedUnlessKnown(ctx, rows.Err())
}

// removeAll removes files that may not be there.
func removeAll(paths ...string) error {
	var all error
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
