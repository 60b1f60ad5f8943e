import { describe, expect, it } from "vitest";
import { Live } from "./live";
import type { ClientMessage, LiveEvent } from "./shapes";
import type { LiveSink, Transport } from "./transport";

interface Line {
  since: string | undefined;
  sink: LiveSink;
  sent: ClientMessage[];
  closed: boolean;
}

function setup() {
  const lines: Line[] = [];
  const timers: { fn: () => void; ms: number }[] = [];
  const transport = {
    live(since: string | undefined, sink: LiveSink) {
      const line: Line = { since, sink, sent: [], closed: false };
      lines.push(line);
      return {
        send: (m: ClientMessage) => line.sent.push(m),
        close: () => {
          line.closed = true;
        },
      };
    },
  } as unknown as Transport;
  const live = new Live(transport, {
    set: (fn, ms) => timers.push({ fn, ms }),
    clear: (id) => {
      timers[id - 1] = { fn: () => undefined, ms: -1 };
    },
  });
  const seen: LiveEvent[] = [];
  live.on((e) => seen.push(e));
  live.start();
  const line = (i: number) => lines[i] as Line;
  return { live, lines, line, timers, seen };
}

const hello = (boot: string, seq: number): LiveEvent => ({ type: "hello", version: "1", assistant: "S", boot, seq });
const text = (seq: number): LiveEvent => ({
  type: "text_delta",
  session_id: "s",
  turn_id: "t",
  text: "x",
  offset: 0,
  seq,
});
const kinds = (list: LiveEvent[]) => list.map((e) => ("seq" in e ? `${e.type} ${e.seq}` : e.type));

describe("the live channel", () => {
  it("refuses to send before hello and while the line is lost", () => {
    const { live, line } = setup();
    expect(live.send({ type: "ping" })).toBe(false);
    line(0).sink.event(hello("b", 0));
    expect(live.send({ type: "ping" })).toBe(true);
    line(0).sink.closed();
    expect(live.send({ type: "ping" })).toBe(false);
    expect(line(0).sent).toEqual([{ type: "ping" }]);
  });

  it("comes back at growing distances of at most five seconds, and starts small again after a hello", () => {
    const { line, lines, timers } = setup();
    line(0).sink.event(hello("b", 0));
    for (let i = 0; i < 7; i++) {
      line(i).sink.closed();
      timers[i]?.fn();
    }
    expect(timers.map((x) => x.ms)).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
    line(lines.length - 1).sink.event(hello("b", 0));
    line(lines.length - 1).sink.closed();
    expect(timers.at(-1)?.ms).toBe(200);
  });

  it("asks for what came after the last event it gave on", () => {
    const { line, timers } = setup();
    expect(line(0).since).toBeUndefined();
    line(0).sink.event(hello("boot1", 7));
    line(0).sink.event(text(8));
    line(0).sink.event(text(9));
    line(0).sink.closed();
    timers[0]?.fn();
    expect(line(1).since).toBe("boot1.9");
  });

  it("gives an event once, whatever the ring tells again", () => {
    const { line, timers, seen } = setup();
    line(0).sink.event(hello("b", 0));
    line(0).sink.event(text(1));
    line(0).sink.event(text(2));
    line(0).sink.closed();
    timers[0]?.fn();
    line(1).sink.event(hello("b", 4));
    for (const n of [2, 3, 4]) line(1).sink.event(text(n));
    expect(kinds(seen.filter((e) => e.type === "text_delta"))).toEqual([
      "text_delta 1",
      "text_delta 2",
      "text_delta 3",
      "text_delta 4",
    ]);
  });

  it("gives a gap on, and one of its own when the engine is another", () => {
    const { line, timers, seen } = setup();
    line(0).sink.event(hello("b", 5));
    line(0).sink.event({ type: "gap" });
    expect(seen.filter((e) => e.type === "gap")).toHaveLength(1);
    line(0).sink.closed();
    timers[0]?.fn();
    line(1).sink.event(hello("other", 3));
    expect(seen.filter((e) => e.type === "gap")).toHaveLength(2);
    line(1).sink.event(text(1));
    expect(seen.at(-1)).toEqual(text(1));
  });

  it("hears nothing from a line that was given up", () => {
    const { live, line, seen } = setup();
    line(0).sink.event(hello("b", 0));
    live.stop();
    expect(line(0).closed).toBe(true);
    line(0).sink.closed();
    expect(live.status).toBe("lost");
    expect(seen).toHaveLength(1);
  });

  it("tells of each standing line once, for what must be sent again", () => {
    const { live, line, timers } = setup();
    let opened = 0;
    live.onOpen(() => opened++);
    line(0).sink.event(hello("b", 0));
    line(0).sink.closed();
    timers[0]?.fn();
    line(1).sink.event(hello("b", 0));
    expect(opened).toBe(2);
  });

  it("tries at once when asked", () => {
    const { live, line, lines } = setup();
    line(0).sink.closed();
    live.retryNow();
    expect(lines).toHaveLength(2);
    live.retryNow();
    expect(lines).toHaveLength(2);
  });
});
