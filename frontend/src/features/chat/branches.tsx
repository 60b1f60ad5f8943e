import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import type { Branch } from "@/api/shapes";
import { IconButton } from "@/ui/button";
import { t } from "@/words";
import css from "./chat.module.css";

export type Way = "previous" | "next";

/** Walks between the versions of a message. `focus` says that this version was just walked to, and by which button. */
export function Branches(props: {
  branch: Branch;
  busy: boolean;
  onShow: (turnId: string, way: Way) => void;
  takeFocus: (turnId: string) => Way | null;
}): ReactNode {
  const { branch, busy, onShow, takeFocus } = props;
  const { index, turns } = branch;
  const group = useRef<HTMLFieldSetElement>(null);
  const here = turns[index] ?? "";
  const label = t("chat.version", { at: index + 1, of: turns.length });

  useEffect(() => {
    const way = takeFocus(here);
    if (!way) return;
    // The button that was pressed, or the other one where there is no further to go.
    const [previous, next] = group.current?.querySelectorAll<HTMLButtonElement>("button") ?? [];
    const [first, second] = way === "previous" ? [previous, next] : [next, previous];
    (first?.disabled ? second : first)?.focus();
  }, [here, takeFocus]);

  const to = (way: Way) => {
    const turn = turns[index + (way === "next" ? 1 : -1)];
    if (turn) onShow(turn, way);
  };
  return (
    <fieldset ref={group} className={css.branches} aria-label={label}>
      <IconButton
        small
        label={t("chat.previousVersion")}
        icon={ChevronLeft}
        disabled={busy || index === 0}
        onClick={() => to("previous")}
      />
      <span className="tabular" aria-hidden>
        {t("chat.versionAt", { at: index + 1, of: turns.length })}
      </span>
      <IconButton
        small
        label={t("chat.nextVersion")}
        icon={ChevronRight}
        disabled={busy || index >= turns.length - 1}
        onClick={() => to("next")}
      />
    </fieldset>
  );
}
