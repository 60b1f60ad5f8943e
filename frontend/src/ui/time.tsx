import { type ReactNode, useSyncExternalStore } from "react";
import { exactDate, relativeDate } from "@/lib/dates";

const EVERY_MS = 30_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

/** One clock for all dates in sight. */
function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const l of listeners) l();
  }, EVERY_MS);
  return () => {
    listeners.delete(fn);
    if (listeners.size === 0) {
      window.clearInterval(timer);
      timer = undefined;
    }
  };
}

let zone = "auto";

/** The zone from the settings; "auto" is the computer's. */
export function setZone(z: string): void {
  zone = z;
}

/** A date as people say it, with the exact time when pointed at. */
export function When({ at }: { at: string }): ReactNode {
  const current = useSyncExternalStore(subscribe, () => now);
  return (
    <time dateTime={at} title={exactDate(at, { zone })}>
      {relativeDate(at, Math.max(current, Date.parse(at) || 0), { zone })}
    </time>
  );
}
