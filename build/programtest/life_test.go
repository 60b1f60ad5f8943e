//go:build program

package programtest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// taken is a port that another program listens on.
func taken(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// refused wants an engine not to start, with a sentence and status 1.
func refused(t *testing.T, e *engine, part string) {
	t.Helper()
	if e.ready() || !e.hasEnded() {
		t.Fatalf("it started, or hangs: %s%s", e.out, e.log)
	}
	lines := strings.Split(strings.TrimSpace(e.log.String()), "\n")
	last := lines[len(lines)-1]
	t.Logf("status %d: %s", e.cmd.ProcessState.ExitCode(), last)
	if code := e.cmd.ProcessState.ExitCode(); code != 1 || !isSentence(last) || !strings.Contains(last, part) {
		t.Errorf("status %d, %q; want 1 and a sentence with %q", code, last, part)
	}
}

func TestExactPortInUse(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	port := taken(t)
	refused(t, p.begin("--port", strconv.Itoa(port)), strconv.Itoa(port))
	e := p.serve() // the refusal left nothing that is in the way
	e.stop()
}

// The configured port is taken: another one stands in, and stays the same at the next start.
func TestConfiguredPortInUse(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	port := taken(t)
	must(t, os.MkdirAll(p.home, 0o700))
	must(t, os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(fmt.Sprintf("gateway:\n  port: %d\n", port)), 0o600))
	e := p.serve("--verbose")
	first := e.url
	if strings.HasSuffix(first, ":"+strconv.Itoa(port)) {
		t.Fatalf("it says it has the other program's port: %s", first)
	}
	e.stop()
	e = p.serve("--verbose")
	t.Logf("configured %d is taken: %s, then %s", port, first, e.url)
	if e.url != first {
		t.Errorf("%s at the first start, %s at the next", first, e.url)
	}
	e.stop()
}

func TestSecondEngineOnAFolder(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	e := p.serve()
	refused(t, p.begin("--port", "0"), fmt.Sprintf("process %d", e.pid()))
	if a := e.call("GET", "/api/bootstrap", nil); a.status != 200 {
		t.Errorf("the first engine after it: %s", a)
	}
	if p.file("engine-discovery.json") == nil {
		t.Error("the second engine took the first one's discovery file away")
	}
	e.stop()
}

// A folder that cannot be written: by its rights, and by its disk.
func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() != 0 {
		cannot(t, "running as somebody else and mounting need root")
	}
	fill := func(t *testing.T, p *person) {
		t.Helper()
		e := p.serve()
		want[map[string]any](e, "POST", "/api/notifications", map[string]any{"message": "kept"})
		e.stop()
	}
	t.Run("rights", func(t *testing.T) {
		p := newPerson(t)
		fill(t, p)
		opened(t, p.user)
		p.as = &syscall.Credential{Uid: 65534, Gid: 65534}
		refused(t, p.begin("--port", "0"), "folder")
	})
	t.Run("new folder in a folder without rights", func(t *testing.T) {
		p := newPerson(t)
		opened(t, p.user)
		p.as = &syscall.Credential{Uid: 65534, Gid: 65534}
		refused(t, p.begin("--port", "0"), "folder")
	})
	t.Run("disk", func(t *testing.T) {
		disk := smallDisk(t, 16<<20)
		p := personAt(t, t.TempDir(), filepath.Join(disk, "data"))
		fill(t, p)
		must(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		e := p.begin("--port", "0")
		if e.hasEnded() {
			refused(t, e, "folder")
			return
		}
		b := get[bootstrap](e, "/api/bootstrap")
		if b.SafeMode == nil || b.SafeMode.Reason != "readonly" {
			t.Errorf("bootstrap: %+v", b)
		}
		e.stop()
	})
}

// opened lets everybody walk into the folders above and into a test's own folder, which go test makes for us alone.
func opened(t *testing.T, dir string) {
	t.Helper()
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		must(t, os.Chmod(d, 0o755))
	}
}

func TestSignalsEndInOrder(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := newPerson(t)
		e := p.serve()
		if p.file("engine-discovery.json") == nil {
			eventually(t, hangLimit, "the discovery file", func() bool { return p.file("engine-discovery.json") != nil })
		}
		open := e.open(t) // a client that is connected does not hold it up
		e.signal(s)
		code := e.cmd.ProcessState.ExitCode()
		t.Logf("%v: status %d", s, code)
		if code != 0 {
			t.Errorf("%v: status %d\n%s", s, code, e.log)
		}
		if p.file("engine-discovery.json") != nil {
			t.Errorf("%v: the discovery file is still there", s)
		}
		open.close()
		look := looked(t, p.home, true)
		if look.walBytes != 0 {
			t.Errorf("%v: %d bytes are left in the WAL", s, look.walBytes)
		}
	}
}

// What a killed engine leaves (lock, discovery file) is in nobody's way.
func TestStartAfterKill(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	e := p.serve()
	eventually(t, hangLimit, "the discovery file", func() bool { return p.file("engine-discovery.json") != nil })
	want[map[string]any](e, "POST", "/api/notifications", map[string]any{"message": "before"})
	e.kill()
	if p.file("engine-discovery.json") == nil {
		t.Error("the killed engine left no discovery file, so this shows nothing")
	}
	if r := p.run("status"); r.status != 3 {
		t.Errorf("status of a killed engine: %+v", r)
	}
	e = p.serve()
	if n := e.notifications(); len(n) != 1 || n[0].Message != "before" {
		t.Errorf("after the kill: %+v", n)
	}
	if r := p.run("status"); r.status != 0 || !strings.Contains(r.out, e.url) {
		t.Errorf("status: %+v", r)
	}
	e.stop()
}
