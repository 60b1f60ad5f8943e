import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";
import css from "./overlay.module.css";
import { Keys } from "./surface";

export function TooltipProvider({ children }: { children: ReactNode }): ReactNode {
  return <Base.Provider delay={450}>{children}</Base.Provider>;
}

/** Shows more about its child when pointed at or focused. The child must carry its own accessible name. */
export function Tooltip(props: { text: string; keys?: string | undefined; children: ReactElement }): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={props.children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className={css.positioner}>
          <Base.Popup className={css.tooltip}>
            {props.text}
            {props.keys ? <Keys keys={props.keys} /> : null}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
