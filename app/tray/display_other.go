//go:build tray && !linux

package tray

// openDisplay: these systems show icons wherever a person is signed in.
func openDisplay() error { return nil }

// oldTray: there is only one kind here.
func oldTray() bool { return false }
