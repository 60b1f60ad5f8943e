// Code generated from the operation table; DO NOT EDIT.

package client

// Routes are all routes of the table.
func Routes() []Route {
	return []Route{
		HealthGet,
		BootstrapGet,
		GatewayLink,
		StoreRestore,
		OnboardingComplete,
		ConfigGet,
		ConfigSchema,
		ConfigPut,
		ConfigPatch,
		SessionsList,
		SessionsCreate,
		SessionsSearch,
		SessionsUpdate,
		SessionsDelete,
		SessionsMessages,
		SessionsLive,
		SessionsBranch,
		SessionsFork,
		SessionsRegenerate,
		SessionsResume,
		SessionsSubagents,
		SubagentsGet,
		SubagentsCancel,
		ToolsList,
		OpenaiKey,
		ChatRun,
		FilesUpload,
		FilesList,
		FilesContent,
		FilesDelete,
		LiveConnect,
		ModelsProviders,
		ModelsLocal,
		ModelsCatalog,
		ModelsTestEmbedding,
		ModelsReady,
		ModelsTest,
		ModelsSetRoles,
		ModelsPull,
		ModelsBuiltin,
		ModelsBuiltinDownload,
		SecretsList,
		SecretsSet,
		SecretsDelete,
		NotificationsList,
		NotificationsCreate,
		NotificationsRead,
		NotificationsReadAll,
		NotificationsDelete,
		NotificationsDeleteAll,
	}
}

// HealthGet: say that the engine answers.
var HealthGet = Route{ID: "health.get", Kind: "unary", Verb: "GET", Path: "/api/health", Query: []string{}, WholeBody: ""}

// BootstrapGet: everything a window needs at its start.
var BootstrapGet = Route{ID: "bootstrap.get", Kind: "unary", Verb: "GET", Path: "/api/bootstrap", Query: []string{}, WholeBody: ""}

// GatewayLink: make a one-time link to the page.
var GatewayLink = Route{ID: "gateway.link", Kind: "unary", Verb: "POST", Path: "/api/gateway/link", Query: []string{}, WholeBody: ""}

// StoreRestore: go back to a copy of the database, in safe mode.
var StoreRestore = Route{ID: "store.restore", Kind: "unary", Verb: "POST", Path: "/api/store/restore", Query: []string{}, WholeBody: ""}

// OnboardingComplete: finish the first-run setup.
var OnboardingComplete = Route{ID: "onboarding.complete", Kind: "unary", Verb: "POST", Path: "/api/onboarding", Query: []string{}, WholeBody: ""}

// ConfigGet: all settings.
var ConfigGet = Route{ID: "config.get", Kind: "unary", Verb: "GET", Path: "/api/config", Query: []string{}, WholeBody: ""}

// ConfigSchema: jSON schema of the settings.
var ConfigSchema = Route{ID: "config.schema", Kind: "unary", Verb: "GET", Path: "/api/config/schema", Query: []string{}, WholeBody: ""}

// ConfigPut: replace all settings.
var ConfigPut = Route{ID: "config.put", Kind: "unary", Verb: "PUT", Path: "/api/config", Query: []string{}, WholeBody: "config"}

// ConfigPatch: change some settings.
var ConfigPatch = Route{ID: "config.patch", Kind: "unary", Verb: "PATCH", Path: "/api/config", Query: []string{}, WholeBody: "config"}

// SessionsList: the chats, newest first.
var SessionsList = Route{ID: "sessions.list", Kind: "unary", Verb: "GET", Path: "/api/sessions", Query: []string{"limit"}, WholeBody: ""}

// SessionsCreate: make a new chat.
var SessionsCreate = Route{ID: "sessions.create", Kind: "unary", Verb: "POST", Path: "/api/sessions", Query: []string{"incognito", "memory_scope", "model"}, WholeBody: ""}

// SessionsSearch: search in the messages of all chats.
var SessionsSearch = Route{ID: "sessions.search", Kind: "unary", Verb: "GET", Path: "/api/sessions/search", Query: []string{"limit", "q"}, WholeBody: ""}

// SessionsUpdate: rename a chat, pick its model or its memories.
var SessionsUpdate = Route{ID: "sessions.update", Kind: "unary", Verb: "PATCH", Path: "/api/sessions/{id}", Query: []string{}, WholeBody: ""}

// SessionsDelete: delete a chat.
var SessionsDelete = Route{ID: "sessions.delete", Kind: "unary", Verb: "DELETE", Path: "/api/sessions/{id}", Query: []string{}, WholeBody: ""}

// SessionsMessages: the messages of a chat, oldest first.
var SessionsMessages = Route{ID: "sessions.messages", Kind: "unary", Verb: "GET", Path: "/api/sessions/{id}/messages", Query: []string{"limit"}, WholeBody: ""}

// SessionsLive: the reply that is being written right now.
var SessionsLive = Route{ID: "sessions.live", Kind: "unary", Verb: "GET", Path: "/api/sessions/{id}/live", Query: []string{}, WholeBody: ""}

// SessionsBranch: show another branch of a chat.
var SessionsBranch = Route{ID: "sessions.branch", Kind: "unary", Verb: "PATCH", Path: "/api/sessions/{id}/branch", Query: []string{}, WholeBody: ""}

// SessionsFork: make a new chat of an old one, down to a message.
var SessionsFork = Route{ID: "sessions.fork", Kind: "unary", Verb: "POST", Path: "/api/sessions/{id}/fork", Query: []string{}, WholeBody: ""}

// SessionsRegenerate: answer a message anew, beside the first answer.
var SessionsRegenerate = Route{ID: "sessions.regenerate", Kind: "unary", Verb: "POST", Path: "/api/sessions/{id}/regenerate", Query: []string{}, WholeBody: ""}

// SessionsResume: carry on a reply that was cut off.
var SessionsResume = Route{ID: "sessions.resume", Kind: "unary", Verb: "POST", Path: "/api/sessions/{id}/resume", Query: []string{}, WholeBody: ""}

// SessionsSubagents: the helpers of a chat, newest first.
var SessionsSubagents = Route{ID: "sessions.subagents", Kind: "unary", Verb: "GET", Path: "/api/sessions/{id}/subagents", Query: []string{}, WholeBody: ""}

// SubagentsGet: a helper and what it did.
var SubagentsGet = Route{ID: "subagents.get", Kind: "unary", Verb: "GET", Path: "/api/subagents/{id}", Query: []string{}, WholeBody: ""}

// SubagentsCancel: stop a helper.
var SubagentsCancel = Route{ID: "subagents.cancel", Kind: "unary", Verb: "POST", Path: "/api/subagents/{id}/cancel", Query: []string{}, WholeBody: ""}

// ToolsList: the tools that there are, by app.
var ToolsList = Route{ID: "tools.list", Kind: "unary", Verb: "GET", Path: "/api/tools", Query: []string{}, WholeBody: ""}

// OpenaiKey: make a new key for other apps, which replaces the old one.
var OpenaiKey = Route{ID: "openai.key", Kind: "unary", Verb: "POST", Path: "/api/openai-api/key", Query: []string{}, WholeBody: ""}

// ChatRun: send a message and read its reply as lines.
var ChatRun = Route{ID: "chat.run", Kind: "stream", Verb: "POST", Path: "/api/chat", Query: []string{}, WholeBody: ""}

// FilesUpload: keep a file for attaching it to messages.
var FilesUpload = Route{ID: "files.upload", Kind: "upload", Verb: "POST", Path: "/api/files", Query: []string{}, WholeBody: ""}

// FilesList: the files that are kept.
var FilesList = Route{ID: "files.list", Kind: "unary", Verb: "GET", Path: "/api/files", Query: []string{}, WholeBody: ""}

// FilesContent: one file's bytes.
var FilesContent = Route{ID: "files.content", Kind: "download", Verb: "GET", Path: "/api/files/content/{name...}", Query: []string{}, WholeBody: ""}

// FilesDelete: delete a file.
var FilesDelete = Route{ID: "files.delete", Kind: "unary", Verb: "DELETE", Path: "/api/files/{name...}", Query: []string{}, WholeBody: ""}

// LiveConnect: the live connection: events down, messages up.
var LiveConnect = Route{ID: "live.connect", Kind: "live", Verb: "WS", Path: "/ws", Query: []string{"since"}, WholeBody: ""}

// ModelsProviders: the services that models come from.
var ModelsProviders = Route{ID: "models.providers", Kind: "unary", Verb: "GET", Path: "/api/models/providers", Query: []string{}, WholeBody: ""}

// ModelsLocal: the models on this computer.
var ModelsLocal = Route{ID: "models.local", Kind: "unary", Verb: "GET", Path: "/api/models/local", Query: []string{}, WholeBody: ""}

// ModelsCatalog: the models that one service offers.
var ModelsCatalog = Route{ID: "models.catalog", Kind: "unary", Verb: "GET", Path: "/api/models/catalog", Query: []string{"provider"}, WholeBody: ""}

// ModelsTestEmbedding: ask an embedding model for one vector.
var ModelsTestEmbedding = Route{ID: "models.test_embedding", Kind: "unary", Verb: "POST", Path: "/api/models/test-embedding", Query: []string{}, WholeBody: ""}

// ModelsReady: which model would answer a chat now.
var ModelsReady = Route{ID: "models.ready", Kind: "unary", Verb: "GET", Path: "/api/models/ready", Query: []string{}, WholeBody: ""}

// ModelsTest: ask a model for one short answer.
var ModelsTest = Route{ID: "models.test", Kind: "unary", Verb: "POST", Path: "/api/models/test", Query: []string{}, WholeBody: ""}

// ModelsSetRoles: choose which model does what.
var ModelsSetRoles = Route{ID: "models.set_roles", Kind: "unary", Verb: "PUT", Path: "/api/models/roles", Query: []string{}, WholeBody: ""}

// ModelsPull: download a model with Ollama.
var ModelsPull = Route{ID: "models.pull", Kind: "stream", Verb: "POST", Path: "/api/models/ollama/pull", Query: []string{}, WholeBody: ""}

// ModelsBuiltin: the state of the built-in model.
var ModelsBuiltin = Route{ID: "models.builtin", Kind: "unary", Verb: "GET", Path: "/api/models/builtin", Query: []string{}, WholeBody: ""}

// ModelsBuiltinDownload: download the built-in model and its program.
var ModelsBuiltinDownload = Route{ID: "models.builtin_download", Kind: "stream", Verb: "POST", Path: "/api/models/builtin/download", Query: []string{}, WholeBody: ""}

// SecretsList: which keys are set.
var SecretsList = Route{ID: "secrets.list", Kind: "unary", Verb: "GET", Path: "/api/secrets", Query: []string{}, WholeBody: ""}

// SecretsSet: keep a key.
var SecretsSet = Route{ID: "secrets.set", Kind: "unary", Verb: "PUT", Path: "/api/secrets/{name}", Query: []string{}, WholeBody: ""}

// SecretsDelete: remove a key.
var SecretsDelete = Route{ID: "secrets.delete", Kind: "unary", Verb: "DELETE", Path: "/api/secrets/{name}", Query: []string{}, WholeBody: ""}

// NotificationsList: the notifications, newest first.
var NotificationsList = Route{ID: "notifications.list", Kind: "unary", Verb: "GET", Path: "/api/notifications", Query: []string{"limit", "unread_only"}, WholeBody: ""}

// NotificationsCreate: leave a plain note.
var NotificationsCreate = Route{ID: "notifications.create", Kind: "unary", Verb: "POST", Path: "/api/notifications", Query: []string{}, WholeBody: ""}

// NotificationsRead: mark a notification as read.
var NotificationsRead = Route{ID: "notifications.read", Kind: "unary", Verb: "POST", Path: "/api/notifications/{id}/read", Query: []string{}, WholeBody: ""}

// NotificationsReadAll: mark all notifications as read.
var NotificationsReadAll = Route{ID: "notifications.read_all", Kind: "unary", Verb: "POST", Path: "/api/notifications/read-all", Query: []string{}, WholeBody: ""}

// NotificationsDelete: delete a notification.
var NotificationsDelete = Route{ID: "notifications.delete", Kind: "unary", Verb: "DELETE", Path: "/api/notifications/{id}", Query: []string{}, WholeBody: ""}

// NotificationsDeleteAll: delete all notifications.
var NotificationsDeleteAll = Route{ID: "notifications.delete_all", Kind: "unary", Verb: "DELETE", Path: "/api/notifications", Query: []string{}, WholeBody: ""}
