package config

import "testing"

func TestMigrationsRunInOrderAndKeepTheText(t *testing.T) {
	steps := []migration{
		{from: 1, changes: func(v any) []change {
			old, _ := at(v, []string{"ui", "colour"})
			return []change{{path: []string{"ui", "accent"}, value: old}, {path: []string{"ui", "colour"}, remove: true}}
		}},
		{from: 2, changes: func(any) []change { return []change{{path: []string{"ui", "theme"}, value: "light"}} }},
	}
	for _, c := range []struct {
		from         int
		before, want string
	}{
		{1, "# a\nversion: 1 # v\nui:\n  colour: sea # mine\n  theme: dark\n", "# a\nversion: 3 # v\nui:\n  theme: light\n  accent: sea\n"},
		{2, "version: 2\nui: {theme: dark}\n", "version: 3\nui: {theme: light}\n"},
		{3, "version: 3\nui: {theme: dark}\n", "version: 3\nui: {theme: dark}\n"},
	} {
		got, err := migrate(c.before, c.from, steps)
		if err != nil || got != c.want {
			t.Errorf("from %d: %q, %v; want %q", c.from, got, err, c.want)
		}
	}
	for i, m := range migrations {
		if m.from != i+1 {
			t.Errorf("migration %d starts from %d", i, m.from)
		}
	}
	if len(migrations) != current-1 {
		t.Errorf("%d migrations lead to version %d", len(migrations), current)
	}
}
