package api

import (
	"context"

	"sentient/backend/errs"
	"sentient/backend/secret"
)

func modelOps(s Services) []Op {
	return []Op{
		unary("models.providers", "GET /api/models/providers", Window, "The services that models come from", s.Models.Providers),
		unary("models.local", "GET /api/models/local", Window, "The models on this computer", s.Models.Local),
		unary("models.catalog", "GET /api/models/catalog", Window, "The models that one service offers", s.Models.Catalog),
		unary("models.test_embedding", "POST /api/models/test-embedding", Window, "Ask an embedding model for one vector", s.Models.TestEmbedding),
		unary("models.ready", "GET /api/models/ready", Window, "Which model would answer a chat now", s.modelReady),
		unary("models.test", "POST /api/models/test", Window, "Ask a model for one short answer", s.Models.Test),
		unary("models.set_roles", "PUT /api/models/roles", Window, "Choose which model does what", s.Models.SetRoles),
		stream("models.pull", "POST /api/models/ollama/pull", Window, "Download a model with Ollama", s.Models.Pull),
		unary("models.builtin", "GET /api/models/builtin", Window, "The state of the built-in model", s.Models.Builtin),
		stream("models.builtin_download", "POST /api/models/builtin/download", Window, "Download the built-in model and its program", s.Models.BuiltinDownload),
		unary("secrets.list", "GET /api/secrets", Window, "Which keys are set", s.Secrets.List),
		unary("secrets.set", "PUT /api/secrets/{name}", Window, "Keep a key", s.Secrets.Set),
		unary("secrets.delete", "DELETE /api/secrets/{name}", Window, "Remove a key", s.Secrets.Delete),
	}
}

// Secrets serves the secret store as operations (§3). A value goes in and never comes out.
type Secrets struct{ Store *secret.Store }

// SecretInput is a key to keep.
type SecretInput struct {
	Name  string `json:"name" maxLength:"200"`
	Value string `json:"value" maxLength:"65536"`
}

// SecretNameInput names a key.
type SecretNameInput struct {
	Name string `json:"name" maxLength:"200"`
}

// List tells which of the known keys are set, and where.
func (s *Secrets) List(ctx context.Context, _ *Nothing) ([]secret.Entry, error) {
	return s.Store.List(ctx)
}

// Set keeps a key.
func (s *Secrets) Set(ctx context.Context, in *SecretInput) (OK, error) {
	return OK{OK: true}, s.Store.Put(ctx, in.Name, in.Value)
}

// Delete removes a key.
func (s *Secrets) Delete(ctx context.Context, in *SecretNameInput) (OK, error) {
	return OK{OK: true}, s.Store.Remove(ctx, in.Name)
}

// ReadyResult says which model would answer a chat now.
type ReadyResult struct {
	OK      bool   `json:"ok"`
	Model   string `json:"model" doc:"provider/model, empty when none can answer"`
	Message string `json:"message" doc:"Why none can answer and what to do, in a sentence"`
}

// modelReady tells whether a chat would be answered, without asking the model.
func (s Services) modelReady(ctx context.Context, _ *Nothing) (ReadyResult, error) {
	choice, err := s.Models.Choose(ctx, "primary", "")
	if err != nil {
		return ReadyResult{Message: errs.From(err).Message}, nil
	}
	return ReadyResult{OK: true, Model: choice.Name}, nil
}
