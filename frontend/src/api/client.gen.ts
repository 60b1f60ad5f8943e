// Code generated from the operation table; DO NOT EDIT.

import type {
  AgentChatInput,
  AgentLiveInput,
  AgentRegenerateInput,
  AgentResumeInput,
  AgentSendResult,
  AgentSubagentInput,
  AgentSubagentsInput,
  Bootstrap,
  CatalogModel,
  ClientMessage,
  Entry,
  File,
  Found,
  Health,
  LinkResult,
  Listing,
  LiveEvent,
  LiveState,
  Local,
  MadeKey,
  Message,
  ModelBuiltinDownloadInput,
  ModelBuiltinInput,
  ModelCatalogInput,
  ModelLocalInput,
  ModelProvidersInput,
  ModelPullInput,
  ModelRolesInput,
  ModelTestEmbeddingInput,
  ModelTestEmbeddingResult,
  ModelTestInput,
  ModelTestResult,
  Nothing,
  Notification,
  NotifyAllInput,
  NotifyCreateInput,
  NotifyIDInput,
  NotifyListInput,
  NotifyListResult,
  NotifyOKResult,
  OK,
  OnboardingCompleteInput,
  OnboardingOKResult,
  Provider,
  PullProgress,
  ReadyResult,
  RestoreInput,
  Roles,
  SavedResult,
  SecretInput,
  SecretNameInput,
  Session,
  SessionCreateInput,
  SessionCreateResult,
  SessionDeleteInput,
  SessionFileInput,
  SessionFilesInput,
  SessionForkInput,
  SessionListInput,
  SessionMessagesInput,
  SessionOKResult,
  SessionSearchInput,
  SessionShowInput,
  SessionShowResult,
  SessionUpdateInput,
  SessionUpdateResult,
  SessionUploadInput,
  SessionUploadResult,
  Status,
  Subagent,
  ToolboxListInput,
  V1MakeKeyInput,
  WholeConfig,
} from "./types.gen";

export type { LiveEvent, ClientMessage };

export const operations = {
  "health.get": { kind: "unary", verb: "GET", path: "/api/health", pathParams: [], query: [], body: "none", bound: ["Health", "Get"] },
  "bootstrap.get": { kind: "unary", verb: "GET", path: "/api/bootstrap", pathParams: [], query: [], body: "none", bound: ["Bootstrap", "Get"] },
  "gateway.link": { kind: "unary", verb: "POST", path: "/api/gateway/link", pathParams: [], query: [], body: "json", bound: ["Gateway", "Link"] },
  "store.restore": { kind: "unary", verb: "POST", path: "/api/store/restore", pathParams: [], query: [], body: "json", bound: ["Store", "Restore"] },
  "onboarding.complete": { kind: "unary", verb: "POST", path: "/api/onboarding", pathParams: [], query: [], body: "json", bound: ["Onboarding", "Complete"] },
  "config.get": { kind: "unary", verb: "GET", path: "/api/config", pathParams: [], query: [], body: "none", bound: ["Config", "Get"] },
  "config.schema": { kind: "unary", verb: "GET", path: "/api/config/schema", pathParams: [], query: [], body: "none", bound: ["Config", "Schema"] },
  "config.put": { kind: "unary", verb: "PUT", path: "/api/config", pathParams: [], query: [], body: "whole:config", bound: ["Config", "Put"] },
  "config.patch": { kind: "unary", verb: "PATCH", path: "/api/config", pathParams: [], query: [], body: "whole:config", bound: ["Config", "Patch"] },
  "sessions.list": { kind: "unary", verb: "GET", path: "/api/sessions", pathParams: [], query: ["limit"], body: "none", bound: ["Sessions", "List"] },
  "sessions.create": { kind: "unary", verb: "POST", path: "/api/sessions", pathParams: [], query: ["incognito","memory_scope","model"], body: "json", bound: ["Sessions", "Create"] },
  "sessions.search": { kind: "unary", verb: "GET", path: "/api/sessions/search", pathParams: [], query: ["limit","q"], body: "none", bound: ["Sessions", "Search"] },
  "sessions.update": { kind: "unary", verb: "PATCH", path: "/api/sessions/{id}", pathParams: ["id"], query: [], body: "json", bound: ["Sessions", "Update"] },
  "sessions.delete": { kind: "unary", verb: "DELETE", path: "/api/sessions/{id}", pathParams: ["id"], query: [], body: "none", bound: ["Sessions", "Delete"] },
  "sessions.messages": { kind: "unary", verb: "GET", path: "/api/sessions/{id}/messages", pathParams: ["id"], query: ["limit"], body: "none", bound: ["Sessions", "Messages"] },
  "sessions.live": { kind: "unary", verb: "GET", path: "/api/sessions/{id}/live", pathParams: ["id"], query: [], body: "none", bound: ["Sessions", "Live"] },
  "sessions.branch": { kind: "unary", verb: "PATCH", path: "/api/sessions/{id}/branch", pathParams: ["id"], query: [], body: "json", bound: ["Sessions", "Branch"] },
  "sessions.fork": { kind: "unary", verb: "POST", path: "/api/sessions/{id}/fork", pathParams: ["id"], query: [], body: "json", bound: ["Sessions", "Fork"] },
  "sessions.regenerate": { kind: "unary", verb: "POST", path: "/api/sessions/{id}/regenerate", pathParams: ["id"], query: [], body: "json", bound: ["Sessions", "Regenerate"] },
  "sessions.resume": { kind: "unary", verb: "POST", path: "/api/sessions/{id}/resume", pathParams: ["id"], query: [], body: "json", bound: ["Sessions", "Resume"] },
  "sessions.subagents": { kind: "unary", verb: "GET", path: "/api/sessions/{id}/subagents", pathParams: ["id"], query: [], body: "none", bound: ["Sessions", "Subagents"] },
  "subagents.get": { kind: "unary", verb: "GET", path: "/api/subagents/{id}", pathParams: ["id"], query: [], body: "none", bound: ["Subagents", "Get"] },
  "subagents.cancel": { kind: "unary", verb: "POST", path: "/api/subagents/{id}/cancel", pathParams: ["id"], query: [], body: "json", bound: ["Subagents", "Cancel"] },
  "tools.list": { kind: "unary", verb: "GET", path: "/api/tools", pathParams: [], query: [], body: "none", bound: ["Tools", "List"] },
  "openai.key": { kind: "unary", verb: "POST", path: "/api/openai-api/key", pathParams: [], query: [], body: "json", bound: ["Openai", "Key"] },
  "chat.run": { kind: "stream", verb: "POST", path: "/api/chat", pathParams: [], query: [], body: "json", bound: ["Chat", "Run"] },
  "files.upload": { kind: "upload", verb: "POST", path: "/api/files", pathParams: [], query: [], body: "multipart", bound: ["Files", "Upload"] },
  "files.list": { kind: "unary", verb: "GET", path: "/api/files", pathParams: [], query: [], body: "none", bound: ["Files", "List"] },
  "files.content": { kind: "download", verb: "GET", path: "/api/files/content/{name}", pathParams: ["name"], query: [], body: "none", bound: ["Files", "Content"] },
  "files.delete": { kind: "unary", verb: "DELETE", path: "/api/files/{name}", pathParams: ["name"], query: [], body: "none", bound: ["Files", "Delete"] },
  "models.providers": { kind: "unary", verb: "GET", path: "/api/models/providers", pathParams: [], query: [], body: "none", bound: ["Models", "Providers"] },
  "models.local": { kind: "unary", verb: "GET", path: "/api/models/local", pathParams: [], query: [], body: "none", bound: ["Models", "Local"] },
  "models.catalog": { kind: "unary", verb: "GET", path: "/api/models/catalog", pathParams: [], query: ["provider"], body: "none", bound: ["Models", "Catalog"] },
  "models.test_embedding": { kind: "unary", verb: "POST", path: "/api/models/test-embedding", pathParams: [], query: [], body: "json", bound: ["Models", "TestEmbedding"] },
  "models.ready": { kind: "unary", verb: "GET", path: "/api/models/ready", pathParams: [], query: [], body: "none", bound: ["Models", "Ready"] },
  "models.test": { kind: "unary", verb: "POST", path: "/api/models/test", pathParams: [], query: [], body: "json", bound: ["Models", "Test"] },
  "models.set_roles": { kind: "unary", verb: "PUT", path: "/api/models/roles", pathParams: [], query: [], body: "json", bound: ["Models", "SetRoles"] },
  "models.pull": { kind: "stream", verb: "POST", path: "/api/models/ollama/pull", pathParams: [], query: [], body: "json", bound: ["Models", "Pull"] },
  "models.builtin": { kind: "unary", verb: "GET", path: "/api/models/builtin", pathParams: [], query: [], body: "none", bound: ["Models", "Builtin"] },
  "models.builtin_download": { kind: "stream", verb: "POST", path: "/api/models/builtin/download", pathParams: [], query: [], body: "json", bound: ["Models", "BuiltinDownload"] },
  "secrets.list": { kind: "unary", verb: "GET", path: "/api/secrets", pathParams: [], query: [], body: "none", bound: ["Secrets", "List"] },
  "secrets.set": { kind: "unary", verb: "PUT", path: "/api/secrets/{name}", pathParams: ["name"], query: [], body: "json", bound: ["Secrets", "Set"] },
  "secrets.delete": { kind: "unary", verb: "DELETE", path: "/api/secrets/{name}", pathParams: ["name"], query: [], body: "none", bound: ["Secrets", "Delete"] },
  "notifications.list": { kind: "unary", verb: "GET", path: "/api/notifications", pathParams: [], query: ["limit","unread_only"], body: "none", bound: ["Notifications", "List"] },
  "notifications.create": { kind: "unary", verb: "POST", path: "/api/notifications", pathParams: [], query: [], body: "json", bound: ["Notifications", "Create"] },
  "notifications.read": { kind: "unary", verb: "POST", path: "/api/notifications/{id}/read", pathParams: ["id"], query: [], body: "json", bound: ["Notifications", "Read"] },
  "notifications.read_all": { kind: "unary", verb: "POST", path: "/api/notifications/read-all", pathParams: [], query: [], body: "json", bound: ["Notifications", "ReadAll"] },
  "notifications.delete": { kind: "unary", verb: "DELETE", path: "/api/notifications/{id}", pathParams: ["id"], query: [], body: "none", bound: ["Notifications", "Delete"] },
  "notifications.delete_all": { kind: "unary", verb: "DELETE", path: "/api/notifications", pathParams: [], query: [], body: "none", bound: ["Notifications", "DeleteAll"] },
} as const;

/** What each operation takes (path, query and body members together) and gives (a stream: each value). */
export interface Operations {
  "health.get": { input: Nothing; output: Health };
  "bootstrap.get": { input: Nothing; output: Bootstrap };
  "gateway.link": { input: Nothing; output: LinkResult };
  "store.restore": { input: RestoreInput; output: OK };
  "onboarding.complete": { input: OnboardingCompleteInput; output: OnboardingOKResult };
  "config.get": { input: Nothing; output: Record<string, unknown> };
  "config.schema": { input: Nothing; output: unknown };
  "config.put": { input: WholeConfig; output: SavedResult };
  "config.patch": { input: WholeConfig; output: SavedResult };
  "sessions.list": { input: SessionListInput; output: Array<Session> };
  "sessions.create": { input: SessionCreateInput; output: SessionCreateResult };
  "sessions.search": { input: SessionSearchInput; output: Array<Found> };
  "sessions.update": { input: SessionUpdateInput; output: SessionUpdateResult };
  "sessions.delete": { input: SessionDeleteInput; output: SessionOKResult };
  "sessions.messages": { input: SessionMessagesInput; output: Array<Message> };
  "sessions.live": { input: AgentLiveInput; output: LiveState };
  "sessions.branch": { input: SessionShowInput; output: SessionShowResult };
  "sessions.fork": { input: SessionForkInput; output: SessionCreateResult };
  "sessions.regenerate": { input: AgentRegenerateInput; output: AgentSendResult };
  "sessions.resume": { input: AgentResumeInput; output: AgentSendResult };
  "sessions.subagents": { input: AgentSubagentsInput; output: Array<Subagent> };
  "subagents.get": { input: AgentSubagentInput; output: Subagent };
  "subagents.cancel": { input: AgentSubagentInput; output: Subagent };
  "tools.list": { input: ToolboxListInput; output: Array<Listing> };
  "openai.key": { input: V1MakeKeyInput; output: MadeKey };
  "chat.run": { input: AgentChatInput; output: unknown };
  "files.upload": { input: SessionUploadInput; output: SessionUploadResult };
  "files.list": { input: SessionFilesInput; output: Array<File> };
  "files.content": { input: SessionFileInput; output: Blob };
  "files.delete": { input: SessionFileInput; output: SessionOKResult };
  "models.providers": { input: ModelProvidersInput; output: Array<Provider> };
  "models.local": { input: ModelLocalInput; output: Local };
  "models.catalog": { input: ModelCatalogInput; output: Array<CatalogModel> };
  "models.test_embedding": { input: ModelTestEmbeddingInput; output: ModelTestEmbeddingResult };
  "models.ready": { input: Nothing; output: ReadyResult };
  "models.test": { input: ModelTestInput; output: ModelTestResult };
  "models.set_roles": { input: ModelRolesInput; output: Roles };
  "models.pull": { input: ModelPullInput; output: PullProgress };
  "models.builtin": { input: ModelBuiltinInput; output: Status };
  "models.builtin_download": { input: ModelBuiltinDownloadInput; output: PullProgress };
  "secrets.list": { input: Nothing; output: Array<Entry> };
  "secrets.set": { input: SecretInput; output: OK };
  "secrets.delete": { input: SecretNameInput; output: OK };
  "notifications.list": { input: NotifyListInput; output: NotifyListResult };
  "notifications.create": { input: NotifyCreateInput; output: Notification };
  "notifications.read": { input: NotifyIDInput; output: NotifyOKResult };
  "notifications.read_all": { input: NotifyAllInput; output: NotifyOKResult };
  "notifications.delete": { input: NotifyIDInput; output: NotifyOKResult };
  "notifications.delete_all": { input: NotifyAllInput; output: NotifyOKResult };
}
