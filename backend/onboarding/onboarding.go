// Package onboarding keeps what a person answers when Sentient is set up (§2 "Onboarding").
//
// It owns the files workspace/SOUL.md (how the assistant is) and the part of workspace/USER.md (who the person is)
// between its two marks, and onboarding.json, which holds what other parts pick up later. It promises never to change a
// SOUL.md that a person edited, nor anything of USER.md outside its marks, and to leave each file whole or untouched.
// The set-up counts as complete only after all else was saved, so that what failed half way can be done again.
package onboarding

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"sentient/backend/clock"
	"sentient/backend/errs"
)

//go:embed templates/*.md
var templates embed.FS

// Assistant is what goes into the config's section of that name.
type Assistant struct {
	Name     string
	UserName string
	Timezone string // an IANA name, or "auto"
	Location string
	Complete bool
}

// Options are what a Service needs from outside.
type Options struct {
	Dir   string // the data folder
	Clock clock.Clock
	Save  func(ctx context.Context, a Assistant) error // writes the config's section assistant
}

// Service sets up one data folder.
type Service struct{ Options }

// New makes the service.
func New(o Options) *Service { return &Service{o} }

// CompleteInput is what a person answered. All of it is optional but the persona.
type CompleteInput struct {
	UserName            string `json:"user_name,omitempty" maxLength:"80"`
	AssistantName       string `json:"assistant_name,omitempty" maxLength:"40"`
	Timezone            string `json:"timezone,omitempty" maxLength:"64" doc:"An IANA name such as Asia/Kolkata, or auto."`
	Location            string `json:"location,omitempty" maxLength:"120"`
	ProfessionalContext string `json:"professional_context,omitempty" maxLength:"4000"`
	PersonalContext     string `json:"personal_context,omitempty" maxLength:"4000"`
	Persona             string `json:"persona,omitempty" enum:"friendly,professional,concise,custom" default:"friendly"`
	DailyBrief          bool   `json:"daily_brief,omitempty" doc:"Sets up the Daily Brief with its defaults."`
}

// OKResult says that it was done.
type OKResult struct {
	OK bool `json:"ok"`
}

// Complete saves the answers (POST /api/onboarding). 422 for a time zone or persona that is none, or a text that is too
// long.
func (s *Service) Complete(ctx context.Context, in *CompleteInput) (*OKResult, error) {
	a, err := in.clean()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "workspace"), 0o700); err != nil {
		return nil, fileError(err)
	}
	for _, step := range []func(context.Context, answers) error{s.writeUser, s.writeSoul, s.keepSeeds} {
		if err := step(ctx, a); err != nil {
			return nil, err
		}
	}
	err = s.Save(ctx, Assistant{Name: a.Assistant, UserName: a.User, Timezone: a.Timezone, Location: a.Location, Complete: true})
	if err != nil {
		return nil, err
	}
	return &OKResult{true}, nil
}

// answers are the cleaned input.
type answers struct {
	User, Assistant, Timezone, Location, Professional, Personal, Persona string
	DailyBrief                                                           bool
}

func (in *CompleteInput) clean() (answers, error) {
	a := answers{
		User: oneLine(in.UserName), Assistant: oneLine(in.AssistantName), Timezone: strings.TrimSpace(in.Timezone), Location: oneLine(in.Location),
		Professional: plain(in.ProfessionalContext), Personal: plain(in.PersonalContext), Persona: in.Persona, DailyBrief: in.DailyBrief,
	}
	for _, b := range []struct {
		field, text string
		most        int
	}{{"user_name", a.User, 80}, {"assistant_name", a.Assistant, 40}, {"location", a.Location, 120}, {"professional_context", a.Professional, 4000}, {"personal_context", a.Personal, 4000}} {
		if utf8.RuneCountInString(b.text) > b.most {
			return a, invalid(b.field, fmt.Sprintf("This text has at most %d characters.", b.most))
		}
	}
	if a.Assistant == "" {
		a.Assistant = "Sentient"
	}
	if a.Persona == "" {
		a.Persona = "friendly"
	}
	if _, ok := personas[a.Persona]; !ok {
		return a, invalid("persona", "A persona is friendly, professional, concise or custom.")
	}
	if a.Timezone == "" || strings.EqualFold(a.Timezone, "auto") {
		a.Timezone = "auto"
	} else if _, err := time.LoadLocation(a.Timezone); err != nil || len(a.Timezone) > 64 || a.Timezone == "Local" {
		return a, invalid("timezone", "This time zone is not known. Pick one from the list, or auto.")
	}
	return a, nil
}

func invalid(field, message string) error {
	return errs.New(errs.Invalid, "onboarding_invalid", message).WithFields(errs.Field{Loc: []string{field}, Msg: message, Type: "value_error"})
}

// The marks around the part of USER.md that is ours.
const (
	markBegin = "<!-- From the set-up. What you write outside these two marks stays as it is. -->"
	markEnd   = "<!-- End of the set-up's part. -->"
)

// writeUser writes the person's answers between the marks of USER.md.
func (s *Service) writeUser(_ context.Context, a answers) error {
	t, err := template.ParseFS(templates, "templates/user.md")
	if err != nil {
		return fmt.Errorf("read template: %w", err)
	}
	data := a
	if data.Timezone == "auto" {
		data.Timezone = ""
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, "block", data); err != nil {
		return fmt.Errorf("fill template: %w", err)
	}
	block := markBegin + "\n" + strings.TrimSpace(b.String()) + "\n" + markEnd
	old, err := s.read("workspace/USER.md")
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(old, markBegin)
	_, after, ended := strings.Cut(rest, markEnd)
	text := before + block + after
	switch {
	case ok && ended:
	case old == "":
		text = block + "\n"
	default:
		text = block + "\n\n" + old // keeps what stands there, below
	}
	return s.write("workspace/USER.md", text)
}

// personas are the template files of SOUL.md.
var personas = map[string]string{
	"friendly": "templates/friendly.md", "professional": "templates/professional.md", "concise": "templates/concise.md", "custom": "templates/custom.md",
}

// writeSoul writes the persona's text, unless SOUL.md holds anything but one of our own texts.
func (s *Service) writeSoul(_ context.Context, a answers) error {
	old, err := s.read("workspace/SOUL.md")
	if err != nil {
		return err
	}
	ours := strings.TrimSpace(old) == ""
	var text string
	for persona, file := range personas {
		own, err := templates.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read template: %w", err)
		}
		own = []byte(strings.ReplaceAll(string(own), "\r\n", "\n"))
		ours = ours || strings.TrimSpace(strings.ReplaceAll(old, "\r\n", "\n")) == strings.TrimSpace(string(own))
		if persona == a.Persona {
			text = string(own)
		}
	}
	if !ours {
		return nil
	}
	return s.write("workspace/SOUL.md", text)
}

// Seeds are what other parts pick up from the set-up: facts for the memory (source "onboarding"), and whether the Daily
// Brief is wanted.
type Seeds struct {
	Facts      []string `json:"facts"`
	DailyBrief bool     `json:"daily_brief"`
	At         string   `json:"at"`
}

const seedsFile = "onboarding.json"

func (s *Service) keepSeeds(_ context.Context, a answers) error {
	seeds := Seeds{Facts: []string{}, DailyBrief: a.DailyBrief, At: clock.Stamp(s.Clock.Now())}
	for _, f := range []struct{ form, value string }{
		{"The user's name is %s.", a.User}, {"The user lives in %s.", a.Location}, {"About the user's work: %s", a.Professional}, {"About the user: %s", a.Personal},
	} {
		if f.value != "" {
			seeds.Facts = append(seeds.Facts, fmt.Sprintf(f.form, f.value))
		}
	}
	data, err := json.MarshalIndent(seeds, "", "  ")
	if err != nil {
		return fmt.Errorf("encode seeds: %w", err)
	}
	return s.write(seedsFile, string(data)+"\n")
}

// Seeds gives what waits to be picked up; false when nothing does.
func (s *Service) Seeds() (Seeds, bool, error) {
	text, err := s.read(seedsFile)
	if err != nil || text == "" {
		return Seeds{}, false, err
	}
	var seeds Seeds
	if err := json.Unmarshal([]byte(text), &seeds); err != nil {
		return seeds, false, fmt.Errorf("read seeds: %w", err)
	}
	return seeds, true, nil
}

// PickedUp forgets the seeds: they are where they belong.
func (s *Service) PickedUp() error {
	if err := os.Remove(filepath.Join(s.Dir, seedsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	return nil
}
