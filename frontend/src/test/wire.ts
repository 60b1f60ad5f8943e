import { vi } from "vitest";
import type { ClientMessage, LiveEvent } from "@/api/shapes";

/** A socket whose other end is the test. */
export class FakeSocket {
  static all: FakeSocket[] = [];
  static get last(): FakeSocket {
    const s = FakeSocket.all.at(-1);
    if (!s) throw new Error("no socket was opened");
    return s;
  }

  readonly url: URL;
  readonly sent: ClientMessage[] = [];
  onmessage: ((m: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  state: "connecting" | "open" | "closed" = "connecting";

  constructor(url: string) {
    this.url = new URL(url);
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    if (this.state === "connecting") throw new DOMException("still connecting", "InvalidStateError");
    if (this.state === "open") this.sent.push(JSON.parse(text));
  }

  close(): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.onclose?.();
  }

  /** The other end speaks. */
  give(...events: LiveEvent[]): void {
    this.state = "open";
    for (const e of events) this.onmessage?.({ data: JSON.stringify(e) });
  }

  /** The line breaks, as a browser tells it. */
  fail(): void {
    this.onerror?.();
  }

  sentOf<T extends ClientMessage["type"]>(type: T): Extract<ClientMessage, { type: T }>[] {
    return this.sent.filter((m): m is Extract<ClientMessage, { type: T }> => m.type === type);
  }
}

export function useFakeSocket(): void {
  FakeSocket.all = [];
  vi.stubGlobal("WebSocket", FakeSocket);
}

export function hello(boot: string, seq: number): LiveEvent {
  return { type: "hello", assistant: "Sentient", version: "test", boot, seq };
}

export interface Asked {
  verb: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
}

type Answer = (asked: Asked) => unknown;

export function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

export interface Engine {
  readonly asked: Asked[];
  /** What was asked of one operation, oldest first. */
  of(line: string): Asked[];
  /** Answers differently from now on. */
  set(line: string, answer: Answer): void;
}

/**
 * Stands in for `fetch`. Answers go by "VERB /path", where `*` is one step of a path; a value is a 200 with that JSON, a
 * Response is itself, and a thrown error is a connection that failed. What is not listed is a 404.
 */
export function fakeEngine(answers: Record<string, Answer> = {}): Engine {
  const table = new Map(Object.entries(answers));
  const asked: Asked[] = [];
  const find = (line: string): Answer | undefined =>
    table.get(line) ??
    [...table].find(([k]) => new RegExp(`^${k.replace(/[.?+]/g, "\\$&").replace(/\*/g, "[^/]+")}$`).test(line))?.[1];
  vi.stubGlobal("fetch", async (to: string, init: RequestInit = {}) => {
    const url = new URL(to, window.location.href);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    const one: Asked = {
      verb: init.method ?? "GET",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body,
    };
    asked.push(one);
    const answer = find(`${one.verb} ${one.path}`);
    if (!answer) return json(404, { detail: "There is nothing by that name.", code: "not_found", request_id: "r0" });
    const value = await answer(one);
    return value instanceof Response ? value : json(200, value);
  });
  return {
    asked,
    of: (line) => asked.filter((a) => `${a.verb} ${a.path}` === line),
    set: (line, answer) => void table.set(line, answer),
  };
}

/** A promise that the test settles. */
export function later<T>(): { promise: Promise<T>; resolve: (v: T) => void; reject: (e: unknown) => void } {
  let resolve: (v: T) => void = () => undefined;
  let reject: (e: unknown) => void = () => undefined;
  const promise = new Promise<T>((a, b) => {
    resolve = a;
    reject = b;
  });
  return { promise, resolve, reject };
}
