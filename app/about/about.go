// Package about says which build this is: its version, and the commit it was built from, which the linker sets.
package about

import "runtime/debug"

// Version is the program's version.
const Version = "0.1.0"

// commit is set by the linker.
var commit string

// Commit is the commit that the program was built from, or "unknown".
func Commit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 7 {
				return s.Value[:7]
			}
		}
	}
	return "unknown"
}
