import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../client";

/** The cache is kept true by live events, so nothing is fetched again merely because time passed or focus came back. */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
        retry: (count, e) => e instanceof ApiError && (e.unreachable || e.status === 503) && count < 2,
        retryDelay: (count) => 300 * 2 ** count,
      },
      mutations: { networkMode: "always", retry: false },
    },
  });
}

export const queryClient = makeQueryClient();
