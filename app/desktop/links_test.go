package desktop

import (
	"os"
	"path/filepath"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/obs"
)

// script makes a program that stands for the system's.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLinksReachTheSystemsProgramAsTheyAre(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	o := newOpener(clock.Real{}, obs.Discard())
	o.command = []string{script(t, `printf '%s|' "$@" >`+out), "first"}
	if err := o.open("https://host/?a=$(id)&b='x'"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "first|https://host/?a=$(id)&b='x'|" {
		t.Errorf("%q %v", got, err)
	}
}

func TestAProgramThatDoesNotOpenLinksIsAnError(t *testing.T) {
	o := newOpener(clock.Real{}, obs.Discard())
	for _, command := range []string{script(t, "exit 3"), filepath.Join(t.TempDir(), "missing")} {
		o.command = []string{command}
		if err := o.open("https://host/"); err == nil {
			t.Errorf("%s was believed", command)
		}
	}
}
