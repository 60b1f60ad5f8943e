package secret

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/obs"
)

// Source says where a value comes from, as on the wire. A value of the encrypted file counts as the keychain's: the
// wire knows no third.
type Source string

// The sources. None: there is no value.
const (
	None     Source = ""
	Keychain Source = "keychain"
	Env      Source = "env"
)

// Limits. A call takes opLimit at most; the keychain gets keychainLimit of it, so that the file still has its turn. A
// keychain that did not answer is not asked again for silentPause: the next calls are not to wait too.
const (
	opLimit       = 5 * time.Second
	keychainLimit = 3 * time.Second
	silentPause   = time.Minute
)

// Options of a Store. Only Home, Getenv and Log are needed.
type Options struct {
	Home        string // the data folder
	DefaultHome string // ~/.sentient: its entries stand under the service "sentient"
	KeyDir      string // where the encrypted file's key stands; "": sentient/keys in the user's configuration folder
	Getenv      func(string) string
	Log         *slog.Logger
	Clock       clock.Clock                  // nil: the computer's
	EnvName     func(provider string) string // the variable of a provider's key; nil or "": <NAME>_API_KEY
}

// Store is the secrets of one data folder. All methods may be called at once.
type Store struct {
	service string
	getenv  func(string) string
	envName func(string) string
	log     *slog.Logger
	clock   clock.Clock
	open    opener
	file    *sealed

	writing chan struct{} // holds one token: writes go one after the other

	mu       sync.Mutex
	fallback bool      // the last call had to do without the keychain
	silent   time.Time // until then the keychain is not asked
	said     string    // the last reason that was logged
}

// MarshalJSON writes None as null.
func (s Source) MarshalJSON() ([]byte, error) {
	if s == None {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

// Entry is one line of GET /api/secrets. Source is None where there is no value.
type Entry struct {
	Name   string `json:"name"`
	Set    bool   `json:"set"`
	Source Source `json:"source" nullable:"true" enum:"keychain,env"`
	Kind   Kind   `json:"kind"`
}

// New makes a store and opens nothing: no file, no bus.
func New(o Options) *Store {
	s := &Store{
		service: namespace(o.Home, o.DefaultHome, o.Getenv(namespaceVar)),
		getenv:  o.Getenv, envName: o.EnvName, log: o.Log, clock: o.Clock,
		open: platform(o.Getenv), writing: make(chan struct{}, 1),
	}
	if s.clock == nil {
		s.clock = clock.Real{}
	}
	dir := o.KeyDir
	if dir == "" {
		if base, err := os.UserConfigDir(); err == nil {
			dir = filepath.Join(base, "sentient", "keys")
		}
	}
	s.file = &sealed{path: filepath.Join(o.Home, "secrets-"+s.service+".enc"), service: s.service}
	if dir != "" {
		s.file.keyPath = filepath.Join(dir, s.service+".key")
	}
	return s
}

// Service is the namespace in the keychain, to be logged at start (§3).
func (s *Store) Service() string { return s.service }

// Where says where values are kept: "keychain", or "file" once the encrypted file had to be used. It opens nothing.
func (s *Store) Where() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fallback || s.file.exists() {
		return "file"
	}
	return "keychain"
}

// Get gives a secret and where it comes from: what was stored, else the provider's environment variable. None and no
// error: it is not set. An error means that it may be set and cannot be read now.
func (s *Store) Get(ctx context.Context, name string) (value string, source Source, err error) {
	if err := known(name); err != nil {
		return "", None, err
	}
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	value, found, err := s.stored(ctx, name)
	if found {
		hide(value)
		return value, Keychain, nil
	}
	if value = s.fromEnv(name); value != "" {
		hide(value)
		return value, Env, nil
	}
	return "", None, err
}

// stored looks in the file and then in the keychain: what is in both was written to the file last.
func (s *Store) stored(ctx context.Context, name string) (string, bool, error) {
	entries, fileErr := s.file.read()
	if e, ok := entries[name]; ok {
		return e.Value, !e.Gone, nil
	}
	var value string
	var found bool
	err := s.withKeychain(ctx, func(ctx context.Context, v vault) (err error) {
		value, found, err = getWhole(ctx, v, name)
		return err
	})
	switch {
	case found:
		return value, true, nil
	case fileErr != nil:
		s.log.WarnContext(ctx, "cannot read the encrypted file of secrets", "error", fileErr)
		return "", false, errs.New(errs.Unavailable, "secret_unreadable",
			"The saved keys cannot be read on this computer, because what they are encrypted with is missing. Enter them again.").Because(fileErr)
	case err != nil && !errors.Is(err, errMissing):
		return "", false, unreachable(err)
	}
	return "", false, nil
}

func (s *Store) fromEnv(name string) string {
	n, ok := find(name)
	if !ok || n.Env == "" {
		return ""
	}
	variable := n.Env
	if s.envName != nil {
		if own := s.envName(name); own != "" {
			variable = own
		}
	}
	return strings.TrimSpace(s.getenv(variable))
}

// Put is PUT /api/secrets/{name}: Set for the names a person may set. A sign-in is refused: it is made by signing in.
func (s *Store) Put(ctx context.Context, name, value string) error {
	n, ok := find(name)
	if !ok {
		return unknown()
	}
	if n.Sign {
		return errs.New(errs.Malformed, "secret_is_sign_in", "ChatGPT is connected with a sign-in, not a key. Choose Continue with ChatGPT in Settings > Models.")
	}
	return s.Set(ctx, name, strings.TrimSpace(value))
}

// Remove is DELETE /api/secrets/{name}: Delete for the names a person may set. Signing out at the provider is not its
// matter.
func (s *Store) Remove(ctx context.Context, name string) error {
	if _, ok := find(name); !ok {
		return unknown()
	}
	return s.Delete(ctx, name)
}

// Set stores a secret: in the keychain, else in the encrypted file. It is for the engine, which also has names that
// are not in the table (mcp:<server>, openai_api_key …).
func (s *Store) Set(ctx context.Context, name, value string) error {
	if err := known(name); err != nil {
		return err
	}
	if err := allowed(value); err != nil {
		return err
	}
	hide(value)
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	done, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer done()
	kept := s.withKeychain(ctx, func(ctx context.Context, v vault) error { return putWhole(ctx, v, name, value) })
	if kept == nil {
		return s.dropped(ctx, name) // the keychain has the newer value
	}
	if err := ctx.Err(); err != nil {
		return errs.From(err)
	}
	return s.saved(s.file.change(ctx, func(e map[string]entry) bool {
		e[name] = entry{Value: value}
		return true
	}))
}

// Delete removes a secret everywhere. Where the keychain cannot be reached the file remembers that it is gone.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := known(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	done, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer done()
	removed := s.withKeychain(ctx, func(ctx context.Context, v vault) error { return removeWhole(ctx, v, name) })
	if err := ctx.Err(); err != nil {
		return errs.From(err)
	}
	if removed == nil {
		return s.dropped(ctx, name)
	}
	return s.saved(s.file.change(ctx, func(e map[string]entry) bool {
		was := e[name]
		e[name] = entry{Gone: true}
		return !was.Gone
	}))
}

// dropped takes names out of the file. A file that cannot be opened hides nothing and stays as it is.
func (s *Store) dropped(ctx context.Context, names ...string) error {
	entries, err := s.file.read()
	if errors.Is(err, errUnreadable) {
		return nil
	}
	has := err != nil
	for _, n := range names {
		_, there := entries[n]
		has = has || there
	}
	if !has {
		return nil
	}
	return s.saved(s.file.change(ctx, func(e map[string]entry) bool {
		before := len(e)
		for _, n := range names {
			delete(e, n)
		}
		return len(e) != before
	}))
}

// List gives every name of the table, in its order, and whether there is a value. What cannot be reached counts as not
// set.
func (s *Store) List(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	entries, err := s.file.read()
	if err != nil {
		s.log.WarnContext(ctx, "cannot read the encrypted file of secrets", "error", err)
	}
	stored := map[string]bool{}
	names := make([]string, len(table))
	for i, n := range table {
		names[i] = n.Name
	}
	var late []string // deleted while the keychain could not be reached: now it can
	err = s.withKeychain(ctx, func(ctx context.Context, v vault) error {
		has, err := v.have(ctx, names)
		maps.Copy(stored, has)
		for name, e := range entries {
			if err == nil && e.Gone {
				if err = removeWhole(ctx, v, name); err == nil {
					late = append(late, name)
				}
			}
		}
		return err
	})
	if len(late) > 0 {
		if done, err := s.lock(ctx); err == nil {
			if err := s.dropped(ctx, late...); err != nil {
				s.log.WarnContext(ctx, "cannot tidy the encrypted file of secrets", "error", err)
			}
			done()
		}
	}
	if err != nil && context.Cause(ctx) == context.Canceled {
		return nil, errs.From(context.Canceled)
	}
	for name, e := range entries {
		stored[name] = !e.Gone
	}
	out := make([]Entry, 0, len(table))
	for _, n := range table {
		e := Entry{Name: n.Name, Kind: n.Kind}
		if stored[n.Name] {
			e.Set, e.Source = true, Keychain
		} else if s.fromEnv(n.Name) != "" {
			e.Set, e.Source = true, Env
		}
		out = append(out, e)
	}
	return out, nil
}

// lock waits for its turn to write.
func (s *Store) lock(ctx context.Context) (done func(), err error) {
	select {
	case s.writing <- struct{}{}:
		return func() { <-s.writing }, nil
	case <-ctx.Done():
		return nil, errs.From(ctx.Err())
	}
}

// withKeychain opens the keychain for one piece of work, within keychainLimit, and remembers how that went.
func (s *Store) withKeychain(ctx context.Context, work func(ctx context.Context, v vault) error) error {
	s.mu.Lock()
	paused := s.clock.Now().Before(s.silent)
	s.mu.Unlock()
	if paused {
		return context.DeadlineExceeded
	}
	inner, cancel := context.WithTimeout(ctx, keychainLimit)
	defer cancel()
	v, err := s.open(inner, s.service)
	if err == nil {
		err = work(inner, v)
		v.close()
	}
	if inner.Err() != nil && err != nil {
		err = inner.Err() // what a cut connection says is no reason
	}
	if ctx.Err() == nil { // else the caller left, which says nothing about the keychain
		s.remember(err)
	}
	return err
}

func (s *Store) remember(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = err != nil
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.silent = s.clock.Now().Add(silentPause)
	}
	if reason != s.said {
		s.said = reason
		if err != nil {
			s.log.Warn("the keychain cannot be used; keys go to the encrypted file", "reason", err)
		} else {
			s.log.Info("the keychain can be used again")
		}
	}
}

func unreachable(err error) *errs.Error {
	switch {
	case errors.Is(err, errLocked):
		return errs.New(errs.Unavailable, "secret_locked",
			"This computer's keychain is locked, so the saved keys cannot be read. Unlock it and try again.").Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return errs.New(errs.Unavailable, "secret_silent",
			"This computer's keychain does not answer, so the saved keys cannot be read. Sign in to your desktop again, or enter the keys again.").Because(err)
	case errors.Is(err, context.Canceled):
		return errs.From(err)
	}
	return errs.New(errs.Unavailable, "secret_unreachable",
		"This computer's keychain failed, so the saved keys cannot be read. Try again, or enter the keys again.").Because(err)
}

// saved turns what went wrong with the file into a sentence.
func (s *Store) saved(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return errs.From(err)
	}
	return errs.New(errs.Unavailable, "secret_not_saved",
		"The key could not be saved: there is no keychain that works, and its encrypted file cannot be written. Check that there is room on the disk and that Sentient may write to its folder.").Because(err)
}

// allowed refuses what is no secret. The sentence never repeats the value.
func allowed(value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return errs.New(errs.Invalid, "secret_empty", "This key is empty. Paste the key, or remove it instead.")
	case len(value) > maxValue:
		return errs.New(errs.TooLarge, "secret_too_long", "This is too long to be a key. Check what was pasted.")
	case !utf8.ValidString(value), strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }):
		return errs.New(errs.Invalid, "secret_control", "This key holds a line break or another character that no key has. Check what was pasted.")
	}
	return nil
}

// hide keeps a value, and the secret members of a value that is JSON, out of every log.
func hide(value string) {
	obs.Hide(value)
	for _, inner := range members(value) {
		obs.Hide(inner)
	}
}
