// Code generated from the operation table; DO NOT EDIT.

export interface AgentCancelInput {
  session_id: string;
}

export interface AgentChatInput {
  /** Names of files, as the list of files has them. */
  attachments?: Array<string>;
  /** The sender's own id of the message: sending it again starts nothing. */
  client_id?: string;
  /** Makes the new chat an incognito one; ignored with session_id. */
  incognito?: boolean;
  /** provider/model, for this message only. */
  model?: string;
  /** The chat; left out: a new one. */
  session_id?: string;
  text: string;
}

export interface AgentLiveInput {
  id: string;
}

export interface AgentRegenerateInput {
  /** The sender's own id: sending it again starts nothing. */
  client_id?: string;
  id: string;
  /** Any message of the turn: the person's, or the reply's. */
  message_id: string;
  /** provider/model, for this reply only. */
  model?: string;
}

export interface AgentResumeInput {
  /** The sender's own id: sending it again starts nothing. */
  client_id?: string;
  id: string;
}

export interface AgentSendInput {
  /** Names of files, as the list of files has them. */
  attachments?: Array<string>;
  /** The sender's own id of the message: sending it again starts nothing. */
  client_id?: string;
  /** Makes the new chat an incognito one; ignored with session_id. */
  incognito?: boolean;
  /** provider/model, for this message only. */
  model?: string;
  /** The id of an earlier message of the person: this one takes its place, in a branch of its own. */
  replaces?: string;
  /** The chat; left out: a new one. */
  session_id?: string;
  text: string;
}

export interface AgentSendResult {
  session_id: string;
  steered?: boolean;
  turn_id: string;
}

export interface AgentSteerInput {
  /** The sender's own id of the message: sending it again starts nothing. */
  client_id?: string;
  session_id: string;
  text: string;
}

export interface AgentSubagentInput {
  id: string;
}

export interface AgentSubagentsInput {
  id: string;
}

export interface Assistant {
  /** The language quick commands are tried in first, as a language code such as en or hi. */
  language: string;
  /** Your city, for weather and places. Empty: not said. */
  location: string;
  /** What the assistant is called. */
  name: string;
  /** First-run setup is done. */
  onboarding_complete: boolean;
  /** Your time zone, such as Asia/Kolkata. auto (or empty) is the computer's own. */
  timezone: string;
  /** What the assistant calls you. */
  user_name: string;
}

export interface Bootstrap {
  assistant: Assistant;
  features: Record<string, boolean>;
  home: string;
  memory_enabled: boolean;
  models: Roles;
  /** What the person should know about this start, a sentence each */
  notes: Array<string>;
  /** Set when the database could not be opened */
  safe_mode: SafeMode | null;
  stop: StopState;
  ui: UI;
  unread_notifications: number;
  version: string;
}

export interface Branch {
  /** Which of them this is, from 0 */
  index: number;
  /** Their turns, oldest first; show one with PATCH /api/sessions/{id}/branch */
  turns: Array<string>;
}

export interface CatalogModel {
  /** tokens; null when the provider does not say */
  context_length: number | null;
  free: boolean;
  /** A whole name, such as openrouter/meta-llama/llama-4-maverick:free */
  id: string;
  label: string;
  /** null when the provider does not say */
  tools: boolean | null;
}

export interface Check {
  action: string;
  app: string;
  detail: string;
  how: "result" | "read_back";
  kind: "email" | "message" | "file" | "event" | "home" | null;
  message?: string;
  missed: Array<string>;
  ok: boolean;
  settled?: boolean;
  targets: Array<string>;
  tool: string;
}

/** What a client may send over a live connection */
export type ClientMessage = 
  | {
    /** Names of files, as the list of files has them. */
    attachments?: Array<string>;
    /** The sender's own id of the message: sending it again starts nothing. */
    client_id?: string;
    /** Makes the new chat an incognito one; ignored with session_id. */
    incognito?: boolean;
    /** provider/model, for this message only. */
    model?: string;
    /** The id of an earlier message of the person: this one takes its place, in a branch of its own. */
    replaces?: string;
    /** The chat; left out: a new one. */
    session_id?: string;
    text: string;
    type: "chat.send";
  }
  | {
    /** The sender's own id of the message: sending it again starts nothing. */
    client_id?: string;
    session_id: string;
    text: string;
    type: "chat.steer";
  }
  | {
    session_id: string;
    type: "chat.cancel";
  }
  | {
    /** the window is focused and visible */
    active: boolean;
    type: "presence";
  }
  | {
    type: "ping";
  };

export interface Deleted {
  reason?: "incognito";
  session_id: string;
}

export interface DoneEvent {
  cancelled?: boolean;
  checks: Array<Check>;
  client_id?: string;
  content: string;
  dropped?: Array<string>;
  error?: string;
  memory_sources: Array<MemorySource>;
  message_id: string | null;
  session_id: string;
  sources: Array<Source>;
  turn_id: string;
}

export interface Entry {
  kind: string;
  name: string;
  set: boolean;
  source: "keychain" | "env" | null;
}

export interface ErrorBody {
  /** Stable and machine-readable */
  code: string;
  /** A sentence for people; for settings a list of {loc, msg, type} */
  detail: unknown;
  request_id: string;
}

export interface ErrorEvent {
  client_id?: string;
  code?: string;
  dropped?: boolean;
  message: string;
  recoverable: boolean;
  session_id: string;
  turn_id: string;
}

export interface File {
  mime: string;
  modified_at: string;
  name: string;
  size: number;
}

export interface Found {
  created_at: string;
  message_id: string;
  role: string;
  session_id: string;
  snippet: string;
}

export interface Health {
  name: string;
  ok: boolean;
  version: string;
}

export interface Hello {
  assistant: string;
  /** New for each engine start */
  boot: string;
  /** The newest event before this connection */
  seq: number;
  version: string;
}

export interface InterjectionEvent {
  client_id?: string;
  message_id: string;
  session_id: string;
  text: string;
  turn_id: string;
}

export interface LinkResult {
  url: string;
}

export interface ListedTool {
  description: string;
  name: string;
  risk: "read" | "write" | "send" | "exec";
}

export interface Listing {
  auth: "builtin" | "oauth" | "api_key" | "manual" | "mcp";
  category: "core" | "productivity" | "communication" | "knowledge" | "development" | "home" | "utilities";
  description: string;
  display_name: string;
  /** The name of a Tabler icon. */
  icon: string;
  id: string;
  selection_hint: string;
  tools: Array<ListedTool>;
}

/** What comes down a live connection */
export type LiveEvent = 
  | {
    assistant: string;
    /** New for each engine start */
    boot: string;
    /** The newest event before this connection */
    seq: number;
    type: "hello";
    version: string;
  }
  | {
    /** Echo of the message's client_id */
    client_id?: string;
    code?: string;
    message: string;
    recoverable: boolean;
    session_id?: string;
    type: "error";
  }
  | {
    type: "gap";
  }
  | {
    client_id?: string;
    seq: number;
    session_id: string;
    turn_id: string;
    type: "session";
  }
  | {
    message_id: string;
    offset: number;
    seq: number;
    session_id: string;
    text: string;
    turn_id: string;
    type: "thinking_delta";
  }
  | {
    message_id: string;
    offset: number;
    seq: number;
    session_id: string;
    text: string;
    turn_id: string;
    type: "text_delta";
  }
  | {
    arguments: unknown;
    call_id: string;
    name: string;
    seq: number;
    session_id: string;
    turn_id: string;
    type: "tool_call";
  }
  | {
    call_id: string;
    data?: Record<string, unknown>;
    /** a data URL */
    image?: string;
    kind: "stdout" | "stderr" | "status" | "frame" | "subagent";
    name: string;
    seq: number;
    session_id: string;
    text?: string;
    turn_id: string;
    type: "tool_progress";
  }
  | {
    call_id: string;
    check?: Check;
    duration_ms: number;
    is_error: boolean;
    name: string;
    result: unknown;
    seq: number;
    session_id: string;
    turn_id: string;
    type: "tool_result";
  }
  | {
    client_id?: string;
    message_id: string;
    seq: number;
    session_id: string;
    text: string;
    turn_id: string;
    type: "user_interjection";
  }
  | {
    client_id?: string;
    queued: boolean;
    seq: number;
    session_id: string;
    type: "steer_ack";
  }
  | {
    completion_tokens: number;
    context_length: number | null;
    context_percent: number | null;
    context_used: number | null;
    context_warning: string | null;
    model: string;
    prompt_tokens: number;
    seq: number;
    session_id: string;
    turn_id: string;
    type: "usage";
  }
  | {
    client_id?: string;
    code?: string;
    dropped?: boolean;
    message: string;
    recoverable: boolean;
    seq: number;
    session_id: string;
    turn_id: string;
    type: "error";
  }
  | {
    code: string;
    message: string;
    model?: string;
    seq: number;
    session_id: string;
    turn_id: string;
    type: "notice";
    used?: string;
  }
  | {
    cancelled?: boolean;
    checks: Array<Check>;
    client_id?: string;
    content: string;
    dropped?: Array<string>;
    error?: string;
    memory_sources: Array<MemorySource>;
    message_id: string | null;
    seq: number;
    session_id: string;
    sources: Array<Source>;
    turn_id: string;
    type: "done";
  }
  | {
    data: Subagent;
    seq: number;
    ts: string;
    type: "subagent.updated";
  }
  | {
    data: Notification;
    seq: number;
    ts: string;
    type: "notification.new";
  }
  | {
    data: Notification;
    seq: number;
    ts: string;
    type: "notification.updated";
  }
  | {
    data: Which;
    seq: number;
    ts: string;
    type: "notification.read";
  }
  | {
    data: Which;
    seq: number;
    ts: string;
    type: "notification.deleted";
  }
  | {
    data: Updated;
    seq: number;
    ts: string;
    type: "session.updated";
  }
  | {
    data: Deleted;
    seq: number;
    ts: string;
    type: "session.deleted";
  }
  | {
    data: UpdatedEvent;
    seq: number;
    ts: string;
    type: "config.updated";
  };

export interface LiveInput {
  /** <boot>.<seq> of the last event that was read; what came after it is sent first, or one gap */
  since?: string;
}

export interface LiveState {
  client_id: string;
  /** Of the open message: deltas with another id belong to another one. */
  message_id: string;
  /** The number of the last event that is in text and thinking. */
  seq: number;
  /** What was said into the reply and is not read yet, oldest first. */
  steers: Array<LiveSteer>;
  text: string;
  thinking: string;
  turn_id: string | null;
}

export interface LiveSteer {
  client_id: string;
  text: string;
}

export interface Local {
  lm_studio: LocalProgram;
  ollama: LocalProgram;
}

export interface LocalModel {
  /** From Ollama: completion, tools, thinking, vision, embedding. A hint */
  capabilities: Array<string>;
  family: string;
  is_embedding: boolean;
  name: string;
  parameter_size: string;
  /** bytes; 0 when not known */
  size: number;
}

export interface LocalProgram {
  models: Array<LocalModel>;
  reachable: boolean;
}

export interface MadeKey {
  base_url: string;
  /** Shown only here. */
  key: string;
}

export interface MemorySource {
  id: unknown;
  kind: "fact" | "insight";
  source: string;
  text: string;
  via: "prompt" | "tool";
}

export interface Message {
  approval: unknown;
  attachments: Array<string>;
  /** On the first message of a turn that has others beside it */
  branch?: Branch;
  cancelled?: boolean;
  checks: unknown;
  content: string;
  created_at: string;
  id: string;
  interjection: boolean;
  memory_sources: unknown;
  name: string | null;
  role: "user" | "assistant" | "tool" | "other" | "event";
  sources: unknown;
  thinking: string | null;
  tool_call_id: string | null;
  tool_calls: unknown;
  turn_id: string;
}

export interface MessageError {
  /** Echo of the message's client_id */
  client_id?: string;
  code?: string;
  message: string;
  recoverable: boolean;
  session_id?: string;
}

export interface ModelBuiltinDownloadInput {
  /** The offer's name; left out: the one that suits this computer */
  name?: string;
}

export type ModelBuiltinInput = Record<string, unknown>;

export interface ModelCatalogInput {
  provider: string;
}

export interface ModelInfo {
  label: string;
  license: string;
  license_url: string;
  name: string;
  size_bytes: number;
  weak: boolean;
}

export type ModelLocalInput = Record<string, unknown>;

export type ModelProvidersInput = Record<string, unknown>;

export interface ModelPullInput {
  /** A model of Ollama's library, such as qwen3:8b */
  name: string;
}

export interface ModelRolesInput {
  embedding?: string | null;
  executor?: string | null;
  fast?: string | null;
  planner?: string | null;
  primary?: string | null;
  vision?: string | null;
  voice?: string | null;
}

export interface ModelTestEmbeddingInput {
  /** provider/model; left out: the embedding role's */
  model?: string;
}

export interface ModelTestEmbeddingResult {
  /** How long its vectors are */
  dim?: number;
  /** A sentence for people */
  error?: string;
  ok: boolean;
}

export interface ModelTestInput {
  /** provider/model; left out: the role's */
  model?: string;
  /** Whose settings are used; left out: primary */
  role?: string;
}

export interface ModelTestResult {
  /** A sentence for people */
  error?: string;
  /** Until the whole short answer was there */
  latency_ms: number;
  ok: boolean;
  reply?: string;
  /** Left out when it could not be found out */
  supports_tools?: boolean;
}

export type Nothing = Record<string, unknown>;

export interface NoticeEvent {
  code: string;
  message: string;
  model?: string;
  session_id: string;
  turn_id: string;
  used?: string;
}

export interface Notification {
  created_at: string;
  id: string;
  kind: "info" | "task" | "approval" | "proactive" | "skill" | "error" | "brief" | "reminder" | "budget" | "backup";
  message: string;
  payload: Record<string, unknown>;
  read: boolean;
  task_id: string | null;
  title: string;
}

export type NotifyAllInput = Record<string, unknown>;

export interface NotifyCreateInput {
  /** The MCP app's own name. */
  app?: string;
  /** Markdown. */
  message?: string;
  /** Where it comes from; mcp for an MCP app. */
  source?: string;
  title?: string;
}

export interface NotifyIDInput {
  id: string;
}

export interface NotifyListInput {
  limit?: number;
  unread_only?: boolean;
}

export interface NotifyListResult {
  notifications: Array<Notification>;
  unread: number;
}

export interface NotifyOKResult {
  ok: boolean;
}

export interface OK {
  ok: boolean;
}

export interface Offer {
  label: string;
  license: string;
  license_url: string;
  memory_gb: number;
  name: string;
  size_bytes: number;
}

export interface OnboardingCompleteInput {
  assistant_name?: string;
  /** Sets up the Daily Brief with its defaults. */
  daily_brief?: boolean;
  location?: string;
  persona?: "friendly" | "professional" | "concise" | "custom";
  personal_context?: string;
  professional_context?: string;
  /** An IANA name such as Asia/Kolkata, or auto. */
  timezone?: string;
  user_name?: string;
}

export interface OnboardingOKResult {
  ok: boolean;
}

export interface PresenceInput {
  /** the window is focused and visible */
  active: boolean;
}

export interface Program {
  present: boolean;
}

export interface ProgressMessage {
  content?: string;
  is_error?: boolean;
  parameters?: unknown;
  result?: string;
  tool_name?: string;
  type: "info" | "thought" | "tool_call" | "tool_result" | "final_answer" | "error";
}

export interface ProgressUpdate {
  message: ProgressMessage;
  timestamp: string;
}

export interface Provider {
  /** The address that is set; null for the provider's own */
  api_base: string | null;
  docs_url: string;
  id: string;
  key_required: boolean;
  key_set: boolean;
  kind: "cloud" | "local";
  label: string;
  /** Connected by signing in, never by a pasted key */
  sign_in: boolean;
  /** Models to offer, as provider/model */
  suggested: Array<string>;
}

export interface PullProgress {
  /** bytes */
  completed?: number;
  status: string;
  /** bytes */
  total?: number;
}

export interface ReadyResult {
  /** Why none can answer and what to do, in a sentence */
  message: string;
  /** provider/model, empty when none can answer */
  model: string;
  ok: boolean;
}

export interface RestoreInput {
  /** name of one of safe_mode.snapshots */
  snapshot: string;
}

export interface Roles {
  /** Finds memories and notes by meaning. Empty: search by words only. */
  embedding: string | null;
  /** Carries tasks out and does helpers' work. Empty: the primary model. */
  executor: string | null;
  /** Small jobs in the background: titles, memories, checks. */
  fast: string | null;
  /** Plans tasks. Empty: the primary model. */
  planner: string | null;
  /** The main model: it answers chats. */
  primary: string;
  /** Looks at pictures. Empty: the primary model. */
  vision: string | null;
  /** Answers when you speak. Empty: the primary model. */
  voice: string | null;
}

export interface SafeMode {
  /** foreign, newer, damaged, missing, unreadable, readonly, full, busy, migration, or restored */
  reason: string;
  sentence: string;
  snapshots: Array<Snapshot>;
}

export interface SavedResult {
  config?: Record<string, unknown>;
  saved: boolean;
}

export interface SecretInput {
  name: string;
  value: string;
}

export interface SecretNameInput {
  name: string;
}

export interface Session {
  channel: string;
  created_at: string;
  id: string;
  incognito: boolean;
  memory_scope: string;
  model: string | null;
  node_id: string | null;
  title: string;
  untrusted: string | null;
  updated_at: string;
  /** null before its first turn */
  visited_hosts: Array<string> | null;
}

export interface SessionCreateInput {
  /** Nothing is learned from it, no search finds it, and it is deleted. */
  incognito?: boolean;
  /** personal, work or a project's name. */
  memory_scope?: string;
  /** provider/model; left out: the default. */
  model?: string;
}

export interface SessionCreateResult {
  session_id: string;
}

export interface SessionDeleteInput {
  id: string;
}

export interface SessionEvent {
  client_id?: string;
  session_id: string;
  turn_id: string;
}

export interface SessionFileInput {
  name: string;
}

export type SessionFilesInput = Record<string, unknown>;

export interface SessionForkInput {
  id: string;
  message_id: string;
}

export interface SessionListInput {
  limit?: number;
}

export interface SessionMessagesInput {
  id: string;
  limit?: number;
}

export interface SessionOKResult {
  ok: boolean;
}

export interface SessionSearchInput {
  limit?: number;
  q: string;
}

export interface SessionShowInput {
  id: string;
  turn_id: string;
}

export interface SessionShowResult {
  ok: boolean;
  turn_id: string;
}

export interface SessionUpdateInput {
  id: string;
  /** personal, work or a project's name; null or empty: the default. */
  memory_scope?: string | null;
  /** provider/model; null or empty: the default. */
  model?: string | null;
  title?: string | null;
}

export interface SessionUpdateResult {
  memory_scope?: string | null;
  model?: string | null;
  ok: boolean;
  title?: string | null;
}

export interface SessionUploadInput {
  /** The file's name; folders in it are dropped. */
  name: string;
  source?: "upload" | "screen" | "selection";
}

export interface SessionUploadResult {
  mime: string;
  name: string;
  size: number;
}

export interface Snapshot {
  at: string;
  name: string;
  /** bytes */
  size: number;
}

export interface Source {
  app: string;
  file?: string;
  folder?: string;
  from?: string;
  id?: string;
  kind: "web" | "email" | "file" | "app";
  path?: string;
  snippet?: string;
  title: string;
  tool: string;
  tools?: Array<string>;
  url?: string;
  via?: "prompt";
}

export interface Status {
  context_length: number;
  message: string;
  model: ModelInfo | null;
  offer: Offer | null;
  program: Program;
  state: string;
}

export interface SteerAck {
  client_id?: string;
  queued: boolean;
  session_id: string;
}

export interface StopState {
  source: string | null;
  stopped: boolean;
  stopped_at: string | null;
}

export interface Subagent {
  background: boolean;
  error: string | null;
  events?: Array<ProgressUpdate>;
  finished_at: string | null;
  goal: string;
  kind: "worker" | "reader";
  parent_call_id: string;
  session_id: string;
  started_at: string;
  status: "running" | "completed" | "error" | "cancelled";
  subagent_id: string;
  summary: string | null;
  tool_calls: number;
}

export interface TextDelta {
  message_id: string;
  offset: number;
  session_id: string;
  text: string;
  turn_id: string;
}

export interface ThinkingDelta {
  message_id: string;
  offset: number;
  session_id: string;
  text: string;
  turn_id: string;
}

export interface ToolCallEvent {
  arguments: unknown;
  call_id: string;
  name: string;
  session_id: string;
  turn_id: string;
}

export interface ToolProgressEvent {
  call_id: string;
  data?: Record<string, unknown>;
  /** a data URL */
  image?: string;
  kind: "stdout" | "stderr" | "status" | "frame" | "subagent";
  name: string;
  session_id: string;
  text?: string;
  turn_id: string;
}

export interface ToolResultEvent {
  call_id: string;
  check?: Check;
  duration_ms: number;
  is_error: boolean;
  name: string;
  result: unknown;
  session_id: string;
  turn_id: string;
}

export type ToolboxListInput = Record<string, unknown>;

export interface UI {
  /** The accent colour: a name of the design, or a colour such as #3b82f6. */
  accent: string;
  /** Start Sentient when you sign in to this computer. */
  launch_at_login: boolean;
  /** Closing the window keeps Sentient running in the tray. */
  minimize_to_tray: boolean;
  /** Dark, light, or as the system is. */
  theme: "dark" | "light" | "system";
}

export interface Updated {
  /** Another path of the chat is shown: that with this turn at its end */
  branch?: string | null;
  memory_scope?: string | null;
  model?: string | null;
  session_id: string;
  title?: string | null;
  untrusted?: string | null;
}

export interface UpdatedEvent {
  sections: Array<string>;
}

export interface UsageEvent {
  completion_tokens: number;
  context_length: number | null;
  context_percent: number | null;
  context_used: number | null;
  context_warning: string | null;
  model: string;
  prompt_tokens: number;
  session_id: string;
  turn_id: string;
}

export type V1MakeKeyInput = Record<string, unknown>;

export interface Which {
  id: string | null;
}

export interface WholeConfig {
  /** the settings, whole (PUT) or in part (PATCH) */
  config: Record<string, unknown>;
}

