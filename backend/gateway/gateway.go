// Package gateway serves the operation table over HTTP and WebSocket on the loopback interface, to the page in a
// browser, the command line, and every other program that holds the data folder's token.
//
// It owns the listener, who may come in (tokens, the page's cookie, Host and Origin), the limits of a request, the shape
// of errors, and the served page. It knows no operation by name: routes come from the table. Under /v1 stands the API of
// other apps (package v1), which has a key and an order of checks of its own behind the checks of Host and Origin. Nothing
// here trusts a header to say where a request comes from.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/discovery"
	"sentient/backend/errs"
	"sentient/backend/gateway/v1"
)

// Options are what a gateway is made of.
type Options struct {
	Dir     string // the data folder: token, remembered port and discovery file stand in it
	Port    int    // the configured port; it is tried first
	Exact   bool   // the person asked for this very port (0 then means any free one): no other is taken instead
	Version string
	Table   *api.Table
	Hub     *api.Hub
	Page    fs.FS      // the built page; without an index.html a page from here says how to build it
	V1      v1.Options // the API of other apps, without Ready, Clock and Log, which are the gateway's; zero: it is off
	Clock   clock.Clock
	Log     *slog.Logger
}

// Gateway is a listening gateway. Serve runs it.
type Gateway struct {
	o        Options
	token    string
	listener net.Listener
	server   *http.Server
	hosts    map[string]bool
	links    *links
	pageTag  string // name of the page's cookie: its own for each data folder, because cookies ignore ports
}

// The limits of a connection. A body has further limits of its own, an operation.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	bodyTimeout   = 30 * time.Second
	closeGrace    = 3 * time.Second
)

// Open reads or makes the token and listens. Nothing is served before Serve.
func Open(o Options) (*Gateway, error) {
	token, err := discovery.Token(o.Dir)
	if err != nil {
		return nil, err
	}
	listener, err := listen(o)
	if err != nil {
		return nil, err
	}
	g := &Gateway{o: o, token: token, listener: listener, links: newLinks(o.Clock), pageTag: "sentient_" + digest(token, "cookie name")[:8]}
	port := strconv.Itoa(g.Port())
	g.hosts = map[string]bool{"127.0.0.1:" + port: true, "localhost:" + port: true, "[::1]:" + port: true}
	g.server = &http.Server{
		Handler:           g.handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return g, nil
}

// Port is the port that it listens on.
func (g *Gateway) Port() int { return g.listener.Addr().(*net.TCPAddr).Port }

// URL is the base address, without a slash at its end.
func (g *Gateway) URL() string { return "http://127.0.0.1:" + strconv.Itoa(g.Port()) }

// Token is the data folder's bearer token.
func (g *Gateway) Token() string { return g.token }

// Link makes an address that opens the page once, within ten minutes.
func (g *Gateway) Link() (string, error) {
	code, err := g.links.make()
	if err != nil {
		return "", err
	}
	return g.URL() + "/open?code=" + code, nil
}

// Serve answers until ctx ends. The discovery file stands while it does.
func (g *Gateway) Serve(ctx context.Context) error {
	if err := discovery.Write(g.o.Dir, discovery.Engine{URL: g.URL(), PID: os.Getpid(), Version: g.o.Version}); err != nil {
		g.o.Log.Warn("write discovery file", "error", err) // a read-only folder: programs can still be told the address
	}
	defer discovery.Remove(g.o.Dir)
	g.server.BaseContext = func(net.Listener) context.Context { return ctx }
	stop := context.AfterFunc(ctx, g.close)
	defer stop()
	err := g.server.Serve(g.listener)
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		return ctx.Err()
	}
	return fmt.Errorf("serve gateway: %w", err)
}

// close lets running requests end for a moment, then ends them.
func (g *Gateway) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := g.server.Shutdown(ctx); err != nil {
		_ = g.server.Close() // what did not end by itself; the error says only that
	}
}

// String names the service in logs.
func (g *Gateway) String() string { return "gateway" }

// listen takes the port: the exact one, or the remembered or configured one, or any that is free.
func listen(o Options) (net.Listener, error) {
	if o.Exact {
		l, err := net.Listen("tcp", loopback(o.Port))
		if err != nil {
			return nil, errs.Newf(errs.Conflict, "port_in_use", "Port %d is in use by another program. Choose another one with --port, or 0 for any that is free.", o.Port).Because(err)
		}
		return l, nil
	}
	for _, port := range []int{rememberedPort(o.Dir, o.Port), o.Port, 0} {
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			o.Log.Info("port is taken", "port", port)
			continue
		}
		rememberPort(o.Dir, o.Port, l.Addr().(*net.TCPAddr).Port)
		return l, nil
	}
	return nil, errs.New(errs.Unavailable, "no_port", "Sentient found no free port on this computer to listen on.")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
