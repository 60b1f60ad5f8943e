//go:build windowsmoke

package windowtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"sentient/app/tray"
	"sentient/backend/clock"
	"sentient/backend/obs"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = dbus.ObjectPath("/StatusNotifierWatcher")
	itemName    = "org.kde.StatusNotifierItem"
)

// host is a stand-in for the part of a desktop that shows tray icons.
type host struct {
	bus *dbus.Conn

	mu    sync.Mutex
	items []string // "sender/path" of registered icons
}

// RegisterStatusNotifierItem is the watcher's method that icons call.
func (h *host) RegisterStatusNotifierItem(item string, sender dbus.Sender) *dbus.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.HasPrefix(item, "/") {
		item = string(sender) + item
	}
	h.items = append(h.items, item)
	return nil
}

// icon gives the newest icon, or "".
func (h *host) icon() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.items) == 0 {
		return ""
	}
	return h.items[len(h.items)-1]
}

// properties answers what icons ask of the watcher.
type properties struct{}

// Get gives a property.
func (properties) Get(_, name string) (dbus.Variant, *dbus.Error) {
	switch name {
	case "IsStatusNotifierHostRegistered":
		return dbus.MakeVariant(true), nil
	case "ProtocolVersion":
		return dbus.MakeVariant(int32(0)), nil
	}
	return dbus.MakeVariant([]string{}), nil
}

// GetAll gives all properties.
func (p properties) GetAll(string) (map[string]dbus.Variant, *dbus.Error) {
	drawn, _ := p.Get("", "IsStatusNotifierHostRegistered")
	version, _ := p.Get("", "ProtocolVersion")
	return map[string]dbus.Variant{"IsStatusNotifierHostRegistered": drawn, "ProtocolVersion": version}, nil
}

// startHost shows icons until close.
func startHost(t *testing.T) *host {
	t.Helper()
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{bus: bus}
	t.Cleanup(h.close)
	if err := bus.Export(h, watcherPath, watcherName); err != nil {
		t.Fatal(err)
	}
	if err := bus.Export(properties{}, watcherPath, "org.freedesktop.DBus.Properties"); err != nil {
		t.Fatal(err)
	}
	if reply, err := bus.RequestName(watcherName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return h
}

// close takes the tray away, as a desktop's panel that ends does.
func (h *host) close() { h.bus.Close() }

func (h *host) object(path string) dbus.BusObject {
	sender, _, _ := strings.Cut(h.icon(), "/")
	return h.bus.Object(sender, dbus.ObjectPath(path))
}

// property asks the newest icon.
func (h *host) property(t *testing.T, name string) dbus.Variant {
	t.Helper()
	_, path, _ := strings.Cut(h.icon(), "/")
	v, err := h.object("/" + path).GetProperty(itemName + "." + name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// entry is one entry of a menu, as dbusmenu gives it.
type entry struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

// click presses an entry of the icon's menu by its words.
func (h *host) click(t *testing.T, words string) {
	t.Helper()
	menu := h.object(string(h.property(t, "Menu").Value().(dbus.ObjectPath)))
	var revision uint32
	var root entry
	if err := menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, child := range root.Children {
		var e entry
		if err := dbus.Store([]any{child.Value()}, &e); err != nil {
			t.Fatal(err)
		}
		label, _ := e.Properties["label"].Value().(string)
		labels = append(labels, label)
		if strings.Contains(strings.ReplaceAll(label, "_", ""), words) {
			if call := menu.Call("com.canonical.dbusmenu.Event", 0, e.ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0)); call.Err != nil {
				t.Fatal(call.Err)
			}
			return
		}
	}
	t.Fatalf("the menu has no %q: %v", words, labels)
}

// pid gives the process of the newest icon.
func (h *host) pid(t *testing.T) int {
	t.Helper()
	sender, _, _ := strings.Cut(h.icon(), "/")
	var pid uint32
	if err := h.bus.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, sender).Store(&pid); err != nil {
		t.Fatal(err)
	}
	return int(pid)
}

func alive(pid int) bool {
	_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	return err == nil
}

// keep runs the icon's program by its keeper.
func keep(t *testing.T) (k *tray.Keeper, opened, quits chan struct{}) {
	t.Helper()
	opened, quits = make(chan struct{}, 8), make(chan struct{}, 8)
	k = &tray.Keeper{Program: filepath.Join(os.Getenv("SENTIENT_BUILD"), "sentient-tray"), Home: t.TempDir(), Clock: clock.Real{}, Log: obs.Discard(),
		Open: func() { opened <- struct{}{} }, Quit: func() { quits <- struct{}{} }}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Serve(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the keeper ended with %v", err)
		}
	})
	return k, opened, quits
}

// Desktops take their tray away and bring it back, as with a locked screen: the icon is back each time, from the same
// process (getlantern/systray#86).
func TestIconOutlivesTrays(t *testing.T) {
	k, opened, quits := keep(t)
	h := startHost(t) // the icon's program waits for a tray that comes a little later
	eventually(t, "the icon of a tray that came later", func() bool { return h.icon() != "" && k.Shown() })
	pid := h.pid(t)
	if icon, _ := h.property(t, "IconName").Value().(string); icon == "" {
		t.Error("the icon has no picture")
	}
	if title, _ := h.property(t, "Title").Value().(string); title != "Sentient" {
		t.Errorf("the icon is called %q", title)
	}
	for range 20 {
		h.close()
		for end := time.Now().Add(patience); k.Shown() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		}
		h = startHost(t)
		for end := time.Now().Add(patience); (h.icon() == "" || !k.Shown()) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		}
		if h.icon() == "" || h.pid(t) != pid {
			t.Fatalf("the icon is not back from process %d", pid)
		}
	}
	h.click(t, "Open")
	<-opened
	h.click(t, "Quit")
	<-quits
}

// Where no tray is, nothing runs; the icon comes with the first tray.
func TestIconWaitsForATray(t *testing.T) {
	k, _, _ := keep(t)
	eventually(t, "the icon's program gone without a tray", func() bool {
		time.Sleep(6 * time.Second) // it waits five for a tray that is just starting
		return !k.Shown() && !childOfOurs(k.Home)
	})
	h := startHost(t)
	eventually(t, "the icon in a tray that came long after", func() bool { return h.icon() != "" && k.Shown() })
}

// An icon's program that is killed is started again.
func TestIconComesBackAfterAKill(t *testing.T) {
	h := startHost(t)
	k, _, _ := keep(t)
	eventually(t, "the icon", func() bool { return h.icon() != "" && k.Shown() })
	first := h.pid(t)
	picture, _ := h.property(t, "IconName").Value().(string)
	p, err := os.FindProcess(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another process's icon", func() bool { return k.Shown() && !alive(first) && h.pid(t) != first })
	if _, err := os.Stat(picture); err == nil {
		t.Errorf("the killed program left %s", picture)
	}
	if picture, _ = h.property(t, "IconName").Value().(string); picture == "" {
		t.Error("the new icon has no picture")
	} else if _, err := os.Stat(picture); err != nil {
		t.Errorf("the new icon's picture is not there: %v", err)
	}
}
