// Package store keeps everything in one SQLite file.
package store

import (
	"context"
	"database/sql"
)

// DB is the open database of one data folder.
type DB struct{}

// Tx is the one writer's transaction.
type Tx struct{ *sql.Tx }

// Write runs fn in the one writer's transaction: committed when fn gives nil, else rolled back.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error { panic("not yet") }

// Reader gives the pool of read-only connections.
func (db *DB) Reader() *sql.DB { panic("not yet") }
