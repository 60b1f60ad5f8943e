import type { ReactNode } from "react";
import { Dialog } from "@/ui/dialog";
import { Keys } from "@/ui/surface";
import { t } from "@/words";
import { useActions } from "./actions";
import css from "./shell.module.css";

/** Keys that belong to a place rather than to an action. */
const PLACES = [
  { keys: "Enter", title: "shortcuts.send" },
  { keys: "Shift+Enter", title: "shortcuts.newLine" },
  { keys: "ArrowUp", title: "shortcuts.editLast" },
  { keys: "Escape", title: "shortcuts.close" },
  { keys: "F2", title: "shortcuts.rename" },
] as const;

export default function Shortcuts({ onClose }: { onClose: () => void }): ReactNode {
  const actions = useActions().filter((a) => a.shortcut);
  return (
    <Dialog open onClose={onClose} title={t("shortcuts.title")}>
      <dl className={css.shortcuts}>
        {actions.map((a) => (
          <div key={a.id} className={css.shortcut}>
            <dt>{a.title}</dt>
            <dd>
              <Keys keys={a.shortcut ?? ""} />
            </dd>
          </div>
        ))}
        {PLACES.map((p) => (
          <div key={p.title} className={css.shortcut}>
            <dt>{t(p.title)}</dt>
            <dd>
              <Keys keys={p.keys} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
