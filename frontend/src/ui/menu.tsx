import { Menu as Base } from "@base-ui/react/menu";
import { Check, type LucideIcon } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { cx } from "@/lib/cx";
import css from "./overlay.module.css";
import { Keys } from "./surface";

export function Menu(props: {
  trigger: ReactElement;
  children: ReactNode;
  align?: "start" | "center" | "end";
}): ReactNode {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={props.trigger} />
      <Base.Portal>
        <Base.Positioner className={css.positioner} sideOffset={5} align={props.align ?? "end"}>
          <Base.Popup className={css.popup}>{props.children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem(props: {
  label: string;
  icon?: LucideIcon;
  keys?: string | undefined;
  danger?: boolean;
  disabled?: boolean;
  onSelect: () => void;
}): ReactNode {
  const Icon = props.icon;
  return (
    <Base.Item
      className={cx(css.item, props.danger && css.danger)}
      disabled={props.disabled ?? false}
      onClick={props.onSelect}
    >
      {Icon ? <Icon size={16} aria-hidden /> : null}
      <span className={css.itemText}>{props.label}</span>
      {props.keys ? <Keys keys={props.keys} /> : null}
    </Base.Item>
  );
}

export function MenuChoice(props: {
  label: string;
  value: string;
  options: readonly { value: string; label: string; note?: string | undefined }[];
  onChange: (value: string) => void;
}): ReactNode {
  return (
    <Base.Group>
      <Base.GroupLabel className={css.group}>{props.label}</Base.GroupLabel>
      <Base.RadioGroup value={props.value} onValueChange={(v: string) => props.onChange(v)}>
        {props.options.map((o) => (
          <Base.RadioItem key={o.value} value={o.value} className={css.item} closeOnClick>
            <span className={css.check}>
              <Base.RadioItemIndicator>
                <Check size={15} aria-hidden />
              </Base.RadioItemIndicator>
            </span>
            <span className={css.itemText}>{o.label}</span>
            {o.note ? <span className={css.itemNote}>{o.note}</span> : null}
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

export function MenuSeparator(): ReactNode {
  return <Base.Separator className={css.separator} />;
}
