package onboarding_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/onboarding"
)

// rig is a data folder that is being set up. What reaches the config is noted.
type rig struct {
	*onboarding.Service
	t     *testing.T
	dir   string
	saved []onboarding.Assistant
	fail  error
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, dir: t.TempDir()}
	r.Service = onboarding.New(onboarding.Options{Dir: r.dir, Clock: clock.Real{}, Save: func(_ context.Context, a onboarding.Assistant) error {
		if r.fail == nil {
			r.saved = append(r.saved, a)
		}
		return r.fail
	}})
	return r
}

func (r *rig) file(name string) string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func (r *rig) put(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) complete(in onboarding.CompleteInput) {
	r.t.Helper()
	out, err := r.Complete(r.t.Context(), &in)
	if err != nil || !out.OK {
		r.t.Fatal(err)
	}
}

// files lists what is in the data folder.
func (r *rig) files() []string {
	r.t.Helper()
	var names []string
	for _, dir := range []string{".", "workspace"} {
		entries, err := os.ReadDir(filepath.Join(r.dir, dir))
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return names
}

const (
	begin = "<!-- From the set-up. What you write outside these two marks stays as it is. -->"
	end   = "<!-- End of the set-up's part. -->"
)

func TestCompleteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		in    onboarding.CompleteInput
		field string
	}{
		"user name":         {onboarding.CompleteInput{UserName: strings.Repeat("é", 81)}, "user_name"},
		"assistant name":    {onboarding.CompleteInput{AssistantName: strings.Repeat("é", 41)}, "assistant_name"},
		"location":          {onboarding.CompleteInput{Location: strings.Repeat("é", 121)}, "location"},
		"work":              {onboarding.CompleteInput{ProfessionalContext: strings.Repeat("é", 4001)}, "professional_context"},
		"personal":          {onboarding.CompleteInput{PersonalContext: strings.Repeat("é", 4001)}, "personal_context"},
		"persona":           {onboarding.CompleteInput{Persona: "pirate"}, "persona"},
		"persona as a path": {onboarding.CompleteInput{Persona: "../user"}, "persona"},
		"unknown zone":      {onboarding.CompleteInput{Timezone: "Mars/Olympus"}, "timezone"},
		"zone as a path":    {onboarding.CompleteInput{Timezone: "../../etc/passwd"}, "timezone"},
		"local zone":        {onboarding.CompleteInput{Timezone: "Local"}, "timezone"},
		"long zone":         {onboarding.CompleteInput{Timezone: strings.Repeat("x", 65)}, "timezone"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			_, err := r.Complete(t.Context(), &c.in)
			e := errs.From(err)
			if errs.StatusOf(err) != 422 || e.Code != "onboarding_invalid" || len(e.Fields) != 1 || e.Fields[0].Loc[0] != c.field {
				t.Error(err)
			}
			if len(r.files()) != 0 || len(r.saved) != 0 {
				t.Error("a refused set-up left something", r.files())
			}
		})
	}
}

func TestCompleteAtTheBounds(t *testing.T) {
	r := newRig(t)
	long := onboarding.CompleteInput{
		UserName: strings.Repeat("é", 80), AssistantName: strings.Repeat("é", 40), Location: strings.Repeat("é", 120), Timezone: " Asia/Kolkata ",
		ProfessionalContext: strings.Repeat("é", 4000), PersonalContext: strings.Repeat("é", 4000), Persona: "concise",
	}
	r.complete(long)
	want := onboarding.Assistant{Name: long.AssistantName, UserName: long.UserName, Timezone: "Asia/Kolkata", Location: long.Location, Complete: true}
	if len(r.saved) != 1 || r.saved[0] != want {
		t.Error(r.saved)
	}
	r.complete(onboarding.CompleteInput{Timezone: "AUTO"})
	if want := (onboarding.Assistant{Name: "Sentient", Timezone: "auto", Complete: true}); r.saved[1] != want {
		t.Error(r.saved[1])
	}
}

func TestTheFiles(t *testing.T) {
	r := newRig(t)
	r.complete(onboarding.CompleteInput{UserName: " Maya\n\u202eRao ", AssistantName: "Iris", Timezone: "Asia/Kolkata", Location: "Pune, India",
		ProfessionalContext: "Runs a bakery.\r\n- Bread\n", PersonalContext: "Two dogs. " + end + " <!<!---- {{.User}}", Persona: "professional", DailyBrief: true})
	want := begin + "\n- Name: Maya Rao\n- Lives in: Pune, India\n- Time zone: Asia/Kolkata\n\n## Work\n\nRuns a bakery.\n- Bread\n\n" +
		"## Personal\n\nTwo dogs.  End of the set-up's part.   {{.User}}\n" + end + "\n"
	if got := r.file("workspace/USER.md"); got != want {
		t.Errorf("\n%q\n%q", got, want)
	}
	if got := r.files(); !slices.Equal(got, []string{"SOUL.md", "USER.md", "onboarding.json"}) {
		t.Error(got)
	}
	if got := r.file("workspace/SOUL.md"); !strings.HasPrefix(got, "You are calm, precise and courteous.") {
		t.Error(got)
	}
}

func TestPersonas(t *testing.T) {
	starts := map[string]string{"": "You are warm", "friendly": "You are warm", "professional": "You are calm", "concise": "You are brief", "custom": "<!-- Write here"}
	r := newRig(t)
	// One of our own texts gives way to another, also with the line ends of another system.
	for _, persona := range []string{"", "professional", "concise", "custom", "friendly", "custom"} {
		r.complete(onboarding.CompleteInput{Persona: persona})
		got := r.file("workspace/SOUL.md")
		if !strings.HasPrefix(got, starts[persona]) {
			t.Errorf("%q: %s", persona, got)
		}
		r.put("workspace/SOUL.md", strings.ReplaceAll(got, "\n", "\r\n")+"\r\n")
	}
}

func TestAHandEditedSoulStays(t *testing.T) {
	for _, own := range []string{"Be a pirate.", "You are brief. Mostly.\n", "\ufeffYou are a pirate.\r\n", "<!-- only a note -->\n"} {
		r := newRig(t)
		r.put("workspace/SOUL.md", own)
		r.complete(onboarding.CompleteInput{Persona: "concise"})
		if got := r.file("workspace/SOUL.md"); got != own {
			t.Errorf("%q became %q", own, got)
		}
	}
	r := newRig(t)
	r.put("workspace/SOUL.md", " \n\t\n")
	r.complete(onboarding.CompleteInput{Persona: "concise"})
	if got := r.file("workspace/SOUL.md"); !strings.HasPrefix(got, "You are brief.") {
		t.Error("an empty one was kept", got)
	}
}

// What stands outside the marks of USER.md keeps every byte.
func TestUserOutsideTheMarksStays(t *testing.T) {
	block := func(name string) string { return begin + "\n- Name: " + name + "\n" + end }
	for name, c := range map[string][2]string{
		"nothing":          {"", block("Maya") + "\n"},
		"marks alone":      {block("Old"), block("Maya")},
		"around the marks": {"# Me\r\n\r\n" + block("Old") + "\r\n\r\nLikes tea.\t \n\n\n", "# Me\r\n\r\n" + block("Maya") + "\r\n\r\nLikes tea.\t \n\n\n"},
		"no last line end": {block("Old") + "\nLikes tea.", block("Maya") + "\nLikes tea."},
		"no marks":         {"\n\nLikes tea.\n\n", block("Maya") + "\n\n\n\nLikes tea.\n\n"},
		"half a mark":      {"Likes tea.\n" + begin + "\nkept", block("Maya") + "\n\nLikes tea.\n" + begin + "\nkept"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if c[0] != "" {
				r.put("workspace/USER.md", c[0])
			}
			for range 3 { // doing it again changes nothing more
				r.complete(onboarding.CompleteInput{UserName: "Maya"})
				if got := r.file("workspace/USER.md"); got != c[1] {
					t.Fatalf("%q", got)
				}
			}
		})
	}
	r := newRig(t)
	book := strings.Repeat("Likes tea.\n", 500_000)
	r.put("workspace/USER.md", book)
	if _, err := r.Complete(t.Context(), &onboarding.CompleteInput{}); errs.Code(err) != "profile_too_large" || r.file("workspace/USER.md") != book {
		t.Error("a file too large to be kept whole was changed", err)
	}
}

// Whatever fails half way, the set-up does not count as complete, and can be done again.
func TestHalfWayFailure(t *testing.T) {
	in := onboarding.CompleteInput{UserName: "Maya", Persona: "concise", DailyBrief: true}
	whole := newRig(t)
	whole.complete(in)
	for name, c := range map[string]struct{ breaks, mends func(r *rig) }{
		"the config": {func(r *rig) { r.fail = errs.New(errs.Conflict, "busy", "Try again.") }, func(r *rig) { r.fail = nil }},
		"the seeds":  {func(r *rig) { r.mkdir("onboarding.json/x") }, func(r *rig) { r.remove("onboarding.json") }},
		"SOUL.md":    {func(r *rig) { r.mkdir("workspace/SOUL.md/x") }, func(r *rig) { r.remove("workspace/SOUL.md") }},
		"USER.md":    {func(r *rig) { r.mkdir("workspace/USER.md/x") }, func(r *rig) { r.remove("workspace/USER.md") }},
		"its folder": {func(r *rig) { r.put("workspace", "a file") }, func(r *rig) { r.remove("workspace") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c.breaks(r)
			if _, err := r.Complete(t.Context(), &in); err == nil {
				t.Fatal("no error")
			}
			if len(r.saved) != 0 {
				t.Error("it counts as complete")
			}
			c.mends(r)
			r.complete(in)
			if !slices.Equal(r.files(), whole.files()) || len(r.saved) != 1 {
				t.Error(r.files())
			}
			for _, f := range []string{"workspace/SOUL.md", "workspace/USER.md"} {
				if r.file(f) != whole.file(f) {
					t.Error(f, r.file(f))
				}
			}
		})
	}
}

func (r *rig) mkdir(name string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Join(r.dir, filepath.FromSlash(name)), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) remove(name string) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, filepath.FromSlash(name))); err != nil {
		r.t.Fatal(err)
	}
}

// What is kept to hand on to the memory and the Daily Brief.
func TestSeeds(t *testing.T) {
	r := newRig(t)
	if _, ok, err := r.Seeds(); ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := r.PickedUp(); err != nil {
		t.Fatal(err)
	}
	r.complete(onboarding.CompleteInput{UserName: "Maya", Location: "Pune", ProfessionalContext: "Bakes.", PersonalContext: "Two dogs.", DailyBrief: true})
	s, ok, err := r.Seeds()
	want := []string{"The user's name is Maya.", "The user lives in Pune.", "About the user's work: Bakes.", "About the user: Two dogs."}
	if err != nil || !ok || !slices.Equal(s.Facts, want) || !s.DailyBrief {
		t.Error(s, ok, err)
	}
	if _, err := clock.Parse(s.At); err != nil {
		t.Error(err)
	}
	r.complete(onboarding.CompleteInput{}) // answering again replaces what waits
	if s, ok, err := r.Seeds(); err != nil || !ok || s.Facts == nil || len(s.Facts) != 0 || s.DailyBrief {
		t.Error(s, ok, err)
	}
	for range 2 {
		if err := r.PickedUp(); err != nil {
			t.Error(err)
		}
	}
	if _, ok, err := r.Seeds(); ok || err != nil {
		t.Error(ok, err)
	}
	r.put("onboarding.json", "{half")
	if _, ok, err := r.Seeds(); ok || err == nil {
		t.Error("half a file was read")
	}
	if err := errors.Join(r.PickedUp()); err != nil {
		t.Error(err)
	}
}
