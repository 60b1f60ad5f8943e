import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call, type Input } from "../client";
import type { Bootstrap } from "../shapes";

export const bootstrapKey = ["bootstrap"] as const;

export const bootstrapQuery = queryOptions({
  queryKey: bootstrapKey,
  queryFn: () => call("bootstrap.get", {}) as Promise<Bootstrap>,
});

export function useBootstrap() {
  return useQuery(bootstrapQuery);
}

/** Goes back to a copy of the database, in safe mode; everything that was fetched before is fetched anew. */
export function useRestore() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (snapshot: string) => call("store.restore", { snapshot }),
    onSuccess: () => qc.invalidateQueries(),
  });
}

export function useCompleteOnboarding() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"onboarding.complete">) => call("onboarding.complete", input),
    onSuccess: () => qc.invalidateQueries(),
  });
}
