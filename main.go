// Command sentient is a personal assistant that lives on a person's own computer.
//
// One main.go makes three programs, chosen by build tags: the engine and command line (none), the window
// (desktop,production) and the tray icon (tray).
package main

import (
	"os"

	"sentient/app"
)

func main() {
	os.Exit(app.Main(page()))
}
