package tool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Every provider takes names of this form; most take longer ones.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{1,63}$`)

// The values that a plugin's members may have (§2 "Tools").
var (
	categories = []string{"core", "productivity", "communication", "knowledge", "development", "home", "utilities"}
	auths      = []string{"builtin", "oauth", "api_key", "manual", "mcp"}
)

// Check reports what is wrong with the plugin and its tools; nil when it can be used.
func (p *Plugin) Check() error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if p.ID == "" || p.Name == "" || p.Description == "" || p.Icon == "" {
		say("plugin %q lacks an id, a name, a description or an icon", p.ID)
	}
	if !slices.Contains(categories, p.Category) {
		say("plugin %s has an unknown category %q", p.ID, p.Category)
	}
	if !slices.Contains(auths, p.Auth) {
		say("plugin %s has an unknown auth %q", p.ID, p.Auth)
	}
	for _, t := range p.Tools {
		if err := t.Check(); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// Check reports what is wrong with the tool; nil when it can be used.
func (t *Tool) Check() error {
	switch {
	case t.err != nil:
		return fmt.Errorf("tool %s: %w", t.Name, t.err)
	case !nameForm.MatchString(t.Name):
		return fmt.Errorf("tool %q: its name is not in snake_case or too long", t.Name)
	case strings.TrimSpace(t.Description) == "":
		return fmt.Errorf("tool %s has no description", t.Name)
	case t.Risk < Read || t.Risk > Exec:
		return fmt.Errorf("tool %s has no risk", t.Name)
	case t.Run == nil:
		return fmt.Errorf("tool %s has no Run", t.Name)
	case len(t.Parameters) == 0:
		return fmt.Errorf("tool %s has no parameters", t.Name)
	}
	return nil
}
