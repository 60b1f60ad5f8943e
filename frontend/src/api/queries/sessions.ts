import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { call, type Input } from "../client";
import type { Message, Session } from "../shapes";
import { turns } from "./turns";

const LIST_LIMIT = 1000;
/** Long chats are virtualised, so the whole of one is asked for. */
const MESSAGES_LIMIT = 5000;

export const sessionKeys = {
  all: ["sessions"] as const,
  list: ["sessions", "list"] as const,
  messages: (id: string) => ["sessions", "messages", id] as const,
  search: (q: string) => ["sessions", "search", q] as const,
};

export const sessionsQuery = queryOptions({
  queryKey: sessionKeys.list,
  queryFn: () => call("sessions.list", { limit: LIST_LIMIT }),
});

/** The chats to list: incognito ones are not shown. */
export function useSessions() {
  return useQuery({ ...sessionsQuery, select: withoutIncognito });
}

/** One chat of the list, incognito ones too. */
export function useSession(id: string | undefined) {
  return useQuery({ ...sessionsQuery, select: (list) => list.find((s) => s.id === id) ?? null }).data ?? null;
}

function withoutIncognito(list: Session[]): Session[] {
  return list.filter((s) => !s.incognito);
}

/**
 * Stored messages. The open message is asked for first: one that is finished before the rows are read is in them, so
 * that nothing can fall between the two.
 */
export function messagesQuery(id: string) {
  return queryOptions({
    queryKey: sessionKeys.messages(id),
    queryFn: async (): Promise<Message[]> => {
      await turns.resync(id);
      return call("sessions.messages", { id, limit: MESSAGES_LIMIT });
    },
  });
}

export function useMessages(id: string) {
  return useQuery(messagesQuery(id));
}

export function useSessionSearch(q: string) {
  return useQuery({
    queryKey: sessionKeys.search(q),
    queryFn: () => call("sessions.search", { q }),
    enabled: q.trim().length > 1,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
}

export function patchSession(qc: QueryClient, id: string, change: Partial<Session>): void {
  qc.setQueryData<Session[]>(sessionKeys.list, (list) => list?.map((s) => (s.id === id ? { ...s, ...change } : s)));
}

export function dropSession(qc: QueryClient, id: string): void {
  qc.setQueryData<Session[]>(sessionKeys.list, (list) => list?.filter((s) => s.id !== id));
  turns.forget(id);
  const queryKey = sessionKeys.messages(id);
  qc.removeQueries({ queryKey, type: "inactive" });
  // Where it is in sight, what the engine says of it now is that it is gone.
  void qc.resetQueries({ queryKey, type: "active" });
}

export function useUpdateSession() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"sessions.update">) => call("sessions.update", input),
    onMutate: (input) => {
      const before = qc.getQueryData<Session[]>(sessionKeys.list);
      const change: Partial<Session> = {};
      if (typeof input.title === "string") change.title = input.title;
      if (input.model !== undefined) change.model = input.model;
      patchSession(qc, input.id, change);
      return { before };
    },
    onError: (_e, _input, kept) => {
      if (kept?.before) qc.setQueryData(sessionKeys.list, kept.before);
    },
  });
}

export function useDeleteSession() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => call("sessions.delete", { id }),
    onSuccess: (_ok, id) => dropSession(qc, id),
  });
}
