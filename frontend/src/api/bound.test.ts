import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { hello, later } from "@/test/wire";
import { type BoundWindow, boundTransport } from "./bound";
import { operations } from "./client.gen";
import { ApiError } from "./errors";
import { Live } from "./live";
import type { LiveEvent } from "./shapes";

type Batch = { items?: unknown[]; done?: true; error?: unknown };

/** What the window gives the page, with the test as the engine behind it. */
function fakeWindow() {
  const listeners = new Map<string, (b: Batch) => void>();
  const Streams = {
    Open: vi.fn(async (_id: string, _op: string, _input: unknown) => undefined as unknown),
    Send: vi.fn(async (_id: string, _message: unknown) => undefined as unknown),
    Cancel: vi.fn(async (_id: string) => undefined as unknown),
  };
  const Sessions = { Update: vi.fn(async (_input: unknown) => ({ ok: true }) as unknown) };
  return {
    Streams,
    Sessions,
    listeners,
    window: {
      go: { bound: { Streams, Sessions } },
      runtime: {
        EventsOn(name: string, fn: (b: Batch) => void) {
          listeners.set(name, fn);
          return () => listeners.delete(name);
        },
      },
    } as unknown as BoundWindow,
    /** The id under which the newest stream was opened. */
    id: () => String(Streams.Open.mock.calls.at(-1)?.[0]),
    give(b: Batch, id = String(Streams.Open.mock.calls.at(-1)?.[0])) {
      listeners.get(`stream:${id}`)?.(b);
    },
  };
}

let w: ReturnType<typeof fakeWindow>;
let t: ReturnType<typeof boundTransport>;

beforeEach(() => {
  w = fakeWindow();
  t = boundTransport(w.window);
});

const FAILURE = { status: 404, detail: "This chat is gone.", code: "chat_unknown", request_id: "r-1" };

async function problemOf(p: Promise<unknown>): Promise<ApiError> {
  const e = await p.then(
    () => undefined,
    (x: unknown) => x,
  );
  expect(e).toBeInstanceOf(ApiError);
  return e as ApiError;
}

describe("a call in the window", () => {
  it("goes to the method of its row, with the input as it is", async () => {
    const input = { id: "a", title: "New" };
    expect(await t.call("sessions.update", operations["sessions.update"], input)).toEqual({ ok: true });
    expect(w.Sessions.Update).toHaveBeenCalledExactlyOnceWith(input);
  });

  it.each([
    ["as JSON text, as Wails rejects", JSON.stringify(FAILURE)],
    ["as an object", FAILURE],
  ])("is refused the same as over HTTP: %s", async (_name, rejection) => {
    w.Sessions.Update.mockRejectedValue(rejection);
    expect(await problemOf(t.call("sessions.update", operations["sessions.update"], {}))).toMatchObject({
      status: 404,
      detail: "This chat is gone.",
      code: "chat_unknown",
      requestId: "r-1",
      unreachable: false,
    });
  });

  it("carries the fields of a refused setting", async () => {
    const detail = [{ loc: ["body", "chat", "history_window"], msg: "Must be 4 or more.", type: "range" }];
    w.Sessions.Update.mockRejectedValue(JSON.stringify({ status: 422, detail, code: "invalid", request_id: "r" }));
    const e = await problemOf(t.call("sessions.update", operations["sessions.update"], {}));
    expect(e.status).toBe(422);
    expect(e.fields).toEqual(detail);
  });

  it("shows no words of a program", async () => {
    w.Sessions.Update.mockRejectedValue("runtime error: index out of range");
    const e = await problemOf(t.call("sessions.update", operations["sessions.update"], {}));
    expect(e).toMatchObject({ status: 500, detail: "" });
  });

  it("of a method that this window does not have is a 404", async () => {
    const e = await problemOf(t.call("config.get", operations["config.get"], {}));
    expect(e).toMatchObject({ status: 404, code: "no_such_method" });
  });

  it("shows a stored file under the same address as over HTTP", () => {
    expect(t.url(operations["files.content"], { name: "screens/a b.png" })).toBe(
      "/api/files/content/screens/a%20b.png",
    );
  });
});

describe("a stream in the window", () => {
  const open = (signal?: AbortSignal) => t.stream("models.pull", operations["models.pull"], { name: "x" }, signal);

  it("gives the items of all batches in order and ends with done", async () => {
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const v of open()) seen.push(v);
    })();
    await vi.waitFor(() => expect(w.Streams.Open).toHaveBeenCalledWith(w.id(), "models.pull", { name: "x" }));
    w.give({ items: [1, 2] });
    w.give({ items: [3] });
    w.give({ items: [4], done: true });
    await reading;
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(w.Streams.Cancel).not.toHaveBeenCalled();
    expect(w.listeners.size).toBe(0);
  });

  it("gives what came before an error, then the error", async () => {
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const v of open()) seen.push(v);
    })();
    await vi.waitFor(() => expect(w.listeners.size).toBe(1));
    w.give({ items: [1], done: true, error: FAILURE });
    expect(await problemOf(reading)).toMatchObject({ status: 404, code: "chat_unknown" });
    expect(seen).toEqual([1]);
    expect(w.listeners.size).toBe(0);
  });

  it("that is not opened is refused", async () => {
    w.Streams.Open.mockRejectedValue(JSON.stringify({ ...FAILURE, status: 409, code: "stream_open" }));
    expect(await problemOf((async () => void (await open()[Symbol.asyncIterator]().next()))())).toMatchObject({
      status: 409,
      code: "stream_open",
    });
  });

  it("is ended in the engine when its reader leaves", async () => {
    const reading = (async () => {
      for await (const _ of open()) break;
    })();
    await vi.waitFor(() => expect(w.listeners.size).toBe(1));
    w.give({ items: [1] });
    await reading;
    expect(w.Streams.Cancel).toHaveBeenCalledExactlyOnceWith(w.id());
    expect(w.listeners.size).toBe(0);
  });

  it("is ended in the engine when it is stopped", async () => {
    const abort = new AbortController();
    const reading = (async () => {
      for await (const _ of open(abort.signal));
    })();
    await vi.waitFor(() => expect(w.listeners.size).toBe(1));
    abort.abort();
    expect(await problemOf(reading)).toMatchObject({ code: "cancelled" });
    expect(w.Streams.Cancel).toHaveBeenCalledExactlyOnceWith(w.id());
  });

  it("that was stopped before it began ends too", async () => {
    const reading = (async () => {
      for await (const _ of open(AbortSignal.abort()));
    })();
    expect(await problemOf(reading)).toMatchObject({ code: "cancelled" });
    expect(w.listeners.size).toBe(0);
  });

  it("has an id of its own", async () => {
    for (let i = 0; i < 5; i++) void open()[Symbol.asyncIterator]().next();
    const ids = w.Streams.Open.mock.calls.map((c) => c[0]);
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(100);
  });
});

const MB = 1 << 20;

describe("an upload in the window", () => {
  const upload = (f: File) => t.upload("files.upload", operations["files.upload"], f, { source: "upload" });

  it("travels in pieces of one megabyte and comes out whole", async () => {
    const bytes = new Uint8Array(2 * MB + 5).map((_, i) => (i * 31) & 0xff);
    w.Streams.Send.mockImplementation(async (_id, m) => {
      if ((m as { end?: boolean }).end)
        w.give({ items: [{ name: "a.bin", mime: "x/y", size: bytes.length }], done: true });
    });
    const stored = await upload(new File([bytes], "a.bin"));
    expect(stored).toEqual({ name: "a.bin", mime: "x/y", size: bytes.length });
    expect(w.Streams.Open).toHaveBeenCalledWith(w.id(), "files.upload", {
      name: "a.bin",
      size: bytes.length,
      source: "upload",
    });
    const sent = w.Streams.Send.mock.calls.map((c) => c[1] as { piece?: string; end?: true });
    const got = sent.flatMap((m) => (m.piece === undefined ? [] : [Buffer.from(m.piece, "base64")]));
    expect(got.map((x) => x.length)).toEqual([MB, MB, 5]);
    expect(Buffer.compare(Buffer.concat(got), Buffer.from(bytes))).toBe(0);
    expect(sent.at(-1)).toEqual({ end: true });
    expect(w.listeners.size).toBe(0);
  });

  it("of an empty file is only its end", async () => {
    w.Streams.Send.mockImplementation(async () => w.give({ items: [{ name: "e" }], done: true }));
    expect(await upload(new File([], "e"))).toEqual({ name: "e" });
    expect(w.Streams.Send.mock.calls.map((c) => c[1])).toEqual([{ end: true }]);
  });

  const UNKNOWN = JSON.stringify({ status: 404, detail: "This stream is not open.", code: "stream_unknown" });
  const LARGE = { status: 413, detail: "The file is too large.", code: "file_large", request_id: "r" };

  it("that the engine ends says why, not that the stream is gone", async () => {
    w.Streams.Send.mockImplementationOnce(async () => w.give({ done: true, error: LARGE }));
    w.Streams.Send.mockRejectedValue(UNKNOWN);
    expect(await problemOf(upload(new File([new Uint8Array(3 * MB)], "a")))).toMatchObject({
      status: 413,
      detail: "The file is too large.",
    });
  });

  it("waits for the reason where that comes after the stream is gone", async () => {
    w.Streams.Send.mockRejectedValue(UNKNOWN);
    const p = problemOf(upload(new File(["x"], "a")));
    await vi.waitFor(() => expect(w.Streams.Send).toHaveBeenCalled());
    w.give({ done: true, error: LARGE });
    expect(await p).toMatchObject({ status: 413, code: "file_large" });
  });

  it("that is not opened says why", async () => {
    w.Streams.Open.mockRejectedValue(JSON.stringify({ ...LARGE, status: 503, code: "closing" }));
    w.Streams.Send.mockRejectedValue(UNKNOWN);
    expect(await problemOf(upload(new File(["x"], "a")))).toMatchObject({ status: 503, code: "closing" });
    expect(w.listeners.size).toBe(0);
  });

  it("is ended in the engine when a piece is refused", async () => {
    w.Streams.Send.mockRejectedValue(JSON.stringify({ status: 429, detail: "Too much.", code: "stream_full" }));
    expect(await problemOf(upload(new File(["x"], "a")))).toMatchObject({ status: 429 });
    expect(w.Streams.Cancel).toHaveBeenCalledExactlyOnceWith(w.id());
  });
});

describe("the live channel in the window", () => {
  let live: Live;
  let told: LiveEvent[];

  beforeEach(() => {
    vi.useFakeTimers();
    live = new Live(t);
    told = [];
    live.on((e) => told.push(e));
    live.start();
  });
  afterEach(() => {
    live.stop();
    vi.useRealTimers();
  });

  it("is the stream “live”, whose items are the events", () => {
    expect(w.Streams.Open).toHaveBeenCalledWith(w.id(), "live", {});
    w.give({ items: [hello("b", 0), { type: "gap" }] });
    expect(told.map((e) => e.type)).toEqual(["hello", "gap"]);
    expect(live.status).toBe("open");
    live.send({ type: "ping" });
    expect(w.Streams.Send).toHaveBeenCalledExactlyOnceWith(w.id(), { type: "ping" });
  });

  it.each([
    ["done", { done: true } as Batch],
    ["an error", { done: true, error: FAILURE } as Batch],
  ])("comes back after %s, with what it read last", (_name, batch) => {
    const ts = "2026-01-01T00:00:00Z";
    w.give({ items: [hello("b", 3), { type: "session.deleted", seq: 4, ts, data: { session_id: "x" } }] });
    w.give(batch);
    expect(live.status).toBe("lost");
    vi.advanceTimersByTime(200);
    expect(w.Streams.Open).toHaveBeenLastCalledWith(w.id(), "live", { since: "b.4" });
    expect(w.Streams.Open).toHaveBeenCalledTimes(2);
    expect(w.listeners.size).toBe(1);
  });

  it("comes back when it could not be opened, and when a message could not be handed on", async () => {
    w.give({ items: [hello("b", 3)] });
    const refused = later<unknown>();
    w.Streams.Send.mockReturnValueOnce(refused.promise);
    live.send({ type: "ping" });
    refused.reject(FAILURE);
    w.Streams.Open.mockRejectedValueOnce(FAILURE);
    await vi.advanceTimersByTimeAsync(200);
    expect(w.Streams.Open).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(400);
    expect(w.Streams.Open).toHaveBeenCalledTimes(3);
    w.give({ items: [hello("b", 3)] });
    expect(live.status).toBe("open");
  });

  it("is ended in the engine when the page stops it", () => {
    const id = w.id();
    live.stop();
    expect(w.Streams.Cancel).toHaveBeenCalledExactlyOnceWith(id);
    expect(w.listeners.size).toBe(0);
  });
});

describe("the page in the window", () => {
  afterEach(() => {
    for (const k of ["go", "runtime"]) Reflect.deleteProperty(window, k);
    vi.resetModules();
  });

  it("talks to the window, never over HTTP", async () => {
    Object.assign(window, w.window);
    const fetched = vi.fn();
    vi.stubGlobal("fetch", fetched);
    vi.resetModules();
    const client = await import("./client");
    expect(client.inWindow).toBe(true);
    await client.call("sessions.update", { id: "a", title: "b" });
    expect(w.Sessions.Update).toHaveBeenCalledOnce();
    expect(fetched).not.toHaveBeenCalled();
    vi.unstubAllGlobals();
  });
});
