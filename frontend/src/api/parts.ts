import type { Check, LiveEvent, MemorySource, Source } from "./shapes";

/** So many characters of a result or of its output are kept for the eye; a person reads no more, and a page draws no more. */
export const SHOWN = 20_000;

/** A text made for looking at: the first characters of something that may be far longer. */
export interface Shown {
  readonly text: string;
  /** How long the whole is; more than `text` has when it was cut. */
  readonly total: number;
}

export type CallState = "running" | "done" | "failed" | "unended";

/** A tool call as far as this window knows it. Objects are replaced, never changed. */
export interface Call {
  readonly callId: string;
  readonly name: string;
  /** null while only its progress or its end was heard of. */
  readonly args: Shown | null;
  readonly state: CallState;
  /** What it says it is doing. */
  readonly status: string | null;
  /** The newest of what it printed. */
  readonly output: string;
  /** A picture of what it sees, as a data URL. */
  readonly image: string | null;
  readonly result: Shown | null;
  readonly durationMs: number | null;
  readonly check: Check | null;
}

/** A piece of a reply, in the order of the reply. A message's thinking is read before its text. */
export type Part =
  | { readonly kind: "message"; readonly id: string; readonly thinking: string; readonly text: string }
  | { readonly kind: "call"; readonly call: Call }
  | { readonly kind: "said"; readonly id: string; readonly clientId: string | null; readonly text: string };

type EventOf<T extends LiveEvent["type"]> = Extract<LiveEvent, { type: T }>;
type Delta = EventOf<"text_delta"> | EventOf<"thinking_delta">;

/** JSON as people read it, text as it is; cut where nobody reads on. */
export function shown(value: unknown): Shown {
  const text = typeof value === "string" ? value : (safeJSON(value) ?? "");
  return text.length > SHOWN ? { text: text.slice(0, SHOWN), total: text.length } : { text, total: text.length };
}

function safeJSON(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return undefined;
  }
}

/** What a stored row holds of a result: JSON in one line is laid out, everything else is text. */
export function shownText(content: string): Shown {
  if (!/^\s*[[{]/.test(content)) return shown(content);
  try {
    return shown(JSON.parse(content) as unknown);
  } catch {
    return shown(content);
  }
}

export function newCall(callId: string, name: string, more: Partial<Call> = {}): Call {
  return {
    callId,
    name,
    args: null,
    state: "running",
    status: null,
    output: "",
    image: null,
    result: null,
    durationMs: null,
    check: null,
    ...more,
  };
}

/** How much a message has of that kind, in the units of the deltas' offsets (UTF-16, as strings here are counted). */
export function have(parts: readonly Part[], e: Delta): number {
  const p = parts.findLast((x) => x.kind === "message" && x.id === e.message_id);
  if (p?.kind !== "message") return 0;
  return e.type === "text_delta" ? p.text.length : p.thinking.length;
}

/** Appends what lies beyond the text there is: pieces may come twice, or joined with ones that were fetched. */
export function addDelta(parts: readonly Part[], e: Delta): readonly Part[] {
  const text = e.text.slice(Math.max(0, have(parts, e) - e.offset));
  if (text === "") return parts;
  const at = parts.findLastIndex((x) => x.kind === "message" && x.id === e.message_id);
  const old = parts[at];
  const p = old?.kind === "message" ? old : { kind: "message" as const, id: e.message_id, thinking: "", text: "" };
  const next: Part = e.type === "text_delta" ? { ...p, text: p.text + text } : { ...p, thinking: p.thinking + text };
  return old ? replaced(parts, at, next) : [...parts, next];
}

/** Puts the engine's own record of the open message in the place of what was pieced together of it. */
export function setMessage(parts: readonly Part[], id: string, thinking: string, text: string): readonly Part[] {
  if (id === "" || (thinking === "" && text === "")) return parts;
  const next: Part = { kind: "message", id, thinking, text };
  const at = parts.findIndex((x) => x.kind === "message" && x.id === id);
  return at < 0 ? [...parts, next] : replaced(parts, at, next);
}

/** The final text counts, whatever pieces came before it. */
export function setFinal(parts: readonly Part[], id: string | null, content: string): readonly Part[] {
  if (content === "") return parts;
  const at = parts.findLastIndex((x) => x.kind === "message" && (id === null || x.id === id));
  const p = parts[at];
  if (p?.kind !== "message") return [...parts, { kind: "message", id: id ?? "", thinking: "", text: content }];
  return p.text === content ? parts : replaced(parts, at, { ...p, text: content });
}

function replaced(parts: readonly Part[], at: number, next: Part): readonly Part[] {
  const copy = [...parts];
  copy[at] = next;
  return copy;
}

function changeCall(parts: readonly Part[], id: string, name: string, change: (c: Call) => Call): readonly Part[] {
  const at = parts.findIndex((x) => x.kind === "call" && x.call.callId === id);
  const p = parts[at];
  const next: Part = { kind: "call", call: change(p?.kind === "call" ? p.call : newCall(id, name)) };
  return p ? replaced(parts, at, next) : [...parts, next];
}

export function beginCall(parts: readonly Part[], e: EventOf<"tool_call">): readonly Part[] {
  return changeCall(parts, e.call_id, e.name, (c) => (c.args ? c : { ...c, args: shown(e.arguments) }));
}

const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,/;

export function progressCall(parts: readonly Part[], e: EventOf<"tool_progress">): readonly Part[] {
  return changeCall(parts, e.call_id, e.name, (c) => {
    if (c.state !== "running") return c;
    const text = e.text ?? "";
    if (e.kind === "stdout" || e.kind === "stderr") return { ...c, output: (c.output + text).slice(-SHOWN) };
    const said = e.data?.message;
    const status = text || (typeof said === "string" ? said : "") || c.status;
    const image = e.image && PICTURE.test(e.image) ? e.image : c.image;
    return { ...c, status: status?.slice(0, 300) ?? null, image };
  });
}

export function endCall(parts: readonly Part[], e: EventOf<"tool_result">): readonly Part[] {
  return changeCall(parts, e.call_id, e.name, (c) => ({
    ...c,
    state: e.is_error ? "failed" : "done",
    status: null,
    result: shown(e.result),
    durationMs: e.duration_ms,
    check: e.check ?? null,
  }));
}

/** What was said into the reply stands where the model read it. */
export function addSaid(parts: readonly Part[], e: EventOf<"user_interjection">): readonly Part[] {
  if (parts.some((x) => x.kind === "said" && x.id === e.message_id)) return parts;
  return [...parts, { kind: "said", id: e.message_id, clientId: e.client_id ?? null, text: e.text }];
}

/** A turn that is over has no running calls: what did not end by then never will. */
export function settled(parts: readonly Part[]): readonly Part[] {
  if (!parts.some((p) => p.kind === "call" && p.call.state === "running")) return parts;
  return parts.map((p) =>
    p.kind === "call" && p.call.state === "running" ? { kind: "call", call: { ...p.call, state: "unended" } } : p,
  );
}

/** What a whole reply used, really did and had in mind. */
export interface Gist {
  readonly sources: readonly Source[];
  readonly memories: readonly MemorySource[];
  readonly checks: readonly Check[];
}

export const NO_GIST: Gist = { sources: [], memories: [], checks: [] };
