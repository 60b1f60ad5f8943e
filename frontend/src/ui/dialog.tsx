import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef } from "react";
import { cx } from "@/lib/cx";
import { t } from "@/words";
import { Button } from "./button";
import css from "./overlay.module.css";

export function Dialog(props: {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}): ReactNode {
  return (
    <Base.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css.backdrop} />
        <Base.Popup className={cx(css.dialog, props.wide && css.wide)}>
          <Base.Title className={css.title}>{props.title}</Base.Title>
          {props.description ? (
            <Base.Description className={css.description}>{props.description}</Base.Description>
          ) : null}
          {props.children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export function DialogActions({ children }: { children: ReactNode }): ReactNode {
  return <div className={css.actions}>{children}</div>;
}

/** Asks before something that cannot be taken back. Focus starts on the way out. */
export function Confirm(props: {
  open: boolean;
  title: string;
  description: string;
  action: string;
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}): ReactNode {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <AlertDialog.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={css.backdrop} />
        <AlertDialog.Popup className={css.dialog} initialFocus={cancel}>
          <AlertDialog.Title className={css.title}>{props.title}</AlertDialog.Title>
          <AlertDialog.Description className={css.description}>{props.description}</AlertDialog.Description>
          <div className={css.actions}>
            <Button ref={cancel} onClick={props.onClose}>
              {t("action.cancel")}
            </Button>
            <Button look="danger" busy={props.busy ?? false} onClick={props.onConfirm}>
              {props.action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** A panel that comes in from the left: what stands beside the page where the window is wide. */
export function Drawer(props: { open: boolean; onClose: () => void; title: string; children: ReactNode }): ReactNode {
  return (
    <Base.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css.backdrop} />
        <Base.Popup className={css.drawer}>
          <Base.Title className="sr-only">{props.title}</Base.Title>
          {props.children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
