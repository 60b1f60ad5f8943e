// Package config owns the settings: what there is to set, what each setting means, what it may be, and the file that
// keeps them (config.yaml in the data folder).
//
// A setting is one field of Config with its description, default and bounds in its tags; the JSON Schema, the
// validation and the defaults are read from there, so a field is written once. Settings as a whole are also a tree of
// plain JSON values; merging, comparing and saving work on the tree, by path.
//
// It promises:
//   - Get never waits and never gives nil. What it gives is never changed afterwards; readers must not change it either.
//   - A change is validated, then shown to every Subscriber (Verify), then written, then applied (Commit). When anything
//     refuses, nothing has changed, in memory or on disk.
//   - The file holds whole settings, the old or the new, whatever ends the program. Only what differs is edited:
//     comments, order, anchors, quoting, line ends and unknown keys stay as they are, and so does what a person
//     changed in the file by hand in the meantime.
//   - A file that cannot be read is never lost and never silently replaced by defaults: it is set aside, the last good
//     copy is used, and Notes says so.
//
// It does not promise to keep several processes apart: whoever holds the lock on the data folder is the one writer.
// Secrets never stand here (package secret). Everything above L0 may import config.
package config
