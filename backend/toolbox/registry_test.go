package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sentient/backend/clock"
	"sentient/backend/netx"
	"sentient/backend/tool"
	"sentient/backend/toolbox"
	"sentient/backend/toolbox/all"
)

type nothing struct{}

// plain makes a tool that does nothing.
func plain(name, description string, risk tool.Risk) *tool.Tool {
	return tool.New(tool.Def[nothing]{Name: name, Description: description, Risk: risk, Run: func(context.Context, *tool.Context, nothing) (any, error) { return "", nil }})
}

// app makes a plugin of tools, "name: description".
func app(id, name, description, hint string, tools ...string) *tool.Plugin {
	p := &tool.Plugin{ID: id, Name: name, Description: description, Category: "productivity", Icon: "x", Auth: "oauth", Hint: hint}
	for _, t := range tools {
		name, told, _ := strings.Cut(t, ": ")
		p.Tools = append(p.Tools, plain(name, told, tool.Read))
	}
	return p
}

func newRegistry(t testing.TB, o toolbox.Options) *toolbox.Registry {
	t.Helper()
	r, err := toolbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func builtin(t testing.TB) []*tool.Plugin {
	n := netx.New(netx.Options{})
	t.Cleanup(n.Close)
	return all.Builtin(all.Deps{Dir: t.TempDir(), Net: n, Clock: clock.Real{}, Settings: func() all.Settings { return all.Settings{} },
		Secret: func(context.Context, string) (string, error) { return "", nil }})
}

func names(list []*tool.Tool) string {
	var all []string
	for _, x := range list {
		all = append(all, x.Name)
	}
	return strings.Join(all, " ")
}

func TestRefusals(t *testing.T) {
	good := app("a", "A", "An app.", "", "a_one: One.")
	lame := app("b", "B", "An app.", "", "b_one: One.")
	lame.Tools[0].Risk = 0
	for name, c := range map[string]struct {
		plugins []*tool.Plugin
		says    string
	}{
		"two tools of one name":    {[]*tool.Plugin{good, app("b", "B", "An app.", "", "a_one: Two.")}, "two tools are called a_one, of a and b"},
		"two tools in one plugin":  {[]*tool.Plugin{app("b", "B", "An app.", "", "b_x: One.", "b_x: Two.")}, "two tools are called b_x"},
		"two plugins of one id":    {[]*tool.Plugin{good, app("a", "A", "An app.", "", "b_one: Two.")}, "two plugins are called a"},
		"a plugin without a name":  {[]*tool.Plugin{app("b", "", "An app.", "")}, "lacks an id, a name"},
		"a tool without a risk":    {[]*tool.Plugin{lame}, "b_one has no risk"},
		"a tool of no use as name": {[]*tool.Plugin{app("b", "B", "An app.", "", "Bad Name: One.")}, "snake_case"},
		"none":                     {[]*tool.Plugin{nil}, "there is none"},
	} {
		if _, err := toolbox.New(toolbox.Options{Plugins: c.plugins}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		r := newRegistry(t, toolbox.Options{Plugins: []*tool.Plugin{good}})
		if last := c.plugins[len(c.plugins)-1]; r.Add(last) == nil {
			t.Errorf("%s was added", name)
		}
		if got := names(r.Select(toolbox.Need{})); got != "a_one" {
			t.Errorf("%s: then there are %s", name, got)
		}
	}
}

func TestFindAndEnabled(t *testing.T) {
	scoped := app("pad", "Pad", "A notepad.", "", "pad_write: Write.")
	scoped.Scoped = true
	mail := app("mail", "Mail", "Mail.", "", "mail_search: Search.")
	connected, hide := false, true
	mail.Connected = func() bool { return connected }
	var off []string
	r := newRegistry(t, toolbox.Options{Plugins: []*tool.Plugin{app("a", "A", "An app.", "", "a_one: One.", "a_two: Two."), scoped, mail},
		Disabled: func() []string { return off }, HideDisconnected: func() bool { return hide }})
	check := func(name string, enabled bool) {
		t.Helper()
		if x, p, ok := r.Find(name); !ok || x.Name != name || p == nil {
			t.Errorf("%s is not found", name)
		}
		if r.Enabled(name) != enabled {
			t.Errorf("%s enabled: %v", name, !enabled)
		}
	}
	check("a_one", true)
	check("pad_write", true)
	check("mail_search", false)
	if _, _, ok := r.Find("nothing"); ok || r.Enabled("nothing") || r.Enabled("") {
		t.Error("what is not there was found")
	}
	off = []string{"a_one"}
	check("a_one", false)
	check("a_two", true)
	if got := names(r.Select(toolbox.Need{})); got != "a_two" {
		t.Error(got)
	}
	hide = false
	check("mail_search", true)
	hide, connected = true, true
	check("mail_search", true)
	if got := names(r.Select(toolbox.Need{All: true, Max: 1})); got != "a_two mail_search" {
		t.Error(got)
	}
	if got := names(r.Select(toolbox.Need{Named: []string{"pad_write", "a_one", "mail_search"}, Max: 1})); got != "pad_write mail_search" {
		t.Error(got)
	}
	if got := names(r.Select(toolbox.Need{Named: []string{}})); got != "" {
		t.Error(got)
	}
	if got := names(r.Select(toolbox.Need{Exclude: func(p *tool.Plugin, x *tool.Tool) bool { return p.ID == "mail" }})); got != "a_two" {
		t.Error(got)
	}
}

func TestAddAndRemove(t *testing.T) {
	r := newRegistry(t, toolbox.Options{Plugins: []*tool.Plugin{app("a", "A", "An app.", "", "a_one: One.")}})
	r.Remove("nothing")
	if err := r.Add(app("b", "B", "An app.", "", "b_one: One.")); err != nil {
		t.Fatal(err)
	}
	if got := names(r.Select(toolbox.Need{})); got != "a_one b_one" {
		t.Error(got)
	}
	r.Remove("a")
	if _, _, ok := r.Find("a_one"); ok || names(r.Select(toolbox.Need{})) != "b_one" {
		t.Error("it is still there")
	}
	// Plugins come and go while tools are looked for.
	var done sync.WaitGroup
	for i := range 4 {
		done.Go(func() {
			for range 50 {
				id := fmt.Sprint("x", i)
				if err := r.Add(app(id, "X", "An app.", "x", id+"_one: One.")); err != nil {
					t.Error(err)
				}
				r.Select(toolbox.Need{Text: "x", Max: 1})
				if _, _, ok := r.Find(id + "_one"); !ok || !r.Enabled("b_one") {
					t.Error("it is gone")
				}
				r.Remove(id)
			}
		})
	}
	done.Wait()
	if got := names(r.Select(toolbox.Need{})); got != "b_one" {
		t.Error(got)
	}
}

func TestList(t *testing.T) {
	scoped := app("pad", "Pad", "A notepad.", "", "pad_write: Write.")
	scoped.Scoped = true
	off := app("mail", "Mail", "Reads mail.", "mail inbox")
	off.Connected = func() bool { return false }
	r := newRegistry(t, toolbox.Options{Plugins: []*tool.Plugin{app("a", "A", "An app.", "", "a_one: One."), scoped, off}, Disabled: func() []string { return []string{"a_one"} }})
	list, err := r.List(t.Context(), &toolbox.ListInput{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(list)
	want := `[{"id":"a","display_name":"A","description":"An app.","category":"productivity","icon":"x","auth":"oauth","selection_hint":"","tools":[{"name":"a_one","description":"One.","risk":"read"}]},{"id":"mail","display_name":"Mail","description":"Reads mail.","category":"productivity","icon":"x","auth":"oauth","selection_hint":"mail inbox","tools":[]}]`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	none, err := newRegistry(t, toolbox.Options{}).List(t.Context(), nil)
	if raw, _ := json.Marshal(none); string(raw) != "[]" || err != nil {
		t.Errorf("%s, %v", raw, err)
	}
}

// What comes with Sentient: the plugins, their order, and how much of each prompt they take.
func TestBuiltin(t *testing.T) {
	r := newRegistry(t, toolbox.Options{Plugins: builtin(t)})
	list, err := r.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	if got := strings.Join(ids, " "); got != "files time internet_search web news weather maps charts" {
		t.Error(got)
	}
	want := "file_list file_read file_write time_now time_calculate time_sleep web_search web_fetch news_search news_top_headlines weather_current weather_forecast maps_link chart_create"
	tools := r.Select(toolbox.Need{})
	if got := names(tools); got != want {
		t.Error(got)
	}
	size := 0
	for _, x := range tools {
		size += len(x.Name) + len(x.Description) + len(x.Parameters)
	}
	if size > 7_500 { // at about four characters a token, of the 3,500 tokens of a prompt with every app
		t.Errorf("the tools take %d characters of each prompt", size)
	}
	t.Logf("%d tools take %d characters of each prompt", len(tools), size)
	// The plugins whose look-ups bring nothing that someone else wrote (§10).
	for _, p := range builtin(t) {
		if trusted := strings.Contains(" files time weather charts ", " "+p.ID+" "); p.Trusted != trusted {
			t.Errorf("%s trusted: %v", p.ID, p.Trusted)
		}
	}
}
