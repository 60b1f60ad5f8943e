import { useEffect, useMemo } from "react";
import type { ApiError } from "../client";
import type { Message, ToolCall } from "../shapes";
import { useMessages } from "./sessions";
import { type Conversation, type Segment, type Turn, turns, useConversation } from "./turns";

/** Why a stored reply is not whole: the person stopped it, or Sentient ended while it was written. */
export type Cut = "stopped" | "interrupted";

/** What the chat shows, from top to bottom. Objects keep their identity while nothing in them changes. */
export type ChatItem =
  | { kind: "user"; key: string; text: string; attachments: string[]; at: string | null; sending: boolean }
  | {
      kind: "reply";
      key: string;
      segments: readonly Segment[];
      at: string | null;
      turn: Turn | null;
      ended: Cut | null;
    }
  | { kind: "other"; key: string; name: string; text: string; at: string }
  | { kind: "event"; key: string; name: string; at: string };

function toolSegment(c: ToolCall): Segment {
  return { kind: "tool", callId: c.id, name: c.function.name, state: "done" };
}

/** Folds each assistant row with calls, its tool rows and what follows into one reply. */
export function fold(rows: readonly Message[]): ChatItem[] {
  const items: ChatItem[] = [];
  let reply: (Extract<ChatItem, { kind: "reply" }> & { segments: Segment[] }) | null = null;
  for (const r of rows) {
    if (r.role === "assistant") {
      if (!reply) {
        reply = { kind: "reply", key: r.id, segments: [], at: r.created_at, turn: null, ended: null };
        items.push(reply);
      }
      if (r.thinking) reply.segments.push({ kind: "thinking", text: r.thinking });
      if (r.content) reply.segments.push({ kind: "text", text: r.content });
      for (const c of (r.tool_calls ?? []) as ToolCall[]) reply.segments.push(toolSegment(c));
      reply.ended = r.cancelled ? "stopped" : null;
      continue;
    }
    if (r.role === "tool") continue;
    if (r.role === "event" && r.name === "interrupted" && reply?.ended) {
      reply.ended = "interrupted";
      continue;
    }
    reply = null;
    if (r.role === "user") {
      items.push({
        kind: "user",
        key: r.id,
        text: r.content,
        attachments: r.attachments ?? [],
        at: r.created_at,
        sending: false,
      });
    } else if (r.role === "other") {
      items.push({ kind: "other", key: r.id, name: r.name ?? "", text: r.content, at: r.created_at });
    } else {
      items.push({ kind: "event", key: r.id, name: r.name ?? "", at: r.created_at });
    }
  }
  return items;
}

/** Whether the text of a turn is among the stored rows already. */
function isStored(rows: readonly Message[], user: NonNullable<Turn["user"]>): boolean {
  const from = user.afterId ? rows.findIndex((r) => r.id === user.afterId) + 1 : 0;
  return rows.slice(from).some((r) => r.role === "user" && r.content === user.text);
}

/** Adds the turns that are not stored to the items of those that are. */
export function merge(stored: readonly ChatItem[], rows: readonly Message[], view: Conversation): readonly ChatItem[] {
  const ids = new Set(rows.map((r) => r.id));
  const open = view.turns.filter((x) => !(x.messageId && ids.has(x.messageId)));
  if (open.length === 0) return stored;
  const items = [...stored];
  for (const turn of open) {
    if (turn.user && !isStored(rows, turn.user)) {
      items.push({
        kind: "user",
        key: `${turn.key}:user`,
        text: turn.user.text,
        attachments: turn.user.attachments,
        at: null,
        sending: turn.state === "sending",
      });
    }
    if (turn.state !== "sending") {
      items.push({
        kind: "reply",
        key: `${turn.key}:reply`,
        segments: turn.segments,
        at: null,
        turn,
        ended: turn.state === "stopped" ? "stopped" : null,
      });
    }
  }
  return items;
}

export interface Chat {
  items: readonly ChatItem[];
  view: Conversation;
  running: Turn | null;
  /** The newest stored message. */
  lastId: string | null;
  /** The text of the last message the person sent. */
  lastText: string | null;
  /** The last stored message is the person's, and no reply to it runs or is stored. */
  unanswered: boolean;
  loading: boolean;
  error: ApiError | null;
  stale: boolean;
  reload: () => void;
}

const NONE: Message[] = [];

function isRunning(x: Turn): boolean {
  return x.state === "running" || x.state === "sending";
}

function useMerged(rows: readonly Message[], view: Conversation) {
  const stored = useMemo(() => fold(rows), [rows]);
  const items = useMemo(() => merge(stored, rows, view), [stored, rows, view]);
  const running = view.turns.find(isRunning) ?? null;
  const lastUser = items.findLast((i) => i.kind === "user");
  return {
    items,
    view,
    running,
    lastId: rows.at(-1)?.id ?? null,
    lastText: lastUser?.kind === "user" ? lastUser.text : null,
    unanswered: rows.at(-1)?.role === "user" && view.turns.length === 0,
  };
}

/** A chat that exists. */
export function useChat(id: string): Chat {
  const q = useMessages(id);
  const view = useConversation(id);
  const rows = q.data ?? NONE;
  useEffect(() => turns.stored(id, rows), [id, rows]);
  return {
    ...useMerged(rows, view),
    loading: q.isPending,
    error: q.isError ? (q.error as ApiError) : null,
    stale: q.isFetching && !q.isPending,
    reload: () => void q.refetch(),
  };
}

/** A chat that has no id yet: only what is being sent. */
export function useNewChat(key: string): Chat {
  const view = useConversation(key);
  return { ...useMerged(NONE, view), loading: false, error: null, stale: false, reload: () => undefined };
}
