package desktop

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"sentient/backend/clock"
	"sentient/backend/discovery"
	"sentient/backend/obs"
	"sentient/backend/wholefile"
)

const (
	windowLock    = "window.lock"
	windowAddress = "window-discovery.json"
	callTimeout   = 3 * time.Second // for a window to answer
	hearTimeout   = time.Second     // for a caller to say what it wants
	longestCall   = 256             // bytes
)

// only is the one window of a data folder. A second start finds it, asks it to come to the front, and ends.
//
// It rests on a lock that the system frees when the process ends, however it ends, and on a loopback address with a
// secret that only the folder's owner can read. The window library's own way needs a session bus, ends the second
// process with a failure, and is one for all data folders.
type only struct {
	home  string
	clock clock.Clock
	show  func()

	lock     *flock.Flock
	listener net.Listener
	secret   string
}

// windowAt is what the window leaves in the data folder.
type windowAt struct {
	Address string `json:"address"`
	Secret  string `json:"secret"`
}

// becomeOnly takes the place of the folder's window. second says that another process has it.
func becomeOnly(home string, c clock.Clock, show func()) (o *only, second bool, err error) {
	o = &only{home: home, clock: c, show: show, lock: flock.New(filepath.Join(home, windowLock), flock.SetPermissions(0o600))}
	got, err := o.lock.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock window: %w", err)
	}
	if !got {
		return nil, true, nil
	}
	if err := o.listen(); err != nil {
		return nil, false, errors.Join(err, o.lock.Close())
	}
	return o, false, nil
}

func (o *only) listen() (err error) {
	if o.secret, err = discovery.Random(); err != nil {
		return err
	}
	obs.Hide(o.secret)
	if o.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen for other windows: %w", err)
	}
	raw, err := json.Marshal(windowAt{o.listener.Addr().String(), o.secret})
	if err != nil {
		return fmt.Errorf("encode window address: %w", err)
	}
	if err := wholefile.Write(filepath.Join(o.home, windowAddress), raw); err != nil {
		return errors.Join(fmt.Errorf("leave window address: %w", err), o.listener.Close())
	}
	return nil
}

// String names the service in logs.
func (o *only) String() string { return "one window" }

// Serve hears other starts until ctx ends.
func (o *only) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = o.listener.Close() })
	defer stop()
	for {
		conn, err := o.listener.Accept()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("hear other windows: %w", err)
		}
		o.hear(conn)
	}
}

// hear answers one caller. One at a time is enough: a caller has a second.
func (o *only) hear(conn net.Conn) {
	defer conn.Close()
	if err := conn.SetDeadline(o.clock.Now().Add(hearTimeout)); err != nil {
		return
	}
	line, err := bufio.NewReader(io.LimitReader(conn, longestCall)).ReadString('\n')
	if err != nil || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(line)), []byte(o.secret)) != 1 {
		return
	}
	o.show()
	_, _ = io.WriteString(conn, "shown\n") // the caller may have left; the window is at the front all the same
}

// Close frees the place.
func (o *only) Close() {
	_ = os.Remove(filepath.Join(o.home, windowAddress))
	_ = o.listener.Close() // closed already where Serve ran
	_ = o.lock.Close()
}

// callOnly asks the folder's window to come to the front.
func callOnly(home string, c clock.Clock) error {
	raw, err := os.ReadFile(filepath.Join(home, windowAddress))
	if err != nil {
		return fmt.Errorf("find the open window: %w", err)
	}
	var at windowAt
	if err := json.Unmarshal(raw, &at); err != nil {
		return fmt.Errorf("find the open window: %w", err)
	}
	conn, err := net.DialTimeout("tcp", at.Address, callTimeout)
	if err != nil {
		return fmt.Errorf("call the open window: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(c.Now().Add(callTimeout)); err != nil {
		return fmt.Errorf("call the open window: %w", err)
	}
	if _, err := io.WriteString(conn, at.Secret+"\n"); err != nil {
		return fmt.Errorf("call the open window: %w", err)
	}
	answer, err := bufio.NewReader(io.LimitReader(conn, longestCall)).ReadString('\n')
	if err != nil || answer != "shown\n" {
		return fmt.Errorf("hear the open window: %q: %w", answer, err)
	}
	return nil
}
