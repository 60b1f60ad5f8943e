package desktop

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"sentient/app/bound"
	"sentient/backend/errs"
)

// Desktop is what only a window can do, bound to the page as window.go.desktop.Desktop. Its methods refuse with the
// same error shape as operations do.
type Desktop struct {
	log     *slog.Logger
	version string
	open    func(address string) error // the system's browser or mail program
	title   func(string)
	engine  *runner
	tray    func() bool // an icon is shown in a tray
}

// Info is what the page may know of the program around it.
type Info struct {
	Platform string `json:"platform"` // linux, darwin or windows
	Arch     string `json:"arch"`
	Version  string `json:"version"`
	Tray     bool   `json:"tray"` // closing the window can leave Sentient in the tray
}

const (
	longestLink  = 4096 // bytes
	longestTitle = 200  // letters
)

// Info tells the page about the program around it.
func (d *Desktop) Info() Info {
	return Info{Platform: runtime.GOOS, Arch: runtime.GOARCH, Version: d.version, Tray: d.tray()}
}

// Engine tells how the engine behind the window is.
func (d *Desktop) Engine() State { return d.engine.State() }

// RestartEngine ends the engine behind the window and starts it anew, as after a copy of the data was put in place.
func (d *Desktop) RestartEngine() (err error) {
	defer d.guard("RestartEngine", &err)
	return format(d.engine.Restart())
}

// OpenExternal opens a web or mail address in the system's own program. Every other kind of address is refused:
// files, programs and other schemes could start things.
func (d *Desktop) OpenExternal(address string) (err error) {
	defer d.guard("OpenExternal", &err)
	if err := mayOpen(address); err != nil {
		d.log.Info("link refused", "error", err)
		return format(err)
	}
	if err := d.open(address); err != nil {
		return format(errs.New(errs.Unavailable, "no_browser", "No program on this computer opened the link. Copy it and open it yourself.").Because(err))
	}
	return nil
}

// SetTitle puts words before the window's name in its title; "" leaves the name alone.
func (d *Desktop) SetTitle(words string) (err error) {
	defer d.guard("SetTitle", &err)
	d.title(windowTitle(words))
	return nil
}

func windowTitle(words string) string {
	words = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, words)
	if letters := []rune(strings.TrimSpace(words)); len(letters) > longestTitle {
		words = string(letters[:longestTitle]) + "…"
	}
	if words = strings.TrimSpace(words); words == "" {
		return appTitle
	}
	return words + " – " + appTitle
}

// mayOpen refuses every address but plain web and mail ones.
func mayOpen(address string) error {
	refused := errs.New(errs.Invalid, "link_refused", "Sentient opens only web and mail links.")
	if len(address) > longestLink || strings.ContainsFunc(address, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) {
		return refused.Because(errors.New("too long, or holds what cannot be seen"))
	}
	u, err := url.Parse(address)
	if err != nil {
		return refused.Because(err)
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Hostname() == "" || u.User != nil {
			// A name before the host makes one site look like another.
			return refused.Because(errors.New("no host, or a user name before it"))
		}
	case "mailto":
		if u.Opaque == "" {
			return refused.Because(errors.New("no mail address"))
		}
	default:
		return refused.Because(fmt.Errorf("scheme %q", u.Scheme))
	}
	return nil
}

// guard keeps a panic from ending the program, as the window library would let it.
func (d *Desktop) guard(method string, err *error) {
	if p := recover(); p != nil {
		d.log.Error("window method panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = format(fmt.Errorf("panic in %s: %v", method, p))
	}
}

// format gives an error the shape that the page reads. nil stays nil.
func format(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*bound.Failure](err); ok {
		return f
	}
	e := errs.From(err)
	return &bound.Failure{Status: errs.StatusOf(err), Detail: e.Message, Code: e.Code, RequestID: uuid.NewString()}
}

// formatAny is format for the window library, which passes the value itself to the page.
func formatAny(err error) any { return format(err) }
