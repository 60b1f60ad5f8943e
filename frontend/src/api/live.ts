import type { ClientMessage, EventOf, LiveEvent } from "./shapes";
import type { LiveConnection, Transport } from "./transport";

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

export type LiveStatus = "connecting" | "open" | "lost";

/** The part of a timer that the channel needs; tests give their own. */
export interface Timers {
  set(fn: () => void, ms: number): number;
  clear(id: number): void;
}

const realTimers: Timers = {
  set: (fn, ms) => window.setTimeout(fn, ms),
  clear: (id) => window.clearTimeout(id),
};

/**
 * The live channel. It promises its listeners every event once and in order, or one `gap` in the place of what was
 * missed, over any number of lost connections. Messages sent while it is lost are refused (`send` gives false): who
 * must not lose one keeps it and sends it again on `onOpen`, with the same `client_id`.
 */
export class Live {
  #transport: Transport;
  #timers: Timers;
  #connection: LiveConnection | undefined;
  #listeners = new Set<(e: LiveEvent) => void>();
  #statusListeners = new Set<() => void>();
  #openListeners = new Set<() => void>();
  #status: LiveStatus = "connecting";
  #boot = "";
  #seq = 0;
  #wait = FIRST_WAIT_MS;
  #timer: number | undefined;
  #running = false;
  /** The gap of a restart was told: the engine's own word for it, which comes next, is the same gap. */
  #gapTold = false;

  constructor(transport: Transport, timers: Timers = realTimers) {
    this.#transport = transport;
    this.#timers = timers;
  }

  get status(): LiveStatus {
    return this.#status;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#connect();
  }

  stop(): void {
    this.#running = false;
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timer = undefined;
    this.#connection?.close();
    this.#connection = undefined;
    this.#current = undefined;
    this.#setStatus("connecting");
  }

  /** Tries again at once: the computer woke up, or the person asked. */
  retryNow(): void {
    if (!this.#running || this.#timer === undefined) return;
    this.#timers.clear(this.#timer);
    this.#timer = undefined;
    this.#connect();
  }

  send(m: ClientMessage): boolean {
    if (this.#status !== "open" || !this.#connection) return false;
    this.#connection.send(m);
    return true;
  }

  on(fn: (e: LiveEvent) => void): () => void {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  }

  onStatus(fn: () => void): () => void {
    this.#statusListeners.add(fn);
    return () => this.#statusListeners.delete(fn);
  }

  /** Called each time the channel stands, after `hello`. */
  onOpen(fn: () => void): () => void {
    this.#openListeners.add(fn);
    return () => this.#openListeners.delete(fn);
  }

  #connect(): void {
    const since = this.#boot ? `${this.#boot}.${this.#seq}` : undefined;
    // A transport may end a connection before it gives it: what belongs to an older one is told apart by this.
    const mine = Symbol("connection");
    this.#current = mine;
    const connection = this.#transport.live(since, {
      event: (e) => {
        if (this.#current === mine) this.#receive(e);
      },
      closed: () => {
        if (this.#current === mine) this.#lost();
      },
    });
    if (this.#current === mine && this.#timer === undefined) this.#connection = connection;
  }
  #current: symbol | undefined;

  #lost(): void {
    this.#current = undefined;
    this.#connection = undefined;
    if (!this.#running) return;
    this.#setStatus("lost");
    this.#timer = this.#timers.set(() => {
      this.#timer = undefined;
      this.#connect();
    }, this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
  }

  #receive(e: LiveEvent): void {
    if (e.type === "hello") {
      this.#hello(e);
      return;
    }
    const again = e.type === "gap" && this.#gapTold;
    this.#gapTold = false;
    if (again) return;
    const seq = "seq" in e ? e.seq : undefined;
    if (typeof seq === "number") {
      // Seen before the connection was lost: the ring gave it again.
      if (seq <= this.#seq) return;
      this.#seq = Math.max(this.#seq, seq);
    }
    this.#tell(e);
  }

  #hello(e: EventOf<"hello">): void {
    const restarted = this.#boot !== "" && this.#boot !== e.boot;
    const first = this.#boot === "";
    this.#boot = e.boot;
    this.#gapTold = restarted;
    // On a first connection nothing was missed. After a restart numbering starts anew, and all that is shown may be old.
    if (first) this.#seq = e.seq;
    else if (restarted) this.#seq = 0;
    this.#wait = FIRST_WAIT_MS;
    this.#setStatus("open");
    this.#tell(e);
    if (restarted) this.#tell({ type: "gap" });
    for (const fn of [...this.#openListeners]) fn();
  }

  #tell(e: LiveEvent): void {
    for (const fn of [...this.#listeners]) fn(e);
  }

  #setStatus(s: LiveStatus): void {
    if (this.#status === s) return;
    this.#status = s;
    for (const fn of [...this.#statusListeners]) fn();
  }
}
