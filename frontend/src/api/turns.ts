import { newId } from "@/lib/ids";
import type { ClientMessage, LiveEvent, Message, SessionLive } from "./shapes";

/** A stretch of a reply, in the order it was written. */
export type Segment =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "tool"; callId: string; name: string; state: "running" | "done" | "failed" };

export type TurnState = "sending" | "running" | "done" | "stopped" | "failed";

/** A turn that is not, or not yet, in the stored messages. Objects are replaced, never changed. */
export interface Turn {
  readonly key: string;
  readonly clientId: string | null;
  readonly turnId: string | null;
  readonly state: TurnState;
  /** What was sent from this window; null for a turn that was joined while it ran. */
  readonly user: { text: string; attachments: string[]; afterId: string | null } | null;
  readonly segments: readonly Segment[];
  readonly notice: string | null;
  readonly error: string | null;
  readonly messageId: string | null;
}

export interface Usage {
  percent: number | null;
  used: number | null;
  length: number | null;
  warning: string | null;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly usage: Usage | null;
}

export interface SendInput {
  sessionId: string | null;
  text: string;
  attachments: string[];
  /** The newest stored message the window shows, so that the sent text is not shown twice once it is stored. */
  afterId: string | null;
}

export type Phase = "start" | "done" | "stopped" | "failed";

/** What the store needs of the world. */
export interface TurnsWorld {
  send(m: ClientMessage): boolean;
  fetchLive(sessionId: string): Promise<SessionLive>;
  /** Stored messages of this chat changed: fetch them again. Resolves when they are there. */
  refresh(sessionId: string): Promise<void>;
  /** Called once for each start and each end of a turn. */
  phase(sessionId: string, phase: Phase, turn: Turn): void;
  /** A new chat got its id. */
  born(newKey: string, sessionId: string): void;
  /** Runs `flush` soon, at most once a frame. */
  schedule(flush: () => void): void;
}

type ChatEvent = Extract<LiveEvent, { session_id: string; turn_id: string; seq: number }>;

interface Conv {
  turns: Turn[];
  usage: Usage | null;
  /** While the running turn is being fetched, events wait here; null otherwise. */
  waiting: ChatEvent[] | null;
  sync: number;
  /** Events were missed since the running turn was last asked for: its end may be among them. */
  missed: boolean;
  /** The turns whose end was seen here: the engine names one again when its message is sent again. */
  over: Set<string>;
  view: Conversation;
}

const EMPTY: Conversation = { turns: [], usage: null };

function isChat(e: LiveEvent): e is ChatEvent {
  return "turn_id" in e && "session_id" in e;
}

/** How much of that kind a turn has, in the units of the deltas' offsets (UTF-16, as strings here are counted). */
function have(t: Turn, kind: "text" | "thinking"): number {
  return t.segments.reduce((n, s) => (s.kind === kind ? n + s.text.length : n), 0);
}

/** Appends what lies beyond the text there is: pieces may come twice, or joined with ones that were fetched. */
function append(t: Turn, kind: "text" | "thinking", e: { text: string; offset?: number }): Turn {
  const known = have(t, kind);
  const text = e.text.slice(Math.max(0, known - (e.offset ?? known)));
  if (text === "") return t;
  const last = t.segments.at(-1);
  if (last?.kind === kind) return { ...t, segments: [...t.segments.slice(0, -1), { kind, text: last.text + text }] };
  return { ...t, segments: [...t.segments, { kind, text }] };
}

/** Whether a piece begins after the end of the text there is: something between was missed. */
function skips(t: Turn, e: ChatEvent): boolean {
  if (e.type === "text_delta") return e.offset > have(t, "text");
  if (e.type === "thinking_delta") return e.offset > have(t, "thinking");
  return false;
}

/**
 * The turns that run now or were not stored yet, by chat. It joins three sources into one text without a gap or a
 * double: what this window saw from the start, what it is told in pieces, and the engine's own record of a turn that
 * was already running. Stored messages live in the query cache; a turn leaves here once they hold it.
 */
export class Turns {
  #world: TurnsWorld;
  #convs = new Map<string, Conv>();
  #listeners = new Map<string, Set<() => void>>();
  #dirty = new Set<string>();
  #outbox = new Map<string, ClientMessage & { type: "chat.send" }>();

  constructor(world: TurnsWorld) {
    this.#world = world;
  }

  /** The key under which a chat that has no id yet is shown. */
  static newKey(clientId: string): string {
    return `new:${clientId}`;
  }

  view(key: string): Conversation {
    return this.#convs.get(key)?.view ?? EMPTY;
  }

  subscribe(key: string, fn: () => void): () => void {
    const set = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, set);
    set.add(fn);
    return () => set.delete(fn);
  }

  /** Sends a message; gives the key of the chat it is shown in. */
  send(input: SendInput): { key: string; clientId: string } {
    const clientId = newId();
    const key = input.sessionId ?? Turns.newKey(clientId);
    const conv = this.#conv(key);
    // What failed before is answered by what is sent now.
    conv.turns = conv.turns.filter((t) => t.state === "sending" || t.state === "running");
    conv.turns.push({
      key: clientId,
      clientId,
      turnId: null,
      state: "sending",
      user: { text: input.text, attachments: input.attachments, afterId: input.afterId },
      segments: [],
      notice: null,
      error: null,
      messageId: null,
    });
    const message: ClientMessage & { type: "chat.send" } = {
      type: "chat.send",
      text: input.text,
      client_id: clientId,
    };
    if (input.sessionId) message.session_id = input.sessionId;
    if (input.attachments.length) message.attachments = input.attachments;
    this.#outbox.set(clientId, message);
    this.#world.send(message);
    this.#touch(key, true);
    return { key, clientId };
  }

  cancel(sessionId: string): void {
    this.#world.send({ type: "chat.cancel", session_id: sessionId });
  }

  /** The channel stands again: what was never acknowledged is sent again; the engine counts it once. */
  resend(): void {
    for (const m of this.#outbox.values()) this.#world.send(m);
  }

  /** Events were missed: every chat that had a running turn asks for it anew. */
  gap(): void {
    for (const [key, conv] of this.#convs) {
      if (!conv.turns.some((t) => t.state === "running")) continue;
      conv.missed = true;
      void this.resync(key).then(() => this.#world.refresh(key));
    }
  }

  /** Forgets what the stored messages now hold. */
  stored(sessionId: string, rows: readonly Message[]): void {
    const conv = this.#convs.get(sessionId);
    if (!conv) return;
    const ids = new Set(rows.map((r) => r.id));
    const left = conv.turns.filter((t) => !(t.messageId && ids.has(t.messageId)));
    if (left.length === conv.turns.length) return;
    conv.turns = left;
    this.#touch(sessionId, true);
  }

  forget(sessionId: string): void {
    this.#convs.delete(sessionId);
    this.#touch(sessionId, true);
  }

  /** Fetches the turn that runs now in this chat, if any, and carries on from exactly there. */
  async resync(sessionId: string): Promise<void> {
    const conv = this.#conv(sessionId);
    conv.waiting ??= [];
    const mine = ++conv.sync;
    let snapshot: SessionLive | null = null;
    try {
      snapshot = await this.#world.fetchLive(sessionId);
    } catch {
      // An engine that cannot tell has no running turn to show; what comes over the channel is still shown.
    }
    if (conv.sync !== mine) return;
    const waiting = conv.waiting ?? [];
    conv.waiting = null;
    if (snapshot) this.#adopt(sessionId, conv, snapshot);
    const from = snapshot?.turn_id ? (snapshot.seq ?? 0) : 0;
    for (const e of waiting) {
      // What the record holds of the running turn is not told again; the end of an earlier one is not in it.
      if (e.seq <= from && !conv.turns.some((t) => t.turnId === e.turn_id && t.turnId !== snapshot?.turn_id)) continue;
      this.#apply(sessionId, conv, e, true);
    }
    this.#touch(sessionId, true);
  }

  event(e: LiveEvent): void {
    if (e.type === "error" && !("turn_id" in e)) {
      this.#refused(e.client_id, e.message);
      return;
    }
    if (!isChat(e)) return;
    const key = e.type === "session" ? this.#place(e.session_id, e.client_id ?? null) : e.session_id;
    const conv = this.#convs.get(key);
    if (!conv) return;
    if (e.type === "session" && conv.over.has(e.turn_id)) {
      if (e.client_id) this.#outbox.delete(e.client_id);
      return;
    }
    if (conv.waiting) {
      conv.waiting.push(e);
      return;
    }
    this.#apply(key, conv, e, false);
  }

  /** A message that was turned down before any turn began. */
  #refused(clientId: string | undefined, message: string): void {
    if (!clientId) return;
    this.#outbox.delete(clientId);
    for (const [key, conv] of this.#convs) {
      const at = conv.turns.findIndex((t) => t.clientId === clientId);
      const turn = conv.turns[at];
      if (!turn) continue;
      const failed: Turn = { ...turn, state: "failed", error: message };
      conv.turns[at] = failed;
      this.#touch(key, true);
      this.#world.phase(key, "failed", failed);
    }
  }

  /** Moves a new chat to the id it got. Gives the key under which the chat is kept. */
  #place(sessionId: string, clientId: string | null): string {
    if (!clientId) return sessionId;
    const temp = Turns.newKey(clientId);
    const conv = this.#convs.get(temp);
    if (!conv) return sessionId;
    this.#convs.delete(temp);
    this.#convs.set(sessionId, conv);
    this.#world.born(temp, sessionId);
    this.#touch(temp, true);
    return sessionId;
  }

  /** Takes over the engine's record of the running turn. */
  #adopt(sessionId: string, conv: Conv, s: SessionLive): void {
    // A turn that this window thought running and that is over: its end is in the stored messages.
    // Only after a gap: otherwise its end is on its way, and a reply that failed is stored nowhere.
    const over = conv.missed ? conv.turns.filter((t) => t.state === "running" && t.turnId !== s.turn_id) : [];
    conv.missed = false;
    if (over.length) conv.turns = conv.turns.filter((t) => !over.includes(t));
    if (!s.turn_id) return;
    const segments: Segment[] = [];
    if (s.thinking) segments.push({ kind: "thinking", text: s.thinking });
    if (s.text) segments.push({ kind: "text", text: s.text });
    const at = conv.turns.findIndex((t) => t.turnId === s.turn_id || (s.client_id && t.clientId === s.client_id));
    const known = conv.turns[at];
    const turn: Turn = {
      ...(known ?? joined(s.turn_id, s.client_id ?? null)),
      turnId: s.turn_id,
      state: "running",
      segments,
    };
    if (turn.clientId) this.#outbox.delete(turn.clientId);
    if (known) conv.turns[at] = turn;
    else conv.turns.push(turn);
    if (known?.state !== "running") this.#world.phase(sessionId, "start", turn);
  }

  #apply(key: string, conv: Conv, e: ChatEvent, afterSync: boolean): void {
    if (e.type === "done") conv.over.add(e.turn_id);
    let at = conv.turns.findIndex((t) => t.turnId !== null && t.turnId === e.turn_id);
    if (at < 0 && e.type === "session") at = this.#begin(key, conv, e);
    if (at < 0) at = conv.turns.findIndex((t) => t.turnId === null && t.state !== "sending" && t.state !== "failed");
    if (at < 0) {
      if (e.type === "done") void this.#world.refresh(key);
      // A turn whose start this window did not see. After a fetch that named none it is already over.
      else if (!afterSync && e.type !== "session") this.#wait(key, conv, e);
      return;
    }
    const before = conv.turns[at];
    if (!before) return;
    if (!afterSync && skips(before, e)) {
      this.#wait(key, conv, e);
      return;
    }
    const next = step(before.turnId ? before : { ...before, turnId: e.turn_id ?? null }, e);
    if (e.type === "usage") conv.usage = usageOf(e);
    conv.turns[at] = next;
    this.#touch(key, e.type === "done" || e.type === "session");
    this.#phases(key, before, next);
    if (e.type === "done") void this.#world.refresh(key);
  }

  #wait(key: string, conv: Conv, e: ChatEvent): void {
    conv.waiting = [e];
    void this.resync(key).then(() => this.#world.refresh(key));
  }

  #begin(key: string, conv: Conv, e: Extract<ChatEvent, { type: "session" }>): number {
    if (e.client_id) this.#outbox.delete(e.client_id);
    const mine = conv.turns.findIndex((t) => t.clientId !== null && t.clientId === e.client_id);
    if (mine >= 0) return mine;
    conv.turns.push({ ...joined(e.turn_id, e.client_id ?? null), state: "sending" });
    // Another window sent it: its text is in the stored messages. It may have been sent again and be over long since.
    conv.missed = true;
    void this.resync(key).then(() => this.#world.refresh(key));
    return conv.turns.length - 1;
  }

  #phases(key: string, before: Turn, next: Turn): void {
    if (before.state === next.state) return;
    if (next.state === "running") this.#world.phase(key, "start", next);
    else if (next.state !== "sending") this.#world.phase(key, next.state, next);
  }

  #conv(key: string): Conv {
    let c = this.#convs.get(key);
    if (!c) {
      c = { turns: [], usage: null, waiting: null, sync: 0, missed: false, over: new Set(), view: EMPTY };
      this.#convs.set(key, c);
    }
    return c;
  }

  #touch(key: string, now: boolean): void {
    const idle = this.#dirty.size === 0;
    this.#dirty.add(key);
    if (now) this.#flush();
    else if (idle) this.#world.schedule(() => this.#flush());
  }

  #flush(): void {
    const keys = [...this.#dirty];
    this.#dirty.clear();
    for (const key of keys) {
      const conv = this.#convs.get(key);
      if (conv) conv.view = { turns: [...conv.turns], usage: conv.usage };
      for (const fn of this.#listeners.get(key) ?? []) fn();
    }
  }
}

function joined(turnId: string | null, clientId: string | null): Turn {
  return {
    key: turnId ?? clientId ?? newId(),
    clientId,
    turnId,
    state: "running",
    user: null,
    segments: [],
    notice: null,
    error: null,
    messageId: null,
  };
}

function usageOf(e: Extract<ChatEvent, { type: "usage" }>): Usage {
  return {
    percent: e.context_percent,
    used: e.context_used,
    length: e.context_length,
    warning: e.context_warning,
  };
}

/** The turn after one event. */
function step(t: Turn, e: ChatEvent): Turn {
  switch (e.type) {
    case "session":
      return { ...t, state: "running" };
    case "text_delta":
      return append(t, "text", e);
    case "thinking_delta":
      return append(t, "thinking", e);
    case "notice":
      return { ...t, notice: e.message };
    case "error":
      // A recoverable one is only a note: the turn goes on.
      return e.recoverable ? { ...t, notice: e.message } : { ...t, error: e.message, state: "failed" };
    case "done":
      return finish(t, e);
    default:
      return tool(t, e);
  }
}

/** The events of a call, as the contract has them (section 1); an engine without tools sends none. */
interface ToolEvent {
  type: string;
  call_id?: string;
  name?: string;
  is_error?: boolean;
}

function tool(t: Turn, e: ToolEvent): Turn {
  const { call_id: callId = "", name = "" } = e;
  if (e.type === "tool_call")
    return { ...t, segments: [...t.segments, { kind: "tool", callId, name, state: "running" }] };
  if (e.type !== "tool_result") return t;
  const state = e.is_error ? "failed" : "done";
  return {
    ...t,
    segments: t.segments.map((s) => (s.kind === "tool" && s.callId === callId ? { ...s, state } : s)),
  };
}

function finish(t: Turn, e: Extract<ChatEvent, { type: "done" }>): Turn {
  if (e.error || t.state === "failed")
    return { ...t, state: "failed", error: t.error ?? e.error ?? "", messageId: null };
  const segments = e.content ? whole(t.segments, e.content) : t.segments;
  return { ...t, state: e.cancelled ? "stopped" : "done", segments, messageId: e.message_id };
}

/** The final text counts, whatever pieces came before it. */
function whole(segments: readonly Segment[], content: string): readonly Segment[] {
  const at = segments.findLastIndex((s) => s.kind === "text");
  const last = segments[at];
  if (last?.kind !== "text") return [...segments, { kind: "text", text: content }];
  if (last.text === content) return segments;
  return segments.map((s, i) => (i === at ? { kind: "text", text: content } : s));
}
