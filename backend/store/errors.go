package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"sentient/backend/errs"
)

// Codes of the *errs.Error that reads and writes give.
const (
	CodeFull     = "disk_full"
	CodeReadOnly = "store_readonly"
	CodeDamaged  = "store_damaged"
	CodeBusy     = "store_busy"
	CodeDisk     = "store_unreadable"
	CodeClosed   = "store_closed"
)

var (
	errFull    = errs.New(errs.Unavailable, CodeFull, "There is no space left on the disk, so this was not saved. Free some space and try again.")
	errDamaged = errs.New(errs.Unavailable, CodeDamaged, "Part of Sentient's database is damaged and could not be read. Copies of it, where there are any, are in the data folder under backups.")
)

// What SQLite's primary result codes mean to a person. Codes that are not here are faults of ours, or (a constraint)
// for the package that wrote the statement.
var meanings = map[int]*errs.Error{
	lib.SQLITE_FULL:     errFull,
	lib.SQLITE_READONLY: errs.New(errs.Unavailable, CodeReadOnly, "Sentient may only read its data folder, so this was not saved. Allow it to write there and try again."),
	lib.SQLITE_PERM:     errs.New(errs.Unavailable, CodeReadOnly, "Sentient may not use its data folder. Allow it to read and write there and try again."),
	lib.SQLITE_CORRUPT:  errDamaged,
	lib.SQLITE_NOTADB:   errs.New(errs.Unavailable, CodeDamaged, "Sentient's database is damaged and could not be read. Copies of it, where there are any, are in the data folder under backups."),
	lib.SQLITE_BUSY:     errs.New(errs.Unavailable, CodeBusy, "Another program is using Sentient's database. Close it and try again."),
	lib.SQLITE_LOCKED:   errs.New(errs.Unavailable, CodeBusy, "Sentient's database was busy for too long. Try again."),
	lib.SQLITE_PROTOCOL: errs.New(errs.Unavailable, CodeBusy, "Another program is using Sentient's database. Close it and try again."),
	lib.SQLITE_IOERR:    errs.New(errs.Unavailable, CodeDisk, "The disk with Sentient's data folder did not work as it should. Check that it is connected and healthy, then try again."),
	lib.SQLITE_CANTOPEN: errs.New(errs.Unavailable, CodeDisk, "Sentient's database could not be opened. Check that its data folder is there and try again."),
}

func errClosed() error {
	return errs.New(errs.Unavailable, CodeClosed, "Sentient is closing and cannot do this now.")
}

// translate makes an *errs.Error of one of SQLite's, by its code.
func translate(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	if m, ok := meanings[e.Code()&0xff]; ok {
		return m.Because(err)
	}
	if e.Code()&0xff == lib.SQLITE_INTERRUPT {
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	return err
}

// What SQLite calls an I/O error although its reason may be a full disk.
var maybeFull = []int{lib.SQLITE_IOERR_WRITE, lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_TRUNCATE, lib.SQLITE_IOERR_SHMSIZE, lib.SQLITE_IOERR_SHMMAP, lib.SQLITE_IOERR_CLOSE}

// fullAfterAll finds out whether the reason of such an error is that no space is left in dir.
func fullAfterAll(dir string, err error) error {
	if !slices.Contains(maybeFull, extended(err)) {
		return err
	}
	probe, perr := os.CreateTemp(dir, ".probe-*")
	if perr == nil {
		_, perr = probe.Write(make([]byte, 64<<10))
		perr = errors.Join(perr, probe.Sync(), probe.Close(), removeAll(probe.Name()))
	}
	if perr != nil && reasonOf(perr) == Full {
		return errFull.Because(err)
	}
	return err
}

// extended gives SQLite's extended result code in err's chain, or 0.
func extended(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

// IsTaken reports whether a statement failed because its key, or a value that must be unique, is there already.
func IsTaken(err error) bool {
	c := extended(err)
	return c == lib.SQLITE_CONSTRAINT_UNIQUE || c == lib.SQLITE_CONSTRAINT_PRIMARYKEY || c == lib.SQLITE_CONSTRAINT_ROWID
}

// IsOrphan reports whether a statement failed because a row that it refers to is not there.
func IsOrphan(err error) bool { return extended(err) == lib.SQLITE_CONSTRAINT_FOREIGNKEY }
