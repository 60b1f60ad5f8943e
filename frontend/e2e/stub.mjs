// A small stand-in for the engine: serves the built page and the operations it uses, from memory. For developing and
// for taking pictures. Usage: node e2e/stub.mjs [--port 8787] [--fresh] [--dist FOLDER] (fresh: first-run setup is not done).
// POST /stub/<what> steers it: drop (cut all sockets), reset, refuse {status} (answers /api/* with that status).
import { randomUUID } from "node:crypto";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const arg = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : (process.argv[at + 1] ?? fallback);
};
const PORT = Number(arg("port", process.env.PORT ?? "8787"));
const FRESH = process.argv.includes("--fresh");
const DIST = arg("dist", fileURLToPath(new URL("../dist", import.meta.url)));
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PROPERTIES = {
  assistant: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, description: "What the assistant is called." },
      user_name: { type: "string", description: "What the assistant calls you." },
      timezone: {
        type: "string",
        description: "Your time zone, such as Asia/Kolkata. auto is the computer's own.",
      },
      location: { type: "string", description: "Your city, for weather and places. Empty: not said." },
      language: { type: "string", description: "The language quick commands are tried in first." },
      onboarding_complete: { type: "boolean", description: "First-run setup is done." },
    },
  },
  chat: {
    type: "object",
    properties: {
      history_window: {
        type: "integer",
        minimum: 2,
        maximum: 500,
        description: "How many of the newest messages of a chat a model reads.",
      },
      show_thinking: { type: "boolean", description: "Show what a model thinks before it answers." },
      auto_title: { type: "boolean", description: "Give new chats a title by themselves." },
    },
  },
  ui: {
    type: "object",
    properties: {
      theme: { enum: ["light", "dark", "system"], type: "string", description: "Theme." },
      accent: { type: "string", description: "Accent." },
    },
  },
  gateway: {
    type: "object",
    properties: {
      host: { type: "string", description: "Address." },
      port: { type: "integer", description: "Port." },
    },
  },
};

const MARKDOWN = `Here is a bit of everything, with **stress** and \`inline code\`.

## A table

| City | Distance | Price |
|:-----|---------:|------:|
| Lisbon | 1,240 km | $129 |
| Porto | 1,010 km | $99 |
| Faro | 1,390 km | $149 |

It costs $5 to $10, **$1.50** at best, in $HOME/$USER. And $x^2 + y^2 = r^2$ is a circle:

$$
\\int_0^1 x^2\\,dx = \\frac13
$$

\`\`\`go
// Greets somebody.
func greet(name string) string {
	return fmt.Sprintf("hello, %s", name)
}
\`\`\`

1. First, pack.
2. Then, [read the guide](https://example.org/guide).
   - with a map
   - and water

> Travel light.

<img src=x onerror=alert(1)> stays words, and ![a chart](https://tracker.example/p.png) is a link.
`;

const now = () => new Date().toISOString();
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

let boot = randomUUID();
let seq = 0;
let ring = [];
let sessions;
let rows;
let notifications;
let config;
let keys;
let files;
let builtin;
let refuse = 0;
const runs = new Map();
const acked = new Map();
const sockets = new Set();

function session(id, title, minutes, more = {}) {
  sessions.unshift({
    id,
    title,
    channel: "desktop",
    created_at: ago(minutes),
    updated_at: ago(minutes),
    untrusted: null,
    visited_hosts: null,
    incognito: false,
    model: null,
    memory_scope: "personal",
    node_id: null,
    ...more,
  });
  rows.set(id, []);
}

function row(id, role, content, more = {}) {
  const before = rows.get(id).at(-1);
  // A message of the person begins a turn, unless it was said into one.
  const turn_id = role === "user" && !more.interjection ? randomUUID() : (before?.turn_id ?? randomUUID());
  const r = {
    id: randomUUID(),
    turn_id,
    role,
    content,
    thinking: null,
    tool_calls: null,
    tool_call_id: null,
    name: null,
    attachments: [],
    interjection: false,
    memory_sources: [],
    sources: [],
    checks: [],
    approval: null,
    created_at: now(),
    ...more,
  };
  rows.get(id).push(r);
  return r;
}

function reset() {
  sessions = [];
  rows = new Map();
  keys = new Set();
  files = new Map();
  refuse = 0;
  builtin = "ready";
  config = {
    assistant: {
      name: "Sentient",
      user_name: FRESH ? "" : "Maya",
      timezone: "auto",
      location: "",
      language: "en",
      onboarding_complete: !FRESH,
    },
    models: {
      roles: {
        primary: "builtin/gemma3-270m",
        fast: "builtin/gemma3-270m",
        planner: null,
        executor: null,
        embedding: null,
        vision: null,
        voice: null,
      },
    },
    chat: { history_window: 30, show_thinking: true, auto_title: true },
    ui: { theme: "system", accent: "sentient", launch_at_login: false, minimize_to_tray: true },
    gateway: { host: "127.0.0.1", port: PORT },
  };
  notifications = [];
  if (FRESH) return;
  session("long", "The very long chat", 60 * 24 * 30);
  for (let i = 0; i < 2500; i++) {
    row("long", "user", `Question number ${i + 1}, about the ${["garden", "train", "soup", "book"][i % 4]}?`);
    row(
      "long",
      "assistant",
      `Answer number ${i + 1}. ${"It depends on the weather, and on what you had in mind. ".repeat(1 + (i % 5))}`,
    );
  }
  session("trip", "A weekend in Lisbon", 60 * 30);
  row("trip", "user", "What should I know before I go?", { created_at: ago(1801) });
  row("trip", "assistant", MARKDOWN, {
    thinking: "The person asks about a trip. A table helps.",
    created_at: ago(1800),
  });
  session("tools", "What is on my calendar", 60 * 3);
  row("tools", "user", "Anything on Tuesday?");
  row("tools", "assistant", "", {
    tool_calls: [
      { id: "c1", type: "function", function: { name: "calendar_list", arguments: "{}" } },
      { id: "c2", type: "function", function: { name: "memory_recall", arguments: "{}" } },
    ],
  });
  row("tools", "tool", "[]", { tool_call_id: "c1", name: "calendar_list" });
  row("tools", "tool", "[]", { tool_call_id: "c2", name: "memory_recall" });
  row("tools", "assistant", "Only one thing: **Design review** at 09:30, in Room 4. The rest of the day is free.");
  session("bread", "Sourdough, second attempt", 42);
  row("bread", "user", "My loaf is flat. Why?");
  row(
    "bread",
    "assistant",
    "Most often the dough rose too long or not long enough. Poke it: a dent that fills slowly means it is ready.",
  );
  const note = (kind, title, message, read, minutes) =>
    notifications.push({
      id: randomUUID(),
      kind,
      title,
      message,
      payload: {},
      task_id: null,
      read,
      created_at: ago(minutes),
    });
  note("reminder", "Water the basil", "You asked to be reminded on Mondays.", false, 4);
  note(
    "error",
    "The backup was not made",
    "The folder for backups is full. Free some space, or choose another folder in Settings.",
    false,
    180,
  );
  note(
    "brief",
    "Your Daily Brief for Monday",
    "**Calendar**\n- 09:30 Design review (Room 4)\n\n**Weather**\n- Sun, 24°",
    true,
    600,
  );
}
reset();

function publish(e) {
  const event = { ...e, seq: ++seq };
  ring.push(event);
  if (ring.length > 4096) ring = ring.slice(-4096);
  const text = JSON.stringify(event);
  for (const s of sockets) s.send(text);
  return event;
}
const tell = (type, data) => publish({ type, data, ts: now() });

function replyTo(text) {
  if (text.startsWith("/markdown")) return MARKDOWN;
  if (text.startsWith("/slow")) return "One thing after another, without any hurry at all. ".repeat(60);
  if (text.startsWith("/long")) return "A paragraph of some length that fills the page.\n\n".repeat(60);
  if (text.startsWith("/fail")) return "This begins well, but";
  return `You said: “${text}”. That is a good place to start. Tell me a little more, and we can work it out together.`;
}

const pause = (ms) => new Promise((r) => setTimeout(r, ms));
const GIST = { memory_sources: [], sources: [], checks: [] };

/** Tells a text in pieces, as the open message of a run. */
async function stream(run, base, kind, text, size, wait) {
  for (const piece of text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []) {
    if (run.cancelled) return;
    const offset = run[kind].length;
    run[kind] += piece;
    run.seq = publish({ type: `${kind}_delta`, ...base, message_id: run.message_id, offset, text: piece }).seq;
    await pause(wait);
  }
}

/** Ends the open message: the turn goes on. */
function fold(run, id, turn_id, more = {}) {
  const saved = row(id, "assistant", run.text, {
    id: run.message_id,
    turn_id,
    thinking: run.thinking || null,
    ...more,
  });
  Object.assign(run, { message_id: randomUUID(), text: "", thinking: "" });
  return saved;
}

async function callTool(run, base, id, n) {
  const call_id = `${run.turn_id}-${n}`;
  const call = { id: call_id, type: "function", function: { name: "web_search", arguments: '{"query":"tides"}' } };
  fold(run, id, run.turn_id, { tool_calls: [call] });
  publish({ type: "tool_call", ...base, call_id, name: "web_search", arguments: { query: "tides" } });
  publish({ type: "tool_progress", ...base, call_id, name: "web_search", kind: "status", text: "Asking two sites" });
  await pause(700);
  const result = { results: [{ title: "Tides of the Tagus", url: "https://example.com/tides" }] };
  row(id, "tool", JSON.stringify(result), { turn_id: run.turn_id, tool_call_id: call_id, name: "web_search" });
  publish({ type: "tool_result", ...base, call_id, name: "web_search", result, is_error: false, duration_ms: 700 });
}

function hear(run, base, id) {
  for (const s of run.steers.splice(0)) {
    const said = row(id, "user", s.text, { turn_id: run.turn_id, interjection: true });
    publish({ type: "user_interjection", ...base, message_id: said.id, text: s.text, client_id: s.client_id });
    run.heard = s.text;
  }
}

/** The message whose place another takes goes, and all after it. This stand-in keeps no other branch. */
function cut(id, message_id) {
  const list = rows.get(id);
  const at = list.findIndex((r) => r.id === message_id);
  const first = list.findIndex((r) => r.turn_id === list[at]?.turn_id);
  return first < 0 ? [] : list.splice(first);
}

async function turn(message) {
  const { text, client_id = randomUUID() } = message;
  if (acked.has(client_id)) return publish(acked.get(client_id));
  let id = message.session_id;
  const running = id && runs.get(id);
  if (running && !message.attachments?.length) {
    running.steers.push({ text, client_id });
    return publish({ type: "steer_ack", session_id: id, queued: true, client_id });
  }
  const isNew = !id;
  if (!id) {
    id = randomUUID();
    session(id, "", 0, { incognito: Boolean(message.incognito) });
  }
  if (message.replaces) cut(id, message.replaces);
  const mine = row(id, "user", text, { attachments: message.attachments ?? [] });
  const { turn_id } = mine;
  const base = { session_id: id, turn_id };
  const ack = { type: "session", ...base, client_id };
  acked.set(client_id, ack);
  publish(ack);
  const run = { turn_id, client_id, message_id: randomUUID(), text: "", thinking: "", cancelled: false, steers: [] };
  runs.set(id, run);
  if (text.startsWith("/think") || text.startsWith("/markdown"))
    await stream(run, base, "thinking", "The person wants something. Let me see what fits best here.", 6, 25);
  const calls = text.startsWith("/calls") ? 40 : text.startsWith("/think") ? 2 : 0;
  for (let n = 0; n < calls && !run.cancelled; n++) await callTool(run, base, id, n);
  const speed = text.startsWith("/slow") ? 20 : text.startsWith("/long") ? 10 : 8;
  await pause(250);
  await stream(run, base, "text", replyTo(text), 4, speed);
  while (run.steers.length > 0 && !run.cancelled) {
    fold(run, id, turn_id);
    hear(run, base, id);
    await stream(run, base, "text", replyTo(run.heard), 4, speed);
  }
  publish({
    type: "usage",
    ...base,
    model: "builtin/gemma3-270m",
    prompt_tokens: 900,
    completion_tokens: 100,
    context_used: text.startsWith("/full") ? 7200 : 1024,
    context_length: 8192,
    context_percent: text.startsWith("/full") ? 88 : 13,
    context_warning: text.startsWith("/full")
      ? "This chat is getting long for gemma3-270m (88% of what it reads at once). Start a new chat."
      : null,
  });
  runs.delete(id);
  if (text.startsWith("/fail")) {
    publish({
      type: "error",
      ...base,
      message: "The model stopped answering. Try again in a moment.",
      recoverable: false,
    });
    return publish({ type: "done", ...base, content: "", message_id: null, error: "model", ...GIST });
  }
  const content = run.text;
  const saved = fold(run, id, turn_id);
  const s = sessions.find((x) => x.id === id);
  if (s) s.updated_at = now();
  const done = { type: "done", ...base, content, message_id: saved.id, ...GIST };
  publish(run.cancelled ? { ...done, cancelled: true } : done);
  if (isNew && s) {
    s.title = text.slice(0, 40);
    tell("session.updated", { session_id: id, title: s.title });
  }
  return undefined;
}

function deepMerge(into, part) {
  for (const [k, v] of Object.entries(part)) {
    if (v && typeof v === "object" && !Array.isArray(v) && into[k] && typeof into[k] === "object")
      deepMerge(into[k], v);
    else into[k] = v;
  }
}

function refusedField(part) {
  const w = part?.chat?.history_window;
  if (w !== undefined && (w < 2 || w > 500))
    return { loc: ["chat", "history_window"], msg: "Choose a number from 2 to 500.", type: "range" };
  if (part?.assistant?.name === "")
    return { loc: ["assistant", "name"], msg: "A name has at least one letter.", type: "min_length" };
  return null;
}

const providers = () =>
  [
    {
      id: "anthropic",
      label: "Anthropic",
      kind: "cloud",
      key_required: true,
      docs_url: "https://console.anthropic.com/",
      suggested: ["anthropic/claude-sonnet-5", "anthropic/claude-haiku-4-5"],
    },
    {
      id: "openai",
      label: "OpenAI",
      kind: "cloud",
      key_required: true,
      docs_url: "https://platform.openai.com/api-keys",
      suggested: ["openai/gpt-5.2", "openai/gpt-5.2-mini"],
    },
    {
      id: "openrouter",
      label: "OpenRouter",
      kind: "cloud",
      key_required: true,
      docs_url: "https://openrouter.ai/keys",
      suggested: ["openrouter/auto"],
    },
    {
      id: "ollama",
      label: "Ollama",
      kind: "local",
      key_required: false,
      docs_url: "https://ollama.com",
      suggested: [],
    },
  ].map((p) => ({ ...p, key_set: keys.has(p.id), api_base: null, sign_in: false }));

const unread = () => notifications.filter((n) => !n.read).length;

const routes = {
  "GET /api/health": () => ({ ok: true, version: "3.0.0", name: "Sentient" }),
  "GET /api/bootstrap": () => ({
    version: "3.0.0",
    home: "/home/maya/.sentient",
    assistant: config.assistant,
    models: config.models.roles,
    memory_enabled: false,
    unread_notifications: unread(),
    ui: config.ui,
    features: {},
    stop: { stopped: false, stopped_at: null, source: null },
  }),
  "POST /api/onboarding": (_p, b) => {
    Object.assign(config.assistant, {
      user_name: b.user_name,
      name: b.assistant_name ?? "Sentient",
      onboarding_complete: true,
    });
    return { ok: true };
  },
  "GET /api/config": () => config,
  "GET /api/config/schema": () => ({ type: "object", properties: PROPERTIES }),
  "PATCH /api/config": (_p, b) => {
    const bad = refusedField(b);
    if (bad) return [422, { detail: [bad], code: "invalid", request_id: "stub" }];
    deepMerge(config, b);
    tell("config.updated", { sections: Object.keys(b) });
    return { saved: true, config };
  },
  "GET /api/sessions": () => sessions.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at)),
  "GET /api/sessions/search": (_p, _b, q) => {
    const words = (q.get("q") ?? "").toLowerCase();
    const hits = [];
    for (const [id, list] of rows) {
      for (const r of list) {
        const at = r.content.toLowerCase().indexOf(words);
        if (at >= 0 && hits.length < 20)
          hits.push({
            session_id: id,
            message_id: r.id,
            role: r.role,
            snippet: r.content.slice(Math.max(0, at - 30), at + 70),
            created_at: r.created_at,
          });
      }
    }
    return hits;
  },
  "PATCH /api/sessions/:id": ({ id }, b) => {
    const s = sessions.find((x) => x.id === id);
    if (!s) return [404, { detail: "This chat doesn't exist anymore.", code: "not_found" }];
    Object.assign(s, b);
    tell("session.updated", { session_id: id, ...b });
    return { ok: true, ...b };
  },
  "DELETE /api/sessions/:id": ({ id }) => {
    sessions = sessions.filter((x) => x.id !== id);
    rows.delete(id);
    tell("session.deleted", { session_id: id });
    return { ok: true };
  },
  "GET /api/sessions/:id/messages": ({ id }) =>
    rows.get(id) ?? [404, { detail: "This chat doesn't exist anymore.", code: "not_found" }],
  "GET /api/sessions/:id/live": ({ id }) => {
    const r = runs.get(id);
    return r
      ? {
          turn_id: r.turn_id,
          client_id: r.client_id,
          message_id: r.message_id,
          text: r.text,
          thinking: r.thinking,
          seq,
          steers: r.steers,
        }
      : { turn_id: null, client_id: "", message_id: "", text: "", thinking: "", seq, steers: [] };
  },
  "POST /api/sessions/:id/regenerate": ({ id }, b) => {
    const gone = cut(id, b.message_id);
    void turn({ session_id: id, text: gone[0]?.content ?? "", client_id: b.client_id });
    return { session_id: id, turn_id: rows.get(id).at(-1)?.turn_id ?? "" };
  },
  "POST /api/sessions/:id/fork": ({ id }) => {
    const made = randomUUID();
    session(made, sessions.find((x) => x.id === id)?.title ?? "", 0);
    rows.set(made, structuredClone(rows.get(id)));
    return { session_id: made };
  },
  "GET /api/sessions/:id/subagents": () => [],
  "GET /api/tools": () => [
    {
      id: "web",
      display_name: "Web",
      tools: ["web_search", "calendar_list", "memory_recall"].map((name) => ({ name, description: "", risk: "read" })),
    },
  ],
  "GET /api/notifications": () => ({ notifications, unread: unread() }),
  "POST /api/notifications/read-all": () => {
    for (const n of notifications) n.read = true;
    tell("notification.read", { id: null });
    return { ok: true };
  },
  "POST /api/notifications/:id/read": ({ id }) => {
    for (const n of notifications) if (n.id === id) n.read = true;
    tell("notification.read", { id });
    return { ok: true };
  },
  "DELETE /api/notifications/:id": ({ id }) => {
    notifications = notifications.filter((n) => n.id !== id);
    tell("notification.deleted", { id });
    return { ok: true };
  },
  "DELETE /api/notifications": () => {
    notifications = [];
    tell("notification.deleted", { id: null });
    return { ok: true };
  },
  "PUT /api/secrets/:name": ({ name }) => {
    keys.add(name);
    return { ok: true };
  },
  "DELETE /api/secrets/:name": ({ name }) => {
    keys.delete(name);
    return { ok: true };
  },
  "GET /api/models/providers": providers,
  "GET /api/models/local": () => ({
    ollama: {
      reachable: true,
      models: [
        {
          name: "qwen3:8b",
          size: 5.2e9,
          family: "qwen3",
          parameter_size: "8.2B",
          is_embedding: false,
          capabilities: ["completion", "tools"],
        },
      ],
    },
    lm_studio: { reachable: false, models: [] },
  }),
  "GET /api/models/ready": () => ({ ok: true, model: config.models.roles.primary, message: "" }),
  "POST /api/models/test": async (_p, b) => {
    await new Promise((r) => setTimeout(r, 500));
    if (b.model.startsWith("openai/"))
      return { ok: false, latency_ms: 300, error: "OpenAI rejected the key. Check it and paste it again." };
    return { ok: true, latency_ms: 740, reply: "Hello.", supports_tools: !b.model.startsWith("builtin/") };
  },
  "PUT /api/models/roles": (_p, b) => {
    Object.assign(config.models.roles, b);
    tell("config.updated", { sections: ["models"] });
    return config.models.roles;
  },
  "GET /api/models/builtin": () => ({
    state: builtin,
    model: {
      name: "gemma3-270m",
      label: "Gemma 3 270M",
      size_bytes: 253e6,
      license: "Gemma terms",
      license_url: "https://ai.google.dev/gemma/terms",
      weak: true,
    },
    offer: {
      name: "qwen3-4b",
      label: "Qwen3 4B",
      size_bytes: 2.5e9,
      license: "Apache-2.0",
      license_url: "https://www.apache.org/licenses/LICENSE-2.0",
      memory_gb: 6,
    },
    program: { present: true },
    message: "",
  }),
};

function find(verb, path) {
  const exact = routes[`${verb} ${path}`];
  if (exact) return [exact, {}];
  for (const [key, fn] of Object.entries(routes)) {
    const [v, pattern] = key.split(" ");
    if (v !== verb) continue;
    const names = [];
    const named = pattern.replace(/:(\w+)/g, (_, n) => {
      names.push(n);
      return "([^/]+)";
    });
    const re = new RegExp(`^${named}$`);
    const m = re.exec(path);
    if (m) return [fn, Object.fromEntries(names.map((n, i) => [n, decodeURIComponent(m[i + 1])]))];
  }
  return null;
}

async function read(req) {
  const parts = [];
  for await (const p of req) parts.push(p);
  return Buffer.concat(parts);
}

function json(res, status, body) {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}

function serveFile(res, path) {
  const file = normalize(join(DIST, path === "/" ? "index.html" : path));
  if (!file.startsWith(DIST) || !existsSync(file) || !statSync(file).isFile())
    return json(res, 404, { detail: "Not found." });
  res.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-security-policy": CSP,
  });
  createReadStream(file).pipe(res);
  return undefined;
}

async function pull(res, steps) {
  res.writeHead(200, { "content-type": "application/x-ndjson" });
  for (let i = 0; i <= steps && !res.closed; i++) {
    res.write(
      `${JSON.stringify({ status: i < steps ? "downloading" : "success", completed: i * 1e8, total: steps * 1e8 })}\n`,
    );
    await new Promise((r) => setTimeout(r, 60));
  }
  res.end();
}

async function steer(res, what, body) {
  if (what === "drop") for (const s of sockets) s.terminate();
  if (what === "restart") {
    boot = randomUUID();
    seq = 0;
    ring = [];
    for (const s of sockets) s.terminate();
  }
  if (what === "reset") reset();
  if (what === "refuse") refuse = body.status ?? 0;
  if (what === "notify") {
    const n = {
      id: randomUUID(),
      kind: "info",
      title: body.title ?? "News",
      message: "",
      payload: {},
      task_id: null,
      read: false,
      created_at: now(),
    };
    notifications.unshift(n);
    tell("notification.new", n);
  }
  json(res, 200, { ok: true });
}

const server = createServer(async (req, res) => {
  const url = new URL(req.url, "http://stub");
  const body = req.method === "GET" ? Buffer.alloc(0) : await read(req);
  const type = req.headers["content-type"] ?? "";
  const data = type.includes("json") && body.length ? JSON.parse(body) : {};
  if (url.pathname.startsWith("/stub/")) return steer(res, url.pathname.slice(6), data);
  if (!url.pathname.startsWith("/api/")) return serveFile(res, url.pathname);
  if (refuse) return json(res, refuse, { detail: "The engine is not ready.", code: "unavailable" });
  if (url.pathname === "/api/models/ollama/pull" || url.pathname === "/api/models/builtin/download")
    return pull(res, 25);
  if (url.pathname === "/api/files" && req.method === "POST") {
    const name = /filename="([^"]*)"/.exec(body.toString("latin1"))?.[1] ?? "file";
    files.set(name, body);
    return json(res, 200, { name, size: body.length, mime: "application/octet-stream" });
  }
  const found = find(req.method, url.pathname);
  if (!found) return json(res, 404, { detail: "There is no such operation.", code: "not_found" });
  const answer = await found[0](found[1], data, url.searchParams);
  return Array.isArray(answer) && typeof answer[0] === "number"
    ? json(res, answer[0], answer[1])
    : json(res, 200, answer);
});

const wss = new WebSocketServer({ server, path: "/ws" });
wss.on("connection", (ws, req) => {
  const since = new URL(req.url, "http://stub").searchParams.get("since");
  ws.send(JSON.stringify({ type: "hello", version: "3.0.0", assistant: "Sentient", boot, seq }));
  if (since) {
    const [b, n] = since.split(/\.(?=\d+$)/);
    if (b === boot && (ring.length === 0 || ring[0].seq <= Number(n) + 1)) {
      for (const e of ring) if (e.seq > Number(n)) ws.send(JSON.stringify(e));
    } else ws.send(JSON.stringify({ type: "gap", seq }));
  }
  sockets.add(ws);
  ws.on("close", () => sockets.delete(ws));
  ws.on("message", (m) => {
    const message = JSON.parse(m.toString());
    if (message.type === "chat.send" || message.type === "chat.steer") turn(message);
    if (message.type === "chat.cancel") {
      const r = runs.get(message.session_id);
      if (r) r.cancelled = true;
    }
  });
});

server.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
