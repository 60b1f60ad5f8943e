package toolbox

import (
	"context"

	"sentient/backend/tool"
)

// ListInput has no members.
type ListInput struct{}

// Listing is a plugin as Settings shows it (§2 "Tools").
type Listing struct {
	ID            string       `json:"id"`
	DisplayName   string       `json:"display_name"`
	Description   string       `json:"description"`
	Category      string       `json:"category" enum:"core,productivity,communication,knowledge,development,home,utilities"`
	Icon          string       `json:"icon" doc:"The name of a Tabler icon."`
	Auth          string       `json:"auth" enum:"builtin,oauth,api_key,manual,mcp"`
	SelectionHint string       `json:"selection_hint"`
	Tools         []ListedTool `json:"tools"`
}

// ListedTool is one tool of a Listing.
type ListedTool struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Risk        tool.Risk `json:"risk" enum:"read,write,send,exec"`
}

// List lists all plugins with their tools, in order (GET /api/tools): also those that are switched off, behind a rule or
// not connected, so that Settings can change that. Scoped ones are left out (§10): they are part of something else.
func (r *Registry) List(_ context.Context, _ *ListInput) ([]Listing, error) {
	list := []Listing{}
	for _, p := range r.now.Load().plugins {
		if p.Scoped {
			continue
		}
		l := Listing{ID: p.ID, DisplayName: p.Name, Description: p.Description, Category: p.Category, Icon: p.Icon, Auth: p.Auth, SelectionHint: p.Hint, Tools: []ListedTool{}}
		for _, t := range p.Tools {
			l.Tools = append(l.Tools, ListedTool{Name: t.Name, Description: t.Description, Risk: t.Risk})
		}
		list = append(list, l)
	}
	return list, nil
}
