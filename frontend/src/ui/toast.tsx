import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "@/words";
import { IconButton } from "./button";
import css from "./overlay.module.css";

const manager = Toast.createToastManager();

/** Shows a short note for a while; it is read out once, and stays as long as it is pointed at. */
export function toast(title: string, options: { text?: string; tone?: "plain" | "error" } = {}): void {
  manager.add({
    title,
    description: options.text,
    type: options.tone ?? "plain",
    priority: options.tone === "error" ? "high" : "low",
    timeout: options.tone === "error" ? 9000 : 5000,
  });
}

function List(): ReactNode {
  const { toasts } = Toast.useToastManager();
  return toasts.map((item) => (
    <Toast.Root key={item.id} toast={item} className={css.toast} swipeDirection={["right", "down"]}>
      <div className={css.toastBody}>
        <Toast.Title className={css.toastTitle} />
        <Toast.Description className={css.toastText} />
      </div>
      <Toast.Close render={<IconButton small label={t("action.close")} icon={X} />} />
    </Toast.Root>
  ));
}

export function Toasts({ children }: { children: ReactNode }): ReactNode {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={css.toasts} aria-label={t("state.toasts")}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}
