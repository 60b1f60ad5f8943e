import type { ClientMessage, LiveEvent, Operations, operations } from "./client.gen";

export type OpId = keyof Operations & keyof typeof operations;
export type Input<K extends OpId> = Operations[K]["input"];
export type Output<K extends OpId> = Operations[K]["output"];

/** One row of the generated table, as the transports read it. */
export interface Operation {
  readonly kind: string;
  readonly verb: string;
  readonly path: string;
  readonly pathParams: readonly string[];
  readonly query: readonly string[];
  readonly body: string;
  readonly bound: readonly string[];
}

/** What a live connection tells the channel above it. After `closed` nothing more comes. */
export interface LiveSink {
  event(e: LiveEvent): void;
  closed(): void;
}

export interface LiveConnection {
  send(m: ClientMessage): void;
  close(): void;
}

/** A way into the engine. There are two: HTTP with a socket, and the structs that the desktop window binds. */
export interface Transport {
  call(id: OpId, op: Operation, input: Record<string, unknown>): Promise<unknown>;
  stream(id: OpId, op: Operation, input: Record<string, unknown>, signal?: AbortSignal): AsyncIterable<unknown>;
  upload(id: OpId, op: Operation, file: File, fields: Record<string, string>, signal?: AbortSignal): Promise<unknown>;
  url(op: Operation, input: Record<string, unknown>): string;
  /** Opens the live channel, catching up from `since` ("<boot>.<seq>") where that is given. */
  live(since: string | undefined, sink: LiveSink): LiveConnection;
}

/** Fills `{name}` places of a path and appends the query. Slashes inside a value are escaped but for `keepSlashes`. */
export function address(op: Operation, input: Record<string, unknown>): string {
  let path = op.path;
  for (const p of op.pathParams) {
    // A file's name may hold a folder ("screens/a.png"): its slashes stay part of the path.
    const value = String(input[p] ?? "")
      .split("/")
      .map(encodeURIComponent)
      .join("/");
    path = path.replace(new RegExp(`\\{${p}(\\.\\.\\.)?\\}`), value);
  }
  const q = new URLSearchParams();
  for (const name of op.query) {
    const v = input[name];
    if (v !== undefined && v !== null) q.set(name, String(v));
  }
  const s = q.toString();
  return s ? `${path}?${s}` : path;
}

/** What is left of the input for the body, or undefined where there is none. */
export function bodyOf(op: Operation, input: Record<string, unknown>): unknown {
  if (op.verb === "GET" || op.body === "none") return undefined;
  // "whole:config": that member of the input is the body itself.
  if (op.body.startsWith("whole:")) return input[op.body.slice("whole:".length)];
  const rest = Object.entries(input).filter(
    ([k, v]) => v !== undefined && !op.pathParams.includes(k) && !op.query.includes(k),
  );
  if (rest.length === 0 && op.verb === "DELETE") return undefined;
  return Object.fromEntries(rest);
}
