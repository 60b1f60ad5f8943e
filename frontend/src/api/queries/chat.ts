import { useEffect, useMemo } from "react";
import type { ApiError } from "../client";
import type { Message } from "../shapes";
import { isOpen } from "../turn";
import { type ChatItem, fold, isUnanswered, lastOwn, merge, type UserItem } from "./items";
import { useMessages } from "./sessions";
import { type Conversation, type Turn, turns, useConversation } from "./turns";

export type { ChatItem, Cut, EventItem, OtherItem, ReplyItem, UserItem } from "./items";

export interface Chat {
  items: readonly ChatItem[];
  view: Conversation;
  /** The turn that is being answered or sent. */
  running: Turn | null;
  /** The newest stored message. */
  lastId: string | null;
  /** The person's newest message that can be changed and sent again. */
  lastUser: UserItem | null;
  /** The last stored message has no reply, and none is being written. */
  unanswered: boolean;
  loading: boolean;
  error: ApiError | null;
  stale: boolean;
  reload: () => void;
}

const NONE: Message[] = [];

function useMerged(rows: readonly Message[], view: Conversation) {
  const stored = useMemo(() => fold(rows, view.calls), [rows, view.calls]);
  const items = useMemo(() => merge(stored, view), [stored, view]);
  return {
    items,
    view,
    running: view.turns.find(isOpen) ?? null,
    lastId: rows.at(-1)?.id ?? null,
    lastUser: lastOwn(items),
    unanswered: isUnanswered(stored, view),
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
