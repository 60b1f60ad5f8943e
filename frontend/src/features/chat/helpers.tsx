import { Bot } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useSubagents } from "@/api/queries/subagents";
import { Button } from "@/ui/button";
import { Spinner } from "@/ui/surface";
import { t } from "@/words";
import css from "./helpers.module.css";

const HelpersPanel = lazy(() => import("./helpers-panel"));

/** The helpers that this chat started, a press away. Nothing is shown where there are none. */
export function Helpers({ sessionId }: { sessionId: string | null }): ReactNode {
  const [open, setOpen] = useState(false);
  const list = useSubagents(sessionId).data ?? [];
  if (list.length === 0) return null;
  const working = list.filter((s) => s.status === "running").length;
  const all = t("helpers.open", { count: list.length });
  return (
    <div className={css.strip}>
      <Button small look="ghost" {...(working ? {} : { icon: Bot })} onClick={() => setOpen(true)}>
        {working ? <Spinner size={14} /> : null}
        {working ? t("helpers.openWorking", { helpers: all, count: working }) : all}
      </Button>
      <Suspense>{open ? <HelpersPanel list={list} onClose={() => setOpen(false)} /> : null}</Suspense>
    </div>
  );
}
