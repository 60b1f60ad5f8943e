package store

import (
	"context"
	"errors"
	"io/fs"

	lib "modernc.org/sqlite/lib"

	"sentient/backend/errs"
)

// Reason says why a database is not used.
type Reason string

// The reasons.
const (
	Foreign    Reason = "foreign"    // another program's database under our name
	Newer      Reason = "newer"      // made by a later version of Sentient
	Damaged    Reason = "damaged"    // not a database any more, or not a whole one
	Missing    Reason = "missing"    // there was one in this folder and it is gone
	Unreadable Reason = "unreadable" // the file or the disk cannot be read
	ReadOnly   Reason = "readonly"   // the folder or the file cannot be written
	Full       Reason = "full"       // no space to open it
	Busy       Reason = "busy"       // another program holds it
	Stuck      Reason = "migration"  // it could not be brought to this version's schema
)

var sentences = map[Reason]string{
	Foreign:    "The database in Sentient's data folder was made by another program. It was left as it is. Move it away, or choose another data folder.",
	Newer:      "The database in Sentient's data folder was made by a newer version of Sentient. It was left as it is. Install that version again, or restore a snapshot from before the update.",
	Damaged:    "Sentient's database is damaged and was left as it is. Restore the newest snapshot, or choose another data folder.",
	Missing:    "Sentient's database is missing from its data folder. Put it back, restore the newest snapshot, or start with an empty one.",
	Unreadable: "Sentient's database cannot be read. Check that the disk is connected and that you may read the data folder, then start Sentient again.",
	ReadOnly:   "Sentient may only read its data folder and needs to write there. Allow it to, or choose another data folder, then start Sentient again.",
	Full:       "There is no space left on the disk to open Sentient's database. Free some space and start Sentient again.",
	Busy:       "Another program is using Sentient's database. Close it and start Sentient again.",
	Stuck:      "Sentient's database could not be brought up to date for this version. Nothing was lost. Install the earlier version again, or restore the newest snapshot.",
}

// Unusable is why the engine starts without its database, in safe mode. Nothing of it was changed.
type Unusable struct {
	Reason    Reason
	Sentence  string     // for people: what is the matter and what to do
	Snapshots []Snapshot // what Restore can put in its place, newest first
	Cause     error      // for the log
}

func unusable(r Reason, cause error) *Unusable {
	return &Unusable{Reason: r, Sentence: sentences[r], Cause: cause}
}

// Error gives the text for logs.
func (u *Unusable) Error() string { return u.Unwrap().Error() }

// Unwrap gives it as an *errs.Error: unavailable, code "store_" and the reason.
func (u *Unusable) Unwrap() error {
	e := errs.New(errs.Unavailable, "store_"+string(u.Reason), u.Sentence)
	if u.Cause != nil {
		return e.Because(u.Cause)
	}
	return e
}

// asUnusable finds the reason in any error of opening.
func asUnusable(err error) *Unusable {
	if u, ok := errors.AsType[*Unusable](err); ok {
		return u
	}
	return unusable(reasonOf(err), err)
}

// Unfit is for an error that an open database gave before anything ran on it: when its file or its disk is the reason,
// the engine can do no better than to start without it. nil for any other error.
func Unfit(dir string, err error) *Unusable {
	u := asUnusable(err)
	if _, ok := reasonOfCode[errs.Code(err)]; !ok {
		if extended(err)&0xff != lib.SQLITE_ERROR {
			return nil
		}
		u = unusable(Damaged, err) // our statements are right: what SQLite read of the schema is not
	}
	u.Snapshots = Snapshots(dir)
	return u
}

var reasonOfCode = map[string]Reason{
	CodeFull: Full, CodeReadOnly: ReadOnly, CodeDamaged: Damaged, CodeBusy: Busy, CodeDisk: Unreadable,
}

func reasonOf(err error) Reason {
	if r, ok := reasonOfCode[errs.Code(err)]; ok {
		return r
	}
	switch {
	case isFull(err):
		return Full
	case isReadOnly(err):
		return ReadOnly
	}
	return Unreadable
}

// fileTrouble is for an error of the file system rather than of SQLite.
func fileTrouble(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrPermission):
		return unusable(ReadOnly, err)
	}
	return unusable(reasonOf(err), err)
}
