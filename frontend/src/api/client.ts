import { type BoundWindow, boundTransport } from "./bound";
import { operations } from "./client.gen";
import { toApiError } from "./errors";
import { httpTransport } from "./http";
import { Live } from "./live";
import type { Input, Operation, OpId, Output, Transport } from "./transport";

export { ApiError } from "./errors";
export type { LiveStatus } from "./live";
export type { Input, OpId, Output } from "./transport";

function isBound(w: object): w is BoundWindow {
  return "go" in w && typeof w.go === "object" && w.go !== null && "bound" in w.go;
}

/** Chosen once, at start. `inWindow` is true in the desktop window, false in a browser. */
export const inWindow = isBound(window);

const transport: Transport = isBound(window) ? boundTransport(window) : httpTransport();

function row(id: OpId): Operation {
  return operations[id];
}

type Members = Record<string, unknown>;

/** Calls a unary operation. Rejects with an ApiError. */
export async function call<K extends OpId>(id: K, input: Input<K>): Promise<Output<K>> {
  try {
    return (await transport.call(id, row(id), input as Members)) as Output<K>;
  } catch (e) {
    throw toApiError(e);
  }
}

/** Whether a stored file is still there; null where that cannot be told. */
export async function fileThere(name: string): Promise<boolean | null> {
  const res = await fetch(fileURL(name), { method: "HEAD", signal: AbortSignal.timeout(15_000) }).catch(() => null);
  if (!res) return null;
  return res.status === 404 || res.status === 410 ? false : res.ok ? true : null;
}

/** Yields the values of a stream operation until it ends or the signal aborts. */
export async function* stream<K extends OpId>(id: K, input: Input<K>, signal?: AbortSignal): AsyncGenerator<Output<K>> {
  try {
    for await (const v of transport.stream(id, row(id), input as Members, signal)) yield v as Output<K>;
  } catch (e) {
    if (signal?.aborted) return;
    throw toApiError(e);
  }
}

/** Sends one file. `source` says where it came from. */
export async function upload(
  file: File,
  source: "upload" | "screen" | "selection" = "upload",
  signal?: AbortSignal,
): Promise<Output<"files.upload">> {
  try {
    return (await transport.upload(
      "files.upload",
      row("files.upload"),
      file,
      { source },
      signal,
    )) as Output<"files.upload">;
  } catch (e) {
    throw toApiError(e);
  }
}

/** The address from which a stored file is shown. */
export function fileURL(name: string): string {
  return transport.url(row("files.content"), { name });
}

/** The one live channel of the page. */
export const live = new Live(transport);
