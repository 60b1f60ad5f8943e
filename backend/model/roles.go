package model

import (
	"context"
	"strings"

	"sentient/backend/config"
	"sentient/backend/errs"
	"sentient/backend/opt"
)

// RolesInput are the roles to change (§3 `PUT /api/models/roles`): absent stays, null uses the primary model.
type RolesInput struct {
	Primary   opt.Field[string] `json:"primary,omitzero"`
	Fast      opt.Field[string] `json:"fast,omitzero"`
	Planner   opt.Field[string] `json:"planner,omitzero"`
	Executor  opt.Field[string] `json:"executor,omitzero"`
	Embedding opt.Field[string] `json:"embedding,omitzero"`
	Vision    opt.Field[string] `json:"vision,omitzero"`
	Voice     opt.Field[string] `json:"voice,omitzero"`
}

// SetRoles saves the models of roles and gives all roles as they are then (§3). Anything that is not "provider/model" of a
// known provider is refused with 422, member by member, and nothing is saved.
func (s *Service) SetRoles(ctx context.Context, in *RolesInput) (*config.Roles, error) {
	given := []struct {
		role  string
		field opt.Field[string]
	}{
		{"primary", in.Primary}, {"fast", in.Fast}, {"planner", in.Planner}, {"executor", in.Executor},
		{"embedding", in.Embedding}, {"vision", in.Vision}, {"voice", in.Voice},
	}
	var wrong []errs.Field
	for _, g := range given {
		if msg := roleProblem(g.role, g.field); msg != "" {
			wrong = append(wrong, errs.Field{Loc: []string{g.role}, Msg: msg, Type: "value_error"})
		}
	}
	if len(wrong) > 0 {
		return nil, errs.New(errs.Invalid, "model_name", wrong[0].Msg).WithFields(wrong...)
	}
	err := s.o.Settings.Modify(ctx, func(c *config.Config) {
		r := &c.Models.Roles
		own := map[string]**string{"fast": &r.Fast, "planner": &r.Planner, "executor": &r.Executor, "embedding": &r.Embedding,
			"vision": &r.Vision, "voice": &r.Voice}
		for _, g := range given {
			if !g.field.Set {
				continue
			}
			name := strings.TrimSpace(g.field.Value)
			switch {
			case g.role == "primary":
				r.Primary = name
			case g.field.Null:
				*own[g.role] = nil
			default:
				*own[g.role] = &name
			}
		}
	})
	if err != nil {
		return nil, err
	}
	roles := s.o.Settings.Get().Models.Roles
	return &roles, nil
}

// roleProblem says what is wrong with a role's model, "" when nothing is.
func roleProblem(role string, f opt.Field[string]) string {
	if !f.Set {
		return ""
	}
	if f.Null {
		if role == "primary" {
			return "The primary role needs a model: the others use it."
		}
		return ""
	}
	p, _, err := split(f.Value)
	if err != nil {
		return errs.From(err).Message
	}
	if role == "embedding" && !p.embeds {
		return p.label + " has no models for memory search. Pick another one."
	}
	return ""
}
