// Code generated from the operation table; DO NOT EDIT.

package bound

import (
	"encoding/json"
	"sentient/backend/agent"
	"sentient/backend/api"
	"sentient/backend/config"
	"sentient/backend/gateway/v1"
	"sentient/backend/model"
	"sentient/backend/model/builtin"
	"sentient/backend/notify"
	"sentient/backend/onboarding"
	"sentient/backend/secret"
	"sentient/backend/session"
	"sentient/backend/toolbox"
)

// Nouns are the structs that the window binds.
func Nouns(door Door) []any {
	return []any{
		&Health{door},
		&Bootstrap{door},
		&Gateway{door},
		&Store{door},
		&Onboarding{door},
		&Config{door},
		&Sessions{door},
		&Subagents{door},
		&Tools{door},
		&Openai{door},
		&Files{door},
		&Models{door},
		&Secrets{door},
		&Notifications{door},
	}
}

// Health carries the operations of its noun to the page.
type Health struct{ Door Door }

// Get: say that the engine answers.
func (b *Health) Get(in api.Nothing) (api.Health, error) {
	return call[api.Health](b.Door, "health.get", in)
}

// Bootstrap carries the operations of its noun to the page.
type Bootstrap struct{ Door Door }

// Get: everything a window needs at its start.
func (b *Bootstrap) Get(in api.Nothing) (api.Bootstrap, error) {
	return call[api.Bootstrap](b.Door, "bootstrap.get", in)
}

// Gateway carries the operations of its noun to the page.
type Gateway struct{ Door Door }

// Link: make a one-time link to the page.
func (b *Gateway) Link(in api.Nothing) (api.LinkResult, error) {
	return call[api.LinkResult](b.Door, "gateway.link", in)
}

// Store carries the operations of its noun to the page.
type Store struct{ Door Door }

// Restore: go back to a copy of the database, in safe mode.
func (b *Store) Restore(in api.RestoreInput) (api.OK, error) {
	return call[api.OK](b.Door, "store.restore", in)
}

// Onboarding carries the operations of its noun to the page.
type Onboarding struct{ Door Door }

// Complete: finish the first-run setup.
func (b *Onboarding) Complete(in onboarding.CompleteInput) (*onboarding.OKResult, error) {
	return call[*onboarding.OKResult](b.Door, "onboarding.complete", in)
}

// Config carries the operations of its noun to the page.
type Config struct{ Door Door }

// Get: all settings.
func (b *Config) Get(in api.Nothing) (*config.Config, error) {
	return call[*config.Config](b.Door, "config.get", in)
}

// Schema: jSON schema of the settings.
func (b *Config) Schema(in api.Nothing) (json.RawMessage, error) {
	return call[json.RawMessage](b.Door, "config.schema", in)
}

// Put: replace all settings.
func (b *Config) Put(in api.WholeConfig) (api.SavedResult, error) {
	return call[api.SavedResult](b.Door, "config.put", in)
}

// Patch: change some settings.
func (b *Config) Patch(in api.WholeConfig) (api.SavedResult, error) {
	return call[api.SavedResult](b.Door, "config.patch", in)
}

// Sessions carries the operations of its noun to the page.
type Sessions struct{ Door Door }

// List: the chats, newest first.
func (b *Sessions) List(in session.ListInput) ([]session.Session, error) {
	return call[[]session.Session](b.Door, "sessions.list", in)
}

// Create: make a new chat.
func (b *Sessions) Create(in session.CreateInput) (*session.CreateResult, error) {
	return call[*session.CreateResult](b.Door, "sessions.create", in)
}

// Search: search in the messages of all chats.
func (b *Sessions) Search(in session.SearchInput) ([]session.Found, error) {
	return call[[]session.Found](b.Door, "sessions.search", in)
}

// Update: rename a chat, pick its model or its memories.
func (b *Sessions) Update(in session.UpdateInput) (*session.UpdateResult, error) {
	return call[*session.UpdateResult](b.Door, "sessions.update", in)
}

// Delete: delete a chat.
func (b *Sessions) Delete(in session.DeleteInput) (*session.OKResult, error) {
	return call[*session.OKResult](b.Door, "sessions.delete", in)
}

// Messages: the messages of a chat, oldest first.
func (b *Sessions) Messages(in session.MessagesInput) ([]session.Message, error) {
	return call[[]session.Message](b.Door, "sessions.messages", in)
}

// Live: the reply that is being written right now.
func (b *Sessions) Live(in agent.LiveInput) (*agent.LiveState, error) {
	return call[*agent.LiveState](b.Door, "sessions.live", in)
}

// Branch: show another branch of a chat.
func (b *Sessions) Branch(in session.ShowInput) (*session.ShowResult, error) {
	return call[*session.ShowResult](b.Door, "sessions.branch", in)
}

// Fork: make a new chat of an old one, down to a message.
func (b *Sessions) Fork(in session.ForkInput) (*session.CreateResult, error) {
	return call[*session.CreateResult](b.Door, "sessions.fork", in)
}

// Regenerate: answer a message anew, beside the first answer.
func (b *Sessions) Regenerate(in agent.RegenerateInput) (*agent.SendResult, error) {
	return call[*agent.SendResult](b.Door, "sessions.regenerate", in)
}

// Resume: carry on a reply that was cut off.
func (b *Sessions) Resume(in agent.ResumeInput) (*agent.SendResult, error) {
	return call[*agent.SendResult](b.Door, "sessions.resume", in)
}

// Subagents: the helpers of a chat, newest first.
func (b *Sessions) Subagents(in agent.SubagentsInput) ([]agent.Subagent, error) {
	return call[[]agent.Subagent](b.Door, "sessions.subagents", in)
}

// Subagents carries the operations of its noun to the page.
type Subagents struct{ Door Door }

// Get: a helper and what it did.
func (b *Subagents) Get(in agent.SubagentInput) (*agent.Subagent, error) {
	return call[*agent.Subagent](b.Door, "subagents.get", in)
}

// Cancel: stop a helper.
func (b *Subagents) Cancel(in agent.SubagentInput) (*agent.Subagent, error) {
	return call[*agent.Subagent](b.Door, "subagents.cancel", in)
}

// Tools carries the operations of its noun to the page.
type Tools struct{ Door Door }

// List: the tools that there are, by app.
func (b *Tools) List(in toolbox.ListInput) ([]toolbox.Listing, error) {
	return call[[]toolbox.Listing](b.Door, "tools.list", in)
}

// Openai carries the operations of its noun to the page.
type Openai struct{ Door Door }

// Key: make a new key for other apps, which replaces the old one.
func (b *Openai) Key(in v1.MakeKeyInput) (*v1.MadeKey, error) {
	return call[*v1.MadeKey](b.Door, "openai.key", in)
}

// Files carries the operations of its noun to the page.
type Files struct{ Door Door }

// List: the files that are kept.
func (b *Files) List(in session.FilesInput) ([]session.File, error) {
	return call[[]session.File](b.Door, "files.list", in)
}

// Delete: delete a file.
func (b *Files) Delete(in session.FileInput) (*session.OKResult, error) {
	return call[*session.OKResult](b.Door, "files.delete", in)
}

// Models carries the operations of its noun to the page.
type Models struct{ Door Door }

// Providers: the services that models come from.
func (b *Models) Providers(in model.ProvidersInput) ([]model.Provider, error) {
	return call[[]model.Provider](b.Door, "models.providers", in)
}

// Local: the models on this computer.
func (b *Models) Local(in model.LocalInput) (*model.Local, error) {
	return call[*model.Local](b.Door, "models.local", in)
}

// Catalog: the models that one service offers.
func (b *Models) Catalog(in model.CatalogInput) ([]model.CatalogModel, error) {
	return call[[]model.CatalogModel](b.Door, "models.catalog", in)
}

// TestEmbedding: ask an embedding model for one vector.
func (b *Models) TestEmbedding(in model.TestEmbeddingInput) (*model.TestEmbeddingResult, error) {
	return call[*model.TestEmbeddingResult](b.Door, "models.test_embedding", in)
}

// Ready: which model would answer a chat now.
func (b *Models) Ready(in api.Nothing) (api.ReadyResult, error) {
	return call[api.ReadyResult](b.Door, "models.ready", in)
}

// Test: ask a model for one short answer.
func (b *Models) Test(in model.TestInput) (*model.TestResult, error) {
	return call[*model.TestResult](b.Door, "models.test", in)
}

// SetRoles: choose which model does what.
func (b *Models) SetRoles(in model.RolesInput) (*config.Roles, error) {
	return call[*config.Roles](b.Door, "models.set_roles", in)
}

// Builtin: the state of the built-in model.
func (b *Models) Builtin(in model.BuiltinInput) (*builtin.Status, error) {
	return call[*builtin.Status](b.Door, "models.builtin", in)
}

// Secrets carries the operations of its noun to the page.
type Secrets struct{ Door Door }

// List: which keys are set.
func (b *Secrets) List(in api.Nothing) ([]secret.Entry, error) {
	return call[[]secret.Entry](b.Door, "secrets.list", in)
}

// Set: keep a key.
func (b *Secrets) Set(in api.SecretInput) (api.OK, error) {
	return call[api.OK](b.Door, "secrets.set", in)
}

// Delete: remove a key.
func (b *Secrets) Delete(in api.SecretNameInput) (api.OK, error) {
	return call[api.OK](b.Door, "secrets.delete", in)
}

// Notifications carries the operations of its noun to the page.
type Notifications struct{ Door Door }

// List: the notifications, newest first.
func (b *Notifications) List(in notify.ListInput) (*notify.ListResult, error) {
	return call[*notify.ListResult](b.Door, "notifications.list", in)
}

// Create: leave a plain note.
func (b *Notifications) Create(in notify.CreateInput) (*notify.Notification, error) {
	return call[*notify.Notification](b.Door, "notifications.create", in)
}

// Read: mark a notification as read.
func (b *Notifications) Read(in notify.IDInput) (*notify.OKResult, error) {
	return call[*notify.OKResult](b.Door, "notifications.read", in)
}

// ReadAll: mark all notifications as read.
func (b *Notifications) ReadAll(in notify.AllInput) (*notify.OKResult, error) {
	return call[*notify.OKResult](b.Door, "notifications.read_all", in)
}

// Delete: delete a notification.
func (b *Notifications) Delete(in notify.IDInput) (*notify.OKResult, error) {
	return call[*notify.OKResult](b.Door, "notifications.delete", in)
}

// DeleteAll: delete all notifications.
func (b *Notifications) DeleteAll(in notify.AllInput) (*notify.OKResult, error) {
	return call[*notify.OKResult](b.Door, "notifications.delete_all", in)
}
