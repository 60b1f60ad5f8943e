package trash_test

import (
	"context"
	"encoding/json"
	"testing"

	"sentient/backend/approval/trash"
	"sentient/backend/tool"
)

type id struct {
	ID string `json:"id"`
}

type two struct {
	ID     string `json:"id"`
	Folder string `json:"folder"`
}

func called[In any](name string) *tool.Tool {
	return tool.New(tool.Def[In]{Name: name, Description: "x", Risk: tool.Write, Run: func(context.Context, *tool.Context, In) (any, error) { return nil, nil }})
}

func TestSwap(t *testing.T) {
	app := func(names ...string) *tool.Plugin {
		p := &tool.Plugin{ID: "notes", Name: "Notes"}
		for _, n := range names {
			p.Tools = append(p.Tools, called[id](n))
		}
		return p
	}
	for _, c := range []struct {
		name   string
		tool   string
		words  string
		app    *tool.Plugin
		hidden bool
		want   string
	}{
		{"a trash for the same thing", "delete_note", "Delete the note", app("delete_note", "trash_note"), false, "trash_note"},
		{"under the app's name", "notes_delete_note", "Delete the note", app("notes_delete_note", "notes_trash_note"), false, "notes_trash_note"},
		{"a recycle bin", "remove_file", "Remove it", app("remove_file", "recycle_file"), false, "recycle_file"},
		{"another thing's trash", "delete_folder", "Delete it", app("delete_folder", "trash_note"), false, ""},
		{"no trash", "delete_note", "Delete it", app("delete_note", "restore_note"), false, ""},
		{"no delete", "update_note", "Change it", app("update_note", "trash_note"), false, ""},
		{"for good", "delete_note", "Delete it permanently", app("delete_note", "trash_note"), false, ""},
		{"forever", "delete_note", "delete the note forever", app("delete_note", "trash_note"), false, ""},
		{"past the trash", "delete_note", "Delete it and skip the trash", app("delete_note", "trash_note"), false, ""},
		{"not for good", "delete_note", "Delete it, but don't delete it permanently", app("delete_note", "trash_note"), false, "trash_note"},
		{"a hidden trash", "delete_note", "Delete it", app("delete_note", "trash_note"), true, ""},
		{"one that needs more", "delete_note", "Delete it", &tool.Plugin{ID: "notes", Tools: []*tool.Tool{called[id]("delete_note"), called[two]("trash_note")}}, false, ""},
	} {
		got, ok := trash.Swap(c.tool, json.RawMessage(`{"id":"1"}`), c.app, trash.Options{Words: []string{c.words}, Hidden: func(*tool.Tool) bool { return c.hidden }})
		if ok != (c.want != "") || ok && got.Name != c.want {
			t.Errorf("%s: %v %v", c.name, got, ok)
		}
	}
}

func TestWayBack(t *testing.T) {
	p := &tool.Plugin{ID: "notes", Tools: []*tool.Tool{called[id]("trash_note"), called[id]("restore_note"), called[id]("trash_mail")}}
	if got := trash.WayBack("trash_note", p); got == nil || got.Name != "restore_note" {
		t.Errorf("the way back from the trash is %v", got)
	}
	if got := trash.WayBack("trash_mail", p); got != nil {
		t.Errorf("a mail came back as %v", got)
	}
}
