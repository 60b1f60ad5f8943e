package api

import (
	"context"
	"encoding/json"

	"sentient/backend/config"
	"sentient/backend/errs"
)

// System answers what is about the engine itself. Its members come from the engine's wiring.
type System struct {
	Version  string
	Name     string
	Home     string // the data folder, as the person would write it
	Config   func() *config.Config
	Unread   func(ctx context.Context) (int, error)
	SafeMode func() *SafeMode
	Restore  func(ctx context.Context, snapshot string) error
	Link     func() (string, error)
	Notes    func() []string
}

// SafeMode is why the engine runs without its database, and what can be done.
type SafeMode struct {
	Reason    string     `json:"reason" doc:"foreign, newer, damaged, missing, unreadable, readonly, full, busy, migration, or restored"`
	Sentence  string     `json:"sentence"`
	Snapshots []Snapshot `json:"snapshots"`
}

// Snapshot is a copy of the database that can be put in its place.
type Snapshot struct {
	Name string `json:"name"`
	At   string `json:"at"`
	Size int64  `json:"size" doc:"bytes"`
}

// Nothing is the input of an operation that needs none.
type Nothing struct{}

// OK says that it is done.
type OK struct {
	OK bool `json:"ok"`
}

// Health is §2 `GET /api/health`.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
	Name    string `json:"name"`
}

// Health answers while the engine listens, also in safe mode.
func (s *System) Health(context.Context, *Nothing) (Health, error) {
	return Health{OK: true, Version: s.Version, Name: s.Name}, nil
}

// Bootstrap is everything that a window needs at its start (§2). stop is always off until there is something to stop;
// notes and safe_mode are additions.
type Bootstrap struct {
	Version             string           `json:"version"`
	Home                string           `json:"home"`
	Assistant           config.Assistant `json:"assistant"`
	Models              config.Roles     `json:"models"`
	MemoryEnabled       bool             `json:"memory_enabled"`
	UnreadNotifications int              `json:"unread_notifications"`
	UI                  config.UI        `json:"ui"`
	Features            map[string]bool  `json:"features"`
	Stop                StopState        `json:"stop"`
	Notes               []string         `json:"notes" doc:"What the person should know about this start, a sentence each"`
	SafeMode            *SafeMode        `json:"safe_mode" doc:"Set when the database could not be opened"`
}

// StopState is the state of Stop everything (§17).
type StopState struct {
	Stopped   bool    `json:"stopped"`
	StoppedAt *string `json:"stopped_at"`
	Source    *string `json:"source"`
}

// Bootstrap gives the state at the start of a window.
func (s *System) Bootstrap(ctx context.Context, _ *Nothing) (Bootstrap, error) {
	c := s.Config()
	b := Bootstrap{
		Version: s.Version, Home: s.Home, Assistant: c.Assistant, Models: c.Models.Roles, UI: c.UI,
		// Memory, voice and proactivity are not part of the engine yet, so nothing of theirs is announced.
		Features: map[string]bool{"voice": false, "proactivity": false},
		Notes:    s.Notes(), SafeMode: s.SafeMode(),
	}
	if b.Notes == nil {
		b.Notes = []string{}
	}
	if b.SafeMode != nil {
		return b, nil
	}
	unread, err := s.Unread(ctx)
	b.UnreadNotifications = unread
	return b, err
}

// LinkResult is a one-time link to the page.
type LinkResult struct {
	URL string `json:"url"`
}

// OneTimeLink makes a link that opens the page in a browser of this computer, once.
func (s *System) OneTimeLink(context.Context, *Nothing) (LinkResult, error) {
	url, err := s.Link()
	return LinkResult{URL: url}, err
}

// RestoreInput names the copy to go back to.
type RestoreInput struct {
	Snapshot string `json:"snapshot" minLength:"1" maxLength:"300" doc:"name of one of safe_mode.snapshots"`
}

// RestoreSnapshot puts a copy in the place of a database that cannot be opened, in safe mode only.
func (s *System) RestoreSnapshot(ctx context.Context, in *RestoreInput) (OK, error) {
	if s.SafeMode() == nil {
		return OK{}, errs.New(errs.Conflict, "not_in_safe_mode", "The database is in order, so nothing was restored.")
	}
	return OK{OK: true}, s.Restore(ctx, in.Snapshot)
}

func coreOps(s Services) []Op {
	return []Op{
		alsoSafe(unary("health.get", "GET /api/health", Open, "Say that the engine answers", s.System.Health)),
		alsoSafe(unary("bootstrap.get", "GET /api/bootstrap", Window, "Everything a window needs at its start", s.System.Bootstrap)),
		alsoSafe(unary("gateway.link", "POST /api/gateway/link", Window, "Make a one-time link to the page", s.System.OneTimeLink)),
		alsoSafe(unary("store.restore", "POST /api/store/restore", Window, "Go back to a copy of the database, in safe mode", s.System.RestoreSnapshot)),
		unary("onboarding.complete", "POST /api/onboarding", Window, "Finish the first-run setup", s.Onboarding.Complete),
		unary("config.get", "GET /api/config", Window, "All settings", s.Settings.Get),
		unary("config.schema", "GET /api/config/schema", Window, "JSON schema of the settings", s.Settings.Schema),
		listsFields(unary("config.put", "PUT /api/config", Window, "Replace all settings", s.Settings.Put)),
		listsFields(unary("config.patch", "PATCH /api/config", Window, "Change some settings", s.Settings.Patch)),
	}
}

// Settings serves the config store as operations (§2 Config).
type Settings struct{ Store *config.Store }

// WholeConfig is an input whose body is the settings themselves.
type WholeConfig struct {
	Config map[string]any `json:"config" in:"body" doc:"the settings, whole (PUT) or in part (PATCH)"`
}

// SavedResult answers a change of the settings.
type SavedResult struct {
	Saved  bool           `json:"saved"`
	Config *config.Config `json:"config,omitempty"`
}

// Get gives all settings.
func (s *Settings) Get(context.Context, *Nothing) (*config.Config, error) { return s.Store.Get(), nil }

// Schema gives the JSON schema.
func (s *Settings) Schema(context.Context, *Nothing) (json.RawMessage, error) {
	return config.Schema(), nil
}

// Put replaces all settings.
func (s *Settings) Put(ctx context.Context, in *WholeConfig) (SavedResult, error) {
	raw, err := json.Marshal(in.Config)
	if err != nil {
		return SavedResult{}, err
	}
	return SavedResult{Saved: true}, s.Store.Replace(ctx, raw)
}

// Patch merges some settings in.
func (s *Settings) Patch(ctx context.Context, in *WholeConfig) (SavedResult, error) {
	raw, err := json.Marshal(in.Config)
	if err != nil {
		return SavedResult{}, err
	}
	saved, err := s.Store.Patch(ctx, raw)
	return SavedResult{Saved: true, Config: saved}, err
}
