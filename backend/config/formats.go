package config

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones are valid or not whatever the computer has installed
)

// format is a check of a string with a name of its own. sentence says what is right, for people.
type format struct {
	pattern  *regexp.Regexp
	enum     []string
	ok       func(string) bool
	sentence string
}

func (f format) allows(s string) bool {
	switch {
	case f.enum != nil && !slices.Contains(f.enum, s):
		return false
	case f.pattern != nil && !f.pattern.MatchString(s):
		return false
	}
	return f.ok == nil || f.ok(s)
}

// formats are the checks that tags name. The table is never changed.
var formats = map[string]format{
	"zone":     {ok: isZone, sentence: "Use auto, or a time zone such as Asia/Kolkata."},
	"language": {pattern: regexp.MustCompile(`^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$`), sentence: "Use a language code such as en or hi."},
	"country":  {pattern: regexp.MustCompile(`^([a-z]{2})?$`), sentence: "Use two letters, such as in or de, or leave it empty."},
	"accent":   {pattern: regexp.MustCompile(`^([a-z][a-z0-9-]{0,39}|#[0-9a-fA-F]{6})$`), sentence: "Use the name of a colour, or a colour such as #3b82f6."},
	"clock":    {pattern: regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`), sentence: "Use a time of day such as 03:00."},
	"hours":    {pattern: regexp.MustCompile(`^(([01]?[0-9]|2[0-3]):[0-5][0-9] ?[-–] ?([01]?[0-9]|2[0-3]):[0-5][0-9])?$`), sentence: "Use hours such as 22:00-07:00, or leave it empty."},
	"model":    {pattern: regexp.MustCompile(`^[A-Za-z0-9_.-]+/[^\s/][^\s]*$`), sentence: "Name a model as provider/model, such as ollama_chat/qwen3:8b."},
	"envname":  {pattern: regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,127})?$`), sentence: "Use the name of an environment variable, or leave it empty."},
	"domain":   {pattern: regexp.MustCompile(`^(\*\.)?[^\s/:@*]{1,253}$`), sentence: "Use the name of a site, such as example.com."},
	"email":    {pattern: regexp.MustCompile(`^([^\s@<>,;]{1,64}@[^\s@<>,;]{1,253})?$`), sentence: "Use an email address such as you@example.com."},
	"url":      {ok: isURL, sentence: "Use an address that starts with http:// or https://, or leave it empty."},
	"host":     {ok: isHost, sentence: "Use an address of this computer, such as 127.0.0.1."},
	"path":     {ok: isPath, sentence: "Use the whole path of a folder."},
	"scope":    {ok: isScope, sentence: "Use personal, work or the name of a project. always cannot be picked."},

	// for keys
	"role":     {enum: RoleNames(), sentence: "Use the name of a role: primary, fast, planner, executor, embedding, vision or voice."},
	"rule":     {pattern: regexp.MustCompile(`^[^\s\pC]{1,200}$`), sentence: "Use the name of a tool or an app."},
	"provider": {pattern: regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`), sentence: "Use the short name of a provider, such as openai."},
	"preset":   {ok: isPresetName, sentence: "Name a preset with 1 to 40 characters and no slashes. Local only, Cloud and Mixed are taken."},
	"profile":  {pattern: regexp.MustCompile(`^[a-z0-9-]{1,40}$`), sentence: "Name a profile with lowercase letters, numbers and dashes, up to 40."},
	"mcp":      {pattern: regexp.MustCompile(`^[^\s/\\\pC][^/\\\pC]{0,63}$`), sentence: "Name a server with 1 to 64 characters and no slashes."},
}

// isZone: "auto", "" (the same), or a zone of the IANA list. The names under which a computer keeps its own zone are
// none.
func isZone(s string) bool {
	if s == "auto" || s == "" {
		return true
	}
	for _, p := range []string{"posix/", "right/"} {
		if strings.HasPrefix(s, p) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "local", "localtime", "posixrules", "factory":
		return false
	}
	_, err := time.LoadLocation(s)
	return err == nil
}

func isURL(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func isHost(s string) bool {
	if s == "localhost" {
		return true
	}
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isPath takes whole paths of this and of the other systems (a data folder may have come from one), "~/…" and "".
func isPath(s string) bool {
	if s == "" || strings.HasPrefix(s, "~/") || s == "~" {
		return !strings.ContainsRune(s, 0)
	}
	windows := len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') || strings.HasPrefix(s, `\\`)
	return (filepath.IsAbs(s) || windows || strings.HasPrefix(s, "/")) && !strings.ContainsRune(s, 0)
}

func isScope(s string) bool {
	t := strings.TrimSpace(s)
	return t != "" && len(t) <= 80 && !strings.EqualFold(t, "always") && t == s
}

func isPresetName(s string) bool {
	t := strings.TrimSpace(s)
	n := len([]rune(t))
	if n < 1 || n > 40 || t != s || strings.ContainsAny(t, `/\`) {
		return false
	}
	for _, taken := range []string{"Local only", "Cloud", "Mixed"} {
		if strings.EqualFold(t, taken) {
			return false
		}
	}
	return true
}
