// @vitest-environment node
import { describe, expect, it } from "vitest";
import { fold, merge } from "./queries/items";
import type { LiveEvent, Message, SessionLive } from "./shapes";
import { Turns } from "./turns";

/** Numbers that are the same in each run. */
function dice(seed: number) {
  let s = seed;
  const next = () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return { below, chance: (p: number) => next() < p };
}
type Dice = ReturnType<typeof dice>;

const WORDS = "the quick brown fox jumps over a lazy dog and looks back once more".split(" ");

/** An engine that answers in one chat: it knows what is true at every moment, and tells it in events. */
class Truth {
  readonly rows: Message[] = [];
  readonly events: LiveEvent[] = [];
  seq = 0;
  turn: string | null = null;
  client = "";
  over = 0;
  #n = 0;
  #open = { id: "", text: "", thinking: "" };
  #calls: string[] = [];
  #steers: { client_id: string; text: string; id: string }[] = [];
  #queue: { client_id: string; text: string; id: string }[] = [];
  #rounds = 0;
  #told = new Map<string, { turn: string; steered: boolean }>();
  readonly #dice: Dice;

  constructor(d: Dice) {
    this.#dice = d;
  }

  id(): string {
    return `m${++this.#n}`;
  }

  tell(e: object): void {
    this.events.push({
      session_id: "s",
      seq: ++this.seq,
      ...(this.turn ? { turn_id: this.turn } : {}),
      ...e,
    } as LiveEvent);
  }

  row(role: Message["role"], content: string, more: Partial<Message> = {}): Message {
    const r = { id: this.id(), role, content, turn_id: this.turn ?? "", interjection: false, created_at: "", ...more };
    this.rows.push(r as Message);
    return r as Message;
  }

  send(text: string, client_id: string): void {
    const before = this.#told.get(client_id);
    if (before) {
      // As the engine does: what was sent before is answered as it was then.
      const again = before.steered ? { type: "steer_ack", queued: true, turn_id: undefined } : { type: "session" };
      this.tell({ turn_id: before.turn, ...again, client_id });
      return;
    }
    if (this.turn) {
      this.#told.set(client_id, { turn: this.turn, steered: true });
      this.#steers.push({ client_id, text, id: this.id() });
      this.tell({ type: "steer_ack", queued: true, client_id, turn_id: undefined });
      return;
    }
    this.#begin(text, client_id);
  }

  #begin(text: string, client_id: string, id = this.id()): void {
    this.turn = `t${++this.#n}`;
    this.client = client_id;
    this.#told.set(client_id, { turn: this.turn, steered: false });
    this.row("user", text, { id });
    this.tell({ type: "session", client_id });
    this.#next();
    this.#rounds = 0;
  }

  #next(): void {
    this.#open = { id: this.id(), text: "", thinking: "" };
  }

  live(): SessionLive {
    const none = { turn_id: null, client_id: "", message_id: "", text: "", thinking: "", seq: this.seq, steers: [] };
    if (!this.turn) return none;
    const { id, text, thinking } = this.#open;
    const steers = this.#steers.map(({ client_id, text }) => ({ client_id, text }));
    return { turn_id: this.turn, client_id: this.client, message_id: id, text, thinking, seq: this.seq, steers };
  }

  /** What a window that was there all along has seen by now. */
  whole(): string[] {
    const { id, text, thinking } = this.#open;
    const open = this.turn && (text || thinking) ? [`${id} ${thinking}/${text}`] : [];
    return [...this.rows.flatMap(plain), ...open];
  }

  /** One thing more happens. */
  step(): void {
    const d = this.#dice;
    if (!this.turn) {
      const s = this.#queue.shift();
      if (s) this.#begin(s.text, s.client_id, s.id);
      return;
    }
    const roll = d.below(10);
    if (this.#calls.length > 0) this.#ofCalls();
    else if (roll < 6) this.#piece(roll < 1 ? "thinking" : "text");
    else if (roll < 8 && this.#rounds < 4) this.#round();
    else if (this.#open.text) this.#finish();
  }

  #piece(kind: "text" | "thinking"): void {
    const text = `${WORDS[this.#dice.below(WORDS.length)]} `;
    this.tell({ type: `${kind}_delta`, message_id: this.#open.id, offset: this.#open[kind].length, text });
    this.#open[kind] += text;
  }

  #fold(calls: string[]): void {
    const { id, text, thinking } = this.#open;
    const tool_calls = calls.map((c) => ({ id: c, function: { name: "run", arguments: "{}" } }));
    if (text || thinking || calls.length) this.row("assistant", text, { id, thinking: thinking || null, tool_calls });
    this.#next();
  }

  #round(): void {
    this.#rounds++;
    this.#calls = Array.from({ length: 1 + this.#dice.below(3) }, () => `c${++this.#n}`);
    this.#fold(this.#calls);
    for (const call_id of this.#calls) this.tell({ type: "tool_call", call_id, name: "run", arguments: {} });
  }

  #ofCalls(): void {
    const [call_id = ""] = this.#calls;
    if (this.#dice.chance(0.4)) {
      this.tell({ type: "tool_progress", call_id, name: "run", kind: "stdout", text: "x" });
      return;
    }
    this.#calls.shift();
    this.row("tool", `gave ${call_id}`, { tool_call_id: call_id, name: "run" });
    const result = { result: `gave ${call_id}`, is_error: false, duration_ms: 1 };
    this.tell({ type: "tool_result", call_id, name: "run", ...result });
    if (this.#calls.length === 0) this.#hear();
  }

  #hear(): void {
    for (const s of this.#steers) {
      this.row("user", s.text, { id: s.id, interjection: true });
      this.tell({ type: "user_interjection", message_id: s.id, client_id: s.client_id, text: s.text });
    }
    this.#steers = [];
  }

  #finish(): void {
    if (this.#steers.length > 0 && this.#dice.chance(0.5)) {
      this.#fold([]);
      this.#hear();
      return;
    }
    const { id, text, thinking } = this.#open;
    this.row("assistant", text, { id, thinking: thinking || null });
    const gist = { memory_sources: [], sources: [], checks: [] };
    this.tell({ type: "done", content: text, message_id: id, ...gist });
    this.turn = null;
    this.over++;
    this.#queue.push(...this.#steers);
    this.#steers = [];
  }
}

/** What a row, or a part of what is shown, comes to. */
function plain(r: Message): string[] {
  if (r.role === "user") return [`${r.interjection ? "said" : "user"} ${r.content}`];
  if (r.role === "tool") return [];
  const calls = (r.tool_calls ?? []) as { id: string }[];
  const own = r.content || r.thinking ? [`${r.id} ${r.thinking ?? ""}/${r.content}`] : [];
  return [...own, ...calls.map((c) => `call ${c.id}`)];
}

/** A window on a bad line: events come late, answers too, and at times what was said meanwhile is lost. */
class Window {
  readonly turns: Turns;
  #rows: readonly Message[] = [];
  #heard: number;
  #wanted = 0;
  readonly #truth: Truth;
  /** What is on its way: each is asked for, then answered by what is true then, then heard. */
  readonly pending: { ask: () => unknown; answer?: unknown; asked: boolean; hear: (v: unknown) => void }[] = [];
  #sent: { text: string; client_id: string }[] = [];

  constructor(truth: Truth) {
    this.#truth = truth;
    this.#heard = truth.events.length;
    this.turns = new Turns({
      send: (m) => {
        if (m.type === "chat.send" || m.type === "chat.steer")
          this.#sent.push({ text: m.text, client_id: m.client_id ?? "" });
        return true;
      },
      fetchLive: () => this.#fetch(() => structuredClone(truth.live())),
      refresh: () => this.load(),
      phase: () => undefined,
      born: () => undefined,
      schedule: (flush) => flush(),
    });
  }

  #fetch<T>(ask: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.pending.push({ ask, asked: false, hear: (v) => resolve(v as T) });
    });
  }

  /** As the page does: the open message first, then the rows. A newer wish takes the place of an older one. */
  async load(): Promise<void> {
    const mine = ++this.#wanted;
    await this.turns.resync("s");
    if (mine !== this.#wanted) return;
    const rows = await this.#fetch(() => [...this.#truth.rows]);
    if (mine !== this.#wanted) return;
    this.#rows = rows;
    this.turns.stored("s", rows);
  }

  say(text: string): void {
    this.turns.send({ chat: "s", text, attachments: [], afterId: this.#rows.at(-1)?.id ?? null });
  }

  get behind(): boolean {
    return this.#heard < this.#truth.events.length || this.pending.length > 0 || this.#sent.length > 0;
  }

  /** The engine takes what was sent. */
  post(): void {
    const m = this.#sent.shift();
    if (m) this.#truth.send(m.text, m.client_id);
  }

  hear(): void {
    const e = this.#truth.events[this.#heard];
    if (!e) return;
    this.#heard++;
    this.turns.event(e);
  }

  lose(d: Dice): void {
    const missed = d.below(this.#truth.events.length - this.#heard + 1);
    if (missed === 0) return;
    this.#heard += missed;
    this.turns.event({ type: "gap" } as LiveEvent);
    this.turns.gap();
    void this.load();
  }

  answer(d: Dice): void {
    const at = d.below(this.pending.length);
    const p = this.pending[at];
    if (!p) return;
    if (!p.asked) {
      p.asked = true;
      p.answer = p.ask();
      return;
    }
    this.pending.splice(at, 1);
    p.hear(p.answer);
  }

  shown(): string[] {
    const items = merge(fold(this.#rows, this.turns.view("s").calls), this.turns.view("s"));
    return items.flatMap((i): string[] => {
      if (i.kind === "user") return i.state === "stored" ? [`${i.interjection ? "said" : "user"} ${i.text}`] : [];
      if (i.kind !== "reply") return [];
      return i.parts.map((p) =>
        p.kind === "call" ? `call ${p.call.callId}` : p.kind === "message" ? `${p.id} ${p.thinking}/${p.text}` : "",
      );
    });
  }

  waits(): string[] {
    return this.turns.view("s").steers.map((s) => s.text);
  }
}

const settle = async () => {
  for (let i = 0; i < 12; i++) await Promise.resolve();
};

/** By what a thing that is shown is known. */
function nameOf(x: string): string {
  return x.startsWith("m") ? (x.split(" ")[0] ?? "") : x;
}

/** Each thing is shown at most once at any time, and nothing is shown that was never said. */
function sane(w: Window, truth: Truth, seed: number): void {
  const shown = w.shown();
  expect(new Set(shown.map(nameOf)).size, `seed ${seed}: ${shown.join(" | ")}`).toBe(shown.length);
  const whole = new Map(truth.whole().map((x) => [nameOf(x), x]));
  for (const x of shown) {
    if (!x.startsWith("m")) continue;
    const [thinking = "", text = ""] = x.slice(nameOf(x).length).split("/");
    const [allThinking = "", allText = ""] = (whole.get(nameOf(x)) ?? "").slice(nameOf(x).length).split("/");
    expect(allThinking.startsWith(thinking) && allText.startsWith(text), `seed ${seed}: ${x}`).toBe(true);
  }
}

async function play(seed: number, loses: boolean): Promise<void> {
  const d = dice(seed);
  const truth = new Truth(d);
  truth.send("first", "elsewhere");
  for (let i = d.below(40); i > 0; i--) truth.step();
  const w = new Window(truth);
  void w.load();
  let said = 0;
  for (let i = 0; i < 300; i++) {
    const roll = d.below(20);
    if (roll < 7) truth.step();
    else if (roll < 13) w.hear();
    else if (roll < 17) w.answer(d);
    else if (roll < 18) w.post();
    else if (roll < 19 && said < 4 && d.chance(0.3)) w.say(`wish ${++said}`);
    else if (loses && d.chance(0.2)) w.lose(d);
    await settle();
    sane(w, truth, seed);
  }
  for (let i = 0; i < 4000 && (w.behind || truth.turn); i++) {
    truth.step();
    w.post();
    w.hear();
    w.answer(d);
    await settle();
  }
  // What became a turn of its own is begun and answered too.
  for (let i = 0; i < 4000; i++) {
    truth.step();
    w.post();
    w.hear();
    w.answer(d);
    await settle();
    if (!truth.turn && !w.behind && i > 200) break;
  }
  const note = `seed ${seed}`;
  expect(w.behind, note).toBe(false);
  expect(w.shown(), note).toEqual(truth.whole());
  expect(w.waits(), note).toEqual([]);
  expect(w.turns.view("s").turns, note).toEqual([]);
}

const BATCH = 30;
const batches = Array.from({ length: 3 }, (_, n) => n).map((n) => n * BATCH);

describe("what a window shows of a chat", () => {
  it.each(batches)(
    "is what is true, whenever it came and in whatever order it hears (from %i)",
    async (from) => {
      for (let seed = from; seed < from + BATCH; seed++) await play(seed, false);
    },
    60_000,
  );

  it.each(batches)(
    "is what is true, though much is lost on the way (from %i)",
    async (from) => {
      for (let seed = from; seed < from + BATCH; seed++) await play(1000 + seed, true);
    },
    60_000,
  );
});
