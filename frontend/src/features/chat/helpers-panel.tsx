import { ChevronRight, Square } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import type { ApiError } from "@/api/client";
import { useCancelSubagent, useSubagent } from "@/api/queries/subagents";
import type { ProgressUpdate, Subagent } from "@/api/shapes";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Badge, Loading, Skeleton, type Tone } from "@/ui/surface";
import { When } from "@/ui/time";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import css from "./helpers.module.css";

const TONES: Record<Subagent["status"], Tone> = {
  running: "accent",
  completed: "good",
  error: "bad",
  cancelled: "plain",
};
/** So much of one step is shown. */
const STEP_LETTERS = 2000;

function stepText(m: ProgressUpdate["message"]): string {
  const text = m.tool_name ? [m.tool_name, m.result ?? ""].filter(Boolean).join(": ") : (m.content ?? "");
  return text.slice(0, STEP_LETTERS);
}

function Steps({ helper }: { helper: Subagent }): ReactNode {
  const q = useSubagent(helper.subagent_id, true);
  const label = t("helpers.steps", { goal: helper.goal });
  if (q.isPending) {
    return (
      <Loading>
        <Skeleton width="60%" />
      </Loading>
    );
  }
  if (q.isError && !q.data) {
    return <p className={css.note}>{(q.error as ApiError).detail || t("helpers.stepsFailed")}</p>;
  }
  const events = q.data?.events ?? [];
  return (
    <>
      {events.length === 0 ? <p className={css.note}>{t("helpers.noSteps")}</p> : null}
      <ol className={css.steps} aria-label={label}>
        {events.map((e, i) => (
          <li key={i} data-bad={e.message.is_error || e.message.type === "error" || undefined}>
            <span className={css.kind}>{t(`helpers.step.${e.message.type}`)}</span>
            <span>{stepText(e.message)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** One helper: how it stands, what it is for, and what it did. */
export function HelperCard({ helper }: { helper: Subagent }): ReactNode {
  const [open, setOpen] = useState(false);
  const cancel = useCancelSubagent();
  const id = useId();
  const running = helper.status === "running";
  const stop = () =>
    cancel.mutate(helper.subagent_id, {
      onError: (e: unknown) => toast(t("helpers.cancelFailed"), { text: (e as ApiError).detail, tone: "error" }),
    });
  return (
    <li className={css.helper}>
      <div className={css.head}>
        <button
          type="button"
          className={css.goal}
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={14} aria-hidden />
          <span>{helper.goal}</span>
        </button>
        {running ? (
          <Button
            small
            icon={Square}
            busy={cancel.isPending}
            onClick={stop}
            aria-label={t("helpers.cancelName", { goal: helper.goal })}
          >
            {t("helpers.cancel")}
          </Button>
        ) : null}
      </div>
      <p className={css.meta}>
        <Badge tone={TONES[helper.status]}>{t(`helpers.status.${helper.status}`)}</Badge>
        {helper.kind === "reader" ? t("helpers.reader") : t("helpers.calls", { count: helper.tool_calls })}
        <When at={helper.finished_at ?? helper.started_at} />
      </p>
      {helper.error ? <p className={css.error}>{helper.error}</p> : null}
      {open ? (
        <div id={id} className={css.body}>
          <Steps helper={helper} />
          {helper.summary ? (
            <>
              <h3>{t("helpers.summary")}</h3>
              <p className={css.summary}>{helper.summary}</p>
            </>
          ) : null}
        </div>
      ) : null}
    </li>
  );
}

/** The helpers of a chat, newest first. */
export default function HelpersPanel({ list, onClose }: { list: readonly Subagent[]; onClose: () => void }): ReactNode {
  return (
    <Dialog open onClose={onClose} title={t("helpers.title")} description={t("helpers.about")} wide>
      <ul className={css.list}>
        {list.map((s) => (
          <HelperCard key={s.subagent_id} helper={s} />
        ))}
      </ul>
      <div className={css.end}>
        <Button onClick={onClose}>{t("action.close")}</Button>
      </div>
    </Dialog>
  );
}
