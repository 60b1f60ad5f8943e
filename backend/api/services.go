package api

import (
	"slices"

	"sentient/backend/agent"
	"sentient/backend/gateway/v1"
	"sentient/backend/model"
	"sentient/backend/notify"
	"sentient/backend/onboarding"
	"sentient/backend/session"
	"sentient/backend/toolbox"
)

// Services are what the table's rows call. Nil members make a table that can be described but not called, which is
// what the generator and `sentient contract` need.
type Services struct {
	System        *System
	Onboarding    *onboarding.Service
	Settings      *Settings
	Sessions      *session.Service
	Agent         *agent.Service
	Notifications *notify.Service
	Models        *model.Service
	Secrets       *Secrets
	Tools         *toolbox.Registry
	OpenAI        *v1.KeyService
}

// Operations is the table.
func Operations(s Services) []Op {
	return slices.Concat(coreOps(s), chatOps(s), modelOps(s), notificationOps(s))
}
