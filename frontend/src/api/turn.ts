import { newId } from "@/lib/ids";
import {
  addDelta,
  addSaid,
  beginCall,
  endCall,
  type Gist,
  NO_GIST,
  type Part,
  progressCall,
  setFinal,
  settled,
} from "./parts";
import type { EventOf, LiveEvent } from "./shapes";

export type ChatEvent = Extract<LiveEvent, { session_id: string; turn_id: string; seq: number }>;

/** waiting: it is answered after the reply that runs now. */
export type TurnState = "sending" | "waiting" | "running" | "done" | "stopped" | "failed";

export interface Sent {
  readonly text: string;
  readonly attachments: readonly string[];
  /** The newest stored message that was shown, so that the sent text is not shown twice once it is stored. */
  readonly afterId: string | null;
  /** The stored message whose place it takes. */
  readonly replaces: string | null;
}

/** A turn that is not, or not yet, in the stored messages. Objects are replaced, never changed. */
export interface Turn {
  readonly key: string;
  readonly clientId: string | null;
  readonly turnId: string | null;
  readonly state: TurnState;
  /** What was sent from this window; null for a turn that was joined while it ran, or that has no message of its own. */
  readonly user: Sent | null;
  readonly parts: readonly Part[];
  readonly notice: { readonly code: string; readonly message: string } | null;
  readonly error: string | null;
  /** Its message was never sent: that is in the stored messages too. */
  readonly dropped: boolean;
  readonly messageId: string | null;
  readonly gist: Gist;
}

export interface Usage {
  percent: number | null;
  used: number | null;
  length: number | null;
  warning: string | null;
}

/** Whether a turn is still to come or being written. */
export function isOpen(t: Turn): boolean {
  return t.state === "sending" || t.state === "waiting" || t.state === "running";
}

/** A turn of which nothing is known yet. */
export function joined(turnId: string | null, clientId: string | null): Turn {
  return {
    key: turnId ?? clientId ?? newId(),
    clientId,
    turnId,
    state: "running",
    user: null,
    parts: [],
    notice: null,
    error: null,
    dropped: false,
    messageId: null,
    gist: NO_GIST,
  };
}

export function usageOf(e: EventOf<"usage">): Usage {
  return {
    percent: e.context_percent,
    used: e.context_used,
    length: e.context_length,
    warning: e.context_warning,
  };
}

/** The turn after one event. `all` are the chat's turns, this one among them. */
export function step(t: Turn, e: ChatEvent, all: readonly Turn[]): Turn {
  if (e.type === "session") return opened(t, all);
  const on: Turn = t.state === "sending" || t.state === "waiting" ? { ...t, state: "running" } : t;
  switch (e.type) {
    case "text_delta":
    case "thinking_delta":
      return { ...on, notice: lifted(on), parts: addDelta(on.parts, e) };
    case "tool_call":
      return { ...on, notice: lifted(on), parts: beginCall(on.parts, e) };
    case "tool_progress":
      return { ...on, parts: progressCall(on.parts, e) };
    case "tool_result":
      return { ...on, parts: endCall(on.parts, e) };
    case "user_interjection":
      return { ...on, parts: addSaid(on.parts, e) };
    case "notice":
      return { ...on, notice: { code: e.code, message: e.message } };
    case "error":
      // A recoverable one is only a note: the turn goes on.
      if (e.recoverable) return { ...on, notice: { code: e.code ?? "", message: e.message } };
      return { ...on, error: e.message, state: "failed", dropped: e.dropped ?? false };
    case "done":
      return finish(on, e);
    default:
      return t;
  }
}

function opened(t: Turn, all: readonly Turn[]): Turn {
  if (t.state !== "sending") return t;
  const busy = all.some((x) => x.clientId !== t.clientId && (x.state === "running" || x.state === "waiting"));
  return { ...t, state: busy ? "waiting" : "running" };
}

/** That the model takes its time is told until it says something. */
function lifted(t: Turn): Turn["notice"] {
  return t.notice?.code === "model_waiting" ? null : t.notice;
}

function finish(t: Turn, e: EventOf<"done">): Turn {
  const parts = settled(t.parts);
  if (e.error || t.state === "failed")
    return { ...t, parts, state: "failed", error: t.error ?? e.error ?? "", messageId: null };
  return {
    ...t,
    state: e.cancelled ? "stopped" : "done",
    parts: setFinal(parts, e.message_id, e.content),
    messageId: e.message_id,
    gist: { sources: e.sources ?? [], memories: e.memory_sources ?? [], checks: e.checks ?? [] },
  };
}
