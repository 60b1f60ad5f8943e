/**
 * Whether a key press belongs to an input method rather than to the page. Three signs, because engines differ: the
 * event says so; it carries the code 229; or it is the Enter (or Escape) by which WebKit reports the end of a
 * composition after `compositionend`, with `isComposing` already false.
 */
export interface KeyLike {
  key: string;
  keyCode: number;
  isComposing: boolean;
  timeStamp: number;
}

/** WebKit sends the confirming key in the same task as `compositionend`; a person cannot press again this soon. */
const CONFIRM_MS = 60;

export class ImeGuard {
  #composing = false;
  #endedAt = Number.NEGATIVE_INFINITY;
  #confirmedAt = Number.NEGATIVE_INFINITY;

  start(): void {
    this.#composing = true;
  }

  end(timeStamp: number): void {
    this.#composing = false;
    // Chromium sends the confirming key before `compositionend`: then the next Enter is the person's own.
    const confirmed = timeStamp - this.#confirmedAt < CONFIRM_MS;
    this.#endedAt = confirmed ? Number.NEGATIVE_INFINITY : timeStamp;
  }

  owns(e: KeyLike): boolean {
    if (this.#composing || e.isComposing || e.keyCode === 229) {
      if (e.key.length > 1) this.#confirmedAt = e.timeStamp;
      this.#endedAt = Number.NEGATIVE_INFINITY;
      return true;
    }
    if (e.key !== "Enter" && e.key !== "Escape") return false;
    const since = e.timeStamp - this.#endedAt;
    // Only the one key that confirmed the word.
    this.#endedAt = Number.NEGATIVE_INFINITY;
    return since >= 0 && since < CONFIRM_MS;
  }
}

const pageGuard = new ImeGuard();

/** Watches the whole page once, in the capturing phase, so that every key handler can ask `imeOwns`. */
export function watchIme(target: Document = document): () => void {
  const start = () => pageGuard.start();
  const end = (e: Event) => pageGuard.end(e.timeStamp);
  const verdict = (e: KeyboardEvent) => {
    if (pageGuard.owns(e)) owned.add(e);
  };
  target.addEventListener("compositionstart", start, true);
  target.addEventListener("compositionend", end, true);
  target.addEventListener("keydown", verdict, true);
  return () => {
    target.removeEventListener("compositionstart", start, true);
    target.removeEventListener("compositionend", end, true);
    target.removeEventListener("keydown", verdict, true);
  };
}

const owned = new WeakSet<Event>();

/** True for a key press that an input method used. Give the native event. */
export function imeOwns(e: Event): boolean {
  return owned.has(e);
}
