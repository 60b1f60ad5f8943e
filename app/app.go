// Package app composes the programs: it alone knows which parts there are. Main of each program stands in a file of its
// own behind the program's build tags; what they run is in cli, desktop and tray.
package app
