// Command draw writes Sentient's pictures beside the package that holds them. Run it with go generate.
package main

import (
	"fmt"
	"os"

	"sentient/build/packaging/art"
)

func main() {
	ico := [][]byte{}
	for _, size := range []int{16, 32, 48} {
		ico = append(ico, art.DrawTray(size))
	}
	for name, content := range map[string][]byte{
		"window.png": art.DrawWindow(256), "tray.png": art.DrawTray(64), "tray.ico": art.ICO(ico...),
	} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "draw:", err)
			os.Exit(1)
		}
	}
}
