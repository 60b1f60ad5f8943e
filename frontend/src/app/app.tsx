import { QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import type { ApiError } from "@/api/client";
import { useBootstrap } from "@/api/queries/bootstrap";
import { queryClient } from "@/api/queries/client";
import { followEvents } from "@/api/queries/connection";
import { setLook } from "@/lib/theme";
import { Announcer } from "@/ui/announcer";
import { Button } from "@/ui/button";
import { Mark } from "@/ui/mark";
import { ErrorState, Loading } from "@/ui/surface";
import { setZone } from "@/ui/time";
import { Toasts, toast } from "@/ui/toast";
import { TooltipProvider } from "@/ui/tooltip";
import { t } from "@/words";
import { router } from "./router";
import css from "./shell.module.css";

const SafeMode = lazy(() => import("@/features/safe/safe-mode"));
const Setup = lazy(() => import("@/features/setup/setup"));

/** How soon an engine that does not answer is asked again by itself. */
const AGAIN_MS = 2500;

function Splash(): ReactNode {
  return (
    <div className={css.splash}>
      <Loading>
        <Mark size={40} />
      </Loading>
    </div>
  );
}

function Unreachable({ error, retry }: { error: ApiError; retry: () => void }): ReactNode {
  const signedOut = error.status === 401 || error.status === 403;
  useEffect(() => {
    if (signedOut) return;
    const timer = window.setInterval(retry, AGAIN_MS);
    return () => window.clearInterval(timer);
  }, [retry, signedOut]);
  return (
    <main className={css.splash}>
      <ErrorState
        title={signedOut ? t("state.signedOutTitle") : t("state.unreachableTitle")}
        actions={
          <Button look="primary" onClick={retry}>
            {t("action.retry")}
          </Button>
        }
      >
        {signedOut ? t("state.signedOutText") : error.detail || t("state.unreachableText")}
      </ErrorState>
    </main>
  );
}

/** What is shown depends on whether there is an engine, and whether the person was here before. */
function Gate(): ReactNode {
  const q = useBootstrap();
  const qc = useQueryClient();
  const b = q.data;

  useEffect(() => followEvents(qc, (n) => toast(n.title, { tone: n.kind === "error" ? "error" : "plain" })), [qc]);
  useEffect(() => {
    if (b) setLook({ theme: b.ui.theme, accent: b.ui.accent });
    if (b) setZone(b.assistant.timezone);
  }, [b]);

  // Asking again begins anew for the query; what went wrong stays in sight until there is an answer.
  const failed = useRef<ApiError | null>(null);
  if (q.error) failed.current = q.error as unknown as ApiError;
  else if (b) failed.current = null;

  if (!b) return failed.current ? <Unreachable error={failed.current} retry={q.refetch} /> : <Splash />;
  if (b.safe_mode) {
    return (
      <Suspense fallback={<Splash />}>
        <SafeMode state={b.safe_mode} onRetry={() => void q.refetch()} />
      </Suspense>
    );
  }
  if (!b.assistant.onboarding_complete) {
    return (
      <Suspense fallback={<Splash />}>
        <Setup />
      </Suspense>
    );
  }
  return <RouterProvider router={router} />;
}

export function App(): ReactNode {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Toasts>
          <Gate />
          <Announcer />
        </Toasts>
      </TooltipProvider>
    </QueryClientProvider>
  );
}
