import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../client";
import { bootstrapKey } from "./bootstrap";

export const configKeys = {
  all: ["config"] as const,
  value: ["config", "value"] as const,
  schema: ["config", "schema"] as const,
};

const configQuery = queryOptions({ queryKey: configKeys.value, queryFn: () => call("config.get", {}) });

export function useConfig() {
  return useQuery(configQuery);
}

export function useConfigSchema() {
  return useQuery({
    queryKey: configKeys.schema,
    queryFn: () => call("config.schema", {}) as Promise<Record<string, unknown>>,
  });
}

/** Saves a part of the configuration, deep-merged by the engine. */
export function usePatchConfig() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (part: Record<string, unknown>) => call("config.patch", { config: part }),
    onSuccess: async (saved) => {
      if (saved.config) qc.setQueryData(configKeys.value, saved.config);
      else await qc.invalidateQueries({ queryKey: configKeys.value });
      await qc.invalidateQueries({ queryKey: bootstrapKey });
    },
  });
}
