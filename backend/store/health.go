package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/svc"
)

// Health is what is known of the open database.
type Health struct {
	OK        bool      // nothing is known to be wrong
	Sentence  string    // for people: what is wrong, or that all is well
	Unclean   bool      // the last stop was not a clean one
	LostTail  bool      // the last changes before it could not be read back
	Damaged   bool      // a check, or a read, found damage
	DiskFull  bool      // the last write found no space
	Checking  bool      // a check of the whole file runs
	CheckedAt time.Time // when the whole file was last found sound; zero: not known
}

type health struct {
	mu  sync.Mutex
	now Health
}

func (h *health) begin(unclean, lost bool) {
	h.change(func(n *Health) { n.Unclean, n.LostTail = unclean, lost })
}

func (h *health) change(f func(*Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.now)
}

func (h *health) get() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.now
	n.OK = !n.Damaged && !n.DiskFull && !n.LostTail
	switch {
	case n.Damaged:
		n.Sentence = "Part of Sentient's database is damaged. Copies of it, where there are any, are in the data folder under backups."
	case n.DiskFull:
		n.Sentence = "There is no space left on the disk, so nothing can be saved. Free some space."
	case n.LostTail:
		n.Sentence = "Sentient did not stop cleanly last time, and some of the last changes before that are lost."
	case n.Checking:
		n.Sentence = "Sentient's database is being checked."
	case n.Unclean:
		n.Sentence = "Sentient did not stop cleanly last time. Its database is sound, but if the computer lost power, the last changes before that may be missing."
		if n.CheckedAt.IsZero() {
			n.Sentence = "Sentient did not stop cleanly last time. Its database will be checked soon."
		}
	default:
		n.Sentence = "Sentient's database is fine."
	}
	return n
}

// Health tells how the database is.
func (db *DB) Health() Health { return db.health.get() }

// saw is shown every error of a connection.
func (db *DB) saw(err error) {
	if errs.Code(err) == CodeDamaged {
		db.health.change(func(n *Health) { n.Damaged = true })
	}
}

// wrote is shown how a write ended and passes it on.
func (db *DB) wrote(err error) error {
	full := errs.Code(err) == CodeFull
	if full || err == nil {
		db.health.change(func(n *Health) { n.DiskFull = full })
	}
	return err
}

// Check reads the whole database and gives store_damaged when it is not sound. On half a gigabyte it takes under a
// second; reads and writes go on meanwhile.
func (db *DB) Check(ctx context.Context) error {
	db.health.change(func(n *Health) { n.Checking = true })
	defer db.health.change(func(n *Health) { n.Checking = false })
	r := pool(readerDSN, filepath.Join(db.dir, FileName), 1, nil)
	faults, err := quickCheck(ctx, r)
	err = errors.Join(err, r.Close())
	if err == nil && len(faults) == 0 {
		return db.soundAt(ctx, db.clock.Now())
	}
	if errs.Code(err) != CodeDamaged && len(faults) == 0 {
		return err
	}
	db.log.Error("database damaged", "faults", fmt.Sprint(faults), "error", err)
	db.health.change(func(n *Health) { n.Damaged = true })
	return errDamaged.Because(errors.Join(err, fmt.Errorf("quick_check found %d faults", len(faults))))
}

func (db *DB) soundAt(ctx context.Context, at time.Time) error {
	db.health.change(func(n *Health) { n.Damaged, n.CheckedAt = false, at })
	return db.Write(ctx, func(tx *Tx) error { return db.SetMeta(ctx, tx, metaCheckedAt, clock.Stamp(at)) })
}

// quickCheck gives what SQLite finds wrong, at most twenty lines that name pages and tables, never contents.
func quickCheck(ctx context.Context, r *sql.DB) ([]string, error) {
	rows, err := r.QueryContext(ctx, "PRAGMA quick_check(20)")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var faults []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return faults, err
		}
		if line != "ok" {
			faults = append(faults, line)
		}
	}
	return faults, rows.Err()
}

const (
	checkEvery  = 7 * 24 * time.Hour
	upkeepEvery = time.Hour
)

// Upkeep is the service that checks the whole file after an unclean stop and weekly, and keeps the reserve.
func (db *DB) Upkeep() svc.Service {
	return svc.Func{Name: "store upkeep", Run: db.upkeep}
}

func (db *DB) upkeep(ctx context.Context) error {
	at, _, err := db.Meta(ctx, metaCheckedAt)
	if err != nil {
		db.log.Warn("time of the last check not known", "error", err)
	}
	last, err := clock.Parse(at)
	if err == nil {
		db.health.change(func(n *Health) {
			if !n.Unclean {
				n.CheckedAt = last
			}
		})
	}
	if db.Health().Unclean {
		last = time.Time{}
	}
	for {
		if now := db.clock.Now(); now.Sub(last) >= checkEvery || now.Before(last) {
			if err := db.Check(ctx); err != nil && ctx.Err() == nil {
				db.log.Warn("check of the database", "error", err)
			}
			last = now
		}
		if err := keepReserve(db.dir); err != nil {
			db.log.Warn("reserve not kept", "error", err)
		}
		if err := wait(ctx, db.clock, upkeepEvery); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, c clock.Clock, d time.Duration) error {
	t := c.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C():
		return nil
	}
}
