import { Field as Base } from "@base-ui/react/field";
import { Switch as BaseSwitch } from "@base-ui/react/switch";
import type { ComponentProps, ReactNode } from "react";
import { cx } from "@/lib/cx";
import css from "./controls.module.css";

interface Frame {
  label: ReactNode;
  hint?: ReactNode;
  /** Why the value was refused, shown beside the control and read with it. */
  problem?: string | undefined;
}

/** A labelled control. The label, hint and problem are tied to whatever control stands inside. */
export function Field(props: Frame & { children: ReactNode; row?: boolean }): ReactNode {
  const { label, hint, problem, children, row } = props;
  const words = (
    <>
      <Base.Label className={css.label}>{label}</Base.Label>
      {hint ? <Base.Description className={css.hint}>{hint}</Base.Description> : null}
    </>
  );
  return (
    <Base.Root className={row ? css.row : css.field} invalid={Boolean(problem)}>
      {row ? <div className={css.text}>{words}</div> : words}
      {row ? <div className={css.side}>{children}</div> : children}
      <Base.Error match={Boolean(problem)} className={css.problem} role="alert">
        {problem}
      </Base.Error>
    </Base.Root>
  );
}

export function Input(props: ComponentProps<"input">): ReactNode {
  const { className, ...rest } = props;
  return <Base.Control {...rest} className={cx(css.input, className)} />;
}

export function TextArea(props: ComponentProps<"textarea">): ReactNode {
  const { className, ...rest } = props;
  return <Base.Control render={<textarea {...rest} className={cx(css.input, className)} />} />;
}

export function TextField(props: Frame & ComponentProps<"input"> & { row?: boolean }): ReactNode {
  const { label, hint, problem, row, ...rest } = props;
  return (
    <Field label={label} hint={hint} problem={problem} row={row ?? false}>
      <Input {...rest} />
    </Field>
  );
}

export function Switch(props: {
  checked: boolean;
  onChange: (on: boolean) => void;
  disabled?: boolean;
  label?: string;
}): ReactNode {
  return (
    <BaseSwitch.Root
      className={css.switch}
      checked={props.checked}
      onCheckedChange={(on) => props.onChange(on)}
      disabled={props.disabled ?? false}
      aria-label={props.label}
    >
      <BaseSwitch.Thumb className={css.thumb} />
    </BaseSwitch.Root>
  );
}
