import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../client";
import type { UserItem } from "./items";
import { sessionKeys } from "./sessions";
import { turns } from "./turns";

interface Again {
  id: string;
  /** A message of the turn. */
  messageId: string;
  /** What it answers; null for a turn without a message of its own. */
  user: UserItem | null;
  model?: string | undefined;
}

/** Answers a message anew, in a branch beside the first answer. */
export function useRegenerate() {
  return useMutation({
    mutationFn: async ({ id, messageId, user, model }: Again) => {
      const shown = user?.id
        ? { text: user.text, attachments: user.attachments, afterId: null, replaces: user.id }
        : null;
      const client_id = turns.begin(id, shown);
      try {
        return await call("sessions.regenerate", {
          id,
          message_id: messageId,
          client_id,
          ...(model ? { model } : {}),
        });
      } catch (e) {
        turns.drop(id, client_id);
        throw e;
      }
    },
  });
}

/** Carries on the reply that the end of an engine cut off. */
export function useResume() {
  return useMutation({
    mutationFn: async (id: string) => {
      const client_id = turns.begin(id, null);
      try {
        return await call("sessions.resume", { id, client_id });
      } catch (e) {
        turns.drop(id, client_id);
        throw e;
      }
    },
  });
}

/** Shows another version of a message and what came after it. */
export function useShowBranch() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (input: { id: string; turn_id: string }) => call("sessions.branch", input),
    onSuccess: async (_ok, { id }) => {
      turns.settle(id);
      await qc.invalidateQueries({ queryKey: sessionKeys.messages(id) });
    },
  });
}

/** Makes a new chat of this one, down to a message. Gives its id. */
export function useFork() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: async (input: { id: string; message_id: string }) => (await call("sessions.fork", input)).session_id,
    onSuccess: () => qc.invalidateQueries({ queryKey: sessionKeys.list }),
  });
}
