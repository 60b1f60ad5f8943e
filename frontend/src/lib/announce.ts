/**
 * What screen readers are told. One polite and one assertive region live at the end of the page (`ui/announcer`);
 * everything that is said goes through here, so that a streamed reply is told as its start and its end, never its pieces.
 */
export type Urgency = "polite" | "assertive";

type Listener = (text: string, urgency: Urgency) => void;

const listeners = new Set<Listener>();

export function announce(text: string, urgency: Urgency = "polite"): void {
  for (const fn of listeners) fn(text, urgency);
}

export function onAnnounce(fn: Listener): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}
