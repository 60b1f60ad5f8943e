package store

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// The types of this file stand between database/sql and SQLite so that an error of SQLite is an *errs.Error for
// whoever meets it: a Scan, a Commit or a row in the middle of a loop.

// whole is what a connection of the driver can do; hiding any of it would change how database/sql uses it.
type whole interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type tell func(error) error

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	t := tell(func(err error) error {
		err = fullAfterAll(c.dir, translate(err))
		if err != nil && c.saw != nil {
			c.saw(err)
		}
		return err
	})
	base, err := sqlite.NewConnector(c.dsn)
	if err != nil {
		return nil, err
	}
	raw, err := base.Connect(ctx)
	if err != nil {
		return nil, t(err)
	}
	return conn{raw.(whole), t}, nil
}

type conn struct {
	whole
	tell tell
}

// Unwrap gives the driver's own connection.
func (c conn) Unwrap() driver.Conn { return c.whole }

// BeginTx begins a transaction.
func (c conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	t, err := c.whole.BeginTx(ctx, o)
	if err != nil {
		return nil, c.tell(err)
	}
	return tx{t, c.tell}, nil
}

// PrepareContext prepares a statement.
func (c conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.whole.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.tell(err)
	}
	return stmt{s.(wholeStmt), c.tell}, nil
}

// ExecContext runs a statement that gives no rows.
func (c conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	r, err := c.whole.ExecContext(ctx, query, args)
	return r, c.tell(err)
}

// QueryContext runs a statement that gives rows.
func (c conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.whole.QueryContext(ctx, query, args)
	if err != nil {
		return nil, c.tell(err)
	}
	return rows{r, c.tell}, nil
}

type tx struct {
	driver.Tx
	tell tell
}

// Commit ends the transaction and keeps it.
func (t tx) Commit() error { return t.tell(t.Tx.Commit()) }

// Rollback ends the transaction and undoes it.
func (t tx) Rollback() error { return t.tell(t.Tx.Rollback()) }

type wholeStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	wholeStmt
	tell tell
}

// ExecContext runs the statement.
func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.wholeStmt.ExecContext(ctx, args)
	return r, s.tell(err)
}

// QueryContext runs the statement.
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.wholeStmt.QueryContext(ctx, args)
	if err != nil {
		return nil, s.tell(err)
	}
	return rows{r, s.tell}, nil
}

type rows struct {
	driver.Rows
	tell tell
}

// Next gives the next row.
func (r rows) Next(dest []driver.Value) error { return r.tell(r.Rows.Next(dest)) }

// ColumnTypeDatabaseTypeName gives the declared type of a column.
func (r rows) ColumnTypeDatabaseTypeName(i int) string {
	return r.Rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i)
}
