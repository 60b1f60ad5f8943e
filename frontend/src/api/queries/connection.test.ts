import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Engine, FakeSocket, fakeEngine, hello, useFakeSocket } from "@/test/wire";
import type { LiveEvent, Notification, Session, Subagent } from "../shapes";

// Each test has a page of its own: the channel and the store of turns live as long as the page.
async function page() {
  vi.resetModules();
  const { followEvents, retryConnection } = await import("./connection");
  const { queryClient } = await import("./client");
  const { sessionKeys } = await import("./sessions");
  const { turns } = await import("./turns");
  const noted = vi.fn<(n: Notification) => void>();
  const stop = followEvents(queryClient, noted);
  return { queryClient, sessionKeys, turns, noted, stop, retryConnection };
}

let p: Awaited<ReturnType<typeof page>>;
let engine: Engine;

beforeEach(async () => {
  useFakeSocket();
  engine = fakeEngine({
    "GET /api/sessions/*/live": () => ({
      turn_id: null,
      client_id: "",
      message_id: "",
      seq: 0,
      text: "",
      thinking: "",
      steers: [],
    }),
  });
  p = await page();
  vi.useFakeTimers();
});

afterEach(() => {
  p.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const write = (text: string) => p.turns.send({ chat: "s", text, attachments: [], afterId: null });

const a = { id: "a", title: "One", updated_at: "2026-01-01T00:00:00Z", incognito: false } as Session;
const b = { ...a, id: "b", title: "Two" };

const titles = () => p.queryClient.getQueryData<Session[]>(p.sessionKeys.list)?.map((s) => s.title);
const stale = (key: readonly unknown[]) => p.queryClient.getQueryState(key)?.isInvalidated;

describe("the page and its channel", () => {
  it("says after hello whether it is looked at", () => {
    FakeSocket.last.give(hello("b", 0));
    expect(FakeSocket.last.sentOf("presence")).toHaveLength(1);
  });

  it("sends what was written while it was away, once", () => {
    const first = write("One");
    FakeSocket.last.give(hello("b", 0));
    const second = write("Two");
    // The second is said into the reply to the first.
    expect(FakeSocket.last.sentOf("chat.send").map((m) => [m.text, m.client_id])).toEqual([["One", first.clientId]]);
    expect(FakeSocket.last.sentOf("chat.steer").map((m) => [m.text, m.client_id])).toEqual([["Two", second.clientId]]);
  });

  it("sends a message that was not acknowledged again, as the same one", () => {
    FakeSocket.last.give(hello("b", 7));
    const { clientId } = write("Hi");
    FakeSocket.last.fail();
    vi.advanceTimersByTime(200);
    expect(FakeSocket.last.url.searchParams.get("since")).toBe("b.7");
    FakeSocket.last.give(hello("b", 7));
    expect(FakeSocket.last.sentOf("chat.send")).toEqual([
      { type: "chat.send", session_id: "s", text: "Hi", client_id: clientId },
    ]);
    FakeSocket.last.give({ type: "session", seq: 8, session_id: "s", turn_id: "t", client_id: clientId });
    FakeSocket.last.fail();
    vi.advanceTimersByTime(200);
    FakeSocket.last.give(hello("b", 8));
    expect(FakeSocket.last.sentOf("chat.send")).toEqual([]);
  });

  it("shows a reply whole over a break, without a double", () => {
    FakeSocket.last.give(hello("b", 0));
    const { clientId } = write("Hi");
    const S = { session_id: "s", turn_id: "t" };
    const piece = (seq: number, offset: number, text: string): LiveEvent => ({
      type: "text_delta",
      seq,
      message_id: "m1",
      offset,
      text,
      ...S,
    });
    FakeSocket.last.give({ type: "session", seq: 1, client_id: clientId, ...S }, piece(2, 0, "Hel"));
    FakeSocket.last.fail();
    vi.advanceTimersByTime(200);
    FakeSocket.last.give(hello("b", 4), piece(2, 0, "Hel"), piece(3, 3, "lo"), piece(4, 5, "!"));
    vi.advanceTimersByTime(100);
    expect(p.turns.view("s").turns.map((x) => x.parts)).toEqual([
      [{ kind: "message", id: "m1", thinking: "", text: "Hello!" }],
    ]);
    expect(engine.of("GET /api/sessions/s/live")).toEqual([]);
  });

  it("fetches everything again after a gap", () => {
    FakeSocket.last.give(hello("b", 0));
    p.queryClient.setQueryData(p.sessionKeys.list, [a]);
    p.queryClient.setQueryData(["config", "value"], {});
    FakeSocket.last.give({ type: "gap" });
    expect(stale(p.sessionKeys.list)).toBe(true);
    expect(stale(["config", "value"])).toBe(true);
  });

  it("renames and drops chats as it is told", () => {
    FakeSocket.last.give(hello("b", 0));
    p.queryClient.setQueryData(p.sessionKeys.list, [a, b]);
    const ts = "2026-01-01T00:00:00Z";
    FakeSocket.last.give({ type: "session.updated", seq: 1, ts, data: { session_id: "b", title: "Renamed" } });
    expect(titles()).toEqual(["One", "Renamed"]);
    FakeSocket.last.give({ type: "session.updated", seq: 2, ts, data: { session_id: "b", title: null, model: "x/y" } });
    expect(titles()).toEqual(["One", "Renamed"]);
    FakeSocket.last.give({ type: "session.deleted", seq: 3, ts, data: { session_id: "a" } });
    expect(titles()).toEqual(["Renamed"]);
  });

  it("names a chat whose first reply failed by the words it began with", async () => {
    vi.useRealTimers();
    const list = [{ ...a, id: "s", title: "" }];
    engine.set("GET /api/sessions", () => list);
    engine.set("PATCH /api/sessions/*", ({ body }) => ({ ok: true, ...(body as object) }));
    FakeSocket.last.give(hello("b", 0));
    await p.queryClient.fetchQuery({ queryKey: p.sessionKeys.list, queryFn: () => list });
    const { clientId } = write("How  long do I boil eggs?");
    const S = { session_id: "s", turn_id: "t" };
    const over = { content: "", message_id: null, checks: [], sources: [], memory_sources: [], error: "model" };
    FakeSocket.last.give(
      { type: "session", seq: 1, client_id: clientId, ...S },
      { type: "error", seq: 2, message: "It went away.", recoverable: false, ...S },
      { type: "done", seq: 3, ...over, ...S },
    );
    await vi.waitFor(() =>
      expect(engine.of("PATCH /api/sessions/s").map((x) => x.body)).toEqual([{ title: "How long do I boil eggs?" }]),
    );
  });

  it("fetches the messages again when another branch is shown", () => {
    FakeSocket.last.give(hello("b", 0));
    p.queryClient.setQueryData(p.sessionKeys.messages("s"), []);
    FakeSocket.last.give({ type: "session.updated", seq: 1, ts: "", data: { session_id: "s", branch: "t2" } });
    expect(stale(p.sessionKeys.messages("s"))).toBe(true);
  });

  it("keeps the helpers of a chat as they stand", () => {
    FakeSocket.last.give(hello("b", 0));
    const helper = { subagent_id: "h", session_id: "s", status: "running" } as Subagent;
    const key = ["subagents", "list", "s"];
    p.queryClient.setQueryData(key, []);
    FakeSocket.last.give({ type: "subagent.updated", seq: 1, ts: "", data: helper });
    FakeSocket.last.give({ type: "subagent.updated", seq: 2, ts: "", data: { ...helper, status: "completed" } });
    expect(p.queryClient.getQueryData<Subagent[]>(key)?.map((x) => x.status)).toEqual(["completed"]);
  });

  it("tells of a notification and fetches the list again", () => {
    FakeSocket.last.give(hello("b", 0));
    p.queryClient.setQueryData(["notifications", "list"], { notifications: [], unread: 0 });
    const n = { id: "n", title: "Backed up", kind: "backup" } as Notification;
    FakeSocket.last.give({ type: "notification.new", seq: 1, ts: "", data: n });
    expect(p.noted).toHaveBeenCalledExactlyOnceWith(n);
    expect(stale(["notifications", "list"])).toBe(true);
  });

  it("fetches the settings again when they changed elsewhere", () => {
    FakeSocket.last.give(hello("b", 0));
    for (const key of [["config", "value"], ["bootstrap"], ["models", "providers"], ["notifications", "list"]])
      p.queryClient.setQueryData(key, {});
    FakeSocket.last.give({ type: "config.updated", seq: 1, ts: "", data: { sections: ["chat"] } });
    expect(stale(["config", "value"])).toBe(true);
    expect(stale(["bootstrap"])).toBe(true);
    expect(stale(["models", "providers"])).toBe(true);
    expect(stale(["notifications", "list"])).toBe(false);
  });

  it("does not wait when the computer is back on the net, or the person asks", () => {
    FakeSocket.last.give(hello("b", 0));
    FakeSocket.last.fail();
    window.dispatchEvent(new Event("online"));
    expect(FakeSocket.all).toHaveLength(2);
    FakeSocket.last.fail();
    p.retryConnection();
    expect(FakeSocket.all).toHaveLength(3);
  });
});
