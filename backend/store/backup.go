package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"sentient/backend/wholefile"
)

// pagesAtOnce is how much of a copy is made before it looks whether it should stop: 4 MB.
const pagesAtOnce = 1024

// Backup makes a copy of the database as it is at one moment, while reads and writes go on. toPath must not be there
// yet; it is there whole or not at all, and needs no other file beside it.
func (db *DB) Backup(ctx context.Context, toPath string) error {
	return copyDatabase(ctx, filepath.Join(db.dir, FileName), toPath)
}

// copyDatabase copies page by page: unlike VACUUM INTO it keeps rowids, which the search tables refer to.
func copyDatabase(ctx context.Context, from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("copy database: %w", os.ErrExist)
	}
	part := to + ".part"
	if err := removeAll(part, part+"-journal"); err != nil {
		return fileTrouble(err)
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fileTrouble(err)
	}
	f.Close()
	r := pool(readerDSN, from, 1, nil)
	err = copyPages(ctx, r, part)
	err = errors.Join(err, r.Close())
	if err == nil {
		err = finishCopy(part, to)
	}
	if err != nil {
		return errors.Join(err, removeAll(part, part+"-journal", part+"-wal", part+"-shm"))
	}
	return nil
}

func finishCopy(part, to string) error {
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return err
	}
	return wholefile.SyncDir(filepath.Dir(to))
}

func copyPages(ctx context.Context, r *sql.DB, to string) error {
	c, err := r.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	// An open read transaction holds one view of the database; without it the copy starts again at each write.
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck // the connection goes with its pool
	var n int
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return err
	}
	return c.Raw(func(driverConn any) error {
		return translate(copySteps(ctx, driverConn.(conn).whole, to))
	})
}

type backuper interface {
	NewBackup(string) (*sqlite.Backup, error)
}

func copySteps(ctx context.Context, c any, to string) (err error) {
	b, err := c.(backuper).NewBackup(fileURI(to, url.Values{"_pragma": {"synchronous(off)", "journal_mode(memory)"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Finish()) }()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err = b.Step(pagesAtOnce); err != nil {
			return err
		}
	}
	return nil
}
