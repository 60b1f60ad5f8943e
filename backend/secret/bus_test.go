//go:build !darwin && !windows

package secret

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"sentient/backend/obs"
	"sentient/backend/svc"
)

// need ends the test where a program is missing: a failure in CI, a printed skip elsewhere.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is needed and not installed", program)
		}
		t.Skipf("%s is not installed; the real Secret Service is not tried", program)
	}
}

// bus is a private session bus, and on it, when asked, a real keyring.
type bus struct {
	dir, address string
	env          []string
	keyring      *exec.Cmd
}

const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s/bus</listen>%s
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// startBus starts a bus. With activation the bus may start the service that the system has installed.
func startBus(t *testing.T, activation bool) *bus {
	t.Helper()
	need(t, "dbus-daemon")
	dir, err := os.MkdirTemp("", "sb") // short: the path of a socket has a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := &bus{dir: dir, address: "unix:path=" + dir + "/bus"}
	services := ""
	if activation {
		services = "<standard_session_servicedirs/>"
	}
	if err := os.WriteFile(filepath.Join(dir, "bus.conf"), fmt.Appendf(nil, busConfig, dir, services), 0o600); err != nil {
		t.Fatal(err)
	}
	b.env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+b.address, "HOME="+dir, "XDG_RUNTIME_DIR="+dir,
		"XDG_DATA_HOME="+dir+"/data", "XDG_CONFIG_HOME="+dir+"/config", "XDG_CACHE_HOME="+dir+"/cache")
	cmd := exec.Command("dbus-daemon", "--config-file="+filepath.Join(dir, "bus.conf"), "--nofork", "--print-address")
	cmd.Env = b.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run(t, cmd)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the bus did not start: %v", err)
	}
	return b
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// startKeyring starts a keyring, unlocked with a password, or one that has a locked collection of an earlier start.
func (b *bus) startKeyring(t *testing.T, unlock bool) {
	t.Helper()
	need(t, "gnome-keyring-daemon")
	args := []string{"--foreground", "--components=secrets"}
	if unlock {
		args = append(args, "--unlock")
	}
	b.keyring = exec.Command("gnome-keyring-daemon", args...)
	b.keyring.Env = b.env
	b.keyring.Stdin = strings.NewReader("a password")
	var said bytes.Buffer
	b.keyring.Stderr = &said
	run(t, b.keyring)
	b.awaitName(t, secretsName)
	if t.Failed() {
		t.Fatalf("the keyring did not come up: %s", said.String())
	}
}

// awaitName waits until somebody on the bus owns a name.
func (b *bus) awaitName(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only so that a hang ends the test
	defer cancel()
	conn, err := dbus.Connect(b.address, dbus.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	changes := make(chan *dbus.Signal, 100)
	conn.Signal(changes)
	err = conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name))
	if err != nil {
		t.Fatal(err)
	}
	for owned := false; ; {
		if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned); err != nil || owned {
			if err != nil {
				t.Error(err)
			}
			return
		}
		select {
		case <-changes:
		case <-ctx.Done():
			t.Errorf("nobody owns %s", name)
			return
		}
	}
}

func (b *bus) stopKeyring() {
	_ = b.keyring.Process.Kill()
	_ = b.keyring.Wait()
}

func (b *bus) getenv(name string) string {
	for i := len(b.env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(b.env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// log is a logger's writer that tests may read.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type place struct {
	home, keys string
	log        log
}

func newPlace(t *testing.T) *place {
	return &place{home: filepath.Join(t.TempDir(), "home"), keys: filepath.Join(t.TempDir(), "keys")}
}

func (p *place) store(getenv func(string) string) *Store {
	return New(Options{Home: p.home, DefaultHome: p.home, KeyDir: p.keys, Getenv: getenv, Log: obs.NewLogger(&p.log, -8)})
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// silentBus is a socket that accepts everybody and never says a word.
func silentBus(t *testing.T) (address string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	tree := svc.NewTree("silent bus", obs.Discard())
	t.Cleanup(func() {
		l.Close()
		tree.Close()
	})
	tree.Go("accept", func(context.Context) {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close() // all of them, at the end
		}
	})
	return "unix:path=" + filepath.Join(dir, "s")
}

// nowhereInPlain fails when the text stands in any file below the folders.
func nowhereInPlain(t *testing.T, text string, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if bytes.Contains(b, []byte(text)) {
				t.Errorf("%s holds the value in plain text", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
