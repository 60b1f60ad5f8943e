import { newId } from "@/lib/ids";
import { type Call, have, setMessage } from "./parts";
import type { ClientMessage, EventOf, LiveEvent, Message, SessionLive } from "./shapes";
import { type ChatEvent, isOpen, joined, type Sent, step, type Turn, type Usage, usageOf } from "./turn";

export type { Sent, Turn, TurnState, Usage } from "./turn";
export { isOpen } from "./turn";

/** Something said into a running reply that its model has not read yet. */
export interface Steer {
  readonly key: string;
  readonly clientId: string;
  readonly text: string;
  /** Whether the engine has it. */
  readonly taken: boolean;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly steers: readonly Steer[];
  readonly usage: Usage | null;
  /** What was seen of the calls of turns that are stored by now, by call id: rows tell less of a call than its events. */
  readonly calls: ReadonlyMap<string, Call>;
}

export interface SendInput {
  /** Where it is shown: a chat's id, the key of a chat that is being made, or null for a chat of its own. */
  chat: string | null;
  text: string;
  attachments: readonly string[];
  afterId: string | null;
  replaces?: string | null;
  incognito?: boolean;
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

type Ack = EventOf<"steer_ack">;
type Outgoing = Extract<ClientMessage, { type: "chat.send" | "chat.steer" }>;

/** How an event is heard: as it comes, or after the record was asked for, which told something or nothing. */
type Heard = "now" | "told" | "blind";

interface Conv {
  turns: Turn[];
  steers: Steer[];
  usage: Usage | null;
  calls: ReadonlyMap<string, Call>;
  /** While the running turn is being fetched, events wait here; null otherwise. */
  waiting: (ChatEvent | Ack)[] | null;
  sync: number;
  /** Events were missed since the running turn was last asked for: its end may be among them. */
  missed: boolean;
  /** Something was told twice: what waits is what the engine's record says. */
  doubt: boolean;
  /** The turns whose end was seen here: the engine names one again when its message is sent again. */
  over: Set<string>;
  /** The client ids of what was said into replies and read: they too may be named again. */
  read: Set<string>;
  /** The stored messages of the turns here: what still comes of one is known. */
  rows: ReadonlySet<string>;
  view: Conversation;
}

const EMPTY: Conversation = { turns: [], steers: [], usage: null, calls: new Map() };
/** So many calls of stored turns are remembered for each chat. */
const CALLS_KEPT = 600;
const NEW = "new:";

function isChat(e: LiveEvent): e is ChatEvent {
  return "turn_id" in e && "session_id" in e;
}

function isDelta(e: ChatEvent | Ack): e is EventOf<"text_delta"> | EventOf<"thinking_delta"> {
  return e.type === "text_delta" || e.type === "thinking_delta";
}

/**
 * The turns that run now or were not stored yet, by chat. It joins three sources into one reply without a gap or a
 * double: what this window saw from the start, what it is told in pieces, and the engine's own record of the message
 * that is open. Finished messages are rows of the query cache, also those of the turn that runs; what both know is
 * told apart by message and call ids. A turn leaves here once the rows hold all of it.
 */
export class Turns {
  #world: TurnsWorld;
  #convs = new Map<string, Conv>();
  #listeners = new Map<string, Set<() => void>>();
  #dirty = new Set<string>();
  #outbox = new Map<string, Outgoing>();
  #resent = new Set<string>();

  constructor(world: TurnsWorld) {
    this.#world = world;
  }

  /** The key under which a chat that has no id yet is shown. */
  static newKey(clientId: string): string {
    return NEW + clientId;
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

  /**
   * Sends a message; gives the key of the chat it is shown in. While a reply is written it is said into that reply,
   * unless files go with it: then it is answered next.
   */
  send(input: SendInput): { key: string; clientId: string } {
    const clientId = newId();
    const key = input.chat ?? Turns.newKey(clientId);
    const conv = this.#conv(key);
    const sessionId = key.startsWith(NEW) ? undefined : key;
    if (conv.turns.some(isOpen) && input.attachments.length === 0 && !input.replaces) {
      conv.steers.push({ key: clientId, clientId, text: input.text, taken: false });
      this.#post(clientId, { type: "chat.steer", session_id: sessionId ?? "", text: input.text, client_id: clientId });
    } else {
      this.#open(conv, clientId, input);
      this.#post(clientId, {
        type: "chat.send",
        text: input.text,
        client_id: clientId,
        ...(sessionId ? { session_id: sessionId } : {}),
        ...(input.attachments.length ? { attachments: [...input.attachments] } : {}),
        ...(input.replaces ? { replaces: input.replaces } : {}),
        ...(input.incognito && !sessionId ? { incognito: true } : {}),
      });
    }
    this.#touch(key, true);
    return { key, clientId };
  }

  /** Shows a turn that is asked for in another way than by a message. `user` is what it answers, where that is shown anew. */
  begin(sessionId: string, user: Omit<SendInput, "chat"> | null): string {
    const clientId = newId();
    this.#open(this.#conv(sessionId), clientId, user);
    this.#touch(sessionId, true);
    return clientId;
  }

  /** Takes back a turn that was refused before it began. */
  drop(sessionId: string, clientId: string): void {
    const conv = this.#convs.get(sessionId);
    if (!conv) return;
    conv.turns = conv.turns.filter((t) => t.clientId !== clientId || t.turnId !== null);
    this.#touch(sessionId, true);
  }

  cancel(sessionId: string): void {
    this.#world.send({ type: "chat.cancel", session_id: sessionId });
  }

  /** The channel stands again: what was never acknowledged is sent again; the engine counts it once. */
  resend(): void {
    for (const [id, m] of this.#outbox) {
      if (m.type === "chat.steer" && !m.session_id) continue;
      this.#resent.add(id);
      this.#world.send(m);
    }
  }

  /** Events were missed, a receipt perhaps among them: every chat that waits for something asks for it anew. */
  gap(): void {
    this.resend();
    for (const [key, conv] of this.#convs) {
      if (conv.steers.length === 0 && !conv.turns.some((t) => t.state === "running" || t.state === "waiting")) continue;
      conv.missed = true;
      void this.resync(key).then(() => this.#world.refresh(key));
    }
  }

  /** Forgets what the stored messages now hold. */
  stored(sessionId: string, rows: readonly Message[]): void {
    const conv = this.#convs.get(sessionId);
    if (!conv) return;
    const ids = new Set<string>();
    const known = new Set(conv.turns.map((t) => t.turnId));
    const turns = new Set<string>();
    for (const r of rows) {
      if (!known.has(r.turn_id)) continue;
      turns.add(r.turn_id);
      ids.add(r.id);
    }
    conv.rows = ids;
    const gone = conv.turns.filter((t) => {
      if (isOpen(t)) return false;
      return t.messageId ? ids.has(t.messageId) : t.dropped && t.turnId !== null && turns.has(t.turnId);
    });
    if (gone.length === 0) return;
    conv.turns = conv.turns.filter((t) => !gone.includes(t));
    this.#remember(conv, gone);
    this.#touch(sessionId, true);
  }

  /** Another branch is shown: how turns ended on the one before is no longer in sight. */
  settle(sessionId: string): void {
    const conv = this.#convs.get(sessionId);
    if (!conv || conv.turns.every(isOpen)) return;
    conv.turns = conv.turns.filter(isOpen);
    this.#touch(sessionId, true);
  }

  forget(sessionId: string): void {
    this.#convs.delete(sessionId);
    this.#touch(sessionId, true);
  }

  /** Fetches the message that is written now in this chat, if any, and carries on from exactly there. */
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
    const from = snapshot?.turn_id ? snapshot.seq : 0;
    const how = snapshot ? "told" : "blind";
    // What the record knows comes first, so that the open message stands behind the calls before it.
    for (const e of waiting) {
      if (e.seq > from) continue;
      if (!isDelta(e) || this.#continues(conv, e)) this.#take(sessionId, conv, e, how);
    }
    if (snapshot) this.#adopt(sessionId, conv, snapshot);
    for (const e of waiting) if (e.seq > from) this.#take(sessionId, conv, e, how);
    this.#touch(sessionId, true);
  }

  event(e: LiveEvent): void {
    if (e.type === "error" && !("turn_id" in e)) {
      this.#refused(e.client_id, e.message);
      return;
    }
    if (!isChat(e) && e.type !== "steer_ack") return;
    const key = e.type === "session" ? this.#place(e.session_id, e.client_id ?? null) : e.session_id;
    const conv = this.#convs.get(key);
    if (!conv) return;
    if (e.type === "session" && conv.over.has(e.turn_id)) {
      if (e.client_id) this.#answered(key, conv, e.client_id);
      return;
    }
    if (conv.waiting) conv.waiting.push(e);
    else this.#take(key, conv, e, "now");
  }

  #post(clientId: string, m: Outgoing): void {
    this.#outbox.set(clientId, m);
    if (m.type === "chat.send" || m.session_id) this.#world.send(m);
  }

  #open(conv: Conv, clientId: string, user: Omit<SendInput, "chat"> | null): void {
    // What failed before is answered by what is sent now.
    this.#remember(
      conv,
      conv.turns.filter((t) => !isOpen(t)),
    );
    conv.turns = conv.turns.filter(isOpen);
    conv.turns.push({
      ...joined(null, clientId),
      state: "sending",
      user: user && {
        text: user.text,
        attachments: user.attachments,
        afterId: user.afterId,
        replaces: user.replaces ?? null,
      },
    });
  }

  #remember(conv: Conv, turns: readonly Turn[]): void {
    const calls = turns.flatMap((t) => t.parts.flatMap((p) => (p.kind === "call" ? [p.call] : [])));
    if (calls.length === 0) return;
    const all = [...conv.calls, ...calls.map((c): [string, Call] => [c.callId, c])];
    conv.calls = new Map(all.slice(-CALLS_KEPT));
  }

  /** A message that was turned down before any turn began. */
  #refused(clientId: string | undefined, message: string): void {
    if (!clientId) return;
    this.#outbox.delete(clientId);
    for (const [key, conv] of this.#convs) {
      const steer = conv.steers.find((s) => s.clientId === clientId);
      if (steer) conv.turns.push(this.#ownTurn(conv, steer));
      const at = conv.turns.findIndex((t) => t.clientId === clientId);
      const turn = conv.turns[at];
      if (!turn) continue;
      const failed: Turn = { ...turn, state: "failed", error: message };
      conv.turns[at] = failed;
      this.#touch(key, true);
      this.#world.phase(key, "failed", failed);
      // What was to be said into a reply that will never be: it is kept in sight with the same reason.
      if (key.startsWith(NEW)) for (const s of [...conv.steers]) this.#refused(s.clientId, message);
    }
  }

  #ownTurn(conv: Conv, s: Steer): Turn {
    conv.steers = conv.steers.filter((x) => x !== s);
    const user: Sent = { text: s.text, attachments: [], afterId: null, replaces: null };
    return { ...joined(null, s.clientId), state: "sending", user };
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
    // What was said into the reply before the chat had a name.
    for (const s of conv.steers) {
      const m = this.#outbox.get(s.clientId);
      if (m?.type === "chat.steer") this.#post(s.clientId, { ...m, session_id: sessionId });
    }
    return sessionId;
  }

  /** Takes over the engine's record of the message that is open. */
  #adopt(sessionId: string, conv: Conv, s: SessionLive): void {
    // A turn that this window thought running and that is over: its end is in the stored messages.
    // Only after a gap: otherwise its end is on its way, and a reply that failed is stored nowhere.
    const { missed, doubt } = conv;
    conv.missed = false;
    conv.doubt = false;
    if (missed) {
      const over = (t: Turn) => (t.state === "running" || t.state === "waiting") && t.turnId !== s.turn_id;
      conv.turns = conv.turns.filter((t) => !over(t));
    }
    this.#adoptSteers(conv, s, missed || doubt);
    if (!s.turn_id) return;
    const at = conv.turns.findIndex((t) => t.turnId === s.turn_id || (s.client_id && t.clientId === s.client_id));
    const known = conv.turns[at];
    const turn: Turn = {
      ...(known ?? joined(s.turn_id, s.client_id || null)),
      turnId: s.turn_id,
      state: "running",
      parts: setMessage(known?.parts ?? [], s.message_id, s.thinking, s.text),
    };
    if (turn.clientId) this.#outbox.delete(turn.clientId);
    if (known) conv.turns[at] = turn;
    else conv.turns.push(turn);
    if (known?.state !== "running") this.#world.phase(sessionId, "start", turn);
  }

  #adoptSteers(conv: Conv, s: SessionLive, sure: boolean): void {
    const told = (s.steers ?? []).map(
      (x, i): Steer => ({ key: x.client_id || `${s.turn_id}:${i}`, clientId: x.client_id, text: x.text, taken: true }),
    );
    for (const x of told) this.#outbox.delete(x.clientId);
    const ids = new Set(told.map((x) => x.key));
    // What is not told was read, or became a turn of its own: that is on its way too, unless it was missed.
    const left = (x: Steer) => !ids.has(x.key) && (!s.client_id || x.clientId !== s.client_id) && (!x.taken || !sure);
    const mine = conv.steers.filter(left);
    conv.steers = [...told, ...mine];
  }

  #continues(conv: Conv, e: EventOf<"text_delta"> | EventOf<"thinking_delta">): boolean {
    const t = conv.turns.find((x) => x.turnId === e.turn_id);
    if (!t) return false;
    const known = t.parts.some((p) => p.kind === "message" && p.id === e.message_id);
    return known && e.offset <= have(t.parts, e);
  }

  #take(key: string, conv: Conv, e: ChatEvent | Ack, heard: Heard): void {
    if (e.type === "steer_ack") this.#acked(key, conv, e);
    else this.#apply(key, conv, e, heard);
  }

  #acked(key: string, conv: Conv, e: Ack): void {
    const id = e.client_id ?? "";
    const again = !this.#outbox.delete(id) || this.#resent.delete(id);
    if (conv.read.has(id)) {
      this.#answered(key, conv, id);
      return;
    }
    const at = conv.turns.findIndex((t) => t.clientId === id && id !== "" && t.turnId === null);
    const sent = conv.turns[at];
    if (sent?.user && e.queued) {
      // It was sent as a message and found a reply that ran.
      conv.turns = conv.turns.filter((t) => t !== sent);
      conv.steers.push({ key: id, clientId: id, text: sent.user.text, taken: true });
    } else if (!e.queued) {
      conv.steers = conv.steers.filter((s) => s.clientId !== id || id === "");
    } else if (conv.steers.some((s) => s.clientId === id)) {
      conv.steers = conv.steers.map((s) => (s.clientId === id ? { ...s, taken: true } : s));
    }
    this.#touch(key, true);
    // Said by another window, or told twice: only the engine knows what waits now.
    const mine = conv.steers.some((s) => s.clientId === id);
    if (!e.queued || (mine && !again)) return;
    conv.doubt = true;
    void this.resync(key);
  }

  #apply(key: string, conv: Conv, e: ChatEvent, heard: Heard): void {
    if (e.type === "done") conv.over.add(e.turn_id);
    if (e.type === "user_interjection") this.#heard(key, conv, e);
    let at = conv.turns.findIndex((t) => t.turnId === e.turn_id);
    if (at >= 0 && e.type === "session" && e.client_id) this.#unqueue(key, conv, e.client_id);
    if (at < 0 && e.type === "session") at = this.#begin(key, conv, e);
    if (at < 0) {
      if (e.type === "done") void this.#world.refresh(key);
      // A turn whose start this window did not see. After a fetch that named none it is already over.
      else if (heard === "now" && e.type !== "session") this.#wait(key, conv, e);
      return;
    }
    const before = conv.turns[at];
    if (!before) return;
    if (isDelta(e)) {
      if (conv.rows.has(e.message_id)) return;
      // Something before it is missing: the record has it, or the rows. Without either, a part is better than nothing.
      const hole = heard !== "blind" && e.offset > have(before.parts, e);
      if (hole && heard === "now") this.#wait(key, conv, e);
      if (hole) return;
    }
    const next = step({ ...before, turnId: e.turn_id }, e, conv.turns);
    if (e.type === "usage") conv.usage = usageOf(e);
    conv.turns[at] = next;
    this.#phases(key, before, next);
    if (e.type === "done") this.#followOn(key, conv);
    this.#touch(key, e.type === "done" || e.type === "session" || e.type === "user_interjection");
    const anew = e.type === "session" && before.state === "sending" && (before.user === null || before.user.replaces);
    if (e.type === "done" || anew) void this.#world.refresh(key);
  }

  /** The message that waited behind a reply is answered now. */
  #followOn(key: string, conv: Conv): void {
    if (conv.turns.some((t) => t.state === "running")) return;
    const at = conv.turns.findIndex((t) => t.state === "waiting");
    const turn = conv.turns[at];
    if (!turn) return;
    const next: Turn = { ...turn, state: "running" };
    conv.turns[at] = next;
    this.#phases(key, turn, next);
  }

  #heard(key: string, conv: Conv, e: EventOf<"user_interjection">): void {
    if (e.client_id) {
      conv.read.add(e.client_id);
      this.#outbox.delete(e.client_id);
    }
    this.#unqueue(key, conv, e.client_id, e.text);
  }

  /** What was sent with this id was answered already, and is in the stored messages. */
  #answered(key: string, conv: Conv, clientId: string): void {
    this.#outbox.delete(clientId);
    this.#resent.delete(clientId);
    this.#unqueue(key, conv, clientId);
    const before = conv.turns.length;
    conv.turns = conv.turns.filter((t) => t.clientId !== clientId || t.turnId !== null);
    if (conv.turns.length === before) return;
    this.#touch(key, true);
    void this.#world.refresh(key);
  }

  /** Something that waited waits no longer. Where it has no id, it is known by its words. */
  #unqueue(key: string, conv: Conv, clientId: string | undefined, text?: string): void {
    const at = conv.steers.findIndex((s) => (clientId ? s.clientId === clientId : s.text === text));
    if (at < 0) return;
    conv.steers = conv.steers.filter((_, i) => i !== at);
    this.#touch(key, true);
  }

  #wait(key: string, conv: Conv, e: ChatEvent): void {
    conv.waiting = [e];
    void this.resync(key).then(() => this.#world.refresh(key));
  }

  #begin(key: string, conv: Conv, e: EventOf<"session">): number {
    if (e.client_id) this.#outbox.delete(e.client_id);
    // What was sent twice may be answered and over long since, and so may what another window sent.
    const sentTwice = this.#resent.delete(e.client_id ?? "");
    const at = this.#beginOwn(conv, e);
    if (at >= 0 && !sentTwice) return at;
    if (at < 0) conv.turns.push({ ...joined(e.turn_id, e.client_id ?? null), state: "sending" });
    conv.missed = true;
    void this.resync(key).then(() => this.#world.refresh(key));
    return at < 0 ? conv.turns.length - 1 : at;
  }

  /** The place of the turn that this window asked for, or -1. */
  #beginOwn(conv: Conv, e: EventOf<"session">): number {
    const mine = conv.turns.findIndex((t) => t.clientId !== null && t.clientId === e.client_id && t.turnId === null);
    if (mine >= 0) return mine;
    const steer = conv.steers.find((s) => s.clientId !== "" && s.clientId === e.client_id);
    return steer ? conv.turns.push(this.#ownTurn(conv, steer)) - 1 : -1;
  }

  #phases(key: string, before: Turn, next: Turn): void {
    if (before.state === next.state) return;
    if (next.state === "running") this.#world.phase(key, "start", next);
    else if (!isOpen(next)) this.#world.phase(key, next.state as Phase, next);
  }

  #conv(key: string): Conv {
    let c = this.#convs.get(key);
    if (!c) {
      const none = { turns: [], steers: [], usage: null, calls: EMPTY.calls, waiting: null, sync: 0 };
      c = { ...none, missed: false, doubt: false, over: new Set(), read: new Set(), rows: new Set(), view: EMPTY };
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
      if (conv) conv.view = { turns: [...conv.turns], steers: [...conv.steers], usage: conv.usage, calls: conv.calls };
      for (const fn of this.#listeners.get(key) ?? []) fn();
    }
  }
}
