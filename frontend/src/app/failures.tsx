import { Link, useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Button } from "@/ui/button";
import { ErrorState } from "@/ui/surface";
import { t } from "@/words";

/** A fault of the page itself: the rest of the window stays, and there is a way on. */
export function RoomFailed({ reset }: { reset?: () => void }): ReactNode {
  const router = useRouter();
  return (
    <ErrorState
      title={t("state.brokenTitle")}
      actions={
        <Button
          look="primary"
          onClick={() => {
            reset?.();
            void router.invalidate();
          }}
        >
          {t("action.retry")}
        </Button>
      }
    >
      {t("state.brokenText")}
    </ErrorState>
  );
}

export function NotFound(): ReactNode {
  return (
    <ErrorState title={t("state.nowhereTitle")} actions={<Link to="/chat">{t("go.chat")}</Link>}>
      {t("state.nowhereText")}
    </ErrorState>
  );
}
