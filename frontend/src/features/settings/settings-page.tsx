import { useParams } from "@tanstack/react-router";
import { Monitor, Moon, Sun } from "lucide-react";
import type { ReactNode } from "react";
import type { ApiError } from "@/api/client";
import { useBootstrap } from "@/api/queries/bootstrap";
import { useConfig, useConfigSchema, usePatchConfig } from "@/api/queries/config";
import { ACCENTS, setLook } from "@/lib/theme";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Segmented, Swatches } from "@/ui/select";
import { Card, ErrorState, Loading, Skeleton } from "@/ui/surface";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import { ConfigField } from "./config-field";
import { ModelsSettings } from "./models-settings";
import { type FieldSpec, fieldsOf, labelOf, valueAt } from "./schema";
import css from "./settings.module.css";
import { isSection, type Section } from "./settings-nav";

/** The fields that act now, in the order they are shown. */
const ACTIVE = {
  assistant: ["user_name", "name", "location", "timezone"],
  chat: ["show_thinking", "auto_title", "history_window"],
} as const;

/** The words for a setting whose plain name says too little. */
function named(f: FieldSpec): FieldSpec {
  switch (f.path.join(".")) {
    case "assistant.user_name":
      return { ...f, label: t("settings.fields.user_name") };
    case "assistant.name":
      return { ...f, label: t("settings.fields.name") };
    case "assistant.timezone":
      return { ...f, label: t("settings.fields.timezone") };
    default:
      return f;
  }
}

export function Sketch(): ReactNode {
  return (
    <Loading>
      <div className={css.stack}>
        <Skeleton width="30%" height="1.6rem" />
        <Skeleton height="4rem" />
        <Skeleton height="4rem" />
      </div>
    </Loading>
  );
}

function Generated({ section }: { section: "assistant" | "chat" }): ReactNode {
  const config = useConfig();
  const schema = useConfigSchema();
  const failed = config.error ?? schema.error;
  if (failed) {
    return (
      <ErrorState
        title={t("settings.loadFailed")}
        actions={
          <Button
            look="primary"
            onClick={() => {
              void config.refetch();
              void schema.refetch();
            }}
          >
            {t("action.retry")}
          </Button>
        }
      >
        {(failed as unknown as ApiError).detail || t("state.errorText")}
      </ErrorState>
    );
  }
  if (!config.data || !schema.data) return <Sketch />;
  const fields = fieldsOf(schema.data, section, ACTIVE[section]).map(named);
  return (
    <Card padded={false} className={css.group ?? ""}>
      {fields.map((f) => (
        <div key={f.path.join(".")}>
          <ConfigField spec={f} config={config.data} />
        </div>
      ))}
    </Card>
  );
}

function Look(): ReactNode {
  const ui = useBootstrap().data?.ui;
  const schema = useConfigSchema().data;
  const patch = usePatchConfig();
  if (!ui) return <Sketch />;
  const offered = schema ? fieldsOf(schema, "ui", ["accent"])[0]?.options : undefined;
  const accents = ACCENTS.filter((a) => !offered?.length || offered.includes(a));

  const change = (part: { theme?: string; accent?: string }) => {
    const before = { theme: ui.theme, accent: ui.accent };
    setLook(part);
    patch.mutate(
      { ui: part },
      {
        onError: (e) => {
          setLook(before);
          toast(t("settings.saveFailed"), { text: (e as unknown as ApiError).detail, tone: "error" });
        },
      },
    );
  };
  return (
    <Card padded={false} className={css.group ?? ""}>
      <div>
        <Field row label={t("theme.label")} hint={t("theme.hint")}>
          <Segmented
            label={t("theme.label")}
            value={ui.theme}
            options={[
              { value: "light", label: t("theme.light"), icon: Sun },
              { value: "dark", label: t("theme.dark"), icon: Moon },
              { value: "system", label: t("theme.system"), icon: Monitor },
            ]}
            onChange={(theme) => change({ theme })}
          />
        </Field>
      </div>
      <div>
        <Field row label={t("theme.accent")} hint={t("theme.accentHint")}>
          <Swatches
            label={t("theme.accent")}
            value={ui.accent}
            options={accents.map((a) => ({ value: a, label: t(`theme.accents.${a}`) }))}
            onChange={(accent) => change({ accent })}
          />
        </Field>
      </div>
    </Card>
  );
}

function About(): ReactNode {
  const b = useBootstrap().data;
  const config = useConfig().data;
  if (!b) return <Sketch />;
  const gateway = valueAt(config, ["gateway"]);
  const rows: [string, string][] = [
    [t("about.version"), b.version],
    [t("about.folder"), b.home],
  ];
  if (typeof gateway === "object" && gateway !== null) {
    for (const [k, v] of Object.entries(gateway)) {
      if (typeof v === "string" || typeof v === "number")
        rows.push([t("about.gateway", { name: labelOf(k) }), String(v)]);
    }
  }
  return (
    <Card>
      <dl className={css.facts}>
        {rows.map(([k, v]) => (
          <Fact key={k} name={k} value={v} />
        ))}
      </dl>
    </Card>
  );
}

function Fact({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function body(section: Section): ReactNode {
  switch (section) {
    case "assistant":
    case "chat":
      return <Generated key={section} section={section} />;
    case "models":
      return <ModelsSettings />;
    case "look":
      return <Look />;
    case "about":
      return <About />;
  }
}

export default function SettingsPage(): ReactNode {
  const params = useParams({ strict: false });
  const section = isSection(params.section) ? params.section : "assistant";
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={css.page} tabIndex={0} aria-label={t(`settings.${section}`)}>
      <div className={css.column}>
        <div className={css.head}>
          <h2>{t(`settings.${section}`)}</h2>
          <p>{t(`settings.${section}Hint`)}</p>
        </div>
        {body(section)}
      </div>
    </section>
  );
}
