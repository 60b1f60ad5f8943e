// Package clock is the one way to the time. Nothing else calls time.Now, time.After or time.NewTimer outside tests
// (backend/meta holds it), so that a test can stand the whole engine at any moment.
package clock

import "time"

// Clock tells and waits for time.
type Clock interface {
	// Now is the present moment with the monotonic reading where there is one.
	Now() time.Time
	// NewTimer fires once after d on C; Stop ends it.
	NewTimer(d time.Duration) Timer
	// Local is the computer's own zone.
	Local() *time.Location
}

// Timer is the part of time.Timer that is needed.
type Timer interface {
	C() <-chan time.Time
	Stop() bool
	Reset(d time.Duration) bool
}

// Real is the computer's clock. Under testing/synctest it is the bubble's.
type Real struct{}

// Now is time.Now.
func (Real) Now() time.Time { return time.Now() }

// NewTimer is time.NewTimer.
func (Real) NewTimer(d time.Duration) Timer { return realTimer{time.NewTimer(d)} }

// Local is time.Local.
func (Real) Local() *time.Location { return time.Local }

type realTimer struct{ *time.Timer }

// C is where the timer fires.
func (t realTimer) C() <-chan time.Time { return t.Timer.C }

// Stamp writes a moment the way the contract does: ISO-8601 in UTC with microseconds and a "Z" (document 000, head).
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// Parse reads what Stamp wrote, and any other RFC 3339 moment.
func Parse(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) }
