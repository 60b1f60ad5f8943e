import { describe, expect, it, vi } from "vitest";
import { type BoundWindow, boundTransport } from "./bound";
import { operations } from "./client.gen";
import { ApiError, errorFrom, toApiError } from "./errors";
import { httpTransport, ndjson } from "./http";
import { address, bodyOf, type Operation } from "./transport";

const op = (id: keyof typeof operations): Operation => operations[id];

function pieces(...list: string[]): ReadableStream<Uint8Array> {
  const enc = new TextEncoder();
  return new ReadableStream({
    start(c) {
      for (const p of list) c.enqueue(enc.encode(p));
      c.close();
    },
  });
}

async function all<T>(it: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const v of it) out.push(v);
  return out;
}

describe("an operation over HTTP", () => {
  it("puts its members where the table says", () => {
    expect(address(op("sessions.messages"), { id: "a b/?", limit: 5 })).toBe("/api/sessions/a%20b/%3F/messages?limit=5");
    expect(address(op("sessions.list"), {})).toBe("/api/sessions");
    expect(bodyOf(op("sessions.update"), { id: "x", title: "T", model: null })).toEqual({ title: "T", model: null });
    expect(bodyOf(op("sessions.delete"), { id: "x" })).toBeUndefined();
    expect(bodyOf(op("config.patch"), { config: { ui: {} } })).toEqual({ ui: {} });
  });

  it("reads a stream whose lines come in any pieces", async () => {
    expect(await all(ndjson(pieces('{"a":1}\n{"b"', ":2}\n\n", '{"c":"é'.slice(0, 6), 'é"}')))).toEqual([
      { a: 1 },
      { b: 2 },
      { c: "é" },
    ]);
  });

  it("turns a refusal into the one error, its fields beside it", async () => {
    const body = { detail: [{ loc: ["chat", "x"], msg: "Too big.", type: "range" }], code: "invalid", request_id: "r" };
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status: 422 }));
    const e = await httpTransport()
      .call("config.patch", op("config.patch"), { config: {} })
      .catch((x: unknown) => x);
    expect(e).toBeInstanceOf(ApiError);
    expect(e).toMatchObject({ status: 422, code: "invalid", requestId: "r", detail: "Too big." });
    expect((e as ApiError).fields).toEqual(body.detail);
    vi.unstubAllGlobals();
  });

  it("says that the engine was not reached", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("Failed to fetch");
    });
    const e = await httpTransport()
      .call("health.get", op("health.get"), {})
      .catch((x: unknown) => x);
    expect((e as ApiError).unreachable).toBe(true);
    vi.unstubAllGlobals();
  });

  it("never shows a text that is not a sentence of the engine's", () => {
    expect(errorFrom(502, "<html>").detail).toBe("");
    expect(toApiError(new Error("boom")).detail).toBe("");
    expect(toApiError({ status: 404, detail: "Gone.", code: "not_found", request_id: "r" })).toMatchObject({
      status: 404,
      detail: "Gone.",
    });
  });
});

type Heard = (batch: { items?: unknown[]; done?: true; error?: unknown }) => void;

function boundWindow() {
  const calls: unknown[][] = [];
  const heard = new Map<string, Heard>();
  const log =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
    };
  const w = {
    go: {
      bound: {
        Streams: { Open: log("Open"), Send: log("Send"), Cancel: log("Cancel") },
        Sessions: {
          List: async (input: unknown) => [input],
          Delete: async () => Promise.reject({ status: 404, detail: "Gone.", code: "not_found", request_id: "r" }),
        },
      },
    },
    runtime: {
      EventsOn: (name: string, fn: Heard) => {
        heard.set(name, fn);
        return () => heard.delete(name);
      },
    },
  } as unknown as BoundWindow;
  const tell: Heard = (batch) => [...heard.values()].at(-1)?.(batch);
  return { w, calls, heard, tell };
}

describe("an operation through the bound structs", () => {
  it("is one method with one input, and the same error", async () => {
    const t = boundTransport(boundWindow().w);
    expect(await t.call("sessions.list", op("sessions.list"), { limit: 3 })).toEqual([{ limit: 3 }]);
    const e = await t.call("sessions.delete", op("sessions.delete"), { id: "x" }).catch((x: unknown) => x);
    expect(e).toMatchObject({ status: 404, detail: "Gone.", code: "not_found", requestId: "r" });
  });

  it("yields a stream's values over its batches and stops listening at its end", async () => {
    const { w, tell, heard, calls } = boundWindow();
    const values = all(boundTransport(w).stream("models.pull", op("models.pull"), { name: "m" }));
    await Promise.resolve();
    tell({ items: [1, 2] });
    tell({ items: [3], done: true });
    expect(await values).toEqual([1, 2, 3]);
    expect(heard.size).toBe(0);
    expect(calls.map((c) => c[0])).toEqual(["Open"]);
  });

  it("gives a stream's error, and cancels one that is left", async () => {
    const { w, tell, calls } = boundWindow();
    const t = boundTransport(w);
    const failing = all(t.stream("models.pull", op("models.pull"), { name: "m" }));
    await Promise.resolve();
    tell({ error: { status: 502, detail: "No network.", code: "upstream" } });
    await expect(failing).rejects.toMatchObject({ detail: "No network." });

    const stop = new AbortController();
    const left = all(t.stream("models.pull", op("models.pull"), { name: "m" }, stop.signal));
    await Promise.resolve();
    stop.abort();
    await expect(left).rejects.toBeInstanceOf(ApiError);
    expect(calls.map((c) => c[0])).toContain("Cancel");
  });

  it("sends a file in pieces of a megabyte and gives the answer", async () => {
    const { w, tell, calls } = boundWindow();
    const file = new File([new Uint8Array((1 << 20) + 5)], "a.bin");
    const sent = boundTransport(w).upload("files.upload", op("files.upload"), file, { source: "upload" });
    await vi.waitFor(() => expect(calls.at(-1)?.[2]).toEqual({ end: true }));
    tell({ items: [{ name: "a.bin" }], done: true });
    expect(await sent).toEqual({ name: "a.bin" });
    expect(calls[0]).toEqual(["Open", expect.any(String), "files.upload", { name: "a.bin", size: file.size, source: "upload" }]);
    const sizes = calls.flatMap(([, , m]) => {
      const piece = (m as { piece?: string }).piece;
      return piece ? [atob(piece).length] : [];
    });
    expect(sizes).toEqual([1 << 20, 5]);
  });

  it("is a live channel with both directions", () => {
    const { w, tell, calls } = boundWindow();
    const got: unknown[] = [];
    let closed = 0;
    const line = boundTransport(w).live("b.4", { event: (e) => got.push(e), closed: () => closed++ });
    expect(calls[0]).toEqual(["Open", expect.any(String), "live", { since: "b.4" }]);
    tell({ items: [{ type: "gap" }] });
    line.send({ type: "ping" });
    tell({ done: true });
    expect(got).toEqual([{ type: "gap" }]);
    expect(calls[1]?.[2]).toEqual({ type: "ping" });
    expect(closed).toBe(1);
  });
});
