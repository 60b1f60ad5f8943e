package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"sentient/backend/clock"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the schema. Its number is the user_version that it leaves behind.
type migration struct {
	number int
	name   string // file name without ".sql"
	sql    string
	sum    string // SHA-256 of the text with LF line ends
}

// loadMigrations reads the steps in order. Numbers have four digits and rise.
func loadMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var all []migration
	last := 0
	for _, name := range names { // Glob gives them sorted
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		base := strings.TrimSuffix(path.Base(name), ".sql")
		digits, _, _ := strings.Cut(base, "_")
		n, err := strconv.Atoi(digits)
		if err != nil || len(digits) != 4 || n <= last {
			return nil, fmt.Errorf("migration %s: want a number of four digits after %04d", base, last)
		}
		last = n
		clean := strings.ReplaceAll(string(text), "\r\n", "\n")
		sum := sha256.Sum256([]byte(clean))
		all = append(all, migration{n, base, clean, hex.EncodeToString(sum[:])})
	}
	if len(all) == 0 {
		return nil, errors.New("no migrations")
	}
	return all, nil
}

const migrationsTable = `CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,
    sum    TEXT NOT NULL,
    at     TEXT NOT NULL
) STRICT`

// migrate runs the steps after version, each in a transaction of its own.
func migrate(ctx context.Context, w *sql.DB, o Options, version int) error {
	for _, m := range o.steps {
		if m.number <= version {
			continue
		}
		o.at("before step")
		if err := applyMigration(ctx, w, m, o); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		o.at("after step")
	}
	return nil
}

// applyMigration runs one step: its statements, its row and the schema number, all or nothing.
func applyMigration(ctx context.Context, w *sql.DB, m migration, o Options) error {
	tx, err := w.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is left to roll back after a commit
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{sql: migrationsTable},
		{sql: m.sql},
		{sql: "INSERT INTO migrations (number, name, sum, at) VALUES (?, ?, ?, ?)", args: []any{m.number, m.name, m.sum, clock.Stamp(o.Clock.Now())}},
		{sql: fmt.Sprintf("PRAGMA user_version = %d", m.number)},
	} {
		if _, err := tx.ExecContext(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	o.at("before commit")
	return tx.Commit()
}

// checkSteps compares what the database says was done with its schema number and with the steps that this program has.
// A step that was edited after it ran is only logged: the schema is there, and nobody is helped by a program that does
// not start. A test holds that released steps are never edited.
func checkSteps(ctx context.Context, r *sql.DB, o Options, version int) error {
	rows, err := r.QueryContext(ctx, "SELECT number, name, sum FROM migrations ORDER BY number")
	if err != nil {
		return err
	}
	defer rows.Close()
	done := map[int]string{}
	for rows.Next() {
		var n int
		var name, sum string
		if err := rows.Scan(&n, &name, &sum); err != nil {
			return err
		}
		if n > version {
			return unusable(Damaged, fmt.Errorf("step %s was done, but the schema number is %d", name, version))
		}
		done[n] = sum
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, m := range o.steps {
		sum, ok := done[m.number]
		switch {
		case m.number > version:
		case !ok:
			return unusable(Damaged, fmt.Errorf("schema number is %d, but step %s was not done", version, m.name))
		case sum != m.sum:
			o.Log.Error("migration edited after it ran", "migration", m.name)
		}
	}
	return nil
}
