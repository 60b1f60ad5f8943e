//go:build !linux

package tray

// KeepFilesOut does nothing: on these systems a program inherits only what it is given.
func KeepFilesOut() {}
