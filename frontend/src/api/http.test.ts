import { afterEach, describe, expect, it, vi } from "vitest";
import { fakeEngine, json } from "@/test/wire";
import { ApiError, call, fileURL, inWindow, stream, upload } from "./client";
import { operations } from "./client.gen";
import { toApiError } from "./errors";
import { ndjson } from "./http";
import { address, bodyOf } from "./transport";

afterEach(() => vi.unstubAllGlobals());

async function problemOf(p: Promise<unknown>): Promise<ApiError> {
  try {
    await p;
  } catch (e) {
    expect(e).toBeInstanceOf(ApiError);
    return e as ApiError;
  }
  throw new Error("nothing was refused");
}

describe("a call over HTTP", () => {
  it("is the way in while there is no window around the page", () => expect(inWindow).toBe(false));

  it("spreads the input over path, query and body", async () => {
    const engine = fakeEngine({
      "PATCH /api/sessions/*": () => ({ ok: true }),
      "GET /api/sessions/*/messages": () => [],
      "POST /api/sessions": () => ({ session_id: "s" }),
      "PUT /api/secrets/*": () => ({ ok: true }),
      "DELETE /api/sessions/*": () => ({ ok: true }),
    });
    await call("sessions.update", { id: "b c", title: "New", model: null });
    await call("sessions.messages", { id: "s1", limit: 20 });
    await call("sessions.create", { model: "x/y", incognito: true });
    await call("secrets.set", { name: "openai", value: "k" });
    await call("sessions.delete", { id: "s1" });
    expect(engine.asked).toEqual([
      { verb: "PATCH", path: "/api/sessions/b%20c", query: {}, body: { title: "New", model: null } },
      { verb: "GET", path: "/api/sessions/s1/messages", query: { limit: "20" }, body: undefined },
      { verb: "POST", path: "/api/sessions", query: { model: "x/y", incognito: "true" }, body: {} },
      { verb: "PUT", path: "/api/secrets/openai", query: {}, body: { value: "k" } },
      { verb: "DELETE", path: "/api/sessions/s1", query: {}, body: undefined },
    ]);
  });

  it("sends the settings as the whole body, not wrapped", async () => {
    const engine = fakeEngine({ "PATCH /api/config": () => ({ saved: true }) });
    await call("config.patch", { config: { chat: { auto_title: false } } });
    expect(engine.asked[0]?.body).toEqual({ chat: { auto_title: false } });
    expect(bodyOf(operations["config.put"], { config: { a: 1 } })).toEqual({ a: 1 });
  });

  it("leaves out what is not given and keeps what is null", () => {
    expect(bodyOf(operations["sessions.update"], { id: "x", title: undefined, memory_scope: null })).toEqual({
      memory_scope: null,
    });
    expect(address(operations["sessions.search"], { q: "a&b=c d", limit: undefined })).toBe(
      "/api/sessions/search?q=a%26b%3Dc+d",
    );
  });

  it("escapes a file's name but keeps its folders", () => {
    expect(fileURL("screens/a b?#ä.png")).toBe("/api/files/content/screens/a%20b%3F%23%C3%A4.png");
  });

  it("sends a file with its name and where it came from", async () => {
    const engine = fakeEngine({ "POST /api/files": () => ({ name: "a.txt", mime: "text/plain", size: 2 }) });
    const stored = await upload(new File(["hi"], "a.txt", { type: "text/plain" }), "screen");
    const form = engine.asked[0]?.body as FormData;
    expect(stored.name).toBe("a.txt");
    expect(form.get("source")).toBe("screen");
    expect((form.get("file") as File).name).toBe("a.txt");
  });
});

describe("a refusal", () => {
  it("is an ApiError with the sentence, the code and the request", async () => {
    fakeEngine({
      "GET /api/config": () => json(409, { detail: "Something else runs.", code: "busy", request_id: "r-7" }),
    });
    const e = await problemOf(call("config.get", {}));
    expect(e).toMatchObject({
      status: 409,
      code: "busy",
      detail: "Something else runs.",
      requestId: "r-7",
      fields: [],
    });
    expect(e.message).toBe("Something else runs.");
    expect(e.unreachable).toBe(false);
  });

  it("carries the fields of a 422 and says the first", async () => {
    const detail = [
      { loc: ["body", "chat", "history_window"], msg: "Must be 4 or more.", type: "range" },
      { loc: ["body", 0], msg: "Other." },
      "noise",
    ];
    fakeEngine({ "PATCH /api/config": () => json(422, { detail, code: "invalid", request_id: "r" }) });
    const e = await problemOf(call("config.patch", { config: {} }));
    expect(e).toMatchObject({ status: 422, code: "invalid", detail: "Must be 4 or more." });
    expect(e.fields).toEqual([
      { loc: ["body", "chat", "history_window"], msg: "Must be 4 or more.", type: "range" },
      { loc: ["body", "0"], msg: "Other.", type: "" },
    ]);
  });

  it("that is not JSON still has its status, and no made-up sentence", async () => {
    fakeEngine({ "GET /api/config": () => new Response("<html>Bad gateway</html>", { status: 502 }) });
    expect(await problemOf(call("config.get", {}))).toMatchObject({
      status: 502,
      code: "http_502",
      detail: "",
      requestId: undefined,
    });
  });

  it("is told apart from an engine that does not answer", async () => {
    fakeEngine({
      "GET /api/config": () => {
        throw new TypeError("Failed to fetch");
      },
    });
    const e = await problemOf(call("config.get", {}));
    expect(e).toMatchObject({ status: 0, code: "unreachable", detail: "" });
    expect(e.unreachable).toBe(true);
  });

  it("shows no words of a program", () => {
    expect(toApiError(new Error("undefined is not a function")).detail).toBe("");
    expect(toApiError("plain words").detail).toBe("");
    expect(toApiError(null)).toMatchObject({ status: 500, code: "unknown" });
  });

  it("of a stream and of an upload reads the same", async () => {
    const refuse = () => json(404, { detail: "No such model.", code: "model_unknown", request_id: "r" });
    fakeEngine({ "POST /api/models/ollama/pull": refuse, "POST /api/files": refuse });
    const pull = stream("models.pull", { name: "x" });
    expect(await problemOf(pull.next())).toMatchObject({ status: 404, code: "model_unknown" });
    expect(await problemOf(upload(new File([""], "a")))).toMatchObject({ status: 404, detail: "No such model." });
  });
});

function pieces(bytes: Uint8Array, ...cuts: number[]): ReadableStream<Uint8Array> {
  const edges = [0, ...cuts, bytes.length];
  return new ReadableStream({
    start(c) {
      for (let i = 1; i < edges.length; i++) c.enqueue(bytes.slice(edges[i - 1], edges[i]));
      c.close();
    },
  });
}

async function all(g: AsyncGenerator<unknown>): Promise<unknown[]> {
  const out: unknown[] = [];
  for await (const v of g) out.push(v);
  return out;
}

describe("a stream of lines", () => {
  const values = [{ text: "Grüße, 世界 😀" }, { n: 2 }, { text: "a\nb" }];
  const bytes = new TextEncoder().encode(
    `${JSON.stringify(values[0])}\n\n${JSON.stringify(values[1])}\r\n${JSON.stringify(values[2])}`,
  );

  it("is the same wherever it is cut, in the middle of a letter too", async () => {
    for (let i = 0; i <= bytes.length; i++) expect(await all(ndjson(pieces(bytes, i)))).toEqual(values);
  });

  it("is the same byte by byte", async () => {
    const cuts = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
    expect(await all(ndjson(pieces(bytes, ...cuts)))).toEqual(values);
  });

  it("is let go of when its reader leaves", async () => {
    const cancelled = vi.fn();
    const endless = new ReadableStream<Uint8Array>({
      pull: (c) => c.enqueue(new TextEncoder().encode('{"n":1}\n')),
      cancel: cancelled,
    });
    for await (const v of ndjson(endless)) {
      expect(v).toEqual({ n: 1 });
      break;
    }
    expect(cancelled).toHaveBeenCalledOnce();
  });

  it("comes through a call, and ends without an error when it is stopped", async () => {
    const abort = new AbortController();
    fakeEngine({
      "POST /api/models/ollama/pull": () =>
        new Response(
          new ReadableStream<Uint8Array>({
            start(c) {
              c.enqueue(new TextEncoder().encode('{"status":"pulling","completed":1,"total":2}\n'));
              abort.signal.addEventListener("abort", () => c.error(new DOMException("stopped", "AbortError")));
            },
          }),
        ),
    });
    const seen: unknown[] = [];
    for await (const p of stream("models.pull", { name: "x" }, abort.signal)) {
      seen.push(p);
      abort.abort();
    }
    expect(seen).toEqual([{ status: "pulling", completed: 1, total: 2 }]);
  });
});
