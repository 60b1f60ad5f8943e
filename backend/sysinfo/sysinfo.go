// Package sysinfo tells what computer this is: memory, disk, processors, displays, language.
//
// It promises to answer always and quickly, and to change nothing: what cannot be found out is the zero value or
// "unknown". It remembers nothing. Anything from layer 2 up may import it.
package sysinfo

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Unknown stands where a name cannot be found out.
const Unknown = "unknown"

// OS is "windows", "macos" or "linux"; on other systems what Go calls them.
func OS() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

// Bytes is an amount of memory or disk.
type Bytes uint64

// String gives it in GB or MB, as a person reads it: "15.6 GB".
func (b Bytes) String() string {
	if b >= 1<<30 {
		return fmt.Sprintf("%.1f GB", float64(b)/(1<<30))
	}
	return fmt.Sprintf("%d MB", uint64(b)>>20)
}

// Memory gives the computer's memory and how much of it a program could have now.
func Memory() (total, available Bytes) {
	m, err := mem.VirtualMemory()
	if err != nil || m == nil {
		return 0, 0
	}
	return Bytes(m.Total), Bytes(m.Available)
}

// DiskFree gives the space that this user can still fill on the disk of path, and whether that is known. path need not
// be there yet: the nearest folder above it counts.
func DiskFree(path string) (free Bytes, known bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, false
	}
	for {
		if _, err := os.Stat(path); err == nil {
			break
		}
		up := filepath.Dir(path)
		if up == path {
			return 0, false
		}
		path = up
	}
	u, err := disk.Usage(path)
	if err != nil || u == nil {
		return 0, false
	}
	return Bytes(u.Free), true
}

// CPUs is how many processors this program can use at once; at least 1.
func CPUs() int { return runtime.NumCPU() }

// HasDisplay reports whether windows can be shown: always on Windows and macOS, else where X11 or Wayland says so.
func HasDisplay(getenv func(string) string) bool {
	return hasDisplay(OS(), getenv)
}

func hasDisplay(system string, getenv func(string) string) bool {
	if system == "windows" || system == "macos" {
		return true
	}
	return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" || getenv("WAYLAND_SOCKET") != ""
}

// Locale gives the person's language as a BCP 47 tag ("de-DE", "en"), as far as the environment tells it; "" when it
// does not, or says only "C".
func Locale(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		v := getenv(name)
		if v == "" {
			continue // POSIX: the first that is set and not empty counts
		}
		v, _, _ = strings.Cut(v, ".")
		v, _, _ = strings.Cut(v, "@")
		if v == "C" || v == "POSIX" || v == "" {
			return ""
		}
		return strings.ReplaceAll(v, "_", "-")
	}
	return ""
}

// Machine describes the computer in a few words each, for tables of measurements.
type Machine struct {
	CPU    string // model, e.g. "AMD EPYC 7B13"
	Cores  int    // what CPUs gives
	Memory Bytes
	System string // e.g. "ubuntu 24.04 (linux, amd64)"
}

// Describe looks at the computer.
func Describe() Machine {
	total, _ := Memory()
	return Machine{CPU: cpuModel(), Cores: CPUs(), Memory: total, System: system()}
}

// String gives it in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s memory, %s", m.CPU, m.Cores, m.Memory, m.System)
}

func cpuModel() string {
	infos, err := cpu.Info()
	if err != nil || len(infos) == 0 {
		return Unknown
	}
	return orUnknown(strings.Join(strings.Fields(infos[0].ModelName), " "))
}

func system() string {
	name, _, version, err := host.PlatformInformation()
	if err != nil {
		name, version = "", ""
	}
	return fmt.Sprintf("%s (%s, %s)", orUnknown(strings.TrimSpace(name+" "+version)), OS(), runtime.GOARCH)
}

func orUnknown(s string) string {
	if s == "" {
		return Unknown
	}
	return s
}
