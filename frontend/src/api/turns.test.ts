// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { ClientMessage, LiveEvent, Message, SessionLive } from "./shapes";
import { type Phase, type Turn, Turns } from "./turns";

const NONE: SessionLive = { turn_id: null, client_id: "", message_id: "", text: "", thinking: "", seq: 0, steers: [] };
const OPEN: SessionLive = { ...NONE, turn_id: "t", client_id: "c", message_id: "m1" };

function setup(online = true) {
  const sent: ClientMessage[] = [];
  const phases: string[] = [];
  const born: [string, string][] = [];
  const refreshed: string[] = [];
  let snapshot: () => Promise<SessionLive> = async () => NONE;
  const state = { online };
  const turns = new Turns({
    send: (m) => {
      if (state.online) sent.push(m);
      return state.online;
    },
    fetchLive: () => snapshot(),
    refresh: async (id) => {
      refreshed.push(id);
    },
    phase: (_id: string, p: Phase, _t: Turn) => phases.push(p),
    born: (a, b) => born.push([a, b]),
    schedule: (flush) => flush(),
  });
  return { turns, sent, phases, born, refreshed, state, live: (fn: typeof snapshot) => (snapshot = fn) };
}

let seq = 0;
const at = (turn: string) => ({ session_id: "s", turn_id: turn, seq: ++seq });
const began = (turn: string, client_id: string): LiveEvent => ({ type: "session", ...at(turn), client_id });
const text = (turn: string, offset: number, piece: string, message_id = "m1"): LiveEvent => ({
  type: "text_delta",
  ...at(turn),
  message_id,
  text: piece,
  offset,
});
const done = (turn: string, more: object = {}): LiveEvent => ({
  type: "done",
  ...at(turn),
  content: "",
  message_id: "m1",
  memory_sources: [],
  sources: [],
  checks: [],
  ...more,
});
const said = (turns: Turns, key = "s") =>
  turns
    .view(key)
    .turns.map((t) => t.parts.map((x) => (x.kind === "message" ? x.text : `<${x.kind}>`)).join(""))
    .join("|");

describe("a turn that was sent from here", () => {
  it("is shown at once, and grows with its pieces", () => {
    const { turns, sent } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    expect(sent).toEqual([{ type: "chat.send", session_id: "s", text: "hi", client_id: clientId }]);
    expect(turns.view("s").turns[0]?.state).toBe("sending");
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "One "));
    turns.event(text("t", 4, "two"));
    expect(said(turns)).toBe("One two");
    expect(turns.view("s").turns[0]?.state).toBe("running");
  });

  it("moves a new chat to the id it gets", () => {
    const { turns, born } = setup();
    const { key, clientId } = turns.send({ chat: null, text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "yes"));
    expect(born).toEqual([[key, "s"]]);
    expect(turns.view(key).turns).toEqual([]);
    expect(said(turns)).toBe("yes");
  });

  it("is sent again until it is acknowledged, with the same id", () => {
    const { turns, sent, state } = setup(false);
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    expect(sent).toEqual([]);
    state.online = true;
    turns.resend();
    turns.resend();
    expect(sent.map((m) => ("client_id" in m ? m.client_id : ""))).toEqual([clientId, clientId]);
    turns.event(began("t", clientId));
    turns.resend();
    expect(sent).toHaveLength(2);
  });

  it("is told as one start and one end", () => {
    const { turns, phases, refreshed } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    for (let i = 0; i < 20; i++) turns.event(text("t", i, "x"));
    turns.event(done("t"));
    expect(phases).toEqual(["start", "done"]);
    expect(refreshed).toEqual(["s"]);
  });

  it("leaves once the stored messages hold it, and not before", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(done("t", { content: "Yes.", message_id: "m9" }));
    turns.stored("s", []);
    expect(said(turns)).toBe("Yes.");
    turns.stored("s", [{ id: "m9", turn_id: "t" } as Message]);
    expect(turns.view("s").turns).toEqual([]);
  });

  it("does not begin anew when its message was sent again and it is over", async () => {
    const { turns, phases, state, sent } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    state.online = false;
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "yes"));
    turns.event(done("t", { content: "yes" }));
    turns.stored("s", [{ id: "m1", turn_id: "t" } as Message]);
    turns.event(began("t", clientId));
    state.online = true;
    turns.resend();
    expect(turns.view("s").turns).toEqual([]);
    expect(phases).toEqual(["start", "done"]);
    expect(sent).toHaveLength(1);
  });

  it("leaves a window again that did not know it was over", async () => {
    const { turns } = setup();
    await turns.resync("s");
    turns.event(began("old", "from-elsewhere"));
    await Promise.resolve();
    await Promise.resolve();
    expect(turns.view("s").turns).toEqual([]);
  });
});

describe("a turn that does not end well", () => {
  it("fails once, with its reason, and keeps what was written", () => {
    const { turns, phases } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "Half"));
    turns.event({ type: "error", ...at("t"), message: "The model is gone.", recoverable: false });
    turns.event(done("t", { error: "model", message_id: null }));
    const [turn] = turns.view("s").turns;
    expect(turn).toMatchObject({ state: "failed", error: "The model is gone.", messageId: null });
    expect(said(turns)).toBe("Half");
    expect(phases).toEqual(["start", "failed"]);
  });

  it("goes on after an error that is only a note", () => {
    const { turns, phases } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event({ type: "error", ...at("t"), message: "Trying another model.", recoverable: true });
    expect(turns.view("s").turns[0]).toMatchObject({ state: "running", notice: { message: "Trying another model." } });
    expect(phases).toEqual(["start"]);
  });

  it("says when it was stopped", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(done("t", { content: "Ha", cancelled: true }));
    expect(turns.view("s").turns[0]?.state).toBe("stopped");
  });

  it("that was turned down before it began is not sent again", () => {
    const { turns, sent } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event({ type: "error", message: "No model is set.", recoverable: false, client_id: clientId });
    expect(turns.view("s").turns[0]).toMatchObject({ state: "failed", error: "No model is set." });
    turns.resend();
    expect(sent).toHaveLength(1);
  });

  it("makes room for the next message", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(done("t", { error: "x", message_id: null }));
    turns.send({ chat: "s", text: "again", attachments: [], afterId: null });
    expect(turns.view("s").turns.map((t) => t.state)).toEqual(["sending"]);
  });
});

describe("a turn that was already running", () => {
  const words = "The quick brown fox";

  /** Every place at which the record can be taken, against pieces of every size that come from any place on. */
  it("has the whole text once, wherever the record ends and the pieces begin", async () => {
    for (let cut = 0; cut <= words.length; cut++) {
      for (const size of [1, 3, 7]) {
        const { turns, live } = setup();
        let give: (s: SessionLive) => void = () => undefined;
        live(() => new Promise((r) => (give = r)));
        const synced = turns.resync("s");
        const recorded = seq + 2;
        for (let i = 0; i < words.length; i += size) {
          const e = text("t", i, words.slice(i, i + size));
          turns.event(e);
        }
        give({ ...OPEN, text: words.slice(0, cut), seq: Math.min(recorded, seq) });
        // What the record holds is what it says it holds: pieces up to its number are in its text.
        const inRecord = Math.min(words.length, 2 * size);
        await synced;
        if (cut >= inRecord) expect(said(turns), `cut ${cut}, size ${size}`).toBe(words);
      }
    }
  });

  it("takes of a joined piece only what lies beyond the record", async () => {
    const { turns, live } = setup();
    live(async () => ({ ...OPEN, text: "ha ha", seq }));
    await turns.resync("s");
    turns.event(text("t", 3, "ha ha"));
    expect(said(turns)).toBe("ha ha ha");
  });

  it("is fetched when a piece of it comes first, and again when a piece was missed", async () => {
    const { turns, live } = setup();
    let record = { ...NONE };
    live(async () => record);
    await turns.resync("s");
    record = { ...OPEN, text: "Hello", seq: seq + 1 };
    turns.event(text("t", 4, "o"));
    await Promise.resolve();
    await Promise.resolve();
    expect(said(turns)).toBe("Hello");
    record = { ...record, text: "Hello there, you", seq: seq + 1 };
    turns.event(text("t", 13, "you"));
    await Promise.resolve();
    await Promise.resolve();
    expect(said(turns)).toBe("Hello there, you");
  });

  it("is let go after a gap when it is over, and its end is in the stored messages", async () => {
    const { turns, live, refreshed } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "Half"));
    live(async () => NONE);
    turns.gap();
    await Promise.resolve();
    await Promise.resolve();
    expect(turns.view("s").turns).toEqual([]);
    expect(refreshed).toContain("s");
  });

  it("is not asked for without end when the engine cannot tell", async () => {
    const { turns, live } = setup();
    let asked = 0;
    live(async () => {
      asked++;
      throw new Error("no such operation");
    });
    await turns.resync("s");
    turns.event(text("t", 5, "x"));
    for (let i = 0; i < 10; i++) await Promise.resolve();
    expect(asked).toBe(2);
  });
});

describe("what is said into a reply", () => {
  const start = () => {
    const s = setup();
    const { clientId } = s.turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    s.turns.event(began("t", clientId));
    const { clientId: second } = s.turns.send({ chat: "s", text: "and?", attachments: [], afterId: null });
    return { ...s, second };
  };
  const ack = (client_id: string, queued = true): LiveEvent => ({
    type: "steer_ack",
    session_id: "s",
    seq: ++seq,
    queued,
    client_id,
  });
  const heard = (client_id: string, message_id = "u2", said = "and?"): LiveEvent => ({
    type: "user_interjection",
    ...at("t"),
    message_id,
    client_id,
    text: said,
  });
  const waits = (turns: Turns) => turns.view("s").steers.map((x) => [x.text, x.taken]);

  it("goes out as such, waits, and stands where it was read", () => {
    const { turns, sent, second } = start();
    expect(sent.at(-1)).toEqual({ type: "chat.steer", session_id: "s", text: "and?", client_id: second });
    expect(waits(turns)).toEqual([["and?", false]]);
    turns.event(ack(second));
    expect(waits(turns)).toEqual([["and?", true]]);
    turns.event(text("t", 0, "One. "));
    turns.event(heard(second));
    turns.event(text("t", 0, "Two.", "m2"));
    expect(waits(turns)).toEqual([]);
    expect(said(turns)).toBe("One. <said>Two.");
    turns.event(heard(second));
    turns.event(ack(second));
    expect(said(turns)).toBe("One. <said>Two.");
    expect(waits(turns)).toEqual([]);
  });

  it("becomes a turn of its own when the reply ended first", () => {
    const { turns, second, phases } = start();
    turns.event(ack(second));
    turns.event(done("t"));
    expect(waits(turns)).toEqual([["and?", true]]);
    turns.event(began("t2", second));
    expect(waits(turns)).toEqual([]);
    expect(turns.view("s").turns.map((x) => [x.turnId, x.state, x.user?.text])).toEqual([
      ["t", "done", "hi"],
      ["t2", "running", "and?"],
    ]);
    expect(phases).toEqual(["start", "done", "start"]);
  });

  it("is there again on a page that was loaded anew", async () => {
    const { turns, live } = setup();
    live(async () => ({ ...OPEN, text: "One", seq, steers: [{ client_id: "x", text: "and?" }] }));
    await turns.resync("s");
    expect(waits(turns)).toEqual([["and?", true]]);
    turns.event(heard("x"));
    expect(waits(turns)).toEqual([]);
  });

  it("is shown when another window said it", async () => {
    const { turns, live } = start();
    live(async () => ({ ...OPEN, client_id: "", seq, steers: [{ client_id: "other", text: "me too" }] }));
    turns.event(ack("other"));
    for (let i = 0; i < 4; i++) await Promise.resolve();
    expect(waits(turns)).toEqual([
      ["me too", true],
      ["and?", false],
    ]);
  });

  it("is not kept waiting when it was read while the line was cut, and its receipt comes once more", async () => {
    const { turns, live, second } = start();
    live(async () => ({ ...OPEN, client_id: "", message_id: "m2", text: "Two", seq }));
    turns.resend();
    turns.event(ack(second));
    for (let i = 0; i < 4; i++) await Promise.resolve();
    expect(waits(turns)).toEqual([]);
  });

  it("that is turned down stays in sight with the reason", () => {
    const { turns, second } = start();
    turns.event({ type: "error", message: "Too long.", recoverable: false, client_id: second });
    expect(waits(turns)).toEqual([]);
    expect(turns.view("s").turns.map((x) => [x.state, x.error, x.user?.text])).toEqual([
      ["running", null, "hi"],
      ["failed", "Too long.", "and?"],
    ]);
  });

  it("into a chat that has no id yet goes out when it has one", () => {
    const { turns, sent } = setup();
    const { key, clientId } = turns.send({ chat: null, text: "hi", attachments: [], afterId: null });
    const { clientId: second } = turns.send({ chat: key, text: "and?", attachments: [], afterId: null });
    turns.resend();
    expect(sent.filter((m) => m.type === "chat.steer")).toEqual([]);
    turns.event(began("t", clientId));
    expect(sent.at(-1)).toEqual({ type: "chat.steer", session_id: "s", text: "and?", client_id: second });
    expect(waits(turns)).toEqual([["and?", false]]);
  });

  it("turns a message that found a reply running into one of these", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    turns.event(ack(clientId));
    expect(turns.view("s").turns).toEqual([]);
    expect(waits(turns)).toEqual([["hi", true]]);
  });

  it("waits its turn when files go with it", () => {
    const { turns, sent, phases } = start();
    const { clientId } = turns.send({ chat: "s", text: "see", attachments: ["a.txt"], afterId: null });
    expect(sent.at(-1)).toMatchObject({ type: "chat.send", attachments: ["a.txt"] });
    turns.event(began("t2", clientId));
    expect(turns.view("s").turns.map((x) => x.state)).toEqual(["running", "waiting"]);
    turns.event(done("t"));
    expect(turns.view("s").turns.map((x) => x.state)).toEqual(["done", "running"]);
    expect(phases).toEqual(["start", "done", "start"]);
  });
});

describe("a turn with calls", () => {
  const begun = () => {
    const s = setup();
    const { clientId } = s.turns.send({ chat: "s", text: "hi", attachments: [], afterId: null });
    s.turns.event(began("t", clientId));
    return s;
  };
  const call = (call_id: string, args: unknown = {}): LiveEvent => ({
    type: "tool_call",
    ...at("t"),
    call_id,
    name: "run",
    arguments: args,
  });
  const progress = (call_id: string, kind: "stdout" | "status", piece: string): LiveEvent => ({
    type: "tool_progress",
    ...at("t"),
    call_id,
    name: "run",
    kind,
    text: piece,
  });
  const result = (call_id: string, value: unknown, is_error = false): LiveEvent => ({
    type: "tool_result",
    ...at("t"),
    call_id,
    name: "run",
    result: value,
    is_error,
    duration_ms: 12,
  });
  const calls = (turns: Turns) =>
    turns.view("s").turns.flatMap((x) => x.parts.flatMap((p) => (p.kind === "call" ? [p.call] : [])));

  it("knows of each what it was given, what it says meanwhile and what it gave", () => {
    const { turns } = begun();
    turns.event(call("c1", { q: "tea" }));
    turns.event(progress("c1", "status", "Looking"));
    turns.event(progress("c1", "stdout", "a\n"));
    turns.event(progress("c1", "stdout", "b\n"));
    expect(calls(turns)[0]).toMatchObject({ state: "running", status: "Looking", output: "a\nb\n" });
    expect(calls(turns)[0]?.args?.text).toBe('{\n  "q": "tea"\n}');
    turns.event(result("c1", "warm"));
    turns.event(call("c1", { q: "tea" }));
    expect(calls(turns)).toHaveLength(1);
    expect(calls(turns)[0]).toMatchObject({ state: "done", status: null, durationMs: 12, result: { text: "warm" } });
  });

  it("keeps no more of a long output and result than a person reads", () => {
    const { turns } = begun();
    turns.event(call("c1"));
    for (let i = 0; i < 30; i++) turns.event(progress("c1", "stdout", "x".repeat(1000)));
    turns.event(result("c1", "y".repeat(50_000)));
    expect(calls(turns)[0]?.output).toHaveLength(20_000);
    expect(calls(turns)[0]?.result?.text).toHaveLength(20_000);
    expect(calls(turns)[0]?.result?.total).toBe(50_000);
  });

  it("leaves no call running when it is over, and remembers them once it is stored", () => {
    const { turns } = begun();
    turns.event(call("c1"));
    turns.event(call("c2"));
    turns.event(result("c1", { error: "no" }, true));
    turns.event(done("t", { cancelled: true, content: "Ha" }));
    expect(calls(turns).map((c) => c.state)).toEqual(["failed", "unended"]);
    turns.stored("s", [{ id: "m1", turn_id: "t" } as Message]);
    expect(turns.view("s").turns).toEqual([]);
    expect(turns.view("s").calls.get("c1")?.durationMs).toBe(12);
  });

  it("says that the model takes its time only until it says something", () => {
    const { turns } = begun();
    const slow: LiveEvent = { type: "notice", ...at("t"), code: "model_waiting", message: "Still working." };
    turns.event(slow);
    expect(turns.view("s").turns[0]?.notice?.message).toBe("Still working.");
    turns.event(text("t", 0, "Now"));
    expect(turns.view("s").turns[0]?.notice).toBeNull();
    turns.event({ ...slow, code: "model_fallback", message: "Another one answers." });
    turns.event(text("t", 3, "!"));
    expect(turns.view("s").turns[0]?.notice?.message).toBe("Another one answers.");
  });
});

describe("a turn that is asked for anew", () => {
  it("is there at once, is known by its id, and goes again when it is refused", () => {
    const { turns, refreshed } = setup();
    const user = { text: "hi", attachments: [], afterId: null, replaces: "u1" };
    const id = turns.begin("s", user);
    expect(turns.view("s").turns[0]).toMatchObject({ state: "sending", user });
    turns.drop("s", id);
    expect(turns.view("s").turns).toEqual([]);
    const again = turns.begin("s", user);
    turns.event(began("t", again));
    turns.drop("s", again);
    expect(turns.view("s").turns.map((x) => x.state)).toEqual(["running"]);
    // The stored messages are those of another branch now.
    expect(refreshed).toEqual(["s"]);
  });
});
