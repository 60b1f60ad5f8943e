package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"sentient/backend/errs"
)

// Tx is the one writer's transaction. It is only valid inside the function it was given to.
type Tx struct{ *sql.Tx }

// turnWait is how long a write waits for those before it. Writes take milliseconds: whoever waits this long waits for
// a write inside a write, which would never end.
const turnWait = time.Minute

// Write runs fn in the one writer's transaction: committed when fn gives nil, else rolled back, also when it panics.
// Writes run one after the other; ctx ends the wait, and a transaction whose ctx has ended is not committed. fn must
// not call Write, and should read through its tx. An error of fn comes back as it is, one of SQLite as an *errs.Error
// (disk_full, store_readonly, store_damaged, store_busy, store_unreadable; store_closed after Close).
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, false, fn)
}

// WriteDurable is Write whose commit is on the disk, not only handed to the system, before it gives nil. It is for what
// must not be done twice or forgotten after a loss of power.
func (db *DB) WriteDurable(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, true, fn)
}

// WriteUrgent is WriteDurable that also works on a full disk, as long as it is small: it then gives up the reserve
// that lies in the data folder for it. It is for "Stop everything" and its like. fn may run twice.
func (db *DB) WriteUrgent(ctx context.Context, fn func(tx *Tx) error) error {
	err := db.WriteDurable(ctx, fn)
	if errs.Code(err) != CodeFull || !dropReserve(db.dir) {
		return err
	}
	db.log.Warn("disk full: reserve given up")
	return db.WriteDurable(ctx, fn)
}

func (db *DB) write(ctx context.Context, durable bool, fn func(tx *Tx) error) error {
	if err := db.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-db.turn }()
	// The connection and its transaction do not watch ctx: database/sql would roll back from another goroutine at any
	// moment. fn's own statements do, and the commit looks at it.
	calm := context.WithoutCancel(ctx)
	c, err := db.writer.Conn(calm)
	if err != nil {
		return db.wrote(err)
	}
	defer c.Close()
	if durable {
		if _, err := c.ExecContext(calm, "PRAGMA synchronous=FULL"); err != nil {
			return db.wrote(err)
		}
		defer func() {
			if _, err := c.ExecContext(calm, "PRAGMA synchronous=NORMAL"); err != nil {
				db.log.Warn("writes stay durable and slow", "error", err)
			}
		}()
	}
	return db.wrote(db.transact(ctx, c, fn))
}

func (db *DB) transact(ctx context.Context, c *sql.Conn, fn func(tx *Tx) error) error {
	tx, err := c.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit, and after SQLite rolled back by itself, there is nothing left
	unmark := db.unmarked.Load()
	if unmark {
		if _, err := tx.Exec("DELETE FROM meta WHERE key = ?", metaCleanStop); err != nil {
			return err
		}
	}
	if err := fn(&Tx{tx}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if unmark {
		db.unmarked.Store(false)
	}
	return nil
}

func (db *DB) takeTurn(ctx context.Context) error {
	if db.closed.Load() {
		return errClosed()
	}
	select {
	case db.turn <- struct{}{}:
	default:
		if err := db.waitTurn(ctx); err != nil {
			return err
		}
	}
	if db.closed.Load() {
		<-db.turn
		return errClosed()
	}
	return nil
}

func (db *DB) waitTurn(ctx context.Context) error {
	t := db.clock.NewTimer(turnWait)
	defer t.Stop()
	select {
	case db.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the writer: %w", ctx.Err())
	case <-t.C():
		return errs.New(errs.Unavailable, CodeBusy, "Sentient's database was busy for too long. Try again.")
	}
}
