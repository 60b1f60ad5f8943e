// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { Message } from "../shapes";
import { type Conversation, Turns } from "../turns";
import { type ChatItem, fold, isUnanswered, lastOwn, merge } from "./items";

const EMPTY: Conversation = { turns: [], steers: [], usage: null, calls: new Map() };
let n = 0;

const row = (turn_id: string, role: Message["role"], content: string, more: Partial<Message> = {}): Message => ({
  id: `r${++n}`,
  turn_id,
  role,
  content,
  created_at: "2026-01-01T00:00:00Z",
  approval: null,
  attachments: [],
  checks: [],
  interjection: false,
  memory_sources: [],
  name: null,
  sources: [],
  thinking: null,
  tool_call_id: null,
  tool_calls: [],
  ...more,
});
const calls = (...ids: string[]) => ids.map((id) => ({ id, function: { name: "run", arguments: "{}" } }));
const asks = (turn: string, text: string, ...ids: string[]) =>
  row(turn, "assistant", text, { tool_calls: calls(...ids) });
const gives = (turn: string, id: string, content: string) => row(turn, "tool", content, { tool_call_id: id });

/** What is shown, in short. */
function plain(items: readonly ChatItem[]): string[] {
  return items.map((i) => {
    if (i.kind === "user") return `${i.state === "stored" ? "" : `(${i.state}) `}you: ${i.text}`;
    if (i.kind === "event") return `* ${i.name}`;
    if (i.kind === "other") return `${i.name}: ${i.text}`;
    const parts = i.parts.map((p) =>
      p.kind === "message" ? p.text : p.kind === "call" ? `<${p.call.callId} ${p.call.state}>` : "",
    );
    return `it: ${parts.join(" ")}${i.ended ? ` [${i.ended}]` : ""}${i.final ? "." : ""}`;
  });
}
const folded = (rows: Message[]) => plain(fold(rows, new Map()).flatMap((g) => g.items));

function store() {
  return new Turns({
    send: () => true,
    fetchLive: () => Promise.reject(new Error("none")),
    refresh: async () => undefined,
    phase: () => undefined,
    born: () => undefined,
    schedule: (flush) => flush(),
  });
}

describe("stored messages", () => {
  it("of a turn are one reply, with its calls and what they gave", () => {
    const rows = [
      row("t", "user", "Hi"),
      asks("t", "Let me look.", "a", "b"),
      gives("t", "a", '{"ok":true}'),
      gives("t", "b", '{"error":"No."}'),
      row("t", "assistant", "Done."),
    ];
    expect(folded(rows)).toEqual(["you: Hi", "it: Let me look. <a done> <b failed> Done.."]);
  });

  it("said into a reply stand where they were read, and only the last piece is the end", () => {
    const rows = [
      row("t", "user", "Hi"),
      row("t", "assistant", "One."),
      row("t", "user", "And?", { interjection: true }),
      row("t", "assistant", "Two."),
    ];
    expect(folded(rows)).toEqual(["you: Hi", "it: One.", "you: And?", "it: Two.."]);
  });

  it("keep a call apart whose id came before, in another turn", () => {
    const rows = [
      row("t1", "user", "Hi"),
      asks("t1", "", "a"),
      gives("t1", "a", "one"),
      row("t2", "user", "Again"),
      asks("t2", "", "a"),
    ];
    expect(folded(rows).filter((x) => x.startsWith("it"))).toEqual(["it: <a done>.", "it: <a unended>."]);
  });

  it("say how a reply was cut off", () => {
    const cut = row("t", "assistant", "Half", { cancelled: true });
    const why = row("t", "event", "{}", { name: "interrupted" });
    expect(folded([row("t", "user", "Hi"), cut])).toEqual(["you: Hi", "it: Half [stopped]."]);
    expect(folded([row("t", "user", "Hi"), cut, why])).toEqual(["you: Hi", "it: Half [interrupted]."]);
    expect(folded([row("t", "user", "Hi"), why])).toEqual(["you: Hi", "* interrupted"]);
    expect(folded([row("t", "user", "Hi"), row("t", "event", "{}", { name: "not_sent" })])).toEqual([
      "you: Hi",
      "* not_sent",
    ]);
  });

  it("know which of them can be changed", () => {
    const rows = [
      row("t", "user", "Hi"),
      row("t", "assistant", "One."),
      row("t", "user", "And?", { interjection: true }),
    ];
    expect(lastOwn(fold(rows, new Map()).flatMap((g) => g.items))?.text).toBe("Hi");
  });

  it("have no answer when the last of them is the person's or a result", () => {
    const ask = row("t", "user", "Hi");
    expect(isUnanswered(fold([ask], new Map()), EMPTY)).toBe(true);
    expect(isUnanswered(fold([ask, asks("t", "", "a"), gives("t", "a", "x")], new Map()), EMPTY)).toBe(true);
    expect(isUnanswered(fold([ask, row("t", "assistant", "Yes")], new Map()), EMPTY)).toBe(false);
  });
});

describe("what is not stored yet", () => {
  it("takes the place of the message it changes, and of all after it", () => {
    const first = row("t1", "user", "Tea?");
    const rows = [first, row("t1", "assistant", "Tea."), row("t2", "user", "More"), row("t2", "assistant", "More.")];
    const turns = store();
    turns.send({ chat: "s", text: "Cocoa?", attachments: [], afterId: null, replaces: first.id });
    const groups = fold(rows, new Map());
    expect(plain(merge(groups, turns.view("s")))).toEqual(["(sending) you: Cocoa?"]);
    const stored = row("t3", "user", "Cocoa?");
    expect(plain(merge(fold([stored], new Map()), turns.view("s")))).toEqual(["you: Cocoa?"]);
  });

  it("is shown once although the rows came first", () => {
    const turns = store();
    const old = row("t1", "user", "Hi");
    turns.send({ chat: "s", text: "Hi", attachments: [], afterId: old.id });
    expect(plain(merge(fold([old], new Map()), turns.view("s")))).toEqual(["you: Hi", "(sending) you: Hi"]);
    expect(plain(merge(fold([old, row("t2", "user", "Hi")], new Map()), turns.view("s")))).toEqual([
      "you: Hi",
      "you: Hi",
    ]);
  });

  it("waits under the reply that is being written", () => {
    const turns = store();
    const { clientId } = turns.send({ chat: "s", text: "Hi", attachments: [], afterId: null });
    turns.event({ type: "session", session_id: "s", turn_id: "t", seq: 1, client_id: clientId });
    turns.send({ chat: "s", text: "And?", attachments: [], afterId: null });
    turns.send({ chat: "s", text: "See", attachments: ["a.txt"], afterId: null });
    expect(plain(merge([], turns.view("s")))).toEqual([
      "you: Hi",
      "it: .",
      "(sending) you: See",
      "(sending) you: And?",
    ]);
  });

  it("shows the calls of a turn that was joined as going on, and knows them once", () => {
    const turns = store();
    const rows = [row("t", "user", "Hi"), asks("t", "", "a", "b"), gives("t", "a", "x")];
    const { clientId } = turns.send({ chat: "s", text: "Hi", attachments: [], afterId: null });
    turns.event({ type: "session", session_id: "s", turn_id: "t", seq: 1, client_id: clientId });
    const shown = () => plain(merge(fold(rows, new Map()), turns.view("s")));
    expect(shown()).toEqual(["you: Hi", "it: <a done> <b running>."]);
    const b = { session_id: "s", turn_id: "t", seq: 2, call_id: "b", name: "run" };
    turns.event({ type: "tool_result", ...b, result: "y", is_error: true, duration_ms: 5 });
    expect(shown()).toEqual(["you: Hi", "it: <a done> <b failed>."]);
  });
});
