// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { ClientMessage, LiveEvent, Message, SessionLive } from "./shapes";
import { type Phase, type Turn, Turns } from "./turns";

const NONE: SessionLive = { turn_id: null, client_id: "", text: "", thinking: "", seq: 0 };

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
const text = (turn: string, offset: number, piece: string): LiveEvent => ({
  type: "text_delta",
  ...at(turn),
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
    .turns.map((t) => t.segments.map((x) => (x.kind === "text" ? x.text : `<${x.kind}>`)).join(""))
    .join("|");

describe("a turn that was sent from here", () => {
  it("is shown at once, and grows with its pieces", () => {
    const { turns, sent } = setup();
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
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
    const { key, clientId } = turns.send({ sessionId: null, text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "yes"));
    expect(born).toEqual([[key, "s"]]);
    expect(turns.view(key).turns).toEqual([]);
    expect(said(turns)).toBe("yes");
  });

  it("is sent again until it is acknowledged, with the same id", () => {
    const { turns, sent, state } = setup(false);
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
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
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    for (let i = 0; i < 20; i++) turns.event(text("t", i, "x"));
    turns.event(done("t"));
    expect(phases).toEqual(["start", "done"]);
    expect(refreshed).toEqual(["s"]);
  });

  it("leaves once the stored messages hold it, and not before", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(done("t", { content: "Yes.", message_id: "m9" }));
    turns.stored("s", []);
    expect(said(turns)).toBe("Yes.");
    turns.stored("s", [{ id: "m9" } as Message]);
    expect(turns.view("s").turns).toEqual([]);
  });

  it("does not begin anew when its message was sent again and it is over", async () => {
    const { turns, phases, state, sent } = setup();
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    state.online = false;
    turns.event(began("t", clientId));
    turns.event(text("t", 0, "yes"));
    turns.event(done("t", { content: "yes" }));
    turns.stored("s", [{ id: "m1" } as Message]);
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
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
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
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event({ type: "error", ...at("t"), message: "Trying another model.", recoverable: true });
    expect(turns.view("s").turns[0]).toMatchObject({ state: "running", notice: "Trying another model." });
    expect(phases).toEqual(["start"]);
  });

  it("says when it was stopped", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(done("t", { content: "Ha", cancelled: true }));
    expect(turns.view("s").turns[0]?.state).toBe("stopped");
  });

  it("that was turned down before it began is not sent again", () => {
    const { turns, sent } = setup();
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    turns.event({ type: "error", message: "No model is set.", recoverable: false, client_id: clientId });
    expect(turns.view("s").turns[0]).toMatchObject({ state: "failed", error: "No model is set." });
    turns.resend();
    expect(sent).toHaveLength(1);
  });

  it("makes room for the next message", () => {
    const { turns } = setup();
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
    turns.event(began("t", clientId));
    turns.event(done("t", { error: "x", message_id: null }));
    turns.send({ sessionId: "s", text: "again", attachments: [], afterId: null });
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
        give({ turn_id: "t", client_id: "c", text: words.slice(0, cut), thinking: "", seq: Math.min(recorded, seq) });
        // What the record holds is what it says it holds: pieces up to its number are in its text.
        const inRecord = Math.min(words.length, 2 * size);
        await synced;
        if (cut >= inRecord) expect(said(turns), `cut ${cut}, size ${size}`).toBe(words);
      }
    }
  });

  it("takes of a joined piece only what lies beyond the record", async () => {
    const { turns, live } = setup();
    live(async () => ({ turn_id: "t", client_id: "c", text: "ha ha", thinking: "", seq }));
    await turns.resync("s");
    turns.event(text("t", 3, "ha ha"));
    expect(said(turns)).toBe("ha ha ha");
  });

  it("is fetched when a piece of it comes first, and again when a piece was missed", async () => {
    const { turns, live } = setup();
    let record = { ...NONE };
    live(async () => record);
    await turns.resync("s");
    record = { turn_id: "t", client_id: "c", text: "Hello", thinking: "", seq: seq + 1 };
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
    const { clientId } = turns.send({ sessionId: "s", text: "hi", attachments: [], afterId: null });
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
