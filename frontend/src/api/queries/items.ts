import { type Call, type Gist, NO_GIST, newCall, type Part, shownText } from "../parts";
import type { Branch, Check, MemorySource, Message, Source, ToolCall } from "../shapes";
import type { Conversation, Turn } from "../turns";

/** Why a stored reply is not whole: the person stopped it, or Sentient ended while it was written. */
export type Cut = "stopped" | "interrupted";

export interface UserItem {
  readonly kind: "user";
  readonly key: string;
  /** null until it is stored. */
  readonly id: string | null;
  readonly turnId: string | null;
  readonly text: string;
  readonly attachments: readonly string[];
  readonly at: string | null;
  /** sending: the engine has not said that it has it. queued: it waits for the reply that is being written. */
  readonly state: "stored" | "sending" | "queued";
  /** Said into a reply: part of that reply's turn, and of no branch of its own. */
  readonly interjection: boolean;
  readonly branch: Branch | null;
}

export interface ReplyItem {
  readonly kind: "reply";
  readonly key: string;
  /** A stored message of it; null while there is none. */
  readonly id: string | null;
  readonly turnId: string | null;
  readonly parts: readonly Part[];
  readonly at: string | null;
  /** The turn where it is not stored yet, or did not end well. */
  readonly turn: Turn | null;
  readonly ended: Cut | null;
  /** The last piece of its turn: how the turn ended stands under it. */
  readonly final: boolean;
  readonly gist: Gist;
  /** The person's message that it answers. */
  readonly user: UserItem | null;
}

export interface OtherItem {
  readonly kind: "other";
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly at: string;
}

export interface EventItem {
  readonly kind: "event";
  readonly key: string;
  readonly id: string;
  readonly turnId: string;
  readonly name: string;
  readonly at: string;
  readonly branch: Branch | null;
  /** The person's message that it is about. */
  readonly user: UserItem | null;
}

/** What the chat shows, from top to bottom. Objects keep their identity while nothing in them changes. */
export type ChatItem = UserItem | ReplyItem | OtherItem | EventItem;

/** The rows of one turn, which stand together, and their items. */
interface Group {
  readonly turnId: string;
  readonly rows: readonly Message[];
  readonly items: readonly ChatItem[];
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

const asked = new WeakMap<ToolCall, Call>();
const ended = new WeakMap<Message, Call>();

/** A stored call that nothing is known of yet but that it was asked for. Made once for each. */
function askedFor(c: ToolCall): Call {
  const kept =
    asked.get(c) ?? newCall(c.id, c.function.name, { args: shownText(c.function.arguments ?? ""), state: "unended" });
  asked.set(c, kept);
  return kept;
}

/** What a stored result says of its call: a row holds neither its time nor, in so many words, whether it failed. */
function endedBy(c: Call, row: Message): Call {
  const kept = ended.get(row);
  if (kept && kept.args === c.args) return kept;
  const failed = /^\s*\{\s*"error"\s*:/.test(row.content);
  const call: Call = { ...c, state: failed ? "failed" : "done", result: shownText(row.content) };
  ended.set(row, call);
  return call;
}

const list = <T>(v: unknown): readonly T[] => (Array.isArray(v) ? (v as T[]) : []);

function gistOf(r: Message): Gist {
  const sources = list<Source>(r.sources);
  const memories = list<MemorySource>(r.memory_sources);
  const checks = list<Check>(r.checks);
  return sources.length || memories.length || checks.length ? { sources, memories, checks } : NO_GIST;
}

/** Makes the items of one turn: of its rows, and of what is known of it beside them. */
class Builder {
  readonly items: ChatItem[] = [];
  readonly #turnId: string;
  readonly #seen: ReadonlyMap<string, Call>;
  #reply: (Draft<ReplyItem> & { parts: Part[] }) | null = null;
  #user: UserItem | null = null;
  #replies = 0;
  #rows = new Set<string>();
  /** Where each call stands: in which reply, at which place. */
  #calls = new Map<string, { parts: Part[]; at: number }>();

  constructor(turnId: string, seen: ReadonlyMap<string, Call>) {
    this.#turnId = turnId;
    this.#seen = seen;
  }

  open(): Draft<ReplyItem> & { parts: Part[] } {
    if (this.#reply) return this.#reply;
    const reply = {
      kind: "reply" as const,
      key: `${this.#turnId}:reply:${this.#replies++}`,
      id: null,
      turnId: this.#turnId,
      parts: [],
      at: null,
      turn: null,
      ended: null,
      final: false,
      gist: NO_GIST,
      user: this.#user,
    };
    this.#reply = reply;
    this.items.push(reply);
    return reply;
  }

  user(u: UserItem): void {
    if (!u.interjection) this.#user = u;
    this.#reply = null;
    this.items.push(u);
  }

  call(c: Call): void {
    const at = this.#calls.get(c.callId);
    if (at) {
      at.parts[at.at] = { kind: "call", call: c };
      return;
    }
    const { parts } = this.open();
    this.#calls.set(c.callId, { parts, at: parts.length });
    parts.push({ kind: "call", call: c });
  }

  callOf(id: string): Call | null {
    const at = this.#calls.get(id);
    const p = at?.parts[at.at];
    return p?.kind === "call" ? p.call : null;
  }

  row(r: Message): void {
    this.#rows.add(r.id);
    switch (r.role) {
      case "assistant":
        this.#assistant(r);
        return;
      case "tool": {
        const c = this.callOf(r.tool_call_id ?? "") ?? newCall(r.tool_call_id ?? r.id, r.name ?? "");
        // What was seen of a call tells more than its row.
        if (c.result === null) this.call(endedBy(c, r));
        return;
      }
      case "user":
        this.user({
          kind: "user",
          key: r.interjection ? r.id : `${this.#turnId}:user`,
          id: r.id,
          turnId: r.turn_id,
          text: r.content,
          attachments: r.attachments ?? [],
          at: r.created_at,
          state: "stored",
          interjection: r.interjection,
          branch: r.branch ?? null,
        });
        return;
      case "other":
        this.#reply = null;
        this.items.push({
          kind: "other",
          key: r.id,
          id: r.id,
          name: r.name ?? "",
          text: r.content,
          at: r.created_at,
        });
        return;
      default:
        this.#event(r);
    }
  }

  #assistant(r: Message): void {
    const reply = this.open();
    reply.id = r.id;
    reply.at = r.created_at;
    if (r.thinking || r.content)
      reply.parts.push({ kind: "message", id: r.id, thinking: r.thinking ?? "", text: r.content });
    for (const c of list<ToolCall>(r.tool_calls)) {
      this.call(this.#seen.get(c.id) ?? askedFor(c));
    }
    reply.ended = r.cancelled ? "stopped" : null;
    const gist = gistOf(r);
    if (gist !== NO_GIST) reply.gist = gist;
  }

  #event(r: Message): void {
    if (r.name === "interrupted" && this.#reply) {
      this.#reply.ended = "interrupted";
      return;
    }
    this.#reply = null;
    this.items.push({
      kind: "event",
      key: r.id,
      id: r.id,
      turnId: r.turn_id,
      name: r.name ?? "",
      at: r.created_at,
      branch: r.branch ?? null,
      user: this.#user,
    });
  }

  /** What this window knows of a turn that is not, or not all, in the rows. */
  live(t: Turn): void {
    const waits = t.state === "waiting";
    if (t.user && !this.#user) {
      this.user({
        kind: "user",
        key: `${this.#turnId}:user`,
        id: null,
        turnId: t.turnId,
        text: t.user.text,
        attachments: t.user.attachments,
        at: null,
        state: t.state === "sending" ? "sending" : waits ? "queued" : "stored",
        interjection: false,
        branch: null,
      });
    } else if (waits) {
      if (this.#user) this.items[this.items.indexOf(this.#user)] = { ...this.#user, state: "queued" };
    }
    for (const p of t.parts) this.#livePart(p, t);
    // A call whose begin was not heard of is in the rows, and nothing says that it has ended.
    if (t.state === "running") this.#unended();
    if (t.dropped || waits || (t.state === "sending" && t.user)) return;
    const reply = this.open();
    reply.turn = t;
    if (t.state === "stopped" && !reply.ended) reply.ended = "stopped";
    if (t.gist !== NO_GIST) reply.gist = t.gist;
  }

  #livePart(p: Part, t: Turn): void {
    if (p.kind === "message") {
      if (!this.#rows.has(p.id)) this.open().parts.push(p);
    } else if (p.kind === "call") {
      this.call(known(this.callOf(p.call.callId), p.call));
    } else if (!this.#rows.has(p.id)) {
      this.user({
        kind: "user",
        key: p.id,
        id: p.id,
        turnId: t.turnId,
        text: p.text,
        attachments: [],
        at: null,
        state: "stored",
        interjection: true,
        branch: null,
      });
    }
  }

  #unended(): void {
    for (const { parts, at } of this.#calls.values()) {
      const p = parts[at];
      if (p?.kind === "call" && p.call.state === "unended") parts[at] = { kind: "call", call: running(p.call) };
    }
  }

  done(): readonly ChatItem[] {
    const last = this.items.findLast((i) => i.kind === "reply");
    if (last) (last as Draft<ReplyItem>).final = true;
    return this.items;
  }
}

const both = new WeakMap<Call, { of: Call; call: Call }>();
const runs = new WeakMap<Call, Call>();

function running(c: Call): Call {
  const kept = runs.get(c) ?? { ...c, state: "running" as const };
  runs.set(c, kept);
  return kept;
}

/** A call of which both the rows and the events know something. The same two give the same object. */
function known(stored: Call | null, live: Call): Call {
  if (!stored) return live;
  const kept = both.get(live);
  if (kept?.of === stored) return kept.call;
  const over = live.result === null && stored.result !== null;
  const call: Call = {
    ...live,
    args: live.args ?? stored.args,
    result: live.result ?? stored.result,
    state: over ? stored.state : live.state,
  };
  both.set(live, { of: stored, call });
  return call;
}

/** The stored rows as groups, one a turn. */
export function fold(rows: readonly Message[], seen: ReadonlyMap<string, Call>): readonly Group[] {
  const groups: Group[] = [];
  for (let i = 0; i < rows.length; ) {
    const turnId = rows[i]?.turn_id ?? "";
    let end = i + 1;
    while (end < rows.length && rows[end]?.turn_id === turnId) end++;
    const part = rows.slice(i, end);
    const b = new Builder(turnId, seen);
    for (const r of part) b.row(r);
    groups.push({ turnId, rows: part, items: b.done() });
    i = end;
  }
  return groups;
}

/** Whether the message of a turn that has no id yet is among the stored rows already. */
function isStored(groups: readonly Group[], t: Turn): boolean {
  const { user } = t;
  if (!user) return false;
  const rows = groups.flatMap((g) => (g.rows[0] ? [g.rows[0]] : []));
  const last = rows.at(-1);
  if (user.replaces) {
    const there = groups.some((g) => g.rows.some((r) => r.id === user.replaces));
    return !there && last?.role === "user" && last.content === user.text;
  }
  const from = user.afterId ? groups.findIndex((g) => g.rows.some((r) => r.id === user.afterId)) + 1 : 0;
  return rows.slice(from).some((r) => r.role === "user" && r.content === user.text);
}

function withTurn(g: Group | null, turn: Turn, seen: ReadonlyMap<string, Call>): readonly ChatItem[] {
  const b = new Builder(turn.turnId ?? turn.key, seen);
  for (const r of g?.rows ?? []) b.row(r);
  b.live(turn);
  return b.done();
}

/** Puts the turns that are not, or not all, stored to those that are. */
export function merge(stored: readonly Group[], view: Conversation): readonly ChatItem[] {
  let groups = [...stored];
  for (const turn of view.turns) {
    const at = turn.turnId ? groups.findLastIndex((g) => g.turnId === turn.turnId) : -1;
    const group = groups[at];
    if (group) {
      groups[at] = { ...group, items: withTurn(group, turn, view.calls) };
      continue;
    }
    if (turn.turnId === null && isStored(groups, turn)) continue;
    // The message whose place it takes, and all after it, is on another branch from now on.
    const cut = turn.user?.replaces ? groups.findIndex((g) => g.rows.some((r) => r.id === turn.user?.replaces)) : -1;
    if (cut >= 0) groups = groups.slice(0, cut);
    groups.push({ turnId: turn.turnId ?? turn.key, rows: [], items: withTurn(null, turn, view.calls) });
  }
  const items = groups.flatMap((g) => g.items);
  for (const s of view.steers) {
    items.push({
      kind: "user",
      key: `steer:${s.key}`,
      id: null,
      turnId: null,
      text: s.text,
      attachments: [],
      at: null,
      state: s.taken ? "queued" : "sending",
      interjection: true,
      branch: null,
    });
  }
  return items;
}

/** The person's newest message that can still be changed, where there is one. */
export function lastOwn(items: readonly ChatItem[]): UserItem | null {
  const found = items.findLast((i) => i.kind === "user" && !i.interjection && i.id !== null);
  return found?.kind === "user" ? found : null;
}

/** Whether the newest stored message is the person's, or a call's result, and nothing that runs or ended answers it. */
export function isUnanswered(stored: readonly Group[], view: Conversation): boolean {
  if (view.turns.length > 0 || view.steers.length > 0) return false;
  const last = stored.at(-1)?.rows.at(-1);
  return last?.role === "user" || last?.role === "tool";
}
