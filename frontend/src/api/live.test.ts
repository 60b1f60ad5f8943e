import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeSocket, hello, useFakeSocket } from "@/test/wire";
import { httpTransport } from "./http";
import { Live } from "./live";
import type { LiveEvent } from "./shapes";

let live: Live;
let told: LiveEvent[];

beforeEach(() => {
  vi.useFakeTimers();
  useFakeSocket();
  live = new Live(httpTransport());
  told = [];
  live.on((e) => told.push(e));
});

afterEach(() => {
  live.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function updated(seq: number, title = `t${seq}`): LiveEvent {
  return { type: "session.updated", seq, ts: "2026-01-01T00:00:00Z", data: { session_id: "s", title } };
}

const seqs = () => told.flatMap((e) => ("seq" in e && e.type !== "hello" ? [e.seq] : []));

describe("the live channel", () => {
  it("connects to /ws, asks for nothing that came before, and stands after hello", () => {
    const opened = vi.fn();
    live.onOpen(opened);
    live.start();
    expect(FakeSocket.all).toHaveLength(1);
    expect(FakeSocket.last.url.protocol).toBe("ws:");
    expect(FakeSocket.last.url.host).toBe(window.location.host);
    expect(FakeSocket.last.url.pathname + FakeSocket.last.url.search).toBe("/ws");
    expect(live.status).toBe("connecting");
    expect(live.send({ type: "ping" })).toBe(false);

    FakeSocket.last.give(hello("b1", 4));
    expect(live.status).toBe("open");
    expect(opened).toHaveBeenCalledOnce();
    expect(live.send({ type: "ping" })).toBe(true);
    expect(FakeSocket.last.sent).toEqual([{ type: "ping" }]);
  });

  it("is started once, however often it is asked", () => {
    live.start();
    live.start();
    expect(FakeSocket.all).toHaveLength(1);
  });

  it("comes back with the last event it read", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 4), updated(5), updated(9));
    FakeSocket.last.fail();
    expect(live.status).toBe("lost");
    expect(live.send({ type: "ping" })).toBe(false);
    vi.advanceTimersByTime(200);
    expect(FakeSocket.all).toHaveLength(2);
    expect(FakeSocket.last.url.searchParams.get("since")).toBe("b1.9");
  });

  it("comes back with the number of hello when nothing has come since", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 4));
    FakeSocket.last.close();
    vi.advanceTimersByTime(200);
    expect(FakeSocket.last.url.searchParams.get("since")).toBe("b1.4");
  });

  it("waits longer each time, up to five seconds, and from the start again once it stood", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 0));
    for (const wait of [200, 400, 800, 1600, 3200, 5000, 5000]) {
      const n = FakeSocket.all.length;
      FakeSocket.last.close();
      vi.advanceTimersByTime(wait - 1);
      expect(FakeSocket.all).toHaveLength(n);
      vi.advanceTimersByTime(1);
      expect(FakeSocket.all).toHaveLength(n + 1);
    }
    FakeSocket.last.give(hello("b1", 0));
    FakeSocket.last.close();
    vi.advanceTimersByTime(200);
    expect(FakeSocket.all).toHaveLength(9);
  });

  it("tries at once when asked, and only while it waits", () => {
    live.start();
    live.retryNow();
    expect(FakeSocket.all).toHaveLength(1);
    FakeSocket.last.close();
    live.retryNow();
    expect(FakeSocket.all).toHaveLength(2);
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(2);
  });

  it("tells every event once and in order over a lost connection", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 0), updated(1), updated(2));
    const old = FakeSocket.last;
    old.close();
    vi.advanceTimersByTime(200);
    FakeSocket.last.give(hello("b1", 4), updated(2), updated(3), updated(4));
    old.give(updated(5, "from the dead"));
    FakeSocket.last.give(updated(5));
    expect(seqs()).toEqual([1, 2, 3, 4, 5]);
    expect(told.at(-1)).toEqual(updated(5));
    expect(told.some((e) => e.type === "gap")).toBe(false);
  });

  it("passes a gap on and goes on with what follows it", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 0), updated(3));
    FakeSocket.last.close();
    vi.advanceTimersByTime(200);
    FakeSocket.last.give(hello("b1", 900), { type: "gap" }, updated(901));
    expect(told.filter((e) => e.type === "gap")).toHaveLength(1);
    expect(seqs()).toEqual([3, 901]);
  });

  it("takes another start of the engine for one gap, also where the engine says so itself", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 0), updated(50));
    FakeSocket.last.close();
    vi.advanceTimersByTime(200);
    FakeSocket.last.give(hello("b2", 3), { type: "gap" }, updated(4));
    expect(told.filter((e) => e.type === "gap")).toHaveLength(1);
    expect(seqs()).toEqual([50, 4]);
    // A later gap is a new one.
    FakeSocket.last.give({ type: "gap" });
    expect(told.filter((e) => e.type === "gap")).toHaveLength(2);

    FakeSocket.last.close();
    vi.advanceTimersByTime(200);
    expect(FakeSocket.last.url.searchParams.get("since")).toBe("b2.4");
  });

  it("tells its status only when that changes", () => {
    const changed = vi.fn();
    live.onStatus(changed);
    live.start();
    FakeSocket.last.give(hello("b1", 0));
    FakeSocket.last.close();
    vi.advanceTimersByTime(200);
    FakeSocket.last.close();
    expect(changed).toHaveBeenCalledTimes(2);
  });

  it("is quiet once it is stopped, and sends nothing into a connection that does not stand yet", () => {
    live.start();
    FakeSocket.last.give(hello("b1", 0));
    live.stop();
    expect(FakeSocket.last.state).toBe("closed");
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(1);
    expect(live.send({ type: "ping" })).toBe(false);

    live.start();
    expect(live.status).toBe("connecting");
    expect(live.send({ type: "ping" })).toBe(false);
  });
});
