package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoadMigrations(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string // numbers, or nothing for a refusal
	}{
		{"none", nil, ""},
		{"no number", []string{"a.sql"}, ""},
		{"short number", []string{"1_a.sql"}, ""},
		{"number zero", []string{"0000_a.sql"}, ""},
		{"twice the same number", []string{"0001_a.sql", "0001_b.sql"}, ""},
		{"in order", []string{"0002_b.sql", "0001_a.sql", "0010_c.sql"}, "[1 2 10]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fstest.MapFS{"migrations/readme.txt": {}}
			for _, f := range c.files {
				files["migrations/"+f] = &fstest.MapFile{Data: []byte("SELECT 1")}
			}
			all, err := loadMigrations(files)
			if (err == nil) != (c.want != "") {
				t.Fatal(all, err)
			}
			var numbers []int
			for _, m := range all {
				numbers = append(numbers, m.number)
			}
			if err == nil && fmt.Sprint(numbers) != c.want {
				t.Error(numbers)
			}
		})
	}
}

func TestSumDoesNotDependOnLineEnds(t *testing.T) {
	sum := func(text string) string {
		all, err := loadMigrations(fstest.MapFS{"migrations/0001_a.sql": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return all[0].sum
	}
	if sum("SELECT 1;\nSELECT 2;\n") != sum("SELECT 1;\r\nSELECT 2;\r\n") {
		t.Error("a checkout on Windows has other sums")
	}
	if sum("SELECT 1") == sum("SELECT 2") {
		t.Error("an edit is not seen")
	}
}

// A released step is never edited: its sum stands in testdata/released.sums ("number sum" a line), which only grows.
func TestReleasedStepsAreNotEdited(t *testing.T) {
	all, err := loadMigrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	now := map[string]string{}
	for _, m := range all {
		now[m.name] = m.sum
	}
	f, err := os.Open("testdata/released.sums")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("nothing was released yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, sum, _ := strings.Cut(lines.Text(), " ")
		if now[name] != sum {
			t.Errorf("%s was released with sum %s and now has %q", name, sum, now[name])
		}
	}
}

// A saved database of each released version opens with its data (testdata/released/*.db).
func TestReleasedDatabases(t *testing.T) {
	saved, err := filepath.Glob("testdata/released/*.db")
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) == 0 {
		t.Skip("nothing was released yet")
	}
	for _, path := range saved {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			if err := copyFile(path, filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			db := mustOpen(t, Options{Dir: dir})
			if err := db.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The steps that are really there run on an empty database and stay within what transactions allow.
func TestEmbeddedMigrations(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, Options{Dir: dir})
	if err := db.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Reader().Query("PRAGMA foreign_key_check")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if rows.Next() {
		t.Error("a foreign key points nowhere")
	}
}

func TestMigrationTakesACopyFirst(t *testing.T) {
	dir := t.TempDir()
	used(t, dir)
	mustClose(t, mustOpen(t, manySteps(dir, 4)))
	s := Snapshots(dir)
	if len(s) != 1 || s[0].Kind != "copy" || !strings.HasPrefix(s[0].Name, "before-2-4-") || s[0].At.IsZero() || s[0].Size == 0 {
		t.Fatalf("snapshots: %+v", s)
	}
	old := t.TempDir()
	if err := copyFile(s[0].Path, filepath.Join(old, FileName)); err != nil {
		t.Fatal(err)
	}
	if n := batches(t, mustOpen(t, testOptions(old))); n != 5 {
		t.Errorf("the copy has %d batches", n)
	}
	// And the earlier program does not touch what the later one made.
	before := tree(t, dir)
	_, err := Open(t.Context(), testOptions(dir))
	if u := wantUnusable(t, err, Newer); len(u.Snapshots) != 1 {
		t.Errorf("does not offer the copy: %+v", u.Snapshots)
	}
	sameTree(t, before, tree(t, dir))
	mustClose(t, mustOpen(t, manySteps(dir, 4)))
}

func TestThreeCopiesAreKept(t *testing.T) {
	dir := t.TempDir()
	var all []string
	for n := 1; n <= 12; n++ {
		all = append(all, fmt.Sprintf("CREATE TABLE t%d (x)", n))
		o := Options{Dir: dir, steps: steps(append([]string{metaStep}, all...)...)}
		mustClose(t, mustOpen(t, o))
	}
	var got []string
	for _, s := range Snapshots(dir) {
		got = append(got, s.Name[:len("before-00-00")])
	}
	if fmt.Sprint(got) != "[before-12-13 before-11-12 before-10-11]" {
		t.Errorf("kept: %v", got)
	}
}

func TestMigrationThatFailsChangesNothing(t *testing.T) {
	for name, bad := range map[string]string{
		"wrong":              "CREATE TABLE x (y); INSERT INTO rows (nothing) VALUES (1)",
		"against its own":    "UPDATE rows SET text = text || '?'; INSERT INTO meta (key, value) VALUES ('k', NULL)",
		"with a table there": "CREATE TABLE x (y); CREATE TABLE rows (id)",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			used(t, dir)
			o := testOptions(dir)
			o.steps = steps(metaStep, rowStep, bad)
			for range 5 {
				_, err := Open(t.Context(), o)
				if u := wantUnusable(t, err, Stuck); len(u.Snapshots) == 0 || len(u.Snapshots) > copiesKept {
					t.Errorf("%d snapshots", len(u.Snapshots))
				}
			}
			db := mustOpen(t, testOptions(dir)) // the earlier program goes on
			if n := batches(t, db); n != 5 {
				t.Errorf("%d batches", n)
			}
			var odd int
			if err := db.Reader().QueryRow("SELECT count(*) FROM rows WHERE text LIKE '%?'").Scan(&odd); err != nil || odd != 0 {
				t.Error(odd, err)
			}
		})
	}
}

func TestEditedMigrationStillStarts(t *testing.T) {
	dir := t.TempDir()
	used(t, dir)
	var log strings.Builder
	o := testOptions(dir)
	o.Log = textLog(&log)
	o.steps[1].sum = "another"
	mustOpen(t, o)
	if !strings.Contains(log.String(), "edited after it ran") {
		t.Error("nothing is said")
	}
}
