//go:build !darwin && !windows

package secret

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

// The Secret Service of the desktop (GNOME Keyring, KWallet, KeePassXC), spoken to directly over the session bus. Each
// call has a connection of its own that ends with the call's context, so that a bus or service that is silent, or goes
// away, costs that call and nothing else. (github.com/99designs/keyring cannot be linked here: on Linux it connects to
// the session bus while the program is being loaded, without a limit, and a silent bus then hangs it before main.)
const (
	secretsName = "org.freedesktop.secrets"
	secretsPath = dbus.ObjectPath("/org/freedesktop/secrets")
	serviceFace = "org.freedesktop.Secret.Service"
	itemFace    = "org.freedesktop.Secret.Item"
	collFace    = "org.freedesktop.Secret.Collection"
	nowhere     = dbus.ObjectPath("/")
)

// wireSecret is the Secret struct of the Secret Service API.
type wireSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

type secretService struct {
	conn    *dbus.Conn
	cancel  context.CancelFunc
	service string
	session dbus.ObjectPath
}

// platform gives the opener of this system. getenv gives the environment of whoever runs the engine.
func platform(getenv func(string) string) opener {
	return func(ctx context.Context, service string) (vault, error) { return openBus(ctx, getenv, service) }
}

func openBus(ctx context.Context, getenv func(string) string, service string) (vault, error) {
	socket, err := busSocket(getenv)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	raw, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("%w: dial the session bus: %w", errMissing, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &secretService{cancel: cancel, service: service}
	if s.conn, err = dbus.NewConn(raw, dbus.WithContext(ctx)); err != nil {
		raw.Close()
		cancel()
		return nil, fmt.Errorf("connect to the session bus: %w", err)
	}
	if err := s.hello(ctx); err != nil {
		s.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return s, nil
}

func (s *secretService) hello(ctx context.Context) error {
	if err := s.conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))}); err != nil {
		return fmt.Errorf("sign in to the session bus: %w", err)
	}
	if err := s.conn.Hello(); err != nil {
		return fmt.Errorf("greet the session bus: %w", err)
	}
	var ignored dbus.Variant
	call := s.conn.Object(secretsName, secretsPath).CallWithContext(ctx, serviceFace+".OpenSession", 0, "plain", dbus.MakeVariant(""))
	if err := call.Store(&ignored, &s.session); err != nil {
		return plainError("open a session", err)
	}
	return nil
}

// busSocket gives the socket of the session bus. Only sockets on this computer count; nothing is ever started.
func busSocket(getenv func(string) string) (string, error) {
	addresses := getenv("DBUS_SESSION_BUS_ADDRESS")
	if addresses == "" {
		if run := getenv("XDG_RUNTIME_DIR"); run != "" {
			path := filepath.Join(run, "bus")
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
		return "", fmt.Errorf("%w: no session bus", errMissing)
	}
	for _, a := range strings.Split(addresses, ";") {
		options, ok := strings.CutPrefix(a, "unix:")
		if !ok {
			continue
		}
		for _, o := range strings.Split(options, ",") {
			k, v, _ := strings.Cut(o, "=")
			v, err := url.PathUnescape(v)
			if err != nil {
				continue
			}
			switch k {
			case "path":
				return v, nil
			case "abstract":
				return "@" + v, nil
			}
		}
	}
	return "", fmt.Errorf("%w: no session bus on a local socket", errMissing)
}

func (s *secretService) close() {
	s.conn.Close()
	s.cancel()
}

// plainError sorts a bus error into what the store tells apart.
func plainError(what string, err error) error {
	var e dbus.Error
	if errors.As(err, &e) {
		switch {
		case e.Name == "org.freedesktop.DBus.Error.ServiceUnknown", e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner",
			strings.HasPrefix(e.Name, "org.freedesktop.DBus.Error.Spawn"):
			return fmt.Errorf("%w: %s: %s", errMissing, what, e.Name)
		case e.Name == "org.freedesktop.Secret.Error.IsLocked":
			return fmt.Errorf("%w: %s", errLocked, what)
		}
		return fmt.Errorf("%s: %s", what, e.Name) // the text might repeat what was sent
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s *secretService) call(ctx context.Context, path dbus.ObjectPath, method string, args []any, out ...any) error {
	if err := s.conn.Object(secretsName, path).CallWithContext(ctx, method, 0, args...).Store(out...); err != nil {
		return plainError(method, err)
	}
	return nil
}

func (s *secretService) attributes(name string) map[string]string {
	return map[string]string{"service": s.service, "username": name}
}

func (s *secretService) search(ctx context.Context, attributes map[string]string) (open, locked []dbus.ObjectPath, err error) {
	err = s.call(ctx, secretsPath, serviceFace+".SearchItems", []any{attributes}, &open, &locked)
	return open, locked, err
}

// unlock opens what is locked where that needs no question to the person. A question is never put: nobody may be there.
func (s *secretService) unlock(ctx context.Context, paths []dbus.ObjectPath) error {
	var done []dbus.ObjectPath
	var prompt dbus.ObjectPath
	if err := s.call(ctx, secretsPath, serviceFace+".Unlock", []any{paths}, &done, &prompt); err != nil {
		return err
	}
	return s.dismiss(ctx, prompt)
}

func (s *secretService) dismiss(ctx context.Context, prompt dbus.ObjectPath) error {
	if prompt == nowhere || prompt == "" {
		return nil
	}
	_ = s.call(ctx, prompt, "org.freedesktop.Secret.Prompt.Dismiss", nil)
	return errLocked
}

// items finds the entries of a name, unlocked.
func (s *secretService) items(ctx context.Context, name string) ([]dbus.ObjectPath, error) {
	open, locked, err := s.search(ctx, s.attributes(name))
	if err != nil || len(locked) == 0 {
		return open, err
	}
	if err := s.unlock(ctx, locked); err != nil {
		return nil, err
	}
	return append(open, locked...), nil
}

func (s *secretService) get(ctx context.Context, name string) (string, bool, error) {
	items, err := s.items(ctx, name)
	if err != nil || len(items) == 0 {
		return "", false, err
	}
	var v wireSecret
	if err := s.call(ctx, items[0], itemFace+".GetSecret", []any{s.session}, &v); err != nil {
		return "", false, err
	}
	return string(v.Value), true, nil
}

func (s *secretService) put(ctx context.Context, name, value string) error {
	items, err := s.items(ctx, name)
	if err != nil {
		return err
	}
	if len(items) > 0 { // also one that an earlier version wrote with more attributes
		if err := s.call(ctx, items[0], itemFace+".SetSecret", []any{s.wire(value)}); err != nil {
			return err
		}
		return s.delete(ctx, items[1:])
	}
	coll, err := s.collection(ctx)
	if err != nil {
		return err
	}
	return s.create(ctx, coll, "Sentient: "+name, s.attributes(name), value)
}

func (s *secretService) create(ctx context.Context, coll dbus.ObjectPath, label string, attributes map[string]string, value string) error {
	v := s.wire(value)
	properties := map[string]dbus.Variant{
		itemFace + ".Label":      dbus.MakeVariant(label),
		itemFace + ".Attributes": dbus.MakeVariant(attributes),
	}
	var item, prompt dbus.ObjectPath
	if err := s.call(ctx, coll, collFace+".CreateItem", []any{properties, v, true}, &item, &prompt); err != nil {
		return err
	}
	return s.dismiss(ctx, prompt)
}

func (s *secretService) wire(value string) wireSecret {
	return wireSecret{s.session, []byte{}, []byte(value), "text/plain; charset=utf8"}
}

// collection gives the default collection, unlocked. Without one there is no place to keep anything: making one would
// ask the person for a new password.
func (s *secretService) collection(ctx context.Context) (dbus.ObjectPath, error) {
	var path dbus.ObjectPath
	if err := s.call(ctx, secretsPath, serviceFace+".ReadAlias", []any{"default"}, &path); err != nil {
		return "", err
	}
	if path == nowhere || path == "" {
		return "", fmt.Errorf("%w: no default collection", errMissing)
	}
	var locked dbus.Variant
	if err := s.call(ctx, path, "org.freedesktop.DBus.Properties.Get", []any{collFace, "Locked"}, &locked); err != nil {
		return "", err
	}
	if is, _ := locked.Value().(bool); is {
		return path, s.unlock(ctx, []dbus.ObjectPath{path})
	}
	return path, nil
}

func (s *secretService) remove(ctx context.Context, name string) error {
	items, err := s.items(ctx, name)
	if err != nil {
		return err
	}
	return s.delete(ctx, items)
}

func (s *secretService) delete(ctx context.Context, items []dbus.ObjectPath) error {
	for _, item := range items {
		var prompt dbus.ObjectPath
		if err := s.call(ctx, item, itemFace+".Delete", nil, &prompt); err != nil {
			return err
		}
		if err := s.dismiss(ctx, prompt); err != nil {
			return err
		}
	}
	return nil
}

// have tells which of these names have an entry, in a locked collection too. Each is searched for: of a locked entry a
// keyring tells whether its attributes are these, not what they are.
func (s *secretService) have(ctx context.Context, names []string) (map[string]bool, error) {
	out := map[string]bool{}
	open, locked, err := s.search(ctx, map[string]string{"service": s.service})
	if err != nil || len(open)+len(locked) == 0 {
		return out, err
	}
	for _, n := range names {
		open, locked, err := s.search(ctx, s.attributes(n))
		if err != nil {
			return nil, err
		}
		out[n] = len(open)+len(locked) > 0
	}
	return out, nil
}
