import { errorFrom, unreachable } from "./errors";
import type { ClientMessage, LiveEvent } from "./shapes";
import {
  address,
  bodyOf,
  type LiveConnection,
  type LiveSink,
  type Operation,
  type OpId,
  type Transport,
} from "./transport";

/** Long enough for a slow disk or a cold model list; streams are not bounded by it. */
const CALL_TIMEOUT_MS = 60_000;
/** Testing a model may first load it from disk. */
const SLOW: Partial<Record<OpId, number>> = { "models.test": 180_000 };

async function refused(res: Response): Promise<never> {
  const body: unknown = await res.json().catch(() => undefined);
  throw errorFrom(res.status, body);
}

function request(op: Operation, input: Record<string, unknown>): RequestInit {
  const body = bodyOf(op, input);
  if (body === undefined) return { method: op.verb };
  return { method: op.verb, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Yields the values of a newline-framed JSON stream; a frame may arrive in any number of pieces. */
export async function* ndjson(stream: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      if (done && rest) lines.push(rest);
      for (const line of lines) if (line.trim()) yield JSON.parse(line);
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function socketURL(since: string | undefined): string {
  const u = new URL("/ws", window.location.href);
  u.protocol = u.protocol === "https:" ? "wss:" : "ws:";
  u.hash = "";
  if (since) u.searchParams.set("since", since);
  return u.toString();
}

function live(since: string | undefined, sink: LiveSink): LiveConnection {
  const ws = new WebSocket(socketURL(since));
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    sink.closed();
  };
  ws.onmessage = (m) => {
    if (over || typeof m.data !== "string") return;
    sink.event(JSON.parse(m.data) as LiveEvent);
  };
  ws.onclose = end;
  ws.onerror = () => ws.close();
  return {
    send: (m: ClientMessage) => ws.send(JSON.stringify(m)),
    close: () => {
      over = true;
      ws.close();
    },
  };
}

/** The browser's way in: same-origin HTTP and a socket; the sign-in is an HttpOnly cookie this code never sees. */
export function httpTransport(): Transport {
  return {
    async call(id, op, input) {
      const signal = AbortSignal.timeout(SLOW[id] ?? CALL_TIMEOUT_MS);
      const res = await fetch(address(op, input), { ...request(op, input), signal }).catch(() => {
        throw unreachable();
      });
      if (!res.ok) return refused(res);
      if (res.status === 204) return undefined;
      return res.json();
    },

    async *stream(_id, op, input, signal) {
      const res = await fetch(address(op, input), { ...request(op, input), signal: signal ?? null }).catch(() => {
        throw unreachable();
      });
      if (!res.ok || !res.body) return refused(res);
      yield* ndjson(res.body);
    },

    async upload(_id, op, file, fields, signal) {
      const form = new FormData();
      for (const [k, v] of Object.entries(fields)) form.set(k, v);
      form.set("file", file, file.name);
      const res = await fetch(address(op, fields), {
        method: op.verb,
        body: form,
        signal: signal ?? null,
      }).catch(() => {
        throw unreachable();
      });
      if (!res.ok) return refused(res);
      return res.json();
    },

    url: address,
    live,
  };
}
