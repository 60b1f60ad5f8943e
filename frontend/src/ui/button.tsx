import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { cx } from "@/lib/cx";
import css from "./controls.module.css";
import { Spinner } from "./surface";
import { Tooltip } from "./tooltip";

export type ButtonLook = "primary" | "secondary" | "ghost" | "danger";

export interface ButtonProps extends ComponentProps<"button"> {
  look?: ButtonLook;
  small?: boolean;
  wide?: boolean;
  icon?: LucideIcon;
  /** Something this button began is still going on: it cannot be pressed again, and keeps its place and focus. */
  busy?: boolean;
}

export function Button(props: ButtonProps): ReactNode {
  const { look = "secondary", small, wide, icon: Icon, busy, className, children, onClick, ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || undefined}
      onClick={busy ? (e) => e.preventDefault() : onClick}
      className={cx(css.button, css[look], small && css.small, wide && css.wide, className)}
    >
      {busy ? <Spinner /> : Icon ? <Icon size={small ? 15 : 17} aria-hidden /> : null}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  /** What it does: its name for everybody, shown when pointed at. */
  label: string;
  icon: LucideIcon;
  look?: ButtonLook;
  small?: boolean;
  keys?: string;
}

export function IconButton(props: IconButtonProps): ReactNode {
  const { label, icon: Icon, look = "ghost", small, keys, className, ...rest } = props;
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className={cx(css.button, css[look], css.icon, small && css.small, className)}
      >
        <Icon size={small ? 16 : 18} aria-hidden />
      </button>
    </Tooltip>
  );
}
