import { useCallback, useSyncExternalStore } from "react";
import { call, live } from "../client";
import { type Conversation, type Phase, type Turn, Turns } from "../turns";
import { queryClient } from "./client";

export type { Call, CallState, Gist, Part, Shown } from "../parts";
export type { Conversation, Phase, Steer, Turn, TurnState, Usage } from "../turns";

type PhaseListener = (sessionId: string, phase: Phase, turn: Turn) => void;
type BornListener = (newKey: string, sessionId: string) => void;

const phaseListeners = new Set<PhaseListener>();
const bornListeners = new Set<BornListener>();

function soon(flush: () => void): void {
  // A hidden page draws no frames, and must still hear that a reply ended.
  if (document.hidden) window.setTimeout(flush, 100);
  else window.requestAnimationFrame(flush);
}

export const turns = new Turns({
  send: (m) => live.send(m),
  fetchLive: (id) => call("sessions.live", { id }),
  refresh: (id) => queryClient.invalidateQueries({ queryKey: ["sessions", "messages", id] }),
  phase: (id, phase, turn) => {
    for (const fn of phaseListeners) fn(id, phase, turn);
  },
  born: (key, id) => {
    for (const fn of bornListeners) fn(key, id);
  },
  schedule: soon,
});

export function onPhase(fn: PhaseListener): () => void {
  phaseListeners.add(fn);
  return () => phaseListeners.delete(fn);
}

export function onBorn(fn: BornListener): () => void {
  bornListeners.add(fn);
  return () => bornListeners.delete(fn);
}

/** The turns of one chat that are not stored yet. */
export function useConversation(key: string): Conversation {
  const subscribe = useCallback((fn: () => void) => turns.subscribe(key, fn), [key]);
  const view = useCallback(() => turns.view(key), [key]);
  return useSyncExternalStore(subscribe, view);
}
