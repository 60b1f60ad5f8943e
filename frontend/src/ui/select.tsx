import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { Select as Base } from "@base-ui/react/select";
import { Check, ChevronsUpDown, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import controls from "./controls.module.css";
import css from "./overlay.module.css";

export interface Option {
  value: string;
  label: string;
  icon?: LucideIcon;
}

export function Select(props: {
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  label?: string;
  disabled?: boolean;
}): ReactNode {
  const items = props.options.map((o) => ({ value: o.value, label: o.label }));
  return (
    <Base.Root
      items={items}
      value={props.value}
      onValueChange={(v) => {
        if (v !== null) props.onChange(v);
      }}
      disabled={props.disabled ?? false}
      modal={false}
    >
      <Base.Trigger className={controls.trigger} aria-label={props.label}>
        <Base.Value />
        <Base.Icon className={controls.triggerIcon}>
          <ChevronsUpDown size={15} aria-hidden />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={css.positioner} alignItemWithTrigger={false} sideOffset={5} align="start">
          <Base.Popup className={css.popup}>
            <Base.List>
              {props.options.map((o) => (
                <Base.Item key={o.value} value={o.value} className={css.item}>
                  <span className={css.check}>
                    <Base.ItemIndicator>
                      <Check size={15} aria-hidden />
                    </Base.ItemIndicator>
                  </span>
                  <Base.ItemText className={css.itemText}>{o.label}</Base.ItemText>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** A choice of a few, all in sight. */
export function Segmented(props: {
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  label: string;
}): ReactNode {
  return (
    <RadioGroup
      value={props.value}
      onValueChange={(v) => props.onChange(String(v))}
      aria-label={props.label}
      className={controls.segments}
    >
      {props.options.map(({ value, label, icon: Icon }) => (
        <Radio.Root key={value} value={value} className={controls.segment} aria-label={label}>
          {Icon ? <Icon size={15} aria-hidden /> : null}
          {label}
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}

/** The same, for accents: each option is shown in its own colour. */
export function Swatches(props: {
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  label: string;
}): ReactNode {
  return (
    <RadioGroup
      value={props.value}
      onValueChange={(v) => props.onChange(String(v))}
      aria-label={props.label}
      className={controls.swatches}
    >
      {props.options.map((o) => (
        <Radio.Root
          key={o.value}
          value={o.value}
          className={controls.swatch}
          aria-label={o.label}
          title={o.label}
          data-accent={o.value}
        />
      ))}
    </RadioGroup>
  );
}
