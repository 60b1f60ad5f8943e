import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../client";
import type { Subagent } from "../shapes";

export const subagentKeys = {
  all: ["subagents"] as const,
  list: (session: string) => ["subagents", "list", session] as const,
  one: (id: string) => ["subagents", "one", id] as const,
};

/** The helpers that a chat started, newest first. */
export function useSubagents(session: string | null) {
  return useQuery({
    queryKey: subagentKeys.list(session ?? ""),
    queryFn: () => call("sessions.subagents", { id: session ?? "" }),
    enabled: session !== null,
  });
}

/** One helper with its steps. */
export function useSubagent(id: string, open: boolean) {
  return useQuery({
    queryKey: subagentKeys.one(id),
    queryFn: () => call("subagents.get", { id }),
    enabled: open,
    // Its steps are told by no event.
    refetchInterval: (q) => (q.state.data?.status === "running" ? 2000 : false),
  });
}

export function useCancelSubagent() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => call("subagents.cancel", { id }),
    onSuccess: (s) => followSubagent(qc, s),
  });
}

/** A helper began or ended: puts it in its place. The list tells no steps, so what is known of them stays. */
export function followSubagent(qc: QueryClient, s: Subagent): void {
  const { events: _, ...rest } = s;
  qc.setQueryData<Subagent[]>(subagentKeys.list(s.session_id), (list) => {
    if (!list) return list;
    return list.some((x) => x.subagent_id === s.subagent_id)
      ? list.map((x) => (x.subagent_id === s.subagent_id ? rest : x))
      : [rest, ...list];
  });
  void qc.invalidateQueries({ queryKey: subagentKeys.one(s.subagent_id) });
}
