import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, call, type Input, stream } from "../client";
import { toApiError } from "../errors";
import type { Builtin, PullProgress } from "../shapes";
import { bootstrapKey } from "./bootstrap";
import { configKeys } from "./config";

export const modelKeys = {
  all: ["models"] as const,
  providers: ["models", "providers"] as const,
  local: ["models", "local"] as const,
  builtin: ["models", "builtin"] as const,
  ready: ["models", "ready"] as const,
};

export function useProviders() {
  return useQuery({ queryKey: modelKeys.providers, queryFn: () => call("models.providers", {}) });
}

export function useLocalModels() {
  return useQuery({ queryKey: modelKeys.local, queryFn: () => call("models.local", {}), staleTime: 15_000 });
}

export function useBuiltin() {
  return useQuery({
    queryKey: modelKeys.builtin,
    queryFn: () => call("models.builtin", {}) as Promise<Builtin>,
    // It starts by itself: looked at again until it stands.
    refetchInterval: (q) =>
      q.state.data?.state === "starting" || q.state.data?.state === "downloading" ? 1500 : false,
  });
}

/** Which model would answer a chat now: the primary one, or the built-in one that stands in for an untouched default. */
export function useReadyModel() {
  return useQuery({ queryKey: modelKeys.ready, queryFn: () => call("models.ready", {}), staleTime: 15_000 });
}

export function useTestModel() {
  return useMutation({ mutationFn: (input: Input<"models.test">) => call("models.test", input) });
}

export function useSetRoles() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (roles: Input<"models.set_roles">) => call("models.set_roles", roles),
    onSuccess: async () => {
      await Promise.all([
        qc.invalidateQueries({ queryKey: bootstrapKey }),
        qc.invalidateQueries({ queryKey: configKeys.value }),
        qc.invalidateQueries({ queryKey: modelKeys.ready }),
      ]);
    },
  });
}

export function useSetSecret() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"secrets.set">) => call("secrets.set", input),
    onSuccess: () => qc.invalidateQueries({ queryKey: modelKeys.all }),
  });
}

export function useDeleteSecret() {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => call("secrets.delete", { name }),
    onSuccess: () => qc.invalidateQueries({ queryKey: modelKeys.all }),
  });
}

export interface Download {
  running: boolean;
  progress: PullProgress | null;
  error: ApiError | null;
  done: boolean;
}

const IDLE: Download = { running: false, progress: null, error: null, done: false };

/** A long download that tells how far it is and can be stopped; it ends with the screen that shows it. */
function useDownload(open: (name: string | undefined, signal: AbortSignal) => AsyncIterable<PullProgress>) {
  const qc = useQueryClient();
  const [state, setState] = useState<Download>(IDLE);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const start = useCallback(
    async (name?: string): Promise<boolean> => {
      abort.current?.abort();
      const mine = new AbortController();
      abort.current = mine;
      setState({ ...IDLE, running: true });
      try {
        for await (const p of open(name, mine.signal)) {
          if (p.status === "error" || p.status === "failed") {
            throw new ApiError({ status: 500, code: "download_failed", detail: p.message ?? "" });
          }
          setState({ ...IDLE, running: true, progress: p });
        }
        const ok = !mine.signal.aborted;
        setState({ ...IDLE, done: ok });
        return ok;
      } catch (e) {
        setState({ ...IDLE, error: toApiError(e) });
        return false;
      } finally {
        await qc.invalidateQueries({ queryKey: modelKeys.all });
      }
    },
    [open, qc],
  );

  const cancel = useCallback(() => abort.current?.abort(), []);
  return { ...state, start, cancel };
}

const pull = (name: string | undefined, signal: AbortSignal) => stream("models.pull", { name: name ?? "" }, signal);
const builtin = (name: string | undefined, signal: AbortSignal) =>
  stream("models.builtin_download", name ? { name } : {}, signal);

export function usePullModel() {
  return useDownload(pull);
}

export function useBuiltinDownload() {
  return useDownload(builtin);
}
