package tray

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// The names of the tray's side of the StatusNotifierItem specification.
const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = dbus.ObjectPath("/StatusNotifierWatcher")
)

// watchHost follows the StatusNotifierWatcher on the session bus. It starts no bus of its own.
func watchHost(ctx context.Context, changed func(there bool)) error {
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("find session bus: %w", err)
	}
	defer conn.Close()
	if err := conn.Auth(nil); err != nil {
		return fmt.Errorf("enter session bus: %w", err)
	}
	if err := conn.Hello(); err != nil {
		return fmt.Errorf("greet session bus: %w", err)
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcherName)},
		{dbus.WithMatchInterface(watcherName), dbus.WithMatchMember("StatusNotifierHostRegistered")},
		{dbus.WithMatchInterface(watcherName), dbus.WithMatchMember("StatusNotifierHostUnregistered")},
	} {
		if err := conn.AddMatchSignalContext(ctx, match...); err != nil {
			return fmt.Errorf("follow tray: %w", err)
		}
	}
	for {
		changed(watcherThere(ctx, conn))
		select {
		case _, open := <-signals:
			if !open {
				return fmt.Errorf("session bus has ended")
			}
		case <-conn.Context().Done():
			return fmt.Errorf("session bus has ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watcherThere asks whether the watcher runs and has a host that draws icons. A watcher that does not say is believed.
func watcherThere(ctx context.Context, conn *dbus.Conn) bool {
	var owned bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcherName).Store(&owned); err != nil || !owned {
		return false
	}
	var drawn dbus.Variant
	err := conn.Object(watcherName, watcherPath).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart,
		watcherName, "IsStatusNotifierHostRegistered").Store(&drawn)
	if err != nil {
		return true
	}
	yes, known := drawn.Value().(bool)
	return yes || !known
}
