// Package doors holds the scenarios of the operation table: for every operation a few requests with what must come back,
// the refusals first, each run through both doors (HTTP and the window's bound structs). It has no code but its tests.
package doors
