import { type KeyboardEvent, type ReactNode, useState } from "react";
import type { ApiError } from "@/api/client";
import { usePatchConfig } from "@/api/queries/config";
import { imeOwns } from "@/lib/ime";
import { Field, Input, Switch, TextArea } from "@/ui/field";
import { Segmented, Select } from "@/ui/select";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import { type FieldSpec, isAt, labelOf, nest, valueAt } from "./schema";

/** So few choices, and so short, stand side by side. */
const FEW = 4;

/**
 * One setting. What is being typed is the field's own until it is saved, so nothing that is fetched meanwhile changes
 * it; a refused value stays, with the reason beside it.
 */
export function ConfigField({ spec, config }: { spec: FieldSpec; config: unknown }): ReactNode {
  const patch = usePatchConfig();
  const [draft, setDraft] = useState<string | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const stored = valueAt(config, spec.path);

  const save = (value: unknown) => {
    const sent = draft;
    setProblem(undefined);
    patch.mutate(nest(spec.path, value), {
      // What was typed since is not saved yet: it stays.
      onSuccess: () => setDraft((now) => (now === sent ? undefined : now)),
      onError: (e) => {
        const error = e as unknown as ApiError;
        const mine =
          error.fields.find((f) => isAt(f.loc, spec.path)) ?? (error.status === 422 ? error.fields[0] : undefined);
        if (mine) setProblem(mine.msg);
        else toast(t("settings.saveFailed"), { text: error.detail, tone: "error" });
      },
    });
  };

  if (spec.kind === "switch") {
    // What was asked for is shown at once; a refusal puts it back.
    const asked = patch.isPending ? valueAt(patch.variables, spec.path) : undefined;
    return (
      <Field row label={spec.label} hint={spec.description} problem={problem}>
        <Switch checked={Boolean(asked ?? stored)} onChange={save} />
      </Field>
    );
  }
  if (spec.kind === "choice")
    return <Choice spec={spec} value={String(stored ?? "")} problem={problem} onSave={save} />;
  return (
    <Typed
      spec={spec}
      stored={stored}
      draft={draft}
      setDraft={setDraft}
      problem={problem}
      setProblem={setProblem}
      save={save}
    />
  );
}

function Choice(props: {
  spec: FieldSpec;
  value: string;
  problem: string | undefined;
  onSave: (v: string) => void;
}): ReactNode {
  const { spec, value } = props;
  const options = spec.options.map((o) => ({ value: o, label: labelOf(o) }));
  return (
    <Field row label={spec.label} hint={spec.description} problem={props.problem}>
      {options.length <= FEW ? (
        <Segmented label={spec.label} value={value} options={options} onChange={props.onSave} />
      ) : (
        <Select value={value} options={options} onChange={props.onSave} />
      )}
    </Field>
  );
}

function shown(spec: FieldSpec, v: unknown): string {
  if (v === null || v === undefined) return "";
  return spec.kind === "lines" && Array.isArray(v) ? v.join("\n") : String(v);
}

/** The value a text stands for, or why it stands for none. */
export function read(spec: FieldSpec, text: string): { value: unknown } | { problem: string } {
  if (spec.kind === "lines")
    return {
      value: text
        .split("\n")
        .map((l) => l.trim())
        .filter(Boolean),
    };
  if (text.trim() === "" && spec.nullable) return { value: null };
  if (spec.kind !== "number") return { value: text };
  // "1,000" is a thousand to some: only where a fraction makes sense is a comma one.
  if (spec.integer && /^\d+,\d+$/.test(text.trim())) return { problem: t("settings.wantInteger") };
  const n = Number(text.trim().replace(",", "."));
  if (text.trim() === "" || !Number.isFinite(n)) return { problem: t("settings.wantNumber") };
  if (spec.integer && !Number.isInteger(n)) return { problem: t("settings.wantInteger") };
  if (spec.min !== undefined && n < spec.min) return { problem: t("settings.wantMin", { min: spec.min }) };
  if (spec.max !== undefined && n > spec.max) return { problem: t("settings.wantMax", { max: spec.max }) };
  return { value: n };
}

function Typed(props: {
  spec: FieldSpec;
  stored: unknown;
  draft: string | undefined;
  setDraft: (v: string | undefined) => void;
  problem: string | undefined;
  setProblem: (v: string | undefined) => void;
  save: (v: unknown) => void;
}): ReactNode {
  const { spec, stored, draft, setDraft, setProblem } = props;
  const before = shown(spec, stored);

  const commit = () => {
    if (draft === undefined) return;
    if (draft === before) {
      setDraft(undefined);
      setProblem(undefined);
      return;
    }
    const r = read(spec, draft);
    if ("problem" in r) setProblem(r.problem);
    else props.save(r.value);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (imeOwns(e.nativeEvent)) return;
    if (e.key === "Enter" && spec.kind !== "lines") commit();
    else if (e.key === "Escape" && draft !== undefined) {
      e.stopPropagation();
      setDraft(undefined);
      setProblem(undefined);
    }
  };
  const shared = {
    value: draft ?? before,
    onKeyDown,
    onBlur: commit,
    autoComplete: "off",
  };
  return (
    <Field label={spec.label} hint={spec.description} problem={props.problem} row={spec.kind === "number"}>
      {spec.kind === "lines" ? (
        <TextArea {...shared} onChange={(e) => setDraft(e.target.value)} />
      ) : (
        <Input
          {...shared}
          onChange={(e) => setDraft(e.target.value)}
          {...(spec.kind === "number" ? { inputMode: "decimal" as const, style: { width: "7rem" } } : {})}
        />
      )}
    </Field>
  );
}
