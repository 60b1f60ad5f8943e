import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import type { ApiError } from "@/api/client";
import { closeIncognito, useOpenIncognito } from "@/api/queries/incognito";
import { useDeleteSession } from "@/api/queries/sessions";
import { toast } from "@/ui/toast";
import { t } from "@/words";

/** Deletes the incognito chat that was open as soon as another one is, or a new one. Other rooms do not end it. */
export function useLeaveIncognito(): void {
  // By the address itself: on the way between rooms the parameters are those of neither.
  const path = useRouterState({ select: (s) => s.location.pathname });
  const open = useOpenIncognito();
  const { mutate } = useDeleteSession();
  useEffect(() => {
    if (!/^\/chat(\/|$)/.test(path) || !open || path === `/chat/${open}`) return;
    closeIncognito(open);
    mutate(open, {
      onSuccess: () => toast(t("incognito.deleted")),
      onError: (e: unknown) => {
        const { status, detail } = e as ApiError;
        if (status !== 404) toast(t("incognito.deleteFailed"), { text: detail, tone: "error" });
      },
    });
  }, [path, open, mutate]);
}
