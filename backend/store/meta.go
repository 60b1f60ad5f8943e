package store

import (
	"context"
	"database/sql"
	"errors"
)

// Keys of the meta table that are the store's own.
const (
	metaCleanStop = "store.clean_stop" // when the last clean stop was; absent while an engine runs
	metaCheckedAt = "store.checked_at" // when the whole file was last found sound
)

const setMetaSQL = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

// Meta gives the value of a key of the meta table and whether there is one.
func (db *DB) Meta(ctx context.Context, key string) (string, bool, error) {
	var v string
	err := db.reader.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return v, err == nil, err
}

// SetMeta sets the value of a key of the meta table. Keys are dotted and start with the package's name ("stop.state").
func (db *DB) SetMeta(ctx context.Context, tx *Tx, key, value string) error {
	_, err := tx.ExecContext(ctx, setMetaSQL, key, value)
	return err
}
