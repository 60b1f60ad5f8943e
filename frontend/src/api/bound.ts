import { ApiError, errorFrom, toApiError } from "./errors";
import type { ClientMessage, LiveEvent } from "./shapes";
import { address, type LiveSink, type Transport } from "./transport";

type BoundMethod = (input: unknown) => Promise<unknown>;

/** What the desktop window puts on the page's `window`. */
export interface BoundWindow {
  go: { bound: Record<string, Record<string, (...args: never[]) => Promise<unknown>>> };
  runtime: { EventsOn(name: string, fn: (batch: Batch) => void): () => void };
}

interface Batch {
  items?: unknown[];
  done?: true;
  error?: unknown;
}

interface Streams {
  Open(id: string, op: string, input: unknown): Promise<unknown>;
  Send(id: string, message: unknown): Promise<unknown>;
  Cancel(id: string): Promise<unknown>;
}

/** Uploads travel in pieces: the window's asset server carries no request bodies on Linux. */
const PIECE_BYTES = 1 << 20;

function base64(bytes: Uint8Array): string {
  let s = "";
  // In slices: a spread of a megabyte overflows the argument stack.
  for (let i = 0; i < bytes.length; i += 0x8000) s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(s);
}

/** The desktop window's way in: bound structs, one a noun, and `Streams` for everything that lasts. */
export function boundTransport(w: BoundWindow): Transport {
  const streams = w.go.bound.Streams as unknown as Streams;
  let last = 0;
  const nextId = () => `${Date.now().toString(36)}-${++last}`;

  /** Opens a stream and hands on its batches until it ends; gives the way to stop listening. */
  function open(
    op: string,
    input: unknown,
    on: (b: Batch) => void,
  ): { id: string; started: Promise<void>; off: () => void } {
    const id = nextId();
    const off = w.runtime.EventsOn(`stream:${id}`, on);
    const started = streams.Open(id, op, input).then(
      () => undefined,
      (e: unknown) => on({ error: toApiError(e) }),
    );
    return { id, started, off };
  }

  async function* values(op: string, input: unknown, signal?: AbortSignal): AsyncGenerator<unknown> {
    const queue: Batch[] = [];
    let wake: () => void = () => undefined;
    const s = open(op, input, (b) => {
      queue.push(b);
      wake();
    });
    const abort = () => {
      queue.push({ error: new ApiError({ status: 499, code: "cancelled", detail: "" }) });
      wake();
    };
    // A signal that fell before this line tells nobody anymore.
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    let ended = false;
    try {
      for (;;) {
        const b = queue.shift();
        if (!b) {
          await new Promise<void>((r) => {
            wake = r;
          });
          continue;
        }
        for (const item of b.items ?? []) yield item;
        if (b.error) throw toApiError(b.error);
        if (b.done) {
          ended = true;
          return;
        }
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      s.off();
      if (!ended) streams.Cancel(s.id).catch(() => undefined);
    }
  }

  async function upload(op: string, file: File, fields: Record<string, string>): Promise<unknown> {
    let answer: unknown;
    let settle: (e?: ApiError) => void = () => undefined;
    const finished = new Promise<void>((resolve, reject) => {
      settle = (e) => (e ? reject(e) : resolve());
    });
    const s = open(op, { name: file.name, size: file.size, ...fields }, (b) => {
      for (const item of b.items ?? []) answer = item;
      if (b.error) settle(toApiError(b.error));
      else if (b.done) settle();
    });
    finished.catch(() => undefined);
    const send = async (message: unknown) => {
      try {
        await streams.Send(s.id, message);
      } catch (e) {
        const error = toApiError(e);
        // The upload is over already: its last batch, here or right behind, says why.
        if (error.code === "stream_unknown") await finished;
        throw error;
      }
    };
    try {
      await s.started;
      for (let at = 0; at < file.size; at += PIECE_BYTES) {
        const piece = new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer());
        await send({ piece: base64(piece) });
      }
      await send({ end: true });
      await finished;
      return answer;
    } catch (e) {
      streams.Cancel(s.id).catch(() => undefined);
      throw toApiError(e);
    } finally {
      s.off();
    }
  }

  return {
    async call(_id, op, input) {
      const [noun = "", method = ""] = op.bound;
      const fn = w.go.bound[noun]?.[method] as BoundMethod | undefined;
      if (!fn) throw errorFrom(404, { code: "no_such_method" });
      return fn(input).catch((e: unknown) => {
        throw toApiError(e);
      });
    },
    stream: (id, _op, input, signal) => values(id, input, signal),
    upload: (id, _op, file, fields) => upload(id, file, fields),
    url: address,
    live(since: string | undefined, sink: LiveSink) {
      let over = false;
      const end = () => {
        if (over) return;
        over = true;
        s.off();
        sink.closed();
      };
      const s = open("live", since ? { since } : {}, (b) => {
        if (over) return;
        for (const item of b.items ?? []) sink.event(item as LiveEvent);
        if (b.error || b.done) end();
      });
      return {
        send: (m: ClientMessage) => {
          streams.Send(s.id, m).catch(end);
        },
        close: () => {
          over = true;
          s.off();
          streams.Cancel(s.id).catch(() => undefined);
        },
      };
    },
  };
}
